"""Facts of each cell that its tables and figures show, the best of each setting first, and lines on claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import first_comparisons, ranked_cells, shown_outcomes
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.formatting.published_rows import in_shown_unit
from benchmark.analysis.formatting.units import display_factor, display_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import CellInfo, Summary


@dataclass(frozen=True)
class CellFacts:
    """What is shown of a cell.

    Parameters
    ----------
    info : CellInfo
    score : mapping
        Headline row of its main score, {} without one.
    verdict : mapping
        Row of the published value beside it, in the unit in which the metric is shown; {} without one.
    pair : PlannedComparison or None
        Its first planned comparison.
    outcome : str
        Outcome of that comparison, "better", "worse" or why it is neither; `BASELINE` where others are compared with
        it, and else "".
    cost : mapping
        Its row of costs, {} without one.
    failed : bool
    numbers : dict of str to float or None
        Numbers of its bar in the displayed unit: value, low, high, published, base_low and base_high.
    """

    info: CellInfo
    score: Mapping[str, Any]
    verdict: Mapping[Any, Any]
    pair: PlannedComparison | None
    outcome: str
    cost: Mapping[Any, Any]
    failed: bool
    numbers: dict[str, float | None]


def cell_facts(summary: Summary) -> list[CellFacts]:
    """Return the facts of all cells, the best of each setting first."""
    metric, scores, verdicts = summary.main_metric, summary.headlines, main_verdicts(summary)
    unit, first, outcomes = (
        display_unit(metric, summary.quantities),
        first_comparisons(summary),
        shown_outcomes(summary),
    )
    costs = {row["cell"]: row for row in summary.costs.to_dict("records")}
    cells, facts = {cell.id: cell for cell in summary.cells}, []
    for name in ranked_cells(summary):
        score, verdict, pair = scores.get((name, metric), {}), verdicts.get(name, {}), first.get(name)
        base = scores.get((pair.b.id, metric), {}) if pair else {}
        ends: dict[str, Any] = {end: score.get(end) for end in ("value", "low", "high")}
        ends |= {f"base_{end}": base.get(end) for end in ("low", "high")}
        numbers = {end: None if is_missing(number) else unit.scale * float(number) for end, number in ends.items()}
        factor = display_factor(verdict["unit"], metric, summary.quantities) if verdict else 1.0
        numbers["published"] = factor * float(verdict["published"]) if verdict else None
        shown, failed = in_shown_unit(verdict) if verdict else {}, name in summary.failures
        facts.append(CellFacts(cells[name], score, shown, pair, outcomes[name], costs.get(name, {}), failed, numbers))
    return facts


def main_verdicts(summary: Summary) -> dict[str, dict[Any, Any]]:
    """Return, by cell, the row of verdicts on the main metric that the table of cells shows."""
    chosen: dict[str, dict[Any, Any]] = {}
    for row in summary.verdicts.to_dict("records"):
        if row["metric"] == summary.main_metric and not row["reading"]:
            chosen.setdefault(row["cell"], row)
    return {cell.id: chosen[cell.id] for cell in summary.cells if cell.id in chosen}


def further_metrics(summary: Summary) -> list[str]:
    """Return the metrics beside the main one, without micro-F1 and accuracy where they repeat each other."""

    def values(metric: str) -> dict[str, Any]:
        return {cell: row["value"] for (cell, of), row in summary.headlines.items() if of == metric}

    main, *others = summary.headline_metrics or (summary.main_metric,)
    equal = values("micro-f1") == values("accuracy")
    again = ({"micro-f1", "accuracy"} if main in ("micro-f1", "accuracy") else {"micro-f1"}) if equal else set()
    return [metric for metric in others if metric not in again]


def claim_facts(summary: Summary) -> list[dict[str, str]]:
    """Return the claims that this run decides, in full or in part: sign, word and tone, text, and how many hold."""
    found = []
    for row in summary.claims.to_dict("records"):
        sign, word, tone = ("✓", "holds", "good") if row["holds"] == row["of"] else ("✗", "fails", "bad")
        sign, word, tone = ("◐", "holds in part", "half") if 0 < row["holds"] < row["of"] else (sign, word, tone)
        counts = f"{row['holds']} of {row['of']} hold here"
        more = row["whole"] - row["of"]
        counts += f" ({more} more on other corpora)" if more > 0 else ""
        counts += f"; {row['strict_holds']} by our stricter test" if row["strict_verdict"] != "no test" else ""
        counts += f" under {row['variant']}" if row["variant"] else ""
        counts += f"; not counted: {row['counted']}" if row["counted"] else ""
        found.append({"sign": sign, "word": word, "tone": tone, "text": row["text"], "counts": counts})
    return found
