"""Trained method with its vocabulary: predicts classes and decision values of texts, and the most telling terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.model.base import KeptModel, TextPredictions
from benchmark.model.probabilities import class_probabilities
from benchmark.model.telling_terms import telling_terms, without_each_term
from benchmark.text.known_terms import KnownTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.methods.fitted import FittedMethod
    from benchmark.system.user_classes import Plugin
    from benchmark.text.lexer import Lexing

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TextModel(KeptModel):
    """Trained method of a cell, on counts of the terms of a vocabulary.

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
    plugins : tuple of Plugin
        The plug-ins whose code runs where it predicts.
    """

    classes: tuple[str, ...]
    lexing: Lexing
    vocabulary: tuple[str, ...]
    fitted: FittedMethod
    sigmoids: Array | None
    about: dict[str, Any]
    plugins: tuple[Plugin, ...] = ()

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.fitted.learned.multilabel

    @property
    def has_probabilities(self) -> bool:
        """True if predictions have class probabilities."""
        return self.sigmoids is not None

    @property
    def n_terms(self) -> int | None:
        """Number of terms of the vocabulary."""
        return len(self.vocabulary)

    @property
    def term_separator(self) -> str:
        """Text between the terms of a list."""
        return " " if self.lexing.ngrams == (1,) and not self.lexing.characters else ", "

    def inputs(self, texts: Sequence[bytes]) -> Any:
        """Return what the method takes for each text: counts, shape (m, V)."""
        return self.counts(texts)

    def counts(self, texts: Sequence[bytes]) -> sp.csr_array:
        """Count the terms of the vocabulary in each text, shape (m, V)."""
        return self._known.count(texts)

    def class_values(self, inputs: Any) -> Array:
        """Return a decision value for each class, shape (m, k), from the `inputs` of m texts."""
        return self.fitted.class_values(self.fitted.values(inputs))

    def values_without_terms(self, document: sp.csr_array) -> tuple[list[str], Array]:
        """Return the n terms of a document, shape (1, V), and its class values without each of them, shape (n, k)."""
        values = [self.class_values(each) for each in without_each_term(document)]
        terms = [self.vocabulary[column] for column in document.indices]
        return terms, np.concatenate([np.empty((0, len(self.classes))), *values])

    @cached_property
    def _known(self) -> KnownTerms:
        return KnownTerms(self.lexing, self.vocabulary)

    def answer_batch(self, texts: Sequence[bytes], n_words: int) -> TextPredictions:
        """Return the predictions of a batch of texts, see `KeptModel.answers`."""
        counts = self.counts(texts)
        answers = self._answers(counts, np.diff(counts.indptr))
        if not n_words:
            return answers
        words = (self._words(counts[[row]], answers.classes_of(row), n_words) for row in range(len(texts)))
        return replace(answers, words=tuple(words))

    def _answers(self, inputs: Any, known: NDArray[np.signedinteger[Any]] | None) -> TextPredictions:
        raw = self.fitted.values(inputs)
        predicted, values = self.fitted.given(raw), self.fitted.class_values(raw)
        sigmoids, learned = self.sigmoids, self.fitted.learned
        probabilities = None if sigmoids is None else class_probabilities(values, sigmoids, learned)
        return TextPredictions(predicted, values, probabilities, known, ())

    def _words(self, document: sp.csr_array, classes: list[int], n_words: int) -> dict[int, list[str]]:
        """Return the most telling terms of a document for each class; each term is removed in turn."""
        terms, without = self.values_without_terms(document)
        return telling_terms(terms, self.class_values(document), without, classes, n_words, multilabel=self.multilabel)
