"""A trained method with the words that it knows: texts to classes and decision values, and what speaks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.blocks import blas_threads, in_turn
from benchmark.corpora.corpus import CHUNK, Documents, StreamedCorpus
from benchmark.model.probabilities import probabilities_of
from benchmark.text.vocabulary import Pruning, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.methods.fitted import FittedMethod
    from benchmark.text.lexer import Lexing

    Array = NDArray[np.float64]

#: Documents that are decided on at a time, and of one document with each of its words left out in turn.
BATCH, LEFT_OUT = 2048, 256
#: Costs of a word below this share of a decision value are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of m documents.

    Parameters
    ----------
    given : int32 array, shape (m,), or bool array, shape (m, k)
        The class of each document; or which classes it is given.
    values : float64 array, shape (m, k)
        A decision value for each class, see `FittedMethod.class_values`.
    probabilities : float64 array, shape (m, k), or None
    known : int array, shape (m,)
        How many terms of the vocabulary each document has.
    words : tuple of dict of int to list of str
        Of each document, for each class that it is given, the words whose leaving out would cost that class most.
    """

    given: NDArray[Any]
    values: Array
    probabilities: Array | None
    known: NDArray[np.signedinteger[Any]]
    words: tuple[dict[int, list[str]], ...]

    def classes_of(self, row: int) -> list[int]:
        """The classes that a document is given."""
        one = self.given[row]
        return [int(one)] if self.given.ndim == 1 else [int(code) for code in np.flatnonzero(one)]


@dataclass(frozen=True, eq=False)
class KeptModel:
    """A cell's method, trained.

    Parameters
    ----------
    classes : tuple of str, length k
        In the order of the cell's task, which decides ties.
    lexing : Lexing
    vocabulary : tuple of str
        The terms that decisions are made by; all other words are left out.
    fitted : FittedMethod
    sigmoids : float64 array, shape (n, 2), or None
        See `probabilities_of`; None where the model has no probabilities.
    about : dict
        What it was trained on, as plain data.
    """

    classes: tuple[str, ...]
    lexing: Lexing
    vocabulary: tuple[str, ...]
    fitted: FittedMethod
    sigmoids: Array | None
    about: dict[str, Any]

    @property
    def several(self) -> bool:
        """Whether a document may be given several classes, or none."""
        return self.fitted.learned.several

    def answers(
        self, documents: Iterable[tuple[str, bytes]], *, n_words: int = 0, jobs: int = 1
    ) -> Iterator[tuple[tuple[str, ...], Answers]]:
        """Names of documents and what is said of them, some at a time and in their order.

        Parameters
        ----------
        documents : iterable of (str, bytes)
            Names and texts; a few batches of them are held at a time.
        n_words : int
            How many words to tell, at most.
        jobs : int
            Threads.

        Raises
        ------
        DataError
            If the model counts a field that a text doesn't say, see `benchmark.text.fields.field_of`.
        FloatingPointError
            If a kernel or decision value is not finite.
        """
        with blas_threads(1):
            yield from in_turn(lambda batch: self._answered(batch, n_words), _batches(documents), jobs)

    def counts(self, texts: Sequence[bytes]) -> sp.csr_array:
        """How often each term of the vocabulary occurs in each text, shape (m, V)."""
        m = len(texts)
        nobody = np.zeros(m, dtype=np.int32)
        documents = Documents(tuple(map(str, range(m))), nobody, nobody, ("",), ("",))
        corpus = StreamedCorpus("", documents, np.arange(m), lambda: iter(texts), "")
        found = count(corpus, self.lexing, Pruning())
        columns = np.fromiter(map(self._column.get, found.vocabulary, repeat(-1)), np.int32, len(found.vocabulary))
        matrix = found.matrix
        known = columns[matrix.indices] >= 0
        pointers = np.concatenate([[0], np.cumsum(known)])[matrix.indptr].astype(np.int32)
        parts = matrix.data[known], columns[matrix.indices[known]], pointers
        return sp.csr_array(parts, shape=(m, len(self.vocabulary)))

    @cached_property
    def _column(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.vocabulary)}

    def _answered(self, batch: Sequence[tuple[str, bytes]], n_words: int) -> tuple[tuple[str, ...], Answers]:
        names, texts = zip(*batch, strict=True)
        counts = self.counts(texts)
        own = self.fitted.values(counts)
        given, values = self.fitted.given(own), self.fitted.class_values(own)
        sigmoids, learned = self.sigmoids, self.fitted.learned
        probabilities = None if sigmoids is None else probabilities_of(values, sigmoids, learned)
        answers = Answers(given, values, probabilities, np.diff(counts.indptr), ())
        if not n_words:
            return names, answers
        words = (self._words(counts[[row]], answers.classes_of(row), n_words) for row in range(len(texts)))
        return names, replace(answers, words=tuple(words))

    def _words(self, document: sp.csr_array, classes: list[int], n_words: int) -> dict[int, list[str]]:
        """For each of some classes, the words without which its decision value would be lowest, the first most so.

        Where a document has one class, it is the value above that of the next class. Every word is left out in turn.
        """
        values = self.fitted.class_values(self.fitted.values(document))
        without = [
            self.fitted.class_values(self.fitted.values(each)) for each in _each_left_out(document) if each.shape[0]
        ]
        found = {}
        for code in classes:
            whole = self._margin(values, code)[0]
            margins = np.concatenate([np.empty(0), *(self._margin(each, code) for each in without)])
            with np.errstate(invalid="ignore"):  # a class of every document has an infinite value
                cost = whole - margins
            order = np.argsort(-cost, kind="stable")[:n_words]
            telling = order[cost[order] > _ROUNDING * (1 + abs(whole))]
            found[code] = [self.vocabulary[document.indices[place]] for place in telling]
        return found

    def _margin(self, values: Array, code: int) -> Array:
        if self.several:
            return values[:, code]
        return np.asarray(values[:, code] - np.delete(values, code, axis=1).max(axis=1))


def _batches(documents: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """So many documents, or as many as make a chunk of text."""
    batch, n_bytes = list[tuple[str, bytes]](), 0
    for name, text in documents:
        batch.append((name, text))
        n_bytes += len(text)
        if len(batch) >= BATCH or n_bytes >= CHUNK:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _each_left_out(document: sp.csr_array) -> Iterator[sp.csr_array]:
    """A document with each of its terms left out in turn, some at a time."""
    n = document.nnz
    for start in range(0, n, LEFT_OUT):
        m = min(LEFT_OUT, n - start)
        stay = np.ones((m, n), dtype=bool)
        stay[np.arange(m), start + np.arange(m)] = False
        rows = (np.tile(part, (m, 1))[stay] for part in (document.data, document.indices))
        yield sp.csr_array((*rows, np.arange(m + 1, dtype=np.int32) * (n - 1)), shape=(m, document.shape[1]))
