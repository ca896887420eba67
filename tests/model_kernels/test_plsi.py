"""PLSI: EM against its definition and against KL-NMF, folding in against the conditions of the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import NotFittedError

from benchmark.model_kernels.plsi import (
    PLSI,
    Mixtures,
    expectation_maximization,
    fold_in,
    random_start,
    word_probabilities,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

V, TOPICS = 30, 4


def documents(n: int, seed: int) -> NDArray[np.int64]:
    """Counts of documents with one or two topics each; row 5 is empty, the last word never occurs."""
    rng = np.random.default_rng([2004, seed])
    topics = np.random.default_rng(0).dirichlet(np.full(V, 0.2), size=TOPICS)
    counts = np.array(
        [rng.multinomial(rng.integers(5, 60), rng.dirichlet(np.full(TOPICS, 0.2)) @ topics) for _ in range(n)]
    )
    counts[5] = 0
    counts[:, -1] = 0
    return counts


@pytest.fixture(scope="module")
def counts() -> NDArray[np.int64]:
    return documents(40, seed=1)


@pytest.fixture(scope="module")
def fitted(counts: NDArray[np.int64]) -> PLSI:
    return PLSI(n_classes=3).fit(counts)


def objective(counts: NDArray[Any], theta: Array, phi: Array, beta: float = 1.0) -> float:
    """The objective in nats per word, from dense arrays."""
    s = theta**beta @ (phi**beta).T
    return float((counts[counts > 0] * np.log(s[counts > 0])).sum() / counts.sum() / beta)


def step(counts: NDArray[Any], theta: Array, phi: Array, beta: float) -> tuple[Array, Array]:
    """One step of EM, with all the posteriors P(z|d,w) in one array."""
    posterior = (theta[:, None] * phi[None]) ** beta
    posterior /= posterior.sum(axis=2, keepdims=True)
    expected = counts[:, :, None] * posterior
    theta, phi = expected.sum(axis=1), expected.sum(axis=0)
    return theta / theta.sum(axis=1, keepdims=True), phi / phi.sum(axis=0)


@pytest.mark.parametrize("beta", [1.0, 0.6])
def test_a_step_is_that_of_the_definition(beta: float) -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.8, size=(9, 12)) + np.eye(9, 12)
    theta, phi = rng.dirichlet(np.ones(3), size=9), rng.dirichlet(np.ones(12), size=3).T.copy()
    ascent = expectation_maximization(sp.csr_array(counts), Mixtures(theta, phi), 0.0, 2, beta)
    expected = [objective(counts, theta, phi, beta)]
    for _ in range(2):
        theta, phi = step(counts, theta, phi, beta)
        expected.append(objective(counts, theta, phi, beta))
    np.testing.assert_allclose(ascent.mixtures.theta, theta, rtol=1e-12)
    np.testing.assert_allclose(ascent.mixtures.phi, phi, rtol=1e-12)
    np.testing.assert_allclose(ascent.trace, expected, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int64, (6, 8), elements=st.one_of(st.just(0), st.integers(0, 50))),
    st.integers(1, 9),
    st.sampled_from([1.0, 0.9, 0.5]),
)
def test_the_objective_never_falls(dense: NDArray[np.int64], k: int, beta: float) -> None:
    dense[0, 0] += 1
    counts = sp.csr_array(dense.astype(float))
    start = random_start(counts, k, np.random.default_rng(3))
    ascent = expectation_maximization(counts, start, -1.0, 60, beta)
    assert len(ascent.trace) == 61
    # Log s is a difference of log n < 4 and log(n/s) < 4 + log(K² n(d) N) < 23, each rounded, averaged over 48 words.
    assert np.diff(ascent.trace).min() >= -2 * 48 * 27 * np.finfo(float).eps
    theta, phi = ascent.mixtures.theta, ascent.mixtures.phi
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-12)


def test_the_run_ends_at_the_tolerance_and_says_whether_it_did(counts: NDArray[np.int64]) -> None:
    model = PLSI(n_classes=3, tolerance=1e-3).fit(counts)
    gains = np.diff(model.trace_)
    assert model.converged_
    assert gains[-1] <= 1e-3 < gains[:-1].min()
    short = PLSI(n_classes=3, tolerance=0.0, max_iterations=7).fit(counts)
    assert not short.converged_
    assert len(short.trace_) == 8


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_what_is_learnt_are_probabilities(counts: NDArray[np.int64], beta: float) -> None:
    model = PLSI(n_classes=3, temper=beta).fit(counts)
    np.testing.assert_allclose(model.word_given_class_.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(model.class_given_document_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(
        model.class_, counts.sum(axis=1) / counts.sum() @ model.class_given_document_, rtol=1e-12
    )
    assert min(model.word_given_class_.min(), model.class_given_document_.min()) >= 0
    expected = objective(counts, model.class_given_document_, model.word_given_class_)
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-12)
    assert model.score(counts) == pytest.approx(expected, rel=1e-12)


def test_folding_the_training_documents_in_costs_no_likelihood(fitted: PLSI) -> None:
    """EM's own P(z|d) is no better than the optimum for its P(w|z), up to the gap."""
    assert fitted.log_likelihood_ >= fitted.trace_[-1] - fitted.fold_tolerance


def test_one_class_is_the_words_of_the_collection(counts: NDArray[np.int64]) -> None:
    model = PLSI(n_classes=1).fit(counts)
    frequency = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(model.word_given_class_[:, 0], frequency, rtol=1e-12)
    np.testing.assert_array_equal(model.class_given_document_, 1)
    occurring = frequency[frequency > 0]
    assert model.log_likelihood_ == pytest.approx((occurring * np.log(occurring)).sum(), rel=1e-12)


def test_a_class_for_each_document_can_fit_the_frequencies() -> None:
    """No model is likelier than P(w|d) = n(d,w)/n(d); as many classes as documents reach it."""
    counts = documents(6, seed=9)[:5]
    frequency = counts / counts.sum(axis=1, keepdims=True)
    bound = (counts[counts > 0] * np.log(frequency[counts > 0])).sum() / counts.sum()
    model = PLSI(n_classes=12, tolerance=1e-9, max_iterations=20_000).fit(counts)
    assert bound - 1e-3 < model.log_likelihood_ <= bound + 1e-12


@pytest.fixture(scope="module")
def sharp(counts: NDArray[np.int64]) -> tuple[Array, Mixtures, float]:
    """Documents with words only, EM run until no step gains, and where it ended."""
    dense = np.delete(counts, 5, axis=0)[:, :-1].astype(float)
    matrix = sp.csr_array(dense)
    ascent = expectation_maximization(matrix, random_start(matrix, 3, np.random.default_rng(4)), 1e-13, 100_000)
    assert ascent.converged
    return dense, ascent.mixtures, float(ascent.trace[-1])


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
    again = expectation_maximization(sp.csr_array(X), start, 1e-13, 1000)
    assert again.trace[-1] - again.trace[0] < 1e-6


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_topics_that_stand_apart_are_found_by_em_and_nmf_alike() -> None:
    rng = np.random.default_rng(7)
    topics = np.kron(np.eye(3), rng.dirichlet(np.full(6, 5.0), size=3)[0]) + 0.003
    shares = np.eye(3)[np.arange(60) % 3] * 0.9 + 0.1 / 3
    X = np.array([rng.multinomial(200, share @ topics / (share @ topics).sum()) for share in shares]).astype(float)
    matrix = sp.csr_array(X)
    ours = expectation_maximization(matrix, random_start(matrix, 3, rng), 1e-12, 100_000)
    theirs = probabilities(*nmf(X, rng.random((60, 3)), rng.random((3, 18))))
    # The steps that scikit-learn was given leave it a little short; EM goes on to the same end.
    assert objective(X, theirs.theta, theirs.phi) == pytest.approx(ours.trace[-1], abs=1e-5)
    further = expectation_maximization(matrix, theirs, 1e-12, 100_000)
    assert further.trace[-1] == pytest.approx(ours.trace[-1], abs=1e-8)
    # P(w|d) is unique, the classes it is made of are not. Pinsker: Σ_w |P - P'| ≤ (2 KL)^½, KL below 60·1e-8.
    same = further.mixtures.theta @ further.mixtures.phi.T
    np.testing.assert_allclose(same, ours.mixtures.theta @ ours.mixtures.phi.T, atol=1.1e-3)


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_folding_in_ends_at_the_optimum(counts: NDArray[np.int64], beta: float) -> None:
    """No point of the simplex does better than the gap allows: not a solver's, not a random one."""
    model = PLSI(n_classes=4, fold_tolerance=1e-6, temper=beta, fold_iterations=100_000).fit(counts)
    phi = model.word_given_class_
    new = documents(12, seed=2)
    folded = model.fold(new)
    assert folded.gap.max() <= 1e-6
    rng = np.random.default_rng(5)
    for d in np.flatnonzero(new.sum(axis=1)):
        row = new[d : d + 1].astype(float)
        row[:, ~phi.any(axis=1)] = 0
        reached = objective(row, folded.theta[d : d + 1], phi, beta)

        def loss(x: Array, row: Array = row) -> float:
            theta = np.exp(x - x.max())
            return -objective(row, theta[None] / theta.sum(), phi, beta)

        rivals = [-minimize(loss, np.zeros(4), method="BFGS").fun]
        rivals += [objective(row, theta[None], phi, beta) for theta in rng.dirichlet(np.full(4, 0.5), size=50)]
        assert reached >= max(rivals) - 1e-6
        # BFGS comes close: the bound isn't met by being loose.
        assert reached <= rivals[0] + 1e-4


def test_the_gap_is_that_of_the_conditions_of_the_optimum(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    """max_z Σ_w P̂(w|d) P(w|z)/P(w|d) - 1."""
    folded = fitted.fold(counts)
    for d in np.flatnonzero(counts.sum(axis=1)):
        occurs = counts[d] > 0
        phi, frequency = fitted.word_given_class_[occurs], counts[d, occurs] / counts[d].sum()
        slope = (frequency / (phi @ folded.theta[d])) @ phi
        assert folded.gap[d] == pytest.approx(slope.max() - 1, abs=1e-12)
        assert slope.max() - 1 <= fitted.fold_tolerance


def test_classes_that_a_document_lacks_are_exactly_zero(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    """They are those that a far more exact folding in leaves below 1e-12, and hardly any of them is missed."""
    matrix = sp.csr_array(counts.astype(float))
    exact = fold_in(matrix, fitted.word_given_class_, fitted.class_, 1e-11, 10_000_000).theta
    lacking = exact < 1e-12
    dropped = fitted.class_given_document_ == 0
    assert lacking.mean() > 0.1
    assert (exact[dropped] < 1e-3).all()
    assert (dropped & lacking).sum() > 0.8 * lacking.sum()


def test_a_tight_fold_needs_the_only_class_that_knows_a_word() -> None:
    """Its share is far below the tolerance, but without it the word would be impossible."""
    phi = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    counts = sp.csr_array(np.array([[500_000.0, 500_000.0, 1.0]]))
    folded = fold_in(counts, phi, np.ones(3) / 3, 1e-4, 1000)
    assert folded.gap[0] <= 1e-4
    assert folded.theta[0, 2] == pytest.approx(1 / 1_000_001, rel=1e-2)


def test_documents_are_folded_in_each_by_itself(fitted: PLSI) -> None:
    new = documents(15, seed=3)
    whole = fitted.transform(new)
    np.testing.assert_array_equal(fitted.transform(new[[7, 2, 5]]), whole[[7, 2, 5]])
    for d in range(len(new)):
        np.testing.assert_array_equal(fitted.transform(new[d : d + 1]), whole[d : d + 1])


def test_training_documents_and_new_ones_are_treated_alike(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    np.testing.assert_array_equal(fitted.transform(counts), fitted.class_given_document_)
    np.testing.assert_array_equal(PLSI(n_classes=3).fit_transform(counts), fitted.class_given_document_)


def test_the_number_of_threads_changes_no_bit(counts: NDArray[np.int64]) -> None:
    before = numba.get_num_threads()
    try:
        models = []
        for number in range(1, before + 1):
            numba.set_num_threads(number)
            models.append(PLSI(n_classes=5, max_iterations=30, temper=0.9).fit(counts))
    finally:
        numba.set_num_threads(before)
    for model in models[1:]:
        np.testing.assert_array_equal(model.class_given_document_, models[0].class_given_document_)
        np.testing.assert_array_equal(model.trace_, models[0].trace_)


def test_documents_in_another_order_have_the_same_classes(counts: NDArray[np.int64]) -> None:
    order = np.random.default_rng(6).permutation(len(counts))
    model, other = (PLSI(n_classes=3, max_iterations=100).fit(rows) for rows in (counts, counts[order]))
    np.testing.assert_allclose(other.word_given_class_, model.word_given_class_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(other.class_given_document_, model.class_given_document_[order], rtol=1e-6, atol=1e-9)


def test_longer_documents_of_the_same_proportions_are_the_same(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    np.testing.assert_allclose(fitted.transform(0.25 * counts), fitted.class_given_document_, rtol=1e-9)
    np.testing.assert_allclose(PLSI(n_classes=3).fit(8 * counts).class_, fitted.class_, rtol=1e-6)


def test_a_document_without_words_has_the_classes_of_the_collection(fitted: PLSI) -> None:
    np.testing.assert_array_equal(fitted.class_given_document_[5], fitted.class_)
    unknown = np.zeros((2, V))
    unknown[1, -1] = 3  # occurs in no training document
    np.testing.assert_array_equal(fitted.transform(unknown), np.tile(fitted.class_, (2, 1)))
    with pytest.raises(ValueError, match="no word that is known"):
        fitted.score(unknown)


def test_unknown_words_are_ignored(fitted: PLSI) -> None:
    new = documents(10, seed=4)
    more = new.copy()
    more[:, -1] = np.arange(10)
    np.testing.assert_array_equal(fitted.transform(more), fitted.transform(new))
    assert fitted.score(more) == fitted.score(new)
    assert not fitted.word_given_class_[-1].any()


def test_the_likeliest_restart_is_kept(counts: NDArray[np.int64]) -> None:
    model = PLSI(n_classes=4, restarts=5, seed=2).fit(counts)
    assert len(set(model.restart_objectives_)) > 1
    assert model.trace_[-1] == model.restart_objectives_.max()
    fewer = PLSI(n_classes=4, restarts=2, seed=2).fit(counts)
    np.testing.assert_array_equal(fewer.restart_objectives_, model.restart_objectives_[:2])
    assert PLSI(n_classes=4, seed=3).fit(counts).restart_objectives_[0] not in model.restart_objectives_


def test_tempering_makes_classes_softer(counts: NDArray[np.int64]) -> None:
    def entropy(model: PLSI) -> float:
        theta = np.maximum(model.class_given_document_, 1e-300)
        return float(-(theta * np.log(theta)).sum())

    entropies = [entropy(PLSI(n_classes=3, temper=beta).fit(counts)) for beta in (1.0, 0.8, 0.6)]
    assert entropies == sorted(entropies)


def test_more_classes_than_words_give_no_infinities() -> None:
    counts = np.array([[1000, 1, 0], [0, 1, 0], [0, 0, 7]])
    model = PLSI(n_classes=20, tolerance=0.0, max_iterations=3000).fit(counts)
    for learnt in (model.word_given_class_, model.class_given_document_, model.class_, model.trace_):
        assert np.isfinite(learnt).all()
    np.testing.assert_allclose(model.word_given_class_.sum(axis=0), 1)


def test_word_probabilities_are_the_products_at_the_words(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    s = word_probabilities(sp.csr_array(counts.astype(float)), fitted.class_given_document_, fitted.word_given_class_)
    np.testing.assert_allclose(s, (fitted.class_given_document_ @ fitted.word_given_class_.T)[counts > 0], rtol=1e-12)
    with pytest.raises(FloatingPointError, match="probability 0"):
        word_probabilities(sp.csr_array(np.eye(1, V)), np.eye(1, 3), np.zeros((V, 3)))


def test_counts_beyond_floating_point_are_an_error() -> None:
    with pytest.raises(FloatingPointError, match="too different"):
        PLSI(n_classes=2, tolerance=0.0).fit(np.array([[1.0, 1e-250], [1.0, 0.0], [1.0, 1e-280]]))


def test_the_form_of_the_matrix_changes_no_bit(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    rows = sp.csr_array(counts)
    twice = sp.csr_array((np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), rows.indptr * 2), shape=rows.shape)
    zeros = sp.csr_array((counts.ravel(), np.tile(np.arange(V), len(counts)), np.arange(len(counts) + 1) * V))
    for form in (rows, sp.csc_array(counts), counts.tolist(), twice, zeros):
        np.testing.assert_array_equal(PLSI(n_classes=3).fit(form).class_given_document_, fitted.class_given_document_)
    assert zeros.nnz == counts.size


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_classes", 0),
        ("n_classes", 2.5),
        ("max_iterations", -1),
        ("restarts", 0),
        ("seed", -1),
        ("fold_iterations", None),
        ("tolerance", -1e-9),
        ("tolerance", float("nan")),
        ("fold_tolerance", float("inf")),
        ("temper", 0.0),
        ("temper", 1.5),
    ],
)
def test_parameters_out_of_range_fail(counts: NDArray[np.int64], name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        PLSI(**{name: value}).fit(counts)


def test_bad_counts_fail(fitted: PLSI, counts: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match="negative"):
        fitted.transform(-counts)
    with pytest.raises(ValueError, match="NaN"):
        PLSI().fit(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="no document has a word"):
        PLSI().fit(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="29 words, but the model was fitted on 30"):
        fitted.transform(counts[:, 1:])
    with pytest.raises(NotFittedError):
        clone(fitted).transform(counts)
