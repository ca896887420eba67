"""Naive Bayes in Kullback–Leibler form: predicts the class whose centroid is nearest, with the prior as an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from benchmark.classifiers.centroids import class_statistics, skl_centroid
from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.representation.weighting import canonical_csr
from benchmark.system.checks import POSITIVE
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


CENTROID_KINDS = ("mean", "skl", "pooled")


@dataclass(eq=False, repr=False)
class DivergenceBayes(SklearnClassifier):
    """label(d) = argmin_j -log P(C_j) + KL(d, c_j), for d = x/Σx the distribution of a document's words.

    The class centroid c_j is computed from smoothed training documents, p_i = (x_i + s)/(Σx + sV). The document d to be
    classified is not smoothed: its entropy is the same for all classes.

    Multinomial naive Bayes (scikit-learn's `MultinomialNB`) scores a class by log P(C_j) + Σx · Σ_i d_i log c_ji: the
    likelihood counts once for each word of the document. Here, as in the paper (equation II.1, "Σ_i d_i = 1"), the
    likelihood counts once, so the prior weighs Σx times as much. With uniform priors the two rules agree; `length`
    chooses between them. The centroid of multinomial naive Bayes pools the counts, so that long documents weigh more:
    that is "pooled". The paper's "original average estimated centroid" is the "mean" of the documents' distributions,
    the minimizer of Σ_p KL(p, c). Where all documents have the same length, the mean is the pooled centroid with a
    smoothing of s times the number of documents.

    Parameters
    ----------
    centroid : {"mean", "skl", "pooled"}
        "mean": the mean of the p's. "skl": argmin_q Σ_p SKL(p, q), the paper's proposal, by `skl_centroid`. "pooled":
        (Σ_d x_di + s)/(Σ_d Σx + sV).
    smoothing : float
        s, positive; the paper doesn't state its value.
    prior : {"empirical", "uniform"}
        P(C_j): the class's share of the training documents, or 1 / n_classes.
    length : {"ignored", "counted"}
        "ignored": the paper's rule. "counted": KL(d, c_j) is multiplied by Σx, as in multinomial naive Bayes; with the
        "pooled" centroid the rule is that classifier.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        In order of first appearance in `y`; of classes that tie, the first is predicted.
    centroids_ : float64 array, shape (n_classes, V)
    log_prior_ : float64 array, shape (n_classes,)
        Training documents without words count in the prior, not in the centroids.
    n_features_in_ : int

    References
    ----------
    chen2018, equations II.1 and II.2.

    Examples
    --------
    >>> X = np.array([[4, 1, 0], [2, 0, 1], [0, 1, 3]])
    >>> DivergenceBayes(centroid="skl", smoothing=0.1).fit(X, ["tea", "tea", "rum"]).predict([[0, 1, 1], [2, 0, 0]])
    array(['rum', 'tea'], dtype='<U3')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, first_trained_wins=True)
    non_negative: ClassVar[bool] = True
    allowed: ClassVar = {
        "smoothing": POSITIVE,
        "centroid": CENTROID_KINDS,
        "prior": ("empirical", "uniform"),
        "length": ("ignored", "counted"),
    }

    centroid: str = "mean"
    smoothing: float = 1e-3
    prior: str = "empirical"
    length: str = "ignored"

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Compute the class centroids and priors.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Term counts of the training documents, already validated.
        labels : array, shape (n,)

        Raises
        ------
        ValueError
            If no document of a class has a word.
        """
        counts = canonical_csr(points)
        values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.classes_ = values[order]
        sizes = np.bincount(codes)[order]
        shares = sizes / sizes.sum() if self.prior == "empirical" else np.full(len(sizes), 1 / len(sizes))
        self.log_prior_ = np.log(shares)
        with_words = np.asarray(counts.sum(axis=1)) > 0
        self.centroids_ = np.array(
            [self._centroid(counts[with_words & (codes == code)], values[code]) for code in order]
        )

    def scores(self, points: Any) -> Array:
        """Return log P(C_j) - KL(d, c_j), or log P(C_j) - Σx KL(d, c_j) where `length` is "counted".

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Term counts, already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        counts = canonical_csr(points)
        lengths = np.asarray(counts.sum(axis=1))
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        d = counts.data / lengths[row]
        documents = sp.csr_array((d, counts.indices, counts.indptr), shape=counts.shape)
        negentropy = np.bincount(row, xlogy(d, d), minlength=counts.shape[0])
        divergences = np.asarray(negentropy[:, None] - documents @ np.log(self.centroids_).T)
        if self.length == "counted":
            divergences *= lengths[:, None]
        return np.asarray(self.log_prior_ - divergences)

    def _centroid(self, counts: sp.csr_array, label: Any) -> Array:
        if not counts.shape[0]:
            raise ValueError(f"no training document of the class {str(label)!r} has a word: the class has no centroid")
        if self.centroid == "pooled":
            smoothed = np.asarray(counts.sum(axis=0)) + self.smoothing
            return np.asarray(smoothed / smoothed.sum())
        statistics = class_statistics(counts, self.smoothing)
        return statistics.mean if self.centroid == "mean" else skl_centroid(statistics)
