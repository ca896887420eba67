"""Nearest neighbours by compression: a classifier of raw texts without any parameter to learn."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


class GzipNeighbours(ClassifierMixin, BaseEstimator):
    """The k nearest texts by the normalized compression distance (Jiang et al., Findings of ACL 2023).

    The distance of x and y is (C(xy) - min(C(x), C(y))) / max(C(x), C(y)), where C is the length after gzip, and xy the
    two texts with a blank between them.

    Parameters
    ----------
    k : int
        Number of neighbours; 2 in the paper, so that two neighbours of different classes tie.
    ties : {"nearest", "printed"}
        Of classes with equally many neighbours, the class of the nearest one; or the first in the order of a set, as in
        the code that the paper prints. The paper's scores count a document as right if any tied class is its own, which
        needs the tested label, and is no rule of prediction.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "a dog ran in the park"]
    >>> GzipNeighbours(k=1).fit(texts, [0, 1]).predict(["the cat sat on a mat"])
    array([0])
    """

    def __init__(self, k: int = 2, ties: str = "nearest") -> None:
        self.k = k
        self.ties = ties

    def fit(self, texts: Sequence[str], labels: Sequence[int]) -> GzipNeighbours:
        """Keep the texts and their lengths after compression; ValueError for parameters outside their range."""
        if self.k < 1 or self.ties not in ("nearest", "printed"):
            raise ValueError(f"k must be at least 1 and ties nearest or printed, not {self.k} and {self.ties!r}")
        self.texts_, self.labels_, self.classes_ = list(texts), np.asarray(labels), np.unique(labels)
        self.lengths_ = np.array([_length(each) for each in self.texts_])
        return self

    def predict(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the class of each text, shape (m,)."""
        return np.array([self._class_of(self._neighbours(each)) for each in texts])

    def decision_function(self, texts: Sequence[str]) -> Array:
        """Return the number of neighbours of each class, shape (m, n_classes): equal numbers are ties."""
        found = np.array([self._neighbours(each) for each in texts]).reshape(len(texts), -1)
        return np.asarray((found[:, :, None] == self.classes_).sum(axis=1), dtype=np.float64)

    def _neighbours(self, text: str) -> list[int]:
        """Return the classes of the nearest texts, the nearest first."""
        length = _length(text)
        joined = np.array([_length(f"{text} {other}") for other in self.texts_])
        distances = (joined - np.minimum(length, self.lengths_)) / np.maximum(length, self.lengths_)
        return list(self.labels_[np.argsort(distances, kind="stable")[: self.k]].tolist())

    def _class_of(self, nearest: list[int]) -> int:
        if self.ties == "printed":
            return int(max(set(nearest), key=nearest.count))
        return int(Counter(nearest).most_common(1)[0][0])  # of equal counts, the one that came first


def _length(text: str) -> int:
    return len(gzip.compress(text.encode()))
