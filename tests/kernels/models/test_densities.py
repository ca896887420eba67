"""Densities of a hyperplane's values: they are densities with the moments they were given, and derive as they say."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from scipy.integrate import quad

from benchmark.kernels.top_features import Gaussian, sample_moments

MEAN, VARIANCE = np.array([1.2, -0.4, 0.0, 30.0]), np.array([0.3, 2.0, 1e-4, 50.0])
#: Values from deep in one tail to deep in the other, in standard deviations from each mean.
DEVIATIONS = np.array([-40.0, -6.0, -1.3, -0.01, 0.0, 0.4, 2.0, 9.0, 60.0])


@pytest.fixture
def component():
    return Gaussian.from_moments(MEAN, VARIANCE)


@pytest.fixture
def f():
    return MEAN + DEVIATIONS[:, None] * np.sqrt(VARIANCE)


def difference(function, at, step):
    """A central difference by Richardson's rule: its error is of the order step⁴."""
    wide, narrow = ((function(at + h) - function(at - h)) / (2 * h) for h in (step, step / 2))
    return (4 * narrow - wide) / 3


def test_the_slope_is_the_derivative_by_f(component, f):
    step = 1e-3 * np.sqrt(VARIANCE)
    expected = difference(component.log_density, f, step)
    np.testing.assert_allclose(component.slope(f), expected, rtol=1e-7, atol=1e-7 / np.sqrt(VARIANCE.min()))


def test_the_scores_are_the_derivatives_by_each_parameter(component, f):
    fields = [field.name for field in dataclasses.fields(component)]
    scores = component.scores(f)
    assert len(scores) == len(fields)
    for name, score in zip(fields, scores, strict=True):
        value = getattr(component, name)

        def density(changed, name=name):
            return dataclasses.replace(component, **{name: changed}).log_density(f)

        # A parameter that is 0 has no size of its own: θ1 moves z by as much as it moves itself.
        step = 1e-4 * np.where(value == 0, 1.0, np.abs(value))
        noise = 1e-15 * np.abs(component.log_density(f)).max(axis=0) / step
        error = np.abs(score - difference(density, value, step))
        assert (error <= 1e-6 * np.abs(score) + 20 * noise + 1e-10).all(), name


def test_each_density_has_mass_one_and_the_moments_it_was_given(component):
    for x, (mean, variance) in enumerate(zip(MEAN, VARIANCE, strict=True)):
        sd = np.sqrt(variance)

        def moment(power, x=x, mean=mean, sd=sd):
            def integrand(z):
                row = np.full((1, len(MEAN)), mean + sd * z)
                return z**power * np.exp(component.log_density(row)[0, x]) * sd

            pieces = [-80, -8, -2, 0, 2, 8, 80]
            return sum(quad(integrand, a, b, epsabs=1e-11, epsrel=1e-10)[0] for a, b in pairwise(pieces))

        expected = [1.0, 0.0, 1.0, 0.0]
        np.testing.assert_allclose([moment(power) for power in range(4)], expected, atol=1e-8)


def test_log_densities_are_those_of_scipy(component, f):
    expected = scipy.stats.norm.logpdf(f, MEAN, np.sqrt(VARIANCE))
    np.testing.assert_allclose(component.log_density(f), expected, rtol=1e-12)


def test_the_gaussian_is_the_papers_exponential_form(component, f):
    """Appendix B, equation 33, with f = w·d - b where the print leaves out b."""
    theta1, theta2 = component.theta1, component.theta2
    np.testing.assert_allclose(theta1, MEAN / VARIANCE)
    np.testing.assert_allclose(theta2, -1 / (2 * VARIANCE))
    printed = theta1 * f + theta2 * f**2 + theta1**2 / (4 * theta2) - 0.5 * np.log(-np.pi / theta2)
    np.testing.assert_allclose(component.log_density(f), printed, rtol=1e-9, atol=1e-9)


def test_far_away_nothing_overflows(component):
    far = np.array([[-1e6] * 4, [1e6] * 4])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        values = [component.log_density(far), component.slope(far), *component.scores(far)]
    assert all(np.isfinite(value).all() for value in values)


def test_moments_are_those_of_each_categorys_own_documents(rng):
    values, members = rng.gamma(2.0, size=(50, 3)), rng.random((50, 3)) < 0.4
    means, variances = sample_moments(values, members, "abc")
    for x in range(3):
        own = values[members[:, x], x]
        np.testing.assert_allclose(means[x], own.mean())
        np.testing.assert_allclose(variances[x], own.var())


@pytest.mark.parametrize(("rows", "complaint"), [([], "0 training"), ([3], "at least two"), ([1, 4, 5], "equally far")])
def test_a_category_without_variance_is_refused_by_name(rng, rows, complaint):
    values, members = rng.normal(size=(8, 2)), np.ones((8, 2), dtype=bool)
    members[:, 1] = False
    members[rows, 1] = True
    values[[1, 4, 5], 1] = 0.1
    with pytest.raises(ValueError, match=f"{complaint}.*'corn'|'corn'.*{complaint}"):
        sample_moments(values, members, ["earn", "corn"])


@pytest.mark.parametrize(("size", "spread", "refused"), [(1e9, 1e-4, True), (1e9, 1e-2, False), (1e-9, 1e-15, False),
                                                         (1e-9, 1e-23, True), (0.0, 1e-30, False)])  # fmt: skip
def test_values_are_equal_where_they_differ_by_rounding_of_their_size(size, spread, refused):
    values = (size + spread * np.array([0.0, 1.0, 2.0]))[:, None]
    members = np.ones((3, 1), dtype=bool)
    if refused:
        with pytest.raises(ValueError, match="all 3 training documents of the category 'corn' lie equally far"):
            sample_moments(values, members, ["corn"])
    else:
        assert sample_moments(values, members, ["corn"])[1][0] > 0


@pytest.fixture
def rng():
    return np.random.default_rng(2004)
