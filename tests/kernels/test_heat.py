"""The heat kernel of points: against closed forms and its series in long decimals, at vocabularies from 2 to 23,336."""

from __future__ import annotations

import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.kernels import Diffusion, Heat
from benchmark.kernels.gram import LazyGram, dirichlet_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

EPS = np.finfo(np.float64).eps
#: The vocabulary of WebKB as configs/webkb.yaml lexes it.
WEBKB = 23_336
S = np.array([0.0, 1e-3, 0.1, 0.25, 0.5, 0.7, 0.9, 0.99, 0.999999, 1.0])


def values(t: float, n_coordinates: int, s: Matrix = S) -> Matrix:
    """The kernel at given affinities."""
    return Heat(t).learn(n_coordinates).from_products(s.copy(), s, s)


def series(t: float, n_coordinates: int, terms: int, digits: int) -> Matrix:
    """Σ_l d_l exp(-l(l+n-1)t/4) P_l(s) / Σ_l d_l exp(-l(l+n-1)t/4), n = V - 1 ≥ 2, in decimals of so many digits.

    d_l as a difference of binomials; P_l = C_l^λ(s)/C_l^λ(1) by the three-term recurrence
    (l+n-1) P_{l+1} = (2l+n-1) s P_l - l P_{l-1}. It is the definition, and knows neither bounds nor integrals.
    """
    n = n_coordinates - 1
    with localcontext() as context:
        context.prec = digits
        quarter = Decimal(t) / 4
        affinities = [Decimal(float(s)) for s in S]
        before, now = [Decimal(0)] * len(S), [Decimal(1)] * len(S)
        total, sums, weight = Decimal(0), [Decimal(0)] * len(S), Decimal(0)
        for d in range(terms):
            harmonics = math.comb(n + d, n) - (math.comb(n + d - 2, n) if d > 1 else 0)
            weight = harmonics * (-quarter * d * (d + n - 1)).exp()
            total += weight
            sums = [a + weight * p for a, p in zip(sums, now, strict=True)]
            after = [
                ((2 * d + n - 1) * s * p - d * q) / (d + n - 1) for s, p, q in zip(affinities, now, before, strict=True)
            ]
            before, now = now, after
        smallest = min(sums)
        assert 0 < weight < smallest * Decimal("1e-20"), "too few terms"
        assert total < smallest * Decimal(10) ** (digits - 20), "too few digits"
        return np.array([float(a / total) for a in sums])


@pytest.mark.parametrize(
    ("n_coordinates", "t", "terms", "digits"),
    [
        (3, 0.02, 220, 100),
        (3, 4.0, 30, 40),
        (5, 0.05, 120, 60),
        (12, 0.03, 150, 60),
        (101, 0.05, 120, 60),
        (1001, 0.03, 60, 60),
        (WEBKB, 2 * math.log(WEBKB) / WEBKB, 600, 300),
        (WEBKB, 3 * math.log(WEBKB) / WEBKB, 150, 60),
        (WEBKB, 4 * math.log(WEBKB) / WEBKB, 60, 60),
        (WEBKB, 5 * math.log(WEBKB) / WEBKB, 40, 60),
    ],
)
def test_values_are_those_of_the_series_in_long_decimals(n_coordinates: int, t: float, terms: int, digits: int) -> None:
    expected = series(t, n_coordinates, terms, digits)
    kernel = Heat(t).learn(n_coordinates)
    assert kernel.heat_kernel_.error < 1e-9
    found = kernel.from_products(S.copy(), S, S)
    np.testing.assert_allclose(found, expected, rtol=kernel.heat_kernel_.error, atol=0)


@pytest.mark.parametrize("t", [0.01, 0.3, 2.0, 20.0])
def test_two_outcomes_are_the_circles_theta_function(t: float) -> None:
    """A sum of images, angles 2πk apart: the circle of radius 2 with d = 2 arccos s, exp(-d²/4t)."""
    shifted = np.arccos(S) + 2 * math.pi * np.arange(-12, 13)[:, None]
    images = np.exp(-(shifted**2) / t).sum(axis=0)
    expected = images / np.exp(-((2 * math.pi * np.arange(-12, 13)) ** 2) / t).sum()
    # The exponent is at most (π/2)²/t.
    np.testing.assert_allclose(values(t, 2), expected, rtol=1e-12 + 32 * EPS * 2.5 / t)


@pytest.mark.parametrize("t", [0.01, 0.3, 2.0, 20.0])
def test_four_outcomes_are_the_three_spheres_closed_form(t: float) -> None:
    """S³ is SU(2): K ∝ Σ_k (φ + 2πk) exp(-(φ + 2πk)²/t) / sin φ, whose limit at φ = 0 is by L'Hôpital's rule."""
    angle = np.arccos(S[:-1])
    turns = 2 * math.pi * np.arange(-12, 13)[:, None]
    shifted = angle + turns
    off = (shifted * np.exp(-(shifted**2) / t)).sum(axis=0) / np.sin(angle)
    diagonal = float(((1 - 2 * turns**2 / t) * np.exp(-(turns**2) / t)).sum())
    found = values(t, 4)
    assert found[-1] == 1
    # sin φ and φ near s = 1 lose what arccos loses there: eps/φ² of φ.
    relative = 1e-12 + 32 * EPS * (2.5 / t + 1 / angle**2)
    assert (np.abs(found[:-1] / (off / diagonal) - 1) <= relative).all()


def test_is_the_parametrix_for_a_short_time() -> None:
    """On S^n, K ≈ (φ/sin φ)^((n-1)/2) exp(-φ²/t): the same t as that of `Diffusion`."""
    s = np.linspace(0.2, 0.999, 20)
    angle = np.arccos(s)
    for n in (2, 5):
        differences = []
        for t in (0.01, 0.001):
            parametrix = Diffusion(t).from_products(s.copy(), s, s) * (angle / np.sin(angle)) ** ((n - 1) / 2)
            kept = parametrix > 1e-280
            differences.append(np.abs(values(t, n + 1, s)[kept] / parametrix[kept] - 1).max())
        # The next factor of the expansion is 1 + O(t), of the order of the curvature n(n-1)/4.
        assert differences[0] < n * n * 0.01
        assert differences[1] < differences[0] / 5


def test_dimension_is_that_of_the_points() -> None:
    points = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    for width in (4, 5, 40):
        wide = np.pad(points, ((0, 0), (0, width - 4)))
        gram = Heat(1.0).fit(wide).transform(wide)
        half = np.array([1.0, 0.5])
        np.testing.assert_allclose(gram[0], values(1.0, width, half), rtol=1e-12)


def test_blocks_on_many_threads_are_those_on_one(counts: NDArray[Any]) -> None:
    many = np.tile(counts, (20, 1)).astype(np.float64)
    products = dirichlet_products(sp.csr_array(many), 0.5, 0.1)
    rows = np.arange(len(many))
    gram = LazyGram(Heat(0.7), products, "l1", rows, rows)
    starts = range(0, len(rows), 20)
    alone = [gram.block(start, start + 20) for start in starts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda start: gram.block(start, start + 20), starts))
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("t", [0.3, 1.0, 5.0, 20.0])
def test_is_positive_definite_where_the_parametrix_is_not(t: float) -> None:
    """The points that break `Diffusion` at t = 20 (test_contract)."""
    points = np.vstack([np.eye(3), (1 - np.eye(3)) / 2, np.full((1, 3), 1 / 3)])
    kernel = Heat(t).fit(points)
    gram = kernel.transform(points)
    smallest = np.linalg.eigvalsh((gram + gram.T) / 2)[0]
    # Weyl's bound: seven values in a row, each off by its relative error.
    assert smallest >= -7 * (kernel.heat_kernel_.error + 8 * EPS)


@pytest.mark.parametrize("factor", [2.0, 3.0, 4.0, 5.0])
def test_useful_times_in_high_dimension_tell_affinities_apart(factor: float) -> None:
    t = factor * math.log(WEBKB) / WEBKB
    found = values(t, WEBKB)
    assert (np.diff(found) > 0).all()
    # The documentation's approximation: w_l = z^l/l! exp(-l(l-1)t/4) but for factors 1 + l/n, and degrees up to z
    # count, so that an exponent near z is off by z²t/4 or so: relatively by less than zt.
    z = (WEBKB - 1) * math.exp(-(WEBKB - 1) * t / 4)
    np.testing.assert_allclose(np.log(found[:-1]), -z * (1 - S[:-1]), rtol=z * t)


@pytest.mark.parametrize("n_coordinates", [2, 3, 50, 2001, WEBKB])
@pytest.mark.parametrize("t", [1e-9, 1e-6, 1e-3, 1e-2, 1.0, 100.0, 1e6])
def test_no_time_gives_anything_but_numbers_from_0_to_1(n_coordinates: int, t: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = values(t, n_coordinates)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[-1] == pytest.approx(1, rel=2e-5)
    assert (np.diff(found) >= -1e-9).all()
    if t <= 1e-6:
        assert (found[:8] == 0).all(), "at the shortest times only equal points are alike"
    if t >= 100:
        np.testing.assert_allclose(found, 1, atol=1e-9)


def test_affinities_beyond_their_range_by_rounding_are_clipped() -> None:
    s = np.array([1 + 1e-8, 1.0, -1e-8, 0.0])
    found = values(0.5, 6, s)
    assert found[0] == found[1] == 1
    assert found[2] == found[3]


@pytest.mark.parametrize("n_coordinates", [0, 1])
def test_a_simplex_that_is_a_point_has_no_heat_kernel(n_coordinates: int) -> None:
    with pytest.raises(ValueError, match=f"Heat needs points of at least 2 coordinates, not {n_coordinates}"):
        Heat(0.5).learn(n_coordinates)
    with pytest.raises(ValueError, match="at least 2 coordinates, not 1"):
        Heat(0.5).fit(np.ones((3, 1)))
