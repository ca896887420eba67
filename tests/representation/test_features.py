"""Feature maps against the kernels that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch
from sklearn.metrics.pairwise import additive_chi2_kernel

from benchmark.kernels import NegativeGeodesicDistance
from benchmark.representation import features
from benchmark.representation.features import (
    FEATURE_MAPS,
    Arcsine,
    ChiSquared,
    Hellinger,
    JensenShannon,
    SignProjection,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def points() -> sp.csr_array:
    rng = np.random.default_rng(3)
    dense = rng.dirichlet(np.full(200, 0.05), 30)
    dense[dense < 1e-4] = 0
    return sp.csr_array(dense / dense.sum(axis=1, keepdims=True))


def affinities(points: sp.csr_array) -> np.ndarray:
    roots = np.sqrt(points.toarray())
    return np.clip(roots @ roots.T, 0.0, 1.0)


def pairwise(points: sp.csr_array, term: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """A sum over the coordinates that both have, for each pair."""
    p, q = points.toarray()[:, None], points.toarray()[None]
    both = (p > 0) & (q > 0)
    return np.where(both, term(np.where(both, p, 1.0), np.where(both, q, 1.0)), 0.0).sum(axis=2)


#: What the inner products of features stand for.
EXACT: dict[type, Callable[[sp.csr_array], np.ndarray]] = {
    Hellinger: affinities,
    ChiSquared: lambda points: pairwise(points, lambda p, q: 2 * p * q / (p + q)),
    JensenShannon: lambda points: pairwise(
        points, lambda p, q: (p * np.log2((p + q) / p) + q * np.log2((p + q) / q)) / 2
    ),
    Arcsine: lambda points: np.arcsin(affinities(points)),
    SignProjection: lambda points: 1 - 2 / np.pi * np.arccos(affinities(points)),
}


def products(features: object) -> np.ndarray:
    dense = features.toarray() if sp.issparse(features) else np.asarray(features)
    return dense @ dense.T


@pytest.mark.parametrize("name", FEATURE_MAPS)
class TestEvery:
    def test_features_of_a_document_do_not_depend_on_the_others(self, name: str, points: sp.csr_array) -> None:
        fitted = FEATURE_MAPS[name]().fit(points)
        alone, together = fitted.transform(points[[4]]), fitted.transform(points)
        dense = [each.toarray() if sp.issparse(each) else each for each in (alone, together)]
        np.testing.assert_allclose(dense[0][0], dense[1][4], rtol=1e-12, atol=1e-15)

    def test_it_draws_the_same_again(self, name: str, points: sp.csr_array) -> None:
        one, other = (products(FEATURE_MAPS[name]().fit(points).transform(points)) for _ in range(2))
        np.testing.assert_array_equal(one, other)

    def test_its_kernel_is_the_oracles(self, name: str, points: sp.csr_array) -> None:
        """Where s is 1 but for an eps or two, arcsin s is off by √(2 eps) = 2e-8."""
        a, b = np.divmod(np.arange(900), 30)
        found = FEATURE_MAPS[name]().exact(points[a], points[b])
        np.testing.assert_allclose(found.reshape(30, 30), EXACT[FEATURE_MAPS[name]](points), atol=1e-7)

    def test_other_points_are_refused(self, name: str, points: sp.csr_array) -> None:
        with pytest.raises(ValueError, match=r"X has 10 features, but .* is expecting 200"):
            FEATURE_MAPS[name]().fit(points).transform(points[:, :10])
        with pytest.raises(ValueError, match="Negative values in data"):
            FEATURE_MAPS[name]().fit(points).transform(-points)


@pytest.mark.parametrize("cls", [Arcsine, SignProjection])
def test_another_seed_draws_other_features_and_each_feature_is_its_own(cls: type, points: sp.csr_array) -> None:
    """Blocks of random directions, and the two sketches, are drawn apart."""
    found = [cls(300, seed).fit_transform(points) for seed in (0, 0, 1)]
    dense = [each.toarray()[:, -600:] if sp.issparse(each) else each for each in found]
    np.testing.assert_array_equal(dense[0], dense[1])
    assert (dense[0] != dense[2]).any()
    half = dense[0].shape[1] // 2
    for place in (128, half):
        assert (dense[0][:, : half // 2] != dense[0][:, place : place + half // 2]).any()


def test_the_exact_kernels_are_those_of_others(points: sp.csr_array) -> None:
    ngd = NegativeGeodesicDistance().fit(points).transform(points)
    # Where s is 1 but for an eps or two, arccos s is √(2 eps) = 2e-8.
    np.testing.assert_allclose(2 * EXACT[Arcsine](points) - np.pi, ngd, atol=1e-7)
    np.testing.assert_allclose(EXACT[SignProjection](points), 1 + ngd / np.pi, atol=1e-7)
    # χ² distance = Σ (p-q)² / (p+q) = 2 - 2 Σ 2pq / (p+q) on the simplex, and scikit-learn has its negative.
    theirs = 1 + additive_chi2_kernel(points.toarray()) / 2
    np.testing.assert_allclose(EXACT[ChiSquared](points), theirs, atol=1e-12)
    p, q = points.toarray()[:2]
    half = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.nansum(np.where(each > 0, each * np.log2(each / half), 0)) for each in (p, q)]
    assert EXACT[JensenShannon](points)[0, 1] == pytest.approx(1 - sum(parts) / 2, abs=1e-12)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_the_chi_squared_map_is_scikit_learns(samples: int, points: sp.csr_array) -> None:
    theirs = AdditiveChi2Sampler(sample_steps=samples).fit_transform(points.toarray())
    ours = ChiSquared(samples).fit_transform(points).toarray()
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("degree", [3, 5])
def test_sketches_are_scikit_learns_to_the_last_bit(degree: int, points: sp.csr_array) -> None:
    sketch = PolynomialCountSketch(degree=degree, coef0=0, n_components=40, random_state=1).fit(points)
    np.testing.assert_array_equal(features._sketched(points, sketch), sketch.transform(points))


def test_arcsines_features_are_the_roots_and_two_sketches_drawn_apart(points: sp.csr_array) -> None:
    roots = np.sqrt(points.toarray())
    parts = [roots]
    for degree, weight in ((3, 1 / 6), (5, 3 / 40)):
        sketch = PolynomialCountSketch(degree=degree, coef0=0, n_components=40, random_state=7 + degree).fit(roots)
        parts.append(np.sqrt(weight) * sketch.transform(roots))
    np.testing.assert_allclose(Arcsine(40, 7).fit_transform(points).toarray(), np.hstack(parts), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("cls", "bounds"), [(ChiSquared, (0.06, 0.03, 0.015)), (JensenShannon, (0.08, 0.02, 0.005))])
def test_more_samples_of_a_spectrum_come_nearer(cls: type, bounds: tuple[float, ...], points: sp.csr_array) -> None:
    found = []
    for samples in (1, 2, 3):
        fitted = cls(samples=samples).fit(points)
        assert fitted.transform(points).shape == (30, 200 * (2 * samples - 1))
        found.append(np.sqrt(np.mean((products(fitted.transform(points)) - EXACT[cls](points)) ** 2)))
    assert found == sorted(found, reverse=True)
    assert all(error < bound for error, bound in zip(found, bounds, strict=True))


def test_signs_err_as_binomials_do(points: sp.csr_array) -> None:
    """By an error of variance (1 - k²) / D: over 435 pairs, the mean square is near that."""
    exact = EXACT[SignProjection](points)
    above = np.triu_indices(30, 1)
    for D in (64, 1024):
        error = products(SignProjection(D).fit_transform(points)) - exact
        assert np.mean(error[above] ** 2) == pytest.approx(np.mean((1 - exact[above] ** 2) / D), rel=0.35)


def test_arcsine_comes_nearer_with_more_features_but_where_its_series_ends(points: sp.csr_array) -> None:
    """What follows s⁵ is 15 s⁷ / 336 and more: 0.33 where s is 1, next to nothing elsewhere."""
    exact = EXACT[Arcsine](points)
    far = exact < 0.7
    few, many = (np.abs(products(Arcsine(n).fit_transform(points)) - exact)[far].mean() for n in (64, 4096))
    assert many < few / 4
    nearest = np.diagonal(products(Arcsine(4096).fit_transform(points)))
    np.testing.assert_allclose(nearest, 1 + 1 / 6 + 3 / 40, rtol=0.1)
