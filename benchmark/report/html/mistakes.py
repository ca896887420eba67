"""Section of the documents that most cells misclassify: a square for each document and method, and what it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2.utils import htmlsafe_json_dumps

from benchmark.analysis.ranking import ranked_cells
from benchmark.report.drawing.spec import drawable_text
from benchmark.report.html.render import JSON_FORMAT
from benchmark.report.html.section import PageSection
from benchmark.report.tables import mistake_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.analysis.hardest_documents import DocumentExplanation
    from benchmark.analysis.summary import CellInfo, Summary

    #: Explanations by task and document.
    Explanations = Mapping[tuple[str, str], DocumentExplanation]

_NO_TEXTS = "`bench report` with the folder of this page and `--html` adds texts, nearest training documents and words."

_TOO_LONG = "The page has room for the texts of the first {} documents; `bench explain` shows the others."


def mistakes_section(summary: Summary, explanations: Explanations, room: int) -> PageSection:
    """Return the section of the hardest documents.

    Parameters
    ----------
    summary : Summary
    explanations : mapping of (str, str) to DocumentExplanation
        Explanations by task and document; the page shows ids and classes alone of the others.
    room : int
        Most bytes of all explanations; those of the first documents, which most cells misclassify, are shown.
    """
    grid = mistake_table(summary.mistakes)
    squares = _squares(summary, explanations, room) if summary.hardest else {}
    shown = sum("explained" in row for row in squares.get("rows", ()))
    known = sum((document.task, document.name) in explanations for document in summary.hardest)
    note = "" if explanations or not grid.rows else _NO_TEXTS
    note = _TOO_LONG.format(shown) if shown < known else note
    return PageSection(
        grid.title,
        grid=grid,
        file="mistakes.csv",
        squares=squares,
        lines=(note,) if note else (),
    )


def _squares(summary: Summary, explanations: Explanations, room: int) -> dict[str, Any]:
    """Return the data of the squares, with the number of each label, split and document in the list `names`."""
    infos = {cell.id: cell for cell in summary.cells}
    predicting = {name for document in summary.hardest for name in document.predicted}
    ordered = [infos[name] for name in ranked_cells(summary) if name in predicting]
    alone = len({cell.task for cell in ordered}) == 1
    columns = list(dict.fromkeys(_column(cell, alone=alone) for cell in ordered))
    cells: dict[str, list[str | None]] = {cell.task: [None] * len(columns) for cell in ordered}
    for cell in ordered:
        cells[cell.task][columns.index(_column(cell, alone=alone))] = cell.id
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(drawable_text(name), len(names))

    rows = list[dict[str, Any]]()
    room -= len(_TOO_LONG)
    for document in summary.hardest:
        predicted = [-1 if name is None else number(document.predicted[name]) for name in cells[document.task]]
        row: dict[str, Any] = {"fold": number(document.fold), "truth": number(document.truth), "predicted": predicted}
        row |= {"task": document.task} if document.task else {}
        explanation = explanations.get((document.task, document.name))
        if explanation and room > 0:
            before = len(names)
            row["explained"] = _explained(explanation, number)
            room -= len(
                str(
                    htmlsafe_json_dumps([{"explained": row["explained"]}, list(names)[before:]], **JSON_FORMAT)
                ).encode()
            )
            if room < 0:
                del row["explained"]
                for name in list(names)[before:]:
                    del names[name]
        rows.append(row)
    return {"columns": columns, "cells": cells, "names": list(names), "rows": rows}


def _column(cell: CellInfo, *, alone: bool) -> str:
    """Return the name of the column of a cell, which the cells of the same method on other tasks share."""
    return cell.id if alone else "-".join(name for name in (cell.method, cell.choice) if name)


def _explained(found: DocumentExplanation, number: Callable[[str], int]) -> dict[str, Any]:
    """Return an explanation as data, with the numbers of names that several explanations share."""
    parts = {
        "text": drawable_text(found.text),
        "cell": number(found.cell),
        "values": drawable_text(found.values),
        "near": number(found.similarity),
        "nearest": [[number(name), number(of), f"{value:.4g}"] for name, of, value in found.nearest],
        "words": [[number(of), drawable_text(", ".join(words))] for of, words in found.words.items()],
        "problem": drawable_text(found.problem),
    }
    return {name: part for name, part in parts.items() if part not in ("", [])}
