"""What a model says of its training, what is told while it is trained, and which texts it takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.corpora.corpus import FieldedText
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.methods.out_of_fold import INNER_FOLDS
from benchmark.model.base import TextPredictions, _batches
from benchmark.model.estimator import TextClassifier, _bytes
from benchmark.model.fitting import fit_model
from benchmark.system.errors import ConfigError
from tests.builders import Notebook
from tests.model.studies import study_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.store import Store

LINEAR = {"name": "linear", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
BOTH = {"fuse": ["linear", "roots"], "name": "both"}


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
    assert repr(model) == f"<TextModel of linear: {n} documents, 3 classes>"
    one, other = alphabetic(model)
    ((_, answers),) = model.answers([("a", f"Subject: x\n\n{one} {one} {other} zzzz".encode()), ("b", b"\n\nzzzz")])
    assert answers.known is not None
    assert answers.known.tolist() == [2, 0], "terms, however often they occur"
    assert (model.n_terms, model.term_separator) == (len(model.vocabulary), " ")  # type: ignore[attr-defined]


def alphabetic(model: Any) -> list[str]:
    """Return two words of a model's vocabulary."""
    return [word for word in model.vocabulary if word.isalpha()][:2]


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


@pytest.mark.parametrize(
    ("cell", "options", "steps", "notes"),
    [
        ("linear", {}, 1, 0),
        ("linear", {"probability": True}, 1 + INNER_FOLDS, 0),
        ("both", {"probability": True}, 1, 0),
        ("linear", {"single_precision": True}, 1, 0),
    ],
)
def test_as_many_steps_are_done_as_were_planned(
    cell: str, options: dict[str, Any], steps: int, notes: int, store: Store
) -> None:
    seen = Notebook()
    fit_model(study_of(LINEAR, ROOTS, BOTH), cell, RunContext(store, seen), **options)
    assert (seen.planned, len(seen.steps), len(seen.notes)) == (steps, steps, notes)


def test_what_is_refused_is_named_with_its_cell(store: Store, tmp_path: Path) -> None:
    experiment = mine(tmp_path, "text: body")
    with pytest.raises(ConfigError, match="--cell: unknown cell 'mnbb'; did you mean 'mnb'"):
        fit_model(experiment, "mnbb", RunContext(store))
    with pytest.raises(ConfigError, match=r"--split: unknown split 'fold-9'.*\(allowed: fold-1, fold-2, fold-3\)"):
        fit_model(experiment, "mnb", RunContext(store), split="fold-9")
    several = study_of(
        {"name": "high", "classifier": "sklearn.naive_bayes.ComplementNB", "threshold": "cross-validated"},
        subset="several",
    )
    with pytest.raises(
        ConfigError, match=r"^high: .*can't be saved with the threshold 'cross-validated': only with zero"
    ):
        fit_model(several, "high", RunContext(store))


@pytest.mark.parametrize(("chosen", "refused"), [(0, False), (1, True)])
def test_a_candidate_that_cannot_be_kept_is_refused_once_it_is_chosen(
    chosen: int, refused: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.model.fitting._by_folds", lambda *_: chosen)
    reasons = {0.01: "", 1: "it is too smooth"}
    monkeypatch.setattr(
        "benchmark.model.fitting._why_not_kept", lambda spec: reasons[spec.classifier.given["smoothing"]]
    )
    method = {"classifier": {"name": "mnb", "smoothing": [0.01, 1]}}
    experiment = study_of(method, choose={"by": "cross-validation", "folds": 2})
    (cell,) = experiment.ids
    if refused:
        with pytest.raises(ConfigError, match=f"^{cell}: it is too smooth$"):
            fit_model(experiment, cell, RunContext(store))
    else:
        assert fit_model(experiment, cell, RunContext(store)).about["chosen"]["candidate"] == 0
    monkeypatch.setattr("benchmark.model.fitting._why_not_kept", lambda _: "none can")
    with pytest.raises(ConfigError, match=f"^{cell}: none can$"):
        fit_model(experiment, cell, RunContext(store))


# Texts


def test_texts_are_bytes_strings_or_fields() -> None:
    assert _bytes("é") == "é".encode()
    assert _bytes("\ud800") == b"?"
    assert _bytes(b"\xff") == b"\xff"
    found = _bytes({"head": "é", "body": b"b"})
    assert isinstance(found, FieldedText)
    assert found == "é\nb".encode()
    assert found.fields == {"head": "é".encode(), "body": b"b"}


def test_batches_are_cut_by_number_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(*lengths: int) -> list[int]:
        return [len(batch) for batch in _batches((str(n), b"x" * n) for n in lengths)]

    monkeypatch.setattr("benchmark.model.base.PREDICTION_BATCH", 3)
    monkeypatch.setattr("benchmark.model.base.TEXT_CHUNK_BYTES", 10)
    assert sizes() == []
    assert sizes(1, 1, 1, 1) == [3, 1]
    assert sizes(1, 1, 1) == [3]
    assert sizes(10, 1, 9, 4, 5, 1) == [1, 2, 3]
    assert sizes(4, 4, 50) == [3]


def test_classes_of_a_document_are_positions() -> None:
    one = TextPredictions(np.array([2, 0], np.int32), np.zeros((2, 3)), None, None, ())
    assert [one.classes_of(0), one.classes_of(1)] == [[2], [0]]
    several = TextPredictions(np.array([[True, False, True], [False] * 3]), np.zeros((2, 3)), None, None, ())
    assert [several.classes_of(0), several.classes_of(1)] == [[0, 2], []]


class Answers:
    """A model whose classes aren't sorted, with two documents."""

    classes, has_probabilities, n_terms = ("b", "c", "a"), True, None

    def __init__(self, given: Any, *, multilabel: bool = False) -> None:
        self.given, self.multilabel = np.array(given), multilabel
        self.seen: dict[str, Any] = {}

    def answers(self, documents: Any, **options: Any) -> Any:
        self.seen = options
        names, texts = zip(*documents, strict=True)
        values = np.arange(3.0) + 10 * np.arange(2)[:, None]
        self.texts = texts
        yield names, TextPredictions(self.given, values, values / 100, None, ())


def test_columns_are_in_the_order_of_sorted_classes() -> None:
    model: Any = Answers([1, 2])
    classifier = TextClassifier(model, jobs=4)
    assert classifier.classes_.tolist() == ["a", "b", "c"]
    assert classifier.predict(["x", b"y"]).tolist() == ["c", "a"]
    assert (model.texts, model.seen) == ((b"x", b"y"), {"jobs": 4})
    assert classifier.decision_function(["xy"] * 2).tolist() == [[2, 0, 1], [12, 10, 11]]
    assert classifier.predict_proba(["x", "y"])[0].tolist() == [0.02, 0.0, 0.01]
    several: Any = Answers([[True, False, False], [False, True, True]], multilabel=True)
    assert TextClassifier(several).predict(["x", "y"]).tolist() == [[False, True, False], [True, False, True]]
    assert TextClassifier(several).jobs == 1


def test_of_two_classes_with_several_there_is_a_value_of_each() -> None:
    class Two(Answers):
        classes = ("b", "a")  # type: ignore[assignment]

        def answers(self, documents: Any, **_: Any) -> Any:
            list(documents)
            yield (), TextPredictions(self.given, np.array([[1.0, 5.0]]), None, None, ())

    two: Any = Two([0])
    assert TextClassifier(two).decision_function(["x"]).tolist() == [-4.0]
    several: Any = Two([[True, False]], multilabel=True)
    assert TextClassifier(several).decision_function(["x"]).tolist() == [[5.0, 1.0]]
    several.has_probabilities = False
