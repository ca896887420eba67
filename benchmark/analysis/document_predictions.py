"""Predictions of a cell, document by document, with the names of documents and classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.model_selection import selected_predictions
from benchmark.evaluation.public_test_sets import DOCUMENT_COLUMNS, LABEL_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell


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
        return LABEL_SEPARATOR.join(self.predicted)


def document_predictions(run: RunPredictions, cell: Cell) -> Iterator[DocumentPrediction]:
    """Yield the predictions of a cell, split by split; nothing for a cell without predictions."""
    candidates = run.scored.chosen.get(cell.id)
    if candidates is None:
        return
    documents, found = run.predictions.tasks[cell.of_task], selected_predictions(run.predictions, cell, candidates)

    def named(label: Any) -> tuple[str, ...]:
        codes = np.flatnonzero(label) if documents.multilabel else [label]
        return tuple(documents.classes[code] for code in codes)

    labels, ties = found.by_split, found.tied_by_split
    for number, split in enumerate(run.predictions.splits[cell.of_splits]):
        for row, label, tied in zip(split.test, labels[number], ties[number], strict=True):
            name, truth = documents.ids[row], named(documents.truth[row])
            yield DocumentPrediction(number, split.name, name, int(row), named(label), truth, bool(np.any(tied)))


def label_frame(run: RunPredictions) -> pd.DataFrame:
    """Return the predicted labels of every cell with predictions, a row for each tested document.

    The columns are `DOCUMENT_COLUMNS` and one for each cell; several labels of a document are one text.
    """
    frames = []
    for cell in run.experiment.cells:
        if found := list(document_predictions(run, cell)):
            rows = [(each.document, each.fold, LABEL_SEPARATOR.join(each.truth), each.label) for each in found]
            frames.append(pd.DataFrame(rows, columns=[*DOCUMENT_COLUMNS, cell.id]).set_index(list(DOCUMENT_COLUMNS)))
    return pd.concat(frames, axis=1).reset_index() if frames else pd.DataFrame(columns=list(DOCUMENT_COLUMNS))
