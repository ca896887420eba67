"""Each kernel's values against the papers' formulas, scikit-learn's kernels, and geomstats' Fisher–Rao distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import rbf_kernel

from benchmark.kernels import (
    Bhattacharyya,
    Diffusion,
    ExponentialGeodesicDistance,
    Linear,
    NegativeEuclideanDistance,
    NegativeGeodesicDistance,
    Polynomial,
    ProbabilityProduct,
    RadialBasisFunction,
)
from tests.kernels.cases import CASES, KERNELS
from tests.points import points_pipeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.kernels.cases import Case

    Matrix = NDArray[np.float64]

EPS = np.finfo(np.float64).eps


@pytest.fixture
def simplex() -> Matrix:
    """25 points inside the simplex of 7 outcomes, none close to another."""
    return np.random.default_rng(6).dirichlet(np.ones(7), size=25)


def affinities(points: Matrix) -> Matrix:
    return np.array([[sum(np.sqrt(p * q)) for q in points] for p in points])


def off_diagonal(gram: Matrix) -> Matrix:
    return gram[~np.eye(len(gram), dtype=bool)]


def test_values_are_those_of_the_formula(case: Case, counts: NDArray[Any]) -> None:
    points = case.points(counts)
    low, high = case.bounds(points[10:], points)
    gram = case.build().fit(points).transform(points[10:])
    assert ((low <= gram) & (gram <= high)).all()


@settings(max_examples=12)
@given(documents=arrays(np.int64, (6, 12), elements=st.integers(0, 40)))
def test_values_are_those_of_the_formula_for_any_counts(documents: NDArray[Any]) -> None:
    for case in CASES:
        points = case.points(documents)
        low, high = case.bounds(points, points)
        gram = case.build().fit(points).transform(points)
        assert ((low <= gram) & (gram <= high)).all(), case


def test_polynomial_of_negative_inner_products() -> None:
    points = np.array([[1.0], [-2.0]])
    np.testing.assert_array_equal(Polynomial(degree=3, c=1.0).fit(points).transform(points), [[8, -1], [-1, 125]])


def test_simplest_values_by_hand() -> None:
    corner, middle, other = np.eye(2)[0], np.full(2, 0.5), np.eye(2)[1]
    points = np.array([corner, middle, other])
    # s is 1, 1/√2 and 0 between the first and the three; arccos of these 0, π/4, π/2.
    angle = np.array([0.0, np.pi / 4, np.pi / 2])
    distance = np.array([0.0, np.sqrt(0.5), np.sqrt(2.0)])
    for kernel, expected in (
        (NegativeGeodesicDistance(), -2 * angle),
        (ExponentialGeodesicDistance(t=0.5), np.exp(-2 * angle)),
        (Diffusion(t=0.5), np.exp(-2 * angle**2)),
        (Bhattacharyya(), np.cos(angle)),
        (NegativeEuclideanDistance(), -distance),
    ):
        values = kernel.fit(points).transform(points[:1])[0]
        # √½² is ½ to one rounding, arccos has slope √2 there, and every result is below 4.
        np.testing.assert_allclose(values, expected, rtol=0, atol=16 * EPS, err_msg=repr(kernel))


# The kernels against others' implementations. Both sides round: sums of 7 products of numbers ≤ 1, and a few
# elementary functions, under 64 eps together wherever no distance is near 0.


@pytest.mark.parametrize("sigma", [0.2, 1.0, 3.0])
def test_rbf_is_scikit_learns_at_gamma_one_over_two_sigma_squared(simplex: Matrix, sigma: float) -> None:
    gram = RadialBasisFunction(sigma=sigma).fit(simplex).transform(simplex)
    expected = rbf_kernel(simplex, gamma=1 / (2 * sigma**2))
    np.testing.assert_allclose(gram, expected, rtol=0, atol=64 * EPS / min(1.0, 2 * sigma**2))


@pytest.fixture(scope="module")
def fisher_rao_distance() -> Any:
    """geomstats' distance between multinomial distributions of one draw."""
    with pytest.MonkeyPatch.context() as patch:
        # geomstats 2.8 imports it from numpy, which has called it trapezoid since 2.0 and dropped the old name in 2.4.
        patch.setattr(np, "trapz", np.trapezoid, raising=False)
        multinomial = pytest.importorskip("geomstats.information_geometry.multinomial", exc_type=ImportError)
    return multinomial.MultinomialDistributions(dim=6, n_draws=1).metric.dist


def test_ngd_is_minus_geomstats_geodesic_distance(simplex: Matrix, fisher_rao_distance: Any) -> None:
    """With one draw the Fisher metric is diag(1/θ), whose geodesics have length 2 arccos s: no factor between them."""
    gram = NegativeGeodesicDistance().fit(simplex).transform(simplex)
    rows, columns = np.nonzero(~np.eye(len(simplex), dtype=bool))
    expected = -fisher_rao_distance(simplex[rows], simplex[columns])
    # Both round s, to which arccos answers with the slope 1/√(1 - s²) = 1/sin(angle).
    slope = 2 / np.sin(np.abs(expected) / 2).min()
    np.testing.assert_allclose(gram[rows, columns], expected, rtol=0, atol=64 * EPS * slope)


def test_ngd_of_close_points_is_the_length_in_the_fisher_metric(simplex: Matrix) -> None:
    """ds² = Σ dθ_i²/θ_i for one draw: fixes the factor 2 of 2 arccos s."""
    theta, other = simplex[:2]
    step = 1e-4 * (other - theta)
    distance = -NegativeGeodesicDistance().fit([theta]).transform([theta + step])[0, 0]
    # The metric changes along the step by the same part as θ does.
    change = float(np.abs(step / theta).max())
    assert change < 0.01
    np.testing.assert_allclose(distance, np.sqrt((step**2 / theta).sum()), rtol=change)


def test_divergence_of_close_points_is_half_the_squared_distance(simplex: Matrix) -> None:
    """Zhang et al. 2005, equation 45: D(θ+δ || θ) → ½ F(θ)(δ, δ), the squared geodesic length."""
    theta, other = simplex[:2]
    errors = []
    for size in (1e-2, 1e-3):
        near = theta + size * (other - theta)
        divergence = float((near * np.log(near / theta)).sum())
        distance = -NegativeGeodesicDistance().fit([theta]).transform([near])[0, 0]
        change = float(np.abs(near / theta - 1).max())
        np.testing.assert_allclose(divergence, ((near - theta) ** 2 / theta).sum() / 2, rtol=change)
        np.testing.assert_allclose(divergence, distance**2 / 2, rtol=change)
        errors.append(abs(2 * divergence / distance**2 - 1))
    assert errors[1] < errors[0] / 5, "the ratio goes to 1 with the step"


def test_tfidf_pulls_the_metric_back(counts: NDArray[Any]) -> None:
    """Zhang et al. 2005, equation 10: G_λ(θ) ∝ θλ, whose differential carries δ to a vector of the Fisher metric.

    With x = G_λ(θ) it is x (δ/θ - <δ,λ>/<θ,λ>), so that its squared length is Σ x (δ/θ)² - (<δ,λ>/<θ,λ>)².
    """
    theta, other = np.random.default_rng(10).dirichlet(np.ones(12), size=2)
    near = theta + 1e-4 * (other - theta)
    weighting = points_pipeline("tfidf", "l1").fit(counts)
    idf = np.log(len(counts) / (counts > 0).sum(axis=0))
    x = theta * idf / (theta @ idf)
    embedded = weighting.transform(np.array([theta, near]))
    np.testing.assert_allclose(embedded.toarray()[0], x, rtol=1e-12)
    distance = -NegativeGeodesicDistance().fit(embedded[:1]).transform(embedded[1:])[0, 0]
    delta = near - theta
    length = (x * (delta / theta) ** 2).sum() - ((delta @ idf) / (theta @ idf)) ** 2
    change = float(np.abs(delta / theta).max())
    assert change < 0.01
    np.testing.assert_allclose(distance, np.sqrt(length), rtol=2 * change)
    plain = -NegativeGeodesicDistance().fit([theta]).transform([near])[0, 0]
    assert abs(plain / distance - 1) > 10 * change, "the metric of TF differs, or the test shows nothing"


def test_bhattacharyya_is_the_cosine_of_half_the_distance(simplex: Matrix) -> None:
    """Zhang et al. 2005, equation 43."""
    s = Bhattacharyya().fit(simplex).transform(simplex)
    ngd = NegativeGeodesicDistance().fit(simplex).transform(simplex)
    np.testing.assert_allclose(np.cos(-ngd / 2), s, rtol=0, atol=16 * EPS)
    np.testing.assert_allclose(s, affinities(simplex), rtol=16 * EPS)


def test_bhattacharyya_with_its_ridge_is_ngd_to_the_first_order(simplex: Matrix) -> None:
    """-2 arccos s = -π + 2 s + s³/3 + 3 s⁵/20 + …, and 0 where s = 1."""
    ridged = Bhattacharyya(ridge=np.pi / 2 - 1).fit(simplex).transform(simplex)
    plain = Bhattacharyya().fit(simplex).transform(simplex)
    ngd = NegativeGeodesicDistance().fit(simplex).transform(simplex)
    same = plain > 1 - 1e-9
    assert same.any()
    np.testing.assert_allclose(2 * ridged[same] - np.pi, ngd[same], atol=1e-4)
    rest = ngd[~same] - (2 * ridged[~same] - np.pi)
    s = plain[~same]
    assert (rest >= s**3 / 3 - 1e-12).all()
    assert (rest <= s**3 * (np.pi - 2) + 1e-12).all(), "the series' coefficients are positive and sum to π - 2"
    np.testing.assert_array_equal(ridged[~same], plain[~same])


def test_ngd_plus_pi_is_twice_the_arc_sine(simplex: Matrix) -> None:
    s = np.clip(Bhattacharyya().fit(simplex).transform(simplex), 0, 1)
    shifted = NegativeGeodesicDistance(shift=np.pi).fit(simplex).transform(simplex)
    np.testing.assert_allclose(shifted, 2 * np.arcsin(s), rtol=0, atol=8 * EPS * np.pi)


def test_ngd_e_is_the_exponential_of_ngd(simplex: Matrix) -> None:
    ngd = NegativeGeodesicDistance().fit(simplex).transform(simplex)
    gram = ExponentialGeodesicDistance(t=0.2).fit(simplex).transform(simplex)
    # exp(u) has the relative error of u's absolute one; |u| ≤ π/2t < 8.
    np.testing.assert_allclose(gram, np.exp(ngd / (2 * 0.2)), rtol=8 * 8 * EPS)


def test_diffusion_is_the_exponential_of_the_squared_distance(simplex: Matrix) -> None:
    """In the notation of Lafferty & Lebanon, exp(-d²/4t) with d = 2 arccos s."""
    d = -NegativeGeodesicDistance().fit(simplex).transform(simplex)
    gram = Diffusion(t=0.2).fit(simplex).transform(simplex)
    # The exponent is at most (π/2)²/t < 13.
    np.testing.assert_allclose(gram, np.exp(-(d**2) / (4 * 0.2)), rtol=8 * 13 * EPS)


def test_probability_product_at_one_half_is_bhattacharyya_and_at_one_linear(simplex: Matrix) -> None:
    for rho, other in ((0.5, Bhattacharyya()), (1.0, Linear())):
        np.testing.assert_array_equal(
            ProbabilityProduct(rho=rho).fit(simplex).transform(simplex), other.fit(simplex).transform(simplex)
        )


def test_affinities_above_one_are_clipped() -> None:
    """Some points have Σ √θ² > 1 after rounding, where arccos is not a number."""
    points = np.random.default_rng(0).dirichlet(np.ones(50), size=200)
    own = NegativeGeodesicDistance().fit(points).self_products_
    assert own.max() > 1, "no point tests the clipping"
    for kernel in (
        NegativeGeodesicDistance(),
        ExponentialGeodesicDistance(),
        Diffusion(),
    ):
        gram = kernel.fit(points).transform(points)
        assert np.isfinite(gram).all(), kernel
        exact = 1.0 if isinstance(kernel, ExponentialGeodesicDistance | Diffusion) else 0.0
        assert (np.diag(gram)[own >= 1] == exact).all(), kernel


def test_ngd_is_zero_on_the_diagonal_within_the_root_of_eps(simplex: Matrix) -> None:
    diagonal = np.diag(NegativeGeodesicDistance().fit(simplex).transform(simplex))
    assert (diagonal <= 0).all()
    # Seven squares of roots, each off by 1.5 eps at most, and their sum.
    assert (diagonal >= -2 * np.arccos(1 - 7 * EPS)).all()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_ned_is_exactly_zero_on_the_diagonal(counts: NDArray[Any], scale: float) -> None:
    """Self products are summed as the diagonal is, so that a + a - 2a leaves nothing."""
    points = counts * scale / 3
    gram = NegativeEuclideanDistance().fit(points).transform(points)
    assert (np.diag(gram) == 0).all()
    assert gram[3, 7] == gram[7, 3] == 0
    np.testing.assert_array_equal(RadialBasisFunction().fit(points).transform(points).diagonal(), 1.0)


def test_ned_of_nearly_equal_points_is_right_within_the_root_of_eps() -> None:
    """The price of distances from inner products: below √eps·||x|| they are rounding."""
    x = np.array([[1.0, 1.0]])
    for gap in (1e-2, 1e-5, 1e-8, 1e-12):
        distance = -NegativeEuclideanDistance().fit(x).transform(x + np.array([[gap, 0.0]]))[0, 0]
        assert distance >= 0
        # d² is off by at most 4 roundings of numbers up to 4.
        assert abs(distance**2 - gap**2) <= 4 * 4 * EPS * (1 + gap) ** 2


@pytest.mark.parametrize("name", ["ngd", "ngd-e", "diffusion", "heat"])
def test_an_affinity_outside_its_range_by_rounding_is_that_at_the_end(name: str) -> None:
    kernel = KERNELS[name]().learn(5)
    ones = np.ones(6)

    def values(affinities: list[float]) -> NDArray[np.float64]:
        return kernel.from_products(np.array([affinities]), ones[:1], ones)[0]

    outside = values([-1e-9, -1e-12, -1e-300, 1 + 2e-16, 1 + 1e-12, 1 + 1e-9])
    np.testing.assert_array_equal(outside, values([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
    assert np.ptp(outside) > 1e-3


def test_equal_documents_have_the_ridge_up_to_rounding_and_no_others() -> None:
    kernel = Bhattacharyya(ridge=0.5)
    given = np.array([[1.0, 1 - 4e-10, 1 + 4e-10, 1 - 2e-9, 0.5, 0.0]])
    expected = given + np.array([0.5, 0.5, 0.5, 0, 0, 0])
    np.testing.assert_array_equal(kernel.from_products(given.copy(), np.ones(1), np.ones(6)), expected)
    np.testing.assert_array_equal(Bhattacharyya().from_products(given, np.ones(1), np.ones(6)), given)
