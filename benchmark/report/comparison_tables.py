"""Tables of comparisons: planned ones, every test, and what claims compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import NOT_SHOWN, UNDECIDED, planned_comparisons
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import MISSING_TEXT, display_unit, is_missing, p_text
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.report.tables import BY_OURS, BY_PAPER, INTERVAL, NOTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary

TEST_TITLES = {"sign": "sign", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
_P_HOLM = Column("p (Holm)", PLAIN, detail=1, note=NOTES["holm"])
#: What tables of claims say of a comparison, after its difference.
_TESTED = (
    *(Column(name, PLAIN, note=NOTES["strict p"]) for name in ("p", "p (Holm)")),
    *(Column("detectable", PLAIN, note=NOTES["detectable"]), BY_PAPER, BY_OURS),
)


def comparison_table(summary: Summary) -> Table:
    """Return a table of the planned comparisons, the largest lead of the first cell on top, with the leading test."""
    pairs = sorted(planned_comparisons(summary), key=lambda pair: -summary.sign * pair.value)
    rows = [
        (
            pair.a.id,
            pair.b.id,
            pair.value,
            (pair.low, pair.high),
            MISSING_TEXT if pair.p_holm is None else f"{p_text(pair.p_holm)} (of {pair.family:,})",
            _outcome_text(pair),
        )
        for pair in pairs
    ]
    numbers = Column("first − second", summary.unit, "+"), Column(INTERVAL, summary.unit, "+", detail=2)
    tests = list(dict.fromkeys(pair.test for pair in pairs if pair.test))
    named = " and ".join(TEST_TITLES.get(test, test) for test in tests)
    note = f"p is that of the {named} test." if tests else ""
    if any("smallest p" in pair.note for pair in pairs):
        note += " Not testable: too few documents or splits differ for p (Holm) to be below 0.05, whatever the outcome."
    header = ("first", "second", *numbers, _P_HOLM, Column("result", verdict=True))
    return Table.of("Comparisons", header, rows, note)


def _outcome_text(pair: PlannedComparison) -> str:
    """Write the outcome of a comparison."""
    if pair.better is not None:
        return f"{'first' if pair.outcome == 'a' else 'second'} is better"
    return NOT_SHOWN if pair.outcome == UNDECIDED else pair.note.partition(" (")[0] or pair.outcome


def claim_comparison_table(comparisons: pd.DataFrame, title: str = "") -> Table:
    """Return a table of comparisons of one claim, named as in its picture, or under a title those of several."""
    compared, records = comparisons.to_dict("records"), []
    for key, row in zip(_comparison_keys(compared), compared, strict=True):
        ratio = row["relation"] == "ratio"
        unit, sign = (PLAIN, "") if ratio else (display_unit(row["metric"], DIAGNOSTIC_METRICS), "+")
        suffix = "" if unit.name == "percent" else unit.suffix
        ours, published = (
            None if is_missing(row[name]) else f"{'ratio ' * ratio}{unit.text(row[name], sign)}{suffix}"
            for name in ("value", "published")
        )
        p_value, p_holm = (None if is_missing(row[name]) else p_text(row[name]) for name in ("p_value", "p_holm"))
        record = {"comparison": key, "ours": ours, "published": published, "p": p_value, "p (Holm)": p_holm}
        record |= {"claim": row["claim"] if title else None, INTERVAL: unit.interval(row["low"], row["high"], sign)}
        record["detectable"] = None if is_missing(row["detectable"]) else f"±{unit.text(row['detectable'])}"
        records.append(record | {BY_PAPER.name: row["paper_verdict"], BY_OURS.name: row["strict_verdict"]})
    numbers = [Column(name, PLAIN) for name in ("ours", INTERVAL, "published")]
    return Table.of(
        title or "Comparisons of a claim", ("claim", "comparison", *numbers, *_TESTED), records, NOTES["gap"]
    )


def _comparison_keys(rows: Sequence[dict[Any, Any]]) -> list[str]:
    """Return the names of a claim's comparisons, with configuration, reading and metric where there are several."""
    several = [name for name in ("config", "variant", "metric") if len({row[name] for row in rows}) > 1]
    prefixes = [", ".join(row[name] for name in several if row[name]) for row in rows]
    pairs = [f"{row['a']} {'/' if row['relation'] == 'ratio' else '−'} {row['b']}" for row in rows]
    return [f"{prefix}: {pair}" if prefix else pair for prefix, pair in zip(prefixes, pairs, strict=True)]
