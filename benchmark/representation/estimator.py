"""Base class of components that are scikit-learn estimators of a matrix: its tags, and its checks of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from benchmark.system.checks import check_parameters

if TYPE_CHECKING:
    from benchmark.system.checks import Allowed


class MatrixEstimator(BaseEstimator):
    """scikit-learn estimator of a sparse or dense matrix.

    Attributes
    ----------
    n_features_in_ : int
        V, the number of columns.
    """

    #: Values that parameters may have.
    allowed: ClassVar[Allowed] = {}

    @property
    def non_negative(self) -> bool:
        """Whether matrices with a negative value are rejected."""
        return False

    def check(self) -> None:
        """Check the parameters, in `fit` and before a run starts.

        Raises
        ------
        ValueError
            If a parameter has a value that isn't allowed.
        """
        check_parameters(self, self.allowed)

    def validated(self, X: Any, *, fitting: bool, dtype: Any = np.float64) -> Any:
        """Check a matrix by scikit-learn's rules.

        Parameters
        ----------
        X : sparse or dense matrix, shape (n, V)
        fitting : bool
            Whether to set `n_features_in_`, or else to compare with it.
        dtype : type or "numeric"
            Type of the values; "numeric" keeps theirs.

        Returns
        -------
        CSR or dense matrix, shape (n, V)
            X itself where it has the type and the format.

        Raises
        ------
        ValueError
            If a value is not finite, or negative though `non_negative`, or X has another number of columns.
        """
        how = {"accept_sparse": "csr", "dtype": dtype, "ensure_non_negative": self.non_negative}
        return validate_data(self, X, reset=fitting, **how)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with those of the input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.non_negative
        return tags
