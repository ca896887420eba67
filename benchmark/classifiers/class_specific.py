"""Naive Bayes with class-specific term selection: the PDF projection theorem and exponentially embedded families.

Class i reduces a document x of length l to the counts z_i1 … z_iK of the K terms selected for the class, and the count
z_i,K+1 of all other terms, the rest of l. These cells are multinomial, p'_i in the class and p'_0 in the reference
class p_0 = Σ_i P(c_i) p_i. Densities over the cells of different classes can't be compared. Each density is therefore
projected to a density over all terms, which is p_0 reweighted (Tang et al. 2016, equations 3, 4):

    ln p(x|c_i; θ) = θ Σ_{k≤K+1} z_ik g_ik - l Λ_i(θ) + ln p_0(x),
    g_ik = ln(p'_ik / p'_0k),   Λ_i(θ) = ln Σ_{k≤K+1} p'_0k e^{θ g_ik}.

The paper takes the last cell as the base and so leaves it out (equations 10 to 12): β_ik = g_ik - g_i,K+1, and
K_1(θ, l) = l (Λ_i(θ) - θ g_i,K+1). The density is the same, but K_1(1, l) isn't 0, while Λ_i(1) = ln Σ_k p'_ik is. For
K = V, where no term is left over, β_ik is undefined. As l = Σ_w x_w, the density is again one multinomial distribution
of all terms, in which term w of cell k has the probability p_0w e^{θ g_ik - Λ_i(θ)}. Both classifiers are therefore
`MultinomialBayes` with other term probabilities, and score documents by one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from sklearn.utils.validation import check_X_y

from benchmark.classifiers.naive_bayes import MultinomialBayes
from benchmark.representation.selection import checked_n_terms, information_gain, rank_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.system.arrays import Array, Indices
    from benchmark.system.tags import Tags


#: Largest |θ| times the spread of the log ratios: e^700 is near the largest float64.
_LARGEST_TILT = 700.0
#: A smaller spread of a class's log ratios is rounding: the class equals the reference.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class MultinomialCells:
    """Multinomial cells of each class: its K selected terms and, where K < V, one of all other terms: L = K + 1, or V.

    Parameters
    ----------
    selected : intp array, shape (n_classes, K)
        Columns of the selected terms.
    log_reference : float64 array, shape (n_classes, L)
        ln p'_0k.
    log_ratio : float64 array, shape (n_classes, L)
        g_ik.
    counts : float64 array, shape (n_classes, L)
        Σ z_k over the training documents of the class.
    """

    selected: Indices
    log_reference: Array
    log_ratio: Array
    counts: Array


def multinomial_cells(log_prob: Array, log_prior: Array, counts: Array, selected: Indices) -> MultinomialCells:
    """Return the cells of each class from the distributions and counts of all terms.

    Parameters
    ----------
    log_prob : float64 array, shape (n_classes, V)
        ln p_iw.
    log_prior : float64 array, shape (n_classes,)
        ln P(c_i).
    counts : float64 array, shape (n_classes, V)
        Count of each term in the training documents of each class.
    selected : intp array, shape (n_classes, K)
        Columns of the selected terms, at most once in a row.
    """
    log_reference = np.broadcast_to(log_reference_distribution(log_prob, log_prior), log_prob.shape)
    in_class, in_reference = (_join(values, selected, logsumexp, -np.inf) for values in (log_prob, log_reference))
    return MultinomialCells(selected, in_reference, in_class - in_reference, _join(counts, selected, np.sum, 0.0))


def log_reference_distribution(log_prob: Array, log_prior: Array) -> Array:
    """Compute the log reference distribution, ln p_0w = ln Σ_i P(c_i) p_iw (equation 9), shape (V,)."""
    return np.asarray(logsumexp(log_prob + log_prior[:, None], axis=0))


def _join(values: Array, selected: Indices, total: Callable[..., Array], nothing: float) -> Array:
    """Return `values` of the selected terms and the `total` of all others; `nothing` is its neutral element.

    The others are summed, because 1 - Σ would leave rounding errors.
    """
    chosen = np.take_along_axis(values, selected, axis=1)
    if selected.shape[1] == values.shape[1]:
        return chosen
    others = values.copy()
    np.put_along_axis(others, selected, nothing, axis=1)
    return np.hstack([chosen, total(others, axis=1)[:, None]])


def log_normalizer(cells: MultinomialCells, theta: Array) -> Array:
    """Compute Λ_i(θ_i), shape (n_classes,): K_0(θ_i) of equation 4 for one word of a document."""
    return np.asarray(logsumexp(cells.log_reference + theta[:, None] * cells.log_ratio, axis=1))


def embedding_parameters(cells: MultinomialCells) -> Array:
    """Compute θ_i* = argmax_θ θ Σ_k z̄_ik g_ik - l̄_i Λ_i(θ) (equation 13), shape (n_classes,).

    The objective is concave. Its slope is l̄_i times the difference of E[g] in the class's documents and E[g] under θ;
    Brent's method finds the slope's zero. The paper doesn't specify the interval Θ. Here it is
    |θ| (max_k g_ik - min_k g_ik) ≤ 700, about the range of double precision. Where all words of a class's documents lie
    in the cells with the largest (smallest) g_ik, the objective has no maximum, and θ_i* is the upper (lower) end.

    If p'_i were the share of words in the class's documents, the slope at θ = 1 would be 0. Smoothing of p'_i is
    therefore the only reason why θ_i* differs from 1, and EEF from PPT. θ_i* may be negative, where smoothing made the
    class's commonest words rarer in the class than in the reference. By convention θ_i* is 1 for a class without words
    and for a class that equals the reference: for both, every θ is optimal.
    """
    theta = np.ones(len(cells.counts))
    for i, (log_reference, g, counts) in enumerate(
        zip(cells.log_reference, cells.log_ratio, cells.counts, strict=True)
    ):
        spread = g.max() - g.min()
        if spread > _SAME and counts.any():
            # Brent's tolerance is absolute, so the log ratios are scaled to [0, 1].
            scaled = (g - g.min()) / spread
            theta[i] = _best_tilt(log_reference, scaled, float(counts @ scaled / counts.sum())) / spread
    return theta


def _best_tilt(log_reference: Array, g: Array, mean: float) -> float:
    """Find the t in [-700, 700] at which p'_0 e^{t g}, normalized, gives g this `mean`; else return the nearer end."""

    def slope(t: float) -> float:
        tilted = log_reference + t * g
        weights = np.exp(tilted - tilted.max())
        return mean - float(weights @ g / weights.sum())

    if slope(_LARGEST_TILT) >= 0:
        return _LARGEST_TILT
    if slope(-_LARGEST_TILT) <= 0:
        return -_LARGEST_TILT
    return float(brentq(slope, -_LARGEST_TILT, _LARGEST_TILT))


def project_term_probabilities(cells: MultinomialCells, log_reference: Array, theta: Array) -> Array:
    """Compute log term probabilities of each class, ln( p_0w e^{θ_i g_ik - Λ_i} ) for w in cell k.

    Parameters
    ----------
    cells : MultinomialCells
    log_reference : float64 array, shape (V,)
        ln p_0w.
    theta : float64 array, shape (n_classes,)

    Returns
    -------
    float64 array, shape (n_classes, V)
    """
    weights = theta[:, None] * cells.log_ratio - log_normalizer(cells, theta)[:, None]
    # Terms that aren't selected get the value of the last cell. If all are selected, every value is overwritten.
    of_terms = np.repeat(weights[:, -1:], len(log_reference), axis=1)
    np.put_along_axis(of_terms, cells.selected, weights[:, : cells.selected.shape[1]], axis=1)
    return log_reference + of_terms


class ProjectedPdf(MultinomialBayes):
    """PPT: argmax_i Σ_{k≤K+1} z_ik ln(p'_ik / p'_0k) + ln P(c_i) (Tang et al. 2016, equation 15).

    A class keeps its probabilities of the K terms selected for it, and divides the rest of the probability among the
    other terms as the reference class does. With all terms it is `MultinomialBayes`. A document without terms gets the
    class with the largest P(c_i). Of classes that tie, the first of `classes_` is predicted.

    Parameters
    ----------
    n_terms : int, optional
        K, the number of terms selected for each class; all terms by default.
    smoothing : float
        Added to every count of a term in a class, > 0.

    Attributes
    ----------
    selected_ : intp array, shape (n_classes, K)
        Columns of the terms selected for each class, the best first.
    cells_ : MultinomialCells
        Multinomial cells of each class.
    theta_ : float64 array, shape (n_classes,)
        Embedding parameters: 1.
    feature_log_prob_ : float64 array, shape (n_classes, V)
        ln of the term probabilities after projection.
    classes_, class_log_prior_, feature_count_, n_features_in_
        See `MultinomialBayes`.

    Examples
    --------
    >>> X, y = [[3, 0, 1], [2, 1, 0], [0, 2, 1]], ["a", "a", "b"]
    >>> ProjectedPdf(n_terms=1).fit(X, y).predict([[1, 0, 0], [0, 4, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = replace(MultinomialBayes.tags, selects_terms=True, labels={"ppt": "PPT"})
    training_only: ClassVar[tuple[str, ...]] = (*MultinomialBayes.training_only, "selected_", "cells_")

    def __init__(self, n_terms: int | None = None, smoothing: float = 1.0) -> None:
        super().__init__(smoothing)
        self.n_terms = n_terms

    def fit(self, X: Any, y: Any, rankings: Indices | None = None) -> Self:
        """Train the classifier, selecting terms by information gain unless `rankings` are passed.

        Parameters
        ----------
        X : sparse or dense matrix, shape (n, V)
            Term counts of the training documents.
        y : array, shape (n,)
            Their labels.
        rankings : intp array, shape (n_classes, ≥ K), optional
            Columns of the terms of each class, in the order of `classes_`, the best first. By default terms are ranked
            by information gain. One ranking can be used for many values of K.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the smoothing isn't positive, a count is negative or not finite, or there are fewer than K terms.
        """
        super().fit(X, y)
        self.selected_ = self._select(X, y, rankings)
        log_reference = log_reference_distribution(self.feature_log_prob_, self.class_log_prior_)
        self.cells_ = multinomial_cells(
            self.feature_log_prob_, self.class_log_prior_, self.feature_count_, self.selected_
        )
        self.theta_ = self._embed()
        self.feature_log_prob_ = project_term_probabilities(self.cells_, log_reference, self.theta_)
        return self

    def _embed(self) -> Array:
        return np.ones(len(self.classes_))

    def _select(self, X: Any, y: Any, rankings: Indices | None) -> Indices:
        """Return the columns of the K terms of each class, shape (n_classes, K)."""
        n_terms = self.feature_count_.shape[1]
        size = checked_n_terms(n_terms if self.n_terms is None else self.n_terms, n_terms)
        if rankings is None:
            X, y = check_X_y(X, y, accept_sparse="csr")
            return rank_terms(information_gain(X, np.searchsorted(self.classes_, y)))[:, :size]
        return rankings[:, :size]


class EmbeddedFamily(ProjectedPdf):
    """EEF: argmax_i θ_i* Σ_k z_ik β_ik - K_1(θ_i*, l) + ln P(c_i) (Tang et al. 2016, equations 7, 10 to 13).

    `ProjectedPdf` with an exponent θ_i*, in `theta_`, on the ratios of class i: see `embedding_parameters`.

    Parameters
    ----------
    n_terms : int, optional
        K, the number of terms selected for each class; all terms by default.
    smoothing : float
        Added to every count of a term in a class, > 0.
    """

    tags: ClassVar[Tags] = replace(ProjectedPdf.tags, labels={"eef": "EEF"})

    def _embed(self) -> Array:
        return embedding_parameters(self.cells_)
