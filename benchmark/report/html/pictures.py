"""Frames to Vega-Lite specifications: what the pictures of a page show, drawn by Vega in the reader's browser.

A specification is plain data in the grammar of Vega-Lite (Satyanarayan et al. 2017), and tests hold it against the
schema. To make it through Vega-Altair would take two thirds of a second of every run. Colours are the page's own
variables, so that a picture changes with the theme and on paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.report.curve_axes import MOST_TICKS
from benchmark.report.curve_tables import chart_decimals, plain_number
from benchmark.report.dot_plot import figure_rows
from benchmark.report.grids import headline_scores, main_metric, main_verdicts, records
from benchmark.report.numbers import NONE, interval, is_missing, number, p_text
from benchmark.report.quantities import axis_label, capitalized, factor_shown, metric_name, unit_shown

if TYPE_CHECKING:
    from benchmark.report.charts import Chart, Panel
    from benchmark.report.contents import Summary

Spec = dict[str, Any]

OURS, PUBLISHED, INK, MUTED = (f"var(--{name})" for name in ("ours", "published", "ink", "muted"))
LINE, WASH = "var(--line)", "var(--wash)"
SERIES = 10  # colours of lines, --s0 to --s9
DASHES = ([1, 0], [6, 2], [2, 2], [6, 2, 2, 2], [10, 3])
FONT = "system-ui, sans-serif"
LEVEL = 0.05
FIT: Spec = {"type": "fit-x", "contains": "padding"}  # to the width that the page has
WHAT = ("ours, with its 95% interval", "published")
#: Of every picture.
LOOK: Spec = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": dict.fromkeys(("gridColor", "domainColor", "tickColor"), LINE)
    | {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "titlePadding": 10}
    | {"labelFontSize": 12, "titleFontSize": 12},
    "legend": {"labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "orient": "bottom", "title": None},
}
#: More of them are in the file beside the page, and more than a reader looks at.
MOST_CLASSES, MOST_CONFUSIONS, MOST_DOTS = 60, 40_000, 200
MOST_NUMBERED = 12  # classes: a square of more has no room for numbers


@dataclass(frozen=True)
class Picture:
    """One picture of a page.

    Parameters
    ----------
    name : str
        Unlike every other's of the page.
    title, alt : str
        What stands above it; what a screen reader says of it.
    spec : mapping
    series : tuple of str
        Of a picture of curves, its labels: one of them can be chosen.
    measured : bool
        Whether it shows what the clock said, which differs from run to run.
    """

    name: str
    title: str
    alt: str
    spec: Spec
    series: tuple[str, ...] = ()
    measured: bool = False


def dot_picture(summary: Summary, name: str = "scores") -> Picture:
    """Each cell's score with its 95% interval, and the print beside it, in the rows of the printed figure."""
    metric, scores, verdicts = main_metric(summary), headline_scores(summary), main_verdicts(summary)
    every, unit = figure_rows(summary), unit_shown(metric)
    rows = every[:MOST_DOTS]
    points: list[Spec] = []
    for y, row in enumerate(rows):
        score, verdict = scores.get((row.cell, metric)), verdicts.get(row.cell)
        point: Spec = {"row": y, "cell": row.cell}
        if score is not None:
            point |= {name: plain(unit.scale, score[name]) for name in ("value", "low", "high")}
            point |= {"ours": unit.text(score["value"]), "interval": unit.interval(score["low"], score["high"])}
        if verdict is not None:
            point["print"] = plain(factor_shown(verdict["unit"], metric), float(verdict["published"]))
            point |= {"published": verdict["published"], "verdict": verdict["verdict"]}
        if row.cell in summary.failures:
            point["failed"] = "failed"
        points += [point] if row.cell else []
    what = WHAT if verdicts else WHAT[:1]
    tips = {"cell": "cell", "ours": metric_axis(metric), "interval": "95% interval"}
    tips |= {"published": "published", "verdict": "verdict"} if verdicts else {}
    tooltip = [{"field": name, "type": "nominal", "title": title} for name, title in tips.items()]
    axis: Spec = {"title": None, "ticks": False, "domain": False, "grid": True, "labelPadding": 8}
    axis |= {"labelExpr": "labels[datum.value]", "labelLimit": {"expr": "0.45 * containerSize()[0]"}}
    headings = [y for y, row in enumerate(rows) if not row.cell]
    if headings:
        test = " || ".join(f"datum.value == {y}" for y in headings)
        axis["labelFontWeight"] = {"condition": {"test": test, "value": "bold"}, "value": "normal"}
    across: Spec = {"type": "quantitative", "scale": {"zero": False, "nice": True}, "title": axis_label((metric,))}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "color": OURS, "strokeWidth": 2.5},
            "encoding": {"x": across | {"field": "low"}, "x2": {"field": "high"}, "tooltip": tooltip},
        },
        {
            "transform": _those_with("value", WHAT[0]),
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {"x": across | {"field": "value"}, **_named(what), "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "isValid(datum.failed)"}],
            "mark": {"type": "text", "text": "failed", "fontStyle": "italic", "color": MUTED},
            "encoding": {"x": {"value": 30}},
        },
    ]
    if verdicts:
        mark: Spec = {"type": "point", "size": 110, "strokeWidth": 1.6, "opacity": 1}
        encoding = {"x": across | {"field": "print"}, **_named(what), "tooltip": tooltip}
        layers.insert(2, {"transform": _those_with("print", WHAT[1]), "mark": mark, "encoding": encoding})
    alt = f"{capitalized(metric_name(metric))} of each cell with its 95% interval"
    alt += ", and the published number beside it" if verdicts else ""
    alt += f" (the first {MOST_DOTS} of {len(every)} rows)" if len(every) > MOST_DOTS else ""
    spec: Spec = {
        "width": "container",
        "autosize": FIT,
        "height": 24 * len(rows),
        "params": [{"name": "labels", "value": [row.label.replace("\n", " ") for row in rows]}],
        "data": {"values": points},
        "encoding": {
            "y": {"field": "row", "type": "ordinal", "axis": axis, "scale": {"domain": list(range(len(rows)))}}
        },
        # Of numbers that no point has an axis would have no ends.
        "layer": layers if summary.scores["low"].notna().any() else layers[1:],
    }
    return Picture(name, alt, f"{alt}. The numbers stand in the table of scores.", spec)


def _named(what: tuple[str, ...]) -> Spec:
    """Colour and shape, explained in the legend."""
    ranges = {"color": [OURS, PUBLISHED], "shape": ["circle", "diamond"]}
    return {
        name: {"field": "what", "type": "nominal", "scale": {"domain": list(what), "range": values[: len(what)]}}
        for name, values in ranges.items()
    }


def _those_with(name: str, what: str) -> list[Spec]:
    """The points that have a number of this name, and what the legend calls it."""
    return [{"filter": f"isValid(datum.{name})"}, {"calculate": f"'{what}'", "as": "what"}]


def metric_axis(metric: str) -> str:
    """A metric as a tooltip names it, "accuracy %"."""
    return f"{metric_name(metric)} {unit_shown(metric).symbol}".rstrip()


def plain(scale: float, value: Any) -> float | None:
    """A number with 12 digits, as files hold it: machines differ below; None for what is missing."""
    return None if is_missing(value) or not math.isfinite(value) else float(f"{scale * value:.12g}")


def significance_picture(summary: Summary) -> Picture | None:
    """Every pair that is compared, both ways: row less column, with the p-value of the first test that can be made."""
    tests: dict[tuple[str, str], dict[str, Any]] = {}
    for row in records(summary.significance):
        if not is_missing(row["p_value"]):
            tests.setdefault((row["a"], row["b"]), row)
    unit, points = unit_shown(main_metric(summary)), []
    for gap in records(summary.differences):
        test = tests.get((gap["a"], gap["b"]))
        p = None if test is None else test["p_value"] if is_missing(test["p_holm"]) else test["p_holm"]
        for a, b, sign in ((gap["a"], gap["b"], 1), (gap["b"], gap["a"], -1)):
            low, high = sorted((sign * gap["low"], sign * gap["high"]))
            value = sign * gap["value"]
            told = "no test" if p is None else "not significant" if p >= LEVEL else "higher" if value > 0 else "lower"
            point = {"a": a, "b": b, "told": told, "gap": unit.text(value, "+")}
            point |= {"interval": unit.interval(low, high, "+"), "p": NONE if p is None else p_text(p)}
            points.append(point | {"test": "" if test is None else test["test"]})
    if len(points) < 4:
        return None
    named = {name for point in points for name in (point["a"], point["b"])}
    order = [cell.id for cell in summary.cells if cell.id in named]
    colour = {"higher": OURS, "lower": PUBLISHED, "not significant": LINE, "no test": "transparent"}
    words = [word for word in colour if any(point["told"] == word for point in points)]
    colours = {"domain": words, "range": [colour[word] for word in words]}
    place: Spec = {"type": "nominal", "sort": None, "scale": {"domain": order}}
    axis: Spec = {"title": None, "domain": False, "ticks": False, "labelLimit": 220}
    titles = {"a": "row", "b": "column", "gap": "row − column", "interval": "95% interval", "p": "p (Holm)"}
    titles |= {"test": "test", "told": "the row is"}
    tooltip = [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]
    spec: Spec = {
        "width": {"step": 46},
        "height": {"step": 30},
        "data": {"values": points},
        "encoding": {
            "y": place | {"field": "a", "axis": axis},
            "x": place | {"field": "b", "axis": axis | {"labelAngle": -50, "orient": "top"}},
            "tooltip": tooltip,
        },
        "layer": [
            {
                "mark": {"type": "rect", "fillOpacity": 0.35, "cornerRadius": 2},
                "encoding": {"color": {"field": "told", "type": "nominal", "scale": colours}},
            },
            {"mark": {"type": "text", "fontSize": 11, "color": INK}, "encoding": {"text": {"field": "gap"}}},
        ],
    }
    alt = "Differences of the pairs that are compared, row less column"
    why = f"coloured where p after Holm's correction is below {LEVEL}"
    return Picture("pairs", f"{alt}, {why}", f"{alt}. The numbers stand in the table of significance.", spec)


def confusion_picture(summary: Summary) -> Picture | None:
    """Documents by true and given class, of the cell that is chosen below it."""
    table = summary.confusions
    classes = sorted({*table["truth"], *table["predicted"]}, key=[*table["truth"], *table["predicted"]].index)
    if not 2 <= len(classes) <= MOST_CLASSES:
        return None
    cells = list(dict.fromkeys(table["cell"]))
    sizes = table.groupby("cell", sort=False).size().cumsum()
    cells = [cell for cell in cells if sizes[cell] <= MOST_CONFUSIONS]
    if not cells:
        return None
    code, of = {name: i for i, name in enumerate(classes)}, {name: i for i, name in enumerate(cells)}
    columns = (table[name] for name in ("cell", "truth", "predicted", "n"))
    points = [[of[c], code[t], code[p], int(n)] for c, t, p, n in zip(*columns, strict=True) if c in of]
    place: Spec = {"type": "nominal", "sort": None, "scale": {"domain": classes}}
    axis: Spec = {"domain": False, "ticks": False, "labelLimit": 140}
    numbered = len(classes) <= MOST_NUMBERED
    tooltip = [
        {"field": name, "type": "nominal", "title": title}
        for name, title in {"cell": "cell", "truth": "true", "given": "given", "n": "documents"}.items()
    ]
    shade: Spec = {"field": "n", "type": "quantitative", "legend": None}

    def layer(test: str, colour: str) -> Spec:
        """The documents decided rightly, or wrongly, on a scale of their own."""
        opacity = shade | {"scale": {"type": "sqrt", "range": [0.06, 0.7], "domainMin": 0}}
        mark = {"type": "rect", "fill": colour, "cornerRadius": 2}
        return {"transform": [{"filter": test}], "mark": mark, "encoding": {"fillOpacity": opacity}}

    numbers: list[Spec] = [{"mark": {"type": "text", "color": INK}, "encoding": {"text": {"field": "n"}}}]
    spec: Spec = {
        "width": {"step": 60 if numbered else 20},
        "height": {"step": 30 if numbered else 20},
        "params": [
            {"name": "classes", "value": classes},
            {"name": "cells", "value": cells},
            {"name": "shown", "value": cells[0], "bind": {"input": "select", "options": cells, "name": "cell "}},
        ],
        "data": {"values": points},
        "transform": [
            {"filter": "cells[datum[0]] == shown"},
            {"calculate": "cells[datum[0]]", "as": "cell"},
            {"calculate": "classes[datum[1]]", "as": "truth"},
            {"calculate": "classes[datum[2]]", "as": "given"},
            {"calculate": "datum[3]", "as": "n"},
        ],
        "encoding": {
            "y": place | {"field": "truth", "axis": axis | {"title": "true"}},
            "x": place | {"field": "given", "axis": axis | {"title": "given", "orient": "top", "labelAngle": -35}},
            "tooltip": tooltip,
        },
        "layer": [
            layer("datum.truth == datum.given", OURS),
            layer("datum.truth != datum.given", PUBLISHED),
            *(numbers if numbered else []),
        ],
        "resolve": {"scale": {"fillOpacity": "independent"}},
    }
    alt = "Documents by true and given class, rightly decided ones on the diagonal"
    return Picture("confusions", alt, f"{alt}. The numbers stand in confusions.csv.", spec)


def rank_picture(summary: Summary) -> Picture | None:
    """Mean ranks, each with half of the critical difference to either side: two whose bars are apart differ."""
    rows = records(summary.ranks)
    if not rows:
        return None
    points = []
    for row in rows:
        low, high = (plain(1, row["rank"] + sign * row["critical"] / 2) for sign in (-1, 1))
        told = {"told": number(row["rank"]), "bar": interval(low, high)}
        points.append({"method": row["method"], "rank": plain(1, row["rank"]), "low": low, "high": high, **told})
    titles = {"method": "method", "told": "mean rank", "bar": "± half of the critical difference"}
    tooltip = [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]
    ends = {"domain": [0.5, len(points) + 0.5], "nice": False}  # what two bars share lies between their ranks
    x: Spec = {"type": "quantitative", "title": "Mean rank (1 is the best)", "scale": ends}
    axis: Spec = {"title": None, "ticks": False, "domain": False, "grid": True}
    axis["labelLimit"] = {"expr": "0.45 * containerSize()[0]"}
    spec: Spec = {
        "width": "container",
        "autosize": FIT,
        "height": 24 * len(points),
        "data": {"values": points},
        "encoding": {"y": {"field": "method", "type": "nominal", "sort": None, "axis": axis}, "tooltip": tooltip},
        "layer": [
            {
                "mark": {"type": "rule", "color": OURS, "strokeWidth": 2.5, "clip": True},
                "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": OURS},
                "encoding": {"x": x | {"field": "rank"}},
            },
        ],
    }
    said = (
        f"Mean ranks over {rows[0]['samples']} samples; two methods whose bars don't overlap differ by Nemenyi's test"
    )
    return Picture("ranks", said, f"{said}. The numbers stand in ranks.csv.", spec)


def curve_pictures(chart: Chart) -> list[Picture]:
    """One picture a panel, of the same series in the same colours; the paper's range as a band."""
    labels = tuple(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    found = []
    for i, panel in enumerate(chart.panels):
        title = panel.title.replace("\n", ", ") or chart.title
        alt = f"{title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."
        spec = _panel_spec(chart, panel, labels)
        found.append(Picture(f"{chart.name}-{i}", title, alt, spec, labels, chart.measured))
    return found


def _panel_spec(chart: Chart, panel: Panel, labels: tuple[str, ...]) -> Spec:
    decimals, points = chart_decimals(chart), []
    for line in panel.lines:
        missing = (math.nan,) * len(line.x)
        for at, value, low, high in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
            ends = {"low": plain(chart.scale, low), "high": plain(chart.scale, high)}
            told = {"at": plain_number(at), "told": number(chart.scale * value, decimals)}
            told["interval"] = interval(ends["low"], ends["high"], decimals)
            points.append({"series": line.label, "x": plain(1, at), "y": plain(chart.scale, value), **ends, **told})
    scale: Spec = {"domain": list(labels)}
    colour = scale | {"range": [f"var(--s{i % SERIES})" for i in range(len(labels))]}
    dash = scale | {"range": [DASHES[i % SERIES % len(DASHES)] for i in range(len(labels))]}
    titles = {"series": "series", "at": chart.x_label, "told": chart.y_label, "interval": chart.bars or "interval"}
    tooltip = [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]
    ticks = sorted({at for line in panel.lines for at in line.x})
    axis: Spec = {"grid": False, "labelOverlap": "greedy"} | ({"values": ticks} if len(ticks) <= MOST_TICKS else {})
    x: Spec = {"field": "x", "type": "quantitative", "title": chart.x_label, "axis": axis}
    x["scale"] = _scale(log=chart.log_x) | {"padding": 12, "nice": False}
    y: Spec = {"type": "quantitative", "title": chart.y_label, "scale": _scale(log=chart.log_y)}
    y["axis"] = {"gridOpacity": 0.4 if chart.log_y else 1}
    chosen = {"condition": {"test": "picked == null || picked == datum.series", "value": 1}, "value": 0.12}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 1.5, "strokeOpacity": 0.5},
            "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}, "tooltip": tooltip},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "y": y | {"field": "y"},
                "strokeDash": {"field": "series", "type": "nominal", "scale": dash, "legend": None},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55},
            "encoding": {"y": y | {"field": "y"}, "tooltip": tooltip},
        },
    ]
    if not any(line.low for line in panel.lines):
        del layers[0]
    if panel.printed:
        bottom, top = ({"datum": plain(chart.scale, end)} for end in panel.printed)
        band: Spec = {"y": y | bottom, "y2": top, "x": {"value": 0}, "x2": {"value": "width"}}
        layers.insert(
            0,
            {
                "mark": {"type": "rect", "aria": False},
                "encoding": band | {"opacity": {"value": 1}, "color": {"value": WASH}},
            },
        )
    return {
        "width": "container",
        "autosize": FIT,
        "height": 240,
        "params": [{"name": "picked", "value": None}],
        "data": {"values": points},
        "encoding": {
            "x": x,
            "color": {"field": "series", "type": "nominal", "scale": colour, "legend": None},
            "opacity": chosen,
        },
        "layer": layers,
    }


def _scale(*, log: bool) -> Spec:
    return {"type": "log"} if log else {"zero": False}
