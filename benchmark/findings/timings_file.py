"""What the points of an experiment took, to the content of a file, one row a point and split, and back.

Times differ from run to run, so they stand beside the predictions and not among them.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.predictions import CLOCKS
from benchmark.report.escapes import csv_cell
from benchmark.report.tables import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.evaluation.predictions import PointKey, Predictions

_PLACE = ("variant", "task", "method", "candidate", "size", "terms", "split")
#: Seconds by part, the most bytes that the process held, and the version of the code that took them.
COLUMNS = (*_PLACE, *CLOCKS, "peak_bytes", "version")


def encode(predictions: Predictions) -> bytes:
    """The seconds and bytes as CSV, in the order of the points."""
    taken = ((place, predictions.points[key], split) for place, split, key in _rows(predictions))
    rows = (
        [
            *place,
            *point.seconds[split].tolist(),
            _bytes(point.memory[split]),
            point.versions[split] if point.versions else "",
        ]
        for place, point, split in taken
    )
    return csv_text(COLUMNS, rows).encode()


def decode(content: bytes, predictions: Predictions) -> Predictions:
    """The predictions with what their points took.

    Raises
    ------
    ValueError
        If the rows aren't those of the predictions' points, or hold what is no number.
    """
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
    places = [[csv_cell(str(word)) for word in place] for place, _, _ in _rows(predictions)]
    n = len(_PLACE)
    if header == list(COLUMNS[:-1]):  # of a run before versions were written
        header, rows = [*header, COLUMNS[-1]], [[*row, ""] for row in rows]
    if header != list(COLUMNS) or [row[:n] for row in rows] != places or any(len(row) != len(COLUMNS) for row in rows):
        raise ValueError("its rows aren't those of the predictions")
    own = iter(rows)
    points = {}
    for key, point in predictions.points.items():
        part = list(islice(own, len(point.given)))
        taken = np.array([[float(word or "nan") for word in row[n:-1]] for row in part]).reshape(-1, len(CLOCKS) + 1)
        versions = tuple(row[-1] for row in part)
        points[key] = replace(point, seconds=taken[:, : len(CLOCKS)], memory=taken[:, -1], versions=versions)
    return replace(predictions, points=points)


def _bytes(number: float) -> int | str:
    return "" if np.isnan(number) else int(number)


def _rows(predictions: Predictions) -> Iterator[tuple[list[str | int], int, PointKey]]:
    """The place in words, the split's position and the point, of every row."""
    for key in predictions.points:
        variant, task, method, candidate, size, terms = key
        numbers = ["" if number is None else number for number in (size, terms)]
        for position, split in enumerate(predictions.splits[variant, task, size]):
            yield [variant, task, method, candidate, *numbers, split.name], position, key
