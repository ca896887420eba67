"""The look of every picture: its colours, letters, shapes and dashes, and Vega-Lite's configuration."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import Any

Spec = dict[str, Any]

#: Series: Okabe and Ito's palette (2008), told apart by the colour-blind, but for its yellow, too pale for a line on
#: white; then a grey, and the olive and the indigo of Tol's.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#777777", "#999933", "#332288"),
)
OURS, PUBLISHED = COLOURS[:2]
INK, MUTED, LINE, WASH, PAPER = "#1c2024", "#59636e", "#d9dee3", "#f4f6f8", "#ffffff"
#: What a page's style sheet calls these colours: there they change with the theme and on paper.
VARIABLES = {colour: f"var(--s{i})" for i, colour in enumerate(COLOURS)}
VARIABLES |= {OURS: "var(--ours)", PUBLISHED: "var(--published)", INK: "var(--ink)", MUTED: "var(--muted)"}
VARIABLES |= {LINE: "var(--line)", WASH: "var(--wash)", PAPER: "var(--paper)"}
PENTAGON = "M0,-1L.95,-.31 .59,.81 -.59,.81 -.95,-.31Z"
SALTIRE = "M-1,-.5L-.5,-1 0,-.5 .5,-1 1,-.5 .5,0 1,.5 .5,1 0,.5 -.5,1 -1,.5 -.5,0Z"
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "triangle-down"),
    *("cross", SALTIRE, "triangle-left", "triangle-right", PENTAGON),
)
DASHES = ((1, 0), (5, 1.6), (1.5, 1.5), (6, 1.5, 1.5, 1.5), (9, 2))
MOST_LABELS = len(COLOURS) * len(DASHES)

#: It comes with vl-convert, so that files look alike on every machine; Arial has the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
TEXT, PANEL_TITLE, TITLE = 8.5, 9.5, 12.0  # points, of which an inch has 72
LEADING = 1.3  # from one line of text to the next, by the size of its letters
WIDTH, NARROW = 504, 360  # points of a file: 7 inches, and 5 where panels stand in one column

_AXIS: Spec = dict.fromkeys(("gridColor", "domainColor", "tickColor"), LINE)
_AXIS |= {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "labelFlush": False}
_LEGEND = {"labelColor": INK, "titleColor": MUTED, "orient": "bottom", "title": None}
_VIEW: Spec = {"stroke": None}
#: Vega-Lite's configuration of a page's pictures, and of files and notebooks.
PAGE_CONFIG: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": _VIEW,
    "axis": _AXIS | {"labelFontSize": 12, "titleFontSize": 12, "titlePadding": 10},
    "legend": _LEGEND | {"labelFontSize": 12},
}
CONFIG: Spec = {
    "background": PAPER,
    "font": FONT,
    "padding": 6,
    "view": _VIEW,
    "axis": _AXIS
    | {"gridWidth": 0.6, "tickColor": INK, "tickSize": 3, "titleColor": INK, "domainColor": INK}
    | {"labelFontSize": TEXT, "titleFontSize": PANEL_TITLE},
    "legend": _LEGEND | {"labelFontSize": TEXT},
    "title": {"color": INK, "fontSize": PANEL_TITLE, "fontWeight": "normal", "anchor": "middle", "offset": 6},
    "concat": {"spacing": 10},
}
#: Thousandths of the size of letters, of Liberation Sans (and of Arial); of others, that of a digit.
_WIDTHS = {191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft·", 333: "()-`r²", 334: "{}", 355: '"', 389: "*"}
_WIDTHS |= {469: "^", 500: "Jcksvxyz", 584: "+<=>~×−", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ"}
_WIDTHS |= {833: "Mm", 889: "%", 944: "W", 1000: "…→", 1015: "@"}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Return the points that the widest line of a text takes in letters of this size."""
    return size / 1000 * max(sum(_WIDTH.get(letter, 556) for letter in line) for line in text.split("\n"))


def wrapped(text: str, points: float, size: float) -> list[str]:
    """Break a text into lines at most so many points wide; a word wider than that is broken."""
    lines = []
    for part in text.split("\n"):
        most = len(part)
        while most > 1 and any(text_width(line, size) > points for line in textwrap.wrap(part, most)):
            most -= 1
        lines += textwrap.wrap(part, max(most, 1))
    return lines


def look_of(i: int) -> dict[str, Any]:
    """Return colour, dash, shape and filling of the i-th label, of which all tell it apart."""
    lap, place = divmod(i, len(COLOURS))
    colour = COLOURS[place]
    dash = list(DASHES[(i + lap) % len(DASHES)])
    return {"stroke": colour, "dash": dash, "shape": SHAPES[place], "fill": PAPER if i % 2 else colour}
