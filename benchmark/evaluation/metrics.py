"""From decisions to scores: three counts a class, and the metrics that are functions of them.

Every metric of predictions, be a document of one class or of several, comes from how many documents of each class were
given to it, how many documents were given to it, and how many are of it. A metric takes a whole stack of such counts,
so that a bootstrap scores thousands of resamples in one call. A ratio of nothing, 0 / 0, is 0: the precision of a class
that no document was given to, the recall of one that no document is of, and so the F of a class without either. The
number of terms in a mean over the classes then never depends on the predictions.
"""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003 - a manifest's experiment is read by these annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tallies:
    """Documents by class; the leading axes are splits, or resamples.

    Parameters
    ----------
    right : array, shape (..., k)
        Are of the class and were given to it (tp).
    assigned : array, shape (..., k)
        Were given to it (tp + fp).
    true : array, shape (..., k)
        Are of it (tp + fn).
    documents : array, shape (...)
        Tested, each once.
    """

    right: NDArray[Any]
    assigned: NDArray[Any]
    true: NDArray[Any]
    documents: NDArray[Any]

    def only(self, position: int) -> Tallies:
        """The counts of one class alone."""
        own = slice(position, position + 1)
        return Tallies(self.right[..., own], self.assigned[..., own], self.true[..., own], self.true[..., position])


def tally(truth: NDArray[Any], given: NDArray[Any], n_classes: int) -> Tallies:
    """Count the decisions on one split.

    (scikit-learn's `multilabel_confusion_matrix` counts the same, in 14 to 56 times the time.)

    Parameters
    ----------
    truth, given : int arrays, shape (m,), or bool arrays, shape (m, k)
        The class of each document and the one it was given; or which classes it has, and which it was given.
    n_classes : int

    Examples
    --------
    >>> tally(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).assigned
    array([1, 2])
    """
    if truth.ndim == 2:
        right, assigned, true = (part.sum(axis=0, dtype=np.int64) for part in (truth & given, given, truth))
        return Tallies(right, assigned, true, np.array(len(truth)))
    right, assigned, true = (np.bincount(codes, minlength=n_classes) for codes in (truth[truth == given], given, truth))
    return Tallies(right, assigned, true, np.array(truth.size))


def stacked(tallies: Iterable[Tallies]) -> Tallies:
    """The counts of several splits, the first axis being the splits."""
    each = list(tallies)
    parts = ("right", "assigned", "true", "documents")
    return Tallies(*(np.stack([getattr(one, part) for one in each]) for part in parts))


def accuracy(tallies: Tallies) -> Floats:
    """Share of the documents, of one class each, that are right."""
    return ratio(tallies.right.sum(axis=-1), tallies.documents)


def error(tallies: Tallies) -> Floats:
    """Share of the documents, of one class each, that are wrong."""
    return ratio(tallies.documents - tallies.right.sum(axis=-1), tallies.documents)


def f1(tallies: Tallies) -> Floats:
    """``2 tp / (2 tp + fp + fn)`` of each class, shape (..., k)."""
    return ratio(2 * tallies.right, tallies.assigned + tallies.true)


def precision(tallies: Tallies) -> Floats:
    """``tp / (tp + fp)`` of each class, shape (..., k)."""
    return ratio(tallies.right, tallies.assigned)


def recall(tallies: Tallies) -> Floats:
    """``tp / (tp + fn)`` of each class, shape (..., k)."""
    return ratio(tallies.right, tallies.true)


def macro_f1(tallies: Tallies) -> Floats:
    """Mean over the classes of their F1.

    The "averaged F1" of Opitz and Burst, "Macro F1 and Macro F1" (arXiv:1911.03347, 2019); scikit-learn's with
    ``labels`` given and ``zero_division=0``.
    """
    return np.asarray(f1(tallies).mean(axis=-1))


def macro_f1_of_means(tallies: Tallies) -> Floats:
    """F1 of the mean precision P and the mean recall R over the classes, ``2 P R / (P + R)``.

    The "F1 of averages" of Opitz and Burst (2019), never below `macro_f1` and at times far above it.
    """
    p, r = macro_precision(tallies), macro_recall(tallies)
    return ratio(2 * p * r, p + r)


def micro_f1(tallies: Tallies) -> Floats:
    """F1 of the counts summed over the classes, ``2 Σtp / (2 Σtp + Σfp + Σfn)``.

    Where each document has one label and gets one, every false positive of a class is a false negative of another:
    Σfp = Σfn, and micro-F1 is the accuracy.
    """
    right, assigned, true = (part.sum(axis=-1) for part in (tallies.right, tallies.assigned, tallies.true))
    return ratio(2 * right, assigned + true)


def macro_recall(tallies: Tallies) -> Floats:
    """Mean over the classes of the share of its documents that each class was given."""
    return np.asarray(recall(tallies).mean(axis=-1))


def macro_precision(tallies: Tallies) -> Floats:
    """Mean over the classes of the share of the documents given to it that are of it."""
    return np.asarray(precision(tallies).mean(axis=-1))


@dataclass(frozen=True)
class Metric:
    """How a score, a share, is computed from counts, and what it is defined for.

    Parameters
    ----------
    of : callable or None
        From tallies of shape (..., k) to scores of shape (...). None of a plug-in's metric in a run that is read from
        its folder: of it, only the scores that the run recorded are known.
    more_is_better : bool
    several : bool
        Whether it is defined where documents have several classes, or none.
    by_class : bool
        Whether it is defined of one class by itself.
    whole : bool
        Whether it is defined of all classes together.
    """

    of: Callable[[Tallies], Floats] | None = field(default=None, metadata={"data": False})
    more_is_better: bool = True
    several: bool = True
    by_class: bool = True
    whole: bool = True

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


#: Metrics of predictions; all of them are shares. A mean over the classes is, of one class, that class's own number.
METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, several=False, by_class=False),
    "error": Metric(error, more_is_better=False, several=False, by_class=False),
    "macro-f1": Metric(macro_f1),
    "macro-f1-of-means": Metric(macro_f1_of_means),
    "micro-f1": Metric(micro_f1),
    "macro-recall": Metric(macro_recall),
    "macro-precision": Metric(macro_precision),
    "f1": Metric(macro_f1, whole=False),
    "precision": Metric(macro_precision, whole=False),
    "recall": Metric(macro_recall, whole=False),
}
#: Seconds on the clock, of which fewer are better: they decide claims and are drawn, but stand in no table, since
#: tables of the same predictions are the same. See `findings.costs`. Measures may declare others.
CLOCK = ("seconds", "seconds-with-features", "seconds-in-all")
#: Numbers of two cells together.
OF_PAIRS = ("sign-z", "error-ratio")
#: Of what a measure declares: characters of a text, decimals, and words for `better`.
_LONGEST, _MOST_DECIMALS, _BETTER = 100, 12, ("larger", "smaller", "neither")
#: Units that stand for one of another name.
_HINTS = dict.fromkeys(("%", "share"), 'write "percent" for a share, which is shown times 100')
_HINTS[""] = 'write "one" for a number without a unit'


@dataclass(frozen=True)
class MeasuredQuantity:
    """A metric of a measure, declared as data: its name, its unit, and how tables and axes show it.

    Parameters
    ----------
    name : str
        As scores.csv and the figures of a configuration write it: "mean-length".
    unit : str
        "percent" for a share, which is stored as a fraction and shown times 100; "one" for a number without a unit;
        "nats", "documents", "seconds"; or any other text, which is printed as it stands: "words".
    label : str
        Name in the header of a table; `name` if left out.
    better : {"larger", "smaller", "neither"}
    decimals : int
        Printed digits after the point.
    axis : str
        Name of an axis that shows this metric alone; `label` if left out.
    together : str
        Name of an axis that shows several metrics of this kind; `axis` if left out.
    definition : str
        Title of a panel that shows one of several metrics; `label` if left out.
    on_clock : bool
        Whether it is time on the clock. It is drawn in figures then and stands in no table, because tables of the same
        predictions must be the same in every run.

    Raises
    ------
    ValueError
        If a name, unit or label can't be printed in a line, or the number of decimals is out of range.
    """

    name: str
    unit: str
    label: str = ""
    better: Literal["larger", "smaller", "neither"] = "neither"
    decimals: int = 2
    axis: str = ""
    together: str = ""
    definition: str = ""
    on_clock: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]{,99}", self.name):
            rule = "is made of a-z, 0-9, '.' and '-', at most 100, and begins with a letter or digit"
            raise ValueError(f"{self.name!r}: the name of a metric {rule}")
        for key in ("unit", "label", "axis", "together", "definition"):
            text = getattr(self, key)
            if not isinstance(text, str) or not text.isprintable() or text != text.strip() or len(text) > _LONGEST:
                raise ValueError(f"{key} of {self.name!r} is {text!r}: must be text of one line, at most {_LONGEST}")
        if self.unit in _HINTS:
            raise ValueError(f"unit of {self.name!r} is {self.unit!r}: {_HINTS[self.unit]}")
        if self.better not in _BETTER:
            raise ValueError(f"better of {self.name!r} is {self.better!r}: must be one of {', '.join(_BETTER)}")
        if type(self.decimals) is not int or not 0 <= self.decimals <= _MOST_DECIMALS:
            raise ValueError(f"decimals of {self.name!r} is {self.decimals!r}: must be 0 to {_MOST_DECIMALS}")


def unit_of(metric: str, quantities: Mapping[str, MeasuredQuantity]) -> str:
    """Return the unit of a metric's numbers: "seconds", "nats", "one" …; "percent" for a share.

    Parameters
    ----------
    metric : str
    quantities : mapping of str to MeasuredQuantity
        The metrics that measures declare, by name.
    """
    if metric in quantities:
        return quantities[metric].unit
    return "seconds" if metric in CLOCK else "one" if metric in OF_PAIRS else "percent"


def on_clock(metric: str, quantities: Mapping[str, MeasuredQuantity]) -> bool:
    """Return whether a metric is time on the clock, which differs from run to run."""
    return metric in CLOCK or (metric in quantities and quantities[metric].on_clock)


def more_is_better(
    metric: str, known: Mapping[str, Metric] = METRICS, quantities: Mapping[str, MeasuredQuantity] | None = None
) -> bool:
    """Whether the greater of two scores is the better one."""
    if quantities is not None and metric in quantities:
        return quantities[metric].better != "smaller"
    return known[metric].more_is_better if metric in known else metric not in CLOCK


def defined(metric: str, *, several: bool, of_class: bool, known: Mapping[str, Metric] = METRICS) -> bool:
    """Whether a metric of predictions is defined for such documents, of one class by itself or of all of them."""
    own = known.get(metric)
    return own is not None and (own.several or not several) and (own.by_class if of_class else own.whole)


def values_of(
    tallies: Tallies, *, several: bool, of_class: bool, known: Mapping[str, Metric] = METRICS
) -> dict[str, NDArray[np.float64]]:
    """Every metric that is defined of such decisions, on each split.

    Parameters
    ----------
    tallies : Tallies
        Of shape (splits, k); of one class by itself, (splits, 1).
    several : bool
        Whether documents may have several classes, or none.
    of_class : bool
        Whether they are of one class by itself.
    known : mapping of str to Metric
    """
    names = [name for name in known if defined(name, several=several, of_class=of_class, known=known)]
    return {name: known[name].scores(tallies) for name in names if known[name].of is not None}


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide, with 0 / 0 = 0."""
    quotient = np.zeros(np.shape(whole))
    np.divide(part, whole, out=quotient, where=np.asarray(whole) != 0)
    return quotient
