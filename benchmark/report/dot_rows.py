"""Rows of a figure of cells: their labels, groups and order, and how each compares with the baseline."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.report.grids import main_verdicts, varying_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.analysis.summary import CellInfo, Summary

GROUPING_COLUMNS = ("variant", "task", "weighting")  # the first column that varies groups the rows
#: Most characters of a label: the plot needs the larger part of the width.
LONGEST_LABEL = 48
#: What a row is to the baseline of its cells, if it isn't one of the outcomes "better" and "worse".
BASELINE, NOT_SHOWN, NOT_COMPARED = "baseline", "not shown to differ", "not compared with it"


@dataclass(frozen=True)
class DotRow:
    """One row of the figure: a cell, or the heading of a group."""

    label: str
    cell: str = ""


@dataclass(frozen=True)
class Ranking:
    """Order of the cells by their main score, and how each compares with a baseline.

    Scores are put in one order only where the cells have the same variant, task, class, choice, size and terms.

    Parameters
    ----------
    order : tuple of str
        Ids of the cells, the best of each setting first.
    baselines : mapping of str to str
        Baseline by cell, for cells of settings that have one: the cell that planned comparisons are made with.
    outcomes : mapping of str to str
        "better", "worse", `BASELINE`, `NOT_SHOWN` or `NOT_COMPARED` by cell, for the same cells.
    """

    order: tuple[str, ...]
    baselines: Mapping[str, str]
    outcomes: Mapping[str, str]


def ranking(summary: Summary) -> Ranking:
    """Return the ranking of the cells of a summary."""
    settings: dict[tuple[object, ...], list[str]] = {}
    for cell in summary.cells:
        settings.setdefault(_setting(cell), []).append(cell.id)
    sign = -1 if summary.more_is_better(summary.main_metric) else 1

    def key(cell: str) -> tuple[bool, float]:
        value = summary.headlines.get((cell, summary.main_metric), {}).get("value", math.nan)
        return is_missing(value), 0.0 if is_missing(value) else sign * value

    order = tuple(cell for cells in settings.values() for cell in sorted(cells, key=key))
    baselines, outcomes = dict[str, str](), dict[str, str]()
    first: dict[tuple[object, ...], str] = {}
    pairs = [pair for pair in planned_comparisons(summary) if _setting(pair.a) == _setting(pair.b)]
    for pair in pairs:
        first.setdefault(_setting(pair.a), pair.b.id)
    for setting, base in first.items():
        baselines |= dict.fromkeys(settings[setting], base)
        outcomes |= dict.fromkeys(settings[setting], NOT_COMPARED) | {base: BASELINE}
    for pair in pairs:
        base = first[_setting(pair.a)]
        if base in (pair.a.id, pair.b.id):
            other = pair.a.id if base == pair.b.id else pair.b.id
            outcomes[other] = NOT_SHOWN if pair.better is None else pair.outcome_for(other)
    return Ranking(order, baselines, outcomes)


def _setting(cell: CellInfo) -> tuple[object, ...]:
    """Return what cells have in common whose scores can be put in one order."""
    what = cell.columns.get("what", "")
    return (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, what)


def figure_rows(summary: Summary) -> list[DotRow]:
    """Return the rows from top to bottom, groups in the order of their first cells.

    Cells are named by their ids, as in tables and sentences. They are in the order of the configuration where a paper's
    values are beside them, and else the best first. There are no groups if an id is longer than `LONGEST_LABEL`.
    """
    cells = {cell.id: cell for cell in summary.cells}
    shown = summary.cells if main_verdicts(summary) else [cells[name] for name in ranking(summary).order]
    rows = _grouped(summary, shown)
    if max((len(row.label) for row in rows), default=0) <= LONGEST_LABEL:
        return rows
    return [DotRow(textwrap.fill(cell.id, LONGEST_LABEL), cell.id) for cell in shown]


def _grouped(summary: Summary, shown: Iterable[CellInfo]) -> list[DotRow]:
    names = varying_columns(summary.cells)
    shared = next((name for name in GROUPING_COLUMNS if name in names), None)
    if shared is None:
        return [DotRow(cell.id, cell.id) for cell in shown]
    groups: dict[str, list[CellInfo]] = {cell.columns.get(shared, ""): [] for cell in summary.cells}
    for cell in shown:
        groups[cell.columns.get(shared, "")].append(cell)
    rows: list[DotRow] = []
    for value, cells in groups.items():
        rows.append(DotRow(value or f"no {shared}"))
        rows += [DotRow(cell.id, cell.id) for cell in cells]
    return rows
