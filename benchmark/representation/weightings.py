"""Term weightings: a weight from the document times a factor from the training documents, for each term."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import (
    canonical_csr,
    document_frequency,
    inverse_document_frequency,
    normalize_blocks,
    weight_terms,
)
from benchmark.system.checks import FRACTION, Range
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Bools


#: Values of `Weighting.learns` beside "": what the factors are learned from.
FROM_DOCUMENTS, FROM_LABELS = "documents", "labels"


class Weighting(TransformerMixin, MatrixEstimator, ABC):
    """`local` weights of a document's terms, times factors of terms that `fit` learns, as a scikit-learn transformer.

    If terms form several blocks (fields of the text, or words and bigrams), `of_blocks` makes each block a separate
    multinomial: a document is then a point in a product of simplices, its blocks are weighted and concatenated, and
    inner products of points are sums over blocks.

    Attributes
    ----------
    factors_ : float64 array, shape (V,), or None
        Factor of each term; None if the weighting has none. Terms that no training document has get the factor 0.
    mean_length_ : float64 array, shape ()
        Mean length of the training documents, in tokens.
    n_features_in_ : int
        V, the size of the vocabulary.
    block_of_ : int array, shape (V,), or None
    block_weights_ : float64 array, shape (n_blocks,), or None
    block_norm_ : str array, shape (), or None
        The arguments of `of_blocks`.
    """

    non_negative: ClassVar[bool] = True
    block_of_: NDArray[np.integer] | None = None
    block_weights_: Array | None = None
    block_norm_: NDArray[np.str_] | None = None

    @property
    def learns(self) -> str:
        """Source of the factors: "" (no factors), "documents", or "labels" (documents with labels)."""
        return FROM_DOCUMENTS

    def local(self, counts: sp.csr_array) -> Array:
        """Compute the weight of each stored count within its document; by default the count itself.

        Parameters
        ----------
        counts : CSR array, shape (n, V)
            Term counts; stored counts are positive.

        Returns
        -------
        float64 array, shape (nnz,)
        """
        return np.asarray(counts.data, dtype=np.float64)

    @abstractmethod
    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array | None:
        """Compute the factors of the terms.

        Parameters
        ----------
        presence : CSR array, shape (n, V)
            Counts of the training documents.
        members : bool array, shape (n, k), or None
            Classes of each document, if the weighting learns from labels.

        Returns
        -------
        float64 array, shape (V,), or None
            None if the weighting has no factors.
        """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the factors of the terms from training documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts.
        y : array, shape (n,) or (n, k), optional
            Labels or boolean memberships; needed by weightings that learn from labels.

        Returns
        -------
        Weighting
            This weighting.

        Raises
        ------
        ValueError
            If a parameter is out of range, a count is negative, or labels are missing.
        """
        self.check()
        counts = self._counts(X, fitting=True)
        members = _memberships(y, counts.shape[0]) if self.learns == FROM_LABELS else None
        self.mean_length_ = np.asarray(counts.sum() / max(1, counts.shape[0]), dtype=np.float64)
        self.factors_ = self.factors(counts, members) if self.learns else None
        if self.factors_ is not None:
            self._check("factors", self.factors_, counts.shape[1:])
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Return the weights of documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)
            Term counts.

        Returns
        -------
        CSR array of float64, shape (m, V)
            Weights of 0 are not stored.

        Raises
        ------
        ValueError
            If X has another number of terms, or a negative count.
        NotFittedError
            If the weighting has not been fitted.
        """
        check_is_fitted(self, "mean_length_")
        counts = self._counts(X, fitting=False)
        local = self.local(counts)
        self._check("local", local, counts.data.shape)
        weights = weight_terms(sp.csr_array((local, counts.indices, counts.indptr), shape=counts.shape), self.factors_)
        if self.block_of_ is None or self.block_weights_ is None:
            return weights
        return normalize_blocks(weights, self.block_of_, self.block_weights_, str(self.block_norm_))

    def of_blocks(self, block_of: NDArray[np.integer], weights: Array, normalization: str) -> Self:
        """Set blocks of terms that `transform` normalizes separately and multiplies by weights.

        Parameters
        ----------
        block_of : int array, shape (V,)
            The block of each term.
        weights : float64 array, shape (n_blocks,)
            Not negative; a block of weight 0 is left out.
        normalization : {"none", "l1", "l2"}

        Returns
        -------
        Weighting
            This weighting.
        """
        self.block_of_, self.block_weights_, self.block_norm_ = block_of, weights, np.asarray(normalization)
        return self

    def _check(self, method: str, values: Any, shape: tuple[int, ...]) -> None:
        """Raise ValueError unless a plug-in's values have a shape, and are finite and not negative."""
        if is_builtin(type(self)):
            return
        found = np.asarray(values)
        if found.shape != shape or found.dtype.kind not in "fiu" or not np.isfinite(found).all() or (found < 0).any():
            problem = f"must return numbers of shape {shape}, finite and not negative"
            raise ValueError(f"`{method}` of {type(self).__name__} {problem}")

    def _counts(self, X: Any, *, fitting: bool) -> sp.csr_array:
        counts = canonical_csr(self.validated(X, fitting=fitting, dtype="numeric"))
        stored_zeros = not counts.data.all()  # a term that is stored as 0 doesn't occur
        if stored_zeros or not is_builtin(type(self)):  # a user's weighting may write over what it gets
            counts = counts.copy()
            counts.eliminate_zeros()
        return counts

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with those of the labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.learns == FROM_LABELS
        tags.target_tags.multi_output = True
        return tags


def _memberships(y: Any, n: int) -> Bools:
    """Convert labels or memberships to boolean memberships, shape (n, k); ValueError for another number of rows."""
    if y is None:  # in scikit-learn's words
        msg = f"the weighting needs the classes of {n} documents: it requires y to be passed, but the target y is None"
        raise ValueError(msg)
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or len(labels) != n:
        raise ValueError(f"the weighting needs the classes of {n} documents, not labels of shape {labels.shape}")
    return labels.astype(bool) if labels.ndim == 2 else np.asarray(labels[:, None] == np.unique(labels))


class TermFrequency(Weighting):
    """Number of occurrences of the term in the document."""

    learns: ClassVar[str] = ""

    def factors(self, presence: sp.csr_array, members: Bools | None) -> None:
        """Return None: the weighting has no factors."""


class Binary(TermFrequency):
    """1 for each term in the document, whatever its count."""

    def local(self, counts: sp.csr_array) -> Array:
        """Return 1 for each stored count."""
        return np.asarray(counts.data != 0, dtype=np.float64)


class TfIdf(Weighting):
    """Term frequency times log(documents / documents with the term) (Zhang et al. 2005, section 4)."""

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:  # noqa: ARG002
        """Compute log(m / df)."""
        return inverse_document_frequency(presence)


class LogTermFrequency(TermFrequency):
    """1 + log of the number of occurrences of the term in the document: SMART's "l", scikit-learn's sublinear_tf."""

    def local(self, counts: sp.csr_array) -> Array:
        """Compute 1 + log(count)."""
        return log_counts(counts)


class LogTfIdf(TfIdf):
    """1 + log of the term frequency, times log(documents / documents with the term): SMART's "lt"."""

    def local(self, counts: sp.csr_array) -> Array:
        """Compute 1 + log(count)."""
        return log_counts(counts)


def log_counts(counts: sp.csr_array) -> Array:
    """Compute 1 + log(count) of each stored count, and 0 below 1/e, which no whole number is."""
    return np.asarray(np.maximum(1 + np.log(counts.data.astype(np.float64)), 0.0))


class LogEntropy(Weighting):
    """log(1 + count) times 1 - H(document|term) / log(documents), which is 0 for evenly spread terms (Dumais 1991)."""

    def local(self, counts: sp.csr_array) -> Array:
        """Compute log(1 + count)."""
        return np.asarray(np.log1p(counts.data.astype(np.float64)))

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:  # noqa: ARG002
        """Compute 1 + Σ p log p / log n, where p is a document's share of the term's occurrences."""
        n, size = presence.shape
        total = np.bincount(presence.indices, presence.data, minlength=size)
        share = presence.data / total[presence.indices]
        spread = np.bincount(presence.indices, share * np.log(share), minlength=size)
        return np.where(total > 0, np.maximum(1 + spread / np.log(max(n, 2)), 0.0), 0.0)


class Bm25(Weighting):
    """Okapi BM25: saturating counts, discounted in long documents, times log(1 + (n - df + ½) / (df + ½)).

    (Robertson & Zaragoza 2009, with the variant of idf that can't be negative.)

    Parameters
    ----------
    k1 : float
        Scale at which counts saturate, from 0.001 to 1,000.
    b : float
        Influence of the document's length, from 0 to 1.
    """

    allowed: ClassVar = {"k1": Range(1e-3, 1e3), "b": FRACTION}

    def __init__(self, k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b

    def local(self, counts: sp.csr_array) -> Array:
        """Compute count (k1 + 1) / (count + k1 (1 - b + b length / mean length))."""
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        relative = lengths / self.mean_length_ if self.mean_length_ else lengths
        slow = np.repeat(self.k1 * (1 - self.b + self.b * relative), np.diff(counts.indptr))
        return np.asarray(counts.data * (self.k1 + 1) / (counts.data + slow))

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:  # noqa: ARG002
        """Compute log(1 + (n - df + ½) / (df + ½))."""
        df = document_frequency(presence)
        return np.where(df > 0, np.log1p((presence.shape[0] - df + 0.5) / (df + 0.5)), 0.0)


class _Supervised(Weighting):
    """Term frequency times a factor that is learned from the classes of the training documents."""

    @property
    def learns(self) -> str:
        """Source of the factors: documents with labels."""
        return FROM_LABELS

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:
        """Compute the factors by `of_classes`, and 0 for terms that no document has."""
        if members is None:
            raise ValueError(f"{type(self).__name__} needs labels: it learns from the classes of the documents")
        df = document_frequency(presence)
        in_class = np.asarray((_ones(presence).T @ members.astype(np.float64)).T)
        return np.where(df > 0, self.of_classes(in_class, df, members.sum(axis=0).astype(np.float64), len(members)), 0)

    @abstractmethod
    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:
        """Compute the factors from numbers of documents.

        Parameters
        ----------
        in_class : float64 array, shape (k, V)
            Number of documents of each class that have the term.
        df : float64 array, shape (V,)
            Number of documents that have the term.
        sizes : float64 array, shape (k,)
            Number of documents of each class.
        n : int
            Number of documents.

        Returns
        -------
        float64 array, shape (V,)
        """


class RelevanceFrequency(_Supervised):
    """tf.rf: term frequency times log₂(2 + a / max(1, c)), a and c the documents with the term in a class and outside.

    (Lan et al. 2009.) The largest factor of all classes is used for every class.
    """

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """Compute the largest of the factors for each class."""
        return np.asarray(np.log2(2 + in_class / np.maximum(1, df - in_class)).max(axis=0, initial=1.0))


class InverseClassFrequency(_Supervised):
    """tf.icf: term frequency times 1 + log(classes / classes with the term) (Lertnattee & Theeramunkong 2004)."""

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """Compute 1 + log(k / cf), where cf is the number of classes with the term."""
        return np.asarray(1 + np.log(len(in_class) / np.maximum(1, (in_class > 0).sum(axis=0))))


class InverseClassSpaceDensity(_Supervised):
    """tf.idf.icsδf: term frequency times (1 + log(n / df)) (1 + log(k / Σ_c share of c's documents with the term)).

    (Ren & Sohrab 2013.)
    """

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:
        """Compute (1 + log(n / df)) (1 + log(k / Σ_c n_tc / n_c))."""
        density = (in_class / np.maximum(1, sizes)[:, None]).sum(axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(
                (1 + np.log(n / np.maximum(1, df)))
                * (1 + np.where(density > 0, np.log(len(in_class) / np.where(density > 0, density, 1)), 0))
            )


@dataclass(eq=False, repr=False)
class Aitchison(_Supervised):
    """x^α λ: the transformation F(x) ∝ x^α λ of the simplex, so that kernels use the Fisher metric pulled back by F.

    (Lebanon 2006 for α = 1; Le & Cuturi 2015: powering and perturbation of Aitchison's geometry.) λ is learned from the
    training documents as idf^β · concentration^γ. The concentration of a term is the Kullback–Leibler divergence, in
    nats, of the class distribution of the documents with the term from that of all documents.

    Parameters
    ----------
    power : float
        α, the power of counts, from 0.001 to 10.
    idf : float
        β, the power of idf, from 0 to 10.
    concentration : float
        γ, the power of the concentration, from 0 to 10; 0 uses no labels.
    smoothing : float
        Number of pseudo-documents, > 0, with the class distribution of all documents, that are added to those of each
        term. Without them, terms of few documents would be concentrated by chance.
    log : bool
        Take 1 + log of each count in its place, as `log-tf` does.
    """

    allowed: ClassVar = {
        **dict.fromkeys(("idf", "concentration"), Range(0, 10)),
        "power": Range(1e-3, 10),
        "smoothing": Range(1e-6, 1e6),
    }

    power: float = 1.0
    idf: float = 1.0
    concentration: float = 0.0
    smoothing: float = 1.0
    log: bool = False

    @property
    def learns(self) -> str:
        """Source of the factors: labels if γ > 0, else documents if β > 0, else nothing."""
        return FROM_LABELS if self.concentration else FROM_DOCUMENTS if self.idf else ""

    def local(self, counts: sp.csr_array) -> Array:
        """Raise the counts, or 1 + log of them, to the power α."""
        return np.asarray((log_counts(counts) if self.log else counts.data.astype(np.float64)) ** self.power)

    def factors(self, presence: sp.csr_array, members: Bools | None) -> Array:
        """Compute idf^β · concentration^γ."""
        factors = inverse_document_frequency(presence) ** self.idf
        seen = document_frequency(presence) > 0
        factors[~seen] = 0.0  # 0⁰ is 1
        return factors * super().factors(presence, members) if self.concentration else factors

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """Compute KL(P(class | term) ‖ P(class))^γ, counting documents with several classes in each class."""
        total = sizes.sum()
        if not total:
            raise ValueError("no training document has a class: there is no concentration to learn")
        prior = (sizes / total)[sizes > 0, None]
        posterior = in_class[sizes > 0] + self.smoothing * prior
        posterior /= posterior.sum(axis=0)
        divergence = np.maximum((posterior * np.log(posterior / prior)).sum(axis=0), 0.0)  # rounding can be below 0
        return np.asarray(divergence**self.concentration)


def _ones(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(((counts.data != 0).astype(np.float64), counts.indices, counts.indptr), shape=counts.shape)
