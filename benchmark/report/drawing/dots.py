"""Dot plots: scores of cells with intervals and published values, and mean ranks of methods."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.formatting.number_text import interval_text, is_missing, number_text
from benchmark.analysis.formatting.units import axis_label, capitalized, display_factor, display_unit, metric_name
from benchmark.report.dot_rows import figure_rows
from benchmark.report.drawing.key import LegendEntry, legend_spec
from benchmark.report.drawing.spec import (
    FIT,
    Picture,
    concat_parts,
    drawable_text,
    figure_spec,
    page_spec,
    round_for_output,
    rows_data,
    spec_of,
    tooltips,
)
from benchmark.report.drawing.theme import INK, MUTED, OURS, PUBLISHED, TEXT_COLOUR, WIDTH, text_width
from benchmark.report.grids import main_metric_of_summary, main_verdicts, metric_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.summary import Summary
    from benchmark.evaluation.mean_ranks import MeanRanks
    from benchmark.report.dot_rows import DotRow
    from benchmark.report.drawing.theme import VegaSpec

DOT_LABELS = ("ours, with its 95% interval", "published")
MOST_DOTS = 200  # most rows of a picture on a page; the table has all of them
DOT_ROW_HEIGHT, PAGE_ROW = 17, 24  # height of a row in points, in files and on pages
RANKS_DIFFER_NOTE = "two methods whose bars don't overlap differ by Nemenyi's test"
LABEL_WIDTH_EXPRESSION = "0.45 * containerSize()[0]"  # most width of labels on a page


def dot_chart(summary: Summary) -> VegaSpec:
    """Draw one row for each cell: our score with its 95% interval, and the published value.

    Rows are grouped by variant, task or weighting. If there are published values, a second panel with its own scale
    shows our score minus the published value: a bar that reaches the line at zero is a reproduced value.
    """
    rows = figure_rows(summary)
    points, compared = _points(summary, rows), bool(main_verdicts(summary))
    labels = max((text_width(row.label, TEXT_COLOUR * (1 if row.cell else 1.1)) for row in rows), default=0.0)
    room = WIDTH - 40 - labels
    panels = [_panel(_scores(summary, rows, points), len(rows), (2 * room - 20) / 3 if compared else room)]
    if compared:
        panels.append(_panel(_differences(summary, rows, points), len(rows), (room - 40) / 3))
    entries = [LegendEntry(DOT_LABELS[0], OURS, OURS, "across", "circle", size=35, width=2)]
    entries += [LegendEntry(DOT_LABELS[1], PUBLISHED, shape="diamond", size=60)] if compared else []
    return figure_spec(
        summary.title, [concat_parts(panels, columns=2, spacing=20), legend_spec(entries, WIDTH)], _alt(summary)
    )


def dot_pictures(summary: Summary, name: str = "scores", labels: tuple[str, ...] = DOT_LABELS) -> list[Picture]:
    """Draw the panels of `dot_chart` for a page, with at most `MOST_DOTS` rows; `labels` name the marks in the key."""
    every = figure_rows(summary)
    rows, title = every[:MOST_DOTS], _alt(summary)
    title += f" (the first {MOST_DOTS} of {len(every)} rows)" if len(every) > MOST_DOTS else ""
    points = _points(summary, rows)
    panels = [(name, title, _scores(summary, rows, points, labels, page=True))]
    if main_verdicts(summary):
        less = "Our score minus the published value of each cell, with its 95% interval"
        panels.append((f"{name}-less", less, _differences(summary, rows, points, page=True)))
    return [
        Picture(key, text, f"{text}. The numbers are in the table of scores.", _page_panel(layers, len(rows)))
        for key, text, layers in panels
    ]


def _panel(layers: list[alt.Chart], rows: int, width: float) -> VegaSpec:
    return spec_of(alt.layer(*layers).properties(width=width, height=DOT_ROW_HEIGHT * max(rows, 1)))


def _page_panel(layers: list[alt.Chart], rows: int) -> VegaSpec:
    return page_spec(
        spec_of(alt.layer(*layers).properties(width="container", autosize=FIT, height=PAGE_ROW * max(rows, 1)))
    )


def _alt(summary: Summary) -> str:
    name = capitalized(metric_name(main_metric_of_summary(summary), summary.quantities))
    published = ", and the published value" if main_verdicts(summary) else ""
    return f"{name} of each cell with its 95% interval{published}"


def _points(summary: Summary, rows: Sequence[DotRow]) -> list[dict[str, Any]]:
    """Return the numbers of every cell, for drawing and as formatted text."""
    metric, declared, verdicts = main_metric_of_summary(summary), summary.quantities, main_verdicts(summary)
    unit, points = display_unit(metric, declared), []
    for y, row in enumerate(rows):
        score, verdict = summary.headlines.get((row.cell, metric)), verdicts.get(row.cell)
        point: dict[str, Any] = {"row": y, "cell": row.cell}
        if score is not None:
            point |= {name: round_for_output(unit.scale, score[name]) for name in ("value", "low", "high")}
            point |= {"ours": unit.text(score["value"]), "interval": unit.interval(score["low"], score["high"])}
        if verdict is not None:
            scale, published = display_factor(verdict["unit"], metric, declared), float(verdict["published"])
            point |= {"print": round_for_output(scale, published), "published": verdict["published"]}
            point |= {"verdict": verdict["verdict"]}
            if score is not None:
                ends = (None if is_missing(verdict[end]) else verdict[end] - published for end in _ENDS)
                point |= {f"less_{name}": round_for_output(scale, end) for name, end in zip(_ENDS, ends, strict=True)}
        if row.cell in summary.failures:
            point["failed"] = "failed"
        points += [point] if row.cell else []
    return points


_ENDS = ("value", "low", "high")


def _scores(
    summary: Summary,
    rows: Sequence[DotRow],
    points: list[dict[str, Any]],
    labels: tuple[str, ...] = DOT_LABELS,
    *,
    page: bool = False,
) -> list[alt.Chart]:
    """Return the layers of intervals, dots, published values and failures."""
    metric, declared = main_metric_of_summary(summary), summary.quantities
    tips = {"cell": "cell", "ours": metric_header(metric, declared), "interval": "95% interval"}
    tips |= {"published": "published", "verdict": "verdict"} if main_verdicts(summary) else {}
    tooltip, title = tooltips(tips), axis_label((metric,), declared)
    values = [p[name] for p in points for name in (*_ENDS, "print") if p.get(name) is not None]
    scale = alt.Scale(zero=False, nice=True)
    if not values:
        scale.domain = [0, display_unit(metric, declared).scale]
    y, drawn = _y(rows, page=page), list[alt.Chart]()
    legend = labels if main_verdicts(summary) else labels[:1]
    x: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": title, "axis": alt.Axis(grid=page)}
    if bars := [p for p in points if p.get("low") is not None]:
        rule = alt.Chart(rows_data(bars)).mark_rule(color=OURS, strokeWidth=2.5 if page else 1.8)
        drawn.append(rule.encode(alt.X("low", **x), alt.X2("high"), y, tooltip))
    for name, what, look in (("value", legend[0], _OURS), ("print", legend[-1], _PRINT)):
        marked = [p | {"what": what} for p in points if p.get(name) is not None]
        if marked:
            size = (110 if page else 50) if name == "print" else (70 if page else 30)
            mark = alt.Chart(rows_data(marked)).mark_point(size=size, **look)
            drawn.append(mark.encode(alt.X(name, **x), y, tooltip, *_named(legend, page=page)))
    failed = [p for p in points if "failed" in p] if points else []
    text = alt.Chart(rows_data(failed)).mark_text(text="failed", fontStyle="italic", color=MUTED)
    drawn += [text.encode(y, x=alt.value(alt.expr("width / 2")))] if failed else []
    if not values:
        ghost = alt.Chart(rows_data([{"row": 0, "value": 0}])).mark_point(opacity=0, aria=False)
        drawn.append(ghost.encode(alt.X("value", **x), y))
    return drawn


_OURS: dict[str, Any] = {"filled": True, "opacity": 1}
_PRINT: dict[str, Any] = {"filled": False, "opacity": 1, "strokeWidth": 1.3}


def _differences(
    summary: Summary, rows: Sequence[DotRow], points: list[dict[str, Any]], *, page: bool = False
) -> list[alt.Chart]:
    """Return the layers of our score minus the published value, with a line at zero."""
    unit = display_unit(main_metric_of_summary(summary), summary.quantities)
    title = f"Ours − published ({'points' if unit.name == 'percent' else unit.symbol or unit.name})"
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(nice=True),
        "title": title,
        "axis": alt.Axis(grid=page),
    }
    tips = {"cell": "cell", "ours": "ours", "published": "published", "verdict": "verdict"}
    compared = [p for p in points if p.get("less_value") is not None]
    y, tooltip = _y(rows, page=page, labels=page), tooltips(tips)
    zero = alt.Chart(rows_data([{"zero": 0}])).mark_rule(color=PUBLISHED, strokeWidth=1.2, aria=False)
    drawn = [zero.encode(alt.X("zero", **x))]
    if bars := [p for p in compared if p["less_low"] is not None]:
        rule = alt.Chart(rows_data(bars)).mark_rule(color=OURS, strokeWidth=2.5 if page else 1.8)
        drawn.append(rule.encode(alt.X("less_low", **x), alt.X2("less_high"), y, tooltip))
    dots = alt.Chart(rows_data(compared or [{"row": 0}])).mark_point(color=OURS, size=70 if page else 30, **_OURS)
    return [*drawn, dots.encode(alt.X("less_value", **x), y, tooltip)]


def _y(rows: Sequence[DotRow], *, page: bool, labels: bool = True) -> alt.Y:
    """Return the axis of rows, with bold headings and a grid line through every cell."""
    lines = ([drawable_text(line) for line in row.label.split("\n")] for row in rows)
    texts = json.dumps([line[0] if len(line) == 1 else line for line in lines])
    axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=8, labels=labels)
    axis.labelExpr = f"{texts}[datum.value]"
    axis.labelLimit = alt.ExprRef(LABEL_WIDTH_EXPRESSION) if page else WIDTH
    headings = [y for y, row in enumerate(rows) if not row.cell]
    if headings:
        test = f"indexof({headings}, datum.value) >= 0"
        axis.labelFontWeight = {"condition": {"test": test, "value": "bold"}, "value": "normal"}
        axis.gridOpacity = {"condition": {"test": test, "value": 0}, "value": 1}
    axis.grid = True
    return alt.Y("row", type="ordinal", axis=axis, scale=alt.Scale(domain=list(range(len(rows)))))


def _named(what: Sequence[str], *, page: bool) -> tuple[alt.Color, alt.Shape]:
    """Return the encodings of colour and shape, with a legend on pages; files have one below all panels."""
    legend: Any = alt.Legend() if page else None
    scales = [
        alt.Scale(domain=list(what), range=looks[: len(what)]) for looks in ([OURS, PUBLISHED], ["circle", "diamond"])
    ]
    return alt.Color("what:N", scale=scales[0], legend=legend), alt.Shape("what:N", scale=scales[1], legend=legend)


def rank_picture(summary: Summary) -> Picture | None:
    """Draw the mean ranks of `rank_chart` for a page."""
    rows = summary.ranks.to_dict("records")
    if not rows:
        return None
    methods, ranks = [str(row["method"]) for row in rows], [float(row["rank"]) for row in rows]
    spec = _page_panel(_ranks(methods, ranks, float(rows[0]["critical"]), page=True), len(rows))
    title = f"Mean ranks over {rows[0]['samples']} samples; {RANKS_DIFFER_NOTE}"
    return Picture("ranks", title, f"{title}. The numbers are in ranks.csv.", spec)


def rank_chart(ranking: MeanRanks) -> VegaSpec:
    """Draw mean ranks with bars of half the critical difference to either side: methods whose bars are apart differ."""
    labels = max(text_width(method, TEXT_COLOUR) for method in ranking.methods)
    layers = _ranks(ranking.methods, ranking.ranks, ranking.critical, page=False)
    panel = _panel(layers, len(ranking.methods), WIDTH - 40 - labels)
    description = f"Mean ranks over {ranking.problems} corpora; {RANKS_DIFFER_NOTE}"
    note = LegendEntry(
        "mean rank ± half of the critical difference: two methods whose bars don't overlap differ", OURS, OURS
    )
    note = replace(note, line="across", shape="circle", size=35, width=2)
    return figure_spec(f"Mean rank over {ranking.problems} corpora", [panel, legend_spec([note], WIDTH)], description)


def _ranks(methods: Sequence[str], ranks: Sequence[float], critical: float, *, page: bool) -> list[alt.Chart]:
    points = []
    for method, rank in zip(methods, ranks, strict=True):
        low, high = (round_for_output(1, rank + sign * critical / 2) for sign in (-1, 1))
        texts = {"value_text": number_text(rank), "bar": interval_text(low, high)}
        points.append({"method": method, "rank": round_for_output(1, rank), "low": low, "high": high, **texts})
    tips = tooltips({"method": "method", "value_text": "mean rank", "bar": "± half of the critical difference"})
    ends = alt.Scale(
        domain=[0.5, len(points) + 0.5], nice=False
    )  # clipped bars hide no overlap: two bars overlap between their ranks
    x: dict[str, Any] = {"type": "quantitative", "title": "Mean rank (1 is the best)", "scale": ends}
    axis = alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        grid=True,
        labelLimit=alt.ExprRef(LABEL_WIDTH_EXPRESSION) if page else WIDTH,
    )
    y = alt.Y("method", type="nominal", sort=None, axis=axis)
    data = alt.Chart(rows_data(points))
    bars = data.mark_rule(color=OURS, strokeWidth=2.5 if page else 1.8, clip=True)
    dots = data.mark_point(color=OURS, size=70 if page else 30, **_OURS)
    layers = [bars.encode(alt.X("low", **x), alt.X2("high"), y, tips), dots.encode(alt.X("rank", **x), y, tips)]
    if not page:
        text = data.mark_text(dy=-6, fontSize=TEXT_COLOUR - 1.5, color=INK)
        layers.append(text.encode(alt.X("rank", **x), y, alt.Text("rank:Q", format=".1f")))
    return layers
