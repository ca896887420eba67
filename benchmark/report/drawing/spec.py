"""Specifications of Vega-Lite (Satyanarayan et al. 2017) as plain data, and the style of all pictures."""

from __future__ import annotations

import json
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

VegaSpec = dict[str, Any]

#: Colours of series: the colour-blind safe palette of Okabe and Ito (2008) without its yellow, which is too pale for a
#: line on white; then a grey, and Tol's olive and indigo.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#777777", "#999933", "#332288"),
)
OURS, PUBLISHED = COLOURS[:2]
INK, MUTED, LINE, PAPER = "#1c2024", "#59636e", "#d9dee3", "#ffffff"
#: CSS variables of a page for these colours, whose values depend on the theme and differ in print.
CSS_VARIABLES = {colour: f"var(--s{i})" for i, colour in enumerate(COLOURS)}
CSS_VARIABLES |= {OURS: "var(--ours)", PUBLISHED: "var(--published)", INK: "var(--ink)", MUTED: "var(--muted)"}
CSS_VARIABLES |= {LINE: "var(--line)", PAPER: "var(--paper)"}
#: What these colours become in an image file that is shown in a dark theme, as in `report.css`.
DARK_COLOURS = {OURS: "#4aa3df", PUBLISHED: "#f0813a", COLOURS[3]: "#f2f2f2", COLOURS[7]: "#a0a0a0"}
DARK_COLOURS |= {COLOURS[9]: "#a99be8", INK: "#e7ebef", MUTED: "#b0bac4", LINE: "#39424b", PAPER: "#14181d"}
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-left")

WIDTH = 506  # width of a file in pixels, as in a README
PAGE_WIDTH = 1060  # width of a figure on a page
#: Font sizes in pixels by the width of the figure.
TEXT_SIZES = {WIDTH: 11, PAGE_WIDTH: 13}
#: vl-convert includes Liberation Sans, so that files look alike on every machine; Arial has the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_CODES = re.compile("|".join(map(re.escape, CSS_VARIABLES)))


def figure_config(width: int) -> VegaSpec:
    """Return the configuration of Vega-Lite for a figure of this width."""
    size = TEXT_SIZES[width]
    axis: VegaSpec = dict.fromkeys(("domainColor", "tickColor", "labelColor", "titleColor"), INK)
    axis |= {"gridColor": LINE, "titleFontWeight": "normal", "labelFontSize": size, "titleFontSize": size}
    legend = {"labelColor": INK, "orient": "bottom", "title": None, "labelFontSize": size, "labelLimit": 0}
    title = {"color": INK, "subtitleColor": MUTED, "anchor": "start", "offset": 8, "fontSize": size}
    return {
        "background": PAPER,
        "font": FONT,
        "padding": 6,
        "view": {"stroke": None},
        "axis": axis,
        "legend": legend | {"symbolOpacity": 1, "symbolSize": 6 * size, "columnPadding": 14},
        "title": title | {"subtitleFontSize": size, "fontWeight": "normal"},
        "concat": {"spacing": 14},
    }


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in pixels: a letter of Arial is about half as wide as its font size."""
    return 0.5 * size * len(text)


def wrap_text(text: str, width: float, size: float) -> list[str]:
    """Return a text as lines that fit this width in pixels."""
    most = max(int(width / text_width(" ", size)), 1)
    return [line for part in text.split("\n") for line in textwrap.wrap(part, most)]


def legend_columns(labels: Sequence[str], width: int, room: float = math.inf) -> int:
    """Return how many of these labels stand side by side in the legend of a figure of a width, or in less room."""
    return max(1, int(min(width, room) / (text_width(max(labels, key=len, default=""), TEXT_SIZES[width]) + 34)))


def series_style(i: int) -> dict[str, str]:
    """Return stroke, shape and fill of the i-th label; no two of 70 labels are alike."""
    colour = COLOURS[i % len(COLOURS)]
    shape = SHAPES[(i + i // len(COLOURS)) % len(SHAPES)]
    return {"stroke": colour, "shape": shape, "fill": PAPER if i % 2 else colour}


def round_for_output(scale: float, value: Any) -> float | None:
    """Return a number rounded to 12 digits, since machines differ in later ones, or None if it is missing."""
    return None if is_missing(value) or not math.isfinite(value) else float(f"{scale * value:.12g}")


def side_by_side(parts: Sequence[VegaSpec], columns: int) -> VegaSpec:
    """Return one specification with parts arranged in rows of `columns`.

    Parts are joined as plain data, since Altair copies all parts at each nesting: 4 seconds for twelve panels.
    """
    datasets = {name: rows for part in parts for name, rows in part.get("datasets", {}).items()}
    inner = [{name: value for name, value in part.items() if name != "datasets"} for part in parts]
    return {"concat": inner, "columns": columns, "datasets": datasets}


def figure_spec(
    part: VegaSpec, width: int, title: str, notes: Sequence[str] = (), alt_text: str = "", *, legend_columns: int = 2
) -> VegaSpec:
    """Return the specification of a figure: a part under its title, with notes that say what the marks mean."""
    size, room = TEXT_SIZES[width], width - 24
    lines = [line for note in filter(None, notes) for line in wrap_text(note, room, size)]
    head: VegaSpec = {"text": wrap_text(title, room, size + 3), "fontSize": size + 3, "frame": "bounds"}
    head |= {"subtitle": lines} if lines else {}
    words = {"description": alt_text or " ".join([f"{title}.", *notes]), "title": head}
    config = figure_config(width)
    config["legend"]["columns"] = legend_columns
    return {"$schema": SCHEMA, "config": config, **part, **words}


def page_spec(spec: VegaSpec) -> VegaSpec:
    """Return a specification with the CSS variables of a page instead of colours, and its notes as title."""
    named, head = {name: part for name, part in spec.items() if name not in ("$schema", "title")}, spec["title"]
    if "subtitle" in head:
        named["title"] = {"text": head["subtitle"], "color": MUTED, "frame": "bounds"}
    text = json.dumps(named)
    with_variables: VegaSpec = json.loads(_CODES.sub(lambda colour: CSS_VARIABLES[colour[0]], text))
    return with_variables
