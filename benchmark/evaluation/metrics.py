"""From predictions to scores: confusion matrices, and the metrics computed from them.

A metric is a function of a confusion matrix alone, and takes a whole stack of them, so that a bootstrap scores
thousands of resamples in one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.integer[Any]]
    Floats = NDArray[np.float64]
    Metric = Callable[[NDArray[Any]], Floats]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one cell of an experiment predicted for every test document of every fold.

    Parameters
    ----------
    cell : str
        Name of the cell, "tf-l1-ngd".
    documents : int array, shape (n,)
        Row number of the tested document; occurs once a fold in which it is tested.
    folds : int array, shape (n,)
        Index of the split that tested it.
    truth, predicted : int array, shape (n,)
        Class indices, from 0 to n_classes - 1.
    n_classes : int
    """

    cell: str
    documents: Ints
    folds: Ints
    truth: Ints
    predicted: Ints
    n_classes: int

    def __post_init__(self) -> None:
        shapes = {array.shape for array in (self.documents, self.folds, self.truth, self.predicted)}
        if len(shapes) != 1 or self.truth.ndim != 1 or not self.truth.size:
            raise ValueError(f"{self.cell!r}: documents, folds, truth and predicted have shapes {sorted(shapes)}")
        labels = np.concatenate([self.truth, self.predicted])
        if labels.min() < 0 or labels.max() >= self.n_classes:
            raise ValueError(f"class indices of {self.cell!r} must lie between 0 and {self.n_classes - 1}")

    @classmethod
    def from_folds(
        cls, cell: str, tests: Sequence[Ints], labels: Ints, predictions: Sequence[Ints], n_classes: int
    ) -> Outcome:
        """Join folds end to end.

        Parameters
        ----------
        cell : str
        tests : sequence of int arrays
            Tested rows of each fold, `Split.test`.
        labels : int array
            True class of every row of the collection, `Documents.labels`.
        predictions : sequence of int arrays
            Predicted classes of each fold, in the order of its rows.
        n_classes : int
        """
        folds = np.repeat(np.arange(len(tests)), [len(rows) for rows in tests])
        documents = np.concatenate(tests)
        return cls(cell, documents, folds, labels[documents], np.concatenate(predictions), n_classes)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is right."""
        return np.equal(self.truth, self.predicted)

    @property
    def repeats_documents(self) -> bool:
        """Whether a document is tested in more than one fold, as random subsets do."""
        return bool(np.unique(self.documents).size < self.documents.size)


def confusion_matrix(truth: Ints, predicted: Ints, n_classes: int) -> NDArray[np.intp]:
    """Count the documents of each (true class, predicted class).

    Returns
    -------
    int array, shape (n_classes, n_classes)
        Rows are true classes, columns are predicted ones.

    Examples
    --------
    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    cells = truth.astype(np.intp) * n_classes + predicted
    return np.bincount(cells, minlength=n_classes * n_classes).reshape(n_classes, n_classes)


def accuracy(confusion: NDArray[Any]) -> Floats:
    """Share of the documents that are right, ``trace / sum``."""
    return _ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def macro_f1(confusion: NDArray[Any]) -> Floats:
    """Mean over the classes of ``F1 = 2 tp / (2 tp + fp + fn)``.

    The "averaged F1" of Opitz and Burst, "Macro F1 and Macro F1" (arXiv:1911.03347, 2019). A class that is neither
    true nor predicted anywhere counts as 0, as it does in scikit-learn with ``labels`` given and ``zero_division=0``:
    the number of terms in the mean never depends on the predictions.
    """
    right, predicted, true = _margins(confusion)
    return np.asarray(_ratio(2 * right, predicted + true).mean(axis=-1))


def macro_f1_of_means(confusion: NDArray[Any]) -> Floats:
    """F1 of the mean precision P and the mean recall R over the classes, ``2 P R / (P + R)``.

    The "F1 of averages" of Opitz and Burst (2019), never below `macro_f1` and at times far above it. A precision or
    recall of nothing (0 / 0) counts as 0.
    """
    right, predicted, true = _margins(confusion)
    precision = _ratio(right, predicted).mean(axis=-1)
    recall = _ratio(right, true).mean(axis=-1)
    return _ratio(2 * precision * recall, precision + recall)


def micro_f1(confusion: NDArray[Any]) -> Floats:
    """F1 of the counts summed over the classes, ``2 Σtp / (2 Σtp + Σfp + Σfn)``.

    Where each document has one label and gets one, every false positive of a class is a false negative of
    another: Σfp = Σfn, and micro-F1 is the accuracy.
    """
    right, predicted, true = (counts.sum(axis=-1) for counts in _margins(confusion))
    return _ratio(2 * right, predicted + true)


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "macro-f1": macro_f1,
    "macro-f1-of-means": macro_f1_of_means,
    "micro-f1": micro_f1,
}


def fold_scores(outcome: Outcome, metric: str) -> Floats:
    """The metric on each fold, in the order of the folds; the score of a cell is their mean."""
    matrices = [
        confusion_matrix(outcome.truth[rows], outcome.predicted[rows], outcome.n_classes) for rows in fold_rows(outcome)
    ]
    return METRICS[metric](np.stack(matrices))


def fold_rows(outcome: Outcome) -> list[NDArray[np.intp]]:
    """Positions in the outcome that belong to each fold, fold by fold."""
    return [np.flatnonzero(outcome.folds == fold) for fold in np.unique(outcome.folds)]


def _margins(confusion: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each class: documents right (tp), predicted (tp + fp), true (tp + fn)."""
    return np.diagonal(confusion, axis1=-2, axis2=-1), confusion.sum(axis=-2), confusion.sum(axis=-1)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide, with 0 / 0 = 0."""
    quotient = np.zeros(np.shape(whole))
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient
