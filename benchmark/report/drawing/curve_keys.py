"""Line styles and meanings to legends: laid out in the fewest rows that fit a width, and drawn below each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path

from benchmark.report.drawing.style import FAINT, LEADING, TEXT, text_width, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

    from benchmark.report.charts import Chart

BAND = "#ececec"  # the range of the paper's figure
HANDLE, HANDLE_PAD, KEY_GAP, KEY_SPACING = 3.4, 0.6, 1.8, 0.5  # of the legends, by the size of their letters
LEGEND: dict[str, Any] = {"frameon": False, "fontsize": TEXT, "borderpad": 0, "borderaxespad": 0}
LEGEND |= {"handlelength": HANDLE, "handletextpad": HANDLE_PAD, "columnspacing": KEY_GAP, "labelspacing": KEY_SPACING}
KEY_PAD = 7.0  # points above, between and below the legends
BEAM = Path([(-0.4, -1), (0.4, -1), (0, -1), (0, 1), (-0.4, 1), (0.4, 1)], [1, 2, 1, 2, 1, 2])  # an error bar


@dataclass(frozen=True)
class Key:
    """A legend before it is drawn: its handles in reading order, and its height in points."""

    handles: tuple[Line2D | Patch, ...]
    columns: int
    height: float


def legend_keys(chart: Chart, styles: dict[str, dict[str, Any]], width: float) -> list[Key]:
    """The legend of the lines, and that of bars and band, each at most so many points wide."""
    lines: list[Line2D | Patch] = [
        Line2D([], [], label=wrapped(label, width - 60, TEXT), **style) for label, style in styles.items()
    ]
    meanings: list[Line2D | Patch] = []
    if chart.bars and any(line.low for panel in chart.panels for line in panel.lines):
        beam: dict[str, Any] = {"marker": BEAM, "markersize": 9, "markeredgewidth": 0.9, "linestyle": "none"}
        text = wrapped(chart.bars, width - 60, TEXT)
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
    widest = [max(text_width(text, TEXT) for text in texts[i::columns]) for i in range(columns)]
    return sum(widest) + TEXT * ((HANDLE + HANDLE_PAD) * columns + KEY_GAP * (columns - 1))


def draw_keys(figure: SubFigure, keys: list[Key], height: float) -> None:
    """Draw the legends below each other, in a figure so many points high."""
    top = height - KEY_PAD
    for key in keys:
        n = len(key.handles)
        # A legend fills its columns from top to bottom; they are to be read in rows.
        handles = [key.handles[i] for column in range(key.columns) for i in range(column, n, key.columns)]
        anchor = (0.5, top / height)
        figure.legend(handles=handles, ncols=key.columns, loc="upper center", bbox_to_anchor=anchor, **LEGEND)
        top -= key.height + KEY_PAD


def keys_height(keys: list[Key]) -> float:
    """Inches of the legends."""
    return (sum(key.height + KEY_PAD for key in keys) + KEY_PAD) / 72
