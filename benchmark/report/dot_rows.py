"""Rows of a figure of cells: their labels and groups."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.report.grids import literature_spelling, varying_columns

if TYPE_CHECKING:
    from benchmark.analysis.summary import CellInfo, Summary

GROUPING_COLUMNS = ("variant", "task", "weighting")  # the first column that varies groups the rows
#: Most characters of a label: the plot needs the larger part of the width.
LONGEST_LABEL = 48


@dataclass(frozen=True)
class DotRow:
    """One row of the figure: a cell, or the heading of a group."""

    label: str
    cell: str = ""


def figure_rows(summary: Summary) -> list[DotRow]:
    """Return the rows from top to bottom, groups in the order of their first cells.

    If a label is longer than `LONGEST_LABEL`, all cells are labelled by their ids.
    """
    rows = _grouped(summary)
    if max((len(row.label) for row in rows), default=0) <= LONGEST_LABEL:
        return rows
    return [DotRow(textwrap.fill(cell.id, LONGEST_LABEL), cell.id) for cell in summary.cells]


def _grouped(summary: Summary) -> list[DotRow]:
    names = varying_columns(summary.cells)
    shared = next((name for name in GROUPING_COLUMNS if name in names), None)
    if shared is None:
        return _labelled(summary.cells, names)
    groups: dict[str, list[CellInfo]] = {}
    for cell in summary.cells:
        groups.setdefault(cell.columns.get(shared, ""), []).append(cell)
    others = [name for name in names if name != shared]
    rows: list[DotRow] = []
    for value, cells in groups.items():
        rows += [DotRow(literature_spelling(value) or f"no {shared}"), *_labelled(cells, others)]
    return rows


def _labelled(cells: tuple[CellInfo, ...] | list[CellInfo], names: list[str]) -> list[DotRow]:
    values = ([cell.columns.get(name, "") for name in names] for cell in cells)
    labels = [
        " · ".join(literature_spelling(value) for value in parts if value not in ("", "none")) for parts in values
    ]
    if not all(labels) or len(set(labels)) < len(labels):
        labels = [cell.id for cell in cells]
    return [DotRow(label, cell.id) for label, cell in zip(labels, cells, strict=True)]
