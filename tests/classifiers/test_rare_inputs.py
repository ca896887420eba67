"""What a classifier is given rarely: classes that tie, a kernel that fails in one tile, labels that are no classes."""

from __future__ import annotations

import gc
import threading
import weakref
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers import CLASSIFIERS, LinearSvm, SupportVectorClassifier, svm
from benchmark.classifiers.batch_svm import BinaryProblem, batch_decision_values
from benchmark.classifiers.centroids.graph_solvers import connected_graph, solve_laplacian
from benchmark.classifiers.centroids.graphs import co_occurrence_graph, co_occurrence_tree
from benchmark.classifiers.libsvm import BinarySvm, DenseRows, NodeMatrix
from benchmark.classifiers.linear_models import _Turns
from benchmark.classifiers.one_vs_one import SvmProblem, TrainingClock
from benchmark.classifiers.svm import (
    MulticlassSvm,
    mean_self_product,
    one_vs_one_scores,
    predict_class_codes,
    svm_class_scores,
    svm_decision_values,
    svm_decision_values_together,
    train_multiclass_together,
)
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = [name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel]


def draw(n: int, n_classes: int = 3) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(n)
    terms = np.random.default_rng(0).dirichlet(np.full(15, 0.5), size=n_classes)
    labels = np.arange(n) % n_classes
    return np.array([rng.multinomial(12, terms[label]) for label in labels]), labels


# Points


@pytest.mark.parametrize("name", POINTS)
def test_labels_that_are_numbers_and_not_whole_are_refused(name: str) -> None:
    X, y = draw(30)
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        CLASSIFIERS[name]().fit(X, y + 0.5)


@pytest.mark.parametrize("name", ["linear-svm", "mnb"])
@pytest.mark.parametrize("wide", [("indices",), ("indptr",), ("indices", "indptr")], ids="-".join)
def test_numbers_of_columns_and_of_entries_may_be_of_64_bits(name: str, wide: tuple[str, ...]) -> None:
    X, y = draw(30)
    narrow = sp.csr_array(X.astype(float))
    given = narrow.copy()
    for part in wide:
        setattr(given, part, getattr(given, part).astype(np.int64))
    one, other = (CLASSIFIERS[name]().fit(points, y).decision_function(narrow) for points in (narrow, given))
    np.testing.assert_array_equal(one, other)
    assert all(getattr(given, part).dtype == np.int64 for part in wide)  # the caller's are left


@pytest.mark.parametrize("mean", [0.0, -1.0, float("nan")])
def test_a_cost_is_not_divided_by_a_mean_that_is_not_positive(mean: float) -> None:
    message = f"^C can't be divided by the mean of k\\(x, x\\), which is {mean:g}$"
    for action in (mean_self_product, SupportVectorClassifier(scale_C="mean-self-product").cost):
        with pytest.raises(ValueError, match=message):
            action(np.array([mean - 1, mean + 1]))
    assert SupportVectorClassifier(C=3.0).cost(np.array([mean])) == 3.0
    assert mean_self_product(np.array([0.5, 0.0])) == 0.25


# Scores of support vector machines


def machines(scheme: str, n_classes: int) -> MulticlassSvm:
    return MulticlassSvm(scheme, np.arange(n_classes + 1), ())


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_largest_score_is_the_predicted_class_s_unless_classes_tie(scheme: str, n_classes: int) -> None:
    columns = n_classes if scheme == "one-vs-rest" else n_classes * (n_classes - 1) // 2
    decisions = np.random.default_rng(n_classes).normal(size=(200, columns))
    svms = machines(scheme, n_classes)
    scores = svm_class_scores(svms, decisions)
    assert scores.shape == (200, n_classes)
    codes, tied = predict_class_codes(svms, decisions)
    np.testing.assert_array_equal(scores.argmax(axis=1)[~tied], codes[~tied])
    assert (~tied).sum() > 50
    if scheme == "one-vs-one":
        wins = np.floor(scores + 0.5) if n_classes > 2 else (scores > 0)
        assert (wins.max(axis=1) == wins[np.arange(200), codes]).all()


def test_scores_of_two_classes_are_the_decision_value_and_its_negative() -> None:
    decisions = np.array([[2.0], [-0.5], [0.0]])
    np.testing.assert_array_equal(
        svm_class_scores(machines("one-vs-one", 2), decisions), [[2, -2], [-0.5, 0.5], [0, 0]]
    )


def test_a_sum_of_decision_values_breaks_ties_and_never_outweighs_a_vote() -> None:
    """Of three classes that each win once: (0,1) 3, (0,2) -1, (1,2) 2; then class 1 wins twice by little."""
    scores = one_vs_one_scores(np.array([[3.0, -1.0, 2.0], [-1e-9, 1e9, 1e-9]]), 3)
    sums = np.array([[2.0, -1.0, -1.0], [1e9, 2e-9, -1e9]])
    votes = np.array([[1, 1, 1], [1, 2, 0]])
    np.testing.assert_allclose(scores, votes + sums / (3 * (np.abs(sums) + 1)), rtol=1e-15)
    assert scores.argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_libsvm_takes_no_step_the_offsets_decide(scheme: str, n_classes: int) -> None:
    """A tolerance of 2 and more is reached before the first step: there is no support vector."""
    X, y = draw(12, n_classes)
    model = SupportVectorClassifier(epsilon=2.5, scheme=scheme).fit(X @ X.T, y)
    assert [len(machine.support) for machine in model.machines_.machines] == [0] * len(model.machines_.machines)
    assert model.machines_.n_support == 0
    offsets = [machine.rho for machine in model.machines_.machines]
    decisions = model.decision_function(X[:5] @ X.T)
    np.testing.assert_array_equal(decisions, np.tile(np.negative(offsets), (5, 1)))
    codes, _ = predict_class_codes(model.machines_, decisions)
    np.testing.assert_array_equal(model.predict(X[:5] @ X.T), model.classes_[codes])
    (few,) = batch_decision_values(X @ X.T * 1.0, [BinaryProblem(*np.split(np.arange(12), [6, 12]))], epsilon=2.5)
    assert len(set(few.tolist())) <= 1


# Many machines over one matrix


@pytest.mark.parametrize("n_test", [1, 3, 40])
def test_decisions_stand_in_the_order_of_the_tested_rows(n_test: int) -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(size=(60, 5)) + np.repeat([[1.0], [0.0]], 30, axis=0)
    kernel, test = points @ points.T, rng.permutation(60)[:n_test]
    problem = BinaryProblem(np.arange(20), np.arange(30, 55), test)
    (whole,) = batch_decision_values(kernel, [BinaryProblem(problem.first, problem.second, np.arange(60))])
    (found,) = batch_decision_values(kernel, [problem])
    np.testing.assert_allclose(found, whole[test], rtol=1e-9, atol=1e-9)
    for name, value in (("C", 0.01), ("epsilon", 0.5)):
        (other,) = batch_decision_values(kernel, [problem], **{name: value})
        assert np.abs(other - found).max() > 1e-6, name


# A kernel that fails in one tile

SIZES = np.array([3, 4, 5])
BOUNDS = np.concatenate([[0], np.cumsum(SIZES)])


class FailsAt(DenseRows):
    """A kernel whose value of one row and column is no number, though its source is sound."""

    fails: tuple[int, int] = (-1, -1)

    def values(self, source: Any, rows: slice, columns: slice) -> Any:
        values = source.copy()
        row, column = self.fails
        if rows.start <= row < rows.stop and columns.start <= column < columns.stop:
            values[row - rows.start, column - columns.start] = np.nan
        return super().values(values, rows, columns)


def kernel_that_fails(matrix: NDArray[np.float64], place: tuple[int, int], n: int = 12) -> FailsAt:
    made = FailsAt(matrix, np.arange(len(matrix)), np.arange(n))
    object.__setattr__(made, "fails", place)
    return made


@pytest.fixture(scope="module")
def matrix() -> NDArray[np.float64]:
    points = np.random.default_rng(7).normal(size=(20, 4))
    return points @ points.T


PLACES = [
    (int(row), int(column)) for row in (*BOUNDS[:-1], *(BOUNDS[1:] - 1)) for column in (*BOUNDS[:-1], *(BOUNDS[1:] - 1))
]


@pytest.mark.parametrize("budget", [0, 10**9])
def test_wherever_a_kernel_fails_its_problems_fail_and_all_others_are_trained(
    matrix: NDArray[np.float64], budget: int
) -> None:
    sound = DenseRows(matrix[:12, :12], np.arange(12), np.arange(12))
    (expected,) = train_multiclass_together([SvmProblem(sound)], SIZES)
    assert isinstance(expected, MulticlassSvm)
    for place in PLACES:
        wrong = kernel_that_fails(matrix[:12, :12], place)
        wanted = [SvmProblem(wrong), SvmProblem(sound), SvmProblem(wrong, C=2.0), SvmProblem(sound, C=1.0)]
        found = train_multiclass_together(wanted, SIZES, budget=budget)
        kinds = [type(each) for each in found]
        assert kinds == [FloatingPointError, MulticlassSvm, FloatingPointError, MulticlassSvm], place
        for each in found[1::2]:
            assert isinstance(each, MulticlassSvm)
            assert len(each.machines) == 3
            for one, other in zip(each.machines, expected.machines, strict=True):
                np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_wherever_a_kernel_fails_on_tested_rows_the_others_are_decided(matrix: NDArray[np.float64]) -> None:
    sound = DenseRows(matrix[:, :12], np.arange(20), np.arange(12))
    square = DenseRows(matrix[:12, :12], np.arange(12), np.arange(12))
    (trained,) = train_multiclass_together([SvmProblem(square)], SIZES)
    (expected,) = svm_decision_values_together([trained], [sound])
    for row in (0, 7, 19):
        for start, stop in pairwise(BOUNDS):
            for column in (start, stop - 1):
                wrong = kernel_that_fails(matrix[:, :12], (row, int(column)))
                decided = svm_decision_values_together([trained] * 3, [wrong, sound, wrong])
                assert [type(each) for each in decided] == [FloatingPointError, np.ndarray, FloatingPointError]
                np.testing.assert_array_equal(decided[1], expected)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_the_largest_value_of_any_class_says_which_decisions_are_doubtful(
    matrix: NDArray[np.float64], zeros: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of 1e6 that cancel up to 1e-9, in two classes of three: the third one's are 0."""
    again: list[int] = []
    in_order = svm._sum_in_order
    monkeypatch.setattr(svm, "_sum_in_order", lambda *given: again.append(len(given[0])) or in_order(*given))
    one, other = (column for column in range(3) if column != zeros)
    values = np.zeros((1, 3))
    values[0, [one, other]] = 1e6, 1e6 + 1e-9
    trained = BinarySvm(np.arange(3), np.where(np.arange(3) == one, 1.0, -1.0), 0.0, 0.0)
    svms = MulticlassSvm("one-vs-rest", np.arange(4), (trained,) * 3)
    for factor, doubtful in ((1.0, True), (1 + 1e-6, False)):
        again.clear()
        values[0, other] *= factor
        decided = svm_decision_values(svms, DenseRows(values, np.arange(1), np.arange(3)))
        np.testing.assert_allclose(decided, values[0, one] - values[0, other], rtol=1e-9, atol=1e-15)
        assert again == [1] * doubtful


def test_seconds_of_a_training_are_its_own_and_those_of_a_kernel_its_problems(
    matrix: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three problems, two of one kernel: each tile is evaluated for both, and each trains three pairs."""
    booked: list[tuple[int, ...]] = []
    clock = TrainingClock(3)
    monkeypatch.setattr(clock, "book", lambda _, members=(): booked.append(tuple(members)))
    kernel, other = (DenseRows(matrix[:12, :12] * factor, np.arange(12), np.arange(12)) for factor in (1.0, 2.0))
    wanted = [SvmProblem(kernel), SvmProblem(other), SvmProblem(kernel, C=2.0)]
    train_multiclass_together(wanted, SIZES, clock=clock, budget=0)
    pairs = 3
    assert {members: booked.count(members) for members in set(booked)} == {
        (): pairs + 4 * pairs,  # sources: across the classes of a pair, and within both for each kernel
        (0,): pairs,
        (1,): pairs + 4 * pairs,  # trainings, and the four tiles of a pair
        (2,): pairs,
        (0, 2): 4 * pairs,
    }


# Memory


def test_a_buffer_does_not_keep_the_matrix_that_was_written_last() -> None:
    nodes, kernel = NodeMatrix(), np.eye(4)
    nodes.fill_square(kernel, 1)
    kept = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert kept() is None
    nodes.fill_square(np.eye(4), 1)


# Turns of trainings


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_ridge_is_that_of_each_pair_of_classes(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    y = np.arange(40) % n_classes
    X = rng.normal(size=(40, 5)) + np.eye(5)[y]
    parameters: dict[str, Any] = {"C": 0.5, "ridge": 2.0, "epsilon": 1e-6}
    pairs = LinearSvm(scheme="one-vs-one", **parameters).fit(X, y)
    for place, (first, second) in enumerate(combinations(range(n_classes), 2)):
        rows = (y == first) | (y == second)
        alone = LinearSvm(**parameters).fit(X[rows], y[rows] == (second if n_classes == 2 else first))
        np.testing.assert_allclose(pairs.coef_[place], alone.coef_[0], rtol=1e-12)
        np.testing.assert_allclose(pairs.intercept_[place], alone.intercept_[0], rtol=1e-12)


def test_a_training_that_runs_alone_waits_for_all_that_run_side_by_side() -> None:
    turns, order = _Turns(), list[str]()
    leave = {name: threading.Event() for name in ("first", "second")}
    entered = {name: threading.Event() for name in ("first", "second")}

    def beside(name: str) -> None:
        with turns.take(alone=False):
            entered[name].set()
            leave[name].wait(30)
            order.append(name)

    def alone() -> None:
        with turns.take(alone=True):
            order.append("alone")

    threads = {name: threading.Thread(target=beside, args=(name,)) for name in leave}
    for name, thread in threads.items():
        thread.start()
        assert entered[name].wait(30)
    last = threading.Thread(target=alone)
    last.start()
    leave["first"].set()
    threads["first"].join(30)
    last.join(0.05)
    assert order == ["first"]
    leave["second"].set()
    for thread in (threads["second"], last):
        thread.join(30)
    assert order == ["first", "second", "alone"]


# Graphs of words


def test_a_system_that_is_singular_beside_its_weights_has_no_solution() -> None:
    ring = connected_graph(np.array([[0, 1], [1, 2], [0, 2]]), 3)
    assert not ring.tree
    with np.errstate(all="ignore"):
        solution = solve_laplacian(ring, np.full(3, 1e-300), np.full(3, 1.0), np.ones(3))
    assert solution.shape == (3,)
    assert np.isnan(solution).all()


def test_the_word_of_the_most_documents_need_not_be_among_the_first() -> None:
    """It isn't joined to itself, and the part of the first words hangs on it as any other does."""
    counts = sp.csr_array(
        np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 2, 0, 0]])
    )
    expected = [[0, 1], [0, 3], [2, 3], [3, 4], [3, 5]]
    assert np.unique(np.sort(co_occurrence_tree(counts), axis=1), axis=0).tolist() == expected
    assert co_occurrence_graph(counts).tolist() == expected
