"""Forest plots of claims: the differences or ratios that a claim compares, with intervals and published values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import MISSING_TEXT, is_missing, p_text
from benchmark.analysis.formatting.units import DISPLAY_UNITS, display_unit, metric_name
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.report.comparison_tables import comparison_keys
from benchmark.report.drawing.forest import FOREST_ROW, MOST_DRAWN_PAIRS, forest_axis, forest_layers
from benchmark.report.drawing.spec import Picture, round_for_output, row_panel
from benchmark.report.drawing.theme import BAD, MUTED, OURS, PAPER, PUBLISHED
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    import pandas as pd

    from benchmark.analysis.formatting.units import Unit

#: Name of a mark by the tone of its verdict, and how it looks: stroke, fill and shape.
_HOLDS, _AGAINST, _OPEN, _PUBLISHED = "holds", "against the claim", "not shown either way", "published"
_LOOKS = {
    _HOLDS: (OURS, OURS, "circle"),
    _AGAINST: (BAD, BAD, "triangle-down"),
    _OPEN: (MUTED, PAPER, "circle"),
    _PUBLISHED: (PUBLISHED, "transparent", "diamond"),
}
_BY_TONE = {"good": _HOLDS, "bad": _AGAINST}


def claim_picture(comparisons: pd.DataFrame) -> Picture | None:
    """Draw a row for each comparison of one claim, in the order of the claim; None without any.

    Parameters
    ----------
    comparisons : DataFrame
        Rows of one claim, with the columns `COMPARISONS` of `report.paper_results`.
    """
    rows = comparisons.to_dict("records")[:MOST_DRAWN_PAIRS]
    if not rows:
        return None
    ratio, metric = rows[0]["relation"] == "ratio", rows[0]["metric"]
    unit = DISPLAY_UNITS["one"] if ratio else display_unit(metric, DIAGNOSTIC_METRICS)
    lower = rows[0]["relation"] == "lower"
    ranks = {
        i: rank for rank, i in enumerate(sorted(range(len(rows)), key=lambda i: rows[i]["value"], reverse=not lower))
    }
    keys = comparison_keys(comparisons.to_dict("records"))
    points = [_point(row, unit, keys[i]) | {"place": i, "rank": ranks[i]} for i, row in enumerate(rows)]
    band = [round_for_output(unit.scale, rows[0][end]) for end in ("claimed_low", "claimed_high")]
    at, name = float(ratio), metric_name(metric, DIAGNOSTIC_METRICS)
    symbol = "points" if unit.name == "percent" else unit.symbol
    title = f"First / second, {name}" if ratio else f"First − second, {name}{f' ({symbol})' if symbol else ''}"
    ends = [end for end in band if end is not None]
    tips = {"cell": "first − second", "gap": "ours", "interval": "95% interval", "published_text": "published"}
    tips |= {"p": "p (Holm)", "result": "verdict"}
    shade = (ends[0], ends[1]) if len(ends) == len(band) else None
    layers = forest_layers(points, forest_axis(points, [at, *ends], title), _LOOKS, tips, at, shade)
    claim, number = rows[0]["claim"], len(comparisons)
    caption = f"{'Ratio' if ratio else 'Difference'} of each comparison of {claim} with its 95% interval"
    caption += "; band: the range of the claim" if shade else ""
    caption += f" (the first {MOST_DRAWN_PAIRS} of {number})" if number > MOST_DRAWN_PAIRS else ""
    holds = sum(verdict_tone(row["verdict"]) == "good" for row in comparisons.to_dict("records"))
    alt_text = f"{caption}. {holds} of {number} hold. The numbers are in the table below."
    return Picture(f"claim-{claim}", caption, alt_text, row_panel(layers, len(points), FOREST_ROW))


def _point(row: dict[Any, Any], unit: Unit, key: str) -> dict[str, Any]:
    """Return the numbers of a comparison, for drawing and as formatted text."""
    sign = "" if row["relation"] == "ratio" else "+"
    point: dict[str, Any] = {"cell": key}
    point |= {end: round_for_output(unit.scale, row[end]) for end in ("value", "low", "high", "published")}
    point |= {"gap": unit.text(row["value"], sign), "interval": unit.interval(row["low"], row["high"], sign)}
    point |= {"published_text": unit.text(row["published"], sign), "result": row["verdict"]}
    point |= {"p": MISSING_TEXT if is_missing(row["p_holm"]) else p_text(row["p_holm"])}
    point |= {"what": _BY_TONE.get(verdict_tone(row["verdict"]), _OPEN)}
    return point | ({} if point["published"] is None else {"other": _PUBLISHED})
