"""Helpers for specifications in the grammar of Vega-Lite (Satyanarayan et al. 2017), as plain data."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import is_missing
from benchmark.report.drawing.theme import CSS_VARIABLES, MUTED, figure_config, text_size, wrap_text
from benchmark.report.escapes import escape_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.theme import VegaSpec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_CODES = re.compile("|".join(map(re.escape, CSS_VARIABLES)))


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
    size, room = text_size(width), width - 24
    lines = [line for note in filter(None, notes) for line in wrap_text(note, room, size)]
    head: VegaSpec = {"text": wrap_text(title, room, size + 3), "fontSize": size + 3, "frame": "bounds"}
    head |= {"subtitle": lines} if lines else {}
    words = {"description": alt_text or " ".join([f"{title}.", *notes]), "title": head}
    config = figure_config(width)
    config["legend"]["columns"] = legend_columns
    return {"$schema": SCHEMA, "config": config, **part, **printable(words)}


def page_spec(spec: VegaSpec) -> VegaSpec:
    """Return a specification with the CSS variables of a page instead of colours, and its notes as title."""
    named, head = {name: part for name, part in spec.items() if name not in ("$schema", "title")}, spec["title"]
    if "subtitle" in head:
        named["title"] = {"text": head["subtitle"], "color": MUTED, "frame": "bounds"}
    text = json.dumps(named)
    with_variables: VegaSpec = json.loads(_CODES.sub(lambda colour: CSS_VARIABLES[colour[0]], text))
    return with_variables


def printable(part: Any) -> Any:
    """Return plain lists and dictionaries, with all texts made `drawable_text`."""
    if isinstance(part, dict):
        return {name: printable(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [printable(value) for value in part]
    return drawable_text(part) if isinstance(part, str) else part


def drawable_text(text: str) -> str:
    """Return a text with control characters as escapes and lone surrogates as question marks."""
    return escape_controls(text).encode("utf-8", "replace").decode()
