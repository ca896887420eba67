"""Figure of scores against seconds, with the Pareto front of methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from benchmark.analysis.formatting.units import axis_label, display_unit
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.report.drawing.axes import log_ticks, number_expression
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
MARK = 6.0  # width of a mark in points
#: Places of a name beside its mark, the best first: right (1) or left (-1) of it, and points below it.
PLACES: tuple[tuple[int, float], ...] = (
    *((1, 6), (1, -6), (-1, 6), (-1, -6), (1, 0), (-1, 0), (1, 12), (-1, 12)),
    *((1, -12), (-1, -12), (1, 18), (-1, 18)),
)
MOST_MOVES = 40  # by a point, of a name of the front that hides a mark
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
    unit, asked = (ends_y[1] - ends_y[0]) / HIGH, [(seconds[i], scores[i], methods[i]) for i in others]
    on_front = [(seconds[i], scores[i], methods[i]) for i in front]
    placed = _placed(on_front, asked, unit)
    beside = _beside(asked, placed, list(zip(seconds, scores, methods, strict=True)), unit)
    to_left = [point for point, (side, _) in zip(asked, beside, strict=True) if side < 0]
    to_right = [point for point in asked if point not in to_left]
    ends_x = _with_room([*placed, *to_left], to_right, seconds)
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
    ticks = log_ticks(*ends_x)
    across = alt.Axis(values=ticks, labelExpr=number_expression(ticks, log=True), grid=False, labelOverlap="greedy")
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
        *_names(placed, asked, beside, x, y),
    ]
    drawn = alt.layer(*layers).properties(width=TRADE_OFF_SIDE, height=HIGH)
    return spec_of(drawn) | title_spec([problem.name])


def _placed(front: Sequence[LabelledPoint], asked: Sequence[LabelledPoint], unit: float) -> list[LabelledPoint]:
    """Return the right ends of the names of the front, in the empty area above and left of it.

    A name that would touch another, or hide a mark of `asked`, is placed below it, and left of the part of the front
    that it would cover. One typographic point is `unit` high on the axis of scores.
    """
    placed, above = list[LabelledPoint](), math.inf
    for at, score, name in reversed(front):
        above = min(score + 3 * unit, above - NAME * unit)
        for _ in range(MOST_MOVES):
            reach = at / 10 ** (_room(name) / DECADE)
            beside = [other for other, height, _ in front if height > above - 0.8 * NAME * unit and other > reach]
            end = min(at, *beside)
            if not any(_overlap(_name_box(end, above, name, -1, unit), _mark_box(mark, unit)) for mark in asked):
                break
            above -= unit
        placed.append((end, above, name))
    return placed


def _beside(
    asked: Sequence[LabelledPoint], placed: Sequence[LabelledPoint], marks: Sequence[LabelledPoint], unit: float
) -> list[tuple[int, float]]:
    """Return on which side of its mark each name of `asked` is, 1 or -1, and how many points below, to hide least."""
    taken = [_name_box(end, height, name, -1, unit) for end, height, name in placed]
    taken += [_mark_box(mark, unit) for mark in marks]
    found = []
    for at, score, name in asked:
        boxes = {place: _name_box(at, score - place[1] * unit, name, place[0], unit) for place in PLACES}
        best = min(PLACES, key=lambda place: sum(_overlap(boxes[place], other) for other in taken))
        found.append(best)
        taken.append(boxes[best])
    return found


def _name_box(at: float, score: float, name: str, side: int, unit: float) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a name in points: right of its mark if `side` is 1, left of it if -1."""
    x, y, room = DECADE * math.log10(at) + side * TRADE_OFF_GAP, score / unit, text_width(name, NAME)
    return min(x, x + side * room), y - NAME / 2, max(x, x + side * room), y + NAME / 2


def _mark_box(point: LabelledPoint, unit: float) -> tuple[float, float, float, float]:
    x, y = DECADE * math.log10(point[0]), point[1] / unit
    return x - MARK / 2, y - MARK / 2, x + MARK / 2, y + MARK / 2


def _overlap(one: tuple[float, ...], two: tuple[float, ...]) -> float:
    """Return the common area of two boxes."""
    width, height = (min(one[i + 2], two[i + 2]) - max(one[i], two[i]) for i in (0, 1))
    return max(width, 0.0) * max(height, 0.0)


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


def _names(
    placed: Sequence[LabelledPoint],
    asked: Sequence[LabelledPoint],
    beside: Sequence[tuple[int, float]],
    x: alt.X,
    y: alt.Y,
) -> list[alt.Chart]:
    """Draw the names of the front at their places, and those of `asked` beside their marks, as `_beside` says."""
    rows = [
        {"seconds": round_for_output(1, at), "score": round_for_output(1, score), "method": name}
        for at, score, name in placed
    ]
    look: dict[str, Any] = {"fontSize": NAME, "baseline": "middle"}
    front = alt.Chart(rows_data(rows)).mark_text(align="right", dx=-TRADE_OFF_GAP, color=OURS, **look)
    layers = [front.encode(x, y, alt.Text("method:N"))]
    for (at, score, name), (side, below) in zip(asked, beside, strict=True):
        row = {"seconds": round_for_output(1, at), "score": round_for_output(1, score), "method": name}
        align: Literal["left", "right"] = "left" if side > 0 else "right"
        text = alt.Chart(rows_data([row])).mark_text(
            align=align, dx=side * TRADE_OFF_GAP, dy=below, color=PUBLISHED, **look
        )
        layers.append(text.encode(x, y, alt.Text("method:N")))
    return layers
