"""Numbers as text, and names and units of metrics, for tables, axes and panels."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.metrics import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.evaluation.metrics import DiagnosticMetric

    #: Metrics declared by diagnostics, by name.
    DeclaredMetrics = Mapping[str, DiagnosticMetric]

MISSING_TEXT = "–"
SMALLEST_P = 1e-4


def is_missing(value: Any) -> bool:
    """Test whether a number of a frame is missing (None or NaN)."""
    return value is None or value != value  # noqa: PLR0124  NaN of any float type differs from itself


def number_text(value: Any, decimals: int = 2, sign: str = "") -> str:
    """Write a number with fixed decimals and a true minus, never "−0.00", or a dash if it is missing.

    Examples
    --------
    >>> number_text(70.3), number_text(-0.001, sign="+"), number_text(-2), number_text(None)
    ('70.30', '+0.00', '−2.00', '–')
    """
    if is_missing(value):
        return MISSING_TEXT
    return format(round(float(value), decimals) + 0.0, f"{sign}.{decimals}f").replace("-", "−")


def two_digits_text(value: Any) -> str:
    """Write seconds or gigabytes with two significant digits at least, or a dash if they are missing.

    Examples
    --------
    >>> two_digits_text(0.0123), two_digits_text(3.456), two_digits_text(171.2), two_digits_text(1e-5)
    ('0.012', '3.5', '171', '<0.001')
    """
    if is_missing(value):
        return MISSING_TEXT
    return "<0.001" if value < 0.0005 else f"{value:,.{max(0, 1 - math.floor(math.log10(value)))}f}"


def p_text(p_value: Any, note: Any = "") -> str:
    """Write a p-value with three significant digits, or why there is none.

    Examples
    --------
    >>> p_text(3e-9), p_text(0.03125), p_text(None, "smallest p 0.125")
    ('<0.0001', '0.0312', 'not testable (smallest p 0.125)')
    """
    if not is_missing(p_value):
        return f"<{SMALLEST_P:.4f}" if float(p_value) < SMALLEST_P else f"{float(p_value):.3g}"
    reason = "" if is_missing(note) else str(note)
    if reason.startswith("not testable"):
        return reason
    return f"not testable ({reason})" if reason else "not testable"


def printed_decimals(published: str) -> int:
    """Return the decimals for numbers beside a published value: those of that value, at least two."""
    return max(2, len(published.partition(".")[2]))


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
        return number_text(None if is_missing(value) else self.scale * value, self.decimals, sign)

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
        return MISSING_TEXT if missing else f"[{self.text(low, sign)}, {self.text(high, sign)}]"


#: Units whose symbol differs from the name. The symbol of any other unit is its name.
DISPLAY_UNITS = {
    "percent": Unit("percent", 100.0, "%"),
    "one": Unit("one", 1.0, ""),
    "seconds": Unit("seconds", 1.0, "s"),
}
#: Names of metrics in tables and on axes, where they differ from those in configurations.
_NAMES = {
    "macro-f1": "macro-F1",
    "macro-f1-mean-of-splits": "mean of macro-F1",
    "macro-f1-of-means": "macro-F1 of means",
    "micro-f1": "micro-F1",
    "f1": "F1",
    "micro-break-even": "micro break-even",
    "macro-break-even": "macro break-even",
    "micro-average-precision": "micro average precision",
    "macro-average-precision": "macro average precision",
    "micro-roc-auc": "micro ROC AUC",
    "macro-roc-auc": "macro ROC AUC",
    "sign-z": "Z",
    "seconds-with-features": "seconds, with features",
    "seconds-in-all": "seconds, in all",
}


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
    """Return the name of a metric in tables and on axes: a diagnostic declares its own."""
    return (declared[metric].label if metric in declared else "") or _NAMES.get(metric, metric)


def metric_with_unit(metric: str, declared: DeclaredMetrics, unit: Unit | None = None) -> str:
    """Return a metric with the unit of the numbers beside it, "macro-F1 %", unless its name says the unit."""
    name, symbol = metric_name(metric, declared), (unit or display_unit(metric, declared)).symbol
    return name if _says(name, symbol) else f"{name} {symbol}"


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
    """Return the label of an axis of metrics, with their unit if they have one in common: "Error (%)", "Seconds"."""
    names = capitalized(" or ".join(metric_name(metric, declared) for metric in metrics))
    unit, *others = {unit.name: unit for unit in (display_unit(metric, declared) for metric in metrics)}.values()
    return names if others or _says(names, unit.symbol) or _says(names, unit.name) else f"{names} ({unit.symbol})"


def axis_scale(metrics: tuple[str, ...], declared: DeclaredMetrics) -> float:
    """Return the factor from the frame to an axis of these metrics; beside other units, shares are fractions."""
    scales = {display_unit(metric, declared).scale for metric in metrics}
    return scales.pop() if len(scales) == 1 else 1.0
