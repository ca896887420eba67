"""One-vs-one machines trained from shared node rows are LIBSVM's on the whole problem, to the last bit and tie."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from libsvm.svm import svm_problem
from libsvm.svmutil import svm_predict, svm_train
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import benchmark.system.row_blocks
from benchmark.classifiers import SupportVectorClassifier, svm
from benchmark.classifiers.libsvm import DenseRows, NodeMatrix
from benchmark.classifiers.one_vs_one import SvmProblem
from benchmark.classifiers.svm import (
    MulticlassSvm,
    mean_self_product,
    one_vs_one_scores,
    predict_class_codes,
    svm_class_scores,
    svm_decision_values,
    train_multiclass,
)
from benchmark.kernels import Linear, NegativeEuclideanDistance, NegativeGeodesicDistance
from benchmark.kernels.gram import InnerProducts, LazyGram
from benchmark.kernels.products import inner_products, self_products
from benchmark.representation.weighting import power_transform, row_norms
from benchmark.system.tags import NORMALIZATIONS, tags_of
from tests.classifiers.oracle import draw_problem, libsvm_oracle
from tests.points import points_pipeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.classifiers.oracle import Oracle, Problem

    Matrix = NDArray[np.float64]

EPS = np.finfo(np.float64).eps


def assert_equal_to_libsvm(problem: Problem, oracle: Oracle, model: SupportVectorClassifier) -> None:
    """Machines bit for bit, decisions to rounding with the same signs, predictions exactly."""
    assert list(model.classes_) == oracle.classes
    pairs = list(combinations(range(len(oracle.classes)), 2))
    for pair, (machine, classes) in enumerate(zip(model.machines_.machines, pairs, strict=True)):
        support, coefficients = oracle.machine(*classes)
        np.testing.assert_array_equal(model.order_[machine.support], support)
        np.testing.assert_array_equal(machine.coefficients, coefficients)
        assert machine.rho == oracle.rho[pair]
    decisions = model.decision_function(problem.test)
    for pair, machine in enumerate(model.machines_.machines):
        assert np.abs(decisions[:, pair] - oracle.decisions[:, pair]).max() <= problem.error(machine)
    np.testing.assert_array_equal(np.sign(decisions), np.sign(oracle.decisions))
    np.testing.assert_array_equal(model.predict(problem.test), oracle.predicted)


@pytest.mark.parametrize("kernel", ["linear", "ned", "ngd", "polynomial"])
@pytest.mark.parametrize(("n", "n_classes", "C"), [(40, 2, 1.0), (41, 3, 0.01), (90, 4, 1.0), (97, 7, 100.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_equal_to_libsvm_on_the_whole_problem(kernel: str, n: int, n_classes: int, C: float, seed: int) -> None:
    problem = draw_problem(kernel, n=n, n_classes=n_classes, seed=seed)
    oracle = libsvm_oracle(problem.gram, problem.labels, problem.test, C=C)
    model = SupportVectorClassifier(C=C, jobs=2).fit(problem.gram, problem.labels)
    assert_equal_to_libsvm(problem, oracle, model)


@pytest.mark.parametrize("kernel", ["ned", "ngd"])
def test_equal_to_libsvm_through_many_small_blocks(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark.system.row_blocks, "BLOCK_VALUES", 500)
    problem = draw_problem(kernel, n=101, n_classes=4, seed=3, n_test=150)
    oracle = libsvm_oracle(problem.gram, problem.labels, problem.test)
    assert_equal_to_libsvm(problem, oracle, SupportVectorClassifier(jobs=2).fit(problem.gram, problem.labels))


def test_equal_to_libsvm_with_a_class_of_one_document() -> None:
    problem = draw_problem("ngd", n=33, n_classes=3, seed=4)
    lone = np.where(np.arange(33) == 20, 99, problem.labels)
    oracle = libsvm_oracle(problem.gram, lone, problem.test)
    assert_equal_to_libsvm(problem, oracle, SupportVectorClassifier().fit(problem.gram, lone))


@pytest.mark.parametrize("epsilon", [1e-1, 1e-6])
def test_equal_to_libsvm_at_other_stopping_tolerances(epsilon: float) -> None:
    problem = draw_problem("ned", n=60, n_classes=3, seed=5)
    oracle = libsvm_oracle(problem.gram, problem.labels, problem.test, epsilon=epsilon)
    model = SupportVectorClassifier(epsilon=epsilon).fit(problem.gram, problem.labels)
    assert_equal_to_libsvm(problem, oracle, model)


@pytest.mark.parametrize("first", [-1, 1])
def test_equal_to_libsvm_where_it_swaps_minus_one_and_plus_one(first: int) -> None:
    """LIBSVM takes the class +1 first even where -1 appears first."""
    problem = draw_problem("ngd", n=50, n_classes=2, seed=6)
    labels = np.where(problem.labels == problem.labels[0], first, -first)
    oracle = libsvm_oracle(problem.gram, labels, problem.test)
    assert oracle.classes == [1, -1]
    assert_equal_to_libsvm(problem, oracle, SupportVectorClassifier().fit(problem.gram, labels))


def counts_of(drawn: bytes) -> NDArray[np.int64]:
    """Of three terms, at most twice each, shape (n, 3); a byte each, for bytes are drawn at once."""
    return np.frombuffer(drawn, dtype=np.uint8).reshape(-1, 3).astype(np.int64) % 3


@settings(max_examples=40)
@given(
    documents=st.integers(6, 20).flatmap(lambda n: st.binary(min_size=3 * n, max_size=3 * n)).map(counts_of),
    test=st.binary(min_size=90, max_size=90).map(counts_of),
    normalization=st.sampled_from(["none", "l1", "l2"]),
    kernel=st.sampled_from([Linear(), NegativeEuclideanDistance(), NegativeGeodesicDistance()]),
    order=st.permutations(range(20)),
)
def test_equal_to_libsvm_where_documents_repeat(
    documents: NDArray[np.int64], test: NDArray[np.int64], normalization: str, kernel: Any, order: list[int]
) -> None:
    """Three terms, at most twice each: the classes share documents, and many decisions are zero but for rounding."""
    if tags_of(kernel).normalizations == ("l1",):
        normalization = "l1"
    n = len(documents)
    labels = np.array([place % 3 for place in order if place < n])
    weighting = points_pipeline(normalization=normalization)
    points = weighting.fit_transform(documents)
    gram = kernel.fit(points).transform(points)
    rows = kernel.transform(weighting.transform(test))
    oracle = libsvm_oracle(gram, labels, rows)
    model = SupportVectorClassifier().fit(gram, labels)
    np.testing.assert_array_equal(np.sign(model.decision_function(rows)), np.sign(oracle.decisions))
    np.testing.assert_array_equal(model.predict(rows), oracle.predicted)


@pytest.mark.parametrize("seed", range(4))
def test_signs_of_decisions_that_are_zero_but_for_rounding(seed: int) -> None:
    """Test rows made orthogonal to a machine's coefficients: what is left is the order of addition alone."""
    rng = np.random.default_rng(seed)
    n, n_test = 120, 600
    assert svm.decision_block_rows(n_test, n) < n_test, "a block of rows should begin elsewhere than at the first"
    points = rng.dirichlet(np.ones(40), size=n)
    labels = rng.integers(0, 3, size=n)
    gram = Linear().fit(points).transform(points)
    model = SupportVectorClassifier(C=50.0).fit(gram, labels)
    rows = rng.random((n_test, n))
    for row in range(n_test):
        machine = model.machines_.machines[row % 3]
        columns = model.order_[machine.support]
        free = columns[np.argmax(np.abs(machine.coefficients))]
        others = columns != free
        rest = machine.coefficients[others] @ rows[row, columns[others]] - machine.rho
        rows[row, free] = -rest / machine.coefficients[~others][0]
    oracle = libsvm_oracle(gram, labels, rows, C=50.0)
    decisions = model.decision_function(rows)
    np.testing.assert_array_equal(np.sign(decisions), np.sign(oracle.decisions))
    np.testing.assert_array_equal(model.predict(rows), oracle.predicted)
    ours, theirs = (values[np.arange(n_test), np.arange(n_test) % 3] for values in (decisions, oracle.decisions))
    assert np.median(np.abs(theirs)) < 1e-12, "these decisions should be rounding"
    # Summed in LIBSVM's order they have not only its sign: they are its numbers.
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kernel", ["linear", "ned", "ngd"])
def test_predictions_are_scikit_learns(kernel: str) -> None:
    """Its LIBSVM sorts the classes by label; so are they here, so that ties and solver see one order."""
    problem = draw_problem(kernel, n=90, n_classes=4, seed=7, n_test=200)
    order = np.argsort(problem.labels, kind="stable")
    gram, labels, test = problem.gram[np.ix_(order, order)], problem.labels[order], problem.test[:, order]
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-3, decision_function_shape="ovo").fit(gram, labels)
    ours = SupportVectorClassifier().fit(gram, labels)
    np.testing.assert_array_equal(ours.predict(test), theirs.predict(test))
    errors = [problem.error(machine) for machine in ours.machines_.machines]
    assert (np.abs(ours.decision_function(test) - theirs.decision_function(test)) <= errors).all()


# Ties


def pinwheel(order: tuple[int, ...]) -> tuple[Matrix, NDArray[np.int64]]:
    """Three classes of two points, each a third of a turn on: every line between two passes the centre on one side."""
    angle = 2 * np.pi / 3
    points = []
    for label in order:
        c, s = np.cos(label * angle), np.sin(label * angle)
        points += [(c * x - s * y, s * x + c * y) for x, y in ((2.0, 0.0), (2.0, 2.0))]
    return np.array(points), np.repeat(order, 2)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_three_way_ties_go_to_the_class_that_came_first(order: tuple[int, ...]) -> None:
    points, labels = pinwheel(order)
    gram, centre = points @ points.T, np.zeros((1, 6))
    model = SupportVectorClassifier(C=10.0).fit(gram, labels)
    decisions = model.decision_function(centre)
    winners = [
        pair[0] if value > 0 else pair[1] for pair, value in zip(combinations(order, 2), decisions[0], strict=True)
    ]
    assert sorted(winners) == [0, 1, 2], "each class should win one of its two pairs"
    assert np.abs(decisions).min() > 0.1, "and by no rounding"
    codes, tied = predict_class_codes(model.machines_, decisions)
    assert list(codes) == [0]
    assert list(tied) == [True]
    assert list(model.predict(centre)) == [order[0]]
    assert list(libsvm_oracle(gram, labels, centre, C=10.0).predicted) == [order[0]]


def test_a_decision_of_zero_is_a_vote_for_the_second_class() -> None:
    points = np.array([[1.0], [-1.0]])
    for labels in (np.array([5, 6]), np.array([6, 5])):
        model = SupportVectorClassifier().fit(points @ points.T, labels)
        assert model.decision_function(np.zeros((1, 2)))[0, 0] == 0
        assert list(model.predict(np.zeros((1, 2)))) == [labels[1]]
        assert list(libsvm_oracle(points @ points.T, labels, np.zeros((1, 2))).predicted) == [labels[1]]


def votes(decisions: list[float], n_classes: int) -> tuple[int, bool]:
    """By hand: count, and look for the first of the largest."""
    counts = [0] * n_classes
    for (first, second), value in zip(combinations(range(n_classes), 2), decisions, strict=True):
        counts[first if value > 0 else second] += 1
    return counts.index(max(counts)), counts.count(max(counts)) > 1


@settings(max_examples=50)
@given(data=st.data(), n_classes=st.integers(2, 6))
def test_votes_and_ties(data: st.DataObject, n_classes: int) -> None:
    shape = (4, n_classes * (n_classes - 1) // 2)
    decisions = data.draw(arrays(np.float64, shape, elements=st.sampled_from([-1.0, -1e-300, -0.0, 0.0, 1e-300, 1.0])))
    codes, tied = predict_class_codes(MulticlassSvm("one-vs-one", np.arange(n_classes + 1), ()), decisions)
    expected = [votes(list(row), n_classes) for row in decisions]
    assert list(zip(codes.tolist(), tied.tolist(), strict=True)) == expected


def test_one_vs_rest_takes_the_largest_and_of_equal_ones_the_first() -> None:
    decisions = np.array([[-3.0, -1.0, -2.0], [0.5, 0.5, 0.0], [0.0, 1.0, 1.0]])
    codes, tied = predict_class_codes(MulticlassSvm("one-vs-rest", np.arange(4), ()), decisions)
    assert codes.tolist() == [1, 0, 1]
    assert tied.tolist() == [False, True, True]


# Traps


def test_zeros_dropped_from_a_sparse_row_are_garbage_to_libsvm_and_not_to_us() -> None:
    """LIBSVM reads precomputed rows by position. NGD's diagonal is zeros, which CSR does not store."""
    rng = np.random.default_rng(2)
    labels = np.tile([1, 2, 2, 2], 10)
    points = np.array([rng.dirichlet([5.0, 1.0, 1.0] if label == 1 else [1.0, 5.0, 1.0]) for label in labels])
    gram = NegativeGeodesicDistance().fit(points).transform(points)
    np.fill_diagonal(gram, 0.0)
    rows = np.hstack([np.arange(1, 41)[:, None], gram])
    sparse = sp.csr_matrix(rows)
    assert sparse.nnz == rows.size - 40
    np.testing.assert_array_equal(sparse.toarray(), rows)
    problem = svm_problem(labels.astype(float), sparse, isKernel=True)
    # The mark at a row's end is read as its last value, and whatever lay in memory there: make it always the same.
    problem.x_space["value"][problem.x_space["index"] == -1] = 0.0
    with threadpool_limits(1, user_api="openmp"):
        wrong = svm_train(problem, "-t 4 -c 10 -q")
        _, _, garbage = svm_predict([], rows, wrong, "-q")
    right = libsvm_oracle(gram, labels, gram, C=10.0)
    ours = SupportVectorClassifier(C=10.0).fit(gram, labels)
    np.testing.assert_array_equal(ours.machines_.machines[0].coefficients, right.machine(0, 1)[1])
    np.testing.assert_array_equal(ours.predict(gram), right.predicted)
    assert abs(wrong.rho[0] - right.rho[0]) > 1
    assert np.median(np.abs(np.array(garbage) - right.decisions)) > 1, "margins are 1: off by more means garbage"


def test_ngd_read_from_its_inner_products_is_ngd_read_from_its_matrix() -> None:
    """The diagonal that is not quite zero reaches the solver as it is, block by block."""
    rng = np.random.default_rng(10)
    points = sp.csr_array(rng.dirichlet(np.ones(10), size=51))
    embedded = power_transform(points, 0.5)
    rows = np.arange(51)
    products = InnerProducts(
        inner_products(embedded, embedded),
        rows,
        self_products(embedded),
        {name: row_norms(points, name) for name in NORMALIZATIONS},
        0.5,
        points.shape[1],
    )
    gram = LazyGram(NegativeGeodesicDistance(), products, "l1", rows, rows)
    sizes = np.array([20, 11, 20])
    blocks = train_multiclass(SvmProblem(gram), sizes, jobs=2)
    whole = train_multiclass(SvmProblem(DenseRows(gram.block(0, 51), rows, rows)), sizes)
    assert_same_machines(blocks, whole)


# Memory and threads


def assert_same_machines(left: MulticlassSvm, right: MulticlassSvm) -> None:
    assert left.scheme == right.scheme
    for one, other in zip(left.machines, right.machines, strict=True):
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        assert one.rho == other.rho


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
def test_the_number_of_jobs_changes_no_bit(scheme: str) -> None:
    problem = draw_problem("ngd", n=401, n_classes=5, seed=11, n_test=500)
    results = [
        SupportVectorClassifier(scheme=scheme, jobs=jobs).fit(problem.gram, problem.labels) for jobs in (1, 2, 2, 5)
    ]
    for result in results[1:]:
        assert_same_machines(result.machines_, results[0].machines_)
        np.testing.assert_array_equal(
            result.decision_function(problem.test), results[0].decision_function(problem.test)
        )


def test_the_memory_of_nodes_may_be_reused() -> None:
    nodes = NodeMatrix()
    for n, kernel in ((61, "ned"), (20, "ngd"), (7, "linear"), (60, "ngd"), (61, "linear"), (83, "ned"), (8, "ned")):
        problem = draw_problem(kernel, n=n, n_classes=2, seed=n, n_test=5)
        order = np.argsort(problem.labels, kind="stable")
        rows = SvmProblem(DenseRows(problem.gram, order, order))
        sizes = np.unique(problem.labels, return_counts=True)[1]
        assert_same_machines(train_multiclass(rows, sizes, nodes=nodes), train_multiclass(rows, sizes))
        assert nodes.n == n


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_nodes_hold_serial_numbers_and_values_where_libsvm_reads_them(n: int) -> None:
    values = np.random.default_rng(n).standard_normal((n, n))
    nodes = NodeMatrix()
    nodes.fill(DenseRows(values, np.arange(n), np.arange(n)), 1)
    read = rows_of(nodes)
    np.testing.assert_array_equal(read[:, 0], np.arange(1, n + 1))
    np.testing.assert_array_equal(read[:, 1:], values)


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 700])
def test_a_symmetric_matrix_is_filled_from_what_stands_above_its_diagonal(n: int, jobs: int) -> None:
    values = np.random.default_rng(n).standard_normal((n, n))
    values += values.T
    asked: list[tuple[int, int]] = []

    def tile(rows: slice, columns: slice) -> NDArray[np.float64]:
        asked.append((rows.start, columns.start))
        return values[rows, columns].copy()

    filled, whole = NodeMatrix(), NodeMatrix()
    filled.fill_symmetric(tile, n, jobs)
    whole.fill(DenseRows(values), 1)
    np.testing.assert_array_equal(rows_of(filled), rows_of(whole))
    assert all(row <= column for row, column in asked)
    assert len(set(asked)) == len(asked)


def rows_of(nodes: NodeMatrix) -> NDArray[np.float64]:
    """All that LIBSVM would read: ``struct svm_node {int index; double value;}``, 16 bytes, the value in the last 8."""
    import ctypes  # noqa: PLC0415 - bare memory

    found = np.empty((nodes.n, nodes.n + 1))
    for i, address in enumerate(nodes.pointers()):
        bare = (ctypes.c_double * (2 * nodes.n + 1)).from_address(int(address) + 8)
        found[i] = np.frombuffer(bare)[::2]
    return found


# One-vs-rest


@pytest.mark.parametrize("kernel", ["linear", "ned", "ngd"])
def test_one_vs_rest_is_libsvm_on_each_binary_problem(kernel: str) -> None:
    problem = draw_problem(kernel, n=81, n_classes=4, seed=12)
    model = SupportVectorClassifier(scheme="one-vs-rest", jobs=2).fit(problem.gram, problem.labels)
    decisions = model.decision_function(problem.test)
    assert decisions.shape == (60, 4)
    order = model.order_
    gram, test = problem.gram[np.ix_(order, order)], problem.test[:, order]
    for column, label in enumerate(model.classes_):
        own = problem.labels[order] == label
        oracle = libsvm_oracle(gram, np.where(own, 1, -1), test)
        assert oracle.classes == [1, -1]
        machine = model.machines_.machines[column]
        support, coefficients = oracle.machine(0, 1)
        np.testing.assert_array_equal(machine.support, support)
        np.testing.assert_array_equal(machine.coefficients, coefficients)
        assert machine.rho == oracle.rho[0]
        assert np.abs(decisions[:, column] - oracle.decisions[:, 0]).max() <= problem.error(machine)
    np.testing.assert_array_equal(model.predict(problem.test), model.classes_[decisions.argmax(axis=1)])


# A constant added to the kernel


def test_a_constant_added_to_the_kernel_changes_neither_coefficients_nor_offset() -> None:
    """Zhang et al. 2005, Propositions 2 and 3: NGD and NGD + π are one machine."""
    rng = np.random.default_rng(14)
    points = np.vstack([rng.dirichlet(np.r_[np.full(10, own), np.full(10, 3 - own)], size=25) for own in (1.0, 2.0)])
    epsilon, n = 1e-9, 50
    grams = [NegativeGeodesicDistance(shift).fit(points).transform(points) for shift in (0.0, np.pi)]
    plain, shifted = (
        SupportVectorClassifier(C=5.0, epsilon=epsilon).fit(gram, np.repeat([0, 1], 25)).machines_.machines[0]
        for gram in grams
    )
    alphas = np.zeros((2, n))
    alphas[0, plain.support], alphas[1, shifted.support] = plain.coefficients, shifted.coefficients
    # Two minima of quadratic forms that are μ-convex where Σα = 0: ||Δα|| ≤ (difference of gradients)/μ. LIBSVM keeps
    # its rows of values up to π in single precision, 2⁻²⁴ relative, and stops at a gradient gap of ε.
    centring = np.eye(n) - 1 / n
    convexity = np.linalg.eigvalsh(centring @ grams[1] @ centring)[1]
    gradient = 2 * (np.sqrt(n) * (np.pi * 2.0**-24 * np.abs(alphas).sum(axis=1).max() + epsilon))
    bound = gradient / convexity
    assert bound < 1e-3, "the test could not fail"
    assert np.abs(alphas).max() > 0.1
    assert np.linalg.norm(alphas[0] - alphas[1]) <= bound
    # b is a mean of y_i - Σ α_j y_j k(x_i, x_j) over free i: it moves with α by rows no longer than π√n.
    assert abs(plain.rho - shifted.rho) <= np.pi * np.sqrt(n) * bound + gradient


# Errors


@pytest.mark.parametrize(
    ("parameter", "complaint"),
    [
        ({"C": 0.0}, "C <= 0"),
        ({"C": -1.0}, "C <= 0"),
        ({"epsilon": 0.0}, "eps <= 0"),
    ],
)
def test_parameters_that_libsvm_refuses_fail_with_its_complaint(parameter: dict[str, float], complaint: str) -> None:
    rows = np.arange(4)
    with pytest.raises(ValueError, match=f"LIBSVM refuses the parameters: {complaint}"):
        train_multiclass(SvmProblem(DenseRows(np.eye(4), rows, rows), **parameter), np.array([2, 2]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("jobs", [1, 2])
def test_values_that_are_not_finite_fail_before_training(wrong: float, jobs: int) -> None:
    gram, rows = np.eye(5), np.arange(5)
    gram[3, 1] = wrong
    with pytest.raises(FloatingPointError, match="not finite"):
        train_multiclass(SvmProblem(DenseRows(gram, rows, rows)), np.array([2, 3]), jobs=jobs)


def test_values_that_are_not_finite_fail_in_prediction() -> None:
    rows = np.arange(4)
    machines = train_multiclass(SvmProblem(DenseRows(np.eye(4), rows, rows)), np.array([2, 2]))
    with pytest.raises(FloatingPointError, match="not finite"):
        svm_decision_values(machines, DenseRows(np.full((1, 4), np.nan), np.arange(1), rows))


def test_training_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    problem = draw_problem("linear", n=40, n_classes=3, seed=17)
    SupportVectorClassifier().fit(problem.gram, problem.labels).predict(problem.test)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("mean", [0.0, -1.0, float("nan")])
def test_a_cost_is_not_divided_by_a_mean_that_is_not_positive(mean: float) -> None:
    message = f"^C can't be divided by the mean of k\\(x, x\\), which is {mean:g}$"
    for action in (mean_self_product, SupportVectorClassifier(scale_C="mean-self-product").cost):
        with pytest.raises(ValueError, match=message):
            action(np.array([mean - 1, mean + 1]))
    assert SupportVectorClassifier(C=3.0).cost(np.array([mean])) == 3.0
    assert mean_self_product(np.array([0.5, 0.0])) == 0.25


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
    y = np.arange(12) % n_classes
    X = np.random.default_rng(12).poisson(1.0, size=(12, 15)) + np.eye(15)[y]
    model = SupportVectorClassifier(epsilon=2.5, scheme=scheme).fit(X @ X.T, y)
    assert [len(machine.support) for machine in model.machines_.machines] == [0] * len(model.machines_.machines)
    offsets = [machine.rho for machine in model.machines_.machines]
    decisions = model.decision_function(X[:5] @ X.T)
    np.testing.assert_array_equal(decisions, np.tile(np.negative(offsets), (5, 1)))
    codes, _ = predict_class_codes(model.machines_, decisions)
    np.testing.assert_array_equal(model.predict(X[:5] @ X.T), model.classes_[codes])
