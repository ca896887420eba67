"""Parts of kept models: what they say of their training, probabilities, telling terms, texts, and files beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.model.fitting import fit_model
from benchmark.model.text_model import TextView
from benchmark.text.lexer import Lexing
from tests.model.studies import study_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.store import Store

    Fit = Callable[..., Any]

LINEAR = {"name": "linear", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}


def test_a_model_says_what_it_was_trained_on(store: Store) -> None:
    experiment = study_of(LINEAR, "mnb")
    model = fit_model(experiment, "linear", RunContext(store), split="texas")
    n = model.about["documents"]
    assert model.about == {
        "name": "small",
        "config": experiment.raw,
        "cell": "linear",
        "trained_on": "texas",
        "documents": n,
        "content_digest": model.about["content_digest"],
        "chosen": None,
        "text": ["text"],
        "reading": None,
    }
    assert len(model.about["content_digest"]) == 64
    assert repr(model) == f"<TextClassifier of linear: {n} documents, 3 classes>"
    one, other = [word for word in words_of(model) if word.isalpha()][:2]
    ((_, answers),) = model.answers([("a", f"Subject: x\n\n{one} {one} {other} zzzz".encode()), ("b", b"\n\nzzzz")])
    assert answers.known is not None
    assert answers.known.tolist() == [2, 0], "terms, however often they occur"
    assert model.n_terms == len(words_of(model))


def mine(folder: Path, corpus: str, text: str = "") -> Any:
    rows = [
        {"head": "mast" if n % 3 else "sail", "body": f"{'alpha beta' if n % 2 else 'gamma'} ship", "kind": "ab"[n % 2]}
        for n in range(30)
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "mine.yaml").write_text(
        f"name: mine\ncorpus: {{name: files, path: mine.jsonl, label: kind, {corpus}}}\n"
        f"text: {{stoplist: none, {text}}}\nprotocol: {{name: k-fold, k: 3}}\nmethods: [mnb]\n"
    )
    return load_checked(folder / "mine.yaml")


@pytest.mark.parametrize(
    ("corpus", "text", "columns"),
    [
        ("text: body", "", ["body"]),
        ("text: [head, body]", "", ["head", "body"]),
        ("text: [head, body]", "fields: [all, head]", ["head", "body"]),
    ],
)
def test_the_columns_of_the_text_are_those_of_the_file(
    corpus: str, text: str, columns: list[str], store: Store, tmp_path: Path
) -> None:
    model = fit_model(mine(tmp_path, corpus, text), "mnb", RunContext(store))
    assert model.about["text"] == columns
    expected = {"encoding": "utf-8", "delimiter": None, "quoting": "double", "escape": None, "header": True, "id": None}
    assert model.about["reading"] == expected


# Texts


@pytest.mark.parametrize(
    ("header", "html", "expected"),
    [
        (False, False, "Subject: x\n\nan <b>old</b> ship"),
        (True, False, "an <b>old</b> ship"),
        (False, True, "Subject: x\n\nan  old  ship"),
        (True, True, "an  old  ship"),
    ],
)
def test_a_pipeline_reads_texts_without_what_is_skipped(header: bool, html: bool, expected: str) -> None:
    view = TextView(Lexing(skip_header=header, skip_html=html), None)
    (found,) = view.inputs([b"Subject: x\n\nan <b>old</b> ship"])
    assert found.split() == expected.split()
