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


def test_a_constant_keeps_a_coefficient_and_its_error() -> None:
    for value in (0.0, 3.0):
        p = ChebyshevInterpolant.fit(lambda x, value=value: (np.full_like(x, value), np.full_like(x, 1e-9)), 0.0, 2.0)
        assert len(p.coefficients) == 1
        assert p.coefficients[0] == pytest.approx(value)
        assert 1e-9 <= p.error <= 3e-9


def test_the_error_is_no_smaller_than_that_of_the_samples_and_what_is_left_out() -> None:
    """Of e^x, coefficients below the largest error of a sample are left out, and their sum is counted."""
    for noise in (1e-3, 1e-6, 1e-9):
        p = ChebyshevInterpolant.fit(lambda x, noise=noise: (np.exp(x), noise * (x > 0.9)), -1.0, 1.0)
        fine = ChebyshevInterpolant.fit(lambda x: (np.exp(x), np.zeros_like(x)), -1.0, 1.0)
        left_out = np.abs(fine.coefficients[len(p.coefficients) :]).sum()
        assert 0 < left_out <= noise < np.abs(fine.coefficients[len(p.coefficients) - 1 :]).sum()
        assert p.error == pytest.approx(noise + left_out, rel=1e-3)


def test_one_more_degree_is_taken_where_the_last_quarter_is_not_small() -> None:
    asked: list[int] = []

    def function(x: Array) -> tuple[Array, Array]:
        asked.append(len(x))
        return np.cos(40 * x), np.full(x.shape, 1e-14)

    p = ChebyshevInterpolant.fit(function, -1.0, 1.0)
    assert asked == [33, 65, 129]
    x = np.linspace(-1, 1, 1001)
    assert np.abs(p(x) - np.cos(40 * x)).max() <= p.error
    with pytest.raises(ArithmeticError, match=r"no polynomial of degree 512 follows the function on \[-1.0, 1.0\]"):
        ChebyshevInterpolant.fit(lambda x: (np.sign(x), np.zeros_like(x)), -1.0, 1.0)


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
