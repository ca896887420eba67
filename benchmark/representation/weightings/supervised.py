"""Weightings whose factors are learned from the classes of the training documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.checks import check_within
from benchmark.representation.weighting import inverse_document_frequency
from benchmark.representation.weightings.base import DOCUMENTS, LABELS, Weighting, document_frequency

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class _Supervised(Weighting):
    """A factor that is learned from the classes of the training documents."""

    @property
    def learns(self) -> str:
        """From labels."""
        return LABELS

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:
        """See `of_classes`; 0 for terms that no document has."""
        if members is None:
            raise ValueError(f"{type(self).__name__} learns from labels")
        df = document_frequency(presence)
        in_class = np.asarray((_ones(presence).T @ members.astype(np.float64)).T)
        return np.where(df > 0, self.of_classes(in_class, df, members.sum(axis=0).astype(np.float64), len(members)), 0)

    @abstractmethod
    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:
        """Factors, shape (V,).

        Parameters
        ----------
        in_class : float64 array, shape (k, V)
            Documents of each class that have the term.
        df : float64 array, shape (V,)
            Documents that have it.
        sizes : float64 array, shape (k,)
            Documents of each class.
        n : int
            Documents.
        """


class RelevanceFrequency(_Supervised):
    """tf.rf: times log₂(2 + a / max(1, c)), a and c the documents with the term inside a class and outside.

    (Lan et al. 2009.) One factor for all classes: that of the class where it is largest.
    """

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """The largest of the classes'."""
        return np.asarray(np.log2(2 + in_class / np.maximum(1, df - in_class)).max(axis=0, initial=1.0))


class InverseClassFrequency(_Supervised):
    """tf.icf: times 1 + log(classes / classes with the term) (Lertnattee & Theeramunkong 2004)."""

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """1 + log(k / cf)."""
        return np.asarray(1 + np.log(len(in_class) / np.maximum(1, (in_class > 0).sum(axis=0))))


class InverseClassSpaceDensity(_Supervised):
    """tf.idf.icsδf: times (1 + log(n / df)) (1 + log(k / Σ of the classes' shares of documents with the term)).

    (Ren & Sohrab 2013.)
    """

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:
        """(1 + log(n / df)) (1 + log(k / Σ_c n_tc / n_c))."""
        density = (in_class / np.maximum(1, sizes)[:, None]).sum(axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(
                (1 + np.log(n / np.maximum(1, df)))
                * (1 + np.where(density > 0, np.log(len(in_class) / np.where(density > 0, density, 1)), 0))
            )


class Aitchison(_Supervised):
    """x^α λ: the transformation F(x) ∝ x^α λ of the simplex whose pulled-back Fisher metric kernels then measure by.

    (Lebanon 2006 for α = 1; Le & Cuturi 2015: powering and perturbation of Aitchison's geometry.) λ is made of two
    numbers that the training documents give each term: idf^β · concentration^γ, where the concentration of a term is
    the Kullback–Leibler divergence, in nats, of the classes of the documents that have it from those of all.

    Parameters
    ----------
    power : float
        α, > 0: what a count is raised to.
    idf : float
        β, not negative.
    concentration : float
        γ, not negative; with 0 no label is looked at.
    smoothing : float
        Documents that are added to those of each term, with the classes of all of them, > 0: a term of few documents
        is concentrated by chance.
    """

    def __init__(
        self, power: float = 1.0, idf: float = 1.0, concentration: float = 0.0, smoothing: float = 1.0
    ) -> None:
        self.power = power
        self.idf = idf
        self.concentration = concentration
        self.smoothing = smoothing

    @property
    def learns(self) -> str:
        """By what there is to learn: with γ = 0 from documents alone, with β = 0 too from nothing."""
        if self.concentration:
            return LABELS
        return DOCUMENTS if self.idf else ""

    def check(self) -> None:
        """Refuse negative exponents, one that makes all counts 1, and those that overflow."""
        for name, least, most in (("power", 1e-3, 10), ("idf", 0, 10), ("concentration", 0, 10)):
            check_within(name, np.array([getattr(self, name)]), least, most)
        check_within("smoothing", np.array([self.smoothing]), 1e-6, 1e6)

    def local(self, counts: sp.csr_array) -> Array:
        """A count to the power α."""
        return np.asarray(counts.data.astype(np.float64) ** self.power)

    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array:
        """idf^β · concentration^γ."""
        factors = inverse_document_frequency(presence) ** self.idf
        seen = document_frequency(presence) > 0
        factors[~seen] = 0.0  # 0⁰ is 1
        return factors if not self.concentration else factors * super().factors(presence, members)

    def of_classes(self, in_class: Array, df: Array, sizes: Array, n: int) -> Array:  # noqa: ARG002
        """KL(P(class | term) ‖ P(class))^γ, documents with several classes counted in each."""
        total = sizes.sum()
        if not total:
            raise ValueError("no training document has a class: there is no concentration to learn")
        prior = (sizes / total)[sizes > 0, None]
        given = in_class[sizes > 0] + self.smoothing * prior
        given /= given.sum(axis=0)
        divergence = np.maximum((given * np.log(given / prior)).sum(axis=0), 0.0)  # below 0 by rounding
        return np.asarray(divergence**self.concentration)


def _ones(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(((counts.data != 0).astype(np.float64), counts.indices, counts.indptr), shape=counts.shape)
