"""What each metric is called, how numbers of its unit are shown, and what an axis or a panel says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmark.evaluation.metrics import unit_of
from benchmark.report.numbers import NONE, interval, is_missing, number


@dataclass(frozen=True)
class Unit:
    """How a number of the score frame is shown.

    Parameters
    ----------
    name : {"percent", "one", "nats", "documents", "seconds", "kernel", "features", "bytes"}
        "kernel" is of values of a kernel.
    scale : float
        Factor from the frame, whose shares are fractions, to what is shown.
    symbol : str
        What stands behind a number, or behind a metric's name in a header.
    decimals : int
    """

    name: str
    scale: float
    symbol: str
    decimals: int = 2

    def text(self, value: Any, sign: str = "") -> str:
        """Write a number of the frame, without the symbol; a dash for what is missing."""
        return NONE if is_missing(value) else number(self.scale * value, self.decimals, sign)

    def interval(self, low: Any, high: Any, sign: str = "") -> str:
        """Write the ends of an interval, without the symbol."""
        missing = is_missing(low) or is_missing(high)
        return NONE if missing else interval(self.scale * low, self.scale * high, self.decimals, sign)


UNITS = {
    "percent": Unit("percent", 100.0, "%"),
    "one": Unit("one", 1.0, ""),
    "nats": Unit("nats", 1.0, "nats"),
    "documents": Unit("documents", 1.0, "documents", 0),
    "seconds": Unit("seconds", 1.0, "s"),
    "kernel": Unit("kernel", 1.0, "", 5),
    "features": Unit("features", 1.0, "", 0),
    "bytes": Unit("bytes", 1.0, "", 0),
}


@dataclass(frozen=True)
class Quantity:
    """One metric in words.

    Parameters
    ----------
    name : str
        As tables write it: "macro-F1".
    axis : str
        As an axis names it that shows it alone.
    together : str
        As an axis names it that other metrics of its kind share.
    definition : str
        The title of a panel that shows this one of several metrics.
    """

    name: str
    axis: str
    together: str
    definition: str


def _quantity(name: str, *, axis: str = "", together: str = "", of: str = "") -> Quantity:
    return Quantity(name, axis or name, together or axis or name, of or name)


QUANTITIES = {
    "accuracy": _quantity("accuracy"),
    "error": _quantity("error", axis="test error"),
    "macro-f1": _quantity("macro-F1", together="F-measure", of="mean of the classes' F1"),
    "macro-f1-of-means": _quantity("macro-F1 of means", together="F-measure", of="F1 of the mean precision and recall"),
    "micro-f1": _quantity("micro-F1", together="F-measure", of="all decisions pooled"),
    "macro-recall": _quantity("macro-recall", together="recall", of="mean of the classes' recall"),
    "macro-precision": _quantity("macro-precision", together="precision", of="mean of the classes' precision"),
    "f1": _quantity("F1", together="F-measure"),
    "recall": _quantity("recall"),
    "precision": _quantity("precision"),
    "sign-z": _quantity("Z"),
    "error-ratio": _quantity("error-ratio", axis="ratio of the errors"),
    "average-skl": _quantity("average-skl", axis="average SKL"),
    "documents": _quantity("documents"),
    "kernel-error": _quantity("kernel error", together="error of the kernel", of="root mean square"),
    "largest-kernel-error": _quantity("largest error", together="error of the kernel", of="largest"),
    "features": _quantity("features"),
    "bytes": _quantity("bytes"),
    "bytes-per-document": _quantity("bytes a document"),
    "seconds": _quantity("seconds", of="one class, features given"),
    "seconds-with-features": _quantity(
        "seconds, with features", together="seconds", of="one class, features extracted"
    ),
    "seconds-in-all": _quantity("seconds, in all", together="seconds", of="all classes, features extracted"),
    "seconds-to-map": _quantity("seconds to map a thousand documents"),
}


def quantity(metric: str) -> Quantity:
    """What a metric is called; one of one's own, as it is named."""
    return QUANTITIES.get(metric) or _quantity(metric)


def unit_shown(metric: str) -> Unit:
    """The unit that a metric is shown in."""
    return UNITS[unit_of(metric)]


def metric_name(metric: str) -> str:
    """Name of a metric as it is written in a table."""
    return quantity(metric).name


def named_in(metric: str, unit: Unit) -> str:
    """A metric with the unit of the numbers beside it, "macro-F1 %"."""
    return f"{metric_name(metric)} {unit.symbol}" if unit.symbol not in ("", metric) else metric_name(metric)


def factor_shown(unit: str, metric: str) -> float:
    """Factor from numbers in the unit of a print to the unit that its metric is shown in.

    Examples
    --------
    >>> factor_shown("percent", "accuracy"), factor_shown("one", "accuracy"), factor_shown("nats", "average-skl")
    (1.0, 100.0, 1.0)
    """
    return unit_shown(metric).scale / UNITS[unit].scale


def capitalized(text: str) -> str:
    """Write the first letter large and leave the others, which may be large already."""
    return text[:1].upper() + text[1:]


def axis_label(metrics: tuple[str, ...]) -> str:
    """What an axis says that shows these metrics, of one unit: "Test error (%)", "F-measure (%)", "Seconds"."""
    quantities = [quantity(metric) for metric in metrics]
    names = [each.together for each in quantities] if len(metrics) > 1 else [quantities[0].axis]
    text = " or ".join(dict.fromkeys(map(capitalized, names)))
    unit = unit_shown(metrics[0])
    return f"{text} ({unit.symbol})" if unit.name in ("percent", "nats") else text
