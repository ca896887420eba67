"""Documents that most cells misclassify, and documents on which two cells disagree, with what each cell predicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import ALL_CLASSES
from benchmark.evaluation.predictions import SplitKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.predictions import Predictions, TaskKey
    from benchmark.evaluation.score_table import ScoreTable

#: Maximal number of documents over all tasks, which have equal parts of it.
MAX_HARD_DOCUMENTS = 200
#: Documents that are shown of those on which two cells disagree.
MOST_DISAGREEMENTS = 10


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


@dataclass(frozen=True)
class Disagreement:
    """Two cells beside each other: how often exactly one is right, and some of those documents.

    Parameters
    ----------
    cells : (str, str)
        Ids of the cells, the better one first.
    right : (int, int)
        Documents on which only the first cell, and only the second cell, is right.
    documents : tuple of HardDocument
        At most `MOST_DISAGREEMENTS` of these documents, with the predictions of both cells.
    """

    cells: tuple[str, str]
    right: tuple[int, int]
    documents: tuple[HardDocument, ...]


def hardest_documents(experiment: Experiment, predictions: Predictions, scored: ScoreTable) -> tuple[HardDocument, ...]:
    """Return the documents that most cells misclassify, task by task, those of most cells first."""
    tasks = _tested_once(experiment, scored)
    most = MAX_HARD_DOCUMENTS // max(len(tasks), 1)
    found = list[HardDocument]()
    for key, cells in tasks.items():
        wrong = np.sum([_misses(outcome) for outcome in cells.values()], axis=0)
        worst = np.lexsort((_tested(predictions, key), -wrong))[:most]
        found += _documents(predictions, key, cells, worst[wrong[worst] > 0])
    return tuple(found)


def disagreement(
    experiment: Experiment, predictions: Predictions, scored: ScoreTable, pair: tuple[str, str]
) -> Disagreement | None:
    """Return where two cells of one task disagree; None if their documents are tested repeatedly.

    The documents are some on which only one of the cells is right, spread over all of them, as many of one kind as of
    the other if there are enough.
    """
    for key, cells in _tested_once(experiment, scored).items():
        if cells.keys() >= set(pair):
            own = {cell: cells[cell] for cell in pair}
            first, second = (_misses(outcome) for outcome in own.values())
            only = np.flatnonzero(~first & second), np.flatnonzero(first & ~second)
            half = MOST_DISAGREEMENTS // 2
            most = [max(half, MOST_DISAGREEMENTS - len(others)) for others in only[::-1]]
            shown = [
                rows[np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.intp)]
                for rows, n in zip(only, most, strict=True)
            ]
            documents = _documents(predictions, key, own, np.concatenate(shown))
            return Disagreement(pair, (len(only[0]), len(only[1])), tuple(documents))
    return None


def _tested_once(experiment: Experiment, scored: ScoreTable) -> dict[TaskKey, dict[str, Outcome]]:
    """Return the outcomes of tables by task and cell; curves test a document repeatedly."""
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
    return cells


def _misses(outcome: Outcome) -> NDArray[np.bool_]:
    """Return whether the cell is wrong on each tested document."""
    missed = np.asarray(outcome.truth != outcome.predicted)
    return np.asarray(missed.any(axis=1)) if missed.ndim == 2 else missed


def _tested(predictions: Predictions, key: TaskKey) -> NDArray[np.intp]:
    """Return the number of each tested document in its task, in the order of the splits, as in the outcomes."""
    return np.concatenate([split.test for split in predictions.splits[SplitKey(*key, None)]])


def _documents(
    predictions: Predictions, key: TaskKey, cells: Mapping[str, Outcome], rows: NDArray[np.intp]
) -> Iterator[HardDocument]:
    """Yield tested documents of a task, by their rows in the outcomes, which are in the order of the splits."""
    documents, tested = predictions.tasks[key], _tested(predictions, key)
    folds = [split.name for split in predictions.splits[SplitKey(*key, None)] for _ in split.test]
    for row in rows:
        given = {cell: _named(documents.classes, outcome.predicted[row]) for cell, outcome in cells.items()}
        truth = _named(documents.classes, documents.truth[tested[row]])
        yield HardDocument(documents.ids[tested[row]], key.task, folds[row], truth, given)


def _named(classes: tuple[str, ...], label: Any) -> str:
    codes = np.flatnonzero(label) if np.ndim(label) else [label]
    return ", ".join(classes[code] for code in codes) or "(none)"
