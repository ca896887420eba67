"""Pairs and confusions to pictures of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.evaluation.intervals import ALPHA
from benchmark.report.grids import main_metric
from benchmark.report.html.picture import INK, LINE, OURS, PUBLISHED, Picture, Spec, tooltip
from benchmark.report.numbers import NONE, is_missing, p_text
from benchmark.report.quantities import unit_shown

if TYPE_CHECKING:
    from benchmark.report.contents import Summary

#: More of them are in the file beside the page, and more than a reader looks at.
MOST_CLASSES, MOST_CONFUSIONS = 60, 40_000
MOST_NUMBERED = 12  # classes: a square of more has no room for numbers


def significance_picture(summary: Summary) -> Picture | None:
    """Every pair that is compared, row less column, with the p-value of the first test that can be made.

    Both ways, unless one way fills the matrix better, as where all are compared with one.
    """
    tests: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in summary.significance.to_dict("records"):
        if not is_missing(row["p_value"]):
            tests.setdefault((row["a"], row["b"]), row)
    unit, points, gaps = (
        unit_shown(main_metric(summary), summary.quantities),
        [],
        summary.differences.to_dict("records"),
    )
    first, second = ({gap[end] for gap in gaps} for end in "ab")
    one_way = 2 * len(first) * len(second) <= len(first | second) ** 2
    for gap in gaps:
        test = tests.get((gap["a"], gap["b"]))
        p = None if test is None else test["p_value"] if is_missing(test["p_holm"]) else test["p_holm"]
        for a, b, sign in ((gap["a"], gap["b"], 1), (gap["b"], gap["a"], -1))[: 1 if one_way else 2]:
            low, high = sorted((sign * gap["low"], sign * gap["high"]))
            value = sign * gap["value"]
            told = "no test" if p is None else "not significant" if p >= ALPHA else "higher" if value > 0 else "lower"
            point = {"a": a, "b": b, "told": told, "gap": unit.text(value, "+")}
            point |= {"interval": unit.interval(low, high, "+"), "p": NONE if p is None else p_text(p)}
            points.append(point | {"test": "" if test is None else test["test"]})
    if len(gaps) < 2:
        return None
    named = (first, second) if one_way else (first | second,) * 2
    rows, columns = ([cell.id for cell in summary.cells if cell.id in own] for own in named)
    colour = {"higher": OURS, "lower": PUBLISHED, "not significant": LINE, "no test": "transparent"}
    words = [word for word in colour if any(point["told"] == word for point in points)]
    colours = {"domain": words, "range": [colour[word] for word in words]}
    place: Spec = {"type": "nominal", "sort": None}
    y, x = place | {"field": "a", "scale": {"domain": rows}}, place | {"field": "b", "scale": {"domain": columns}}
    axis: Spec = {"title": None, "domain": False, "ticks": False, "labelLimit": 220}
    titles = {"a": "row", "b": "column", "gap": "row − column", "interval": "95% interval", "p": "p (Holm)"}
    titles |= {"test": "test", "told": "the row is"}
    spec: Spec = {
        "width": {"step": 46},
        "height": {"step": 30},
        "data": {"values": points},
        "encoding": {
            "y": y | {"axis": axis},
            "x": x | {"axis": axis | {"labelAngle": -50, "orient": "top"}},
            "tooltip": tooltip(titles),
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
    why = f"coloured where p after Holm's correction is below {ALPHA}"
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
    titles = {"cell": "cell", "truth": "true", "given": "given", "n": "documents"}
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
            "tooltip": tooltip(titles),
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
