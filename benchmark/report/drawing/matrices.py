"""Pictures of matrices for a page: compared pairs, and confusion matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.comparisons import leading_tests
from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, p_text
from benchmark.analysis.formatting.units import display_unit
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.report.drawing.spec import Picture, page_spec, rows_data, spec_of, tooltips
from benchmark.report.drawing.theme import INK, LINE, OURS, PUBLISHED, WASH
from benchmark.report.grids import main_metric_of_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.summary import Summary

#: Larger matrices are not drawn: their numbers are in the files beside the page.
MOST_CLASSES, MOST_CONFUSIONS = 60, 40_000
MOST_NUMBERED = 12  # with more classes, the squares have no room for numbers


def significance_picture(summary: Summary) -> Picture | None:
    """Draw the difference of every compared pair, row minus column, with the p-value of the leading test.

    Each pair is drawn in both directions, unless one direction fills the matrix better, as when all cells are compared
    with one.
    """
    gaps = summary.differences.to_dict("records")
    if len(gaps) < 2:
        return None
    leading = leading_tests(summary.significance).dropna(subset=["p_value"])
    tests = {(row["a"], row["b"]): row for row in leading.to_dict("records")}
    first, second = ({gap[end] for gap in gaps} for end in "ab")
    one_way = 2 * len(first) * len(second) <= len(first | second) ** 2
    points = []
    for gap in gaps:
        test = tests.get((gap["a"], gap["b"]))
        points.append(_compared(summary, gap, test, gap["a"], gap["b"], 1))
        points += [] if one_way else [_compared(summary, gap, test, gap["b"], gap["a"], -1)]
    named = (first, second) if one_way else (first | second,) * 2
    rows, columns = ([cell.id for cell in summary.cells if cell.id in names] for names in named)
    colour = {
        "higher": OURS,
        "lower": PUBLISHED,
        "not significant": LINE,
        "not testable": WASH,
        "no test": "transparent",
    }
    words = [word for word in colour if any(point["value_text"] == word for point in points)]
    titles = {"a": "row", "b": "column", "gap": "row − column", "interval": "95% interval", "p": "p (Holm)"}
    titles |= {"test": "test", "value_text": "the row is"}
    data = alt.Chart(rows_data(points)).encode(
        _place(alt.Y, "a", rows, labelLimit=220),
        _place(alt.X, "b", columns, labelLimit=220, orient="top", labelAngle=-50),
        tooltips(titles),
    )
    shades = alt.Scale(domain=words, range=[colour[word] for word in words])
    squares = data.mark_rect(fillOpacity=0.35, cornerRadius=2).encode(alt.Color("value_text:N", scale=shades))
    texts = data.mark_text(fontSize=11, color=INK).encode(alt.Text("gap:N"))
    drawn = alt.layer(squares, texts).properties(width=alt.Step(46), height=alt.Step(30))
    title = "Differences of the compared pairs, row minus column"
    colours = f"coloured where p after Holm's correction is below {SIGNIFICANCE_LEVEL}"
    description = f"{title}. The numbers are in the table of significance."
    return Picture("pairs", f"{title}, {colours}", description, page_spec(spec_of(drawn)))


def _compared(
    summary: Summary, gap: dict[Any, Any], test: dict[Any, Any] | None, a: str, b: str, sign: int
) -> dict[str, Any]:
    """Return the data of one square: score of `a` minus score of `b`, and its significance."""
    unit, value = display_unit(main_metric_of_summary(summary), summary.quantities), sign * gap["value"]
    p = None if test is None else test["p_value"] if is_missing(test["p_holm"]) else test["p_holm"]
    low, high = sorted((sign * gap["low"], sign * gap["high"]))
    if test is None or p is None:
        verdict = "no test"
    elif p < SIGNIFICANCE_LEVEL:
        verdict = "higher" if value > 0 else "lower"
    else:
        verdict = "not testable" if test["note"] else "not significant"
    point = {
        "a": a,
        "b": b,
        "value_text": verdict,
        "gap": unit.text(value, "+"),
        "interval": unit.interval(low, high, "+"),
    }
    return point | {"p": MISSING_TEXT if p is None else p_text(p), "test": "" if test is None else test["test"]}


def _place(channel: Any, name: str, domain: Sequence[str], title: str | None = None, **axis: Any) -> Any:
    """Return the encoding of an axis of names."""
    drawn = alt.Axis(title=title, domain=False, ticks=False, **axis)
    return channel(name, type="nominal", sort=None, scale=alt.Scale(domain=list(domain)), axis=drawn)


def confusion_picture(summary: Summary) -> Picture | None:
    """Draw documents by true and predicted class, for a cell that the reader selects below the picture."""
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
    # Names are replaced by numbers: with many cells, names would be most of the page.
    rows = [(of[c], code[t], code[p], int(n)) for c, t, p, n in zip(*columns, strict=True) if c in of]
    points = [dict(zip("ctpn", row, strict=True)) for row in rows]
    numbered = len(classes) <= MOST_NUMBERED
    data = alt.Chart(rows_data(points)).encode(
        _place(alt.Y, "truth", classes, "true", labelLimit=140),
        _place(alt.X, "given", classes, "predicted", labelLimit=140, orient="top", labelAngle=-35),
        tooltips({"cell": "cell", "truth": "true", "given": "predicted", "n": "documents"}),
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
    title = "Documents by true and predicted class, with correct predictions on the diagonal"
    return Picture("confusions", title, f"{title}. The numbers are in confusions.csv.", page_spec(spec_of(drawn)))


def _shaded(data: alt.Chart, test: str, colour: str) -> alt.Chart:
    """Return the layer of correct or of wrong predictions, with its own scale of opacity."""
    scale = alt.Scale(type="sqrt", range=[0.06, 0.7], domainMin=0)
    opacity = alt.FillOpacity("n:Q", legend=None, scale=scale)
    squares = data.transform_filter(f"datum.truth {test} datum.given").mark_rect(fill=colour, cornerRadius=2)
    layer: alt.Chart = squares.encode(opacity)
    return layer
