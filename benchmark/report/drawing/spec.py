"""Charts to specifications: plain data in the grammar of Vega-Lite (Satyanarayan et al. 2017), put side by side."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.report.drawing.theme import CONFIG, TITLE, VARIABLES, WIDTH, wrapped
from benchmark.report.escapes import printable
from benchmark.report.numbers import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.theme import Spec

FIT = alt.AutoSizeParams(type="fit-x", contains="padding")  # to the width that a page has
SCHEMA = alt.SCHEMA_URL
_CODES = re.compile("|".join(map(re.escape, VARIABLES)))


@dataclass(frozen=True)
class Picture:
    """One picture of a page.

    Parameters
    ----------
    name : str
        Unlike every other's of the page.
    title, alt : str
        The caption above it, and its description for a screen reader.
    spec : mapping
    series : tuple of str
        Of a picture of curves, its labels: one of them can be chosen.
    measured : bool
        Whether it shows seconds on the clock, which differ from run to run.
    """

    name: str
    title: str
    alt: str
    spec: Spec
    series: tuple[str, ...] = ()
    measured: bool = False


def rows_data(rows: Sequence[Spec]) -> alt.InlineData:
    """Return rows as the data of a chart; as a tuple, since Altair copies a list for each chart that it is put into."""
    return alt.InlineData(values=tuple(rows))


def plain(scale: float, value: Any) -> float | None:
    """Return a number with 12 digits, as files hold it: machines differ below; None for what is missing."""
    return None if is_missing(value) or not math.isfinite(value) else float(f"{scale * value:.12g}")


def tooltips(titles: dict[str, str]) -> list[alt.Tooltip]:
    """Return what hovering shows: by field, its title."""
    return [alt.Tooltip(name, type="nominal", title=title) for name, title in titles.items()]


def spec_of(chart: alt.Chart | alt.LayerChart | alt.FacetChart) -> Spec:
    """Return a chart as plain data, whatever theme a caller has chosen for charts of their own."""
    with alt.theme.enable("none"), alt.data_transformers.enable("default", max_rows=None):
        spec = chart.to_dict(validate=False)
    found: Spec = _printable({name: part for name, part in spec.items() if name not in ("$schema", "config")})
    return found


def beside(parts: Sequence[Spec], *, columns: int = 1, **others: Any) -> Spec:
    """Return parts in rows as one specification.

    They are joined as plain data: Altair copies all parts once more at each nesting, 4 seconds for twelve panels.
    """
    datasets = {name: rows for part in parts for name, rows in part.get("datasets", {}).items()}
    inner = [{name: value for name, value in part.items() if name != "datasets"} for part in parts]
    return {"concat": inner, "columns": columns, **_printable(others), "datasets": datasets}


def titled(lines: Sequence[str], **others: Any) -> Spec:
    """Return the title of a part, or none where it has no words."""
    return {"title": {"text": list(lines), "anchor": "middle", **others}} if lines else {}


def whole(title: str, parts: Sequence[Spec], alt_text: str = "", width: float = WIDTH) -> Spec:
    """Return what a file or notebook shows: a title, and below it parts in a column, in the look of the house."""
    above = titled(wrapped(title, width - 24, TITLE), fontSize=TITLE, offset=10, frame="bounds")
    column = beside(parts, center=True, description=alt_text or title, **above)
    return {"$schema": SCHEMA, "config": CONFIG, **column}


def chart_of(spec: Spec) -> alt.Chart:
    """Return what a notebook shows."""
    found: alt.Chart = alt.Chart.from_dict(spec)
    return found


def page_spec(spec: Spec) -> Spec:
    """Return a specification for a page, whose style sheet names the colours."""
    text = json.dumps({name: part for name, part in spec.items() if name != "$schema"})
    found: Spec = json.loads(_CODES.sub(lambda colour: VARIABLES[colour[0]], text))
    return found


def _printable(part: Any) -> Any:
    """Return plain lists and dictionaries, control characters in their texts as escapes."""
    if isinstance(part, dict):
        return {name: _printable(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_printable(value) for value in part]
    return drawable(part) if isinstance(part, str) else part


def drawable(text: str) -> str:
    """Return a text whose control characters are escapes and whose lone surrogates are question marks."""
    return printable(text).encode("utf-8", "replace").decode()
