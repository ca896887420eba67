"""Born's classifier: affinities of a document and each class, with terms weighted by the entropy of their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.system.checks import FRACTION, NOT_NEGATIVE, POSITIVE
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


class BornClassifier(SklearnClassifier):
    """Born's classifier (Guidotti & Ferrara 2022): argmax_k Σ_w h_w^H (p_wk x_w)^a.

    P_wk sums the shares x_w / Σx of term w in the training documents of class k, in one pass. p_wk = P_wk /
    ((Σ_w' P_w'k)^b (Σ_k' P_wk')^(1-b)). With b = 1 it is the distribution of terms in the class, and with a = ½ the sum
    is, but for h, the Bhattacharyya affinity of document and class: the inner product of square roots. h_w is 1 minus
    the normalized entropy of the classes given the term, in the distribution p_wk / Σ_k' p_wk': 1 for a term of one
    class, 0 for a term that all classes share evenly.

    Parameters
    ----------
    amplitude : float
        The paper's a, > 0.
    balance : float
        The paper's b, from 0 to 1: from weights by term to weights by class.
    entropy : float
        The paper's h, ≥ 0: the power H of h_w; 0 leaves the entropy out.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    weights_ : float64 array, shape (n_classes, V)
        h_w^H p_wk^a.
    n_features_in_ : int

    Examples
    --------
    >>> BornClassifier().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, labels={"born": "Born"})
    non_negative: ClassVar[bool] = True
    allowed: ClassVar = {"amplitude": POSITIVE, "balance": FRACTION, "entropy": NOT_NEGATIVE}

    def __init__(self, amplitude: float = 0.5, balance: float = 1.0, entropy: float = 1.0) -> None:
        self.amplitude = amplitude
        self.balance = balance
        self.entropy = entropy

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Sum the shares of the terms by class, and compute the weights.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Already validated.
        labels : array, shape (n,)
        """
        rows = sp.csr_array(points)
        totals = np.asarray(rows.sum(axis=1))
        members = np.asarray(labels[:, None] == self.classes_, dtype=np.float64)
        shares = members * np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)[:, None]
        summed = np.asarray((rows.T @ shares).T)  # P, shape (n_classes, V)
        by_class, by_term = summed.sum(axis=1, keepdims=True), summed.sum(axis=0, keepdims=True)
        scale = by_class**self.balance * by_term ** (1 - self.balance)
        p = np.divide(summed, scale, out=np.zeros_like(summed), where=scale > 0)
        self.weights_ = self._concentration(p) ** self.entropy * p**self.amplitude

    def _concentration(self, p: Array) -> Array:
        """Return h_w of each term, shape (V,): 0 for a term without a class."""
        k, total = len(p), p.sum(axis=0)
        if k == 1:
            return np.ones(p.shape[1])
        shares = np.divide(p, total, out=np.zeros_like(p), where=total > 0)
        return np.where(total > 0, np.maximum(0.0, 1 + xlogy(shares, shares).sum(axis=0) / np.log(k)), 0.0)

    def scores(self, points: Any) -> Array:
        """Return Σ_w h_w^H (p_wk x_w)^a.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        powers = sp.csr_array(points, copy=True)
        powers.data **= self.amplitude
        return np.asarray(powers @ self.weights_.T)
