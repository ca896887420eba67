"""Probabilistic latent semantic indexing (Hofmann 1999): counts of words to mixtures of latent classes, by EM.

    P(d, w) = P(d) Σ_z P(z|d) P(w|z),   P(d) = n(d)/N,   P(z) = Σ_d P(d) P(z|d)

with n(d) the number of words of document d and N that of all. (Takamura et al. 2004, equation 11, write the same model
as Σ_z P(z) P(d|z) P(w|z).) Below, θ_dz = P(z|d) and φ_wz = P(w|z). EM raises the log-likelihood of the words given
their documents, Σ_dw n(d,w) log Σ_z θ_dz φ_wz; log P(d) would add a constant. A new document is folded in: EM on its
θ_d with φ fixed, a concave problem.

Tempered EM (Hofmann 1999) takes posteriors to a power β ≤ 1, P(z|d,w) ∝ (θ_dz φ_wz)^β, which makes classes softer.
Its objective, raised by every step, is 1/β Σ_dw n(d,w) log Σ_z (θ_dz φ_wz)^β: the log-likelihood for β = 1.

The posteriors never exist. With s_dw = Σ_z (θ_dz φ_wz)^β, a step multiplies θ_dz^β by Σ_w φ_wz^β n(d,w)/s_dw and
φ_wz^β by Σ_d θ_dz^β n(d,w)/s_dw, and normalizes: two passes over the counts that aren't zero, one by documents, one
by words. Every sum has one fixed order, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numba
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.compiled import compiled
from benchmark.representation import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Smaller probabilities become 0. A word that occurs has s > 1/(K² n(d) N) after a step: no sum sees the difference.
_NEGLIGIBLE = 1e-30

_COUNTS = "i8[::1], i4[::1], f8[::1]"


# Rows are never taken as arrays of their own in inner loops: counting references to them costs more than the sums.
@compiled("f8(f8[:, ::1], i8, f8[:, ::1], i8)")
def _row_product(a: Array, i: int, b: Array, j: int) -> float:
    s = 0.0
    for z in range(a.shape[1]):
        s += a[i, z] * b[j, z]
    return s


@compiled(f"void(f8[::1], f8[:, ::1], f8[:, ::1], {_COUNTS}, f8[:, ::1])", parallel=True)
def _pass_over_documents(
    ratio: Array,
    theta: Array,
    phi: Array,
    start: NDArray[np.int64],
    word: NDArray[np.int32],
    count: Array,
    gradient: Array,
) -> None:
    """Fill ``ratio`` with n/s and ``gradient[d, z]`` with Σ_w φ_wz n/s."""
    for d in numba.prange(theta.shape[0]):
        for z in range(theta.shape[1]):
            gradient[d, z] = 0.0
        for p in range(start[d], start[d + 1]):
            w = word[p]
            s = _row_product(theta, d, phi, w)
            r = count[p] / s if s > 0.0 else np.inf
            ratio[p] = r
            for z in range(theta.shape[1]):
                gradient[d, z] += r * phi[w, z]


@compiled("void(f8[:, ::1], f8[:, ::1], i8[::1], i4[::1], i8[::1], f8[::1])", parallel=True)
def _pass_over_words(
    gradient: Array,
    theta: Array,
    start: NDArray[np.int64],
    document: NDArray[np.int32],
    place: NDArray[np.int64],
    ratio: Array,
) -> None:
    """Fill ``gradient[w, z]`` with Σ_d θ_dz n/s; ``place`` is where a posting stands in the documents' order."""
    for w in numba.prange(gradient.shape[0]):
        for z in range(gradient.shape[1]):
            gradient[w, z] = 0.0
        for q in range(start[w], start[w + 1]):
            d, r = document[q], ratio[place[q]]
            for z in range(gradient.shape[1]):
                gradient[w, z] += r * theta[d, z]


@compiled("void(f8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i4[::1])", parallel=True)
def _fill_products(s: Array, theta: Array, phi: Array, start: NDArray[np.int64], word: NDArray[np.int32]) -> None:
    for d in numba.prange(theta.shape[0]):
        for p in range(start[d], start[d + 1]):
            s[p] = _row_product(theta, d, phi, word[p])


@compiled(f"f8(f8[::1], f8[::1], f8[::1], f8[:, ::1], {_COUNTS}, i8, f8)")
def _slopes(
    slope: Array,
    powers: Array,
    theta: Array,
    phi: Array,
    start: NDArray[np.int64],
    word: NDArray[np.int32],
    count: Array,
    d: int,
    beta: float,
) -> float:
    """Fill ``slope`` with ∂f/∂θ_z and ``powers`` with θ^β; the largest slope. ``phi`` holds φ^β."""
    length = 0.0
    for p in range(start[d], start[d + 1]):
        length += count[p]
    for z in range(theta.shape[0]):
        powers[z] = theta[z] if beta == 1.0 else theta[z] ** beta
        slope[z] = 0.0
    for p in range(start[d], start[d + 1]):
        w = word[p]
        s = 0.0
        for z in range(theta.shape[0]):
            s += powers[z] * phi[w, z]
        # Without the one class that knows a word the slope towards it is beyond measure.
        r = count[p] / (length * s) if s > 0.0 else 1e300
        for z in range(theta.shape[0]):
            slope[z] += r * phi[w, z]
    largest = 0.0
    for z in range(theta.shape[0]):
        if beta != 1.0:
            # The factor θ^(β-1). A class at 0 has a share too small for the sums, whatever its slope.
            slope[z] = slope[z] * powers[z] / theta[z] if theta[z] > 0.0 else 0.0
        largest = max(largest, slope[z])
    return largest


@compiled(f"void(f8[:, ::1], i8[::1], f8[::1], f8[:, ::1], {_COUNTS}, f8, f8, i8)", parallel=True)
def _fold_in(
    theta: Array,
    steps: NDArray[np.int64],
    gap: Array,
    phi: Array,
    start: NDArray[np.int64],
    word: NDArray[np.int32],
    count: Array,
    beta: float,
    tolerance: float,
    max_iterations: int,
) -> None:
    """EM on each row of ``theta`` by itself, from where it is; ``phi`` holds φ^β."""
    k = theta.shape[1]
    # With β < 1 no class is 0 at the optimum.
    dispensable = tolerance if beta == 1.0 else 0.0
    for d in numba.prange(theta.shape[0]):
        own, slope, powers, fewer = theta[d].copy(), np.empty(k), np.empty(k), np.empty(k)
        for step in range(max_iterations + 1):
            steps[d] = step
            gap[d] = _slopes(slope, powers, own, phi, start, word, count, d, beta) - 1.0
            if gap[d] <= tolerance:
                # EM only nears 0. Classes on their way there are dropped at once, if the bound holds without them.
                fewer[:] = np.where((own < dispensable) & (slope < 1.0 - tolerance), 0.0, own)
                fewer /= fewer.sum()
                fewer_gap = _slopes(np.empty(k), powers, fewer, phi, start, word, count, d, beta) - 1.0
                if fewer_gap <= tolerance:
                    own[:] = fewer
                    gap[d] = fewer_gap
                    break
            if step < max_iterations:
                own *= slope
                own[:] = np.where(own < _NEGLIGIBLE, 0.0, own)
                # The sum is 1 but for rounding.
                own /= own.sum()
        theta[d] = own


@dataclass(frozen=True, eq=False)
class Mixtures:
    """The parameters that EM learns.

    Parameters
    ----------
    theta : float64 array, shape (n, K)
        P(z|d), rows sum to 1.
    phi : float64 array, shape (V, K)
        P(w|z), columns sum to 1; a word that never occurred has zeros.
    """

    theta: Array
    phi: Array


@dataclass(frozen=True, eq=False)
class Ascent:
    """What one run of EM came to.

    Parameters
    ----------
    mixtures : Mixtures
    trace : float64 array, shape (steps + 1,)
        The objective per word, in nats, before the first step and after each.
    converged : bool
        False where `max_iterations` ended it.
    """

    mixtures: Mixtures
    trace: Array
    converged: bool


def random_start(counts: sp.csr_array, n_classes: int, rng: np.random.Generator) -> Mixtures:
    """θ uniform; φ the words' frequencies times exponential noise, so that documents in another order start alike."""
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    phi = frequency[:, None] * (rng.standard_exponential((counts.shape[1], n_classes)) + _NEGLIGIBLE)
    return Mixtures(np.full((counts.shape[0], n_classes), 1 / n_classes), phi / phi.sum(axis=0))


def expectation_maximization(
    counts: sp.csr_array, start: Mixtures, tolerance: float, max_iterations: int, temper: float = 1.0
) -> Ascent:
    """EM on the parameters from a given start, until a step gains at most `tolerance` nats per word.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        No zeros or negative numbers stored; at least one word.
    start : Mixtures
        A probability that is 0 stays 0.
    tolerance : float
    max_iterations : int
    temper : float
        β in (0, 1].
    """
    rows = _parts(counts)
    # A matrix of places, turned round, tells where each posting stands in the rows' order.
    places = sp.csr_array((np.arange(counts.nnz), counts.indices, counts.indptr), shape=counts.shape).tocsc()
    postings = places.indptr.astype(np.int64), places.indices.astype(np.int32), places.data.astype(np.int64)
    length = np.asarray(counts.sum(axis=1))
    divisor = np.where(length > 0, length, 1.0)[:, None]
    total = length.sum()

    theta, phi = start.theta.copy(), start.phi.copy()
    upwards, sideways, ratio = np.empty_like(theta), np.empty_like(phi), np.empty(counts.nnz)
    entropy = (counts.data * np.log(counts.data)).sum()
    trace: list[float] = []
    while True:
        tempered_theta, tempered_phi = _power(theta, temper), _power(phi, temper)
        _pass_over_documents(ratio, tempered_theta, tempered_phi, *rows, upwards)
        # Σ n log s: numpy's logarithm of an array takes a tenth of the time of one by one.
        objective = float((entropy - (counts.data * np.log(ratio)).sum()) / (total * temper))
        if not np.isfinite(objective):
            msg = "a word has lost its probability: the counts are too different for floating point"
            raise FloatingPointError(msg)
        trace.append(objective)
        converged = len(trace) > 1 and trace[-1] - trace[-2] <= tolerance
        if converged or len(trace) > max_iterations:
            return Ascent(Mixtures(theta, phi), np.array(trace), converged)
        _pass_over_words(sideways, tempered_theta, *postings, ratio)
        upwards *= tempered_theta
        upwards /= divisor
        sideways *= tempered_phi
        mass = sideways.sum(axis=0)
        sideways /= np.where(mass > 0, mass, 1.0)
        # A document without words keeps its θ, a class without documents its φ: any value is as likely.
        theta = np.where(length[:, None] > 0, _without_negligible(upwards), theta)
        phi = np.where(mass > 0, _without_negligible(sideways), phi)


@dataclass(frozen=True, eq=False)
class Folded:
    """Documents that were folded in.

    Parameters
    ----------
    theta : float64 array, shape (n, K)
    steps : int64 array, shape (n,)
        Of EM, for each document.
    gap : float64 array, shape (n,)
        A bound on how far each document's objective lies below the optimum, in nats per word.
    """

    theta: Array
    steps: NDArray[np.int64]
    gap: Array


def fold_in(
    counts: sp.csr_array, phi: Array, otherwise: Array, tolerance: float, max_iterations: int, temper: float = 1.0
) -> Folded:
    """P(z|d) of each document with P(w|z) fixed, by EM from the uniform distribution (Hofmann 1999, section 3.2).

    The objective f(θ) is concave, so f(θ*) - f(θ) ≤ ∇f(θ)·(θ* - θ) ≤ max_z ∂f/∂θ_z - 1: θ·∇f = 1 everywhere. A
    document stops when this gap is at most `tolerance`; the documents don't know of each other.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
    phi : float64 array, shape (V, K)
        Words whose row is 0 are ignored.
    otherwise : float64 array, shape (K,)
        What a document without (known) words gets: P(z).
    tolerance : float
        Nats per word.
    max_iterations : int
    temper : float
        β in (0, 1].
    """
    known = known_words(counts, phi)
    n, k = counts.shape[0], phi.shape[1]
    folded = Folded(np.full((n, k), 1 / k), np.zeros(n, dtype=np.int64), np.zeros(n))
    _fold_in(
        folded.theta,
        folded.steps,
        folded.gap,
        _power(phi, temper),
        *_parts(known),
        temper,
        tolerance,
        max_iterations,
    )
    empty = np.diff(known.indptr) == 0
    folded.theta[empty] = otherwise
    folded.gap[empty] = 0.0
    return folded


def known_words(counts: sp.csr_array, phi: Array) -> sp.csr_array:
    """The counts without the words that have no probability in any class."""
    known = np.asarray((phi > 0).any(axis=1))[counts.indices]
    if known.all():
        return counts
    rest = counts.copy()
    rest.data = rest.data * known
    rest.eliminate_zeros()
    return rest


def word_probabilities(counts: sp.csr_array, theta: Array, phi: Array) -> Array:
    """P(w|d) = Σ_z θ_dz φ_wz of the words that occur, shape (nnz,), in the order of the counts.

    Raises
    ------
    FloatingPointError
        If one is 0.
    """
    s = np.empty(counts.nnz)
    _fill_products(s, theta, phi, *_parts(counts)[:2])
    if not (s > 0).all():
        msg = "a word that occurs has the probability 0"
        raise FloatingPointError(msg)
    return s


def check_counts(X: Any) -> sp.csr_array:
    """Counts as canonical CSR of float64 without stored zeros; ValueError if one is negative or not finite."""
    counts = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
    if counts.nnz and counts.data.min() < 0:
        msg = f"counts can't be negative, but one is {counts.data.min()}"
        raise ValueError(msg)
    if not counts.data.all():
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


class PLSI(TransformerMixin, BaseEstimator):
    """PLSI as a transformer: counts of words to the distributions P(z|d).

    `fit` runs EM from seeded random starts and keeps the likeliest model. EM's own P(z|d) of the training documents
    then gives way to that of folding them in: a training document and a new one with the same words have the same
    P(z|d), to the last bit, and ``fit(X).transform(X)`` is ``fit_transform(X)``.

    A document without words that the training documents have gets P(z|d) = P(z); other unknown words are ignored.

    Parameters
    ----------
    n_classes : int
        K.
    tolerance : float
        EM ends when a step gains at most this, in nats per word. On Reuters-21578 (1000 and 4000 documents,
        one draw each) a tenth of the default changed the macro-averaged F of SVMs on the Fisher kernel by up to 0.006,
        other random starts by up to 0.016.
    max_iterations : int
        Or after so many steps; `converged_` then is False.
    restarts : int
        Random starts, at least one.
    seed : int
        Start r is drawn by ``default_rng([seed, n_classes, r])``.
    temper : float
        β in (0, 1]; 1 is plain EM.
    fold_tolerance : float
        How far below its optimum a document that is folded in may stay, in nats per word.
    fold_iterations : int
        Or how many steps it may take.

    Attributes
    ----------
    word_given_class_ : float64 array, shape (V, K)
    class_given_document_ : float64 array, shape (n, K)
    class_ : float64 array, shape (K,)
        P(z).
    trace_ : float64 array, shape (steps + 1,)
        The objective per word at each step of the kept run; it never falls.
    converged_ : bool
        Of the kept run.
    restart_objectives_ : float64 array, shape (restarts,)
        Where each run ended.
    log_likelihood_ : float
        Σ n(d,w) log P(w|d) / N of the training documents, in nats per word.
    n_features_in_ : int

    Examples
    --------
    >>> counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    >>> model = PLSI(n_classes=2).fit(counts)
    >>> model.word_given_class_[:, np.argsort(model.word_given_class_[0])].round(3)
    array([[0. , 0.5],
           [0. , 0.5],
           [0.7, 0. ],
           [0.3, 0. ]])
    >>> model.transform([[0, 0, 3, 3], [2, 0, 2, 0]]).max(axis=1).round(3)
    array([1. , 0.5])
    """

    def __init__(
        self,
        n_classes: int = 10,
        tolerance: float = 1e-4,
        max_iterations: int = 2000,
        restarts: int = 1,
        seed: int = 0,
        temper: float = 1.0,
        fold_tolerance: float = 1e-4,
        fold_iterations: int = 10_000,
    ) -> None:
        self.n_classes = n_classes
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.restarts = restarts
        self.seed = seed
        self.temper = temper
        self.fold_tolerance = fold_tolerance
        self.fold_iterations = fold_iterations

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        for name, least in (
            ("n_classes", 1),
            ("max_iterations", 0),
            ("restarts", 1),
            ("seed", 0),
            ("fold_iterations", 0),
        ):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= least):
                msg = f"{name} must be a whole number of at least {least}, not {value!r}"
                raise ValueError(msg)
        for name in ("tolerance", "fold_tolerance"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                msg = f"{name} must be a finite number that isn't negative, not {value!r}"
                raise ValueError(msg)
        if not 0 < self.temper <= 1:
            msg = f"temper must be above 0 and at most 1, not {self.temper!r}"
            raise ValueError(msg)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn the classes of the counts X, dense or sparse, shape (n, V).

        Raises
        ------
        ValueError
            If a parameter is out of range, a count negative or not finite, or no document has a word.
        """
        self.check()
        counts = check_counts(X)
        if counts.nnz == 0:
            msg = "no document has a word: there is nothing to learn from"
            raise ValueError(msg)
        runs = [self._run(counts, restart) for restart in range(self.restarts)]
        best = max(runs, key=lambda run: run.trace[-1])
        self.n_features_in_ = counts.shape[1]
        self.trace_, self.converged_, self.restart_objectives_ = (
            best.trace,
            best.converged,
            np.array([run.trace[-1] for run in runs]),
        )
        self.word_given_class_ = best.mixtures.phi
        length = np.asarray(counts.sum(axis=1))
        folded = self._fold(counts, np.zeros(self.n_classes))
        self.class_: Array = length @ folded.theta / length.sum()
        folded.theta[length == 0] = self.class_
        self.class_given_document_ = folded.theta
        self.log_likelihood_ = self._likelihood(counts, folded.theta)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # noqa: ARG002
        """Learn, and give P(z|d) of the same documents, shape (n, K)."""
        return self.fit(X).class_given_document_

    def transform(self, X: Any) -> Array:
        """P(z|d) of the documents X, shape (m, V), folded in: shape (m, K)."""
        return self.fold(X).theta

    def fold(self, X: Any) -> Folded:
        """The same with the number of steps and the gap of each document."""
        check_is_fitted(self, "class_")
        return self._fold(self._validated(X), self.class_)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Σ n(d,w) log P(w|d) / Σ n(d,w) over the words known from training, in nats per word.

        Raises
        ------
        ValueError
            If the documents have none.
        """
        check_is_fitted(self, "class_")
        counts = self._validated(X)
        return self._likelihood(counts, self._fold(counts, self.class_).theta)

    def _run(self, counts: sp.csr_array, restart: int) -> Ascent:
        rng = np.random.default_rng([self.seed, self.n_classes, restart])
        start = random_start(counts, self.n_classes, rng)
        return expectation_maximization(counts, start, self.tolerance, self.max_iterations, self.temper)

    def _fold(self, counts: sp.csr_array, otherwise: Array) -> Folded:
        return fold_in(
            counts, self.word_given_class_, otherwise, self.fold_tolerance, self.fold_iterations, self.temper
        )

    def _likelihood(self, counts: sp.csr_array, theta: Array) -> float:
        known = known_words(counts, self.word_given_class_)
        if known.nnz == 0:
            msg = "the documents have no word that is known from training"
            raise ValueError(msg)
        return float(
            (known.data * np.log(word_probabilities(known, theta, self.word_given_class_))).sum() / known.data.sum()
        )

    def _validated(self, X: Any) -> sp.csr_array:
        counts = check_counts(X)
        if counts.shape[1] != self.n_features_in_:
            msg = f"X has {counts.shape[1]} words, but the model was fitted on {self.n_features_in_}"
            raise ValueError(msg)
        return counts


def _power(probabilities: Array, temper: float) -> Array:
    return probabilities if temper == 1.0 else probabilities**temper


def _without_negligible(probabilities: Array) -> Array:
    return np.where(probabilities >= _NEGLIGIBLE, probabilities, 0.0)


def _parts(counts: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32), np.ascontiguousarray(counts.data)
