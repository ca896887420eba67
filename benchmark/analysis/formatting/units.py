"""Names and units of metrics, for tables, axes and panels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import MISSING_TEXT, interval_text, is_missing, number_text
from benchmark.evaluation.metrics import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.evaluation.metrics import DiagnosticMetric

    #: Metrics declared by diagnostics, by name.
    DeclaredMetrics = Mapping[str, DiagnosticMetric]


@dataclass(frozen=True)
class Unit:
    """Display of numbers of the score frame.

    Parameters
    ----------
    name : str
        "percent", "one", "nats", "documents", "seconds", or another that a diagnostic declares.
    scale : float
        Factor from the frame, whose shares are fractions, to the displayed number.
    symbol : str
        Text after a number, or after a metric's name in a header.
    decimals : int
    """

    name: str
    scale: float
    symbol: str
    decimals: int = 2

    @property
    def suffix(self) -> str:
        """The symbol as it follows a number: "%", " s"."""
        return self.symbol if self.symbol in ("", "%") else f" {self.symbol}"

    @property
    def points(self) -> str:
        """Unit of differences: "points" for percent."""
        return "points" if self.name == "percent" else self.symbol

    def text(self, value: Any, sign: str = "") -> str:
        """Write a number of the frame without the symbol, or a dash if it is missing."""
        return MISSING_TEXT if is_missing(value) else number_text(self.scale * value, self.decimals, sign)

    def ends(self, values: Sequence[float], sign: str = "+") -> str:
        """Write the smallest and largest of some differences: "−0.84 to +4.21 points"."""
        ends = dict.fromkeys(self.text(end, sign) for end in (min(values), max(values)))
        return f"{' to '.join(ends)} {self.points}".strip()

    def spread(self, values: Sequence[float]) -> str:
        """Write the smallest and the largest of some scores with their unit."""
        return " to ".join(dict.fromkeys(self.text(end) for end in (min(values), max(values)))) + self.suffix

    def interval(self, low: Any, high: Any, sign: str = "") -> str:
        """Write the ends of an interval, without the symbol."""
        missing = is_missing(low) or is_missing(high)
        return MISSING_TEXT if missing else interval_text(self.scale * low, self.scale * high, self.decimals, sign)


#: Units whose symbol differs from the name. The symbol of any other unit is its name.
DISPLAY_UNITS = {
    "percent": Unit("percent", 100.0, "%"),
    "one": Unit("one", 1.0, ""),
    "seconds": Unit("seconds", 1.0, "s"),
}
#: Unit of a share on an axis with numbers of another unit.
FRACTION_UNIT = Unit("fraction", 1.0, "fraction")


@dataclass(frozen=True)
class MetricLabels:
    """Display names of a metric.

    Parameters
    ----------
    name : str
        Name in tables: "macro-F1".
    axis : str
        Label of an axis that shows only this metric.
    together : str
        Label of an axis that shows several metrics of this kind.
    definition : str
        Title of the panel of this metric in a figure of several metrics.
    """

    name: str
    axis: str
    together: str
    definition: str


#: Names of metrics: in tables, on an axis of its own, on an axis of several of its kind, and as a panel's title.
_NAMES = {
    "accuracy": ("accuracy", "", "", ""),
    "error": ("error", "test error", "", ""),
    "macro-f1": ("macro-F1", "", "F-measure", "mean of the classes' F1"),
    "macro-f1-mean-of-splits": ("mean of macro-F1", "", "F-measure", "mean over the splits of the classes' mean F1"),
    "macro-f1-of-means": ("macro-F1 of means", "", "F-measure", "F1 of the mean precision and recall"),
    "micro-f1": ("micro-F1", "", "F-measure", "all decisions pooled"),
    "macro-recall": ("macro-recall", "", "recall", "mean of the classes' recall"),
    "macro-precision": ("macro-precision", "", "precision", "mean of the classes' precision"),
    "f1": ("F1", "", "F-measure", ""),
    "micro-break-even": ("micro break-even", "", "break-even", "all decisions ranked together"),
    "macro-break-even": ("macro break-even", "", "break-even", "mean of the classes' break-even"),
    "micro-average-precision": ("micro average precision", "", "average precision", "all decisions ranked together"),
    "macro-average-precision": ("macro average precision", "", "average precision", "mean of the classes' values"),
    "micro-roc-auc": ("micro ROC AUC", "", "ROC AUC", "all decisions ranked together"),
    "macro-roc-auc": ("macro ROC AUC", "", "ROC AUC", "mean of the classes' ROC AUC"),
    "sign-z": ("Z", "", "", ""),
    "error-ratio": ("error-ratio", "ratio of the errors", "", ""),
    "seconds": ("seconds", "", "", "one class, without feature extraction"),
    "seconds-with-features": ("seconds, with features", "", "seconds", "one class, with feature extraction"),
    "seconds-in-all": ("seconds, in all", "", "seconds", "all classes, with feature extraction"),
}


def metric_labels(metric: str, declared: DeclaredMetrics) -> MetricLabels:
    """Return the display names of a metric: as declared by its diagnostic, or else the name of a plug-in's metric."""
    name, axis, together, definition = _NAMES.get(metric, (metric, "", "", ""))
    if metric in declared:
        d = declared[metric]
        name, axis, together, definition = d.label or metric, d.axis, d.together, d.definition
    return MetricLabels(name, axis or name, together or axis or name, definition or name)


def unit_named(name: str) -> Unit:
    """Return the unit of this name.

    Examples
    --------
    >>> unit_named("seconds").symbol, unit_named("words").symbol
    ('s', 'words')
    """
    return DISPLAY_UNITS.get(name) or Unit(name, 1.0, name)


def display_unit(metric: str, declared: DeclaredMetrics) -> Unit:
    """Return the unit in which a metric is shown, with the decimals that its diagnostic declares."""
    unit = unit_named(unit_of(metric, declared))
    return replace(unit, decimals=declared[metric].decimals) if metric in declared else unit


def metric_name(metric: str, declared: DeclaredMetrics) -> str:
    """Return the name of a metric as it is written in a table."""
    return metric_labels(metric, declared).name


def metric_with_unit(metric: str, unit: Unit, declared: DeclaredMetrics) -> str:
    """Return a metric with the unit of the numbers beside it, "macro-F1 %", unless its name says the unit."""
    name = metric_name(metric, declared)
    return name if _says(name, unit.symbol) else f"{name} {unit.symbol}"


def display_factor(unit: str, metric: str, declared: DeclaredMetrics) -> float:
    """Return the factor from the unit of a published value to the unit in which its metric is shown.

    Examples
    --------
    >>> display_factor("percent", "accuracy", {}), display_factor("one", "accuracy", {})
    (1.0, 100.0)
    """
    return display_unit(metric, declared).scale / unit_named(unit).scale


def _says(text: str, unit: str) -> bool:
    """Return whether a text contains the words of a unit; True for the empty unit."""
    words = re.findall(r"\w+", text.lower())
    return unit == "" or (unit != "%" and set(re.findall(r"\w+", unit.lower())) <= set(words))


def capitalized(text: str) -> str:
    """Return the text with its first letter in upper case and the others unchanged."""
    return text[:1].upper() + text[1:]


def axis_label(metrics: tuple[str, ...], declared: DeclaredMetrics) -> str:
    """Return the label of an axis that shows these metrics: "Test error (%)", "F-measure (%)", "Seconds".

    If the metrics have different units, the label gives the unit of each metric.
    """
    quantities = [metric_labels(metric, declared) for metric in metrics]
    names = [q.together for q in quantities] if len(metrics) > 1 else [quantities[0].axis]
    units = [display_unit(metric, declared) for metric in metrics]
    if any(unit.scale != axis_scale(metrics, declared) for unit in units):
        units = [FRACTION_UNIT if unit.name == "percent" else unit for unit in units]
    if len({unit.symbol for unit in units}) > 1:
        return capitalized(" or ".join(dict.fromkeys(map(_with_unit, names, units))))
    return _with_unit(capitalized(" or ".join(dict.fromkeys(names))), units[0])


def axis_scale(metrics: tuple[str, ...], declared: DeclaredMetrics) -> float:
    """Return the factor from the frame to an axis of these metrics; beside other units, shares are fractions."""
    scales = {display_unit(metric, declared).scale for metric in metrics}
    return scales.pop() if len(scales) == 1 else 1.0


def _with_unit(text: str, unit: Unit) -> str:
    """Return the text of an axis followed by its unit, unless the text names the unit."""
    return text if _says(text, unit.symbol) or _says(text, unit.name) else f"{text} ({unit.symbol})"
