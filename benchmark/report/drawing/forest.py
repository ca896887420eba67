"""Forest plot: the difference of each planned comparison with its interval, beside a line at zero."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.formatting.number_text import MISSING_TEXT, p_text
from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.report.comparison_tables import outcome_text, pair_key
from benchmark.report.drawing.axes import ends_and_ticks, number_expression
from benchmark.report.drawing.spec import LEGEND_COLUMNS, Picture, round_for_output, row_panel, rows_data, tooltips
from benchmark.report.drawing.theme import BAD, INK, LINE, MUTED, OURS, PAPER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary

#: Most comparisons that are drawn: their numbers are in the table.
MOST_DRAWN_PAIRS = 100
FOREST_ROW = 22
#: Stroke, fill and shape of a mark, by what the test says.
_LOOKS = {
    "the first is better": (OURS, OURS, "circle"),
    "the second is better": (BAD, BAD, "triangle-down"),
    "no clear difference": (MUTED, PAPER, "circle"),
}


def forest_picture(summary: Summary) -> Picture | None:
    """Draw a row for each planned comparison, the largest lead of its first cell at the top; None without any."""
    pairs = planned_comparisons(summary)[:MOST_DRAWN_PAIRS]
    if not pairs:
        return None
    unit = display_unit(summary.main_metric, summary.quantities)
    points = _points(summary, pairs)
    symbol = "points" if unit.name == "percent" else unit.symbol
    name = metric_name(summary.main_metric, summary.quantities)
    seconds = {pair.b.id for pair in pairs}
    minus = "First − second" if len(seconds) > 1 else f"Difference to {next(iter(seconds))}"
    x = forest_axis(points, [0.0], f"{minus}, {name}{f' ({symbol})' if symbol else ''}")
    tips = {"cell": "first − second", "gap": "difference", "interval": "95% interval", "p": "p (Holm)"}
    layers = forest_layers(points, x, _LOOKS, tips | {"result": "result"})
    caption = f"Difference of each planned comparison with its 95% interval; filled: {_rule()}"
    description = f"{caption}. The numbers are in the table of comparisons."
    return Picture("pairs", caption, description, row_panel(layers, len(points), FOREST_ROW))


def forest_axis(points: Sequence[dict[str, Any]], others: Sequence[float], title: str) -> dict[str, Any]:
    """Return the encoding of a horizontal axis that shows all numbers of the points, and other numbers."""
    names = ("value", "low", "high", "published")
    values = [*others, *(point[name] for point in points for name in names if point.get(name) is not None)]
    ends, ticks = ends_and_ticks(min(values), max(values), 5, 8)
    axis = alt.Axis(values=ticks, labelExpr=number_expression(ticks), labelOverlap="greedy")
    scale = alt.Scale(domain=ends, nice=False, zero=False)
    return {"type": "quantitative", "title": title, "axis": axis, "scale": scale}


def _rule() -> str:
    return f"p after Holm's correction is below {SIGNIFICANCE_LEVEL:g}, and the interval excludes zero"


def _points(summary: Summary, pairs: Sequence[PlannedComparison]) -> list[dict[str, Any]]:
    """Return the numbers of every comparison, for drawing and as formatted text."""
    unit = display_unit(summary.main_metric, summary.quantities)
    sign = -1 if summary.more_is_better(summary.main_metric) else 1
    ranks = {id(pair): rank for rank, pair in enumerate(sorted(pairs, key=lambda pair: sign * pair.value))}
    points, one = [], len({pair.b.id for pair in pairs}) == 1
    for place, pair in enumerate(pairs):
        point: dict[str, Any] = {"cell": pair_key(pair.a.id, pair.b.id), "place": place, "rank": ranks[id(pair)]}
        point |= {end: round_for_output(unit.scale, getattr(pair, end)) for end in ("value", "low", "high")}
        point |= {"gap": unit.text(pair.value, "+"), "interval": unit.interval(pair.low, pair.high, "+")}
        point |= {"p": MISSING_TEXT if pair.p_holm is None else p_text(pair.p_holm), "result": outcome_text(pair)}
        point["label"] = pair.a.id if one else point["cell"]
        first = {"a": "the first is better", "b": "the second is better"}.get(pair.outcome, "no clear difference")
        points.append(point | {"what": first})
    return points


def forest_layers(
    points: list[dict[str, Any]],
    x: dict[str, Any],
    looks: Mapping[str, tuple[str, str, str]],
    tips: dict[str, str],
    at: float = 0.0,
    band: tuple[float, float] | None = None,
) -> list[alt.Chart]:
    """Return the layers of a band, the line at `at`, intervals, differences, and published differences.

    Parameters
    ----------
    points : list of dict
        Rows with `cell`, the key of a row, its `label` if that differs, `gap` as text, `what` it shows, `value`, `low`
        and `high`. Rows with a published value have `published`, and its name in the legend as `other`.
    x : dict
        Encoding of the horizontal axis.
    looks : mapping of str to tuple
        Stroke, fill and shape of a mark, by `what`.
    tips : dict of str to str
        Titles of the fields that a tooltip shows.
    at : float
        Where both are equal: 0 for differences, 1 for ratios.
    band : tuple of float, optional
        Ends of a range that is shaded.
    """

    def y(axis: alt.Axis | None) -> alt.Y:
        return alt.Y("cell", type="nominal", axis=axis, sort=alt.EncodingSortField("at", op="min"))

    names = alt.Axis(title=None, ticks=False, domain=False, grid=True, labelPadding=8)
    labels = {point["cell"]: point["label"] for point in points if "label" in point}
    if labels:
        names.labelExpr = f"{json.dumps(labels)}[datum.value]"
    names.labelLimit = alt.ExprRef("0.5 * containerSize()[0]")
    gaps = alt.Axis(title=None, ticks=False, domain=False, grid=False, orient="right", labelPadding=4)
    gaps.labelExpr = f"{json.dumps({point['cell']: point['gap'] for point in points})}[datum.value]"
    shown = [name for name in looks if any(name in (point["what"], point.get("other")) for point in points)]
    scales = [alt.Scale(domain=shown, range=[looks[name][i] for name in shown]) for i in range(3)]
    legend = alt.Legend(symbolOpacity=1, columns=LEGEND_COLUMNS)
    encoded = (
        alt.Stroke("what:N", scale=scales[0], legend=legend),
        alt.Fill("what:N", scale=scales[1], legend=legend),
        alt.Shape("what:N", scale=scales[2], legend=legend),
    )
    data, tip = alt.Chart(rows_data(points)), tooltips(tips)
    once = data.transform_aggregate(n="count()")
    below = [once.mark_rule(color=INK, strokeWidth=1, aria=False).encode(alt.XDatum(at, **x))]
    if band:
        shade = once.mark_rect(color=LINE, opacity=0.55, aria=False)
        below.insert(0, shade.encode(alt.XDatum(band[0], **x), alt.X2Datum(band[1])))
    barred = data.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2.5)
    if all(point["low"] is None for point in points):
        barred.mark.aria = False  # an empty layer has nothing to say
    bars = barred.encode(alt.X("low", **x), alt.X2("high"), y(gaps), encoded[0], tip)
    dots = data.mark_point(opacity=1, size=70, strokeWidth=1.6).encode(alt.X("value", **x), y(names), *encoded, tip)
    if not any(point.get("other") for point in points):
        return [*below, bars, dots]
    others = data.transform_filter("isValid(datum.published)").transform_calculate(what="datum.other")
    mark = others.mark_point(opacity=1, size=110, strokeWidth=1.3)
    return [*below, bars, dots, mark.encode(alt.X("published", **x), y(None), *encoded, tip)]
