"""Kept pipeline: an estimator that reads the texts themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.model.text_model import TextModel
from benchmark.system.errors import ConfigError
from benchmark.text.strings import document_string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.model.base import TextPredictions


NO_TERMS = "a pipeline reads texts by itself: it has no terms to show; leave out --top-terms"


class PipelineModel(TextModel):
    """Trained pipeline of a cell. Of its lexing, only the rules for header and HTML hold; its vocabulary is unused."""

    @property
    def n_terms(self) -> int | None:
        """None: it has no vocabulary."""
        return None

    def inputs(self, texts: Sequence[bytes]) -> NDArray[np.object_]:
        """Return the texts as strings, shape (m,)."""
        strings = np.empty(len(texts), dtype=object)
        for place, text in enumerate(texts):
            rules = self.lexing.skip_header, self.lexing.skip_html
            strings[place] = document_string(text, skip_header=rules[0], skip_html=rules[1])
        return strings

    def answer_batch(self, texts: Sequence[bytes], n_words: int) -> TextPredictions:
        """Return the predictions of a batch of texts, see `KeptModel.answers`; ConfigError if terms are asked for."""
        if n_words:
            raise ConfigError(NO_TERMS)
        return self._answers(self.inputs(texts), None)
