"""A kept model: trained methods with the terms that they count, which answer texts with classes and decision values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmark.corpora.corpus import FieldedText
from benchmark.system.arrays import join_names, split_names
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.row_blocks import blas_threads, map_in_order
from benchmark.system.user_classes import Plugin, user_code
from benchmark.text.fields import document_string
from benchmark.text.lexer import Lexing
from benchmark.text.vocabulary import count_known_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.base import FittedMethod
    from benchmark.methods.problem import LearnedClasses
    from benchmark.system.arrays import Array

    Text = str | bytes | Mapping[str, str | bytes]

N = TypeVar("N")

#: Documents per batch of predictions.
PREDICTION_BATCH = 1024
#: Copies of one document, each without one of its terms, per batch.
LEAVE_ONE_OUT_ROWS = 256
#: Stands for the value of a class that could not be learned, which is -inf, where probabilities are computed.
_LOWEST = -1e100
#: A term whose cost is below this share of a decision value counts as rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class TextPredictions:
    """Predictions of m documents.

    Parameters
    ----------
    predicted : int32 array, shape (m,), or bool array, shape (m, k)
        Predicted class of each document, or a multi-label indicator matrix.
    values : float64 array, shape (m, k)
        Per-class decision values, infinite for classes that could not be learned.
    probabilities : float64 array, shape (m, k), or None
        Class probabilities; None if the model has none.
    known : int array, shape (m,), or None
        Number of terms of the vocabulary in each document; None where the model has no vocabulary.
    words : tuple of dict of int to list of str
        For each document, by predicted class, the terms whose removal lowers that class's decision value most.
    """

    predicted: NDArray[Any]
    values: Array
    probabilities: Array | None
    known: NDArray[np.signedinteger[Any]] | None
    words: tuple[dict[int, list[str]], ...] = ()

    def classes_of(self, row: int) -> list[int]:
        """Return the predicted classes of a document, as indices."""
        predicted = self.predicted[row]
        return [int(predicted)] if self.predicted.ndim == 1 else [int(code) for code in np.flatnonzero(predicted)]


@dataclass(frozen=True, eq=False)
class TextView:
    """What a trained method takes for a text: counts of the terms of a vocabulary, or the text as a string.

    Parameters
    ----------
    lexing : Lexing
        How texts are split into terms.
    vocabulary : tuple of str, or None
        The terms that are counted; None for a pipeline, which reads the strings: only the lexing's rules for header and
        HTML hold for them.
    """

    lexing: Lexing
    vocabulary: tuple[str, ...] | None

    def inputs(self, texts: Sequence[bytes]) -> Any:
        """Return counts, shape (m, V), or strings, shape (m,)."""
        if self.vocabulary is not None:
            return count_known_terms(self.lexing, self._columns, texts)
        skipped = {"skip_header": self.lexing.skip_header, "skip_html": self.lexing.skip_html}
        return np.array([document_string(text, **skipped) for text in texts], dtype=object)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.vocabulary or ())}

    def __getstate__(self) -> dict[str, Any]:
        """Return the lexing as a mapping, and the vocabulary as one array."""
        return {
            "lexing": asdict(self.lexing),
            "vocabulary": None if self.vocabulary is None else join_names(self.vocabulary),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Build the lexing, and split the vocabulary."""
        known = state["vocabulary"]
        lexing = Lexing(**state["lexing"])
        self.__dict__.update(lexing=lexing, vocabulary=None if known is None else split_names(known))


@dataclass(eq=False, repr=False)
class TextClassifier(ClassifierMixin, BaseEstimator):
    """Trained method of a cell as a scikit-learn classifier of texts.

    It is already trained: `fit` changes nothing, and a clone is the model itself. A text is a str, bytes in the
    encoding of the corpus, or a mapping of field names to values, which are joined by line feeds.

    Parameters
    ----------
    classes : tuple of str, length k
        In the order of the cell's task, which breaks ties.
    views : tuple of TextView
        One, or one for each method of a fusion.
    fitted : FittedMethod
    sigmoids : float64 array, shape (n, 2), or None
        See `class_probabilities`; None where the model has no probabilities.
    about : dict
        Description of the training, as plain data.
    plugins : tuple of Plugin
        The plug-ins whose code runs where it predicts.
    jobs : int
        Number of threads.

    Attributes
    ----------
    classes_ : array of str, shape (k,)
        Sorted classes, in the order of the columns of decision values and probabilities.
    """

    classes: tuple[str, ...]
    views: tuple[TextView, ...]
    fitted: FittedMethod
    sigmoids: Array | None
    about: dict[str, Any]
    plugins: tuple[Plugin, ...] = ()
    jobs: int = 1

    def __repr__(self) -> str:
        """Return what was trained on what, without vocabulary and weights."""
        trained = f"{self.about.get('documents', 0):,} documents, {len(self.classes)} classes"
        return f"<{type(self).__name__} of {self.about.get('cell')}: {trained}>"

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[Any]:
        """Sorted classes."""
        return np.asarray(np.sort(self.classes))

    @property
    def learned(self) -> LearnedClasses:
        """Which classes were learned."""
        return self.fitted.learned

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.learned.multilabel

    @property
    def n_terms(self) -> int | None:
        """Number of terms of the vocabulary; None of a pipeline, which has none, and of a fusion, which has several."""
        terms = self.views[0].vocabulary
        return None if terms is None or len(self.views) > 1 else len(terms)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Return the classifier unchanged, since it is already trained."""
        return self

    def predict(self, X: Iterable[Text]) -> NDArray[Any]:
        """Return the class of each text, shape (m,), or a multi-label indicator matrix, bool of shape (m, k)."""
        predicted = self._concatenated(X, "predicted")
        if self.multilabel:
            return predicted[:, np.argsort(self.classes)].astype(bool)
        return np.asarray(np.array(self.classes)[predicted.astype(np.intp)])

    def decision_function(self, X: Iterable[Text]) -> Array:
        """Return decision values, shape (m, k), see `FittedMethod.class_values`.

        With two classes, of which each text has one, they are the second class's value minus the first's, shape (m,).
        """
        values: Array = self._concatenated(X, "values")[:, np.argsort(self.classes)]
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 and not self.multilabel else values

    def predict_proba(self, X: Iterable[Text]) -> Array:
        """Return class probabilities, shape (m, k).

        Raises
        ------
        BenchError
            If the model was fitted without probabilities.
        """
        if self.sigmoids is None:
            raise BenchError("the model has no probabilities: fit it with --probability")
        probabilities: Array = self._concatenated(X, "probabilities")[:, np.argsort(self.classes)]
        return probabilities

    def _concatenated(self, X: Iterable[Text], name: str) -> NDArray[Any]:
        """Return what all batches of texts have under a name, in the order of `classes`."""
        if isinstance(X, str | bytes):
            raise TypeError("X must be a sequence of texts, not a text")
        batches = [getattr(answers, name) for _, answers in self.answers(("", _bytes(text)) for text in X)]
        shape = (0,) if name == "predicted" and not self.multilabel else (0, len(self.classes))
        return np.concatenate(batches) if batches else np.empty(shape)

    def answers(
        self, documents: Iterable[tuple[N, bytes]], *, n_words: int = 0
    ) -> Iterator[tuple[tuple[N, ...], TextPredictions]]:
        """Yield the names and predictions of batches of documents, in the order of the documents.

        Parameters
        ----------
        documents : iterable of (name, bytes)
            Names of any type, and texts; a few batches of them are in memory at a time.
        n_words : int
            Maximum number of telling terms for a class; 0 for none.

        Raises
        ------
        ConfigError
            If terms are asked of a model that reads texts by itself, or a user's code fails.
        DataError
            If the model counts a field that a text doesn't have, see `benchmark.text.fields.field_of`.
        FloatingPointError
            If a kernel or decision value is not finite.
        """
        if n_words and self.n_terms is None:
            raise ConfigError("a pipeline or a fusion has no terms to show; leave out --top-terms")
        left = iter(documents)
        batches = iter(lambda: list(islice(left, PREDICTION_BATCH)), [])
        with blas_threads(1):
            yield from map_in_order(lambda batch: self._answer(batch, n_words), batches, self.jobs)

    def decide(self, inputs: Sequence[Any]) -> tuple[NDArray[Any], Array]:
        """Return predicted classes, see `TextPredictions`, and class values, shape (m, k), from each view's inputs."""
        decisions = self.fitted.decide(inputs if len(inputs) > 1 else inputs[0])
        return decisions.predicted, self.learned.values_of(decisions)

    def _answer(self, batch: Sequence[tuple[N, bytes]], n_words: int) -> tuple[tuple[N, ...], TextPredictions]:
        names, texts = zip(*batch, strict=True)
        with user_code(ConfigError, self.plugins[-1].name) if self.plugins else nullcontext():
            inputs = [view.inputs(texts) for view in self.views]
            predicted, values = self.decide(inputs)
            probabilities = None if self.sigmoids is None else class_probabilities(values, self.sigmoids, self.learned)
            known = None if self.n_terms is None else np.diff(inputs[0].indptr)
            answers = TextPredictions(predicted, values, probabilities, known)
            if not n_words:
                return names, answers
            rows = range(len(texts))
            words = tuple(self._words(inputs[0][[row]], answers.classes_of(row), n_words) for row in rows)
            return names, replace(answers, words=words)

    def _words(self, counts: sp.csr_array, classes: list[int], n_words: int) -> dict[int, list[str]]:
        """Return for each class the terms of a document whose removal lowers its value most, largest drop first.

        Where a document has one class, the value is the margin above the next class.
        """
        vocabulary, columns = self.views[0].vocabulary or (), counts.indices
        starts = range(0, len(columns), LEAVE_ONE_OUT_ROWS)
        copies = (without_columns(counts, columns[start : start + LEAVE_ONE_OUT_ROWS]) for start in starts)
        values = np.concatenate([self.decide([each])[1] for each in (counts, *copies)])
        found = {}
        for code in classes:
            whole, *without = self._margins(values, code)
            with np.errstate(invalid="ignore"):  # a class of every document has an infinite value
                cost = whole - np.array(without)
            order = np.argsort(-cost, kind="stable")[:n_words]
            found[code] = [vocabulary[columns[i]] for i in order if cost[i] > _ROUNDING * (1 + abs(whole))]
        return found

    def _margins(self, values: Array, code: int) -> Array:
        """Return the values of a class, of class values, shape (n, k), less the largest other where a text has one."""
        own = values[:, code]
        return own if self.multilabel else np.asarray(own - np.delete(values, code, axis=1).max(axis=1))


def _bytes(text: Text) -> bytes:
    if isinstance(text, Mapping):
        fields = {name: _bytes(value) for name, value in text.items()}
        return FieldedText(b"\n".join(fields.values()), fields)
    return text.encode("utf-8", "replace") if isinstance(text, str) else text


def without_columns(document: sp.csr_array, columns: NDArray[Any]) -> sp.csr_array:
    """Return copies of a document, shape (1, V), each without one of these columns."""
    stay = document.indices != columns[:, None]
    ends, n = np.cumsum(stay.sum(axis=1)), len(columns)
    data, indices = (np.tile(part, (n, 1))[stay] for part in (document.data, document.indices))
    return sp.csr_array((data, indices, np.append(0, ends)), shape=(n, document.shape[1]))


def class_probabilities(values: Array, sigmoids: Array, learned: LearnedClasses) -> Array:
    """Return class probabilities, shape (m, k), as scikit-learn's `CalibratedClassifierCV` computes them (Platt 1999).

    Where each document has one class, each class has a sigmoid, and the probabilities are normalized to sum 1. The
    class with the largest need not be the label, which follows the decision values alone. With two
    classes there is one sigmoid, of the second class's value minus the first's. Where documents may have several
    classes, each learned class has a sigmoid. Other classes have probability 0, or 1 if all documents have the class.
    """
    a, b = sigmoids.T
    raw = expit(-(a * sigmoid_inputs(np.maximum(values, _LOWEST), learned) + b))
    if learned.multilabel:
        probabilities = np.tile(learned.everywhere.astype(np.float64), (len(values), 1))
        probabilities[:, learned.columns] = raw
        return probabilities
    if values.shape[1] == 2:
        return np.hstack([1 - raw, raw])
    total = raw.sum(axis=1, keepdims=True)
    even = np.full(raw.shape, 1 / raw.shape[1])
    return np.asarray(np.minimum(np.divide(raw, total, out=even, where=total > 0), 1.0))


def sigmoid_inputs(values: Array, learned: LearnedClasses) -> Array:
    """Return what the sigmoids of probabilities take, of class values, shape (m, k)."""
    if learned.multilabel:
        return values[:, learned.columns]
    return values[:, [1]] - values[:, [0]] if values.shape[1] == 2 else values
