"""From a summary to a picture: each cell's score with its interval, and the published number beside it."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark.report.drawing.style import FAINT, OURS, PUBLISHED, WIDTH, house_style, settle
from benchmark.report.grids import main_metric, main_verdicts
from benchmark.report.numbers import is_missing
from benchmark.report.quantities import axis_label, factor_shown, unit_shown
from benchmark.report.rows import figure_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmark.report.contents import Summary
    from benchmark.report.rows import Row

ROW, FRAME = 0.23, 1.35  # inches: of a row, and of all above and below the rows
TITLE_WIDTH = 80  # characters
DOT: dict[str, Any] = {"color": OURS, "marker": "o", "markersize": 4.5, "linestyle": "none"}
BAR: dict[str, Any] = {"color": OURS, "linewidth": 1.8}
FAILED = {"facecolor": "white", "edgecolor": "none", "pad": 2}
DIAMOND: dict[str, Any] = {
    "color": PUBLISHED,
    "marker": "D",
    "markersize": 7,
    "markerfacecolor": "none",
    "markeredgewidth": 1.2,
    "linestyle": "none",
}


def dot_plot(summary: Summary) -> Figure:
    """Draw one row a cell, grouped by variant, task or weighting: ours with its 95% interval, and the print.

    Where something is published, a second panel shows ours less the print on a scale of its own: there a bar that
    reaches the line at zero is a number reproduced.
    """
    rows = figure_rows(summary)
    verdicts = main_verdicts(summary)
    title = textwrap.fill(summary.title, TITLE_WIDTH)
    with house_style():
        figure = Figure(figsize=(WIDTH, FRAME + ROW * (len(rows) + title.count("\n"))), layout="constrained")
        FigureCanvasAgg(figure)
        ratios = [2, 1] if verdicts else [1]
        panels = list(figure.subplots(1, len(ratios), sharey=True, squeeze=False, width_ratios=ratios)[0])
        _draw_scores(panels[0], summary, rows)
        if verdicts:
            _draw_differences(panels[1], summary, rows)
        _label_rows(panels, rows)
        figure.suptitle(title, fontsize=11)
        figure.legend(handles=_legend(bool(verdicts)), loc="outside lower center", ncols=3, frameon=False)
        settle(figure)
    return figure


def _draw_scores(axes: Axes, summary: Summary, rows: list[Row]) -> None:
    metric, verdicts, scores = main_metric(summary), main_verdicts(summary), summary.headlines
    scale = unit_shown(metric, summary.quantities).scale
    points, printed = {}, {}
    for y, row in enumerate(rows):
        if (row.cell, metric) in scores:
            points[y] = [scale * end for end in _ends(scores[row.cell, metric])]
        if row.cell in verdicts:
            verdict = verdicts[row.cell]
            printed[y] = float(verdict["published"]) * factor_shown(verdict["unit"], metric, summary.quantities)
        if row.cell in summary.failures:
            place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "ha": "center", "va": "center"}
            axes.text(0.5, y, "failed", color=FAINT, style="italic", bbox=FAILED, **place)
    _draw_ours(axes, points)
    if printed:
        axes.plot(list(printed.values()), list(printed), label="published", zorder=4, **DIAMOND)
    if not points and not printed:
        axes.set_xlim(0, scale)
    axes.set_xlabel(axis_label((metric,), summary.quantities))


def _draw_differences(axes: Axes, summary: Summary, rows: list[Row]) -> None:
    metric, verdicts, scores = main_metric(summary), main_verdicts(summary), summary.headlines
    points = {}
    for y, row in enumerate(rows):
        if row.cell in verdicts and (row.cell, metric) in scores:
            verdict = verdicts[row.cell]
            scale, printed = factor_shown(verdict["unit"], metric, summary.quantities), float(verdict["published"])
            points[y] = [scale * (end - printed) for end in _ends(verdict)]
    axes.axvline(0, color=PUBLISHED, linewidth=1.2, zorder=1)
    _draw_ours(axes, points)
    unit = unit_shown(metric, summary.quantities)
    axes.set_xlabel(f"Ours − published ({'points' if unit.name == 'percent' else unit.symbol or unit.name})")


def _draw_ours(axes: Axes, points: dict[int, list[float]]) -> None:
    """Draw (value, low, high) at each row."""
    ys = list(points)
    values, lows, highs = ([point[i] for point in points.values()] for i in range(3))
    axes.hlines(ys, lows, highs, zorder=2, **BAR)
    axes.plot(values, ys, label="ours", zorder=3, **DOT)


def _ends(row: dict[str, Any]) -> list[float]:
    """Value and ends of the interval, NaN for what is missing."""
    return [math.nan if is_missing(row[end]) else float(row[end]) for end in ("value", "low", "high")]


def _label_rows(panels: list[Axes], rows: list[Row]) -> None:
    panels[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for tick, row in zip(panels[0].get_yticklabels(), rows, strict=True):
        if not row.cell:
            tick.set_fontweight("bold")
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    lines = [y for y, row in enumerate(rows) if row.cell]
    for panel in panels:
        panel.tick_params(axis="y", length=0)
        panel.hlines(lines, 0, 1, transform=panel.get_yaxis_transform(), color="#dddddd", linewidth=0.6, zorder=0)


def _legend(published: bool) -> list[Line2D]:
    handles = [Line2D([], [], label="ours, with its 95 % interval", **(DOT | BAR | {"linestyle": "-"}))]
    return [*handles, Line2D([], [], label="published", **DIAMOND)] if published else handles
