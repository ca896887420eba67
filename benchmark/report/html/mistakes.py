"""Section of the documents that most cells misclassify: a square for each document and method, and what it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.report.dot_rows import ranking
from benchmark.report.escapes import escape_controls
from benchmark.report.grids import misclassified_grid
from benchmark.report.html.section import PageSection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.analysis.hardest_documents import DocumentExplanation
    from benchmark.analysis.summary import CellInfo, Summary

    #: Explanations by task and document.
    Explanations = Mapping[tuple[str, str], DocumentExplanation]

_NO_TEXTS = "`bench report` with the folder of this page and `--html` adds texts, nearest training documents and words."


def mistakes_section(summary: Summary, explanations: Explanations) -> PageSection:
    """Return the section of the hardest documents.

    Parameters
    ----------
    summary : Summary
    explanations : mapping of (str, str) to DocumentExplanation
        Explanations by task and document; the page shows ids and classes alone of the others.
    """
    grid = misclassified_grid(summary.mistakes)
    note = "" if explanations or not grid.rows else _NO_TEXTS
    return PageSection(
        grid.title,
        grid=grid,
        file="mistakes.csv",
        descending=frozenset({"wrong"}),
        squares=_squares(summary, explanations) if summary.hardest else {},
        lines=(note,) if note else (),
    )


def _squares(summary: Summary, explanations: Explanations) -> dict[str, Any]:
    """Return the data of the squares, by short names: predictions are numbers of labels."""
    infos = {cell.id: cell for cell in summary.cells}
    predicting = {name for document in summary.hardest for name in document.predicted}
    ordered = [infos[name] for name in ranking(summary).order if name in predicting]
    alone = len({cell.task for cell in ordered}) == 1
    columns = list(dict.fromkeys(_column(cell, alone=alone) for cell in ordered))
    cells: dict[str, list[str | None]] = {cell.task: [None] * len(columns) for cell in ordered}
    for cell in ordered:
        cells[cell.task][columns.index(_column(cell, alone=alone))] = cell.id
    labels: dict[str, int] = {}
    rows = []
    for document in summary.hardest:
        predicted = [
            -1 if name is None else labels.setdefault(document.predicted[name], len(labels))
            for name in cells[document.task]
        ]
        truth = labels.setdefault(document.truth, len(labels))
        explained = explanations.get((document.task, document.name))
        row: dict[str, Any] = {"fold": document.fold, "truth": truth, "predicted": predicted}
        row |= {"task": document.task} if document.task else {}
        rows.append(row | ({"explained": _explained(explained)} if explained else {}))
    return {"columns": columns, "cells": cells, "labels": [escape_controls(name) for name in labels], "rows": rows}


def _column(cell: CellInfo, *, alone: bool) -> str:
    """Return the name of the column of a cell, which the cells of the same method on other tasks share."""
    return cell.id if alone else "-".join(name for name in (cell.method, cell.choice) if name)


def _explained(found: DocumentExplanation) -> dict[str, Any]:
    parts = {
        "text": escape_controls(found.text),
        "cell": found.cell,
        "values": escape_controls(found.values),
        "near": found.similarity,
        "nearest": [[escape_controls(name), escape_controls(of), f"{value:.4g}"] for name, of, value in found.nearest],
        "words": [[escape_controls(of), escape_controls(", ".join(words))] for of, words in found.words.items()],
        "problem": escape_controls(found.problem),
    }
    return {name: part for name, part in parts.items() if part}
