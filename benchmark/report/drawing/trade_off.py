"""Figure of scores against seconds, with the Pareto front of methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.formatting.units import axis_label, display_unit
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.report.drawing.axes import NUMBER_EXPRESSION, log_ticks
from benchmark.report.drawing.spec import concat_parts, figure_spec, round_for_output, rows_data, spec_of, title_spec
from benchmark.report.drawing.theme import (
    MUTED,
    OURS,
    PANEL_TITLE,
    PUBLISHED,
    TEXT_COLOUR,
    WIDTH,
    text_width,
    wrap_text,
)
from benchmark.report.surveys import pareto_front

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.theme import VegaSpec
    from benchmark.report.surveys import Survey, SurveyProblem

TRADE_OFF_COLUMNS = 2
TRADE_OFF_SIDE, HIGH = 198.0, 150.0  # width and height of a panel in points
NAME, TRADE_OFF_GAP = TEXT_COLOUR - 0.5, 5.0  # in points: font size of a name, and its distance from its mark
DECADE = 50.0  # points of a factor of ten in seconds, approximately
LabelledPoint = tuple[float, float, str]  # seconds, score and name of a method
SECONDS_LABEL = "Seconds to train and to predict the test documents"


def trade_off_chart(survey: Survey, named: Sequence[str] = ()) -> VegaSpec:
    """Draw score against seconds of training and prediction, one panel for each problem.

    The methods on the Pareto front and those in `named` have their names beside them.
    """
    costed = set(survey.costed()["problem"])
    panels = [_panel(survey, problem, named) for problem in survey.problems if problem.name in costed]
    grid = concat_parts(panels, columns=TRADE_OFF_COLUMNS, spacing=14)
    below = concat_parts([grid], **title_spec([SECONDS_LABEL], orient="bottom", offset=4))
    description = "Score against seconds, one panel for each problem; the line joins the methods of the Pareto front"
    return figure_spec("Score against seconds", [below], description, WIDTH)


def _panel(survey: Survey, problem: SurveyProblem, named: Sequence[str]) -> VegaSpec:
    table = survey.costed()
    table = table[(table["problem"] == problem.name) & table["training"].notna()]
    scale = display_unit(problem.metric, DIAGNOSTIC_METRICS).scale
    methods, scores = list(table["method"]), [scale * value for value in table["value"]]
    # A logarithmic axis has no 0: less than a millisecond is drawn as one millisecond.
    seconds = [max(r["training"] + r["deciding"] * r["n"] / 1000, 1e-3) for r in table.to_dict("records")]
    front = pareto_front(seconds, scores)
    others = [i for i, method in enumerate(methods) if method in named and i not in front]
    shown = dict.fromkeys(front, "front") | dict.fromkeys(others, "named")
    low, high = min(scores[i] for i in shown), max(scores)
    ends_y = low - 0.08 * (high - low) - 0.5, high + 0.12 * (high - low) + 0.3
    placed = _placed([(seconds[i], scores[i], methods[i]) for i in front], (ends_y[1] - ends_y[0]) / HIGH)
    ends_x = _with_room(placed, [(seconds[i], scores[i], methods[i]) for i in others], seconds)
    rows = [
        {
            "seconds": round_for_output(1, seconds[i]),
            "score": round_for_output(1, scores[i]),
            "method": method,
            "kind": shown.get(i, ""),
        }
        for i, method in enumerate(methods)
        if scores[i] >= ends_y[0]
    ]
    across = alt.Axis(values=log_ticks(*ends_x), labelExpr=NUMBER_EXPRESSION, grid=False, labelOverlap="greedy")
    x = alt.X("seconds:Q", title=None, axis=across, scale=alt.Scale(type="log", domain=list(ends_x), nice=False))
    named_y = wrap_text(axis_label((problem.metric,), DIAGNOSTIC_METRICS), HIGH, PANEL_TITLE)
    scale_y = alt.Scale(domain=list(ends_y), nice=False, zero=False)
    y = alt.Y("score:Q", title=named_y, axis=alt.Axis(tickCount=5), scale=scale_y)

    def those(kind: str) -> alt.Chart:
        return alt.Chart(rows_data([row for row in rows if row["kind"] == kind]))

    marks: dict[str, Any] = {"opacity": 1, "size": 26}
    step = those("front").mark_line(interpolate="step-after", color=OURS, strokeWidth=1, aria=False)
    layers = [
        step.encode(x, y),
        those("").mark_point(color=MUTED, size=10, opacity=1, strokeWidth=0.8).encode(x, y),
        those("front").mark_point(color=OURS, filled=True, **marks).encode(x, y),
        those("named").mark_point(color=PUBLISHED, filled=True, shape="diamond", **marks).encode(x, y),
        *_names(placed, [row for row in rows if row["kind"] == "named"], x, y),
    ]
    drawn = alt.layer(*layers).properties(width=TRADE_OFF_SIDE, height=HIGH)
    return spec_of(drawn) | title_spec([problem.name])


def _placed(front: Sequence[LabelledPoint], unit: float) -> list[LabelledPoint]:
    """Return the right ends of the names of the front, in the empty area above and left of it.

    A name that would touch another is placed below it, and left of the part of the front that it would cover. One
    typographic point is `unit` high on the axis of scores.
    """
    placed, above = list[LabelledPoint](), math.inf
    for at, score, name in reversed(front):
        above = min(score + 3 * unit, above - NAME * unit)
        reach = at / 10 ** (_room(name) / DECADE)
        beside = [other for other, height, _ in front if height > above - 0.8 * NAME * unit and other > reach]
        placed.append((min(at, *beside), above, name))
    return placed


def _with_room(
    left: Sequence[LabelledPoint], right: Sequence[LabelledPoint], seconds: Sequence[float]
) -> tuple[float, float]:
    """Return the ends of the axis of seconds that leave room for the names left and right of these points."""
    first, end = math.log10(min(seconds)) - 0.1, math.log10(max(seconds)) + 0.1
    # A longer axis has more seconds per point, and so the names take more seconds: iterate.
    for _ in range(20):
        unit = (end - first) / TRADE_OFF_SIDE
        first = min([first, *(math.log10(at) - unit * _room(name) for at, _, name in left)])
        end = max([end, *(math.log10(at) + unit * _room(name) for at, _, name in right)])
    return 10**first, 10**end


def _room(name: str) -> float:
    """Return the width in points that a name takes beside its mark."""
    return text_width(name, NAME) + TRADE_OFF_GAP + 2


def _names(placed: Sequence[LabelledPoint], others: Sequence[VegaSpec], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw the names of the front at their places, and those of other methods below their marks."""
    rows = [
        {"seconds": round_for_output(1, at), "score": round_for_output(1, score), "method": name}
        for at, score, name in placed
    ]
    look: dict[str, Any] = {"fontSize": NAME, "baseline": "middle"}
    front = alt.Chart(rows_data(rows)).mark_text(align="right", dx=-TRADE_OFF_GAP, color=OURS, **look)
    below = alt.Chart(rows_data(others)).mark_text(align="left", dx=TRADE_OFF_GAP, dy=6, color=PUBLISHED, **look)
    return [front.encode(x, y, alt.Text("method:N")), below.encode(x, y, alt.Text("method:N"))]
