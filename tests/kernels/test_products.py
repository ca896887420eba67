"""Inner products: against numpy's dense ones, and the same bits whatever the threads and whatever stands beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from tests.kernels.cases import sparse_forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPS = np.finfo(np.float64).eps

VALUES = st.one_of(st.just(0.0), st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two matrices of as many columns; none, one or several rows, some of them zero."""
    width = draw(st.integers(0, 7))
    left, right = (draw(arrays(np.float64, (draw(st.integers(0, 6)), width), elements=VALUES)) for _ in range(2))
    return left, right


def documents(n: int, vocabulary: int, seed: int) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((n, vocabulary), density=0.1, rng=rng, data_sampler=rng.standard_normal))


@settings(max_examples=100)
@given(pairs())
def test_products_are_those_of_dense_matrices(pair: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    left, right = pair
    products = inner_products(sp.csr_array(left), sp.csr_array(right))
    assert products.shape == (len(left), len(right))
    # Each side is within V·eps of Σ|x_i y_i| from the truth.
    error = 2 * left.shape[1] * EPS * (np.abs(left) @ np.abs(right).T)
    assert (np.abs(products - left @ right.T) <= error).all()


@settings(max_examples=50)
@given(arrays(np.int64, (5, 6), elements=st.integers(0, 1000)), arrays(np.int64, (4, 6), elements=st.integers(0, 1000)))
def test_products_of_whole_numbers_are_exact(left: NDArray[Any], right: NDArray[Any]) -> None:
    products = inner_products(sp.csr_array(left.astype(float)), sp.csr_array(right.astype(float)))
    np.testing.assert_array_equal(products, left @ right.T)


@settings(max_examples=100)
@given(arrays(np.float64, (5, 7), elements=VALUES))
def test_self_products_are_the_diagonal_bit_for_bit(dense: NDArray[np.float64]) -> None:
    points = sp.csr_array(dense)
    np.testing.assert_array_equal(self_products(points), inner_products(points, points).diagonal())


def test_self_products_of_long_rows_are_the_diagonal_bit_for_bit() -> None:
    """Many terms a row: any other order of addition would show."""
    points = documents(50, 20_000, seed=1)
    own = self_products(points)
    np.testing.assert_array_equal(own, inner_products(points, points).diagonal())
    assert (own != (points.toarray() ** 2).sum(axis=1)).any(), "numpy's pairwise sum rounds in another way"


def test_terms_are_added_in_ascending_order() -> None:
    """(1 + 2⁻⁵³) + 2⁻⁵³ is 1, added from the other end it is the next number."""
    tiny = 2.0**-53
    ascending = sp.csr_array(np.array([[1.0, tiny, tiny]]))
    descending = sp.csr_array(np.array([[tiny, tiny, 1.0]]))
    ones = sp.csr_array(np.ones((1, 3)))
    assert inner_products(ascending, ones)[0, 0] == 1.0
    assert inner_products(descending, ones)[0, 0] == 1.0 + 2 * tiny


def test_a_product_is_the_same_from_both_sides() -> None:
    left, right = documents(40, 3000, seed=2), documents(30, 3000, seed=3)
    np.testing.assert_array_equal(inner_products(left, right), inner_products(right, left).T)


def test_the_number_of_threads_changes_no_bit(every_numba_thread: int) -> None:
    left, right = documents(301, 2000, seed=4), documents(203, 2000, seed=5)
    results = []
    for number in range(1, every_numba_thread + 1):
        numba.set_num_threads(number)
        results.append((inner_products(left, right), inner_products(left, left)))
    for result in results:
        for found, first in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(results[0][1], results[0][1].T)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (0, 0)])
def test_no_rows_give_no_products(m: int, n: int) -> None:
    assert inner_products(sp.csr_array((m, 4)), sp.csr_array((n, 4))).shape == (m, n)
    assert self_products(sp.csr_array((m, 4))).shape == (m,)


def test_the_form_of_the_matrix_changes_no_bit_and_is_left_as_it_is() -> None:
    dense = documents(20, 30, seed=10).toarray()
    points = sp.csr_array(dense)
    products, own = inner_products(points, points), self_products(points)
    for name, form in sparse_forms(dense).items():
        if name == "list":
            continue
        indices = form.tocsr().indices.copy()
        np.testing.assert_array_equal(inner_products(form, form), products, err_msg=name)
        np.testing.assert_array_equal(self_products(form), own, err_msg=name)
        np.testing.assert_array_equal(form.tocsr().indices, indices, err_msg=name)


@pytest.mark.parametrize("positions", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 2], [2, 2, 0], [1, 3], [3], []], ids=str)
@pytest.mark.parametrize("groups", [None, [[0, 1, 2, 3]], [[2, 0], [3, 1]], [[3], [2], [1, 0]]], ids=str)
def test_tiles_have_the_columns_in_the_order_that_is_asked_for(positions, groups):
    points = documents(9, 40, seed=13)
    columns = np.array([8, 2, 5, 1])
    streamed = StreamedProducts(points, columns, groups and [np.array(group) for group in groups])
    expected = inner_products(points, points[columns])
    found = streamed.tile(np.array([4, 4, 0]), np.array(positions, dtype=np.intp))
    np.testing.assert_array_equal(found, expected[np.ix_([4, 4, 0], positions)])
    assert found.flags.c_contiguous
