"""Pairs and confusions to pictures of matrices, for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.evaluation.intervals import ALPHA
from benchmark.report.drawing.spec import Picture, page_spec, rows_data, spec_of, tooltips
from benchmark.report.drawing.theme import INK, LINE, OURS, PUBLISHED
from benchmark.report.grids import main_metric
from benchmark.report.numbers import NONE, is_missing, p_text
from benchmark.report.quantities import unit_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.contents import Summary

#: More of them are in the file beside the page, and more than a reader looks at.
MOST_CLASSES, MOST_CONFUSIONS = 60, 40_000
MOST_NUMBERED = 12  # classes: a square of more has no room for numbers


def significance_picture(summary: Summary) -> Picture | None:
    """Draw every pair that is compared, row less column, with the p-value of the first test that can be made.

    Both ways, unless one way fills the matrix better, as where all are compared with one.
    """
    gaps = summary.differences.to_dict("records")
    if len(gaps) < 2:
        return None
    tests: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in summary.significance.to_dict("records"):
        if not is_missing(row["p_value"]):
            tests.setdefault((row["a"], row["b"]), row)
    first, second = ({gap[end] for gap in gaps} for end in "ab")
    one_way = 2 * len(first) * len(second) <= len(first | second) ** 2
    points = []
    for gap in gaps:
        test = tests.get((gap["a"], gap["b"]))
        points.append(_compared(summary, gap, test, gap["a"], gap["b"], 1))
        points += [] if one_way else [_compared(summary, gap, test, gap["b"], gap["a"], -1)]
    named = (first, second) if one_way else (first | second,) * 2
    rows, columns = ([cell.id for cell in summary.cells if cell.id in own] for own in named)
    colour = {"higher": OURS, "lower": PUBLISHED, "not significant": LINE, "no test": "transparent"}
    words = [word for word in colour if any(point["told"] == word for point in points)]
    titles = {"a": "row", "b": "column", "gap": "row − column", "interval": "95% interval", "p": "p (Holm)"}
    titles |= {"test": "test", "told": "the row is"}
    data = alt.Chart(rows_data(points)).encode(
        _place(alt.Y, "a", rows, labelLimit=220),
        _place(alt.X, "b", columns, labelLimit=220, orient="top", labelAngle=-50),
        tooltips(titles),
    )
    shades = alt.Scale(domain=words, range=[colour[word] for word in words])
    squares = data.mark_rect(fillOpacity=0.35, cornerRadius=2).encode(alt.Color("told:N", scale=shades))
    texts = data.mark_text(fontSize=11, color=INK).encode(alt.Text("gap:N"))
    drawn = alt.layer(squares, texts).properties(width=alt.Step(46), height=alt.Step(30))
    said = "Differences of the pairs that are compared, row less column"
    why = f"coloured where p after Holm's correction is below {ALPHA}"
    numbers = f"{said}. The numbers stand in the table of significance."
    return Picture("pairs", f"{said}, {why}", numbers, page_spec(spec_of(drawn)))


def _compared(
    summary: Summary, gap: dict[Any, Any], test: dict[Any, Any] | None, a: str, b: str, sign: int
) -> dict[str, Any]:
    """Return one square: `a` less `b`, and whether that is significant."""
    unit, value = unit_shown(main_metric(summary), summary.quantities), sign * gap["value"]
    p = None if test is None else test["p_value"] if is_missing(test["p_holm"]) else test["p_holm"]
    low, high = sorted((sign * gap["low"], sign * gap["high"]))
    told = "no test" if p is None else "not significant" if p >= ALPHA else "higher" if value > 0 else "lower"
    point = {"a": a, "b": b, "told": told, "gap": unit.text(value, "+"), "interval": unit.interval(low, high, "+")}
    return point | {"p": NONE if p is None else p_text(p), "test": "" if test is None else test["test"]}


def _place(channel: Any, name: str, domain: Sequence[str], title: str | None = None, **axis: Any) -> Any:
    """Return an axis of names."""
    drawn = alt.Axis(title=title, domain=False, ticks=False, **axis)
    return channel(name, type="nominal", sort=None, scale=alt.Scale(domain=list(domain)), axis=drawn)


def confusion_picture(summary: Summary) -> Picture | None:
    """Draw documents by true and predicted class, of the cell that is chosen below it."""
    table = summary.confusions
    classes = sorted({*table["truth"], *table["predicted"]}, key=[*table["truth"], *table["predicted"]].index)
    if not 2 <= len(classes) <= MOST_CLASSES:
        return None
    sizes = table.groupby("cell", sort=False).size().cumsum()
    cells = [cell for cell in dict.fromkeys(table["cell"]) if sizes[cell] <= MOST_CONFUSIONS]
    if not cells:
        return None
    code, of = {name: i for i, name in enumerate(classes)}, {name: i for i, name in enumerate(cells)}
    columns = (table[name] for name in ("cell", "truth", "predicted", "n"))
    # Names are numbers here: of many cells they would be most of the page.
    rows = [(of[c], code[t], code[p], int(n)) for c, t, p, n in zip(*columns, strict=True) if c in of]
    points = [dict(zip("ctpn", row, strict=True)) for row in rows]
    numbered = len(classes) <= MOST_NUMBERED
    data = alt.Chart(rows_data(points)).encode(
        _place(alt.Y, "truth", classes, "true", labelLimit=140),
        _place(alt.X, "given", classes, "given", labelLimit=140, orient="top", labelAngle=-35),
        tooltips({"cell": "cell", "truth": "true", "given": "given", "n": "documents"}),
    )
    layers = [_shaded(data, "==", OURS), _shaded(data, "!=", PUBLISHED)]
    layers += [data.mark_text(color=INK).encode(alt.Text("n:Q"))] if numbered else []
    step = {"width": alt.Step(60 if numbered else 20), "height": alt.Step(30 if numbered else 20)}
    choice = alt.binding_select(options=cells, name="cell ")
    drawn = (
        alt.layer(*layers)
        .resolve_scale(fillOpacity="independent")
        .add_params(alt.param(name="classes", value=classes), alt.param(name="cells", value=cells))
        .add_params(alt.param(name="shown", value=cells[0], bind=choice))
        .transform_filter("cells[datum.c] == shown")
        .transform_calculate(cell="cells[datum.c]", truth="classes[datum.t]", given="classes[datum.p]")
        .properties(**step)
    )
    said = "Documents by true and given class, rightly decided ones on the diagonal"
    return Picture("confusions", said, f"{said}. The numbers stand in confusions.csv.", page_spec(spec_of(drawn)))


def _shaded(data: alt.Chart, test: str, colour: str) -> alt.Chart:
    """Draw the documents decided rightly, or wrongly, on a scale of their own."""
    scale = alt.Scale(type="sqrt", range=[0.06, 0.7], domainMin=0)
    opacity = alt.FillOpacity("n:Q", legend=None, scale=scale)
    squares = data.transform_filter(f"datum.truth {test} datum.given").mark_rect(fill=colour, cornerRadius=2)
    found: alt.Chart = squares.encode(opacity)
    return found
