"""The Fisher kernel of PLSI (Hofmann 2000; Takamura et al. 2004, section 4 and appendix A).

    K(d,d') = Σ_k P(z_k|d) P(z_k|d') / P(z_k) + Σ_j P̂(w_j|d) P̂(w_j|d') Σ_k P(z_k|d,w_j) P(z_k|d',w_j) / P(w_j|z_k)

It is the inner product of derivatives of l(d) = Σ_j P̂(w_j|d) log Σ_k P(w_j|z_k) P(z_k|d), P̂ the relative frequencies
in d, by ρ_jk = 2 P(w_j|z_k)^½ and ρ_k = 2 P(z_k)^½ (equations 12-15). In these parameters, which stabilize the
variance, a multinomial's Fisher information is near the identity, and is taken to be it:

    ∂l/∂ρ_jk = P̂(w_j|d) P(z_k|d,w_j) / P(w_j|z_k)^½,   ∂l/∂ρ_k ≈ P(z_k|d) / P(z_k)^½.

The latter is exact for the joint log P(d, w), with P(z|d) = P(z) P(d|z) / P(d), where EM has converged: then
Σ_j P̂(w_j|d) P(z_k|d,w_j) = P(z_k|d). Neither sees that probabilities sum to 1.

With P(z_k|d,w_j) = P(z_k|d) P(w_j|z_k) / P(w_j|d) a derivative is P̂(w_j|d) P(z_k|d) P(w_j|z_k)^½ / P(w_j|d): nothing is
divided by P(w_j|z_k), and where that is 0, so is the derivative. A document has few classes, so the derivatives are
written out as sparse vectors of K(V + 1) coordinates, and kernels for several K are added by setting theirs side by
side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.compiled import compiled, prange
from benchmark.kernels.models.plsi import PLSI, Fitted, check_counts
from benchmark.kernels.models.plsi_em import word_probabilities
from benchmark.kernels.models.plsi_fold import csr_parts, known_words
from benchmark.kernels.products import inner_products
from benchmark.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


_WORDS = "i8[::1], i4[::1]"
_NOTE = (
    "plsi-fisher sees the counts, whatever the weighting; its models are fitted to a split's training documents "
    "alone, and its test documents are folded in."
)


@compiled(f"void(i8[::1], f8[:, ::1], f8[:, ::1], {_WORDS})", parallel=True)
def _count_scores(sizes: I8, theta: Array, root: Array, start: I8, word: I4) -> None:
    """Add to the sizes how many numbers `_fill_scores` writes."""
    for d in prange(theta.shape[0]):
        size = 0
        for k in range(theta.shape[1]):
            if theta[d, k] > 0.0:
                size += 1
                for p in range(start[d], start[d + 1]):
                    if root[word[p], k] > 0.0:
                        size += 1
        sizes[d] += size


@compiled(f"void(i4[::1], f8[::1], i8[::1], i8, f8[:, ::1], f8[:, ::1], f8[::1], {_WORDS}, f8[::1])", parallel=True)
def _fill_scores(
    column: I4,
    value: Array,
    place: I8,
    first: int,
    theta: Array,
    root: Array,
    weight: Array,
    start: I8,
    word: I4,
    ratio: Array,
) -> None:
    """Write a document's numbers from its `place` on, which then is behind them.

    From column `first` on class k has k(V + 1) … k(V + 1) + V - 1 for the words, and the next for itself.
    """
    width = root.shape[0] + 1
    for d in prange(theta.shape[0]):
        at = place[d]
        for k in range(theta.shape[1]):
            share, left = theta[d, k], first + k * width
            if share > 0.0:
                for p in range(start[d], start[d + 1]):
                    if root[word[p], k] > 0.0:
                        column[at] = left + word[p]
                        value[at] = ratio[p] * share * root[word[p], k]
                        at += 1
                column[at] = left + width - 1
                value[at] = share * weight[k]
                at += 1
        place[d] = at


def fisher_scores(counts: sp.csr_array, *mixtures: tuple[Array, Array, Array]) -> sp.csr_array:
    """The derivatives (14) and (15) of some mixtures side by side, as canonical CSR array of shape (n, Σ K (V + 1)).

    Those of a mixture stand class by class, words first. A class without documents, P(z_k) = 0, has no derivative by
    P(z_k): the training documents have none of it, so that no kernel value is changed.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        Words whose row of `phi` is 0 are ignored: they don't count in P̂ either.
    mixtures : tuples of float64 arrays
        Theta, shape (n, K): P(z|d), where zeros save their columns; phi, shape (V, K): P(w|z); and P(z), shape (K,).

    Raises
    ------
    FloatingPointError
        If a word that occurs has the probability 0 in its document.
    ValueError
        If Σ K (V + 1) is beyond 32 bits.
    """
    n, V = counts.shape
    firsts = np.cumsum([0, *(len(classes) * (V + 1) for _, _, classes in mixtures)]).tolist()
    if firsts[-1] > np.iinfo(np.int32).max:
        k = sum(len(classes) for _, _, classes in mixtures)
        raise ValueError(f"{k} classes of {V} words have too many coordinates")
    row = np.zeros(n + 1, dtype=np.int64)
    parts = [_parts_of_scores(counts, *mixture) for mixture in mixtures]
    for theta, root, _, start, word, _ in parts:
        _count_scores(row[1:], theta, root, start, word)
    np.cumsum(row, out=row)
    column, value, place = np.empty(row[-1], dtype=np.int32), np.empty(row[-1]), row[:-1].copy()
    for first, part in zip(firsts, parts, strict=False):
        _fill_scores(column, value, place, first, *part)
    small = row.astype(np.int32) if len(value) <= np.iinfo(np.int32).max else row  # else the columns get wide, too
    scores = sp.csr_array((value, column, small), shape=(n, firsts[-1]))
    scores.has_canonical_format = True
    return scores


def _parts_of_scores(
    counts: sp.csr_array, theta: Array, phi: Array, classes: Array
) -> tuple[Array, Array, Array, I8, I4, Array]:
    """What a mixture's derivatives are products of: θ, φ^½, P(z)^-½, starts of documents, words, and P̂/P(w|d)."""
    known = known_words(counts, phi)
    start, word, count = csr_parts(known)
    length = np.asarray(known.sum(axis=1))
    ratio = count / word_probabilities(known, theta, phi) / np.repeat(length, np.diff(start))
    weight = np.divide(1.0, np.sqrt(classes), out=np.zeros(len(classes)), where=classes > 0)
    return np.ascontiguousarray(theta), np.ascontiguousarray(np.sqrt(phi)), weight, start, word, ratio


class PLSIFisher(TransformerMixin, BaseEstimator):
    """The Fisher kernel of PLSI as a transformer of counts; the sum of the kernels of several numbers of classes.

    New documents are folded in, each by itself. A document without known words has P(z|d) = P(z) and no P̂: its kernel
    with any other is the first sum, which is 1 for each number of classes.

    Parameters
    ----------
    n_classes : sequence of int
        A PLSI model is fitted for each.
    tolerance, max_iterations, restarts, seed, temper, fold_tolerance, fold_iterations
        As of `PLSI`. Posteriors are tempered while fitting only, not in the kernel.

    Attributes
    ----------
    models_ : tuple of Fitted
    scores_ : CSR array, shape (n, Σ K (V + 1))
        The derivatives at the training documents.
    n_features_in_ : int

    Examples
    --------
    >>> counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    >>> PLSIFisher(n_classes=(1, 2)).fit(counts).transform(counts).round(1)
    array([[6.3, 5.5, 1. , 1. ],
           [5.5, 6.7, 1. , 1. ],
           [1. , 1. , 6.3, 5.6],
           [1. , 1. , 5.6, 6.6]])
    """

    tags: ClassVar[Tags] = Tags(
        normalization="none", sees_counts=True, set_by_run=("seed",), solved_by="scores", note=_NOTE
    )

    def __init__(
        self,
        n_classes: Sequence[int] = (10, 20, 30),
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
        list(self.models)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Fit the models to the counts X, dense or sparse, shape (n, V).

        Raises
        ------
        ValueError
            If a parameter is out of range, a count negative or not finite, or no document has a word.
        """
        models = self.models
        counts = check_counts(X)
        return self.take(counts, [model.fit(counts) for model in models])

    def take(self, X: Any, models: Sequence[Fitted]) -> Self:
        """Take over models that were fitted to the counts X before, one for each number of classes."""
        counts = check_counts(X)
        self.n_features_in_ = counts.shape[1]
        self.models_: tuple[Fitted, ...] = tuple(models)
        self.scores_ = self._side_by_side(counts, [model.class_given_document for model in self.models_])
        return self

    def fold(self, X: Any) -> list[Array]:
        """Return P(z|d) of new documents X, shape (m, V), under each model: shapes (m, K)."""
        check_is_fitted(self, "scores_")
        counts = check_counts(X)
        if counts.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {counts.shape[1]} words, but the kernel was fitted on {self.n_features_in_}")
        return [model.fold(counts) for model in self.models_]

    def scores(self, X: Any, folded: Sequence[Array] | None = None) -> sp.csr_array:
        """Return the derivatives at new documents, shape (m, Σ K (V + 1)); kernels are their inner products.

        Parameters
        ----------
        X : counts, dense or sparse, shape (m, V)
        folded : sequence of float64 arrays, shapes (m, K)
            As `fold` gives them, which is asked for them unless they are given.
        """
        return self._side_by_side(check_counts(X), self.fold(X) if folded is None else folded)

    def transform(self, X: Any) -> Array:
        """Kernel values between X, shape (m, V), and the training documents: shape (m, n)."""
        return inner_products(self.scores(X), self.scores_)

    @property
    def models(self) -> list[PLSI]:
        """How each model is fitted; ValueError where a parameter is out of range."""
        if not len(self.n_classes):
            raise ValueError("n_classes names no number of classes")
        shared = {name: value for name, value in self.get_params().items() if name != "n_classes"}
        return [PLSI(n_classes=k, **shared) for k in self.n_classes]

    def _side_by_side(self, counts: sp.csr_array, thetas: Sequence[Array]) -> sp.csr_array:
        mixtures = (
            (theta, model.word_given_class, model.classes) for model, theta in zip(self.models_, thetas, strict=True)
        )
        return fisher_scores(counts, *mixtures)
