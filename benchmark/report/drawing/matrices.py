"""Picture of confusion matrices for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.report.drawing.spec import Picture, page_spec, rows_data, spec_of, tooltips
from benchmark.report.drawing.theme import INK, OURS, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.summary import Summary

#: Larger matrices are not drawn: their numbers are in the files beside the page.
MOST_CLASSES, MOST_CONFUSIONS = 60, 40_000
MOST_NUMBERED = 12  # with more classes, the squares have no room for numbers


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
    # Numbers instead of names, and lists instead of rows: with many cells, the others would be most of the page.
    points: list[dict[str, Any]] = [{"c": i, "k": [], "n": []} for i in range(len(cells))]
    for cell, truth, predicted, n in zip(*columns, strict=True):
        if cell in of:
            points[of[cell]]["k"].append(code[truth] * len(classes) + code[predicted])
            points[of[cell]]["n"].append(int(n))
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
        .transform_flatten(["k", "n"])
        .transform_calculate(cell="cells[datum.c]", truth=f"classes[floor(datum.k / {len(classes)})]")
        .transform_calculate(given=f"classes[datum.k % {len(classes)}]")
        .properties(**step)
    )
    title = "Documents; rows: true class; columns: predicted class; diagonal: correct"
    return Picture("confusions", title, f"{title}. The numbers are in confusions.csv.", page_spec(spec_of(drawn)))


def _shaded(data: alt.Chart, test: str, colour: str) -> alt.Chart:
    """Return the layer of correct or of wrong predictions, with its own scale of opacity."""
    scale = alt.Scale(type="sqrt", range=[0.06, 0.7], domainMin=0)
    opacity = alt.FillOpacity("n:Q", legend=None, scale=scale)
    squares = data.transform_filter(f"datum.truth {test} datum.given").mark_rect(fill=colour, cornerRadius=2)
    layer: alt.Chart = squares.encode(opacity)
    return layer
