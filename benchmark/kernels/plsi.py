"""Probabilistic latent semantic indexing (PLSI, Hofmann 1999): mixtures of latent classes fitted to word counts.

    P(d, w) = P(d) Σ_z P(z|d) P(w|z),   P(d) = n(d)/N,   P(z) = Σ_d P(d) P(z|d)

with n(d) the number of words of document d and N that of all documents. (Takamura et al. 2004, equation 11, write the
same model as Σ_z P(z) P(d|z) P(w|z).) EM learns both factors from the training documents. New documents are folded in.

Expectation maximization
------------------------
With θ_dz = P(z|d) and φ_wz = P(w|z), EM raises the log-likelihood of the words given their documents,
Σ_dw n(d,w) log Σ_z θ_dz φ_wz; log P(d) would add a constant.

The posteriors are never stored. With s_dw = Σ_z θ_dz φ_wz, a step multiplies θ_dz by Σ_w φ_wz n(d,w)/s_dw and φ_wz by
Σ_d θ_dz n(d,w)/s_dw, and normalizes: two passes over the nonzero counts, one by documents and one by words.
Every sum has one fixed order, whatever the number of threads.

Folding in
----------
Each document is an independent concave problem, solved by EM on θ_d with φ fixed (Hofmann 1999, section 3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array

from benchmark.kernels.plsi_passes import (
    NEGLIGIBLE,
    fill_products,
    fold_rows,
    pass_over_documents,
    pass_over_words,
)
from benchmark.kernels.products import csr_parts
from benchmark.representation.weighting import canonical_csr
from benchmark.system.checks import NOT_NEGATIVE, Range, check_parameters

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array
    from benchmark.system.checks import Allowed

    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Parameters that EM learns.

    Parameters
    ----------
    theta : float64 array, shape (n, K)
        P(z|d), rows sum to 1.
    phi : float64 array, shape (V, K)
        P(w|z), columns sum to 1; zeros for words that don't occur.
    """

    theta: Array
    phi: Array


def random_start(counts: sp.csr_array, n_classes: int, rng: np.random.Generator) -> Mixtures:
    """Return uniform θ, and word frequencies times exponential noise as φ, independent of the order of documents."""
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    phi = frequency[:, None] * (rng.standard_exponential((counts.shape[1], n_classes)) + NEGLIGIBLE)
    return Mixtures(np.full((counts.shape[0], n_classes), 1 / n_classes), phi / phi.sum(axis=0))


def expectation_maximization(
    counts: sp.csr_array, start: Mixtures, tolerance: float, max_iterations: int
) -> tuple[Mixtures, Array]:
    """Run EM from `start` until a step gains at most `tolerance` nats per word.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        No zeros or negative numbers stored; at least one word.
    start : Mixtures
        A probability that is 0 stays 0.
    tolerance : float
    max_iterations : int

    Returns
    -------
    mixtures : Mixtures
    objectives : float64 array, shape (steps + 1,)
        Objective per word, in nats, before the first step and after each.

    Raises
    ------
    FloatingPointError
        If the probability of a word that occurs underflows to 0.
    """
    from numba import get_num_threads  # noqa: PLC0415 - importing numba takes half a second

    rows = csr_parts(counts)
    cuts, bounds = _blocks_of_words(counts, get_num_threads())
    length = np.asarray(counts.sum(axis=1), dtype=np.float64)
    total = length.sum()

    theta, phi = start.theta.copy(), start.phi.copy()
    upwards, sideways = np.empty_like(theta), np.empty_like(phi)
    ratio, logarithms = np.empty((2, counts.nnz))
    entropy = (counts.data * np.log(counts.data)).sum()
    trace: list[float] = []
    while True:
        pass_over_documents(ratio, upwards, theta, phi, rows)
        # Σ n log s: numpy's logarithm of an array takes a tenth of the time of a loop.
        np.log(ratio, out=logarithms)
        logarithms *= counts.data
        objective = float((entropy - logarithms.sum()) / total)
        if not np.isfinite(objective):
            raise FloatingPointError("a word's probability underflowed to 0: the sizes of the counts are too different")
        trace.append(objective)
        if len(trace) > max_iterations or (len(trace) > 1 and trace[-1] - trace[-2] <= tolerance):
            return Mixtures(theta, phi), np.array(trace)
        pass_over_words(sideways, theta, cuts, bounds, rows[1], ratio)
        upwards *= theta
        sideways *= phi
        _step(theta, upwards, length[:, None])
        _step(phi, sideways, sideways.sum(axis=0))


def _step(probabilities: Array, shares: Array, sums: Array) -> None:
    """Divide shares by their sums, in place of the probabilities; those with the sum 0 don't change."""
    np.divide(shares, sums, out=probabilities, where=sums > 0)
    probabilities[probabilities < NEGLIGIBLE] = 0.0


def _blocks_of_words(counts: sp.csr_array, blocks: int) -> tuple[I8, I8]:
    """Divide words into blocks with about equally many postings, and find where each begins in every document.

    A block's words are processed document by document, which reads θ and the ratios sequentially. Going word by word
    would read them in random order. The sums have the same order, and bits, for any blocks.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        The words of a document ascend.
    blocks : int
        Number of blocks, at least 1. If there are more blocks than words, some are empty.

    Returns
    -------
    cuts : int64 array, shape (blocks + 1,)
        Block b has the words cuts[b] to cuts[b + 1].
    bounds : int64 array, shape (blocks + 1, n)
        Block b has the postings bounds[b, d] to bounds[b + 1, d] of document d.
    """
    n, V = counts.shape
    before = np.cumsum(np.bincount(counts.indices, minlength=V))
    within = np.searchsorted(before, np.arange(1, blocks) * (counts.nnz / blocks)) + 1
    cuts = np.array([0, *within.clip(max=V), V], dtype=np.int64)
    block = np.searchsorted(cuts, counts.indices, side="right") - 1
    document = np.repeat(np.arange(n), np.diff(counts.indptr))
    sizes = np.bincount(block * n + document, minlength=blocks * n).reshape(blocks, n)
    return cuts, np.vstack([counts.indptr[:-1], counts.indptr[:-1] + np.cumsum(sizes, axis=0)]).astype(np.int64)


def word_probabilities(counts: sp.csr_array, theta: Array, phi: Array) -> Array:
    """Compute P(w|d) = Σ_z θ_dz φ_wz of the words that occur, shape (nnz,), in the order of the counts.

    Raises
    ------
    FloatingPointError
        If a probability is 0.
    """
    s = np.empty(counts.nnz)
    fill_products(s, theta, np.require(phi, requirements=["C", "W"]), csr_parts(counts))
    if not (s > 0).all():
        raise FloatingPointError("a word that occurs has the probability 0")
    return s


def fold_in(
    counts: sp.csr_array, phi: Array, otherwise: Array, tolerance: float, max_iterations: int
) -> tuple[Array, Array]:
    """Fold in documents with P(w|z) fixed and return P(z|d), shape (n, K), and gaps, shape (n,).

    EM starts from the uniform distribution (Hofmann 1999, section 3.2). The gap bounds, in nats per word, how far a
    document's objective lies below the optimum.

    The objective f(θ) is concave and θ·∇f = 1 everywhere, so f(θ*) - f(θ) ≤ ∇f(θ)·(θ* - θ) ≤ max_z ∂f/∂θ_z - 1. EM on a
    document stops when this gap is at most `tolerance`, independently of other documents.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
    phi : float64 array, shape (V, K)
        Words whose row is 0 are ignored.
    otherwise : float64 array, shape (K,)
        P(z|d) of documents without (known) words: P(z).
    tolerance : float
        Nats per word.
    max_iterations : int
    """
    known, phi = known_words(counts, phi), np.require(phi, requirements=["C", "W"])
    n, k = counts.shape[0], phi.shape[1]
    theta, gap = np.full((n, k), 1 / k), np.zeros(n)
    fold_rows(theta, gap, phi, csr_parts(known), tolerance, max_iterations)
    empty = np.diff(known.indptr) == 0
    theta[empty] = otherwise
    gap[empty] = 0.0
    return theta, gap


def known_words(counts: sp.csr_array, phi: Array) -> sp.csr_array:
    """Return the counts without words whose probability is 0 in every class."""
    known = np.asarray((phi > 0).any(axis=1))[counts.indices]
    if known.all():
        return counts
    rest = counts.copy()
    rest.data = rest.data * known
    rest.eliminate_zeros()
    return rest


_ALLOWED: Allowed = {
    "n_classes": Range(1, whole=True),
    "max_iterations": Range(whole=True),
    "seed": Range(whole=True),
    "tolerance": NOT_NEGATIVE,
}
#: Largest gap to the optimum of a document that is folded in, in nats per word, and the largest number of steps.
FOLD_TOLERANCE, FOLD_ITERATIONS = 1e-4, 10_000


def checked_counts(X: Any) -> sp.csr_array:
    """Return counts as canonical float64 CSR without stored zeros; ValueError if one is negative or not finite."""
    counts = canonical_csr(check_array(X, accept_sparse="csr", dtype=np.float64))
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(f"counts can't be negative, but one is {counts.data.min()}")
    if not counts.data.all():
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


@dataclass(frozen=True)
class PLSI:
    """Parameters for fitting a PLSI model.

    `fit` runs EM from a seeded random start. The P(z|d) of the training documents from EM is then replaced by that of
    folding them in: a training document and a new one with the same words have the same P(z|d), to the last bit.

    Parameters
    ----------
    n_classes : int
        K, the number of latent classes.
    tolerance : float
        EM stops when a step gains at most this, in nats per word. On Reuters-21578 (1000 and 4000 documents,
        one replicate each) a tenth of the default changed the macro-averaged F of SVMs on the Fisher kernel by up to
        0.006, other random starts by up to 0.016.
    max_iterations : int
        Largest number of EM steps.
    seed : int
        The start is drawn by ``default_rng([seed, n_classes, 0])``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    >>> model = PLSI(n_classes=2).fit(counts)
    >>> model.word_given_class[:, np.argsort(model.word_given_class[0])].round(3)
    array([[0. , 0.5],
           [0. , 0.5],
           [0.7, 0. ],
           [0.3, 0. ]])
    >>> model.fold([[0, 0, 3, 3], [2, 0, 2, 0]]).max(axis=1).round(3)
    array([1. , 0.5])
    """

    n_classes: int = 10
    tolerance: float = 1e-4
    max_iterations: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_parameters(self, _ALLOWED)

    def fit(self, X: Any) -> FittedPLSI:
        """Fit the model to the counts X, dense or sparse, shape (n, V).

        Raises
        ------
        ValueError
            If a count is negative or not finite, or no document has a word.
        """
        counts = checked_counts(X)
        if counts.nnz == 0:
            raise ValueError("no document has a word: there is nothing to learn from")
        start = random_start(counts, self.n_classes, np.random.default_rng([self.seed, self.n_classes, 0]))
        mixtures, _ = expectation_maximization(counts, start, self.tolerance, self.max_iterations)
        phi, length = mixtures.phi, np.asarray(counts.sum(axis=1))
        theta, _ = fold_in(counts, phi, np.zeros(self.n_classes), FOLD_TOLERANCE, FOLD_ITERATIONS)
        classes: Array = length @ theta / length.sum()
        theta[length == 0] = classes
        return FittedPLSI(phi, theta, classes)


@dataclass(frozen=True, eq=False)
class FittedPLSI:
    """PLSI model fitted to training documents.

    Parameters
    ----------
    word_given_class : float64 array, shape (V, K)
        P(w|z); zeros for words that no training document has.
    class_given_document : float64 array, shape (n, K)
        P(z|d) of the training documents.
    classes : float64 array, shape (K,)
        P(z).
    """

    word_given_class: Array
    class_given_document: Array
    classes: Array

    def fold(self, X: Any) -> Array:
        """Fold in the documents X, shape (m, V), and return P(z|d), shape (m, K).

        Words that no training document has are ignored. A document of such words only gets P(z).
        """
        return fold_in(checked_counts(X), self.word_given_class, self.classes, FOLD_TOLERANCE, FOLD_ITERATIONS)[0]
