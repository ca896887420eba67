"""Weightings with factors that are learned from the classes of the training documents."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.representation.weighting import inverse_document_frequency
from benchmark.representation.weightings.base import FROM_DOCUMENTS, FROM_LABELS, Weighting, document_frequency
from benchmark.representation.weightings.unsupervised import log_counts
from benchmark.system.checks import check_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class _Supervised(Weighting):
    """Term frequency times a factor that is learned from the classes of the training documents."""

    @property
    def learns(self) -> str:
        """Source of the factors: documents with labels."""
        return FROM_LABELS

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:
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

    power: float = 1.0
    idf: float = 1.0
    concentration: float = 0.0
    smoothing: float = 1.0
    log: bool = False

    @property
    def learns(self) -> str:
        """Source of the factors: labels if γ > 0, else documents if β > 0, else nothing."""
        return FROM_LABELS if self.concentration else FROM_DOCUMENTS if self.idf else ""

    def check(self) -> None:
        """Raise ValueError for negative exponents, a power that makes all counts 1, and exponents that overflow."""
        for name, least, most in (("power", 1e-3, 10), ("idf", 0, 10), ("concentration", 0, 10)):
            check_within(name, np.array([getattr(self, name)]), least, most)
        check_within("smoothing", np.array([self.smoothing]), 1e-6, 1e6)

    def local(self, counts: sp.csr_array) -> Array:
        """Raise the counts, or 1 + log of them, to the power α."""
        return np.asarray((log_counts(counts) if self.log else counts.data.astype(np.float64)) ** self.power)

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:
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
