"""What others' classifiers and files return is checked, and means what it says: classes, ties, scores and vectors."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from benchmark.methods.elsewhere.pipelines import seeds_of
from benchmark.methods.multilabel import argmax_predictions, multilabel_predictions, values_of_all_classes
from pyarrow import parquet
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils import get_tags

from benchmark.config.components import Component
from benchmark.config.model import MethodFile, VectorFile
from benchmark.corpora.file_digest import file_digest
from benchmark.methods.fusion import StandardizedSum, centred_values
from benchmark.methods.given_predictions import _codes, read_predictions
from benchmark.methods.plugin_outputs import (
    CheckedClassifier,
    check_real_array,
    checked_classifier,
    predicted_codes,
    scores_of,
    scores_of_all_classes,
    takes_sparse,
    value_of_class,
)
from benchmark.methods.vectors import read_vectors
from benchmark.system.errors import DataError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POINTS = sp.csr_array(np.arange(12, dtype=np.float64).reshape(4, 3))
LABELS = np.array([2, 0, 2, 0], dtype=np.int32)


class Theirs:
    """Says what it was given."""

    def __init__(self, predicted: Any = (2, 0, 2, 0), scores: Any = None, classes: Any = (0, 2)) -> None:
        self.predicted, self.values, self.classes = predicted, scores, classes
        if scores is not None:
            self.decision_function = lambda X: self.values  # noqa: ARG005

    def fit(self, X: Any, y: Any) -> Any:
        X.data[:] = 7
        y[:] = 7
        if self.classes is not None:
            self.classes_ = np.asarray(self.classes)
        return None

    def predict(self, X: Any) -> Any:
        X.data[:] = 7
        return self.predicted


def trained(*given: Any, **named: Any) -> CheckedClassifier:
    points, labels = POINTS.copy(), LABELS.copy()
    made = CheckedClassifier(Theirs(*given, **named)).fit(points, labels)
    assert (points != POINTS).nnz == 0, "it was given a copy"
    assert labels.tolist() == LABELS.tolist()
    return made


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0, 3.0], r"it gives values of the shape \(3,\), not \(2,\)"),
        (["a", "b"], r"it gives values of the type list \(<U1\), not real numbers"),
        (np.ma.masked_array([1.0, 2.0]), "it gives values of the type MaskedArray"),
        (np.array([1j, 2j]), "not real numbers"),
        (np.array([True, False]), "not real numbers"),
        ([1.0, np.nan], "it gives values that are not finite numbers"),
        ([1.0, -np.inf], "it gives values that are not finite numbers"),
        ([[1.0], [1.0, 2.0]], "it gives values that are no array: "),
    ],
)
def test_values_are_real_finite_and_of_their_shape(values: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_real_array(values, (2,), "it")
    found = check_real_array(np.array([1, 2], dtype=np.uint8), (2,), "it")
    assert (found.dtype, found.tolist()) == (np.float64, [1.0, 2.0])


@pytest.mark.parametrize("classes", [(0, 1), (0, 2, 2), (0,), (0, 2, 3), (0.0, 2.0), ((0, 2),), ("0", "2")])
def test_classes_that_are_not_those_of_training_are_refused(classes: Any) -> None:
    with pytest.raises(ValueError, match=r"its classes_ are .*, but the training classes are \[0, 2\]"):
        trained(classes=classes)
    assert trained(classes=(2, 0)).classes_.tolist() == [2, 0]
    assert trained(classes=None).classes_.tolist() == [0, 2]


def test_what_fit_returns_is_what_predicts() -> None:
    """Or the classifier itself, where it returns nothing."""

    class Maker:
        def fit(self, X: Any, y: Any) -> Any:
            self.made = Theirs((0, 0, 2, 2), np.arange(4.0))
            self.made.fit(X, y)
            return self.made

    maker = Maker()
    made = CheckedClassifier(maker).fit(POINTS.copy(), LABELS.copy())
    assert made.classifier is maker.made
    assert made.predict(POINTS).tolist() == [0, 0, 2, 2]
    assert made.scores(POINTS)[:, 1].tolist() == [0.0, 1.0, 2.0, 3.0]  # type: ignore[index]
    own = Theirs()
    assert CheckedClassifier(own).fit(POINTS.copy(), LABELS.copy()).classifier is own


def test_rankings_are_handed_over_as_copies() -> None:
    seen: list[Any] = []

    class Selecting(Theirs):
        def fit(self, X: Any, y: Any, rankings: Any) -> Any:  # type: ignore[override]
            rankings[:] = 0
            seen.append(rankings)
            return super().fit(X, y)

    rankings = np.array([[1, 2], [2, 1]])
    CheckedClassifier(Selecting()).fit(POINTS.copy(), LABELS.copy(), rankings)
    assert rankings.tolist() == [[1, 2], [2, 1]]
    assert seen[0].tolist() == [[0, 0], [0, 0]]


def test_predictions_are_training_classes() -> None:
    points = POINTS.copy()
    assert trained().predict(points).tolist() == [2, 0, 2, 0]
    assert (points != POINTS).nnz == 0
    for predicted, words in (
        ((2, 0, 2), r"its predict of 4 documents gives values of the shape \(3,\), not \(4,\)"),
        ((2, 0, 1, 0), r"its predict gives 1, but the training classes are \[0, 2\]"),
    ):
        with pytest.raises(ValueError, match=words):
            trained(predicted).predict(POINTS)


def test_scores_are_of_each_class_and_agree_with_the_prediction() -> None:
    assert trained().scores(POINTS) is None
    one = np.array([1.0, -1.0, -3.0, 0.0])
    values = trained(scores=one).scores(POINTS)
    assert values is not None
    assert values.shape == (4, 2)
    np.testing.assert_array_equal(values[:, 1] - values[:, 0] > 0, one > 0)
    with pytest.raises(
        ValueError, match=r"its decision_function of 4 documents and 2 classes gives values of the shape \(3,\)"
    ):
        trained(scores=one[1:]).scores(POINTS)
    two = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    codes, tied, scores = predicted_codes(trained(scores=two), POINTS)
    assert (codes.tolist(), tied.tolist()) == ([2, 0, 2, 0], [False, False, False, True])
    np.testing.assert_array_equal(scores, two)
    found = scores_of(trained(scores=two), POINTS)
    assert found.argmax(axis=1).tolist() == [1, 0, 1, 0], "the third is predicted though it has the lower score"
    assert found[2, 1] == np.nextafter(1.0, np.inf)
    np.testing.assert_array_equal(np.delete(found, 2, axis=0), np.delete(two, 2, axis=0))
    np.testing.assert_array_equal(scores_of(trained(), POINTS), [[0, 1], [1, 0], [0, 1], [1, 0]])
    codes, tied, scores = predicted_codes(trained(), POINTS)
    assert (codes.tolist(), tied.any(), scores) == ([2, 0, 2, 0], False, None)


@pytest.mark.parametrize(
    ("classes", "shape", "wanted"),
    [
        ((0, 1, 2), (4,), (4, 3)),
        ((0, 1, 2), (4, 1), (4, 3)),
        ((0, 1, 2), (3, 4), (4, 3)),
        ((0, 1, 2), (4, 3), None),
        ((0, 1), (4,), None),
        ((0, 1), (4, 2), None),
        ((0, 1), (4, 1), (4, 2)),
        ((0, 1), (3,), (4,)),
        ((0,), (4,), (4, 1)),
        ((0,), (4, 1), None),
    ],
)
def test_only_of_two_classes_a_score_may_be_of_both(
    classes: tuple[int, ...], shape: tuple[int, ...], wanted: tuple[int, ...] | None
) -> None:
    scores = np.arange(float(np.prod(shape))).reshape(shape)
    labels = np.resize(np.array(classes, dtype=np.int32), 4)
    made = CheckedClassifier(Theirs(tuple(labels), scores, classes)).fit(POINTS.copy(), labels.copy())
    if wanted is None:
        found = made.scores(POINTS)
        assert found is not None
        assert found.shape == (4, len(classes))
    else:
        what = f"its decision_function of 4 documents and {len(classes)} classes"
        with pytest.raises(ValueError, match=re.escape(f"{what} gives values of the shape {shape}, not {wanted}")):
            made.scores(POINTS)


def test_a_binary_value_is_positive_where_one_is_predicted() -> None:
    labels = np.array([1, 0, 1, 0], dtype=np.int32)
    scores = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    for classes, own in (((0, 1), scores), ((1, 0), scores[:, ::-1])):
        made = CheckedClassifier(Theirs((1, 0, 1, 0), own, classes)).fit(POINTS.copy(), labels.copy())
        tiny = np.finfo(np.float64).tiny
        values = value_of_class(made, POINTS)
        assert values[:2].tolist() == [1.5, -1.0]
        assert values[2] > 0 >= values[2] - 1e-12
        assert values[3] == -tiny or -1e-12 < values[3] < 0


@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
@pytest.mark.parametrize("best", [-1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-308, 1.0, 1e300])
def test_a_binary_value_is_positive_where_one_is_predicted_though_scores_tie(
    best: float, classes: tuple[int, int]
) -> None:
    labels = np.array([1, 0, 1, 0], dtype=np.int32)
    made = CheckedClassifier(Theirs((1, 0, 1, 0), np.full((4, 2), best), classes)).fit(POINTS.copy(), labels)
    assert (value_of_class(made, POINTS) > 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize("code", [0, 1])
def test_a_binary_value_is_its_own_where_it_agrees_with_the_prediction_and_else_hardly_differs_from_0(
    code: int,
) -> None:
    """A value of 0 agrees with class 0, and is a tie."""
    values = np.array([0.0, -2.0, 1.0, 3.0])
    labels = np.array([1, 0, 1, 0], dtype=np.int32)
    made = CheckedClassifier(Theirs((code,) * 4, values, (0, 1))).fit(POINTS.copy(), labels)
    agree, found = (values > 0) == (code == 1), value_of_class(made, POINTS)
    np.testing.assert_array_equal(found[agree], values[agree])
    assert ((found[~agree] > 0) == (code == 1)).all()
    assert (np.abs(found[~agree]) < 1e-12).all()
    assert found[~agree].all()


def test_only_a_library_says_by_tags_whether_it_takes_sparse_points(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugin(BaseEstimator):
        """Of which scikit-learn's tags say that it takes dense points only, as they do where nothing is said."""

    assert not get_tags(Plugin()).input_tags.sparse
    for library in (True, False):
        monkeypatch.setattr("benchmark.methods.plugin_outputs.is_library_class", lambda _, library=library: library)
        assert takes_sparse(Plugin()) != library
    untagged = type("Untagged", (), {"__module__": "sklearn.untagged"})()
    assert takes_sparse(untagged)


def test_scores_of_ours_that_are_not_finite_are_refused() -> None:
    for wrong in (np.nan, np.inf, -np.inf):
        ours: Any = SimpleNamespace(
            decision_function=lambda _, wrong=wrong: np.array([[1.0, 2.0, wrong]]), classes_=np.arange(3)
        )
        for scored in (scores_of, predicted_codes, value_of_class):
            with pytest.raises(FloatingPointError, match="a decision value is not a finite number"):
                scored(ours, POINTS[:1])


def test_ours_are_not_wrapped_and_a_library_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(checked_classifier(MultinomialNB()), CheckedClassifier)
    assert takes_sparse(MultinomialNB())
    assert takes_sparse(Theirs())
    assert not takes_sparse(HistGradientBoostingClassifier())
    dense = CheckedClassifier(HistGradientBoostingClassifier())
    assert isinstance(dense._handed(POINTS), np.ndarray)
    assert sp.issparse(CheckedClassifier(Theirs())._handed(POINTS))
    assert dense._handed(np.array(["a", "b"], dtype=object)) == ["a", "b"]
    assert dense._handed(np.ones((1, 2))).tolist() == [[1.0, 1.0]], "points that are dense already"
    for free, fits in ((96, True), (95, False)):
        monkeypatch.setattr("benchmark.methods.plugin_outputs.free_memory", lambda free=free: free)
        if fits:
            dense._handed(POINTS)
        else:
            with pytest.raises(
                ValueError, match=r"takes dense points only, and 4 documents × 3 coordinates take 0\.0 GB"
            ):
                dense._handed(POINTS)


def test_scores_of_classes_that_were_not_trained_are_minus_infinity() -> None:
    problem: Any = SimpleNamespace(documents=SimpleNamespace(classes=("a", "b", "c")))
    found = scores_of_all_classes(problem, np.array([2, 0]), np.array([[1.0, 2.0]]))
    assert found.tolist() == [[2.0, -np.inf, 1.0]]


# Several classes, and sums


def test_classes_that_could_not_be_learned_have_infinite_values() -> None:
    everywhere, columns = np.array([True, False, False, False]), np.array([1, 3])
    values = np.array([[0.5, 0.0], [-0.5, 2.0]])
    full = values_of_all_classes(everywhere, columns, values)
    assert full.tolist() == [[np.inf, 0.5, -np.inf, 0.0], [np.inf, -0.5, -np.inf, 2.0]]
    members = np.array([[True, True, False, False], [True, False, False, True]])
    found = multilabel_predictions(members, columns, values, np.zeros(6))
    assert found.predicted.tolist() == [[True, True, False, False], [True, False, False, True]]
    assert found.tied.tolist() == [[False, False, False, True], [False] * 4]
    np.testing.assert_array_equal(found.values, full)
    one = argmax_predictions(3, np.array([2, 1]), np.array([[1.0, 1.0], [3.0, 2.0]]), np.zeros(6))
    assert (one.predicted.tolist(), one.tied.tolist()) == ([1, 2], [True, False])
    with pytest.raises(FloatingPointError, match="a decision value is not a finite number"):
        argmax_predictions(2, np.arange(2), np.array([[np.nan, 1.0]]), np.zeros(6))


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_sum_is_of_centred_values_by_their_scales(multilabel: bool) -> None:
    first, second = np.array([[1.0, 3.0, 9.0]]), np.array([[10.0, 20.0, -9.0]])
    rule = StandardizedSum((2.0, 0.5), (4.0, 0.1), multilabel, np.array([0, 1]), np.zeros(3, dtype=bool))
    expected = [[2 * 1 / 4 + 0.5 * 10 / 0.1, 2 * 3 / 4 + 0.5 * 20 / 0.1]]
    if not multilabel:
        expected = [[2 * -1 / 4 + 0.5 * -5 / 0.1, 2 * 1 / 4 + 0.5 * 5 / 0.1]]
    total = rule.of([first, second])
    np.testing.assert_allclose(total, expected)
    assert rule.predict_from(total).tolist() == ([[True, True, False]] if multilabel else [1])
    assert rule.class_values(total).shape == ((1, 3) if multilabel else (1, 2))
    assert centred_values(first, multilabel=True) is first


def test_seeds_that_are_left_open_are_the_experiments() -> None:
    defaults = {"random_state": None, "svm__random_state": None, "tree__random_state": 3, "other": None}
    part = Component("p", {"svm__random_state": 4}, defaults, Tags(), object)
    assert seeds_of(part) == ["random_state"]
    assert seeds_of(replace(part, given={})) == ["random_state", "svm__random_state"]


# Files


def digest_of(path: Path) -> str:
    return file_digest(path).sha256.hex()


def test_a_file_of_predictions_is_read_with_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "split,id,label,size,probability b,probability a\ns, n1 ,b,10,0.5,0.5\ns,n2, a,10,.25,.75\nt,n1,,10,1,0\n"
    )
    found = read_predictions(path, digest_of(path))
    assert (found.name, found.by_split, found.by_size, found.scored) == ("a.csv", True, True, ("b", "a"))
    assert found.labels == {("n1", "s", "10"): "b", ("n2", "s", "10"): "a", ("n1", "t", "10"): ""}
    assert found.tied == {("n1", "s", "10")}
    assert found.scores[("n2", "s", "10")] == (0.25, 0.75)
    with pytest.raises(DataError, match="was changed since the configuration was read"):
        read_predictions(path, "0")


def test_scores_may_be_infinite_and_classes_have_names_of_several_words(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("id,label,decision money fx,decision a\nn1,a,-inf,1\nn2,a,inf,inf\nn3,a,0,0.0\n")
    found = read_predictions(path, digest_of(path))
    assert found.scored == ("money fx", "a")
    assert found.scores[("n1", "", "")] == (-np.inf, 1.0)
    assert found.tied == {("n2", "", ""), ("n3", "", "")}
    assert (found.by_split, found.by_size) == (False, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,text\na,b\n", r"has no column 'label' \(columns: id, text\)"),
        ("label,text\na,b\n", r"has no column 'id' \(columns: label, text\)"),
        ("id,label\na,x\na,x\n", "has the document 'a' twice$"),
        ("id,label,split\na,x,s\na,x,t\na,x,s\n", "has the document 'a' twice in s$"),
        ("id,label,decision x\na,x,much\n", "the document 'a' has the score 'much': no number"),
        ("id,label,decision x\na,x,nan\n", "the document 'a' has the score 'nan': no number"),
        ("id,label,decision x\na,x,\n", "the document 'a' has the score "),
    ],
)
def test_a_file_of_predictions_that_lacks_something_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read_predictions(tmp_path / "a.csv", digest_of(tmp_path / "a.csv"))


def test_labels_are_positions_of_classes() -> None:
    classes = ("tea", "rum", "ink")
    assert _codes(["rum", "tea"], classes, multilabel=False, name="f").tolist() == [1, 0]
    found = _codes(["ink;tea", "", "rum"], classes, multilabel=True, name="f")
    assert found.tolist() == [[True, False, True], [False] * 3, [False, True, False]]
    with pytest.raises(ValueError, match=r"^f: the label 'runn' is not a class; did you mean 'rum'\?"):
        _codes(["tea", "runn"], classes, multilabel=False, name="f")


def vectors(path: Path, **more: Any) -> VectorFile:
    given: dict[str, Any] = {"file": MethodFile(path.name, digest_of(path), path), "ids": None}
    return VectorFile(**given | {"id_column": "id", "column": ""} | more)


def table(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def test_results_of_vectors_are_keyed_by_all_that_chooses_them(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    files = [MethodFile(name, digest_of(tmp_path / name), tmp_path / name) for name in ("a", "b")]
    given: dict[str, Any] = {"file": files[0], "ids": None, "id_column": "id", "column": ""}
    changes: list[dict[str, Any]] = [{}, {"file": files[1]}, {"ids": files[1]}, {"id_column": "x"}, {"column": "x"}]
    keys = [VectorFile(**given | change).resolved for change in changes]
    assert len(set(map(tuple, keys))) == len(changes)
    moved = MethodFile("elsewhere", files[0].digest, tmp_path / "elsewhere")
    assert VectorFile(**given | {"file": moved}).resolved == keys[0]


def test_vectors_are_columns_lists_or_rows_of_an_array(tmp_path: Path) -> None:
    one = read_vectors(vectors(table(tmp_path / "a.parquet", x=[1, 2], id=["p", "q"], y=[0.5, 1.5])))
    assert one.rows == {"p": 0, "q": 1}
    assert (one.matrix.tolist(), one.matrix.dtype) == ([[1.0, 0.5], [2.0, 1.5]], np.float64)
    lists = table(tmp_path / "b.parquet", id=[1, 2], v=pa.array([[1, 2], [3, 4]], pa.list_(pa.float32())), w=[1, 2])
    two = read_vectors(vectors(lists, column="v"))
    assert (two.rows, two.matrix.tolist(), two.matrix.dtype) == ({"1": 0, "2": 1}, [[1, 2], [3, 4]], np.float32)
    np.save(tmp_path / "c.npy", np.eye(2, dtype=np.float32))
    (tmp_path / "ids.txt").write_text("p\nq\n")
    ids = MethodFile("ids.txt", digest_of(tmp_path / "ids.txt"), tmp_path / "ids.txt")
    three = read_vectors(vectors(tmp_path / "c.npy", ids=ids))
    assert (three.rows, three.matrix.dtype) == ({"p": 0, "q": 1}, np.float32)
    (tmp_path / "ids.txt").write_text("p\n")
    with pytest.raises(DataError, match=r"ids\.txt: was changed since the configuration was read"):
        read_vectors(vectors(tmp_path / "c.npy", ids=ids, id_column="another"))
    few = MethodFile("ids.txt", digest_of(tmp_path / "ids.txt"), tmp_path / "ids.txt")
    with pytest.raises(DataError, match=r"c\.npy: has the shape \(2, 2\), and there are 1 ids: a row is a document's"):
        read_vectors(vectors(tmp_path / "c.npy", ids=few))


BROKEN: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"id": ["p", "p"], "x": [1, 2]}, {}, "has the document 'p' twice"),
    ({"id": ["p", "q"], "x": [1.0, np.nan]}, {}, "1 of 2 vectors have values that aren't finite"),
    ({"name": ["p"], "x": [1.0]}, {}, r"has no column 'id' \(columns: 'name, x'\)"),
    ({"id": ["p"], "x": [1.0]}, {"column": "v"}, r"has no column 'v' \(columns: 'id, x'\)"),
    (
        {"id": ["p", "q"], "v": [[1], [1, 2, 3]]},
        {"column": "v"},
        "can't be read as vectors of numbers: vectors have from 1 to 3",
    ),
    ({"id": ["p", "q"], "v": [[1], None]}, {"column": "v"}, "vectors have from 0 to 1 numbers"),
    ({"id": ["p"], "x": ["a"]}, {}, "can't be read as vectors of numbers"),
]


@pytest.mark.parametrize(("columns", "how", "words"), BROKEN)
def test_vectors_that_are_none_are_refused(
    columns: dict[str, Any], how: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "a.parquet", **columns)
    with pytest.raises(DataError, match=words):
        read_vectors(vectors(path, **how))


def test_a_file_that_is_only_described_is_not_read(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", id=["p"], x=[1])
    gone: Callable[[], Any] = lambda: read_vectors(replace(vectors(path), file=MethodFile("a", "0", None)))  # noqa: E731
    with pytest.raises(DataError, match="a: is only described in a finished run: run the configuration again"):
        gone()
