"""Interpolants: as exact as their samples, in place, and refused where the function isn't smooth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.kernels.heat.interpolation import VALUES_PER_BLOCK, ChebyshevInterpolant

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


def test_in_place_and_strided() -> None:
    p = ChebyshevInterpolant.fit(wave, 0.0, 1.0)
    x = np.random.default_rng(0).random((200, 150))
    expected = p(x)
    assert (p(x.T) == expected.T).all()
    view = x[::2, 1::3]
    assert p(view, out=view) is view
    assert (view == expected[::2, 1::3]).all()
    x = np.random.default_rng(0).random((200, 150))
    p(x, out=x)
    assert (x == expected).all()


def test_rough_functions_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="no polynomial"):
        ChebyshevInterpolant.fit(lambda x: (np.sqrt(np.abs(x - 1 / math.pi)), np.zeros_like(x)), 0.0, 1.0)
