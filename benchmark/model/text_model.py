"""Trained method with its vocabulary: predicts classes and decision values of texts, and the most telling terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.corpus import TEXT_CHUNK_BYTES, Documents, StreamedCorpus
from benchmark.model.probabilities import class_probabilities
from benchmark.system.row_blocks import blas_threads, map_in_order
from benchmark.text.vocabulary import Pruning, count_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.methods.fitted import FittedMethod
    from benchmark.text.lexer import Lexing

    Array = NDArray[np.float64]

#: Documents per batch of predictions, and copies of one document, each without one of its terms, per batch.
PREDICTION_BATCH, LEAVE_ONE_OUT_ROWS = 2048, 256
#: A term whose cost is below this share of a decision value counts as rounding.
_ROUNDING = 1e-12


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
    known : int array, shape (m,)
        Number of terms of the vocabulary in each document.
    words : tuple of dict of int to list of str
        For each document, by predicted class, the terms whose removal lowers that class's decision value most.
    """

    given: NDArray[Any]
    values: Array
    probabilities: Array | None
    known: NDArray[np.signedinteger[Any]]
    words: tuple[dict[int, list[str]], ...]

    def classes_of(self, row: int) -> list[int]:
        """Return the predicted classes of a document, as indices."""
        predicted = self.given[row]
        return [int(predicted)] if self.given.ndim == 1 else [int(code) for code in np.flatnonzero(predicted)]


@dataclass(frozen=True, eq=False)
class TextModel:
    """Trained method of a cell.

    Parameters
    ----------
    classes : tuple of str, length k
        In the order of the cell's task, which breaks ties.
    lexing : Lexing
        How texts are split into terms.
    vocabulary : tuple of str
        Terms that the method uses; all others are ignored.
    fitted : FittedMethod
    sigmoids : float64 array, shape (n, 2), or None
        See `class_probabilities`; None where the model has no probabilities.
    about : dict
        Description of the training, as plain data.
    """

    classes: tuple[str, ...]
    lexing: Lexing
    vocabulary: tuple[str, ...]
    fitted: FittedMethod
    sigmoids: Array | None
    about: dict[str, Any]

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.fitted.learned.multilabel

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
            yield from map_in_order(lambda batch: self._answered(batch, n_words), _batches(documents), jobs)

    def counts(self, texts: Sequence[bytes]) -> sp.csr_array:
        """Count the terms of the vocabulary in each text, shape (m, V)."""
        m = len(texts)
        zeros = np.zeros(m, dtype=np.int32)
        documents = Documents(tuple(map(str, range(m))), zeros, zeros, ("",), ("",))
        corpus = StreamedCorpus("", documents, np.arange(m), lambda: iter(texts), "")
        counted = count_terms(corpus, self.lexing, Pruning())
        columns = np.fromiter(map(self._column.get, counted.vocabulary, repeat(-1)), np.int32, len(counted.vocabulary))
        matrix = counted.matrix
        known = columns[matrix.indices] >= 0
        pointers = np.concatenate([[0], np.cumsum(known)])[matrix.indptr].astype(np.int32)
        parts = matrix.data[known], columns[matrix.indices[known]], pointers
        return sp.csr_array(parts, shape=(m, len(self.vocabulary)))

    @cached_property
    def _column(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.vocabulary)}

    def _answered(self, batch: Sequence[tuple[str, bytes]], n_words: int) -> tuple[tuple[str, ...], TextPredictions]:
        names, texts = zip(*batch, strict=True)
        counts = self.counts(texts)
        raw = self.fitted.values(counts)
        predicted, values = self.fitted.given(raw), self.fitted.class_values(raw)
        sigmoids, learned = self.sigmoids, self.fitted.learned
        probabilities = None if sigmoids is None else class_probabilities(values, sigmoids, learned)
        answers = TextPredictions(predicted, values, probabilities, np.diff(counts.indptr), ())
        if not n_words:
            return names, answers
        words = (self._words(counts[[row]], answers.classes_of(row), n_words) for row in range(len(texts)))
        return names, replace(answers, words=tuple(words))

    def _words(self, document: sp.csr_array, classes: list[int], n_words: int) -> dict[int, list[str]]:
        """Return for each class the terms whose removal lowers its decision value most, largest drop first.

        Where a document has one class, the value is the margin above the next class. Each term is removed in turn.
        """
        values = self.fitted.class_values(self.fitted.values(document))
        without = [
            self.fitted.class_values(self.fitted.values(each)) for each in _without_each_term(document) if each.shape[0]
        ]
        terms = {}
        for code in classes:
            whole = self._margin(values, code)[0]
            margins = np.concatenate([np.empty(0), *(self._margin(each, code) for each in without)])
            with np.errstate(invalid="ignore"):  # a class of every document has an infinite value
                cost = whole - margins
            order = np.argsort(-cost, kind="stable")[:n_words]
            telling = order[cost[order] > _ROUNDING * (1 + abs(whole))]
            terms[code] = [self.vocabulary[document.indices[place]] for place in telling]
        return terms

    def _margin(self, values: Array, code: int) -> Array:
        if self.multilabel:
            return values[:, code]
        return np.asarray(values[:, code] - np.delete(values, code, axis=1).max(axis=1))


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


def _without_each_term(document: sp.csr_array) -> Iterator[sp.csr_array]:
    """Yield copies of a document, each without one of its terms, in batches of `LEAVE_ONE_OUT_ROWS` rows."""
    n = document.nnz
    for start in range(0, n, LEAVE_ONE_OUT_ROWS):
        m = min(LEAVE_ONE_OUT_ROWS, n - start)
        stay = np.ones((m, n), dtype=bool)
        stay[np.arange(m), start + np.arange(m)] = False
        rows = (np.tile(part, (m, 1))[stay] for part in (document.data, document.indices))
        yield sp.csr_array((*rows, np.arange(m + 1, dtype=np.int32) * (n - 1)), shape=(m, document.shape[1]))
