"""Weightings that don't use labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.representation.weighting import inverse_document_frequency
from benchmark.representation.weightings.base import Weighting, document_frequency
from benchmark.system.checks import check_within

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class TermFrequency(Weighting):
    """Number of occurrences of the term in the document."""

    @property
    def learns(self) -> str:
        """No factors to learn."""
        return ""

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> None:
        """Return None: the weighting has no factors."""


class Binary(TermFrequency):
    """1 for each term in the document, whatever its count."""

    def local(self, counts: sp.csr_array) -> Array:
        """Return 1 for each stored count."""
        return np.asarray(counts.data != 0, dtype=np.float64)


class TfIdf(Weighting):
    """Term frequency times log(documents / documents with the term) (Zhang et al. 2005, section 4)."""

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:  # noqa: ARG002
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

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:  # noqa: ARG002
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

    def __init__(self, k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b

    def check(self) -> None:
        """Raise ValueError unless k1 lies in [0.001, 1000] and b in [0, 1]."""
        check_within("k1", np.array([self.k1]), 1e-3, 1e3)
        check_within("b", np.array([self.b]), 0, 1)

    def local(self, counts: sp.csr_array) -> Array:
        """Compute count (k1 + 1) / (count + k1 (1 - b + b length / mean length))."""
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        relative = lengths / self.mean_length_ if self.mean_length_ else lengths
        slow = np.repeat(self.k1 * (1 - self.b + self.b * relative), np.diff(counts.indptr))
        return np.asarray(counts.data * (self.k1 + 1) / (counts.data + slow))

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:  # noqa: ARG002
        """Compute log(1 + (n - df + ½) / (df + ½))."""
        df = document_frequency(presence)
        return np.where(df > 0, np.log1p((presence.shape[0] - df + 0.5) / (df + 0.5)), 0.0)
