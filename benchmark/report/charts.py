"""What a picture of curves shows, before it is drawn: panels of lines with error bars."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_TICKS = 10  # up to so many x values each has a tick of its own


@dataclass(frozen=True)
class Line:
    """One curve of a panel: points, x ascending, and the ends of their error bars, empty where there are none.

    The label is what the legend calls it; the same label is drawn alike in every panel.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(self.x), len(self.y), len(self.low) or len(self.x), len(self.high) or len(self.x)}
        if len(lengths) != 1 or not self.x or bool(self.low) != bool(self.high):
            raise ValueError(f"the line {self.label!r} has points and bars of different numbers, or none")


@dataclass(frozen=True)
class Panel:
    """One pair of axes; `printed` is the range of y that the paper's own figure shows, drawn as a faint band."""

    title: str
    lines: tuple[Line, ...]
    printed: tuple[float, float] | None = None


@dataclass(frozen=True)
class Chart:
    """One picture.

    Parameters
    ----------
    name : str
        Stem of its files.
    title, x_label, y_label : str
        Labels name units: "Training documents", "Test error (%)".
    panels : tuple of Panel
        In reading order.
    columns : int
        Panels side by side.
    bars : str
        What the error bars are, for the reader; empty where no line has any.
    scale : float
        Factor from the numbers to what the axis shows: 100 for percent.
    log_x, log_y : bool
    round_x : bool
        Whether x is what was found, not what was chosen: its axis has round numbers then, not each value.
    share_y : bool
        Whether the panels of a row share their vertical scale.
    measured : bool
        Whether it shows what was measured on the clock: it is drawn then, but stands in no table, since tables of the
        same results are the same.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...] = field(repr=False)
    columns: int = 2
    bars: str = ""
    scale: float = 1.0
    log_x: bool = False
    round_x: bool = False
    log_y: bool = False
    share_y: bool = False
    measured: bool = False

    def __post_init__(self) -> None:
        if not self.panels:
            raise ValueError(f"the chart {self.name!r} has no panel")
