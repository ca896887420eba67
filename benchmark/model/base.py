"""What all kept models have in common: they answer batches of texts with classes and decision values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.corpus import TEXT_CHUNK_BYTES
from benchmark.system.errors import ConfigError
from benchmark.system.row_blocks import blas_threads, map_in_order
from benchmark.system.user_classes import user_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.system.user_classes import Plugin

    Array = NDArray[np.float64]

#: Documents per batch of predictions.
PREDICTION_BATCH = 2048


@dataclass(frozen=True, eq=False)
class TextPredictions:
    """Predictions of m documents.

    Parameters
    ----------
    given : int32 array, shape (m,), or bool array, shape (m, k)
        Predicted class of each document, or a multi-label indicator matrix.
    values : float64 array, shape (m, k)
        Per-class decision values, see `FittedMethod.class_values`.
    probabilities : float64 array, shape (m, k), or None
        Class probabilities; None if the model has none.
    known : int array, shape (m,), or None
        Number of terms of the vocabulary in each document; None where the model has no vocabulary.
    words : tuple of dict of int to list of str
        For each document, by predicted class, the terms whose removal lowers that class's decision value most.
    """

    given: NDArray[Any]
    values: Array
    probabilities: Array | None
    known: NDArray[np.signedinteger[Any]] | None
    words: tuple[dict[int, list[str]], ...]

    def classes_of(self, row: int) -> list[int]:
        """Return the predicted classes of a document, as indices."""
        predicted = self.given[row]
        return [int(predicted)] if self.given.ndim == 1 else [int(code) for code in np.flatnonzero(predicted)]


class KeptModel(ABC):
    """Trained method of a cell, that predicts texts.

    Parameters
    ----------
    classes : tuple of str, length k
        In the order of the cell's task, which breaks ties.
    about : dict
        Description of the training, as plain data.
    """

    classes: tuple[str, ...]
    about: dict[str, Any]

    def __repr__(self) -> str:
        """Return what was trained on what, without vocabulary and weights."""
        trained = f"{self.about.get('documents', 0):,} documents, {len(self.classes)} classes"
        return f"<{type(self).__name__} of {self.about.get('cell')}: {trained}>"

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins whose code runs where it predicts."""
        return ()

    @property
    @abstractmethod
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""

    @property
    @abstractmethod
    def has_probabilities(self) -> bool:
        """True if predictions have class probabilities."""

    @property
    def n_terms(self) -> int | None:
        """Number of terms that the model knows; None where it has no vocabulary."""
        return None

    @property
    def term_separator(self) -> str:
        """Text between the terms of a list: a comma and a space where a term may have a space itself."""
        return ", "

    @abstractmethod
    def answer_batch(self, texts: Sequence[bytes], n_words: int) -> TextPredictions:
        """Return the predictions of a batch of texts, see `answers`; computed on the calling thread."""

    def answers(
        self, documents: Iterable[tuple[str, bytes]], *, n_words: int = 0, jobs: int = 1
    ) -> Iterator[tuple[tuple[str, ...], TextPredictions]]:
        """Yield the names and predictions of batches of documents, in the order of the documents.

        Parameters
        ----------
        documents : iterable of (str, bytes)
            Names and texts; a few batches of them are in memory at a time.
        n_words : int
            Maximum number of telling terms for a class; 0 for none.
        jobs : int
            Number of threads.

        Raises
        ------
        DataError
            If the model counts a field that a text doesn't have, see `benchmark.text.fields.field_of`.
        FloatingPointError
            If a kernel or decision value is not finite.
        """
        with blas_threads(1):
            yield from map_in_order(lambda batch: self._named(batch, n_words), _batches(documents), jobs)

    def _named(self, batch: Sequence[tuple[str, bytes]], n_words: int) -> tuple[tuple[str, ...], TextPredictions]:
        names, texts = zip(*batch, strict=True)
        with user_code(ConfigError, self.plugins[-1].name) if self.plugins else nullcontext():
            return names, self.answer_batch(texts, n_words)


def _batches(documents: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """Yield batches of `PREDICTION_BATCH` documents, or fewer if their texts fill a chunk."""
    batch, n_bytes = list[tuple[str, bytes]](), 0
    for name, text in documents:
        batch.append((name, text))
        n_bytes += len(text)
        if len(batch) >= PREDICTION_BATCH or n_bytes >= TEXT_CHUNK_BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch
