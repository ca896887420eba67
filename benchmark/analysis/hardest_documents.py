"""Hardest documents: those that most cells misclassify."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import ALL_CLASSES
from benchmark.evaluation.predictions import SplitKey

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.predictions import Predictions, TaskKey
    from benchmark.evaluation.score_table import ScoreTable

#: Maximal number of documents that are listed for each task.
MAX_DOCUMENTS_PER_TASK = 100


def hardest_document_rows(experiment: Experiment, predictions: Predictions, scored: ScoreTable) -> list[list[Any]]:
    """Return the rows of the frame of mistakes: documents by the number of cells that misclassify them, highest first.

    Only tables that test each document once have such rows, since curves test a document repeatedly.
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
    return [row for key, own in cells.items() for row in _of_task(predictions, key, own)]


def _of_task(predictions: Predictions, key: TaskKey, cells: dict[str, Outcome]) -> list[list[Any]]:
    documents = predictions.tasks[key]
    # Outcomes number the documents of all tasks together, in the order in which the splits test them.
    tested = np.concatenate([split.test for split in predictions.splits[SplitKey(*key, None)]])
    wrong = np.zeros(len(documents.ids), dtype=np.intp)
    for outcome in cells.values():
        missed = outcome.truth != outcome.predicted
        wrong[tested] += missed.any(axis=1) if missed.ndim == 2 else missed
    worst = np.argsort(-wrong, kind="stable")[:MAX_DOCUMENTS_PER_TASK]
    found = []
    for row in worst[wrong[worst] > 0]:
        at = np.flatnonzero(tested == row)[0]
        given = Counter(_named(documents.classes, outcome.predicted[at]) for outcome in cells.values())
        by_label = "; ".join(f"{label} ({n})" for label, n in given.most_common())
        truth = _named(documents.classes, documents.truth[row])
        found.append([documents.ids[row], key.task, truth, int(wrong[row]), len(cells), by_label])
    return found


def _named(classes: tuple[str, ...], label: Any) -> str:
    codes = np.flatnonzero(label) if np.ndim(label) else [label]
    return ", ".join(classes[code] for code in codes) or "(none)"
