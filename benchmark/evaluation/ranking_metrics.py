"""Metrics of decision values: how well they rank documents, whatever the threshold.

Each is computed over decisions, one for each document and class. "micro" ranks all decisions together; "macro" ranks
the documents for each class, and is the mean over the classes for which it is defined: those of some tested documents,
and for the area under the ROC curve not of all. Equal values are a tie, in which documents count as in random order.

Where each document has one class, its values are centred over the classes, as a fusion's are: a Bayes classifier's
log-likelihoods are known only up to a constant of the document. For two classes this is half the decision value of
scikit-learn's `decision_function`. Where documents may have several classes, values are as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Bools, Indices


@dataclass(frozen=True, eq=False)
class _RankedDecisions:
    """Decisions in the order of decreasing values.

    Parameters
    ----------
    documents : intp array, shape (n,)
        Row of the document of each decision.
    right : intp array, shape (r,)
        Positions of the decisions whose document is of the class.
    knots : intp array, shape (thresholds,)
        Numbers of decisions before and after each group of equal values that has a right one, from none to all. In
        between, no decision is right: a bootstrap needs no other threshold, of perhaps a hundred times as many.
    """

    documents: Indices
    right: Indices
    knots: Indices

    @classmethod
    def of(cls, truth: Bools, values: Array) -> _RankedDecisions:
        """Rank the decisions of truth and values of shape (m, classes)."""
        flat = values.ravel()
        order = np.argsort(-flat, kind="stable")
        ranked, right = flat[order], np.flatnonzero(truth.ravel()[order])
        bounds = np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, [len(ranked)]])
        group = np.searchsorted(bounds, right, side="right") - 1
        knots = np.unique(np.concatenate([[0], bounds[group], bounds[group + 1], [len(ranked)]]))
        return cls(order // values.shape[1], right, knots)

    def counts(self, weights: Array) -> tuple[Array, Array]:
        """Return the true positives and all positives above each threshold, shape (thresholds,)."""
        repeated = weights[self.documents]
        right, assigned = (np.concatenate([[0.0], np.cumsum(each)]) for each in (repeated[self.right], repeated))
        return right[np.searchsorted(self.right, self.knots)], assigned[self.knots]


@dataclass(frozen=True, eq=False)
class DecisionRanking:
    """Decision values of the tested documents of one split, with the truth.

    Parameters
    ----------
    truth : bool array, shape (m, k)
        Class indicators.
    values : float64 array, shape (m, k)
        Decision values, not NaN; infinite for classes that could not be learned.
    """

    truth: Bools
    values: Array

    @classmethod
    def of_documents(cls, truth: NDArray[Any], values: Array, of_class: int | None = None) -> DecisionRanking:
        """Rank documents with one class each or several, for all classes or one.

        Parameters
        ----------
        truth : int array, shape (m,), or bool array, shape (m, k)
        values : float64 array, shape (m, k)
        of_class : int, optional
        """
        members = truth
        if truth.ndim == 1:
            members, values = truth[:, None] == np.arange(values.shape[1]), _centred(values)
        columns = slice(None) if of_class is None else slice(of_class, of_class + 1)
        return cls(members[:, columns], values[:, columns])

    @cached_property
    def pooled(self) -> tuple[_RankedDecisions]:
        """All decisions in one ranking."""
        return (_RankedDecisions.of(self.truth, self.values),)

    @cached_property
    def by_class(self) -> tuple[_RankedDecisions, ...]:
        """The documents ranked for each class."""
        pairs = zip(self.truth.T, self.values.T, strict=True)
        return tuple(_RankedDecisions.of(truth[:, None], values[:, None]) for truth, values in pairs)

    def mean(self, rankings: tuple[_RankedDecisions, ...], measure: _Measure, weights: Array | None) -> float:
        """Return the mean of a measure over the rankings for which it is defined; 0 if it is for none."""
        repeated = np.ones(len(self.truth)) if weights is None else weights
        found = [value for each in rankings if (value := measure(*each.counts(repeated))) is not None]
        return float(np.mean(found)) if found else 0.0


def _centred(values: Array) -> Array:
    """Return the values less each document's mean over the classes that could be learned."""
    known = np.isfinite(values)
    means = np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.asarray(values - means[:, None])


if TYPE_CHECKING:
    #: A function of the true positives and all positives above each threshold; None where it is not defined.
    _Measure = Callable[[Array, Array], float | None]


def _break_even(right: Array, assigned: Array) -> float | None:
    total = right[-1]
    return float(np.interp(total, assigned, right) / total) if total else None


def _average_precision(right: Array, assigned: Array) -> float | None:
    precision = np.divide(right, assigned, out=np.zeros_like(right), where=assigned > 0)
    return float(np.diff(right) @ precision[1:] / right[-1]) if right[-1] else None


def _roc_auc(right: Array, assigned: Array) -> float | None:
    wrong = assigned - right
    if not right[-1] or not wrong[-1]:
        return None
    return float(np.diff(wrong) @ (right[1:] + right[:-1]) / 2 / (right[-1] * wrong[-1]))


def micro_break_even(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the value at which precision and recall are equal, for one threshold on all decisions.

    Where R of all decisions are right, precision and recall are equal once R decisions are positive: both are tp / R
    (Lewis, SIGIR 1992; Joachims, ECML 1998; Manning, Raghavan and Schütze 2008, section 8.4, where it is the
    R-precision). If the R-th decision lies within a tie, tp is interpolated between the thresholds on both sides of it.
    """
    return ranking.mean(ranking.pooled, _break_even, weights)


def macro_break_even(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the mean of the classes' break-even points, see `micro_break_even`."""
    return ranking.mean(ranking.by_class, _break_even, weights)


def micro_average_precision(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the average precision of all decisions, ``Σ (R_n - R_{n-1}) P_n`` over the thresholds n.

    P_n and R_n are precision and recall above the n-th threshold, as of scikit-learn's `average_precision_score`.
    """
    return ranking.mean(ranking.pooled, _average_precision, weights)


def macro_average_precision(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the mean of the classes' average precision, see `micro_average_precision`."""
    return ranking.mean(ranking.by_class, _average_precision, weights)


def micro_roc_auc(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the area under the ROC curve of all decisions.

    It is the share of pairs of a right and a wrong decision in which the right one has the larger value; an equal value
    counts half (Hanley and McNeil, Radiology 143, 1982).
    """
    return ranking.mean(ranking.pooled, _roc_auc, weights)


def macro_roc_auc(ranking: DecisionRanking, weights: Array | None = None) -> float:
    """Compute the mean of the classes' areas under the ROC curve, see `micro_roc_auc`."""
    return ranking.mean(ranking.by_class, _roc_auc, weights)
