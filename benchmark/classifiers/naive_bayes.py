"""Naive Bayes with multinomial distributions of terms: one for each class, or for the documents outside each class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.system.checks import POSITIVE
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


class SmoothedBayes(SklearnClassifier):
    """Classifier of term counts with a number that is added to every count.

    Parameters
    ----------
    smoothing : float
        Added to every count, > 0.
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)
    non_negative: ClassVar[bool] = True
    allowed: ClassVar = {"smoothing": POSITIVE}

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing


class MultinomialBayes(SmoothedBayes):
    """Multinomial naive Bayes: argmax_i ln P(c_i) + Σ_w x_w ln p_iw.

    p_iw = (n_iw + smoothing) / Σ_w' (n_iw' + smoothing), where n_iw is the count of term w in the documents of class i,
    and P(c_i) is the class's share of the documents. scikit-learn's `MultinomialNB` estimates both. Unlike it, this
    classifier rejects a smoothing of 0, with which a term unseen in a class makes every posterior of a document -inf or
    NaN.

    A document without terms gets the class with the largest P(c_i). Of classes that tie, the first of `classes_` is
    predicted.

    Parameters
    ----------
    smoothing : float
        Added to every n_iw, > 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted.
    class_log_prior_ : float64 array, shape (n_classes,)
        ln P(c_i).
    feature_count_ : float64 array, shape (n_classes, V)
        n_iw.
    feature_log_prob_ : float64 array, shape (n_classes, V)
        ln p_iw.
    n_features_in_ : int

    Examples
    --------
    >>> MultinomialBayes().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4], [0, 0]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    tags: ClassVar[Tags] = replace(SmoothedBayes.tags, labels={"mnb": "MNB"})

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Fit scikit-learn's `MultinomialNB`.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Term counts, already validated.
        labels : array, shape (n,)
        """
        from sklearn.naive_bayes import MultinomialNB  # noqa: PLC0415 - slow to import

        model = MultinomialNB(alpha=self.smoothing, force_alpha=True).fit(points, labels)
        self.class_log_prior_, self.feature_count_ = model.class_log_prior_, model.feature_count_
        self.feature_log_prob_: Array = model.feature_log_prob_

    def scores(self, points: Any) -> Array:
        """Return joint log densities, ln P(c_i) + ln p(x|c_i) without the multinomial coefficient.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Term counts, already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        return np.asarray(safe_sparse_dot(points, self.feature_log_prob_.T) + self.class_log_prior_)


class ComplementBayes(SmoothedBayes):
    """Complement naive Bayes (Rennie et al. 2003): argmax_i -Σ_w x_w ln p_¬i,w, scikit-learn's `ComplementNB`.

    p_¬i,w = (n_¬i,w + smoothing) / Σ_w' (n_¬i,w' + smoothing), where n_¬i,w is the count of term w in the documents of
    all other classes. For a document without terms all classes tie. Of classes that tie, the first of `classes_` is
    predicted.

    Parameters
    ----------
    smoothing : float
        Added to every n_¬i,w, > 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted.
    feature_log_prob_ : float64 array, shape (n_classes, V)
        -ln p_¬i,w.
    n_features_in_ : int

    Examples
    --------
    >>> ComplementBayes().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = replace(SmoothedBayes.tags, labels={"complement-nb": "Complement NB"})

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Fit scikit-learn's `ComplementNB`.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Term counts, already validated.
        labels : array, shape (n,)
        """
        from sklearn.naive_bayes import ComplementNB  # noqa: PLC0415 - slow to import

        model = ComplementNB(alpha=self.smoothing, force_alpha=True).fit(points, labels)
        self.feature_log_prob_ = model.feature_log_prob_

    def scores(self, points: Any) -> Array:
        """Return the scores -Σ_w x_w ln p_¬i,w, or Σ_w t_w v_cw.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Term counts, already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        return np.asarray(safe_sparse_dot(points, self.feature_log_prob_.T))


class TransformedComplementBayes(ComplementBayes):
    """TWCNB (Rennie et al., ICML 2003, table 4): argmax_c Σ_w t_w v_cw, for the counts t of a document.

    Training counts d become d' = log(1 + d) · log(n / n_w), where n_w of the n training documents have term w, divided
    by their Euclidean length. θ_cw = (Σ d'_w + smoothing) / (Σ_w' Σ d'_w' + V · smoothing), with sums over the
    documents of all other classes, and v_cw = -ln θ_cw / Σ_w' |ln θ_cw'|. Tested documents stay counts, as there.

    Parameters
    ----------
    smoothing : float
        The paper's α_i, > 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    feature_log_prob_ : float64 array, shape (n_classes, V)
        v_cw.
    n_features_in_ : int

    Examples
    --------
    >>> model = TransformedComplementBayes().fit([[3, 0, 1], [2, 1, 0], [0, 2, 0]], ["a", "a", "b"])
    >>> model.predict([[1, 0, 0], [0, 4, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = replace(SmoothedBayes.tags, labels={"twcnb": "TWCNB"})

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Transform the counts and compute the weights.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Counts, already validated.
        labels : array, shape (n,)
        """
        from sklearn.preprocessing import normalize  # noqa: PLC0415

        rows = sp.csr_array(points)
        n, size = rows.shape
        having = np.bincount(rows.indices, weights=rows.data > 0, minlength=size)
        idf = np.log(n / np.maximum(having, 1))
        damped = sp.csr_array((np.log1p(rows.data) * idf[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
        members = np.asarray(labels[:, None] == self.classes_, dtype=np.float64)
        inside = np.asarray((normalize(damped).T @ members).T)
        others = inside.sum(axis=0) - inside + self.smoothing
        logs = np.log(others / others.sum(axis=1, keepdims=True))
        self.feature_log_prob_ = -logs / np.maximum(np.abs(logs).sum(axis=1, keepdims=True), np.finfo(float).tiny)
