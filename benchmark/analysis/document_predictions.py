"""Predictions of a cell, document by document, and the documents on which two cells disagree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import ALL_CLASSES
from benchmark.evaluation.public_test_sets import DOCUMENT_COLUMNS, LABEL_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell

#: Documents that are shown of those on which two cells disagree.
MOST_DISAGREEMENTS = 10


@dataclass(frozen=True, slots=True)
class DocumentPrediction:
    """Prediction of one tested document.

    Parameters
    ----------
    split : int
        Position among the splits of the cell.
    fold, document : str
        Names of the split and of the document.
    row : int
        Row of the document in its task.
    predicted, truth : tuple of str
        Predicted and true classes: one, unless documents may have several or none.
    tied : bool
        Whether a tie decided any of the classes.
    """

    split: int
    fold: str
    document: str
    row: int
    predicted: tuple[str, ...]
    truth: tuple[str, ...]
    tied: bool

    @property
    def right(self) -> bool:
        """Whether the predicted classes are the true ones."""
        return self.predicted == self.truth

    @property
    def label(self) -> str:
        """The predicted classes as one text."""
        return LABEL_SEPARATOR.join(sorted(self.predicted))


def document_predictions(run: RunPredictions, cell: Cell) -> Iterator[DocumentPrediction]:
    """Yield the predictions of a cell, split by split; nothing for a cell without predictions."""
    candidates = run.scored.chosen.get(cell.id)
    if candidates is None:
        return
    documents, found = run.predictions.tasks[cell.of_task], selected_predictions(run.predictions, cell, candidates)

    def named(label: Any) -> tuple[str, ...]:
        codes = np.flatnonzero(label) if documents.multilabel else [label]
        return tuple(documents.classes[code] for code in codes)

    labels, ties = (np.split(each, found.bounds[1:-1]) for each in (found.predicted, found.tied))
    for number, split in enumerate(run.predictions.splits[cell.of_splits]):
        for row, label, tied in zip(split.test, labels[number], ties[number], strict=True):
            name, truth = documents.ids[row], named(documents.truth[row])
            yield DocumentPrediction(number, split.name, name, int(row), named(label), truth, bool(np.any(tied)))


def label_frame(run: RunPredictions, *, ties: bool = True) -> pd.DataFrame:
    """Return the predicted labels of every cell with predictions, a row for each tested document.

    The columns are `DOCUMENT_COLUMNS` and one for each cell; several labels of a document are one text. `ties` says
    whether to include predictions that a tie decided.
    """
    frames = []
    for cell in run.experiment.cells:
        if found := list(document_predictions(run, cell)):
            rows = [
                (each.document, each.fold, LABEL_SEPARATOR.join(sorted(each.truth)), each.label)
                for each in found
                if ties or not each.tied
            ]
            frames.append(pd.DataFrame(rows, columns=[*DOCUMENT_COLUMNS, cell.id]).set_index(list(DOCUMENT_COLUMNS)))
    return pd.concat(frames, axis=1).reset_index() if frames else pd.DataFrame(columns=list(DOCUMENT_COLUMNS))


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
