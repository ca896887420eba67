"""Figure of scores: a row for each cell, with its interval and the published value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import axis_label, capitalized, is_missing
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.report.drawing.spec import (
    MUTED,
    OURS,
    PUBLISHED,
    TEXT_SIZES,
    WIDTH,
    figure_spec,
    legend_columns,
    round_for_output,
    side_by_side,
    text_width,
)
from benchmark.report.tables import bar_numbers, cell_table

if TYPE_CHECKING:
    from benchmark.analysis.summary import Summary
    from benchmark.report.drawing.spec import VegaSpec

SCORE, PRINTED = "score, 95% interval", "published"
ROW_HEIGHT = 1.7  # of a row, as a multiple of the font size


def dot_chart(summary: Summary, width: int = WIDTH) -> VegaSpec:
    """Draw our score of each cell with its 95% interval, and the published value, the best of each setting first."""
    points = _points(summary)
    order, size = [point["label"] for point in points], TEXT_SIZES[width]
    looks = {SCORE: (OURS, OURS, "circle")}
    if any(point["published"] is not None for point in points):
        looks[PRINTED] = (PUBLISHED, "transparent", "diamond")
    x: VegaSpec = {"type": "quantitative", "title": axis_label((summary.main_metric,), summary.quantities)}
    x |= {"scale": {"zero": False, "nice": True}, "axis": {"grid": False, "tickCount": 6}}
    axis: VegaSpec = {"title": None, "ticks": False, "domain": False, "grid": True, "zindex": 0}
    y = {"field": "label", "type": "nominal", "sort": order, "axis": axis | {"labelPadding": 6, "labelLimit": 0}}
    room = max(width - 24 - text_width(max(order, key=len, default=""), size), width / 3)
    beside = legend_columns(list(looks), width, room)
    mark: VegaSpec = {
        channel: {"field": "what", "type": "nominal", "scale": {"domain": list(looks), "range": list(values)}}
        for channel, values in zip(("stroke", "fill", "shape"), zip(*looks.values(), strict=True), strict=False)
    }
    rule = {"type": "rule", "strokeWidth": 2, "color": OURS, "aria": False}
    layers = [
        _layer(rule, {"x": {"field": "low", **x}, "x2": {"field": "high"}, "y": y}, {"filter": "isValid(datum.low)"})
    ]
    ours = {"type": "point", "opacity": 1, "size": 36, "strokeWidth": 1.6}
    layers.append(_layer(ours, {"x": {"field": "value", **x}, "y": y, **mark}))
    if PRINTED in looks:
        named = {"calculate": f"'{PRINTED}'", "as": "what"}
        printed = {"type": "point", "opacity": 1, "size": 60, "strokeWidth": 1.5}
        at = {"x": {"field": "published", **x}, "y": y, **mark}
        layers.append(_layer(printed, at, {"filter": "isValid(datum.published)"}, named))
    if any(point["failed"] for point in points):
        text = {"type": "text", "text": "failed", "fontStyle": "italic", "color": MUTED}
        layers.append(_layer(text, {"y": y, "x": {"value": {"expr": "width / 2"}}}, {"filter": "datum.failed"}))
    drawn: VegaSpec = {"data": {"name": "scores"}, "layer": layers, "width": room}
    drawn |= {"height": ROW_HEIGHT * size * max(len(points), 1)}
    drawn["datasets"] = {"scores": points or [{"label": ""}]}
    finding, name = main_finding(summary).headline, capitalized(summary.metric_name)
    and_published = ", and the published value" if PRINTED in looks else ""
    alt_text = f"{name} of each method with its 95% interval{and_published}. {finding}."
    return figure_spec(side_by_side([drawn], 1), width, finding, [summary.title], alt_text, legend_columns=beside)


def _layer(mark: VegaSpec, encoding: VegaSpec, *transform: VegaSpec) -> VegaSpec:
    return {"mark": mark, "encoding": encoding, "transform": list(transform)}


def _points(summary: Summary) -> list[dict[str, Any]]:
    """Return the numbers of every cell in the unit of the axis."""
    points = list[dict[str, Any]]()
    for cell, numbers in bar_numbers(summary, cell_table(summary)).items():
        score = summary.sign * summary.merit(cell)
        label = cell if is_missing(score) else f"{cell}  {summary.unit.text(score)}"
        point = {"cell": cell, "label": label, "what": SCORE, "failed": cell in summary.failures}
        points.append(point | {name: round_for_output(1, number) for name, number in numbers.items()})
    return points
