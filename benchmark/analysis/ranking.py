"""Order of cells by their main score, and how each compares with another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing

if TYPE_CHECKING:
    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary

#: What a cell is that others are compared with, and the term for a comparison that decides nothing.
BASELINE, NOT_SHOWN = "baseline", "no clear difference"


def ranked_cells(summary: Summary) -> tuple[str, ...]:
    """Return the ids of the cells, the best of each setting first."""
    sign = -1 if summary.more_is_better(summary.main_metric) else 1

    def key(cell: str) -> tuple[bool, float]:
        value = summary.headlines.get((cell, summary.main_metric), {}).get("value", math.nan)
        return is_missing(value), 0.0 if is_missing(value) else sign * value

    settings: dict[tuple[object, ...], list[str]] = {}
    for cell in summary.cells:  # scores of one setting can be put in one order
        where = (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, cell.columns.get("what"))
        settings.setdefault(where, []).append(cell.id)
    return tuple(cell for cells in settings.values() for cell in sorted(cells, key=key))


def first_comparisons(summary: Summary) -> dict[str, PlannedComparison]:
    """Return the first planned comparison of each cell that is compared with another, by its id."""
    return {pair.a.id: pair for pair in reversed(planned_comparisons(summary))}


def shown_outcomes(summary: Summary) -> dict[str, str]:
    """Return what each cell is to the one that it is first compared with: an outcome, `BASELINE`, or "" without one."""
    first = first_comparisons(summary)
    bases = {pair.b.id for pair in first.values()}
    return {
        cell.id: first[cell.id].outcome_for(cell.id) if cell.id in first else BASELINE if cell.id in bases else ""
        for cell in summary.cells
    }
