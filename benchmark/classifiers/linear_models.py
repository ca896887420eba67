"""Points to predictions by one hyperplane a class, or one a pair of them, learned without a kernel."""

from __future__ import annotations

import threading
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_non_negative

from benchmark.checks import check_one_of, check_positive_parameters
from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.classifiers.svm import check_ridge, votes_and_shares
from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A configuration's name of a loss, scikit-learn's, and whether LIBLINEAR solves the dual: the hinge has no other
#: solver; of the squared hinge the primal one draws no random numbers.
LOSSES = {"hinge": ("hinge", True), "squared-hinge": ("squared_hinge", False)}
SCHEMES = ("one-vs-rest", "one-vs-one", "crammer-singer")
_MOST_ITERATIONS = 100_000
#: LIBLINEAR draws its random numbers from one generator of the whole process, which every training seeds.
_ONE_AT_A_TIME = threading.Lock()


class _LinearModel(SklearnClassifier):
    """A linear model of scikit-learn's.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    coef_ : float64 array, shape (n_hyperplanes, V)
        One for two classes.
    intercept_ : float64 array, shape (n_hyperplanes,)
    n_features_in_ : int
    """

    tags: ClassVar[Tags] = Tags(sums_words=True)
    kept: ClassVar[tuple[str, ...]] = ("classes_", "coef_", "intercept_")

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "C")

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Learn the hyperplanes; ValueError if there is one class only, or the solver doesn't converge."""
        self.coef_, self.intercept_ = self._hyperplanes(points, labels)

    def scores(self, points: Any) -> NDArray[np.float64]:
        """Return decision values; of two classes the second's and its negative."""
        values = self._values(points)
        return np.hstack([-values, values]) if values.shape[1] == 1 else values

    def _values(self, points: Any) -> NDArray[np.float64]:
        """Of each hyperplane, shape (m, n_hyperplanes)."""
        return np.asarray(safe_sparse_dot(points, self.coef_.T, dense_output=True) + self.intercept_)

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                model = self.untrained(X.shape[0]).fit(X, y)
            except ConvergenceWarning as warning:
                raise ValueError(f"{type(self).__name__} doesn't converge on these points: {warning}") from None
        return model.coef_, np.atleast_1d(model.intercept_)


class LinearSvm(_LinearModel):
    """Linear support vector machines by LIBLINEAR (Fan et al. 2008): one a class, unless said otherwise.

    Unlike LIBSVM's, an offset is regularized: it is the weight of one coordinate more, which is 1 in every document.

    Parameters
    ----------
    C : float
        Of the losses, > 0.
    loss : {"hinge", "squared-hinge"}
    scheme : {"one-vs-rest", "one-vs-one", "crammer-singer"}
        One-vs-one votes, and the sum of a class's decisions tells between classes of as many votes. Crammer & Singer's
        machine (2001) is trained for all classes at once, by the hinge.
    ridge : float
        Added to <x, x> of each training document, not negative: the machine of the kernel <x, x'> + ridge · [x is x'],
        by a coordinate of each document's own. It makes a point that is hard to separate cost no more than C.
    epsilon : float
        LIBLINEAR's -e: how near it comes to the optimum.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> LinearSvm().fit(X, ["up", "up", "right", "right"]).predict([[0.1, 0.8], [0.7, 0.2]])
    array(['up', 'right'], dtype='<U5')
    """

    def __init__(
        self,
        C: float = 1.0,
        loss: str = "hinge",
        scheme: str = "one-vs-rest",
        ridge: float = 0.0,
        epsilon: float = 1e-4,
    ) -> None:
        self.C = C
        self.loss = loss
        self.scheme = scheme
        self.ridge = ridge
        self.epsilon = epsilon

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        super().check()
        check_positive_parameters(self, "epsilon")
        check_one_of("loss", self.loss, LOSSES)
        check_one_of("scheme", self.scheme, SCHEMES)
        check_ridge(self.ridge)
        if self.scheme == "crammer-singer" and self.loss != "hinge":
            raise ValueError(f"the loss of the scheme crammer-singer is the hinge, not {self.loss!r}")

    def untrained(self, n: int) -> Any:  # noqa: ARG002
        """Return scikit-learn's estimator, for n documents."""
        from sklearn.svm import LinearSVC  # noqa: PLC0415 - as below: a run from the store does without

        loss, dual = LOSSES[self.loss]
        kind = "crammer_singer" if self.scheme == "crammer-singer" else "ovr"
        common = {"C": self.C, "tol": self.epsilon, "random_state": 0, "max_iter": _MOST_ITERATIONS}
        return LinearSVC(loss=loss, dual=dual, multi_class=kind, **common)

    def scores(self, points: Any) -> NDArray[np.float64]:
        """Return decision values; one-vs-one's as of `votes_and_shares`."""
        if self.scheme != "one-vs-one" or len(self.classes_) == 2:
            return super().scores(points)
        return votes_and_shares(self._values(points), len(self.classes_))

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.scheme != "one-vs-one" or len(self.classes_) < 3:
            return self._without_ridge(X, y)
        found = []
        for first, second in combinations(self.classes_, 2):
            rows = np.flatnonzero((y == first) | (y == second))
            found.append(self._without_ridge(X[rows], y[rows] == first))
        return np.vstack([coef for coef, _ in found]), np.concatenate([intercept for _, intercept in found])

    def _without_ridge(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Hyperplanes for any documents: of the coordinates that the ridge is made of each has its own training one."""
        if not self.ridge:
            return super()._hyperplanes(X, y)
        own = np.sqrt(self.ridge) * sp.eye_array(X.shape[0], format="csr")
        coef, intercept = super()._hyperplanes(sp.hstack([sp.csr_array(X), own], format="csr"), y)
        return np.ascontiguousarray(coef[:, : X.shape[1]]), intercept


class StreamedSvm(_LinearModel):
    """A linear support vector machine a class by averaged stochastic gradient descent: scikit-learn's.

    Parameters
    ----------
    C : float
        Of the losses, > 0: the penalty is 1 / (C n) for n documents.
    passes : int
        Over the documents.
    seed : int
        Of the order in which they are taken.
    """

    def __init__(self, C: float = 1.0, passes: int = 10, seed: int = 0) -> None:
        self.C = C
        self.passes = passes
        self.seed = seed

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        super().check()
        if not 1 <= self.passes <= 10_000:
            raise ValueError(f"passes must lie between 1 and 10000, not {self.passes}")

    def untrained(self, n: int) -> Any:
        """Return scikit-learn's estimator, for n documents."""
        from sklearn.linear_model import SGDClassifier  # noqa: PLC0415

        return SGDClassifier(
            alpha=1 / (self.C * n), max_iter=self.passes, tol=None, average=True, random_state=self.seed
        )

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Scikit-learn learns the offset more slowly of sparse points: dense ones are to be the same.
        return super()._hyperplanes(sp.csr_array(X), y)


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

    def untrained(self, n: int) -> Any:  # noqa: ARG002
        """Return scikit-learn's estimator, for n documents."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        return LogisticRegression(C=self.C, tol=1e-6, max_iter=_MOST_ITERATIONS)


class NbSvm(_LinearModel):
    """A linear support vector machine a class, on terms scaled by what naive Bayes makes of them (Wang, Manning 2012).

    Of a class against the rest, r_j = ln (p_j / Σ p) / (q_j / Σ q) is the log-count ratio of term j, with p the sum of
    the points inside and q of those outside, each with `smoothing` added. The machine w, b is trained on x_j r_j, and
    decides by Σ_j x_j r_j w'_j + b, w' = (1 - `interpolation`) w̄ + `interpolation` w, w̄ the mean of |w_j|. Theirs is
    of terms that are present or not: the weighting "binary".

    Parameters
    ----------
    C : float
        Of the losses, > 0.
    smoothing : float
        Their α, > 0.
    interpolation : float
        Their β, in [0, 1]: from the weights of naive Bayes alone to those of the machine alone.
    loss : {"hinge", "squared-hinge"}
    epsilon : float
        LIBLINEAR's -e: how near it comes to the optimum.

    Examples
    --------
    >>> NbSvm().fit([[1, 1, 0], [1, 0, 0], [0, 1, 1]], ["a", "a", "b"]).predict([[1, 0, 0], [0, 0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, sums_words=True)
    non_negative: ClassVar[bool] = True

    def __init__(
        self,
        C: float = 1.0,
        smoothing: float = 1.0,
        interpolation: float = 0.25,
        loss: str = "squared-hinge",
        epsilon: float = 1e-4,
    ) -> None:
        self.C = C
        self.smoothing = smoothing
        self.interpolation = interpolation
        self.loss = loss
        self.epsilon = epsilon

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        super().check()
        check_positive_parameters(self, "epsilon", "smoothing")
        check_one_of("loss", self.loss, LOSSES)
        if not 0 <= self.interpolation <= 1:
            raise ValueError(f"interpolation must be a number from 0 to 1, not {self.interpolation}")

    def untrained(self, n: int) -> Any:  # noqa: ARG002
        """Return scikit-learn's estimator, by the dual: points of any length take the primal 100 times as long."""
        from sklearn.svm import LinearSVC  # noqa: PLC0415

        loss, _ = LOSSES[self.loss]
        return LinearSVC(C=self.C, loss=loss, dual=True, tol=self.epsilon, random_state=0, max_iter=_MOST_ITERATIONS)

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Learn the hyperplanes; ValueError also if a value of a point is negative."""
        check_non_negative(points, type(self).__name__)
        super().learn(points, labels)

    def _machine(self) -> LinearSvm:
        return LinearSvm(self.C, self.loss, epsilon=self.epsilon)

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        classes = self.classes_
        # Of two classes, the machine of the first is that of the second with its signs turned.
        decided = classes[-1:] if len(classes) == 2 else classes
        weights, offsets = zip(*(self._against_the_rest(X, y == each) for each in decided), strict=True)
        return np.stack(weights), np.concatenate(offsets)

    def _against_the_rest(
        self, X: sp.csr_array | NDArray[np.float64], inside: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights r w', shape (V,), and b, shape (1,), of a class."""
        p, q = (self.smoothing + np.asarray(X[rows].sum(axis=0)).ravel() for rows in (inside, ~inside))
        r = np.log(p / p.sum()) - np.log(q / q.sum())
        coef, offset = super()._hyperplanes(X * r if isinstance(X, np.ndarray) else X.multiply(r).tocsr(), inside)
        w = coef[0]
        return r * ((1 - self.interpolation) * np.abs(w).mean() + self.interpolation * w), offset
