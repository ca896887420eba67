"""Counts to predictions, each class with terms of its own: the PDF projection theorem and embedded families.

Class i sees a document x of length l through K terms of its own: their counts z_i1 … z_iK, and z_i,K+1, what is left of
l. These cells are multinomial, p'_i in the class and p'_0 in the reference class p_0 = Σ_i P(c_i) p_i. Densities of
different cells can't be compared, so each is carried back to the density of all terms that is p_0, reweighted (Tang et
al. 2016, equations 3, 4):

    ln p(x|c_i; θ) = θ Σ_{k≤K+1} z_ik g_ik - l Λ_i(θ) + ln p_0(x),
    g_ik = ln(p'_ik / p'_0k),   Λ_i(θ) = ln Σ_{k≤K+1} p'_0k e^{θ g_ik}.

The paper leaves the last cell out by counting from it (equations 10 to 12): β_ik = g_ik - g_i,K+1, and K_1(θ, l) =
l (Λ_i(θ) - θ g_i,K+1). It is the same density, but K_1(1, l) isn't 0, as Λ_i(1) = ln Σ_k p'_ik is, and for K = V, where
no term is left, β_ik has no value. As l = Σ_w x_w, the density is again one multinomial distribution of all terms,
in which term w of cell k has the probability p_0w e^{θ g_ik - Λ_i(θ)}. Both classifiers are therefore
`MultinomialBayes` with other term probabilities, and decide by one product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from sklearn.utils.validation import check_X_y

from benchmark.classifiers.multinomial_bayes import MultinomialBayes
from benchmark.representation.selection import checked_size, information_gain, rank_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.tags import Tags

    Array = NDArray[np.float64]

#: Farthest that an embedding may pull two cells apart, as a logarithm: e^700 is near the largest number there is.
_LARGEST_TILT = 700.0
#: Cells whose ratios lie this close together are the reference's: what is left of their differences is rounding.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Cells:
    """The K selected terms of each class and, where K < V, the cell of all others: L = K + 1 cells, or V.

    Parameters
    ----------
    selected : intp array, shape (n_classes, K)
    log_reference : float64 array, shape (n_classes, L)
        ln p'_0k.
    log_ratio : float64 array, shape (n_classes, L)
        g_ik.
    counts : float64 array, shape (n_classes, L)
        Σ z_k over the training documents of the class.
    """

    selected: NDArray[np.intp]
    log_reference: Array
    log_ratio: Array
    counts: Array


def make_cells(log_prob: Array, log_prior: Array, counts: Array, selected: NDArray[np.intp]) -> Cells:
    """Cells of each class from the distributions and counts of all terms.

    Parameters
    ----------
    log_prob : float64 array, shape (n_classes, V)
        ln p_iw.
    log_prior : float64 array, shape (n_classes,)
        ln P(c_i).
    counts : float64 array, shape (n_classes, V)
        How often each term occurs in the training documents of each class.
    selected : intp array, shape (n_classes, K)
        Terms, each at most once in a row.
    """
    log_reference = np.broadcast_to(reference(log_prob, log_prior), log_prob.shape)
    own, zero = (_join(values, selected, logsumexp, -np.inf) for values in (log_prob, log_reference))
    return Cells(selected, zero, own - zero, _join(counts, selected, np.sum, 0.0))


def reference(log_prob: Array, log_prior: Array) -> Array:
    """The reference distribution, ln p_0w = ln Σ_i P(c_i) p_iw (equation 9), shape (V,)."""
    return np.asarray(logsumexp(log_prob + log_prior[:, None], axis=0))


def _join(values: Array, selected: NDArray[np.intp], total: Callable[..., Array], nothing: float) -> Array:
    """`values` of the selected terms and the total of all others, which are summed: 1 - Σ would leave rounding."""
    chosen = np.take_along_axis(values, selected, axis=1)
    if selected.shape[1] == values.shape[1]:
        return chosen
    others = values.copy()
    np.put_along_axis(others, selected, nothing, axis=1)
    return np.hstack([chosen, total(others, axis=1)[:, None]])


def log_normalizer(cells: Cells, theta: Array) -> Array:
    """Λ_i(θ_i), shape (n_classes,): K_0(θ_i) of equation 4 for each word of a document."""
    return np.asarray(logsumexp(cells.log_reference + theta[:, None] * cells.log_ratio, axis=1))


def embedding_parameters(cells: Cells) -> Array:
    """θ_i* = argmax_θ θ Σ_k z̄_ik g_ik - l̄_i Λ_i(θ) (equation 13), shape (n_classes,).

    The objective is concave; its slope is l̄_i times E[g] in the class's documents less E[g] under θ, of which Brent's
    method finds the zero. The paper doesn't say which interval Θ is. Here it is |θ| (max_k g_ik - min_k g_ik) ≤ 700,
    about all that double precision can hold. Where a class's documents have words in none but the cells of the
    largest (smallest) g_ik, the objective rises for ever, and θ_i* is the upper (lower) end.

    Were p'_i the share of words in the class's documents, the slope at θ = 1 would be 0: θ_i* differs from 1, and EEF
    from PPT, by what smoothing did to p'_i, and by nothing else. θ_i* may be negative, where smoothing made the class's
    commonest words rarer in it than in the reference. It is 1, by convention, for a class without words and for one
    that doesn't differ from the reference: any θ is the best for them.
    """
    theta = np.ones(len(cells.counts))
    for i, (log_reference, g, counts) in enumerate(
        zip(cells.log_reference, cells.log_ratio, cells.counts, strict=True)
    ):
        spread = g.max() - g.min()
        if spread > _SAME and counts.any():
            # Brent's tolerance is absolute: ratios are scaled to lie between 0 and 1, whatever their size.
            scaled = (g - g.min()) / spread
            theta[i] = _best_tilt(log_reference, scaled, float(counts @ scaled / counts.sum())) / spread
    return theta


def _best_tilt(log_reference: Array, g: Array, mean: float) -> float:
    """The t within ±700 at which p'_0 e^{t g}, normalized, has the `mean` of g, or the end that is nearest to it."""

    def slope(t: float) -> float:
        tilted = log_reference + t * g
        weights = np.exp(tilted - tilted.max())
        return mean - float(weights @ g / weights.sum())

    if slope(_LARGEST_TILT) >= 0:
        return _LARGEST_TILT
    if slope(-_LARGEST_TILT) <= 0:
        return -_LARGEST_TILT
    return float(brentq(slope, -_LARGEST_TILT, _LARGEST_TILT))


def project(cells: Cells, log_reference: Array, theta: Array) -> Array:
    """Term probabilities of each class, ln( p_0w e^{θ_i g_ik - Λ_i} ) for w in cell k, shape (n_classes, V).

    Parameters
    ----------
    cells : Cells
    log_reference : float64 array, shape (V,)
        ln p_0w.
    theta : float64 array, shape (n_classes,)
    """
    weights = theta[:, None] * cells.log_ratio - log_normalizer(cells, theta)[:, None]
    # The last cell is that of all terms not selected; if there are none, every value is overwritten.
    of_terms = np.repeat(weights[:, -1:], len(log_reference), axis=1)
    np.put_along_axis(of_terms, cells.selected, weights[:, : cells.selected.shape[1]], axis=1)
    return log_reference + of_terms


class ProjectedPdf(MultinomialBayes):
    """PPT: argmax_i Σ_{k≤K+1} z_ik ln(p'_ik / p'_0k) + ln P(c_i) (Tang et al. 2016, equation 15).

    `MultinomialBayes` where each class keeps the probabilities of its own K terms, and shares out the rest as the
    reference class does. With all terms it is `MultinomialBayes`. A document without terms is decided by P(c_i); of
    classes that tie, the first of `classes_` is predicted.

    Parameters
    ----------
    n_terms : int, optional
        K, terms for each class; all unless given.
    smoothing : float
        Added to every count of a term in a class, > 0.

    Attributes
    ----------
    selected_ : intp array, shape (n_classes, K)
        Terms of each class, the best first.
    cells_ : Cells
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

    def __init__(self, n_terms: int | None = None, smoothing: float = 1.0) -> None:
        super().__init__(smoothing)
        self.n_terms = n_terms

    def fit(self, X: Any, y: Any, rankings: NDArray[np.intp] | None = None) -> Self:
        """Learn from the counts X, shape (n, V), and the labels y, shape (n,).

        Parameters
        ----------
        X : sparse or dense matrix, shape (n, V)
        y : array, shape (n,)
        rankings : intp array, shape (n_classes, ≥ K), optional
            Terms of each class, in the order of `classes_`, the best first. Unless given, they are ranked by
            information gain; one ranking can serve many values of K.

        Raises
        ------
        ValueError
            The smoothing isn't positive, a count is negative or not finite, there are fewer than K terms, or the
            rankings don't fit.
        """
        super().fit(X, y)
        self.selected_ = self._select(X, y, rankings)
        log_reference = reference(self.feature_log_prob_, self.class_log_prior_)
        self.cells_ = make_cells(self.feature_log_prob_, self.class_log_prior_, self.feature_count_, self.selected_)
        self.theta_ = self._embed()
        self.feature_log_prob_: Array = project(self.cells_, log_reference, self.theta_)
        return self

    def _embed(self) -> Array:
        return np.ones(len(self.classes_))

    def _select(self, X: Any, y: Any, rankings: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """The K terms of each class, shape (n_classes, K)."""
        n_classes, n_terms = self.feature_count_.shape
        size = checked_size(n_terms if self.n_terms is None else self.n_terms, n_terms)
        if rankings is None:
            X, y = check_X_y(X, y, accept_sparse="csr")
            return rank_terms(information_gain(X, np.searchsorted(self.classes_, y)))[:, :size]
        rankings = np.asarray(rankings)
        if rankings.ndim != 2 or len(rankings) != n_classes or rankings.shape[1] < size:
            msg = f"rankings of shape {rankings.shape} don't give {size} terms for each of {n_classes} classes"
            raise ValueError(msg)
        selected = rankings[:, :size]
        if not np.issubdtype(selected.dtype, np.integer):
            raise ValueError(f"rankings must be integers, not {selected.dtype}")
        in_order = np.sort(selected, axis=1)
        if not (in_order[:, 0] >= 0).all() or not (in_order[:, -1] < n_terms).all():
            raise ValueError(f"rankings must hold terms from 0 to {n_terms - 1}")
        if (in_order[:, 1:] == in_order[:, :-1]).any():
            raise ValueError("rankings have a term twice for the same class")
        return selected


class EmbeddedFamily(ProjectedPdf):
    """EEF: argmax_i θ_i* Σ_k z_ik β_ik - K_1(θ_i*, l) + ln P(c_i) (Tang et al. 2016, equations 7, 10 to 13).

    `ProjectedPdf` with an exponent θ_i* on each class's ratios, its `theta_`: see `embedding_parameters`.

    Parameters
    ----------
    n_terms : int, optional
        K, terms for each class; all unless given.
    smoothing : float
        Added to every count of a term in a class, > 0.
    """

    tags: ClassVar[Tags] = replace(ProjectedPdf.tags, labels={"eef": "EEF"})

    def _embed(self) -> Array:
        return embedding_parameters(self.cells_)
