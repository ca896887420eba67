"""Kept fusion: models whose standardized decision values are added, each with its own words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.model.base import KeptModel, TextPredictions
from benchmark.model.pipeline_model import NO_TERMS
from benchmark.model.probabilities import class_probabilities
from benchmark.model.telling_terms import telling_terms
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.methods.wrappers.fusion import StandardizedSum
    from benchmark.model.text_model import TextModel
    from benchmark.system.user_classes import Plugin

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class FusionModel(KeptModel):
    """Sum of the decision values of models, which have the same classes, each with its own lexing and vocabulary.

    Parameters
    ----------
    classes : tuple of str, length k
        In the order of the cell's task, which breaks ties.
    names : tuple of str
        Names of the methods in the configuration.
    members : tuple of TextModel
        The model of each method.
    rule : StandardizedSum
        Weights and scales, by which the sum of a run is computed, too.
    sigmoids : float64 array, shape (n, 2), or None
        Of the sums, see `class_probabilities`; None where the model has no probabilities.
    about : dict
        Description of the training, as plain data.
    """

    classes: tuple[str, ...]
    names: tuple[str, ...]
    members: tuple[TextModel, ...]
    rule: StandardizedSum
    sigmoids: Array | None
    about: dict[str, Any]

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins of all members."""
        return tuple(dict.fromkeys(plugin for member in self.members for plugin in member.plugins))

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.rule.multilabel

    @property
    def has_probabilities(self) -> bool:
        """True if predictions have class probabilities."""
        return self.sigmoids is not None

    @cached_property
    def n_terms(self) -> int | None:
        """Number of distinct terms of all members; None if one of them reads texts by itself."""
        if any(member.n_terms is None for member in self.members):
            return None
        return len({term for member in self.members for term in member.vocabulary})

    @property
    def term_separator(self) -> str:
        """Text between the terms of a list."""
        return ", " if any(member.term_separator == ", " for member in self.members) else " "

    def answer_batch(self, texts: Sequence[bytes], n_words: int) -> TextPredictions:
        """Return the predictions of a batch of texts, see `KeptModel.answers`."""
        if n_words and self.n_terms is None:
            raise ConfigError(NO_TERMS)
        counts = [member.inputs(texts) for member in self.members]
        total = self.rule.of([own.class_values(each) for own, each in zip(self.members, counts, strict=True)])
        predicted, values = self.rule.given(total), self.rule.class_values(total)
        probabilities = None if self.sigmoids is None else class_probabilities(values, self.sigmoids, self.rule)
        known = None if self.n_terms is None else np.sum([np.diff(each.indptr) for each in counts], axis=0)
        answers = TextPredictions(predicted, values, probabilities, known, ())
        if not n_words:
            return answers
        words = (
            self._words([each[[row]] for each in counts], answers.classes_of(row), n_words) for row in range(len(texts))
        )
        return replace(answers, words=tuple(words))

    def _words(self, counts: Sequence[sp.csr_array], classes: list[int], n_words: int) -> dict[int, list[str]]:
        """Return the most telling terms of a document for each class; each is removed from all members' counts."""
        whole, own = [], []
        for member, each in zip(self.members, counts, strict=True):
            whole.append(member.class_values(each))
            own.append(member.values_without_terms(each))
        place: dict[str, int] = {}
        for terms, _ in own:
            for term in terms:
                place.setdefault(term, len(place))
        without = []
        for values, (terms, lowered) in zip(whole, own, strict=True):
            rows = np.repeat(values, len(place), axis=0)
            rows[[place[term] for term in terms]] = lowered
            without.append(rows)
        total, lower = (self.rule.class_values(self.rule.of(values)) for values in (whole, without))
        return telling_terms(list(place), total, lower, classes, n_words, multilabel=self.multilabel)
