"""Counting the terms of a known vocabulary, as a trained model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.corpus import batch_texts, concatenate_texts
from benchmark.text.lexer import WHOLE_DOCUMENT
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import CHUNK_BYTES, count_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.text.lexer import Lexing


class KnownTerms:
    """Vocabulary whose terms are counted in texts.

    Parameters
    ----------
    lexing : Lexing
        How texts are split into terms.
    vocabulary : sequence of str, length V
        Terms as `count_terms` names them by this lexing, each once.
    """

    def __init__(self, lexing: Lexing, vocabulary: Sequence[str]) -> None:
        self.lexing = lexing
        self.columns = {term: column for column, term in enumerate(vocabulary)}

    def count(self, texts: Sequence[bytes]) -> sp.csr_array:
        """Count the terms in each of m texts, shape (m, V).

        Raises
        ------
        DataError
            If a text doesn't have a field, see `benchmark.text.fields.field_of`.
        """
        rows = [self._count(batch) for batch in batch_texts(texts, CHUNK_BYTES)]
        return sp.vstack([sp.csr_array((0, len(self.columns)), dtype=np.int32), *rows], format="csr")

    def _count(self, texts: list[bytes]) -> sp.csr_array:
        whole = self.lexing.fields == (WHOLE_DOCUMENT,)
        chunk = concatenate_texts(texts) if whole else texts, np.ones(len(texts), dtype=np.bool_)
        matrix, terms, _, _ = count_chunks([chunk], self.lexing, Pruning())
        columns = np.fromiter((self.columns.get(term, -1) for term in terms), np.int32, len(terms))
        known = np.flatnonzero(columns >= 0)
        counts = matrix[:, known]
        counts = sp.csr_array(
            (counts.data, columns[known][counts.indices], counts.indptr), shape=(len(texts), len(self.columns))
        )
        counts.sort_indices()
        return counts
