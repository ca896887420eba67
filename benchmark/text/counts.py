"""What lexing makes of a corpus: the sparse matrix of term counts and its vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import scipy.sparse as sp

    from benchmark.corpora.corpus import Documents


@dataclass(frozen=True)
class Counts:
    """Term counts per document.

    Parameters
    ----------
    documents : Documents
        The n rows.
    matrix : CSR matrix of int32, shape (n, V)
        Entry (i, w) is how often term w occurs in document i; column indices sorted, no stored zeros.
    vocabulary : tuple of str, length V
        The terms, in bytewise order.
    dropped : int
        Letters of the whole collection that the lexer passed over: see `benchmark.text.lexer.Spans`.
    """

    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    dropped: int = 0
