"""Hardest documents: those that most cells misclassify, with the prediction of each cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import ALL_CLASSES
from benchmark.evaluation.predictions import SplitKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.predictions import Predictions, TaskKey
    from benchmark.evaluation.score_table import ScoreTable

#: Maximal number of documents over all tasks, which have equal parts of it.
MAX_HARD_DOCUMENTS = 200


@dataclass(frozen=True)
class HardDocument:
    """Tested document that some cells misclassify.

    Parameters
    ----------
    name, task, fold, truth : str
        Id of the document, its task, the split that tests it, and its classes.
    predicted : mapping of str to str
        Predicted classes by cell, for all cells of the task.
    """

    name: str
    task: str
    fold: str
    truth: str
    predicted: Mapping[str, str]

    @property
    def wrong(self) -> int:
        """Number of cells that misclassify the document."""
        return sum(label != self.truth for label in self.predicted.values())

    @property
    def row(self) -> list[Any]:
        """Row of the document in the frame of mistakes."""
        given = Counter(self.predicted.values()).most_common()
        by_label = "; ".join(f"{label} ({n})" for label, n in given)
        return [self.name, self.task, self.truth, self.wrong, len(self.predicted), by_label]


@dataclass(frozen=True)
class DocumentExplanation:
    """Text of a document, and what speaks for the prediction of one cell.

    Parameters
    ----------
    text : str
        Beginning of the text.
    cell : str
        Id of the cell that was trained again, or "" if none was.
    values : str
        Decision values of the likeliest classes, in words.
    similarity : str
        Name of the similarity by which documents are near.
    nearest : sequence of (str, str, float)
        Ids of the nearest training documents, their classes and similarities.
    words : mapping of str to sequence of str
        Words of the document that speak most for a class, by class.
    problem : str
        Reason for which the cell can't be trained again, or "".
    """

    text: str
    cell: str = ""
    values: str = ""
    similarity: str = ""
    nearest: Sequence[tuple[str, str, float]] = ()
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problem: str = ""


def hardest_documents(experiment: Experiment, predictions: Predictions, scored: ScoreTable) -> tuple[HardDocument, ...]:
    """Return the documents that most cells misclassify, task by task, those of most cells first.

    Only tables that test each document once have such documents, since curves test a document repeatedly.
    """
    cells: dict[TaskKey, dict[str, Outcome]] = defaultdict(dict)
    first = next(iter(experiment.variants))  # other variants are sweeps over the same documents
    for cell in experiment.cells:
        outcome = scored.cells[cell.id].outcome if cell.id in scored.cells else None
        alone = cell.size is None and cell.terms is None and cell.of_class in ("", ALL_CLASSES)
        if (
            outcome is not None
            and alone
            and cell.variant == first
            and len(np.unique(outcome.documents)) == len(outcome.documents)
        ):
            cells[cell.of_task][cell.id] = outcome
    most = MAX_HARD_DOCUMENTS // max(len(cells), 1)
    return tuple(each for key, own in cells.items() for each in _of_task(predictions, key, own, most))


def _of_task(predictions: Predictions, key: TaskKey, cells: Mapping[str, Outcome], most: int) -> Iterator[HardDocument]:
    documents, splits = predictions.tasks[key], predictions.splits[SplitKey(*key, None)]
    # Outcomes number the documents of all tasks together, in the order in which the splits test them.
    tested = np.concatenate([split.test for split in splits])
    folds = [split.name for split in splits for _ in split.test]
    wrong = np.zeros(len(documents.ids), dtype=np.intp)
    for outcome in cells.values():
        missed = outcome.truth != outcome.predicted
        wrong[tested] += missed.any(axis=1) if missed.ndim == 2 else missed
    worst = np.argsort(-wrong, kind="stable")[:most]
    for row in worst[wrong[worst] > 0]:
        at = np.flatnonzero(tested == row)[0]
        given = {cell: _named(documents.classes, outcome.predicted[at]) for cell, outcome in cells.items()}
        truth = _named(documents.classes, documents.truth[row])
        yield HardDocument(documents.ids[row], key.task, folds[at], truth, given)


def _named(classes: tuple[str, ...], label: Any) -> str:
    codes = np.flatnonzero(label) if np.ndim(label) else [label]
    return ", ".join(classes[code] for code in codes) or "(none)"
