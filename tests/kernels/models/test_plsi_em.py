"""EM against its definition, against NMF under the Kullback-Leibler divergence, and its objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.decomposition import NMF

from benchmark.kernels.plsi import Mixtures, expectation_maximization, random_start
from tests.kernels.models.drawn import objective

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def step(counts: NDArray[Any], theta: Array, phi: Array) -> tuple[Array, Array]:
    """One step of EM, with all the posteriors P(z|d,w) in one array."""
    posterior = theta[:, None] * phi[None]
    posterior /= posterior.sum(axis=2, keepdims=True)
    expected = counts[:, :, None] * posterior
    theta, phi = expected.sum(axis=1), expected.sum(axis=0)
    return theta / theta.sum(axis=1, keepdims=True), phi / phi.sum(axis=0)


def test_a_step_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.8, size=(9, 12)) + np.eye(9, 12)
    theta, phi = rng.dirichlet(np.ones(3), size=9), rng.dirichlet(np.ones(12), size=3).T.copy()
    mixtures, trace = expectation_maximization(sp.csr_array(counts), Mixtures(theta, phi), 0.0, 2)
    expected = [objective(counts, theta, phi)]
    for _ in range(2):
        theta, phi = step(counts, theta, phi)
        expected.append(objective(counts, theta, phi))
    np.testing.assert_allclose(mixtures.theta, theta, rtol=1e-12)
    np.testing.assert_allclose(mixtures.phi, phi, rtol=1e-12)
    np.testing.assert_allclose(trace, expected, rtol=1e-12)


def test_no_number_of_blocks_of_words_changes_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    dense = rng.poisson(0.7, size=(23, 37)) * (rng.random(37) < 0.9)
    dense[5] = 0  # a document without words
    counts = sp.csr_array(dense.astype(np.float64))
    found = []
    for threads in (1, 2, 3, 90):
        monkeypatch.setattr("numba.get_num_threads", lambda threads=threads: threads)
        start = random_start(counts, 3, np.random.default_rng(4))
        mixtures, trace = expectation_maximization(counts, start, 0.0, 30)
        found.append((mixtures.theta.tobytes(), mixtures.phi.tobytes(), trace.tobytes()))
    assert len(set(found)) == 1
    np.testing.assert_array_equal(mixtures.theta[5], start.theta[5])


@settings(max_examples=60)
@given(
    arrays(np.int64, (6, 8), elements=st.one_of(st.just(0), st.integers(0, 50))),
    st.integers(1, 9),
)
def test_the_objective_never_falls(dense: NDArray[np.int64], k: int) -> None:
    dense[0, 0] += 1
    counts = sp.csr_array(dense.astype(float))
    start = random_start(counts, k, np.random.default_rng(3))
    mixtures, trace = expectation_maximization(counts, start, -1.0, 60)
    assert len(trace) == 61
    # Log s is a difference of log n < 4 and log(n/s) < 4 + log(K² n(d) N) < 23, each rounded, averaged over 48 words.
    assert np.diff(trace).min() >= -2 * 48 * 27 * np.finfo(float).eps
    theta, phi = mixtures.theta, mixtures.phi
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-12)


@pytest.fixture(scope="module")
def sharp(counts: NDArray[np.int64]) -> tuple[Array, Mixtures, float]:
    """Documents with words only, EM run until no step gains, and where it ended."""
    dense = np.delete(counts, 5, axis=0)[:, :-1].astype(float)
    matrix = sp.csr_array(dense)
    start = random_start(matrix, 3, np.random.default_rng(4))
    mixtures, trace = expectation_maximization(matrix, start, 1e-13, 100_000)
    assert len(trace) <= 100_000
    return dense, mixtures, float(trace[-1])


def divergence(X: Array, W: Array, H: Array) -> float:
    """The generalized Kullback-Leibler divergence that NMF lowers, Σ x log x/y - x + y."""
    y = W @ H
    return float((X[X > 0] * np.log(X[X > 0] / y[X > 0])).sum() - X.sum() + y.sum())


def nmf(X: Array, W: Array, H: Array) -> tuple[Array, Array]:
    """scikit-learn's multiplicative updates from a given start."""
    model = NMF(3, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=3000, tol=0)
    return model.fit_transform(X, W=W.copy(), H=H.copy()), model.components_


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_the_optimum_is_a_fixed_point_of_nmf(sharp: tuple[Array, Mixtures, float]) -> None:
    X, mixtures, end = sharp
    W, H = X.sum(axis=1, keepdims=True) * mixtures.theta, mixtures.phi.T
    length = X.sum(axis=1, keepdims=True)
    constant = (X[X > 0] * np.log((X / length)[X > 0])).sum()
    assert divergence(X, W, H) == pytest.approx(constant - X.sum() * end, rel=1e-9)
    after = divergence(X, *nmf(X, W, H))
    assert after == pytest.approx(divergence(X, W, H), rel=1e-6)


def probabilities(W: Array, H: Array) -> Mixtures:
    """NMF's factors, normalized."""
    theta = W * H.sum(axis=1)
    phi = np.ascontiguousarray((H / H.sum(axis=1, keepdims=True)).T)
    return Mixtures(theta / theta.sum(axis=1, keepdims=True), phi)


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_where_nmf_ends_em_gains_nothing(sharp: tuple[Array, Mixtures, float]) -> None:
    X = sharp[0]
    rng = np.random.default_rng(4)
    start = probabilities(*nmf(X, rng.random((len(X), 3)), rng.random((3, X.shape[1]))))
    _, trace = expectation_maximization(sp.csr_array(X), start, 1e-13, 1000)
    assert trace[-1] - trace[0] < 1e-6


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_topics_that_stand_apart_are_found_by_em_and_nmf_alike() -> None:
    rng = np.random.default_rng(7)
    topics = np.kron(np.eye(3), rng.dirichlet(np.full(6, 5.0), size=3)[0]) + 0.003
    shares = np.eye(3)[np.arange(60) % 3] * 0.9 + 0.1 / 3
    X = np.array([rng.multinomial(200, share @ topics / (share @ topics).sum()) for share in shares]).astype(float)
    matrix = sp.csr_array(X)
    ours, trace = expectation_maximization(matrix, random_start(matrix, 3, rng), 1e-12, 100_000)
    theirs = probabilities(*nmf(X, rng.random((60, 3)), rng.random((3, 18))))
    # The steps that scikit-learn was given leave it a little short; EM goes on to the same end.
    assert objective(X, theirs.theta, theirs.phi) == pytest.approx(trace[-1], abs=1e-5)
    further, longer = expectation_maximization(matrix, theirs, 1e-12, 100_000)
    assert longer[-1] == pytest.approx(trace[-1], abs=1e-8)
    # P(w|d) is unique, the classes it is made of are not. Pinsker: Σ_w |P - P'| ≤ (2 KL)^½, KL below 60·1e-8.
    same = further.theta @ further.phi.T
    np.testing.assert_allclose(same, ours.theta @ ours.phi.T, atol=1.1e-3)
