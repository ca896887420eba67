"""Data of a figure of curves, before it is drawn: panels of lines with error bars."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_TICKS = 10  # with at most this many x values, every value has a tick


@dataclass(frozen=True)
class Line:
    """One curve of a panel: points with ascending x, and the ends of their error bars, empty without bars.

    The legend shows the label. Lines with the same label look alike in every panel.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(self.x), len(self.y), len(self.low) or len(self.x), len(self.high) or len(self.x)}
        if len(lengths) != 1 or not self.x or bool(self.low) != bool(self.high):
            raise ValueError(f"the line {self.label!r} has no points, or x, y and bars of different lengths")


@dataclass(frozen=True)
class ChartPanel:
    """One pair of axes.

    `printed` is the range of y in the paper's figure, drawn as a faint band. `limits` are values of y with their names,
    drawn as lines across the panel that have their names on them. `oracle` says whether the parameters were chosen on
    the test documents.
    """

    title: str
    lines: tuple[Line, ...]
    printed: tuple[float, float] | None = None
    limits: tuple[tuple[str, float], ...] = ()
    oracle: bool = False


@dataclass(frozen=True)
class Chart:
    """One figure of curves.

    Parameters
    ----------
    name : str
        Stem of the files of the figure.
    title, x_label, y_label : str
        Texts with units: "Training documents", "Test error (%)".
    panels : tuple of ChartPanel
        In reading order.
    bars : str
        Meaning of the error bars in words, empty if no line has bars.
    scale : float
        Factor from the numbers to the unit of the axis: 100 for percent.
    log_x, log_y : bool
    round_x : bool
        Whether x is measured, not set: ticks are then round numbers, not the values.
    reference : float or None
        Value of y that means "no difference", drawn as a line: 1 for ratios, 0 for differences.
    share_y : bool
        Whether the panels of a row share their vertical scale.
    measured : bool
        Whether the chart shows measured times. Such a chart is drawn but not written to tables, since equal results
        must give equal tables.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    panels: tuple[ChartPanel, ...] = field(repr=False)
    bars: str = ""
    scale: float = 1.0
    log_x: bool = False
    round_x: bool = False
    log_y: bool = False
    reference: float | None = None
    share_y: bool = False
    measured: bool = False

    def __post_init__(self) -> None:
        if not self.panels:
            raise ValueError(f"the chart {self.name!r} has no panel")
