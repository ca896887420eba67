"""Metrics of predictions: functions of three counts for each class, or of decision values.

A metric of counts, for documents with one class or several, is a function of the true positives, the predicted
documents and the true documents of each class. It takes a whole stack of such counts, so that a bootstrap scores
thousands of resamples in one call. The ratio 0 / 0 is defined as 0: the precision of a class that is never predicted,
the recall of a class without documents, and so the F1 of a class with neither. A mean over classes is scikit-learn's:
where each document has one class, a class that no document has and that is never predicted is left out of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003 - a manifest's experiment is read by these annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.evaluation import ranking_metrics
from benchmark.system.checks import check_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tallies:
    """Counts of documents by class; the leading axes are splits or resamples.

    Parameters
    ----------
    right : array, shape (..., k)
        True positives (tp).
    assigned : array, shape (..., k)
        Documents for which the class is predicted (tp + fp).
    true : array, shape (..., k)
        Documents of the class (tp + fn).
    documents : array, shape (...)
        Number of test documents.
    in_means : bool array, shape (..., k), or None
        True for the classes that count in a mean over classes; None for all.
    """

    right: NDArray[Any]
    assigned: NDArray[Any]
    true: NDArray[Any]
    documents: NDArray[Any]
    in_means: NDArray[np.bool_] | None = None

    def summed(self) -> Tallies:
        """Return the counts summed over the first axis, such as the splits."""
        counts = (self.right, self.assigned, self.true, self.documents)
        right, assigned, true, documents = (part.sum(axis=0) for part in counts)
        in_means = None if self.in_means is None else np.asarray(self.in_means.any(axis=0))
        return Tallies(right, assigned, true, documents, in_means)

    def only(self, position: int) -> Tallies:
        """Return the counts of one class only."""
        at = slice(position, position + 1)
        return Tallies(self.right[..., at], self.assigned[..., at], self.true[..., at], self.true[..., position])


def tally_predictions(truth: NDArray[Any], predicted: NDArray[Any], n_classes: int) -> Tallies:
    """Count the predictions on one split by class.

    (scikit-learn's `multilabel_confusion_matrix` counts the same, in 14 to 56 times the time.)

    Parameters
    ----------
    truth, predicted : int arrays, shape (m,), or bool arrays, shape (m, k)
        True and predicted class of each document, or true and predicted class indicators.
    n_classes : int
        Number of classes, k.

    Returns
    -------
    Tallies
        Of shape (k,).

    Examples
    --------
    >>> tally_predictions(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).assigned
    array([1, 2])
    """
    if truth.ndim == 2:
        right, assigned, true = (part.sum(axis=0, dtype=np.int64) for part in (truth & predicted, predicted, truth))
        return Tallies(right, assigned, true, np.array(len(truth)))
    right, assigned, true = (
        np.bincount(codes, minlength=n_classes) for codes in (truth[truth == predicted], predicted, truth)
    )
    return Tallies(right, assigned, true, np.array(truth.size), assigned + true > 0)


def stack_tallies(tallies: Iterable[Tallies]) -> Tallies:
    """Return the counts of several splits, with the splits as first axis."""
    of_splits = list(tallies)
    counts = zip(*((one.right, one.assigned, one.true, one.documents) for one in of_splits), strict=True)
    right, assigned, true, documents = map(np.stack, counts)
    in_means = [one.in_means for one in of_splits if one.in_means is not None]
    return Tallies(right, assigned, true, documents, np.stack(in_means) if in_means else None)


def accuracy(tallies: Tallies) -> Floats:
    """Compute the share of documents with the right prediction, where each document has exactly one class."""
    return safe_divide(tallies.right.sum(axis=-1), tallies.documents)


def error(tallies: Tallies) -> Floats:
    """Compute the share of documents with a wrong prediction, where each document has exactly one class."""
    return safe_divide(tallies.documents - tallies.right.sum(axis=-1), tallies.documents)


def f1(tallies: Tallies) -> Floats:
    """Compute ``2 tp / (2 tp + fp + fn)`` of each class, shape (..., k)."""
    return safe_divide(2 * tallies.right, tallies.assigned + tallies.true)


def precision(tallies: Tallies) -> Floats:
    """Compute ``tp / (tp + fp)`` of each class, shape (..., k)."""
    return safe_divide(tallies.right, tallies.assigned)


def recall(tallies: Tallies) -> Floats:
    """Compute ``tp / (tp + fn)`` of each class, shape (..., k)."""
    return safe_divide(tallies.right, tallies.true)


def macro_f1(tallies: Tallies) -> Floats:
    """Compute the mean F1 over the classes.

    This is the "averaged F1" of Opitz and Burst, "Macro F1 and Macro F1" (arXiv:1911.03347, 2019), and scikit-learn's
    with ``zero_division=0``.
    """
    return _mean_over_classes(f1(tallies), tallies)


def macro_f1_of_means(tallies: Tallies) -> Floats:
    """Compute the F1 of the mean precision P and the mean recall R over the classes, ``2 P R / (P + R)``.

    This is the "F1 of averages" of Opitz and Burst (2019), never below `macro_f1` and sometimes far above it.
    """
    p, r = macro_precision(tallies), macro_recall(tallies)
    return safe_divide(2 * p * r, p + r)


def micro_f1(tallies: Tallies) -> Floats:
    """Compute the F1 of the counts summed over the classes, ``2 Σtp / (2 Σtp + Σfp + Σfn)``.

    Where each document has one label and one prediction, every false positive of a class is a false negative of
    another: Σfp = Σfn, and micro-F1 is the accuracy.
    """
    right, assigned, true = (part.sum(axis=-1) for part in (tallies.right, tallies.assigned, tallies.true))
    return safe_divide(2 * right, assigned + true)


def macro_recall(tallies: Tallies) -> Floats:
    """Compute the mean recall over the classes."""
    return _mean_over_classes(recall(tallies), tallies)


def macro_precision(tallies: Tallies) -> Floats:
    """Compute the mean precision over the classes."""
    return _mean_over_classes(precision(tallies), tallies)


def _mean_over_classes(values: Floats, tallies: Tallies) -> Floats:
    """Return the mean of values, shape (..., k), over the classes that count; all others have the value 0."""
    if tallies.in_means is None:
        return np.asarray(values.mean(axis=-1))
    return np.asarray(values.sum(axis=-1) / tallies.in_means.sum(axis=-1))


@dataclass(frozen=True)
class Metric:
    """Metric of predictions, a share computed from counts or from decision values.

    Parameters
    ----------
    of : callable or None
        Function from tallies of shape (..., k) to scores of shape (...). None of a metric of decision values, and of a
        plug-in's metric in a run that is read from its folder: only the scores that the run recorded are known.
    ranking : callable or None
        Function from a DecisionRanking of one split, and weights of its documents, shape (m,), or None, to a score.
    more_is_better : bool
    multilabel : bool
        True if the metric is defined where documents may have several classes, or none.
    by_class : bool
        True if the metric is defined for a single class.
    whole : bool
        True if the metric is defined for all classes together.
    pooled : bool
        True if the score over several splits is that of their summed counts; else it is the mean of the splits' scores.
        A split that lacks a class would have the F1 0 for it, however good the predictions (Forman and Scholz, SIGKDD
        Explorations 12, 2010). Replicates test the same documents again and are averaged in either case.
    classes_alike : bool
        True if each class counts alike, however few documents it has.
    """

    of: Callable[[Tallies], Floats] | None = field(default=None, metadata={"data": False})
    ranking: Callable[..., float] | None = field(default=None, kw_only=True, metadata={"data": False})
    more_is_better: bool = True
    multilabel: bool = True
    by_class: bool = True
    whole: bool = True
    pooled: bool = False
    classes_alike: bool = False

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function that computes the scores; None if only recorded scores are known."""
        return self.of or self.ranking

    def scores(self, tallies: Tallies) -> Floats:
        """Return the scores of counts, shape (...) of tallies of shape (..., k).

        Raises
        ------
        ValueError
            If only the recorded scores are known.
        """
        if self.of is None:
            raise ValueError("of a plug-in's metric, the run recorded no such number, and the plug-in isn't loaded")
        return self.of(tallies)


def function_of(component: Any) -> Any:
    """Return the function of a metric; any other component unchanged."""
    return component.function if isinstance(component, Metric) else component


_BY_CLASS: dict[str, Any] = {"pooled": True, "classes_alike": True}
#: Metrics of predictions; all of them are shares. For a single class, a mean over classes is that class's value.
METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, multilabel=False, by_class=False),
    "error": Metric(error, more_is_better=False, multilabel=False, by_class=False),
    "macro-f1": Metric(macro_f1, **_BY_CLASS),
    "macro-f1-mean-of-splits": Metric(macro_f1, by_class=False, classes_alike=True),
    "macro-f1-of-means": Metric(macro_f1_of_means, **_BY_CLASS),
    "micro-f1": Metric(micro_f1),
    "macro-recall": Metric(macro_recall, **_BY_CLASS),
    "macro-precision": Metric(macro_precision, **_BY_CLASS),
    "f1": Metric(macro_f1, whole=False, **_BY_CLASS),
    "precision": Metric(macro_precision, whole=False, **_BY_CLASS),
    "recall": Metric(macro_recall, whole=False, **_BY_CLASS),
    "micro-break-even": Metric(ranking=ranking_metrics.micro_break_even),
    "macro-break-even": Metric(ranking=ranking_metrics.macro_break_even, classes_alike=True),
    "micro-average-precision": Metric(ranking=ranking_metrics.micro_average_precision),
    "macro-average-precision": Metric(ranking=ranking_metrics.macro_average_precision, classes_alike=True),
    "micro-roc-auc": Metric(ranking=ranking_metrics.micro_roc_auc),
    "macro-roc-auc": Metric(ranking=ranking_metrics.macro_roc_auc, classes_alike=True),
}
#: Wall-clock seconds; lower is better. Claims and figures use them, but no table does, because tables of the same
#: predictions must be identical. See `analysis.costs`. Measures may declare others.
TIME_METRICS = ("seconds", "seconds-with-features", "seconds-in-all")
#: Numbers of a pair of cells.
PAIR_METRICS = ("sign-z", "error-ratio")


@dataclass(frozen=True)
class DiagnosticMetric:
    """Metric that a diagnostic declares: its name, its unit, and how tables and axes show it.

    Parameters
    ----------
    name : str
        Name in scores.csv and in the figures of a configuration: "mean-length".
    unit : str
        "percent" for a share, which is stored as a fraction and shown times 100; "one" for a number without a unit;
        "nats", "documents", "seconds"; or any other text, which is printed as it is: "words".
    label : str
        Name in tables and on axes; by default `name`.
    better : {"larger", "smaller", "neither"}
        Which of two values is the better one.
    decimals : int
        Number of printed digits after the decimal point.
    on_clock : bool
        True for wall-clock time, which figures show and tables don't, because tables of the same predictions must be
        identical in every run.

    Raises
    ------
    ValueError
        If the name has other characters than those of a name in a configuration.
    """

    name: str
    unit: str
    label: str = ""
    better: Literal["larger", "smaller", "neither"] = "neither"
    decimals: int = 2
    on_clock: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]{,99}", self.name):
            rule = "is made of a-z, 0-9, '.' and '-', at most 100, and begins with a letter or digit"
            raise ValueError(f"{self.name!r}: the name of a metric {rule}")
        check_value(f"better of {self.name!r}", self.better, ("larger", "smaller", "neither"))


def unit_of(metric: str, quantities: Mapping[str, DiagnosticMetric]) -> str:
    """Return the unit of a metric's values: "seconds", "nats", "one" …; "percent" for a share.

    Parameters
    ----------
    metric : str
    quantities : mapping of str to DiagnosticMetric
        Metrics that diagnostics declare, by name.
    """
    if metric in quantities:
        return quantities[metric].unit
    return "seconds" if metric in TIME_METRICS else "one" if metric in PAIR_METRICS else "percent"


def is_time_metric(metric: str, quantities: Mapping[str, DiagnosticMetric]) -> bool:
    """Return whether a metric is wall-clock time, which differs from run to run."""
    return metric in TIME_METRICS or (metric in quantities and quantities[metric].on_clock)


def more_is_better(
    metric: str, known: Mapping[str, Metric] = METRICS, quantities: Mapping[str, DiagnosticMetric] | None = None
) -> bool:
    """Return whether the larger of two scores is the better one."""
    if quantities is not None and metric in quantities:
        return quantities[metric].better != "smaller"
    return known[metric].more_is_better if metric in known else metric not in TIME_METRICS


def is_metric_defined(metric: str, *, multilabel: bool, of_class: bool, known: Mapping[str, Metric] = METRICS) -> bool:
    """Return whether a metric is defined where documents may have several classes, and for one class or for all."""
    spec = known.get(metric)
    return spec is not None and (spec.multilabel or not multilabel) and (spec.by_class if of_class else spec.whole)


def safe_divide(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return `part` / `whole`, with 0 / 0 = 0."""
    quotient = np.zeros(np.shape(whole))
    np.divide(part, whole, out=quotient, where=np.asarray(whole) != 0)
    return quotient
