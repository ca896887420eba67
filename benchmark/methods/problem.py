"""The documents that a method is trained and tested on, the classes and terms that it learns, and decisions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from benchmark.evaluation.predictions import SettingPredictions
from benchmark.representation.selection import information_gain
from benchmark.representation.weighting import canonical_csr
from benchmark.representation.weightings import FROM_LABELS
from benchmark.text.counts import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import Representation
    from benchmark.corpora.corpus import Documents
    from benchmark.representation import Weighting
    from benchmark.system.arrays import Array, Bools, Indices
    from benchmark.text.fields import Texts
    from benchmark.text.lexer import Pruning


@dataclass(frozen=True, eq=False)
class Problem:
    """The documents of one task under one variant, before they are split.

    Parameters
    ----------
    counts : Counts
        Term counts of the task's documents; labels are positions in the task's classes.
    key : str
        Digest of everything that determines `counts`.
    seed : int
        Seed of the experiment.
    trained : intp array, optional
        Rows of the documents that any split of the experiment trains on, ascending; inner products have a column for
        each.
    pruning : Pruning, optional
        Pruning that each split does again, on its training documents; by default none does.
    texts : Texts, optional
        The documents as strings, where a method reads them.
    """

    counts: Counts
    key: str
    seed: int
    trained: Indices | None = None
    pruning: Pruning | None = None
    texts: Texts | None = None

    @property
    def documents(self) -> Documents:
        """The task's documents."""
        return self.counts.documents

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.documents.topics is not None

    @cached_property
    def members(self) -> Bools:
        """Class indicators of each document, shape (n, k)."""
        documents = self.documents
        if documents.topics is not None:
            return documents.topics
        return np.asarray(documents.labels[:, None] == np.arange(len(documents.classes)))

    def weighting(self, representation: Representation, rows: Indices | None) -> Weighting:
        """Return the representation's weighting, fitted on the documents at `rows`; None where it learns nothing."""
        built: Weighting = representation.weighting.build()
        if representation.fields:
            weights = dict(representation.fields)
            by_block = np.array([weights.get(name, 0.0) for name in self.counts.blocks])
            built.of_blocks(self.counts.block_of, by_block, representation.normalization)
        counts = self.counts.matrix if rows is None else self.counts.matrix[rows]
        return built.fit(counts, self.members[rows] if representation.learns == FROM_LABELS else None)

    def pruned(self, train: Indices) -> Problem:
        """Return the problem over the terms that pruning by split, if any, keeps in the documents at `train`."""
        if self.pruning is None:
            return self
        counts = self.counts.matrix[train].tocsc()
        return self.over_terms(np.flatnonzero(self.pruning.keeps(counts.sum(axis=0), np.diff(counts.indptr))))

    def over_terms(self, terms: Indices) -> Problem:
        """Return the problem over some of the terms, in their order, for one split."""
        key = f"{self.key}, terms {hashlib.sha256(terms.tobytes()).hexdigest()}"
        whole, matrix = self.counts, canonical_csr(self.counts.matrix[:, terms])
        words = tuple(whole.vocabulary[term] for term in terms)
        counts = Counts(whole.documents, matrix, words, whole.dropped, whole.blocks, whole.block_of[terms])
        return Problem(counts, key, self.seed)


def term_gains(problem: Problem, train: Indices) -> Array:
    """Return the information gains of the terms for each class in the documents at `train`, in nats, shape (k, V)."""
    documents = problem.documents
    classes = problem.members[train] if problem.multilabel else documents.labels[train]
    gains: Array = information_gain(problem.counts.matrix[train], classes, documents.classes)
    return gains


class Decisions(NamedTuple):
    """Decisions on m documents.

    Parameters
    ----------
    predicted : int32 array, shape (m,), or bool array, shape (m, k)
        Predicted class of each document, or class indicators where documents may have several classes.
    tied : bool array, of the shape of `predicted`
        True for a tie for the first place, or for a decision value of exactly 0.
    values : float64 array, shape (m, k), or None
        Decision value of each class; infinite for classes that could not be learned. None where a method has none.
    """

    predicted: NDArray[Any]
    tied: Bools
    values: Array | None

    def timed(self, seconds: Array) -> SettingPredictions:
        """Return the predictions of a split, with `seconds` by `TIMERS`, shape (6,)."""
        return SettingPredictions.of_split(self.predicted, self.tied, seconds, self.values)


@dataclass(frozen=True, eq=False)
class LearnedClasses:
    """Classes that some training documents have and others don't; a class that none has is never predicted.

    Where documents may have several classes, a class that every training document has is predicted for every document.

    Parameters
    ----------
    multilabel : bool
        True if a document may have several classes, or none.
    columns : intp array, shape (n_learned,)
        Positions of the learned classes, ascending.
    everywhere : bool array, shape (k,)
        True for classes that every training document has; always False where each document has exactly one class.
    """

    multilabel: bool
    columns: Indices
    everywhere: Bools

    @classmethod
    def of(cls, problem: Problem, train: Indices) -> Self:
        """Return the classes that can be learned from the documents at `train`."""
        members = problem.members[train]
        everywhere = np.asarray(members.all(axis=0) & problem.multilabel)
        return cls(problem.multilabel, np.flatnonzero(members.any(axis=0) & ~everywhere), everywhere)

    def names(self, problem: Problem) -> tuple[str, ...]:
        """Return the names of the learned classes."""
        return tuple(problem.documents.classes[int(column)] for column in self.columns)

    def decide(self, values: Array) -> Decisions:
        """Return decisions from decision values of the learned classes, shape (m, n_learned).

        The class with the largest value is predicted, of ties the first; where documents may have several classes, the
        classes with a positive value (LIBSVM's rule). A class that could not be learned has the value -inf, or inf if
        it is predicted for every document.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """
        check_finite_values(values)
        if not self.multilabel:
            tied = (values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1
            return Decisions(self.columns[values.argmax(axis=1)].astype(np.int32), tied, self.class_values(values))
        predicted = np.repeat(self.everywhere[None], len(values), axis=0)
        tied = np.zeros(predicted.shape, dtype=bool)
        predicted[:, self.columns], tied[:, self.columns] = values > 0, values == 0
        return Decisions(predicted, tied, self.class_values(values))

    def values_of(self, decisions: Decisions) -> Array:
        """Return the class values of decisions, shape (m, k); 1 or 0 where a method only predicts."""
        if decisions.values is None:
            return np.asarray(np.eye(len(self.everywhere))[decisions.predicted])
        return decisions.values

    def class_values(self, values: Array) -> Array:
        """Return decision values of all classes, shape (m, k), from those of the learned ones, shape (m, n_learned)."""
        full = np.tile(np.where(self.everywhere, np.inf, -np.inf), (len(values), 1))
        full[:, self.columns] = values
        return full


def check_finite_values(values: Array) -> Array:
    """Return the decision values; FloatingPointError if one isn't finite."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a decision value is not a finite number")
    return values
