"""Documents on which two cells disagree, with what each of them predicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.document_predictions import document_predictions
from benchmark.config.model import ALL_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.analysis.scoring import RunPredictions

#: Documents that are shown of those on which two cells disagree.
MOST_DISAGREEMENTS = 10


@dataclass(frozen=True)
class DocumentExplanation:
    """Text of a document, and what speaks for the prediction of one cell.

    Parameters
    ----------
    text : str
        Beginning of the text.
    values : str
        Decision values of the likeliest classes, in words.
    words : mapping of str to sequence of str
        Words of the document that speak most for a class, by class.
    problem : str
        Reason for which the cell can't be trained again, or "".
    """

    text: str
    values: str = ""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class Disagreement:
    """Two cells beside each other: how often exactly one is right, and some of those documents.

    Parameters
    ----------
    cells : (str, str)
        Ids of the cells, the better one first.
    right : (int, int)
        Documents on which only the first cell, and only the second cell, is right.
    documents : tuple of (DocumentPrediction, DocumentPrediction)
        Predictions of both cells for at most `MOST_DISAGREEMENTS` of these documents.
    """

    cells: tuple[str, str]
    right: tuple[int, int]
    documents: tuple[tuple[DocumentPrediction, ...], ...]


def disagreement(run: RunPredictions, pair: tuple[str, str]) -> Disagreement | None:
    """Return where two cells of one task disagree; None if their documents are tested repeatedly, as those of curves.

    The documents are some on which only one of the cells is right, at most as many of one kind as of the other, spread
    over all of them.
    """
    one, other = cells = [next(cell for cell in run.experiment.cells if cell.id == name) for name in pair]
    first = next(iter(run.experiment.variants))  # other variants are sweeps over the same documents
    whole = all(cell.of_class in ("", ALL_CLASSES) and cell.terms is None and cell.variant == first for cell in cells)
    tested = np.concatenate([split.test for split in run.predictions.splits[one.of_splits]])
    if not whole or one.of_splits != other.of_splits or len(np.unique(tested)) < len(tested):
        return None
    rows = list(zip(*(document_predictions(run, cell) for cell in cells), strict=True))
    right = np.array([[each.right for each in row] for row in rows])
    only = [np.flatnonzero(right[:, i] & ~right[:, 1 - i]) for i in (0, 1)]
    most = MOST_DISAGREEMENTS // 2
    shown = [rows_of[np.linspace(0, len(rows_of) - 1, min(most, len(rows_of))).astype(np.intp)] for rows_of in only]
    return Disagreement(pair, (len(only[0]), len(only[1])), tuple(rows[row] for row in np.concatenate(shown)))
