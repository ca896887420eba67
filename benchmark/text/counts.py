"""What lexing makes of a corpus: the sparse matrix of term counts and its vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

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
        The terms, block after block, each in bytewise order.
    dropped : int
        Letters of the whole collection that the lexer passed over: see `benchmark.text.lexer.Spans`.
    blocks : tuple of str
        Names of the blocks of terms, see `benchmark.text.lexer.Lexing.blocks`.
    block_of : int32 array, shape (V,), optional
        The block of each term, ascending; the first unless given.
    """

    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    dropped: int = 0
    blocks: tuple[str, ...] = ("all",)
    block_of: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __post_init__(self) -> None:
        """One block, unless several are given."""
        if not len(self.block_of):
            object.__setattr__(self, "block_of", np.zeros(len(self.vocabulary), dtype=np.int32))
