"""Points made of counts: term weightings by their names in a configuration, and a transformer of counts to points.

Weights are not normalized in a weighting. They are nonnegative, so that they can be normalized to the simplex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.learnt_weighting import LearnedAitchison
from benchmark.representation.weighting import inverse_document_frequency, normalize_rows
from benchmark.representation.weightings import (
    Aitchison,
    Binary,
    Bm25,
    InverseClassFrequency,
    InverseClassSpaceDensity,
    LogEntropy,
    LogTermFrequency,
    LogTfIdf,
    RelevanceFrequency,
    TermFrequency,
    TfIdf,
    Weighting,
)
from benchmark.system.checks import check_one_of
from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["WEIGHTINGS", "TermWeighting", "Weighting", "inverse_document_frequency"]

WEIGHTINGS: dict[str, type[Weighting]] = {
    "tf": TermFrequency,
    "tfidf": TfIdf,
    "binary": Binary,
    "log-tf": LogTermFrequency,
    "log-tfidf": LogTfIdf,
    "log-entropy": LogEntropy,
    "bm25": Bm25,
    "tf-rf": RelevanceFrequency,
    "tf-icf": InverseClassFrequency,
    "tf-idf-icsdf": InverseClassSpaceDensity,
    "aitchison": Aitchison,
    "aitchison-learnt": LearnedAitchison,
}


class TermWeighting(TransformerMixin, MatrixEstimator):
    """Transformer of counts to points, for a scikit-learn pipeline with a kernel.

    Parameters
    ----------
    weighting : str or Weighting
        A name from `WEIGHTINGS`, for its defaults, or a weighting with parameters. `fit` learns the factors from its
        documents and labels.
    normalization : {"none", "l1", "l2"}
        Norm that divides each row of weights.

    Attributes
    ----------
    weighting_ : Weighting
        The fitted weighting.
    n_features_in_ : int
        V, the size of the vocabulary.

    Examples
    --------
    >>> import numpy as np
    >>> TermWeighting(normalization="l1").fit_transform(np.array([[1, 3], [2, 0]])).toarray()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    non_negative: ClassVar[bool] = True

    def __init__(self, weighting: str | Weighting = "tf", normalization: str = "none") -> None:
        self.weighting = weighting
        self.normalization = normalization

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the factors of the terms.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts.
        y : array, shape (n,) or (n, k), optional
            Labels or boolean memberships; needed by weightings that learn from labels.

        Returns
        -------
        TermWeighting
            This transformer.

        Raises
        ------
        ValueError
            If a name or a parameter is invalid, a count is negative, or labels are missing.
        """
        check_one_of("normalization", self.normalization, NORMALIZATIONS)
        weighting = self._unfitted()
        self.weighting_: Weighting = weighting.fit(X, y)
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_; the weighting has checked the rest
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Return weighted, normalized points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts.

        Returns
        -------
        CSR array of float64, shape (n, V)

        Raises
        ------
        ValueError
            If X has another number of terms, or a negative count.
        """
        check_is_fitted(self, "weighting_")
        return normalize_rows(self.weighting_.transform(X), self.normalization)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with the weighting's of the labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self._unfitted()).target_tags
        return tags

    def _unfitted(self) -> Weighting:
        if not isinstance(self.weighting, str):
            copy: Weighting = clone(self.weighting)
            return copy
        check_one_of("weighting", self.weighting, WEIGHTINGS)
        return WEIGHTINGS[self.weighting]()
