"""Edges of models: bytes in place of texts, progress, notes, sizes of sums, and what single precision rounds."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers import LinearSvm
from benchmark.evaluation.splits import Split
from benchmark.experiment.context import RunContext
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.model import fitting
from benchmark.model.base import TextPredictions
from benchmark.model.estimator import TextClassifier, _bytes
from benchmark.model.fitting import fit_model
from benchmark.model.fusion_model import FusionModel
from benchmark.model.persistence import ARRAYS_FILE, DESCRIPTION_FILE, check_model_folder_free, read_model, write_model
from benchmark.model.telling_terms import without_each_term
from benchmark.system.errors import ConfigError
from benchmark.system.observer import Observer
from tests.model.studies import study_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.store import Store

    Fit = Callable[..., Any]

WORDS = {"name": "words", "weighting": "tfidf", "normalization": "l2", "classifier": "linear-svm"}
ROOTS = {"name": "roots", "features": "hellinger", "normalization": "l1", "classifier": "linear-svm"}
BOTH = {"fuse": ["words", "roots"], "name": "both"}


class Watching(Observer):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.planned = 0
        self.steps: list[str] = []
        self.notes: list[str] = []

    def plan(self, steps: int, later: int = 0) -> None:
        self.planned += steps + later

    def step(self, done: str, *, stored: bool = False) -> None:
        self.steps.append(done)

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.mark.parametrize("text", ["a text", b"a text"])
@pytest.mark.parametrize("ask", ["predict", "decision_function", "predict_proba"])
def test_a_text_alone_is_no_sequence_of_texts(text: Any, ask: str) -> None:
    model: Any = SimpleNamespace(multilabel=False, has_probabilities=True, classes=("a", "b"))
    with pytest.raises(TypeError, match=r"^X must be a sequence of texts, not a text$"):
        getattr(TextClassifier(model), ask)(text)


def test_fields_of_a_text_are_lines_of_it_and_what_is_no_utf_8_is_replaced() -> None:
    found: Any = _bytes({"subject": "é", "body": b"\xe9", "end": "\udcff"})
    assert bytes(found) == "é\n".encode() + b"\xe9\n?"
    assert found.fields == {"subject": "é".encode(), "body": b"\xe9", "end": b"?"}
    assert _bytes(b"\xe9") == b"\xe9"


class Fixed:
    """Model that answers with fixed values, in two batches."""

    classes = ("b", "c", "a")

    def __init__(self, k: int, *, multilabel: bool) -> None:
        self.classes = self.classes[:k]
        self.multilabel, self.has_probabilities = multilabel, True
        rng = np.random.default_rng(k)
        self.values, self.probabilities = rng.normal(size=(5, k)), rng.random((5, k))
        self.given = self.values > 0 if multilabel else self.values.argmax(axis=1).astype(np.int32)
        self.jobs: list[int] = []

    def answers(self, documents: Any, *, jobs: int) -> Any:
        assert len(list(documents)) == 5
        self.jobs.append(jobs)
        for part in (slice(0, 2), slice(2, 5)):
            yield (), TextPredictions(self.given[part], self.values[part], self.probabilities[part], None, ())


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_columns_are_in_the_order_of_the_sorted_classes(k: int, multilabel: bool) -> None:
    fixed: Any = Fixed(k, multilabel=multilabel)
    model, texts = TextClassifier(fixed, jobs=3), list("vwxyz")
    order = sorted(range(k), key=lambda place: fixed.classes[place])
    assert model.classes_.tolist() == sorted(fixed.classes)
    np.testing.assert_array_equal(model.predict_proba(texts), fixed.probabilities[:, order])
    values = fixed.values[:, order]
    one = k == 2 and not multilabel
    np.testing.assert_array_equal(model.decision_function(texts), values[:, 1] - values[:, 0] if one else values)
    expected = fixed.given[:, order] if multilabel else np.array(fixed.classes)[fixed.given]
    np.testing.assert_array_equal(model.predict(texts), expected)
    assert fixed.jobs == [3, 3, 3]


@pytest.mark.parametrize("n", [0, 1, 4, 5, 6, 13])
def test_each_term_is_left_out_once_in_batches(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.model.telling_terms.LEAVE_ONE_OUT_ROWS", 5)
    dense = np.zeros((1, 20))
    dense[0, np.arange(n) + 3] = np.arange(n) + 1
    found = [part.toarray() for part in without_each_term(sp.csr_array(dense))]
    assert [len(part) for part in found] == [min(5, n - start) for start in range(0, n, 5)]
    expected = np.repeat(dense, n, axis=0)
    expected[np.arange(n), np.arange(n) + 3] = 0
    np.testing.assert_array_equal(np.concatenate([np.empty((0, 20)), *found]), expected)


def spec_of(**changes: Any) -> Any:
    given = {
        "fused": None,
        "vectors": None,
        "threshold": None,
        "classifier": SimpleNamespace(cls=LinearSvm, name="svm"),
    }
    return SimpleNamespace(**given | changes)


FOREIGN = SimpleNamespace(cls=type("Mine", (), {"__module__": "mine"}), name="mine")
RULE = SimpleNamespace(name="at-least-one")
VECTORS = SimpleNamespace(file=SimpleNamespace(name="v.npy"))
NO_VECTORS = "v.npy: a kept model can't make the vectors of new documents"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"threshold": RULE}, ""),
        ({"classifier": FOREIGN}, ""),
        (
            {"classifier": FOREIGN, "threshold": RULE},
            "mine can't be saved with the threshold 'at-least-one': only with zero",
        ),
        ({"vectors": VECTORS}, NO_VECTORS),
        ({"fused": SimpleNamespace(names=("a", "b"), members=(spec_of(), spec_of()))}, ""),
        (
            {"fused": SimpleNamespace(names=("a", "b", "c"), members=(spec_of(), *[spec_of(vectors=VECTORS)] * 2))},
            f"b: {NO_VECTORS}",
        ),
    ],
)
def test_why_a_method_is_not_kept_names_the_first_of_a_sum(changes: dict[str, Any], why: str) -> None:
    assert fitting._why_not_kept(spec_of(**changes)) == why


@pytest.mark.parametrize(
    ("reader", "counted", "columns"),
    [
        ({"text": "body", "fields": ("all",)}, ("all",), ["body"]),
        ({"text": ("subject", "body"), "fields": ("all", "subject")}, ("subject",), ["subject", "body"]),
        ({"fields": ("all", "title", "body")}, ("all",), ["text"]),
        ({"fields": ("all", "title", "body")}, ("all", "body"), ["title", "body"]),
        ({"fields": ()}, ("all",), ["text"]),
    ],
)
def test_columns_of_other_files_are_those_of_the_corpus(
    reader: dict[str, Any], counted: tuple[str, ...], columns: list[str]
) -> None:
    collection: Any = SimpleNamespace(reader=SimpleNamespace(**reader), lexing=SimpleNamespace(fields=counted))
    assert fitting._columns(collection) == columns
    assert fitting._reading(collection) is None


@pytest.mark.parametrize(("probability", "cell"), [(False, "words"), (True, "words"), (False, "both"), (True, "both")])
def test_as_many_steps_are_done_as_were_planned(probability: bool, cell: str, store: Store) -> None:
    seen = Watching()
    fit_model(study_of(WORDS, ROOTS, BOTH), cell, RunContext(store, seen), probability=probability)
    assert seen.planned == len(seen.steps) > 0
    assert (len(seen.steps) > 1) == (probability and cell == "words")
    assert seen.steps[0] == "all documents"
    assert seen.notes == []


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("fused", [False, True])
def test_weights_that_stay_as_they_are_are_told_of(stays: bool, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [SimpleNamespace(inputs=np.arange(10) * n) for n in (1, 2)]
    method: Any = object.__new__(FusedMethod) if fused else object()
    if fused:
        monkeypatch.setattr(FusedMethod, "problems", problems, raising=False)
    point: Any = SimpleNamespace(method=method, problem=problems[0])
    seen, model, given = Watching(), object(), list[Any]()

    def rounded(own: Any, inputs: Any) -> Any:
        given.append([each.tolist() for each in inputs])
        return own if stays else "rounded"

    monkeypatch.setattr(fitting, "in_single_precision", rounded)
    training = fitting._Training(point, None, {}, None, seen)  # type: ignore[arg-type]
    found = training.in_single_precision(model, Split("s", np.array([2, 5]), np.array([1])))  # type: ignore[arg-type]
    assert found is (model if stays else "rounded")
    assert given == [[[2, 5], [4, 10]] if fused else [[2, 5]]]
    said = "The weights stay in double precision: rounding would change the label of a document."
    assert seen.notes == ([said] if stays else [])


@pytest.mark.parametrize(("name", "holds"), [(DESCRIPTION_FILE, "a model"), (ARRAYS_FILE, "other files")])
def test_a_folder_holds_a_model_where_its_description_is(name: str, holds: str, tmp_path: Path) -> None:
    check_model_folder_free(tmp_path / "new", overwrite=False)
    (tmp_path / name).touch()
    said = rf"^{tmp_path}: holds {holds} already; --overwrite writes over it, --out names another folder$"
    with pytest.raises(ConfigError, match=said):
        check_model_folder_free(tmp_path, overwrite=False)
    check_model_folder_free(tmp_path, overwrite=True)


def test_the_size_of_a_sum_is_that_of_all_its_files_and_half_files_go(fitted: Fit, tmp_path: Path) -> None:
    model = fitted(study_of(WORDS, ROOTS, BOTH), "both", probability=True)
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    child.wait()
    for folder in (tmp_path, tmp_path / "method-2"):
        folder.mkdir(exist_ok=True)
        (folder / f".{DESCRIPTION_FILE}.{child.pid}.tmp").write_bytes(b"half")
    n_bytes = write_model(model, tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path)) for path in files) == [
        *(f"method-{n}/{name}" for n in (1, 2) for name in (DESCRIPTION_FILE, ARRAYS_FILE)),
        DESCRIPTION_FILE,
    ]
    assert n_bytes == sum(path.stat().st_size for path in files)
    again = read_model(tmp_path)
    assert isinstance(again, FusionModel)
    assert (again.names, again.about, again.rule.weights) == (model.names, model.about, model.rule.weights)
    np.testing.assert_array_equal(again.sigmoids, model.sigmoids)


@pytest.mark.parametrize(
    ("method", "subset", "terms", "cell"),
    [
        (WORDS, None, 40, "words-40"),
        (
            {"name": "planes", "weighting": "tfidf", "normalization": "l2", "kernel": "linear"},
            "several",
            None,
            "planes",
        ),
    ],
    ids=["selected terms", "hyperplanes"],
)
def test_all_that_has_many_digits_is_rounded(
    method: Any, subset: str | None, terms: int | None, cell: str, fitted: Fit, tmp_path: Path
) -> None:
    more = {} if terms is None else {"terms": {"number": terms}}
    experiment = study_of(method, subset=subset, **more)
    model = fitted(experiment, single_precision=True)
    assert model.about["precision"] == "single"
    factors = model.fitted.learned.weighting.factors_
    arrays = [factors, *(each for name, each in model.fitted.arrays().items() if name.endswith(("weights", ".coef_")))]
    assert len(arrays) > 1
    for array in arrays:
        np.testing.assert_array_equal(array, array.astype(np.float32))
    write_model(model, tmp_path)
    texts = list(texts_of(subset).values())
    answers = [each.answer_batch(texts, 0).values.tobytes() for each in (model, read_model(tmp_path))]
    assert answers[0] == answers[1]
    assert model.about["cell"] == cell
