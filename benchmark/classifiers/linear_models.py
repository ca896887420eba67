"""Linear classifiers of points, with a hyperplane for each class or each pair of classes and no kernel."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.classifiers.svm import RIDGE, SVM_SCHEMES, one_vs_one_scores
from benchmark.system.checks import FRACTION, POSITIVE, Range
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Bools
    from benchmark.system.checks import Allowed


#: Losses by the names of configurations: scikit-learn's name, and whether LIBLINEAR solves the dual problem. The hinge
#: has only a dual solver. For the squared hinge, the primal solver draws no random numbers.
LIBLINEAR_LOSSES = {"hinge": ("hinge", True), "squared-hinge": ("squared_hinge", False)}
_MOST_ITERATIONS = 100_000
_LIBLINEAR_PARAMETERS: Allowed = {"C": POSITIVE, "loss": LIBLINEAR_LOSSES, "epsilon": POSITIVE}


#: Taken by each training of LIBLINEAR, which seeds the one generator of random numbers of the process.
_LIBLINEAR = Lock()


def train_liblinear(X: Any, y: NDArray[Any], **parameters: Any) -> tuple[Array, Array]:
    """Return the hyperplanes of scikit-learn's `LinearSVC` with these parameters: normal vectors and offsets."""
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - slow, as below: runs served from the store don't need it

    with _LIBLINEAR:
        model = LinearSVC(random_state=0, max_iter=_MOST_ITERATIONS, **parameters).fit(X, y)
    return model.coef_, np.atleast_1d(model.intercept_)


class _LinearModel(SklearnClassifier):
    """Linear model that scikit-learn trains.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    coef_ : float64 array, shape (n_hyperplanes, V)
        Normal vectors; one hyperplane for two classes, positive for the second.
    intercept_ : float64 array, shape (n_hyperplanes,)
    n_features_in_ : int
    """

    allowed: ClassVar = {"C": POSITIVE}

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Train the hyperplanes.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Already validated.
        labels : array, shape (n,)

        Raises
        ------
        ValueError
            If there is only one class.

        Warns
        -----
        ConvergenceWarning
            If the solver stops before it converges.
        """
        self.coef_, self.intercept_ = self._hyperplanes(points, labels)

    def scores(self, points: Any) -> Array:
        """Return the decision value of each class; for two classes, that of the second.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Already validated.

        Returns
        -------
        float64 array, shape (m, n_classes), or (m, 1) for two classes
        """
        return np.asarray(safe_sparse_dot(points, self.coef_.T, dense_output=True) + self.intercept_)

    @abstractmethod
    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        """Return the normal vectors, shape (n_hyperplanes, V), and offsets, shape (n_hyperplanes,)."""


@dataclass(eq=False, repr=False)
class LinearSvm(_LinearModel):
    """Linear support vector machines by LIBLINEAR (Fan et al. 2008).

    Unlike in LIBSVM, the offset is regularized: it is the weight of an additional coordinate, 1 in every document.

    Parameters
    ----------
    C : float
        Weight of the losses, > 0.
    loss : {"hinge", "squared-hinge"}
        Loss of a training document.
    scheme : {"one-vs-rest", "one-vs-one"}
        "one-vs-one": pairs of classes vote; the sum of a class's decision values breaks ties of votes.
    ridge : float
        Added to <x, x> of each training document, ≥ 0: the SVM has the kernel <x, x'> + ridge · [x is x'], by an
        additional coordinate for each document. A point that is hard to separate then costs no more than C.
    epsilon : float
        LIBLINEAR's -e: the stopping tolerance.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> LinearSvm().fit(X, ["up", "up", "right", "right"]).predict([[0.1, 0.8], [0.7, 0.2]])
    array(['up', 'right'], dtype='<U5')
    """

    allowed: ClassVar = {**_LIBLINEAR_PARAMETERS, "scheme": SVM_SCHEMES, "ridge": RIDGE}

    C: float = 1.0
    loss: str = "hinge"
    scheme: str = "one-vs-rest"
    ridge: float = 0.0
    epsilon: float = 1e-4

    def scores(self, points: Any) -> Array:
        """Return the decision value of each class; one-vs-one's are those of `one_vs_one_scores`.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        values = super().scores(points)
        return one_vs_one_scores(values, len(self.classes_)) if self._by_pair else values

    @property
    def _by_pair(self) -> bool:
        return self.scheme == "one-vs-one" and len(self.classes_) > 2

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        if not self._by_pair:
            return self._train(X, y)
        hyperplanes = []
        for first, second in combinations(self.classes_, 2):
            rows = np.flatnonzero((y == first) | (y == second))
            hyperplanes.append(self._train(X[rows], y[rows] == first))
        return np.vstack([coef for coef, _ in hyperplanes]), np.concatenate([offset for _, offset in hyperplanes])

    def _train(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        """Train hyperplanes and drop the ridge's coordinates, which are 0 in all but one training document each."""
        loss, dual = LIBLINEAR_LOSSES[self.loss]
        parameters = {"C": self.C, "loss": loss, "dual": dual, "tol": self.epsilon}
        if not self.ridge:
            return train_liblinear(X, y, **parameters)
        ridge = np.sqrt(self.ridge) * sp.eye_array(X.shape[0], format="csr")
        coef, intercept = train_liblinear(sp.hstack([sp.csr_array(X), ridge], format="csr"), y, **parameters)
        return np.ascontiguousarray(coef[:, : X.shape[1]]), intercept


@dataclass(eq=False, repr=False)
class SgdSvm(_LinearModel):
    """One-vs-rest linear support vector machines by averaged stochastic gradient descent (scikit-learn's).

    Parameters
    ----------
    C : float
        Weight of the losses, > 0: the penalty is 1 / (C n) for n documents.
    passes : int
        Number of passes over the training documents, from 1 to 10000.
    seed : int
        Seed of the order of the documents.
    """

    allowed: ClassVar = {"C": POSITIVE, "passes": Range(1, 10_000)}

    C: float = 1.0
    passes: int = 10
    seed: int = 0

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        from sklearn.linear_model import SGDClassifier  # noqa: PLC0415

        alpha = 1 / (self.C * X.shape[0])
        model = SGDClassifier(alpha=alpha, max_iter=self.passes, tol=None, average=True, random_state=self.seed)
        # scikit-learn uses a lower learning rate of the offset for sparse points: make dense points sparse, too.
        model.fit(sp.csr_array(X), y)
        return model.coef_, model.intercept_


class LogisticClassifier(_LinearModel):
    """Logistic regression with an L2 penalty, multinomial for more than two classes (scikit-learn's, by L-BFGS).

    Parameters
    ----------
    C : float
        Weight of the losses, > 0; the offsets have no penalty.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1]])
    >>> LogisticClassifier().fit(X, ["up", "up", "right", "right"]).predict([[0.1, 0.8], [0.7, 0.2]])
    array(['up', 'right'], dtype='<U5')
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        model = LogisticRegression(C=self.C, tol=1e-6, max_iter=_MOST_ITERATIONS).fit(X, y)
        return model.coef_, model.intercept_


@dataclass(eq=False, repr=False)
class NbSvm(_LinearModel):
    """One-vs-rest linear support vector machines on terms scaled by naive Bayes log ratios (Wang & Manning 2012).

    For a class against the rest, r_j = ln (p_j / Σ p) / (q_j / Σ q) is the log-count ratio of term j, where p is the
    sum of the points inside the class and q the sum of those outside, both with `smoothing` added. The SVM w, b is
    trained on x_j r_j. Its decision value is Σ_j x_j r_j w'_j + b, w' = (1 - `interpolation`) w̄ + `interpolation` w,
    where w̄ is the mean of |w_j|. The paper's NBSVM takes only the presence of terms: the weighting "binary".

    Parameters
    ----------
    C : float
        Weight of the losses, > 0.
    smoothing : float
        The paper's α, > 0.
    interpolation : float
        The paper's β, in [0, 1]: 0 takes the weights of naive Bayes alone, 1 those of the SVM alone.
    loss : {"hinge", "squared-hinge"}
        Loss of a training document.
    epsilon : float
        LIBLINEAR's -e: the stopping tolerance.

    Examples
    --------
    >>> NbSvm().fit([[1, 1, 0], [1, 0, 0], [0, 1, 1]], ["a", "a", "b"]).predict([[1, 0, 0], [0, 0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False)
    non_negative: ClassVar[bool] = True
    allowed: ClassVar = {**_LIBLINEAR_PARAMETERS, "smoothing": POSITIVE, "interpolation": FRACTION}

    C: float = 1.0
    smoothing: float = 1.0
    interpolation: float = 0.25
    loss: str = "squared-hinge"
    epsilon: float = 1e-4

    def _hyperplanes(self, X: Any, y: NDArray[Any]) -> tuple[Array, Array]:
        classes = self.classes_
        # For two classes, the hyperplane of the first is that of the second with the opposite sign.
        trained = classes[-1:] if len(classes) == 2 else classes
        weights, offsets = zip(*(self._against_the_rest(X, y == label) for label in trained), strict=True)
        return np.stack(weights), np.concatenate(offsets)

    def _against_the_rest(self, X: sp.csr_array | Array, inside: Bools) -> tuple[Array, Array]:
        """Train a class against the rest; return the weights r w', shape (V,), and b, shape (1,)."""
        p, q = (self.smoothing + np.asarray(X[rows].sum(axis=0)).ravel() for rows in (inside, ~inside))
        r = np.log(p / p.sum()) - np.log(q / q.sum())
        scaled, loss = X * r if isinstance(X, np.ndarray) else X.multiply(r).tocsr(), LIBLINEAR_LOSSES[self.loss][0]
        # On unnormalized points the primal problem takes a hundred times as long as the dual.
        coef, offset = train_liblinear(scaled, inside, C=self.C, loss=loss, dual=True, tol=self.epsilon)
        w = coef[0]
        return r * ((1 - self.interpolation) * np.abs(w).mean() + self.interpolation * w), offset
