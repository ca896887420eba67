"""Examples run as they stand on the generated table; the one of embeddings with a random model, where torch is here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from tests.shapes import bench

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
EXAMPLES = Path(__file__).parents[2] / "examples"
DIMENSIONS = 16


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Eight generated pages of each class and site, in a folder of the examples, which is the current one."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    pages = benchmark.load("synthetic").groupby(["label", "group"]).head(8).reset_index(drop=True)
    pages.to_csv("pages.csv", index=False)
    return pages


def cells(name: str) -> set[str]:
    """Run an example, and return its methods."""
    bench("--trust", "run", f"{name}.yaml")
    return set(pd.read_csv(Path("results", "runs", name, "scores.csv"))["cell"])


@pytest.mark.slow
@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize(("name", "methods"), [("pipelines", {"characters", "both"}), ("gzip", {"gzip"})])
def test_an_example_runs(name: str, methods: set[str]) -> None:
    assert cells(name) == methods | {"tfidf-linear-svm"}


def test_labels_and_vectors_of_files_are_scored(pages: pd.DataFrame) -> None:
    pages[["id", "label"]].to_csv("llm.csv", index=False)
    assert cells("labels") == {"a-large-model", "tfidf-linear-svm"}
    vectors = list(np.random.default_rng(0).normal(size=(len(pages), DIMENSIONS)))
    pd.DataFrame({"id": pages["id"], "vector": vectors}).to_parquet("vectors.parquet")
    assert cells("embeddings") == {"embedded", "tfidf-linear-svm"}
    labels = benchmark.read("embeddings").predictions("embedded")
    assert {"document", "predicted"} <= set(labels), "as the page of the examples renames them"


def test_embeddings_of_a_model_folder_are_points(pages: pd.DataFrame) -> None:
    """A random BERT of one layer, with a vocabulary of its own: no weights are downloaded."""
    library = pytest.importorskip("sentence_transformers")
    make_model(library, pages["text"].tolist())
    command = [sys.executable, "embed.py", "pages.csv", "model", "vectors.parquet"]
    subprocess.run(command, check=True, env=os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
    vectors = pd.read_parquet("vectors.parquet")
    assert vectors["id"].tolist() == pages["id"].astype(str).tolist()
    assert {len(vector) for vector in vectors["vector"]} == {DIMENSIONS}
    assert len(np.unique(np.round(np.stack(vectors["vector"]), 4), axis=0)) > len(pages) / 2
    assert "embedded" in cells("embeddings")


def make_model(library: Any, texts: list[str]) -> None:
    """Write the folder of a random model."""
    transformers = pytest.importorskip("transformers")
    words = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
    Path("bert").mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    Path("bert", "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    shape = {"hidden_size": DIMENSIONS, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(vocabulary), **shape)
    transformers.BertModel(config).save_pretrained("bert")
    transformers.BertTokenizerFast("bert/vocab.txt").save_pretrained("bert")
    library.SentenceTransformer("bert", device="cpu").save("model")  # with the mean over the words


def test_each_example_stands_on_their_page() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.yaml"):
        assert f"run {path.name}`" in page
