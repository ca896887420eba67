"""One-vs-one machines from tiles: those of the whole matrix, to the last bit, and far less of it in memory."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers.libsvm import DenseRows, NodeMatrix, binary_svm_trainer
from benchmark.classifiers.one_vs_one import SvmProblem
from benchmark.classifiers.svm import (
    MulticlassSvm,
    svm_decision_values,
    svm_decision_values_together,
    train_multiclass,
    train_multiclass_together,
)
from benchmark.kernels import Linear, NegativeEuclideanDistance, NegativeGeodesicDistance, Polynomial
from benchmark.kernels.gram import InnerProducts, LazyGram
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.representation.weighting import power_transform, row_norms
from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel

SIZES = np.array([17, 40, 9, 22])
BOUNDS = np.concatenate([[0], np.cumsum(SIZES)])
N, TESTED = int(SIZES.sum()), 30


@pytest.fixture(scope="module")
def points() -> sp.csr_array:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    labels = np.concatenate([labels, rng.integers(len(SIZES), size=TESTED)])
    means = rng.dirichlet(np.ones(40), size=len(SIZES))
    return sp.csr_array(np.stack([rng.multinomial(25, means[label]) for label in labels]).astype(np.float64))


def products(points: sp.csr_array, exponent: float, *, streamed: bool, cuts: tuple[int, ...] = ()) -> InnerProducts:
    embedded, columns = power_transform(points, exponent), np.arange(N)
    groups = np.split(columns, cuts)
    matrix = StreamedProducts(embedded, columns, groups) if streamed else inner_products(embedded, embedded[:N])
    scale = {name: row_norms(points, name) for name in NORMALIZATIONS}
    return InnerProducts(matrix, columns, self_products(embedded), scale, exponent, points.shape[1])


def grams(held: InnerProducts, kernel: Kernel, normalization: str = "l1") -> tuple[LazyGram, LazyGram]:
    rows = np.arange(N)
    tested = np.arange(N, N + TESTED)
    return LazyGram(kernel, held, normalization, rows, rows), LazyGram(kernel, held, normalization, tested, rows)


def whole(gram: LazyGram, C: float = 1.0, ridge: float = 0.0) -> MulticlassSvm:
    """Trained on the whole matrix, in LIBSVM's layout."""
    nodes, rows = NodeMatrix(), np.arange(N)
    nodes.fill(DenseRows(gram.block(0, N), rows, rows), 1, ridge)
    classes = [rows[start:stop] for start, stop in pairwise(BOUNDS)]
    found = map(binary_svm_trainer(nodes, C=C, epsilon=1e-3), combinations(classes, 2))
    return MulticlassSvm("one-vs-one", BOUNDS, tuple(found))


def assert_same(found: MulticlassSvm | Exception, expected: MulticlassSvm) -> None:
    assert isinstance(found, MulticlassSvm)
    for one, other in zip(found.machines, expected.machines, strict=True):
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        assert one.rho == other.rho


@pytest.mark.parametrize("budget", [0, 20_000, 10**9], ids=["alone", "anew", "kept"])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("jobs", [1, 3])
def test_tiles_train_the_machines_of_the_whole_matrix(
    points: sp.csr_array, budget: int, streamed: bool, jobs: int
) -> None:
    held = products(points, 1.0, streamed=streamed, cuts=(57,))
    one, two = grams(held, Linear(), "l2")[0], grams(held, NegativeEuclideanDistance(), "l1")[0]
    wanted = [SvmProblem(one), SvmProblem(two, C=3.0), SvmProblem(one, C=0.1), SvmProblem(two, ridge=0.5)]
    found = train_multiclass_together(wanted, SIZES, jobs=jobs, budget=budget)
    for each, own in zip(found, wanted, strict=True):
        assert isinstance(own.kernel, LazyGram)
        assert_same(each, whole(own.kernel, own.C, own.ridge))


@pytest.mark.parametrize("streamed", [False, True])
def test_one_that_fails_harms_no_other(points: sp.csr_array, streamed: bool) -> None:
    held = products(points, 1.0, streamed=streamed)
    (sound, asked), (huge, other) = grams(held, Linear()), grams(held, Polynomial(degree=400), "none")
    found = train_multiclass_together([SvmProblem(huge), SvmProblem(sound), SvmProblem(sound, C=-1.0)], SIZES, jobs=2)
    assert isinstance(found[0], FloatingPointError)
    assert_same(found[1], whole(sound))
    assert isinstance(found[2], ValueError)
    backwards = train_multiclass_together([SvmProblem(sound, C=-1.0), SvmProblem(sound), SvmProblem(huge)], SIZES)
    assert [type(each) for each in backwards] == [ValueError, MulticlassSvm, FloatingPointError]
    assert_same(backwards[1], whole(sound))
    decided = svm_decision_values_together(found, [other, asked, asked], jobs=2)
    assert decided[0] is found[0]
    assert decided[2] is found[2]
    np.testing.assert_array_equal(decided[1], svm_decision_values(train_multiclass(SvmProblem(sound), SIZES), asked))


@pytest.mark.parametrize("streamed", [False, True])
def test_decisions_together_are_those_of_each(points: sp.csr_array, streamed: bool) -> None:
    held = products(points, 0.5, streamed=streamed, cuts=(57,))
    gram, asked = grams(held, NegativeGeodesicDistance())
    found = train_multiclass_together([SvmProblem(gram), SvmProblem(gram, C=5.0)], SIZES)
    together = svm_decision_values_together(found, [asked, asked], jobs=2)
    for machines, decisions in zip(found, together, strict=True):
        assert isinstance(machines, MulticlassSvm)
        sums = np.zeros((TESTED, 6))
        for column, machine in enumerate(machines.machines):
            sums[:, column] = asked.block(0, TESTED)[:, machine.support] @ machine.coefficients - machine.rho
        np.testing.assert_allclose(decisions, sums, rtol=1e-12, atol=1e-12)


def test_of_many_classes_no_matrix_of_all_pairs_is_held() -> None:
    """The matrix of all pairs would have 32 MB in LIBSVM's layout, and as much again of products."""

    def problem(n: int, k: int) -> tuple[SvmProblem, NDArray[np.intp]]:
        points = sp.random_array((n, 300), density=0.05, format="csr", rng=np.random.default_rng(0))
        rows, groups = np.arange(n), [np.arange(n)]
        scale = {name: np.ones(n) for name in NORMALIZATIONS}
        held = InnerProducts(StreamedProducts(points, rows, groups), rows, self_products(points), scale, 1.0, 300)
        return SvmProblem(LazyGram(Linear(), held, "l2", rows, rows)), np.full(k, n // k)

    train_multiclass(*problem(100, 5))  # what is loaded and compiled once
    many, sizes = problem(2000, 25)
    tracemalloc.start()
    machines = train_multiclass(many, sizes)
    svm_decision_values(machines, many.kernel)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12e6
