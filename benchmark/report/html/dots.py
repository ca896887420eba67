"""Scores to pictures of dots: each cell's with its interval and the print beside it, and methods' mean ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.report.grids import main_metric, main_verdicts, metric_header
from benchmark.report.html.picture import FIT, MUTED, OURS, PUBLISHED, Picture, Spec, plain, tooltip
from benchmark.report.numbers import interval, number
from benchmark.report.quantities import axis_label, capitalized, factor_shown, metric_name, unit_shown
from benchmark.report.rows import figure_rows

if TYPE_CHECKING:
    from benchmark.report.contents import Summary

WHAT = ("ours, with its 95% interval", "published")
#: Rows of a picture: more of them are in the table, and more than a reader looks at.
MOST_DOTS = 200


def dot_picture(summary: Summary, name: str = "scores") -> Picture:
    """Each cell's score with its 95% interval, and the print beside it, in the rows of the printed figure."""
    metric, scores, verdicts = main_metric(summary), summary.headlines, main_verdicts(summary)
    every, declared = figure_rows(summary), summary.quantities
    unit = unit_shown(metric, declared)
    rows = every[:MOST_DOTS]
    points: list[Spec] = []
    for y, row in enumerate(rows):
        score, verdict = scores.get((row.cell, metric)), verdicts.get(row.cell)
        point: Spec = {"row": y, "cell": row.cell}
        if score is not None:
            point |= {name: plain(unit.scale, score[name]) for name in ("value", "low", "high")}
            point |= {"ours": unit.text(score["value"]), "interval": unit.interval(score["low"], score["high"])}
        if verdict is not None:
            point["print"] = plain(factor_shown(verdict["unit"], metric, declared), float(verdict["published"]))
            point |= {"published": verdict["published"], "verdict": verdict["verdict"]}
        if row.cell in summary.failures:
            point["failed"] = "failed"
        points += [point] if row.cell else []
    what = WHAT if verdicts else WHAT[:1]
    tips = {"cell": "cell", "ours": metric_header(metric, declared), "interval": "95% interval"}
    tips |= {"published": "published", "verdict": "verdict"} if verdicts else {}
    told = tooltip(tips)
    axis: Spec = {"title": None, "ticks": False, "domain": False, "grid": True, "labelPadding": 8}
    axis |= {"labelExpr": "labels[datum.value]", "labelLimit": {"expr": "0.45 * containerSize()[0]"}}
    headings = [y for y, row in enumerate(rows) if not row.cell]
    if headings:
        test = " || ".join(f"datum.value == {y}" for y in headings)
        axis["labelFontWeight"] = {"condition": {"test": test, "value": "bold"}, "value": "normal"}
    across: Spec = {
        "type": "quantitative",
        "scale": {"zero": False, "nice": True},
        "title": axis_label((metric,), declared),
    }
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "color": OURS, "strokeWidth": 2.5},
            "encoding": {"x": across | {"field": "low"}, "x2": {"field": "high"}, "tooltip": told},
        },
        {
            "transform": _those_with("value", WHAT[0]),
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {"x": across | {"field": "value"}, **_named(what), "tooltip": told},
        },
        {
            "transform": [{"filter": "isValid(datum.failed)"}],
            "mark": {"type": "text", "text": "failed", "fontStyle": "italic", "color": MUTED},
            "encoding": {"x": {"value": 30}},
        },
    ]
    if verdicts:
        mark: Spec = {"type": "point", "size": 110, "strokeWidth": 1.6, "opacity": 1}
        encoding = {"x": across | {"field": "print"}, **_named(what), "tooltip": told}
        layers.insert(2, {"transform": _those_with("print", WHAT[1]), "mark": mark, "encoding": encoding})
    alt = f"{capitalized(metric_name(metric, declared))} of each cell with its 95% interval"
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


def rank_picture(summary: Summary) -> Picture | None:
    """Mean ranks, each with half of the critical difference to either side: two whose bars are apart differ."""
    rows = summary.ranks.to_dict("records")
    if not rows:
        return None
    points = []
    for row in rows:
        low, high = (plain(1, row["rank"] + sign * row["critical"] / 2) for sign in (-1, 1))
        told = {"told": number(row["rank"]), "bar": interval(low, high)}
        points.append({"method": row["method"], "rank": plain(1, row["rank"]), "low": low, "high": high, **told})
    titles = {"method": "method", "told": "mean rank", "bar": "± half of the critical difference"}
    said_of_each = tooltip(titles)
    ends = {"domain": [0.5, len(points) + 0.5], "nice": False}  # what two bars share lies between their ranks
    x: Spec = {"type": "quantitative", "title": "Mean rank (1 is the best)", "scale": ends}
    axis: Spec = {"title": None, "ticks": False, "domain": False, "grid": True}
    axis["labelLimit"] = {"expr": "0.45 * containerSize()[0]"}
    spec: Spec = {
        "width": "container",
        "autosize": FIT,
        "height": 24 * len(points),
        "data": {"values": points},
        "encoding": {"y": {"field": "method", "type": "nominal", "sort": None, "axis": axis}, "tooltip": said_of_each},
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
