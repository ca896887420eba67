"""What a better score costs: scores against seconds, with the front that no method beats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.measures import QUANTITIES
from benchmark.report.drawing.axes import NUMBER, log_ticks
from benchmark.report.drawing.spec import beside, plain, rows_data, spec_of, titled, whole
from benchmark.report.drawing.theme import MUTED, OURS, PANEL_TITLE, PUBLISHED, TEXT, WIDTH, text_width, wrapped
from benchmark.report.quantities import axis_label, unit_shown
from benchmark.report.surveys import frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.theme import Spec
    from benchmark.report.surveys import Problem, Survey

COLUMNS = 2
SIDE, HIGH = 200.0, 150.0  # points of a panel
NAME, GAP = TEXT - 1.0, 5.0  # points: of a method's name, and from it to its mark
SECONDS = "Seconds to train and to decide on the tested documents"


def trade_off_chart(survey: Survey, named: Sequence[str] = ()) -> Spec:
    """Draw, a panel a problem, score against seconds of training and deciding; name the front and some methods more."""
    panels = [_panel(survey, problem, named) for problem in survey.problems]
    grid = beside(panels, columns=COLUMNS, spacing=14)
    below = beside([grid], **titled([SECONDS], orient="bottom", offset=4))
    said = "Score against seconds, a panel a problem; the line joins the methods that none beats at a cost as low"
    return whole("What a better score costs", [below], said, WIDTH)


def _panel(survey: Survey, problem: Problem, named: Sequence[str]) -> Spec:
    own = survey.whole()
    own = own[(own["problem"] == problem.name) & own["training"].notna()]
    scale = unit_shown(problem.metric, QUANTITIES).scale
    methods, scores = list(own["method"]), [scale * value for value in own["value"]]
    # A logarithmic axis has no 0: less than a millisecond is drawn as one.
    seconds = [max(r["training"] + r["deciding"] * r["n"] / 1000, 1e-3) for r in own.to_dict("records")]
    front = frontier(seconds, scores)
    others = [i for i, method in enumerate(methods) if method in named and i not in front]
    shown = dict.fromkeys(front, "front") | dict.fromkeys(others, "named")
    low, high = min(scores[i] for i in shown), max(scores)
    ends_y = low - 0.08 * (high - low) - 0.5, high + 0.12 * (high - low) + 0.3
    ends_x = _with_room([seconds[i] for i in front], [methods[i] for i in front], max(seconds) * 2)
    rows = [
        {"seconds": plain(1, seconds[i]), "score": plain(1, scores[i]), "method": method, "kind": shown.get(i, "")}
        for i, method in enumerate(methods)
        if scores[i] >= ends_y[0]
    ]
    across = alt.Axis(values=log_ticks(*ends_x), labelExpr=NUMBER, grid=False, labelOverlap="greedy")
    x = alt.X("seconds:Q", title=None, axis=across, scale=alt.Scale(type="log", domain=list(ends_x), nice=False))
    named_y = wrapped(axis_label((problem.metric,), QUANTITIES), HIGH, PANEL_TITLE)
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
        *_names(rows, ends_y, x, y),
    ]
    drawn = alt.layer(*layers).properties(width=SIDE, height=HIGH)
    return spec_of(drawn) | titled([problem.name])


def _with_room(seconds: Sequence[float], names: Sequence[str], most: float) -> tuple[float, float]:
    """Return the ends of the axis of seconds, on which each name has room to the left of its mark."""
    end = math.log10(most)
    first = math.log10(min(seconds)) - 0.1
    for at, name in zip(map(math.log10, seconds), names, strict=True):
        room = text_width(name, NAME) + GAP + 2
        first = min(first, (SIDE * at - room * end) / (SIDE - room)) if room < 0.9 * SIDE else first
    return 10**first, most


def _names(rows: Sequence[Spec], ends: tuple[float, float], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Write names up and left of the front, where nothing is, one below the other; the others' below their marks."""
    unit, above, found = (ends[1] - ends[0]) / HIGH, math.inf, list[alt.Chart]()
    front = sorted((row for row in rows if row["kind"] == "front"), key=lambda row: -row["score"])
    placed = []
    for row in front:
        above = min(row["score"] + 3 * unit, above - NAME * unit)
        placed.append(row | {"score": above})
    look: dict[str, Any] = {"fontSize": NAME, "baseline": "middle"}
    names = alt.Chart(rows_data(placed)).mark_text(align="right", dx=-GAP, color=OURS, **look)
    found.append(names.encode(x, y, alt.Text("method:N")))
    others = alt.Chart(rows_data([row for row in rows if row["kind"] == "named"]))
    names = others.mark_text(align="left", dx=GAP, dy=6, color=PUBLISHED, **look)
    return [*found, names.encode(x, y, alt.Text("method:N"))]
