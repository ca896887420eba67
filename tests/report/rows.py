"""Rows of frames, and summaries and charts of a few of them, for tests."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from benchmark.analysis.figures import POINT_COLUMNS, Chart
from benchmark.analysis.formatting.labels import CellInfo
from benchmark.analysis.summary import (
    SUMMARY_TABLES,
    Summary,
    summary_table,
)

NAN = math.nan


def summary_of(
    names: str = "abc",
    *,
    metric: str = "accuracy",
    gaps: Any = (),
    tests: Any = (),
    scores: Any = None,
    columns: Any = None,
    **changes: Any,
) -> Summary:
    """Make a summary of cells named by letters; the first has the best score."""
    given = columns or {}
    cells = tuple(
        CellInfo(**{"id": name, "variant": "base", "task": "", "method": name, **given.get(name, {})}) for name in names
    )
    rows = [(name, "all", metric, 0.9 - i / 10, 0.8 - i / 10, 0.95 - i / 10, 10, i) for i, name in enumerate(names)]
    return Summary(
        "made",
        "Made",
        None,
        cells,
        summary_table("scores", rows if scores is None else scores),
        differences=summary_table("differences", gaps),
        significance=summary_table("significance", tests),
        **changes,
    )


def verdict(cell: str, published: str = "90.00", **changes: Any) -> tuple[Any, ...]:
    row = dict.fromkeys(SUMMARY_TABLES["verdicts"], "") | dict.fromkeys(("between_low", "between_high"), NAN)
    row |= {"cell": cell, "metric": "accuracy", "kind": "result", "published": published, "unit": "percent"}
    row |= {"value": 91.0, "low": 89.0, "high": 93.0, "documents": 10.0, "widest": 2.0}
    return tuple((row | {"verdict": "consistent"} | changes).values())


def verdicts_of(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return summary_table("verdicts", rows)


def result(a: str, b: str, p_holm: float | None = 0.01, note: str = "", kind: str = "sign") -> tuple[Any, ...]:
    return (a, b, kind, 20, 1.5, p_holm, p_holm, 3, note)


def claim(name: str, verdict: str, holds: int, of: int, whole: int | None = None, **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(SUMMARY_TABLES["claims"], "") | {"claim": name, "text": f"Text of {name}."}
    row["rule"] = "the scores"
    row |= {"verdict": verdict, "holds": holds, "of": of, "whole": whole or of}
    return row | {"strict_verdict": verdict, "strict_holds": holds, "strict_rule": "sign"} | more


def claims_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return summary_table("claims", [tuple(row[name] for name in SUMMARY_TABLES["claims"]) for row in rows])


def points_of(panel: str, series: str, x: Any, y: Any, low: Any = NAN, high: Any = NAN) -> pd.DataFrame:
    """The points of a line of a panel."""
    own = {"panel": panel, "series": series, "x": [float(each) for each in x], "y": y, "low": low, "high": high}
    return pd.DataFrame(own)[list(POINT_COLUMNS)]


def chart_of(*lines: pd.DataFrame, **changes: Any) -> Chart:
    given: dict[str, Any] = {"name": "c", "title": "Chart", "x_label": "Size", "y_label": "Error (%)", "scale": 100.0}
    return Chart(**(given | {"points": pd.concat(lines, ignore_index=True), "bars": "95% interval"} | changes))


def curve(low: Any = NAN, high: Any = NAN, **changes: Any) -> Chart:
    first = points_of("First\nsecond", "one", (1, 10), (0.5, 0.75), low, high)
    return chart_of(first, points_of("Other", "two", (10,), (0.25,)), **changes)
