"""Probabilistic latent semantic indexing (Hofmann 1999): counts of words to mixtures of latent classes.

    P(d, w) = P(d) Σ_z P(z|d) P(w|z),   P(d) = n(d)/N,   P(z) = Σ_d P(d) P(z|d)

with n(d) the number of words of document d and N that of all. (Takamura et al. 2004, equation 11, write the same model
as Σ_z P(z) P(d|z) P(w|z).) EM learns both factors from the training documents; a new document is folded in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.kernels.models.plsi_em import Ascent, expectation_maximization, random_start, word_probabilities
from benchmark.kernels.models.plsi_fold import Folded, fold_in, known_words
from benchmark.representation.weighting import canonical

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def check_counts(X: Any) -> sp.csr_array:
    """Counts as canonical CSR of float64 without stored zeros; ValueError if one is negative or not finite."""
    counts = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(f"counts can't be negative, but one is {counts.data.min()}")
    if not counts.data.all():
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


class PLSI(TransformerMixin, BaseEstimator):
    """PLSI as a transformer: counts of words to the distributions P(z|d).

    `fit` runs EM from seeded random starts and keeps the likeliest model. EM's own P(z|d) of the training documents
    then gives way to that of folding them in: a training document and a new one with the same words have the same
    P(z|d), to the last bit, and ``fit(X).transform(X)`` is ``fit_transform(X)``.

    A document without words that the training documents have gets P(z|d) = P(z); other unknown words are ignored.

    Parameters
    ----------
    n_classes : int
        K.
    tolerance : float
        EM ends when a step gains at most this, in nats per word. On Reuters-21578 (1000 and 4000 documents,
        one draw each) a tenth of the default changed the macro-averaged F of SVMs on the Fisher kernel by up to 0.006,
        other random starts by up to 0.016.
    max_iterations : int
        Or after so many steps; `converged_` then is False.
    restarts : int
        Random starts, at least one.
    seed : int
        Start r is drawn by ``default_rng([seed, n_classes, r])``.
    temper : float
        β in (0, 1]; 1 is plain EM.
    fold_tolerance : float
        How far below its optimum a document that is folded in may stay, in nats per word.
    fold_iterations : int
        Or how many steps it may take.

    Attributes
    ----------
    word_given_class_ : float64 array, shape (V, K)
    class_given_document_ : float64 array, shape (n, K)
    class_ : float64 array, shape (K,)
        P(z).
    trace_ : float64 array, shape (steps + 1,)
        The objective per word at each step of the kept run; it never falls.
    converged_ : bool
        Of the kept run.
    restart_objectives_ : float64 array, shape (restarts,)
        Where each run ended.
    log_likelihood_ : float
        Σ n(d,w) log P(w|d) / N of the training documents, in nats per word.
    n_features_in_ : int

    Examples
    --------
    >>> counts = np.array([[4, 2, 0, 0], [1, 3, 0, 0], [0, 0, 5, 1], [0, 0, 2, 2]])
    >>> model = PLSI(n_classes=2).fit(counts)
    >>> model.word_given_class_[:, np.argsort(model.word_given_class_[0])].round(3)
    array([[0. , 0.5],
           [0. , 0.5],
           [0.7, 0. ],
           [0.3, 0. ]])
    >>> model.transform([[0, 0, 3, 3], [2, 0, 2, 0]]).max(axis=1).round(3)
    array([1. , 0.5])
    """

    def __init__(
        self,
        n_classes: int = 10,
        tolerance: float = 1e-4,
        max_iterations: int = 2000,
        restarts: int = 1,
        seed: int = 0,
        temper: float = 1.0,
        fold_tolerance: float = 1e-4,
        fold_iterations: int = 10_000,
    ) -> None:
        self.n_classes = n_classes
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.restarts = restarts
        self.seed = seed
        self.temper = temper
        self.fold_tolerance = fold_tolerance
        self.fold_iterations = fold_iterations

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        for name, least in (
            ("n_classes", 1),
            ("max_iterations", 0),
            ("restarts", 1),
            ("seed", 0),
            ("fold_iterations", 0),
        ):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= least):
                raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
        for name in ("tolerance", "fold_tolerance"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ValueError(f"{name} must be a finite number that isn't negative, not {value!r}")
        if not 0 < self.temper <= 1:
            raise ValueError(f"temper must be above 0 and at most 1, not {self.temper!r}")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn the classes of the counts X, dense or sparse, shape (n, V).

        Raises
        ------
        ValueError
            If a parameter is out of range, a count negative or not finite, or no document has a word.
        """
        self.check()
        counts = check_counts(X)
        if counts.nnz == 0:
            raise ValueError("no document has a word: there is nothing to learn from")
        runs = [self._run(counts, restart) for restart in range(self.restarts)]
        best = max(runs, key=lambda run: run.trace[-1])
        self.n_features_in_ = counts.shape[1]
        self.trace_, self.converged_, self.restart_objectives_ = (
            best.trace,
            best.converged,
            np.array([run.trace[-1] for run in runs]),
        )
        self.word_given_class_ = best.mixtures.phi
        length = np.asarray(counts.sum(axis=1))
        folded = self._fold(counts, np.zeros(self.n_classes))
        self.class_: Array = length @ folded.theta / length.sum()
        folded.theta[length == 0] = self.class_
        self.class_given_document_ = folded.theta
        self.log_likelihood_ = self._likelihood(counts, folded.theta)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # noqa: ARG002
        """Learn, and give P(z|d) of the same documents, shape (n, K)."""
        return self.fit(X).class_given_document_

    def transform(self, X: Any) -> Array:
        """P(z|d) of the documents X, shape (m, V), folded in: shape (m, K)."""
        return self.fold(X).theta

    def fold(self, X: Any) -> Folded:
        """The same with the number of steps and the gap of each document."""
        check_is_fitted(self, "class_")
        return self._fold(self._validated(X), self.class_)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Σ n(d,w) log P(w|d) / Σ n(d,w) over the words known from training, in nats per word.

        Raises
        ------
        ValueError
            If the documents have none.
        """
        check_is_fitted(self, "class_")
        counts = self._validated(X)
        return self._likelihood(counts, self._fold(counts, self.class_).theta)

    def _run(self, counts: sp.csr_array, restart: int) -> Ascent:
        rng = np.random.default_rng([self.seed, self.n_classes, restart])
        start = random_start(counts, self.n_classes, rng)
        return expectation_maximization(counts, start, self.tolerance, self.max_iterations, self.temper)

    def _fold(self, counts: sp.csr_array, otherwise: Array) -> Folded:
        return fold_in(
            counts, self.word_given_class_, otherwise, self.fold_tolerance, self.fold_iterations, self.temper
        )

    def _likelihood(self, counts: sp.csr_array, theta: Array) -> float:
        known = known_words(counts, self.word_given_class_)
        if known.nnz == 0:
            raise ValueError("the documents have no word that is known from training")
        return float(
            (known.data * np.log(word_probabilities(known, theta, self.word_given_class_))).sum() / known.data.sum()
        )

    def _validated(self, X: Any) -> sp.csr_array:
        counts = check_counts(X)
        if counts.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {counts.shape[1]} words, but the model was fitted on {self.n_features_in_}")
        return counts
