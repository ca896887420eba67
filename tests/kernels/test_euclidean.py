"""Distances between points have the bits of the formula in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.kernels.euclidean import NegativeEuclideanDistance, RadialBasisFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel


@pytest.fixture(scope="module")
def tile() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Inner products of which some belong to no points at all, with the points' own."""
    rng = np.random.default_rng(0)
    left, right = rng.random(40) + 1, rng.random(200) + 1
    products = rng.random((len(left), len(right)))
    products[0, 0] = (left[0] + right[0]) / 2  # a distance of exactly 0
    products[1, 1], products[2, 2], products[3, 3] = np.nan, np.inf, -np.inf
    products[4] = 3.0  # rounding below 0, and much more
    return products, left, right


def test_one_compiled_pass_is_the_formula(tile: tuple[NDArray[np.float64], ...]) -> None:
    products, left, right = tile
    squares = np.maximum(products * -2.0 + left[:, None] + right, 0.0)
    for kernel, expected in (
        (NegativeEuclideanDistance(), -np.sqrt(squares)),
        (RadialBasisFunction(0.7), np.exp(squares * (-0.5 / 0.7**2))),
    ):
        found = kernel.from_products(products.copy(), left, right)
        assert found.tobytes() == expected.tobytes()
        apart = kernel.from_products(np.asfortranarray(products), left, right)
        np.testing.assert_array_equal(apart, found)


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
