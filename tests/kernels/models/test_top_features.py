"""The TOP features are the log-odds and its derivatives by every parameter, near the hyperplanes and far."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers.libsvm import BinarySvm
from benchmark.kernels.hp_top import HyperplaneTop
from benchmark.kernels.top_features import TopGram, log_joint, top_decision_values, top_features
from tests.kernels.models.drawn import draw_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

N, V, K = 60, 25, 4  # documents, words and categories of the corpus


@dataclasses.dataclass(frozen=True)
class Parameters:
    """All parameters of the model, each an array that ends in the categories."""

    density: Any
    weights: Array
    offsets: Array
    priors: Array

    def log_odds(self, points: Array, target: int) -> Array:
        """Equation 6 with (16) and (17), as it is printed: no logarithm is taken before the sum."""
        joint = self.priors * np.exp(self.density.log_density(points @ self.weights - self.offsets))
        return np.asarray(np.log(joint[:, target]) - np.log(np.delete(joint, target, axis=1).sum(axis=1)))


def parameters_of(top: HyperplaneTop) -> Parameters:
    return Parameters(top.component_, top.hyperplanes_.weights, top.hyperplanes_.offsets, top.priors_)


def derivative(parameters: Parameters, name: str, index: Any, points: Array, target: int) -> Array:
    """∂v by one number of one parameter, by Richardson's rule."""
    inner = name not in ("weights", "offsets", "priors")
    value = getattr(parameters.density if inner else parameters, name)

    def at(step: float) -> Array:
        changed = value.copy()
        changed[index] += step
        if inner:
            moved = dataclasses.replace(parameters, density=dataclasses.replace(parameters.density, **{name: changed}))
        else:
            moved = dataclasses.replace(parameters, **{name: changed})
        return moved.log_odds(points, target)

    step = 1e-3 * max(abs(value[index]), 0.1)
    wide, narrow = ((at(h) - at(-h)) / (2 * h) for h in (step, step / 2))
    return (4 * narrow - wide) / 3


def explicit(top: HyperplaneTop, points: Array, target: int) -> Array:
    """All 1 + (p + 2 + |V|) k features by finite differences of v."""
    parameters = parameters_of(top)
    columns = [parameters.log_odds(points, target)]
    names = [field.name for field in dataclasses.fields(parameters.density)]
    for name in [*names, "offsets", "priors"]:
        columns += [derivative(parameters, name, x, points, target) for x in range(K)]
    columns += [derivative(parameters, "weights", (i, x), points, target) for i in range(V) for x in range(K)]
    return np.column_stack(columns)


def in_full(top: HyperplaneTop, points: Array, target: int) -> Array:
    """The same features from the factors that the kernel keeps."""
    features = top_features(top._joint(points), target)
    by_weight = points[:, :, None] * features.slopes[:, None, :]
    return np.hstack([features.scalars, by_weight.reshape(len(points), -1)])


@pytest.mark.parametrize("target", range(K))
def test_every_feature_is_the_derivative_of_the_log_odds(top, rng, target):
    points = draw_points(rng, 9)[0].toarray()
    # Uniform priors would hide where one is forgotten.
    top.priors_ = np.array([0.1, 0.2, 0.3, 0.4])
    expected = explicit(top, points, target)
    np.testing.assert_allclose(in_full(top, points, target), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("target", range(K))
def test_the_kernel_is_the_inner_product_of_explicit_features(top, corpus, rng, target):
    points = draw_points(rng, 9)[0].toarray()
    features, own = (in_full(top, X, target) for X in (points, corpus[0].toarray()))
    np.testing.assert_allclose(
        top.set_params(target=target).transform(points), features @ own.T, rtol=1e-12, atol=1e-11
    )


@pytest.mark.parametrize("empty", [0, 1000])
def test_a_document_has_as_many_numbers_however_many_words_there_are(corpus, empty):
    """Equations 21-23: a kernel value costs one inner product over the words and O(k) more, not one a category."""
    X, Y = corpus
    wide = sp.hstack([X, sp.csr_array((N, empty))], format="csr")
    features = top_features(HyperplaneTop().fit(wide, Y)._joint(wide), 2)
    assert features.scalars.shape[1] + features.slopes.shape[1] == 1 + 5 * K


def test_the_gaussians_features_are_the_papers(corpus):
    """Equations 34-43, letter by letter."""
    top = HyperplaneTop().fit(*corpus)
    points, c = corpus[0].toarray(), 2
    f = points @ top.hyperplanes_.weights - top.hyperplanes_.offsets
    own = [f[corpus[1][:, x], x] for x in range(K)]
    mu, variance = np.array([values.mean() for values in own]), np.array([values.var() for values in own])
    P = np.full(K, 1 / K)
    q = np.exp(-((f - mu) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    negative = sum(P[e] * q[:, e] for e in range(K) if e != c)
    columns = [np.log(P[c] * q[:, c]) - np.log(negative)]
    sign = [np.ones(N) if x == c else -P[x] * q[:, x] / negative for x in range(K)]
    columns += [sign[x] * (f[:, x] - mu[x]) for x in range(K)]
    columns += [sign[x] * (f[:, x] ** 2 - mu[x] ** 2 - variance[x]) for x in range(K)]
    columns += [sign[x] * (f[:, x] - mu[x]) / variance[x] for x in range(K)]
    columns += [np.full(N, 1 / P[c]) if x == c else -q[:, x] / negative for x in range(K)]
    columns += [sign[x] * (mu[x] - f[:, x]) / variance[x] * points[:, i] for i in range(V) for x in range(K)]
    np.testing.assert_allclose(in_full(top, points, c), np.column_stack(columns), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("far", [1e3, -1e3, 1e6])
def test_far_from_every_hyperplane_the_features_are_finite_and_right(top, far):
    f = np.array([[far] * K, [far, -far, far, -far]])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        features = top_features(log_joint(f, top.component_, top.priors_), 1)
    assert (np.exp(top.component_.log_density(f)) == 0).all()
    by_prior = features.scalars[:, -K:] * top.priors_
    np.testing.assert_allclose(by_prior[:, 1], 1.0)
    np.testing.assert_allclose(np.delete(by_prior, 1, axis=1).sum(axis=1), -1.0)
    # Out there one of the others outweighs the rest, beyond what floating point can tell.
    log_q = top.component_.log_density(f)
    rest = np.sort(np.delete(log_q, 1, axis=1), axis=1)
    clear = rest[:, -1] - rest[:, -2] > 50
    assert clear.any()
    np.testing.assert_allclose(features.scalars[clear, 0], (log_q[:, 1] - rest[:, -1])[clear], rtol=1e-12)


def test_farther_than_numbers_reach_is_an_error_not_a_nan(corpus):
    top = HyperplaneTop().fit(*corpus)
    with pytest.raises(FloatingPointError, match="finite"):
        top_features(log_joint(np.full((1, K), 1e200), top.component_, top.priors_), 0)
    features = top_features(log_joint(np.full((1, K), 1e90), top.component_, top.priors_), 0)
    with pytest.raises(FloatingPointError, match="finite"):
        TopGram(features, features, np.ones((1, 1))).tile(slice(0, 1), slice(0, 1))


def test_decisions_are_the_kernels_rows_times_the_coefficients(top, corpus, rng):
    points = draw_points(rng, 15)[0]
    support = np.array([40, 3, 17, 22])
    machine = BinarySvm(support, np.array([0.5, -1.0, 0.25, 0.25]), 0.3, 0.0)
    trained, new = top_features(top.joint_, 1), top_features(top._joint(points), 1)
    expected = top.transform(points)[:, support] @ machine.coefficients - machine.rho
    actual = top_decision_values(machine, new, points, trained, corpus[0])
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)
