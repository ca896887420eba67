"""Interpolants: as exact as their samples, in place, and refused where the function isn't smooth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.kernels.interpolation import VALUES_PER_BLOCK, ChebyshevInterpolant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def wave(x: Array) -> tuple[Array, Array]:
    return np.exp(np.sin(5 * x)), np.full(x.shape, 1e-15)


def test_follows_an_analytic_function_within_the_error() -> None:
    p = ChebyshevInterpolant.fit(wave, -1.0, 3.0)
    x = np.linspace(-1, 3, 2 * VALUES_PER_BLOCK + 5)
    assert p.error < 1e-12
    assert np.abs(p(x) - wave(x)[0]).max() <= p.error
    assert p.shifted(2.5)(x) == pytest.approx(p(x) + 2.5)


def test_polynomials_and_constants_are_exact() -> None:
    x = np.linspace(0, 2, 11)
    cubic = ChebyshevInterpolant.fit(lambda x: (x**3 - x, np.zeros_like(x)), 0.0, 2.0)
    assert len(cubic.coefficients) == 4
    assert cubic(x) == pytest.approx(x**3 - x, abs=1e-14)
    constant = ChebyshevInterpolant.fit(lambda x: (np.zeros_like(x), np.zeros_like(x)), 0.0, 2.0)
    assert (constant(x) == 0).all()


def test_outside_counts_as_the_nearest_end() -> None:
    p = ChebyshevInterpolant.fit(wave, -1.0, 3.0)
    assert (p(np.array([-1.1, 3.1])) == p(np.array([-1.0, 3.0]))).all()


def test_rough_functions_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="no polynomial"):
        ChebyshevInterpolant.fit(lambda x: (np.sqrt(np.abs(x - 1 / math.pi)), np.zeros_like(x)), 0.0, 1.0)


@pytest.mark.parametrize("size", [0, 1, VALUES_PER_BLOCK, VALUES_PER_BLOCK + 1])
def test_values_are_the_same_whatever_the_form_of_the_output(size: int) -> None:
    p = ChebyshevInterpolant.fit(wave, -1.0, 3.0)
    x = np.random.default_rng(1).uniform(-1, 3, size)
    expected = p(x)
    assert expected.shape == (size,)
    columns = np.full((size, 3), np.nan, order="F")
    for out in (np.full(size, np.nan), np.full(2 * size, np.nan)[::2], columns[:, 1]):
        assert p(x, out=out) is out
        np.testing.assert_array_equal(out, expected)
    pair = np.full((2, size), np.nan).T
    p(np.stack([x, x], axis=1), out=pair)
    np.testing.assert_array_equal(pair, np.stack([expected, expected], axis=1))
