"""Dot plots: scores of cells with intervals and published values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.formatting.units import axis_label, capitalized, display_factor, display_unit, metric_name
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.ranking import BASELINE, NOT_COMPARED, NOT_SHOWN, ranked_cells, ranking
from benchmark.report.drawing.axes import ends_and_ticks, number_expression
from benchmark.report.drawing.key import LegendEntry, legend_spec
from benchmark.report.drawing.spec import (
    LEGEND_COLUMNS,
    Picture,
    concat_parts,
    drawable_text,
    figure_spec,
    round_for_output,
    row_panel,
    rows_data,
    spec_of,
    tooltips,
)
from benchmark.report.drawing.theme import (
    BAD,
    FAINT,
    INK,
    LINE,
    MUTED,
    OURS,
    PAPER,
    PUBLISHED,
    TEXT_COLOUR,
    WIDTH,
    text_width,
    wrap_text,
)
from benchmark.report.tables import main_verdicts, metric_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.ranking import Ranking
    from benchmark.analysis.summary import Summary
    from benchmark.report.drawing.theme import VegaSpec

DOT_LABELS = ("ours, with its 95% interval", "published")
MOST_DOTS = 200  # most rows of a picture on a page; the table has all of them
DOT_ROW_HEIGHT, PAGE_ROW = 17, 24  # height of a row in points, in files and on pages
VALUE_WIDTH = 34.0  # points of the values at the right edge of a file's panel
LABEL_WIDTH_EXPRESSION = "0.45 * containerSize()[0]"  # most width of labels on a page
#: Stroke, fill and shape of a mark, by what its cell is to the baseline; "" where nothing is compared.
_LOOKS = {
    "": (OURS, OURS, "circle"),
    "better": (OURS, OURS, "circle"),
    "worse": (BAD, BAD, "triangle-down"),
    NOT_SHOWN: (MUTED, PAPER, "circle"),
    NOT_COMPARED: (FAINT, FAINT, "circle"),
    BASELINE: (INK, INK, "square"),
}
_PUBLISHED_LOOK = (PUBLISHED, "transparent", "diamond")


@dataclass(frozen=True)
class _Dots:
    """Data of a dot plot: a point for each cell, and how its mark looks.

    Parameters
    ----------
    summary : Summary
    rows : sequence of str
        Ids of the cells, from top to bottom.
    labels : tuple of str
        Names of our scores and of published values in the legend.
    page : bool
        Whether the plot is for a page, where a reader can order and filter the rows.
    lines : sequence of sequence of str
        Lines of the name of each row in a file.
    """

    summary: Summary
    rows: Sequence[str]
    labels: tuple[str, ...] = DOT_LABELS
    page: bool = False
    lines: Sequence[Sequence[str]] = ()

    @cached_property
    def compared(self) -> bool:
        """Whether there are published values."""
        return bool(main_verdicts(self.summary))

    @cached_property
    def ranking(self) -> Ranking:
        """Order and outcomes of the cells."""
        return ranking(self.summary)

    @cached_property
    def legend(self) -> dict[str, tuple[str, str, str]]:
        """Looks of the marks by their names in the legend."""
        found = {}
        for outcome, look in _LOOKS.items():
            if any(self.outcome(cell) == outcome for cell in self.rows):
                found[self.name_of(outcome)] = look
        return found | ({self.labels[-1]: _PUBLISHED_LOOK} if self.compared else {})

    def outcome(self, cell: str) -> str:
        """Return what a cell is to the baseline, "" without a baseline."""
        return self.ranking.outcomes.get(cell, "")

    def name_of(self, outcome: str) -> str:
        """Return the name of an outcome in the legend, with that of the baseline if there is only one."""
        bases = set(self.ranking.baselines.values())
        base = next(iter(bases)) if len(bases) == 1 else "the baseline"
        names = {"": self.labels[0], "better": f"better than {base}", BASELINE: f"{base}; band: its interval"}
        names |= {"worse": f"worse than {base}", NOT_SHOWN: f"no clear difference from {base}"}
        return names.get(outcome, f"not compared with {base}")

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """Numbers of every cell, for drawing and as formatted text."""
        summary, metric, points = self.summary, self.summary.main_metric, []
        unit, verdicts = display_unit(metric, summary.quantities), main_verdicts(summary)
        places = {cell.id: place for place, cell in enumerate(summary.cells)}
        ranks = {cell: rank for rank, cell in enumerate(self.ranking.order)}
        for y, cell in enumerate(self.rows):
            score, verdict = summary.headlines.get((cell, metric)), verdicts.get(cell)
            point: dict[str, Any] = {"row": y, "cell": cell, "what": self.name_of(self.outcome(cell))}
            point |= {"place": places[cell], "rank": ranks[cell]} if self.page else {}
            if score is not None:
                point |= {name: round_for_output(unit.scale, score[name]) for name in _ENDS}
                point |= {"ours": unit.text(score["value"]), "interval": unit.interval(score["low"], score["high"])}
            base = summary.headlines.get((self.ranking.baselines.get(cell, ""), metric), {})
            if not is_missing(base.get("low")):
                point |= {f"base_{end}": round_for_output(unit.scale, base[end]) for end in ("low", "high")}
            if verdict is not None:
                scale, published = display_factor(verdict["unit"], metric, summary.quantities), verdict["published"]
                point |= {"print": round_for_output(scale, float(published)), "published": published}
                point |= {"verdict": verdict["verdict"]}
                if score is not None:
                    gaps = {end: None if is_missing(verdict[end]) else verdict[end] - float(published) for end in _ENDS}
                    point |= {f"less_{name}": round_for_output(scale, gap) for name, gap in gaps.items()}
            points.append(point | ({"failed": "failed"} if cell in summary.failures else {}))
        return points

    @cached_property
    def data(self) -> alt.Chart:
        """All points, as the data of every layer."""
        return alt.Chart(rows_data(self.points or [{"row": 0}]))

    def has(self, name: str) -> bool:
        """Return whether any point has this number."""
        return any(point.get(name) is not None for point in self.points)

    def where(self, name: str) -> alt.Chart:
        """Return the data of the points that have this number."""
        return self.data.transform_filter(f"isValid(datum.{name})")

    def x_axis(self, names: Sequence[str], title: str, ticks: tuple[int, int], *, zero: bool = False) -> dict[str, Any]:
        """Return the encoding of a horizontal axis that shows these numbers, with a round number of ticks."""
        values = [point[name] for point in self.points for name in names if point.get(name) is not None]
        values += [0.0] if zero or not values else []
        values += [display_unit(self.summary.main_metric, self.summary.quantities).scale] if len(values) < 2 else []
        ends, at = ends_and_ticks(min(values), max(values), *ticks)
        axis = alt.Axis(grid=self.page, values=at, labelExpr=number_expression(at), labelOverlap="greedy")
        scale = alt.Scale(domain=ends, nice=False, zero=False)
        return {"type": "quantitative", "scale": scale, "title": title, "axis": axis}

    def y(self, axis: alt.Axis | None) -> alt.Y:
        """Return the vertical encoding: a row for each cell."""
        if self.page:
            return alt.Y("cell", type="nominal", axis=axis, sort=alt.EncodingSortField("at", op="min"))
        return alt.Y("row", type="ordinal", axis=axis, scale=alt.Scale(domain=list(range(len(self.rows)))))

    def names(self, *, labels: bool = True) -> alt.Axis:
        """Return the axis of names, with a grid line through every cell."""
        axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=8, labels=labels, grid=True)
        axis.labelLimit = alt.ExprRef(LABEL_WIDTH_EXPRESSION) if self.page else WIDTH
        if self.page:
            return axis
        lines = ([drawable_text(line) for line in each] for each in self.lines)
        axis.labelExpr = f"{json.dumps([line[0] if len(line) == 1 else line for line in lines])}[datum.value]"
        return axis

    def values(self) -> alt.Axis:
        """Return the axis of scores at the right edge."""
        axis = alt.Axis(title=None, ticks=False, domain=False, grid=False, orient="right", labelPadding=4)
        key = "cell" if self.page else "row"
        texts = {str(point[key]): point.get("ours", "") for point in self.points}
        axis.labelExpr = f"{json.dumps(texts)}[datum.value]"
        return axis


_ENDS = ("value", "low", "high")


def dot_chart(summary: Summary, width: float = WIDTH) -> VegaSpec:
    """Draw one row for each cell: our score with its 95% interval, and the published value.

    The best cell of each setting comes first. A band shows the interval of the cell that others are compared with.
    If there are published values, a second panel with its own scale shows our score minus the published value: a bar
    that reaches the line at zero is a reproduced value. A figure of less than 7 inches leaves it out, and wraps labels.
    """
    rows, wide = ranked_cells(summary), width >= WIDTH
    names = [wrap_text(cell, (0.45 if wide else 0.4) * width, TEXT_COLOUR) for cell in rows]
    dots = _Dots(summary, rows, lines=names)
    labels = max((text_width(line, TEXT_COLOUR) for lines in names for line in lines), default=0.0)
    room, most = width - 44 - labels - VALUE_WIDTH, max(map(len, names), default=1)
    room += 0 if wide else 14  # a narrow figure has one panel
    height = len(rows) * (1 + 0.6 * (most - 1))
    both = wide and dots.compared
    panels = [_panel(_scores(dots, (5, 8) if wide else (3, 5)), height, (2 * room - 20) / 3 if both else room)]
    if both:
        panels.append(_panel(_differences(dots, (3, 5)), height, (room - 40) / 3))
    entries = [
        LegendEntry(name, stroke, fill, "" if stroke == PUBLISHED else "across", shape, size=35, width=1.8)
        for name, (stroke, fill, shape) in dots.legend.items()
    ]
    parts = [concat_parts(panels, columns=2, spacing=20), legend_spec(entries, width - 12)]
    return figure_spec(summary.title, parts, _alt(summary), width)


def dot_pictures(summary: Summary, name: str = "scores", labels: tuple[str, ...] = DOT_LABELS) -> list[Picture]:
    """Draw the panels of `dot_chart` for a page, with at most `MOST_DOTS` rows; `labels` name the marks in the key.

    The best cell of each setting comes first; a reader can have the order of the configuration.
    """
    order = ranked_cells(summary)
    rows, title = order[:MOST_DOTS], _alt(summary)
    title += f" (the first {MOST_DOTS} of {len(order)} rows)" if len(order) > MOST_DOTS else ""
    dots = _Dots(summary, rows, labels, page=True)
    panels = [(name, title, _scores(dots, (5, 8)))]
    if dots.compared:
        less = "Our score minus the published value of each cell, with its 95% interval"
        panels.append((f"{name}-less", less, _differences(dots, (5, 8))))
    finding = main_finding(summary).headline
    return [
        Picture(
            key,
            text,
            f"{text}. {finding}. The numbers are in the table of scores.",
            row_panel(layers, len(rows), PAGE_ROW),
        )
        for key, text, layers in panels
    ]


def _panel(layers: list[alt.Chart], rows: float, width: float) -> VegaSpec:
    drawn = alt.layer(*layers).resolve_axis(y="independent")
    return spec_of(drawn.properties(width=width, height=DOT_ROW_HEIGHT * max(rows, 1)))


def _alt(summary: Summary) -> str:
    name = capitalized(metric_name(summary.main_metric, summary.quantities))
    published = ", and the published value" if main_verdicts(summary) else ""
    return f"{name} of each cell with its 95% interval{published}"


def _scores(dots: _Dots, ticks: tuple[int, int]) -> list[alt.Chart]:
    """Return the layers of the baseline's band, intervals, dots, published values and failures."""
    metric, declared = dots.summary.main_metric, dots.summary.quantities
    tips = {"cell": "cell", "ours": metric_header(metric, declared), "interval": "95% interval"}
    tips |= {"what": "it is"} if dots.ranking.outcomes else {}
    tips |= {"published": "published", "verdict": "verdict"} if dots.compared else {}
    tooltip, (stroke, fill, shape) = tooltips(tips), _looks(dots)
    x = dots.x_axis((*_ENDS, "print", "base_low", "base_high"), axis_label((metric,), declared), ticks)
    drawn, none = list[alt.Chart](), dots.y(None)
    if dots.has("base_low"):
        band = dots.where("base_low").mark_rect(color=LINE, opacity=0.55, aria=False)
        drawn.append(band.encode(alt.X("base_low", **x), alt.X2("base_high"), none))
    rule = dots.where("low").mark_rule(strokeWidth=2.5 if dots.page else 1.8)
    drawn.append(rule.encode(alt.X("low", **x), alt.X2("high"), dots.y(dots.values()), stroke, tooltip))
    mark = dots.data.mark_point(opacity=1, size=70 if dots.page else 30, strokeWidth=1.6)
    drawn.append(mark.encode(alt.X("value", **x), dots.y(dots.names()), tooltip, stroke, fill, shape))
    if dots.has("print"):
        name = json.dumps(dots.labels[-1])
        printed = dots.where("print").transform_calculate(what=name)
        mark = printed.mark_point(opacity=1, size=110 if dots.page else 50, strokeWidth=1.3)
        drawn.append(mark.encode(alt.X("print", **x), none, tooltip, stroke, fill, shape))
    if dots.has("failed"):
        text = dots.where("failed").mark_text(text="failed", fontStyle="italic", color=MUTED)
        drawn.append(text.encode(none, x=alt.value(alt.expr("width / 2"))))
    return drawn


def _differences(dots: _Dots, ticks: tuple[int, int]) -> list[alt.Chart]:
    """Return the layers of our score minus the published value, with a line at zero."""
    unit = display_unit(dots.summary.main_metric, dots.summary.quantities)
    title = f"Ours − published ({'points' if unit.name == 'percent' else unit.symbol or unit.name})"
    x = dots.x_axis([f"less_{end}" for end in _ENDS], title, ticks, zero=True)
    tooltip = tooltips({"cell": "cell", "ours": "ours", "published": "published", "verdict": "verdict"})
    zero = dots.data.transform_aggregate(n="count()").mark_rule(color=PUBLISHED, strokeWidth=1.2, aria=False)
    rule = dots.where("less_low").mark_rule(strokeWidth=2.5 if dots.page else 1.8, color=OURS)
    mark = dots.where("less_value").mark_point(filled=True, opacity=1, size=70 if dots.page else 30, color=OURS)
    return [
        zero.encode(alt.XDatum(0, **x)),
        rule.encode(alt.X("less_low", **x), alt.X2("less_high"), dots.y(None), tooltip),
        mark.encode(alt.X("less_value", **x), dots.y(dots.names(labels=dots.page)), tooltip),
    ]


def _looks(dots: _Dots) -> tuple[alt.Stroke, alt.Fill, alt.Shape]:
    """Return the encodings of stroke, fill and shape, with a legend on pages; files have one below all panels."""
    legend: Any = alt.Legend(symbolOpacity=1, columns=LEGEND_COLUMNS, labelLimit=400) if dots.page else None
    names, looks = list(dots.legend), list(zip(*dots.legend.values(), strict=True)) or [(), (), ()]
    scales = [alt.Scale(domain=names, range=list(values)) for values in looks]
    return (
        alt.Stroke("what:N", scale=scales[0], legend=legend),
        alt.Fill("what:N", scale=scales[1], legend=legend),
        alt.Shape("what:N", scale=scales[2], legend=legend),
    )
