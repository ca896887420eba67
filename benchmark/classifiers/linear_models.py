"""Points to predictions by one hyperplane a class, learned without a kernel."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from benchmark.checks import check_one_of, check_positive_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

#: A configuration's name of a loss, scikit-learn's, and whether LIBLINEAR solves the dual: the hinge has no other
#: solver; of the squared hinge the primal one draws no random numbers.
LOSSES = {"hinge": ("hinge", True), "squared-hinge": ("squared_hinge", False)}
_MOST_ITERATIONS = 100_000
#: LIBLINEAR draws its random numbers from one generator of the whole process, which every training seeds.
_ONE_AT_A_TIME = threading.Lock()


class _LinearModel(ClassifierMixin, BaseEstimator, ABC):
    """What the two have in common: scikit-learn's estimator, under the manners of the other classifiers here.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    model_ : LinearSVC or LogisticRegression
    n_features_in_ : int
    """

    normalization: ClassVar[str] = "l2"
    needs_kernel: ClassVar[bool] = False
    kept: ClassVar[tuple[str, ...]] = ("classes_", "model_.classes_", "model_.coef_", "model_.intercept_")

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "C")

    @abstractmethod
    def untrained(self) -> Any:
        """Scikit-learn's estimator."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on the points X, dense or sparse, shape (n, V), and the labels y, shape (n,).

        Raises
        ------
        ValueError
            If a parameter is out of range, there is one class only, or the solver doesn't converge.
        """
        self.check()
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                self.model_ = self.untrained().fit(X, y)
            except ConvergenceWarning as warning:
                raise ValueError(f"{type(self).__name__} doesn't converge on these points: {warning}") from None
        self.classes_, self.n_features_in_ = self.model_.classes_, self.model_.n_features_in_
        return self

    def class_scores(self, X: Any) -> NDArray[np.float64]:
        """Decision values, shape (m, n_classes), also for two classes: then the second's and its negative."""
        check_is_fitted(self, "model_")
        values = np.asarray(self.model_.decision_function(X))
        return np.stack([-values, values], axis=1) if values.ndim == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, shape (m,)."""
        best = self.class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


class LinearSvm(_LinearModel):
    """A linear support vector machine a class, against the rest, by LIBLINEAR (Fan et al. 2008).

    Unlike LIBSVM's, its offset is regularized: it is the weight of one coordinate more, which is 1 in every document.

    Parameters
    ----------
    C : float
        Of the losses, > 0.
    loss : {"hinge", "squared-hinge"}
    epsilon : float
        LIBLINEAR's -e: how near it comes to the optimum.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> LinearSvm().fit(X, ["up", "up", "right", "right"]).predict([[0.1, 0.8], [0.7, 0.2]])
    array(['up', 'right'], dtype='<U5')
    """

    def __init__(self, C: float = 1.0, loss: str = "hinge", epsilon: float = 1e-4) -> None:
        self.C = C
        self.loss = loss
        self.epsilon = epsilon

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        super().check()
        check_positive_parameters(self, "epsilon")
        check_one_of("loss", self.loss, LOSSES)

    def untrained(self) -> LinearSVC:
        """Scikit-learn's estimator."""
        from sklearn.svm import LinearSVC  # noqa: PLC0415 - as below: a run from the store does without

        loss, dual = LOSSES[self.loss]
        return LinearSVC(C=self.C, loss=loss, dual=dual, tol=self.epsilon, random_state=0, max_iter=_MOST_ITERATIONS)


class LogisticClassifier(_LinearModel):
    """Logistic regression with an L2 penalty, multinomial for more than two classes: scikit-learn's, by L-BFGS.

    Parameters
    ----------
    C : float
        Of the losses, > 0; the offsets have no penalty.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> LogisticClassifier().fit(X, ["up", "up", "right", "right"]).predict([[0.1, 0.8], [0.7, 0.2]])
    array(['up', 'right'], dtype='<U5')
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def untrained(self) -> LogisticRegression:
        """Scikit-learn's estimator."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        return LogisticRegression(C=self.C, tol=1e-6, max_iter=_MOST_ITERATIONS)
