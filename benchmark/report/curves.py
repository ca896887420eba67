"""From a chart to its picture: small multiples of curves with error bars, and one legend below them."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from benchmark.report.curve_tables import plain_number
from benchmark.report.figures import FAINT, WIDTH, house_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from benchmark.report.charts import Chart, Line, Panel

# Okabe and Ito's palette (2008), told apart by the colour-blind, but for its yellow, too pale for a line on white; then
# a grey, and the olive and the indigo of Tol's.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#777777", "#999933", "#332288"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.3)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)))
MOST_LABELS = len(COLOURS) * len(DASHES)

SINGLE_WIDTH = 5.0  # inches, of a picture one panel wide
PANEL_HEIGHT = {1: 3.1, 2: 2.2, 3: 1.7}  # inches, by panels side by side
SMALL_PANEL_HEIGHT = 1.5
MOST_HEIGHT = 8.0  # inches of all panels: a page
TEXT, AXIS_LABEL, PANEL_TITLE, TITLE = 8.0, 9.0, 9.0, 11.0  # points
LEADING = 1.3  # from one line of text to the next, by the size of its letters
STEP = 3.2  # points from one line's bar to the next line's, where there is room
CLUSTER = 0.7  # of the gap between neighbouring x, for the bars of all lines
MARGIN = 6.0  # points from the outermost points to the ends of the x axis
MOST_TICKS = 10  # up to so many x values each has a tick of its own
TICK_GAP = 4.0  # points between two ticks' labels
FROM_ZERO = 0.4  # a y axis whose lowest number is below this share of the highest starts at zero
BAND, INK = "#ececec", "#333333"
HANDLE, HANDLE_PAD, KEY_GAP, KEY_SPACING = 3.4, 0.6, 1.8, 0.5  # of the legends, by the size of their letters
KEY_PAD = 7.0  # points above, between and below the legends
BEAM = Path([(-0.4, -1), (0.4, -1), (0, -1), (0, 1), (-0.4, 1), (0.4, 1)], [1, 2, 1, 2, 1, 2])  # an error bar


@dataclass(frozen=True)
class Key:
    """A legend before it is drawn.

    Parameters
    ----------
    handles : tuple of Line2D and Patch
        In reading order.
    columns : int
    height : float
        Points.
    """

    handles: tuple[Line2D | Patch, ...]
    columns: int
    height: float


def chart_figure(chart: Chart) -> Figure:
    """Draw a grid of panels, `chart.columns` wide, with one legend for all below them.

    A label has its colour, marker and dashes in every panel. Where several lines of a panel have bars, the lines stand
    side by side around their true x, so that no bar hides another's.

    Parameters
    ----------
    chart : Chart
        `Panel.printed` is in the unit of y and is scaled with it.

    Returns
    -------
    Figure
        7 inches wide, or 5 where the panels stand in one column.

    Raises
    ------
    ValueError
        Where a number is not finite, x does not ascend, a bar's ends are swapped, a logarithmic axis would show a point
        that is not positive, a panel has a label twice, there are more labels than styles, or the columns or the scale
        are not positive.
    """
    labels = list(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    _check(chart, labels)
    columns = min(chart.columns, len(chart.panels))
    width = WIDTH if columns > 1 else SINGLE_WIDTH
    panel_width = (72 * width - 20) / columns - 30  # points: less the label and the numbers of the y axis
    with house_style():
        styles = {label: line_style(i, 4.2 if columns < 3 else 3.6) for i, label in enumerate(labels)}
        title = _wrapped(chart.title, 72 * width - 24, TITLE)
        titles = [_wrapped(panel.title, panel_width + 15, PANEL_TITLE) for panel in chart.panels]
        keys = _keys(chart, styles, 72 * width - 10)
        heights = _height_above(title, titles, columns), _height_below(keys)
        figure = Figure(figsize=(width, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        halves: Any = figure.subfigures(2, 1, height_ratios=heights)
        above, below = halves
        above.suptitle(title, fontsize=TITLE)
        axes = _draw_panels(above, chart, columns, styles, panel_width)
        for each, text in zip(axes, titles, strict=True):
            each.set_title(text, fontsize=PANEL_TITLE)
        # The label of y stands in the middle of the height; as much as the title takes is left free below, too.
        room = 72 * heights[0] - 2 * TITLE * LEADING * (title.count("\n") + 1)
        _label_axes(above, axes, chart, (0.9 * 72 * width, 0.9 * room))
        _draw_keys(below, keys, 72 * heights[1])
        # Settled once: letters differ a little in size between resolutions, and so would the axes.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def line_style(i: int, size: float) -> dict[str, Any]:
    """Style of the i-th label: told apart by colour, by shape, by dashes, and by filled or hollow markers."""
    lap, place = divmod(i, len(COLOURS))
    colour = COLOURS[place]
    return {
        "color": colour,
        "linestyle": DASHES[(i + lap) % len(DASHES)],
        "linewidth": 1.2,
        "marker": MARKERS[place],
        "markersize": size,
        "markeredgewidth": 0.9,
        "markerfacecolor": "white" if i % 2 else colour,
    }


def _check(chart: Chart, labels: list[str]) -> None:
    if len(labels) > MOST_LABELS:
        raise ValueError(f"the chart {chart.name!r} has {len(labels)} labels; there are styles for {MOST_LABELS}")
    if chart.columns < 1 or not 0 < chart.scale < math.inf:
        raise ValueError(f"the chart {chart.name!r} can't be {chart.columns} panels wide, on a scale of {chart.scale}")
    for panel in chart.panels:
        if len({line.label for line in panel.lines}) < len(panel.lines):
            raise ValueError(f"the panel {panel.title!r} has two lines of one label")
        if panel.printed and not all(map(math.isfinite, panel.printed)):
            raise ValueError(f"the panel {panel.title!r} has a printed range that is not finite")
        for line in panel.lines:
            _check_line(line, chart)


def _check_line(line: Line, chart: Chart) -> None:
    if not all(map(math.isfinite, (*line.x, *line.y, *line.low, *line.high))):
        raise ValueError(f"the line {line.label!r} has a number that is not finite")
    if any(left >= right for left, right in pairwise(line.x)):
        raise ValueError(f"the x of the line {line.label!r} do not ascend")
    if any(low > high for low, high in zip(line.low, line.high, strict=True)):
        raise ValueError(f"the line {line.label!r} has a bar whose low end lies above its high end")
    if (chart.log_x and line.x[0] <= 0) or (chart.log_y and chart.scale * min(line.y) <= 0):
        raise ValueError(f"the line {line.label!r} has a point that is not positive on a logarithmic axis")


# --- Panels ---


def _draw_panels(
    figure: SubFigure, chart: Chart, columns: int, styles: dict[str, dict[str, Any]], width: float
) -> list[Axes]:
    """Draw the panels in reading order, each so many points wide, and give their axes."""
    rows = -(-len(chart.panels) // columns)
    grid = figure.add_gridspec(rows, columns)
    positions = [sorted({x for line in panel.lines for x in line.x}) for panel in chart.panels]
    alike = all(each == positions[0] for each in positions)
    margin = max(_margin(panel, xs, width, log=chart.log_x) for panel, xs in zip(chart.panels, positions, strict=True))
    drawn = []
    for i, (panel, xs) in enumerate(zip(chart.panels, positions, strict=True)):
        axes = figure.add_subplot(grid[divmod(i, columns)])
        row = chart.panels[i - i % columns :][:columns] if chart.share_y else (panel,)
        _set_y(axes, row, chart)
        unit = _set_x(axes, xs, width, margin, log=chart.log_x)
        axes.spines["left"].set_visible(True)
        axes.tick_params(length=3, labelsize=TEXT, color=INK, labelcolor=INK)
        axes.grid(axis="y", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        _draw_panel(axes, panel, chart, styles, unit)
        if alike and i + columns < len(chart.panels):
            axes.tick_params(labelbottom=False)
        if chart.share_y and i % columns:
            axes.tick_params(labelleft=False)
        drawn.append(axes)
    return drawn


def _draw_panel(axes: Axes, panel: Panel, chart: Chart, styles: dict[str, dict[str, Any]], unit: float) -> None:
    """Draw the lines over the range of the paper's figure; a point of print is `unit` wide on the x axis."""
    if panel.printed:
        ends = [max(chart.scale * end, axes.get_ylim()[0]) for end in panel.printed]  # zero has no logarithm
        axes.axhspan(*ends, facecolor=BAND, linewidth=0, zorder=0)
    if not panel.lines:
        axes.text(0.5, 0.5, "no points", transform=axes.transAxes, ha="center", size=TEXT, color=FAINT, style="italic")
    offsets, step = _dodges(panel.lines, unit, log=chart.log_x)
    for line, offset in zip(panel.lines, offsets, strict=True):
        x = [_moved(each, offset, log=chart.log_x) for each in line.x]
        y = [chart.scale * each for each in line.y]
        # Points on the frame are drawn whole; the axes are wide enough that none lies beyond it.
        axes.plot(x, y, label=line.label, clip_on=False, zorder=3, **styles[line.label])
        if line.low:
            _draw_bars(axes, x, chart, line, styles[line.label]["color"], step)


def _draw_bars(axes: Axes, x: list[float], chart: Chart, line: Line, colour: str, step: float) -> None:
    """Draw the bars of a line, thin enough for the points of print to the next line's."""
    lows, highs = ([chart.scale * end for end in ends] for ends in (line.low, line.high))
    bottom = axes.get_ylim()[0] / 10 if chart.log_y else -math.inf  # a bar that reaches zero leaves the panel below
    bars = [(max(low, bottom), max(high, bottom)) for low, high in zip(lows, highs, strict=True)]
    # About their middle, not about y: a percentile interval need not hold the mean.
    middles = [(low + high) / 2 for low, high in bars]
    reaches = [(high - low) / 2 for low, high in bars]
    width = max(0.25, min(0.9, 0.6 * step))
    axes.errorbar(
        x,
        middles,
        yerr=reaches,
        fmt="none",
        ecolor=colour,
        elinewidth=width,
        capsize=min(1.8, 0.42 * step),
        capthick=width,
        zorder=4,
    )


def _dodges(lines: Sequence[Line], unit: float, *, log: bool) -> tuple[list[float], float]:
    """How far each line moves along the x axis (in log10 x on a logarithmic one), and the step in points of print.

    Lines without bars stay. All moves are less than half of the smallest gap: a point is nearest to its own x.
    """
    barred = [line.label for line in lines if line.low]
    if len(barred) < 2:
        return [0.0] * len(lines), math.inf
    gaps = [_axis(right, log) - _axis(left, log) for line in lines for left, right in pairwise(line.x)]
    step = min([STEP * unit, *(CLUSTER * gap / len(barred) for gap in gaps)])
    places = {label: step * (i - (len(barred) - 1) / 2) for i, label in enumerate(barred)}
    return [places.get(line.label, 0.0) for line in lines], step / unit


def _margin(panel: Panel, xs: list[float], width: float, *, log: bool) -> float:
    """Points from the outermost x to the ends of an axis of this width: room for the lines that are moved aside."""
    unit = _span(xs, log)[2] / (width - 2 * MARGIN)
    return MARGIN + max((abs(offset) for offset in _dodges(panel.lines, unit, log=log)[0]), default=0.0) / unit


def _axis(x: float, log: bool) -> float:
    return math.log10(x) if log else x


def _moved(x: float, offset: float, *, log: bool) -> float:
    return float(x * 10**offset) if log else x + offset


# --- Axes ---


def _set_x(axes: Axes, xs: list[float], width: float, margin: float, *, log: bool) -> float:
    """Set the ends, scale and ticks of an x axis so many points wide; give what a point of print is in its unit."""
    first, last, span = _span(xs, log)
    unit = span / (width - 2 * margin)
    low, high = first - margin * unit, last + margin * unit
    if log:
        axes.set_xscale("log")
    axes.set_xlim((10**low, 10**high) if log else (low, high))
    ticks = xs
    if len(xs) > MOST_TICKS:
        ticks = _log_ticks(xs[0], xs[-1]) if log else _round_ticks(xs[0], xs[-1], max(3, int(width / 45)))
    places = [(_axis(tick, log) - low) / unit for tick in ticks]
    axes.set_xticks(ticks, _spaced([plain_number(tick) for tick in ticks], places))
    axes.xaxis.set_minor_locator(NullLocator())
    return unit


def _span(xs: list[float], log: bool) -> tuple[float, float, float]:
    """First and last x on the axis (log10 x on a logarithmic one), and their distance; never nought."""
    first, last = (_axis(xs[0], log), _axis(xs[-1], log)) if xs else (0.0, 1.0)
    if first == last:
        half = 0.5 if log else max(abs(first), 1) / 2
        first, last = first - half, last + half
    return first, last, last - first


def _set_y(axes: Axes, panels: Sequence[Panel], chart: Chart) -> None:
    """Set the ends, scale and ticks of a y axis that these panels share."""
    low, high = y_limits(panels, chart)
    if chart.log_y:
        axes.set_yscale("log")
        ticks = _log_ticks(low, high)
        axes.set_yticks(ticks, [plain_number(tick) for tick in ticks])
        axes.yaxis.set_minor_locator(LogLocator(subs=range(2, 10)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.set_ylim(low, high)


def y_limits(panels: Sequence[Panel], chart: Chart) -> tuple[float, float]:
    """Ends of a y axis that shows every point, bar and printed range of these panels, in the axis's unit.

    A linear axis starts at zero where that leaves the curves more than half of it, and ends at 100 % at the most where
    the numbers do.
    """
    values = [y for panel in panels for line in panel.lines for y in (*line.y, *line.low, *line.high)]
    values += [end for panel in panels if panel.printed for end in panel.printed]
    values = [chart.scale * value for value in values]
    if chart.log_y:
        values = [value for value in values if value > 0] or [1.0, 10.0]
        margin = (max(values) / min(values)) ** 0.05 if max(values) > min(values) else 2.0
        return min(values) / margin, max(values) * margin
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    bottom = 0.0 if 0 <= low <= max(FROM_ZERO * high, margin) else low - margin
    top = 100.0 if chart.scale == 100 and high <= 100 < high + margin else high + margin
    return bottom, top


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    ticks = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def _log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, or as many of their multiples as make it three."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for multiples in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [m * 10.0**e for e in exponents for m in multiples if low <= m * 10.0**e <= high]
        if len(ticks) >= 3:
            return ticks
    return _round_ticks(low, high, 4)


def _spaced(labels: list[str], places: list[float]) -> list[str]:
    """Empty the labels that would touch others where they stand, in points; the first and, if it can, the last stay."""
    halves, last = [_text_width(label, TEXT) / 2 for label in labels], len(labels) - 1

    def touch(i: int, j: int) -> bool:
        return places[j] - halves[j] - places[i] - halves[i] < TICK_GAP

    kept = [0]
    for i in range(1, last):
        if not touch(kept[-1], i) and not touch(i, last):
            kept.append(i)
    if last > 0 and not touch(kept[-1], last):
        kept.append(last)
    return [label if i in kept else "" for i, label in enumerate(labels)]


def _label_axes(figure: SubFigure, axes: list[Axes], chart: Chart, most: tuple[float, float]) -> None:
    """Name the axes once for all panels, in lines at most so many points long along x and y."""
    x_label, y_label = (
        _wrapped(text, room, AXIS_LABEL) for text, room in zip((chart.x_label, chart.y_label), most, strict=True)
    )
    if len(axes) == 1:
        axes[0].set_xlabel(x_label, fontsize=AXIS_LABEL)
        axes[0].set_ylabel(y_label, fontsize=AXIS_LABEL)
    else:
        figure.supxlabel(x_label, fontsize=AXIS_LABEL)
        figure.supylabel(y_label, fontsize=AXIS_LABEL)


# --- Legends ---


def _keys(chart: Chart, styles: dict[str, dict[str, Any]], width: float) -> list[Key]:
    """The legend of the lines, and that of bars and band, each at most so many points wide."""
    lines: list[Line2D | Patch] = [
        Line2D([], [], label=_wrapped(label, width - 60, TEXT), **style) for label, style in styles.items()
    ]
    meanings: list[Line2D | Patch] = []
    if chart.bars and any(line.low for panel in chart.panels for line in panel.lines):
        beam: dict[str, Any] = {"marker": BEAM, "markersize": 9, "markeredgewidth": 0.9, "linestyle": "none"}
        text = _wrapped(chart.bars, width - 60, TEXT)
        meanings.append(Line2D([], [], color=FAINT, markerfacecolor="none", label=text, **beam))
    if any(panel.printed for panel in chart.panels):
        meanings.append(Patch(facecolor=BAND, edgecolor="none", label="range of the paper's figure"))
    return [_key(tuple(handles), width) for handles in (lines, meanings) if handles]


def _key(handles: tuple[Line2D | Patch, ...], width: float) -> Key:
    """Lay a legend out in the fewest rows that fit, its columns of about equal length."""
    texts = [str(handle.get_label()) for handle in handles]
    rows = next(
        rows
        for rows in range(1, len(texts) + 1)
        if rows == len(texts) or _key_width(texts, -(-len(texts) // rows)) <= width
    )
    columns = -(-len(texts) // rows)
    lines = sum(max(text.count("\n") + 1 for text in texts[i : i + columns]) for i in range(0, len(texts), columns))
    return Key(handles, columns, TEXT * (LEADING * lines + KEY_SPACING * (rows - 1)))


def _key_width(texts: list[str], columns: int) -> float:
    widest = [max(_text_width(text, TEXT) for text in texts[i::columns]) for i in range(columns)]
    return sum(widest) + TEXT * ((HANDLE + HANDLE_PAD) * columns + KEY_GAP * (columns - 1))


def _draw_keys(figure: SubFigure, keys: list[Key], height: float) -> None:
    """Draw the legends below each other, in a figure so many points high."""
    top = height - KEY_PAD
    for key in keys:
        n = len(key.handles)
        # A legend fills its columns from top to bottom; they are to be read in rows.
        handles = [key.handles[i] for column in range(key.columns) for i in range(column, n, key.columns)]
        figure.legend(
            handles=handles,
            ncols=key.columns,
            loc="upper center",
            bbox_to_anchor=(0.5, top / height),
            frameon=False,
            fontsize=TEXT,
            borderpad=0,
            borderaxespad=0,
            handlelength=HANDLE,
            handletextpad=HANDLE_PAD,
            columnspacing=KEY_GAP,
            labelspacing=KEY_SPACING,
        )
        top -= key.height + KEY_PAD


# --- Sizes ---


def _height_above(title: str, titles: list[str], columns: int) -> float:
    """Inches of the panels with their titles and the chart's."""
    rows = [titles[i : i + columns] for i in range(0, len(titles), columns)]
    panel = min(PANEL_HEIGHT.get(columns, SMALL_PANEL_HEIGHT), MOST_HEIGHT / len(rows))
    title_lines = sum(max(text.count("\n") for text in row) for row in rows)
    return 0.45 + len(rows) * panel + (title.count("\n") * TITLE + title_lines * PANEL_TITLE) * LEADING / 72


def _height_below(keys: list[Key]) -> float:
    """Inches of the legends."""
    return (sum(key.height + KEY_PAD for key in keys) + KEY_PAD) / 72


def _wrapped(text: str, points: float, size: float) -> str:
    """Break a text into lines at most so many points wide in letters of this size."""
    lines = []
    for part in text.split("\n"):
        # As many characters as would fit on average, and some more; then fewer, until the widest line fits.
        most = min(len(part), int(1.15 * len(part) * points / max(_text_width(part, size), 1)))
        while most > 1 and any(_text_width(line, size) > points for line in textwrap.wrap(part, most)):
            most -= 1
        lines += textwrap.wrap(part, max(most, 1))
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def _text_width(text: str, size: float) -> float:
    """Points that the widest line of a text takes, in the house's letters."""
    lines = [line for line in text.split("\n") if line.strip()]
    return max((TextPath((0, 0), line, size=size).get_extents().width for line in lines), default=0.0)
