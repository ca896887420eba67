"""The Gegenbauer series and its bounds, against sums in 200 to 400 digits, and the integral that takes over."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, eval_legendre

from benchmark.kernels.sphere import (
    gegenbauer_series,
    log_saddle_heat_kernel,
    log_sphere_volume,
    scaled_weights,
    terms_needed,
    weight_ratio,
)

COSINES = np.array([-0.9, -0.3, 0.0, 0.05, 0.3, 0.7, 0.95, 0.999, 1.0])
CASES = [
    (1, 0.02), (1, 3.0), (2, 0.004), (2, 0.05), (2, 1.0), (3, 0.01), (4, 0.3), (10, 0.02), (10, 0.3),
    (101, 0.01), (1000, 0.002), (1000, 0.004), (20_000, 2e-4), (20_000, 4e-4), (20_000, 5e-4), (25_000, 1e-3),
]  # fmt: skip


def exact(x: float, n: int, t: float, digits: int = 400) -> tuple[Decimal, Decimal]:
    """Σ w_l P_l(x) and Σ w_l, w_0 = 1, in decimal arithmetic until the terms no longer count."""
    with localcontext() as context:
        context.prec = digits
        time, cosine = Decimal(t), Decimal(x)
        decay, decay_step = (-n * time).exp(), (-2 * time).exp()
        weight, before, now = Decimal(1), Decimal(0), Decimal(1)
        value = total = Decimal(0)
        heaviest, degree = weight, 0
        while weight * Decimal(10) ** (digits - 50) > heaviest or degree < 3:
            value += weight * now
            total += weight
            if n == 1:
                multiplicity = Decimal(2 if degree == 0 else 1)
            else:
                multiplicity = Decimal((2 * degree + n + 1) * (degree + n - 1)) / ((2 * degree + n - 1) * (degree + 1))
            weight *= multiplicity * decay
            heaviest = max(heaviest, weight)
            decay *= decay_step
            if degree == 0:
                before, now = now, cosine
            else:
                before, now = now, ((2 * degree + n - 1) * cosine * now - degree * before) / (degree + n - 1)
            degree += 1
        return value, total


@pytest.mark.parametrize(("n", "t"), CASES)
def test_series_lies_within_its_bound(n: int, t: float) -> None:
    terms = terms_needed(n, t, 4000)
    assert terms is not None
    series = gegenbauer_series(COSINES, n, t, terms)
    for x, ratio, error in zip(COSINES, series.ratio, series.error, strict=True):
        value, total = exact(float(x), n, t, 100)
        assert abs(float(value / total - Decimal(float(ratio)))) <= error
        assert series.log_total == pytest.approx(float(total.ln()), rel=1e-14, abs=1e-13)
    # The bound is no excuse either: at the cosine 1, where nothing cancels, it leaves 9 digits or more.
    assert series.error[-1] < 1e-9


@pytest.mark.parametrize(("t", "x"), [(1e-4, 0.9999999881226386), (1e-5, 0.9999982522850813)])
def test_bound_counts_what_the_recurrence_loses(t: float, x: float) -> None:
    """Near the cosine 1 of a circle, hundreds of steps lose more than the weights and the sum do."""
    terms = terms_needed(1, t, 4000)
    assert terms is not None
    series = gegenbauer_series(np.array([x]), 1, t, terms)
    value, total = exact(x, 1, t, 100)
    lost = abs(float(value / total - Decimal(float(series.ratio[0]))))
    # Each weight is the product of up to `terms` ratios, and each partial sum rounds.
    weights, weight_errors, _ = scaled_weights(1, t, terms)
    without = (weights * (weight_errors + 2e-16)).sum() / weights.sum()
    assert without < lost <= series.error[0]


@pytest.mark.parametrize(("n", "t"), CASES)
def test_terms_left_out_weigh_less_than_the_bound(n: int, t: float) -> None:
    terms = terms_needed(n, t, 4000)
    assert terms is not None
    weights, *_ = scaled_weights(n, t, terms + 500)
    for cut in range(2, terms):
        rho = float(weight_ratio(n, t, np.array([cut - 1.0]))[0])
        if rho < 1:
            assert weights[cut:].sum() <= weights[cut - 1] * rho / (1 - rho) * (1 + 1e-9)
    assert weights[terms:].sum() <= 1e-19
    assert terms < 4000


@pytest.mark.parametrize("n", [1, 2, 3, 50, 20_000])
def test_weight_ratios_fall(n: int) -> None:
    ratios = weight_ratio(n, 1e-5, np.arange(0 if n > 1 else 1, 3000, dtype=float))
    assert (np.diff(ratios) < 0).all()


@pytest.mark.parametrize("t", [0.02, 0.3, 2.0])
def test_two_sphere_is_the_legendre_series(t: float) -> None:
    x = np.linspace(-1, 1, 21)
    l = np.arange(200)[:, None]  # noqa: E741
    legendre = ((2 * l + 1) * np.exp(-l * (l + 1) * t) * eval_legendre(l, x)).sum(axis=0)
    series = gegenbauer_series(x, 2, t, terms_needed(2, t, 1000) or 0)
    assert series.ratio * math.exp(series.log_total) == pytest.approx(legendre, abs=1e-11)


def test_seven_sphere_is_the_series_of_scipys_polynomials() -> None:
    n, t, x = 7, 0.1, np.linspace(-1, 1, 21)
    l = np.arange(60)[:, None]  # noqa: E741
    expected = ((2 * l + n - 1) / (n - 1) * np.exp(-l * (l + n - 1) * t) * eval_gegenbauer(l, (n - 1) / 2, x)).sum(
        axis=0
    )
    series = gegenbauer_series(x, n, t, terms_needed(n, t, 1000) or 0)
    assert series.ratio * math.exp(series.log_total) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("n", "t"), [case for case in CASES if case != (25_000, 1e-3)])
def test_positive_integral_where_the_series_cancels(n: int, t: float) -> None:
    # 400 digits: the values go down to 1e-330 of the largest.
    cosines = np.array([-0.5, 0.0, 0.4, 0.9, 1.0])
    values, errors = log_saddle_heat_kernel(np.arccos(cosines), n, t)
    for x, value, error in zip(cosines, values, errors, strict=True):
        # The angle of the double nearest to arccos x is off by up to 1e-16 times the slope of log K in it.
        slack = 4e-16 * (math.pi / (2 * t) + n)
        assert abs(value - float(exact(float(x), n, t)[0].ln())) <= error + slack


@pytest.mark.parametrize("n", [2, 3, 9, 400, 20_000])
@pytest.mark.parametrize("nt", [1.0, 2.5, 5.0])
def test_integral_agrees_with_series_where_both_have_digits(n: int, nt: float) -> None:
    t = nt / n
    terms = terms_needed(n, t, 20_000)
    assert terms is not None
    x = np.linspace(-0.2, 1, 61)
    series = gegenbauer_series(x, n, t, terms)
    values, errors = log_saddle_heat_kernel(2 * np.arcsin(np.sqrt((1 - x) / 2)), n, t)
    good = series.ratio > 1e3 * series.error
    difference = np.abs(np.log(series.ratio[good]) + series.log_total - values[good])
    assert good.any()
    assert (
        difference <= 2 * series.error[good] / series.ratio[good] + errors[good] + 1e-13 * abs(series.log_total)
    ).all()


def test_volumes() -> None:
    assert [math.exp(log_sphere_volume(n)) for n in (1, 2, 3)] == pytest.approx(
        [2 * math.pi, 4 * math.pi, 2 * math.pi**2]
    )
