"""Runs of a user's own documents whose numbers or sentences could be wrong without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from benchmark.cli import app

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
WORDS = {"billing": ["invoice", "refund", "card"], "login": ["password", "locked", "reset"]}
WORDS |= {"crash": ["freeze", "bug", "restart"]}
MODELS = """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline


def named():
    weights = {"crash": 9, "login": 1, "billing": 0.01}
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight=weights))


def searched():
    return GridSearchCV(named(), {"logisticregression__C": [1.0]}, cv=2)


def mistyped():
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight={"crush": 9}))


def numbered():
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight={0: 9, 1: 1, 2: 1}))
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in a folder with documents and a configuration; return its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "models.py").write_text(MODELS)

    def run(*command: str, **more: Any) -> tuple[int, str]:
        corpus = {"name": "files", "path": "own.csv", "id": "id", "split": "split"}
        content = {"name": "own", "corpus": corpus, "text": {"stoplist": "none"}, "protocol": "fixed-split"}
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(content | more))
        done = CliRunner().invoke(app, [command[0], "own.yaml", *command[1:]])
        return done.exit_code, done.output

    return run


def documents(n: int = 90, clear: int = 3) -> pd.DataFrame:
    """Documents of which every third is tested; `clear` of five words are of their class, the others of any."""
    rng, classes = np.random.default_rng(0), ("billing", "crash", "login")
    labels = [classes[i % len(classes)] for i in range(n)]
    every = [word for words in WORDS.values() for word in words]
    texts = [" ".join([*rng.choice(WORDS[own], clear), *rng.choice(every, 5 - clear)]) for own in labels]
    return pd.DataFrame(
        {"id": range(n), "text": texts, "label": labels, "split": np.where(rng.random(n) < 1 / 3, "test", "train")}
    )


class TestMeansOverClasses:
    def test_leave_out_a_class_without_a_tested_document_as_scikit_learn_does(self, bench: Any, tmp_path: Path) -> None:
        own = documents()
        own.loc[own["label"] == "crash", "split"] = "train"
        own.to_csv("own.csv", index=False)
        code, said = bench(
            "run", methods=["mnb", {"name": "svm", "classifier": "linear-svm"}], metrics=["accuracy", "macro-f1"]
        )
        assert code == 0, said
        assert "No document of crash is tested" in said
        assert "No document of crash is tested" in (tmp_path / "results/runs/own/report.html").read_text()
        predicted = pd.read_parquet(tmp_path / "results/runs/own/predictions.parquet")
        scores = pd.read_csv(tmp_path / "results/runs/own/scores.csv")
        for cell in ("mnb", "svm"):
            rows = predicted[predicted["cell"] == cell]
            ours = scores[(scores["cell"] == cell) & (scores["fold"] == "all") & (scores["metric"] == "macro-f1")]
            expected = f1_score(rows["label"].astype(str), rows["predicted"].astype(str), average="macro")
            assert ours["value"].item() == pytest.approx(expected)


class TestClassWeights:
    def predicted(self, tmp_path: Path, cell: str) -> list[str]:
        frame = pd.read_parquet(tmp_path / "results/runs/own/predictions.parquet")
        return list(frame.loc[frame["cell"] == cell, "predicted"].astype(str))

    def test_are_by_name_in_a_pipeline_a_search_and_a_classifier(self, bench: Any, tmp_path: Path) -> None:
        """As scikit-learn's own estimator, which has the names as labels, predicts with them."""
        own = documents(clear=1)
        own.to_csv("own.csv", index=False)
        weights = {"crash": 9, "login": 1, "billing": 0.01}
        library = {"name": "sklearn.linear_model.LogisticRegression", "class_weight": weights}
        pipelines = [{"name": name, "pipeline": f"models.py:{name}"} for name in ("named", "searched")]
        code, said = bench("run", methods=[*pipelines, {"name": "library", "weighting": "tf", "classifier": library}])
        assert code == 0, said
        train, test = own[own["split"] == "train"], own[own["split"] == "test"]
        expected = make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight=weights)).fit(
            train["text"], train["label"]
        )
        for cell in ("named", "searched"):
            assert self.predicted(tmp_path, cell) == list(expected.predict(test["text"]))
        counts = make_pipeline(CountVectorizer(), LogisticRegression(class_weight=weights)).fit(
            train["text"], train["label"]
        )
        assert set(counts.predict(test["text"])) == {"crash", "login"}
        assert set(self.predicted(tmp_path, "library")) == {"crash", "login"}

    def test_of_no_class_are_refused_with_the_classes(self, bench: Any) -> None:
        documents().to_csv("own.csv", index=False)
        theirs = [{"name": name, "pipeline": f"models.py:{name}"} for name in ("mistyped", "numbered")]
        code, said = bench("run", methods=["mnb", *theirs])
        assert code == 1
        assert "class_weight: unknown class 'crush'; did you mean 'crash'?" in said
        assert "class_weight: unknown class '0' (allowed: billing, crash, login)" in said


def test_a_test_of_another_quantity_does_not_stand_beside_an_interval(bench: Any, tmp_path: Path) -> None:
    documents(90, clear=0).to_csv("own.csv", index=False)
    three = {"name": "three", "weighting": "tfidf", "classifier": "linear-svm"}
    code, said = bench("run", methods=["mnb", three], metrics=["macro-f1"], compare=[["mnb", "three"]])
    assert code == 0, said
    assert "no test of this quantity" in said.partition("\n")[0]
    assert "planned comparison" not in said
    assert "no test of this quantity" in (tmp_path / "results/runs/own/report.html").read_text()
