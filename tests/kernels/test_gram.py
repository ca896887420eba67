"""Kernel values from stored inner products are those of the kernel on normalized points."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.kernels import Linear, NegativeEuclideanDistance, Polynomial
from benchmark.kernels.gram import InnerProducts, LazyGram, kernel_diagonal
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.representation.weighting import power_transform, row_norms, weight_terms
from benchmark.system.tags import NORMALIZATIONS
from tests.points import points_pipeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.kernels.cases import Case

#: Documents that are ever trained on: not all, so that a column's position isn't its document's number.
TRAINED = np.array([0, 2, 3, 5, 6, 7, 8, 9, 11, 14, 15, 16, 17, 19, 20, 21, 22, 25, 28])
ROWS = {
    "consecutive": np.arange(4, 17),
    "scattered": np.array([29, 3, 19, 0, 7, 7, 12]),
    "consecutive at their ends": np.array([4, 6, 5, 8, 8, 9]),
}
COLUMNS = {
    "all": TRAINED,
    "consecutive": np.array([5, 6, 7, 8, 9]),
    "neighbours in the matrix": TRAINED[2:9],
    "scattered": np.array([28, 3, 19, 7, 0]),
    "consecutive at their ends": np.array([5, 7, 6, 8]),
    "one": np.array([14]),
}


def stored(counts: NDArray[Any], exponent: float, idf: NDArray[np.float64] | None = None) -> InnerProducts:
    weights = weight_terms(sp.csr_array(counts), idf)
    embedded = power_transform(weights, exponent)
    return InnerProducts(
        inner_products(embedded, embedded[TRAINED]),
        TRAINED,
        self_products(embedded),
        {name: row_norms(weights, name) for name in NORMALIZATIONS},
        exponent,
        counts.shape[1],
    )


@pytest.mark.parametrize("weighting", ["tf", "tfidf"])
def test_blocks_are_the_kernels_values(case: Case, counts: NDArray[Any], weighting: str) -> None:
    vectors = points_pipeline(weighting, case.normalization).fit(counts[TRAINED])
    points = vectors.transform(counts)
    kernel = case.build()
    products = stored(counts, kernel.exponent, vectors[0].factors_)
    for (which, rows), (what, columns) in product(ROWS.items(), COLUMNS.items()):
        gram = LazyGram(kernel, products, case.normalization, rows, columns)
        assert gram.shape == (len(rows), len(columns))
        expected = case.build().fit(points[columns]).transform(points[rows])
        low, high = case.bounds(points[rows].toarray(), points[columns].toarray())
        for start, stop in ((0, len(rows)), (0, 1), (2, 5), (len(rows) - 1, len(rows))):
            block = gram.block(start, stop)
            assert block.shape == (stop - start, len(columns))
            # Scaling after the sum rounds otherwise than before it, by no more than the bounds allow.
            assert (np.abs(block - expected[start:stop]) <= (high - low)[start:stop]).all(), (which, what)


def test_a_block_is_the_same_whatever_the_bounds_and_indexing(case: Case, counts: NDArray[Any]) -> None:
    kernel = case.build()
    products = stored(counts, kernel.exponent)
    rows = np.arange(30)
    whole = LazyGram(kernel, products, case.normalization, rows, TRAINED).block(0, 30)
    order = np.random.default_rng(1).permutation(30)
    back = np.random.default_rng(2).permutation(len(TRAINED))
    shuffled = LazyGram(kernel, products, case.normalization, rows[order], TRAINED[back])
    pieces = np.vstack([shuffled.block(start, start + 3) for start in range(0, 30, 3)])
    np.testing.assert_array_equal(pieces, whole[np.ix_(order, back)])


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_ned_is_exactly_zero_between_a_document_and_itself(counts: NDArray[Any], normalization: str) -> None:
    """Its self product is scaled in the order in which the matrix is."""
    gram = LazyGram(NegativeEuclideanDistance(), stored(counts, 1.0), normalization, TRAINED, TRAINED)
    assert (np.diag(gram.block(0, len(TRAINED))) == 0).all()


@pytest.mark.parametrize("degree", [400, 10_000])
def test_values_that_are_not_finite_fail(counts: NDArray[Any], degree: int) -> None:
    gram = LazyGram(Polynomial(degree=degree), stored(counts, 1.0), "none", np.arange(30), TRAINED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FloatingPointError, match=rf"Polynomial\(degree={degree}\).*not finite"):
            gram.block(0, 30)


def test_one_value_that_is_not_a_number_fails(counts: NDArray[Any]) -> None:
    products = stored(counts, 1.0)
    products.matrix[17, 4] = np.nan
    gram = LazyGram(Linear(), products, "none", np.arange(30), TRAINED)
    with pytest.raises(FloatingPointError, match=r"Linear\(\)"):
        gram.block(16, 20)
    assert np.isfinite(gram.block(0, 17)).all()


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("streamed", [False, True])
def test_both_tiles_of_two_parts_are_their_sources(counts: NDArray[Any], normalization: str, streamed: bool) -> None:
    products = stored(counts, 1.0)
    if streamed:
        embedded = power_transform(weight_terms(sp.csr_array(counts), None), 1.0)
        products = replace(products, matrix=StreamedProducts(embedded, TRAINED))
    rows = TRAINED[[4, 1, 9, 3, 12, 0, 7]]
    gram = LazyGram(Linear(), products, normalization, rows, rows)
    assert gram.streamed == streamed
    first, second = slice(0, 3), slice(3, 7)
    across, back = gram.both(first, second)
    np.testing.assert_array_equal(across, gram.source(first, second))
    np.testing.assert_array_equal(back, gram.source(second, first))
    assert back.flags.c_contiguous or not streamed
    whole = gram.block(0, 7)
    np.testing.assert_array_equal(gram.values(across, first, second), whole[first, second])
    np.testing.assert_array_equal(gram.values(back, second, first), whole[second, first])


def test_the_diagonal_is_that_of_the_matrix_to_the_bit(case: Case, counts: NDArray[Any]) -> None:
    products = stored(counts, case.build().exponent)
    kernel = case.build()
    gram = LazyGram(kernel, products, case.normalization, TRAINED, TRAINED).block(0, len(TRAINED))
    diagonal = kernel_diagonal(kernel, products, case.normalization)
    assert diagonal.shape == (30,)
    np.testing.assert_array_equal(diagonal[TRAINED], np.diag(gram))
