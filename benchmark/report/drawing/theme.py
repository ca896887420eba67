"""Style of all pictures: colours, fonts, shapes, dashes, and the configuration of Vega-Lite."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import Any

VegaSpec = dict[str, Any]

#: Colours of series: the colour-blind safe palette of Okabe and Ito (2008) without its yellow, which is too pale for a
#: line on white; then a grey, and Tol's olive and indigo.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#777777", "#999933", "#332288"),
)
OURS, PUBLISHED = COLOURS[:2]
INK, MUTED, LINE, WASH, PAPER = "#1c2024", "#59636e", "#d9dee3", "#f4f6f8", "#ffffff"
#: Colours of results that are worse than what they are compared with, and of those that are not compared.
BAD, FAINT = "#a84300", "#9aa4ae"
#: CSS variables of a page for these colours, whose values depend on the theme and differ in print.
CSS_VARIABLES = {colour: f"var(--s{i})" for i, colour in enumerate(COLOURS)}
CSS_VARIABLES |= {OURS: "var(--ours)", PUBLISHED: "var(--published)", INK: "var(--ink)", MUTED: "var(--muted)"}
CSS_VARIABLES |= {BAD: "var(--bad)", FAINT: "var(--faint)"}
CSS_VARIABLES |= {LINE: "var(--line)", WASH: "var(--wash)", PAPER: "var(--paper)"}
PENTAGON = "M0,-1L.95,-.31 .59,.81 -.59,.81 -.95,-.31Z"
SALTIRE = "M-1,-.5L-.5,-1 0,-.5 .5,-1 1,-.5 .5,0 1,.5 .5,1 0,.5 -.5,1 -1,.5 -.5,0Z"
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "triangle-down"),
    *("cross", SALTIRE, "triangle-left", "triangle-right", PENTAGON),
)
#: Paths of these shapes, for the samples of lines beside a page's pictures.
SHAPE_PATHS = {
    "circle": "M-1,0A1,1,0,1,0,1,0A1,1,0,1,0,-1,0Z",
    "square": "M-1,-1L1,-1 1,1 -1,1Z",
    "triangle-up": "M0,-1L1,1 -1,1Z",
    "diamond": "M0,-1.2L1.2,0 0,1.2 -1.2,0Z",
    "triangle-down": "M0,1L1,-1 -1,-1Z",
    "cross": "M-.4,-1L.4,-1 .4,-.4 1,-.4 1,.4 .4,.4 .4,1 -.4,1 -.4,.4 -1,.4 -1,-.4 -.4,-.4Z",
    "triangle-left": "M-1,0L1,-1 1,1Z",
    "triangle-right": "M1,0L-1,-1 -1,1Z",
} | {path: path for path in (SALTIRE, PENTAGON)}
DASHES = ((1, 0), (5, 1.6), (1.5, 1.5), (6, 1.5, 1.5, 1.5), (9, 2))
MOST_LABELS = len(COLOURS) * len(DASHES)

#: vl-convert includes Liberation Sans, so that files look alike on every machine; Arial has the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
TEXT_COLOUR, PANEL_TITLE, TITLE = 8.5, 9.5, 12.0  # points, of which an inch has 72
LEADING = 1.3  # line height, as a multiple of the font size
WIDTH, NARROW = 504, 360  # width of a file in points: 7 inches, or 5 if panels are in one column
COLUMN_WIDTH = 238  # of one column of a journal in points: 3.3 inches

_AXIS: VegaSpec = dict.fromkeys(("gridColor", "domainColor", "tickColor"), LINE)
_AXIS |= {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "labelFlush": False}
_LEGEND = {"labelColor": INK, "titleColor": MUTED, "orient": "bottom", "title": None}
_VIEW: VegaSpec = {"stroke": None}
#: Vega-Lite configurations: for pages, and for files and notebooks.
PAGE_CONFIG: VegaSpec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": _VIEW,
    "axis": _AXIS | {"labelFontSize": 12, "titleFontSize": 12, "titlePadding": 10},
    "legend": _LEGEND | {"labelFontSize": 12},
}
FILE_CONFIG: VegaSpec = {
    "background": PAPER,
    "font": FONT,
    "padding": 6,
    "view": _VIEW,
    "axis": _AXIS
    | {"gridWidth": 0.6, "tickColor": INK, "tickSize": 3, "titleColor": INK, "domainColor": INK}
    | {"labelFontSize": TEXT_COLOUR, "titleFontSize": PANEL_TITLE},
    "legend": _LEGEND | {"labelFontSize": TEXT_COLOUR},
    "title": {"color": INK, "fontSize": PANEL_TITLE, "fontWeight": "normal", "anchor": "middle", "offset": 6},
    "concat": {"spacing": 10},
}
#: Widths of characters in Liberation Sans and Arial, in thousandths of the font size; others count as digits.
_WIDTHS = {191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft·", 333: "()-`r²", 334: "{}", 355: '"', 389: "*"}
_WIDTHS |= {469: "^", 500: "Jcksvxyz", 584: "+<=>~×−", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ"}
_WIDTHS |= {833: "Mm", 889: "%", 944: "W", 1000: "…→", 1015: "@"}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Return the width in points of the widest line of a text at this font size."""
    return size / 1000 * max(sum(_WIDTH.get(letter, 556) for letter in line) for line in text.split("\n"))


def wrap_text(text: str, points: float, size: float) -> list[str]:
    """Return a text as lines at most this many points wide; a wider word is broken."""
    lines = []
    for part in text.split("\n"):
        most = len(part)
        while most > 1 and any(text_width(line, size) > points for line in textwrap.wrap(part, most)):
            most -= 1
        lines += textwrap.wrap(part, max(most, 1))
    return lines


def series_style(i: int) -> dict[str, Any]:
    """Return colour, dash, shape and fill of the i-th label; the combination is unique."""
    lap, place = divmod(i, len(COLOURS))
    colour = COLOURS[place]
    dash = list(DASHES[(i + lap) % len(DASHES)])
    return {"stroke": colour, "dash": dash, "shape": SHAPES[place], "fill": PAPER if i % 2 else colour}
