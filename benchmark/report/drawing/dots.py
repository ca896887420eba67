"""Figure of scores: a row for each cell, with its interval and the published value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.comparisons import BASELINE, shown_outcomes
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.formatting.units import axis_label, capitalized, display_unit, metric_name
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.report.drawing.spec import figure_spec, round_for_output, rows_data, side_by_side, spec_of
from benchmark.report.drawing.theme import (
    LINE,
    MUTED,
    OURS,
    PAPER,
    PUBLISHED,
    WIDTH,
    legend_columns,
    text_size,
    text_width,
)
from benchmark.report.tables import bar_numbers, cell_table

if TYPE_CHECKING:
    from benchmark.analysis.summary import Summary
    from benchmark.report.drawing.theme import VegaSpec

#: Outcomes of comparisons that leave a mark filled, as in a page's table.
FILLED = ("", "better", "worse", "no test", BASELINE)
SCORE, OPEN = "score, 95% interval", "no clear difference from the baseline"
BASE, PRINTED = "baseline, with its band", "published"
ROW_HEIGHT = 1.7  # of a row, as a multiple of the font size


def dot_chart(summary: Summary, width: int = WIDTH) -> VegaSpec:
    """Draw our score of each cell with its 95% interval, and the published value, the best of each setting first.

    A band shows the interval of the cell that others are compared with. The marks are those of a page's table.
    """
    metric, declared = summary.main_metric, summary.quantities
    points = _points(summary)
    order, size = [point["label"] for point in points], text_size(width)
    looks = {point["what"]: (OURS, point["fill"], point["shape"]) for point in points}
    if any(point["published"] is not None for point in points):
        looks[PRINTED] = (PUBLISHED, "transparent", "diamond")
    data = alt.Chart(rows_data(points or [{"label": ""}]))
    x: dict[str, Any] = {"type": "quantitative", "title": axis_label((metric,), declared)}
    x |= {"scale": alt.Scale(zero=False, nice=True), "axis": alt.Axis(grid=False, tickCount=6)}
    axis = alt.Axis(title=None, ticks=False, domain=False, grid=True, labelPadding=6, labelLimit=0, zindex=0)
    y = alt.Y("label", type="nominal", sort=order, axis=axis)
    room = max(width - 24 - text_width(max(order, key=len, default=""), size), width / 3)
    beside = legend_columns(list(looks), width, room)
    scales = [alt.Scale(domain=list(looks), range=list(values)) for values in zip(*looks.values(), strict=True)]
    stroke, fill, shape = (
        channel("what:N", scale=scale) for channel, scale in zip((alt.Stroke, alt.Fill, alt.Shape), scales, strict=True)
    )
    layers = list[alt.Chart]()
    if any(point["base_low"] is not None for point in points):
        band = data.transform_filter("isValid(datum.base_low)").mark_rect(color=LINE, opacity=0.6, aria=False)
        layers.append(band.encode(alt.X("base_low", **x), alt.X2("base_high"), y))
    bars = data.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color=OURS, aria=False)
    layers.append(bars.encode(alt.X("low", **x), alt.X2("high"), y))
    marks = data.mark_point(opacity=1, size=36, strokeWidth=1.6)
    layers.append(marks.encode(alt.X("value", **x), y, stroke, fill, shape))
    if PRINTED in looks:
        printed = data.transform_filter("isValid(datum.published)").transform_calculate(what=f"'{PRINTED}'")
        mark = printed.mark_point(opacity=1, size=60, strokeWidth=1.5)
        layers.append(mark.encode(alt.X("published", **x), y, stroke, fill, shape))
    if any(point["failed"] for point in points):
        text = data.transform_filter("datum.failed").mark_text(text="failed", fontStyle="italic", color=MUTED)
        layers.append(text.encode(y, x=alt.value(alt.expr("width / 2"))))
    drawn = alt.layer(*layers).properties(width=room, height=ROW_HEIGHT * size * max(len(points), 1))
    finding, name = main_finding(summary).headline, capitalized(metric_name(metric, declared))
    and_published = ", and the published value" if PRINTED in looks else ""
    alt_text = f"{name} of each method with its 95% interval{and_published}. {finding}."
    part = side_by_side([spec_of(drawn)], 1)
    return figure_spec(part, width, finding, [summary.title], alt_text, legend_columns=beside)


def _points(summary: Summary) -> list[dict[str, Any]]:
    """Return the numbers of every cell in the unit of the axis, and how its mark looks."""
    unit, outcomes = display_unit(summary.main_metric, summary.quantities), shown_outcomes(summary)
    points = list[dict[str, Any]]()
    for cell, numbers in bar_numbers(summary, cell_table(summary)).items():
        outcome, value = outcomes[cell], summary.headlines.get((cell, summary.main_metric), {}).get("value")
        point: dict[str, Any] = {"cell": cell, "failed": cell in summary.failures}
        point["what"] = BASE if outcome == BASELINE else SCORE if outcome in FILLED else OPEN
        point |= {"fill": OURS if outcome in FILLED else PAPER, "shape": "square" if outcome == BASELINE else "circle"}
        point["label"] = cell if is_missing(value) else f"{cell}  {unit.text(value)}"
        points.append(point | {name: round_for_output(1, number) for name, number in numbers.items()})
    return points
