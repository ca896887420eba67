"""Published values against ours along the diagonal, with our intervals and the names of the values that deviate."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.formatting.number_text import interval_text, is_missing, number_text, printed_decimals
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import capitalized, metric_name, unit_named
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.papers.published import COUNT_UNITS
from benchmark.report.drawing.axes import log_ticks, number_expression, round_ticks
from benchmark.report.drawing.key import LegendEntry, legend_spec
from benchmark.report.drawing.spec import (
    FIT,
    LEGEND_COLUMNS,
    Picture,
    concat_parts,
    figure_spec,
    page_spec,
    round_for_output,
    rows_data,
    spec_of,
    tooltips,
)
from benchmark.report.drawing.theme import BAD, LINE, MUTED, OURS, PAPER, PUBLISHED, TEXT_COLOUR, text_width

if TYPE_CHECKING:
    import pandas as pd

    from benchmark.report.drawing.theme import VegaSpec

AGREES, DEVIATES, NOT_COUNTED = "equal, or inside our interval", "deviates", "not counted"
#: Stroke, fill and shape of a mark, by what it shows.
_LOOKS = {
    AGREES: (OURS, OURS, "circle"),
    DEVIATES: (BAD, BAD, "triangle-up"),
    NOT_COUNTED: (MUTED, PAPER, "circle"),
}
_ENDS = ("published", "value", "low", "high")
LOG_FROM = 20.0  # counts have a logarithmic axis if the largest is this many times the smallest
DIAGONAL_WIDTH, DIAGONAL_HEIGHT, DIAGONAL_FILE_HEIGHT = 680.0, 260, 190
LABEL_GAP = 15.0  # points between the names of values that deviate


@dataclass(frozen=True)
class PublishedPanel:
    """Published values of one metric, and ours, as points to draw."""

    title: str
    points: list[dict[str, Any]]
    log: bool

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of both axes, which show every number."""
        numbers = [point[end] for point in self.points for end in _ENDS if point[end] is not None]
        low, high = min(numbers), max(numbers)
        if self.log:
            margin = (high / low) ** 0.06
            return low / margin, high * margin
        margin = 0.06 * (high - low) or abs(high) / 10 or 1.0
        return low - margin, high + margin

    @property
    def shown(self) -> dict[str, tuple[str, str, str]]:
        """Looks of the marks that occur, by name."""
        return {name: look for name, look in _LOOKS.items() if any(point["what"] == name for point in self.points)}


def published_panels(values: pd.DataFrame) -> list[PublishedPanel]:
    """Return a panel for each metric of the published results, and one for all counts of data.

    Parameters
    ----------
    values : DataFrame
        The record `values` of `report.scoreboard`: rows of verdicts with `paper` and `config`.
    """
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in map(in_shown_unit, values.to_dict("records")):
        if not is_missing(row["value"]):
            name, symbol = metric_name(row["metric"], DIAGNOSTIC_METRICS), unit_named(row["unit"]).symbol
            title = capitalized(f"{name} ({symbol})" if symbol and symbol != name else name)
            panels.setdefault("Counts of data" if row["kind"] == "count" else title, []).append(_point(row))
    return [PublishedPanel(title, points, _is_log(points)) for title, points in panels.items()]


def published_pictures(values: pd.DataFrame) -> list[Picture]:
    """Draw each panel for a page."""
    pictures = []
    for i, panel in enumerate(published_panels(values)):
        layers = alt.layer(*_layers(panel, DIAGONAL_HEIGHT, page=True)).resolve_axis(y="independent")
        spec = page_spec(spec_of(layers.properties(width="container", autosize=FIT, height=DIAGONAL_HEIGHT)))
        title = f"{panel.title}: published values and ours"
        pictures.append(Picture(f"published-{i}", title, f"{title}. {_alt(panel)}", spec))
    return pictures


def published_chart(values: pd.DataFrame) -> VegaSpec:
    """Draw all panels for a file."""
    panels = published_panels(values)
    drawn = [_file_panel(panel) for panel in panels]
    found = {name: look for panel in panels for name, look in panel.shown.items()}
    looks = {name: found[name] for name in _LOOKS if name in found}
    legend = [LegendEntry(name, stroke, fill, shape=shape, size=34) for name, (stroke, fill, shape) in looks.items()]
    alt_text = " ".join(f"{panel.title}: {_alt(panel)}" for panel in panels)
    title = "Published values and ours; bars: our 95% intervals"
    parts = [concat_parts(drawn, columns=2, spacing=24), legend_spec(legend, DIAGONAL_WIDTH)]
    return figure_spec(title, parts, alt_text, DIAGONAL_WIDTH)


def _point(row: dict[Any, Any]) -> dict[str, Any]:
    """Return the numbers of a published value in the unit of ours, for drawing and as text."""
    decimals = 0 if row["unit"] in COUNT_UNITS else printed_decimals(row["published"])
    name = f"{row['config']}: {row['cell']}"
    verdict = f"{row['verdict']} ({row['reading']} reading)" if row["reading"] else row["verdict"]
    agrees = str(row["verdict"]).startswith(("equal", "consistent"))
    counted = not row["reading"] and (agrees or row["verdict"] == "deviates")
    point: dict[str, Any] = {end: round_for_output(1, float(row[end])) for end in _ENDS}
    point |= {"name": name, "verdict": verdict, "print": row["published"], "ours": number_text(row["value"], decimals)}
    point |= {"interval": interval_text(row["low"], row["high"], decimals), "paper": row["paper"]}
    return point | {"what": NOT_COUNTED if not counted else AGREES if agrees else DEVIATES}


def _is_log(points: list[dict[str, Any]]) -> bool:
    numbers = [point[end] for point in points for end in ("published", "value")]
    return bool(min(numbers) > 0 and max(numbers) > LOG_FROM * min(numbers))


def _alt(panel: PublishedPanel) -> str:
    """Describe a panel: how many values agree, and which deviate."""
    counts = {what: sum(point["what"] == what for point in panel.points) for what in _LOOKS}
    said = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    names = [
        f"{point['name']} ({point['print']} published, {point['ours']} ours)"
        for point in panel.points
        if point["what"] == DEVIATES
    ]
    return f"{said}.{' Deviating: ' * bool(names)}{'; '.join(names)}{'.' * bool(names)}"


def _file_panel(panel: PublishedPanel) -> VegaSpec:
    names = [text_width(point["name"], TEXT_COLOUR) for point in panel.points if point["what"] == DEVIATES]
    width = DIAGONAL_WIDTH / 2 - 70 - max(names, default=0.0)
    layers = alt.layer(*_layers(panel, DIAGONAL_FILE_HEIGHT, page=False)).resolve_axis(y="independent")
    titled = {"text": panel.title, "anchor": "start"}
    return spec_of(layers.properties(width=width, height=DIAGONAL_FILE_HEIGHT)) | {"title": titled}


def _layers(panel: PublishedPanel, height: float, *, page: bool) -> list[alt.Chart]:
    """Return the layers of the diagonal, leaders to the names, intervals and marks."""
    ends = panel.ends
    scale = alt.Scale(domain=list(ends), nice=False, **({"type": "log"} if panel.log else {"zero": False}))
    ticks = log_ticks(*ends) if panel.log else round_ticks(*ends, 3, 6)
    axis: dict[str, Any] = {
        "values": ticks,
        "labelExpr": number_expression(ticks, log=panel.log),
        "labelOverlap": "greedy",
    }
    x: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": "Published", "axis": alt.Axis(**axis)}
    left = alt.Axis(**axis, orient="left")
    y: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": "Ours"}
    legend: Any = alt.Legend(symbolOpacity=1, columns=LEGEND_COLUMNS, labelLimit=400) if page else None
    shown = panel.shown if page else _LOOKS  # panels of a file share their scales
    scales = [alt.Scale(domain=list(shown), range=[look[i] for look in shown.values()]) for i in range(3)]
    stroke, fill, shape = (
        channel("what:N", scale=scales[i], legend=legend) for i, channel in enumerate((alt.Stroke, alt.Fill, alt.Shape))
    )
    tips = {"name": "value", "print": "published", "ours": "ours", "interval": "95% interval", "verdict": "verdict"}
    tip, data = tooltips(tips | {"paper": "paper"}), alt.Chart(rows_data(panel.points))
    line = alt.Chart(rows_data([{"x": end, "y": end} for end in ends])).mark_line(color=PUBLISHED, strokeWidth=1)
    diagonal = line.encode(alt.X("x", **x), alt.Y("y", axis=left, **y))
    leaders, names = _names(panel, height)
    right = alt.Axis(orient="right", ticks=False, domain=False, grid=False, labelPadding=4, title=None)
    right.labelExpr = f"{json.dumps(names)}[format(datum.value, '.6~g')]"
    right.values = [float(value) for value in names]
    right.labelLimit = alt.ExprRef("0.45 * containerSize()[0]") if page else DIAGONAL_WIDTH
    bars = data.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2 if page else 1.4)
    marks = data.mark_point(opacity=1, size=60 if page else 30, strokeWidth=1.3)
    drawn = [diagonal]
    if any(point["low"] is not None for point in panel.points):
        drawn.append(bars.encode(alt.X("published", **x), alt.Y("low", axis=None, **y), alt.Y2("high"), stroke, tip))
    drawn.append(marks.encode(alt.X("published", **x), alt.Y("value", axis=None, **y), stroke, fill, shape, tip))
    if leaders:
        rule = alt.Chart(rows_data(leaders)).mark_rule(color=LINE, aria=False)
        named = alt.Y("value", axis=right, **(y | {"title": None}))
        drawn.insert(1, rule.encode(alt.X("published", **x), named, alt.X2("to"), alt.Y2("at")))
    return drawn


def _names(panel: PublishedPanel, height: float) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return lines from deviating marks to their names at the right edge, and the names by their place there."""
    low, high = panel.ends
    to_unit, from_unit = _unit_scale(low, high, log=panel.log)
    off = sorted((point for point in panel.points if point["what"] == DEVIATES), key=lambda point: point["value"])
    places = spread([to_unit(point["value"]) for point in off], LABEL_GAP / height)
    leaders, names = [], {}
    for point, place in zip(off, places, strict=True):
        at = f"{from_unit(place):.6g}"
        names[at] = str(point["name"])
        leaders.append({"published": point["published"], "value": point["value"], "to": high, "at": float(at)})
    return leaders, names


def _unit_scale(low: float, high: float, *, log: bool) -> tuple[Any, Any]:
    """Return functions from a number of the axis to its place from 0 to 1, and back."""
    if log:
        start, length = math.log(low), math.log(high / low)
        return (lambda v: (math.log(v) - start) / length), (lambda u: math.exp(start + u * length))
    return (lambda v: (v - low) / (high - low)), (lambda u: low + u * (high - low))


def spread(places: list[float], gap: float) -> list[float]:
    """Return ascending places moved apart to at least `gap`, as near to 0 to 1 as they fit.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.99], 0.1)
    [0.5, 0.6, 0.99]
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    top = 1.0
    for i in range(len(moved) - 1, -1, -1):
        moved[i] = min(moved[i], top)
        top = moved[i] - gap
    return moved
