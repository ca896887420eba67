"""Distances between points are the same bits whether numpy takes a few values or one compiled pass many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.kernels.euclidean import MIN_COMPILED_VALUES, NegativeEuclideanDistance, RadialBasisFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel


@pytest.fixture(scope="module")
def tile() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Inner products of which some belong to no points at all, with the points' own."""
    rng = np.random.default_rng(0)
    left, right = rng.random(40) + 1, rng.random(2 * MIN_COMPILED_VALUES // 40) + 1
    products = rng.random((len(left), len(right)))
    products[0, 0] = (left[0] + right[0]) / 2  # a distance of exactly 0
    products[1, 1], products[2, 2], products[3, 3] = np.nan, np.inf, -np.inf
    products[4] = 3.0  # rounding below 0, and much more
    return products, left, right


@pytest.mark.parametrize("kernel", [NegativeEuclideanDistance(), RadialBasisFunction(0.7)], ids=["ned", "rbf"])
def test_one_pass_over_many_values_is_numpy_s_over_few(kernel: Kernel, tile: tuple[NDArray[np.float64], ...]) -> None:
    products, left, right = tile
    whole = kernel.from_products(products.copy(), left, right)
    rows = [kernel.from_products(products[i : i + 1].copy(), left[i : i + 1], right) for i in range(len(left))]
    assert whole.size >= MIN_COMPILED_VALUES > rows[0].size
    assert whole.tobytes() == np.vstack(rows).tobytes()
    apart = kernel.from_products(np.asfortranarray(products), left, right)
    np.testing.assert_array_equal(apart, whole)


@pytest.mark.parametrize("kernel", [NegativeEuclideanDistance(), RadialBasisFunction(0.7)], ids=["ned", "rbf"])
def test_self_products_may_be_read_only_or_apart_in_memory(
    kernel: Kernel, tile: tuple[NDArray[np.float64], ...]
) -> None:
    products, left, right = tile
    expected = kernel.from_products(products.copy(), left, right)
    twice = np.repeat(right, 2)[::2]
    locked, before = left.copy(), (left.copy(), right.copy())
    locked.flags.writeable = twice.flags.writeable = False
    np.testing.assert_array_equal(kernel.from_products(products.copy(), locked, twice), expected)
    np.testing.assert_array_equal(left, before[0])
    np.testing.assert_array_equal(right, before[1])
