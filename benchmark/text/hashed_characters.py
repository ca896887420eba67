"""N-grams of characters in buckets: a vocabulary whose size doesn't grow with the texts.

The n-grams of each length are hashed into buckets, as Weinberger et al. (2009) hash features, but without a sign, since
counts of terms aren't negative. N-grams of one bucket are one term.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmark.text.characters import MAX_PACKED, character_runs
from benchmark.text.counting_loops import count_sorted_terms
from benchmark.text.streams import NO_TERM, TermLevel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.text.lexer import Lexing
    from benchmark.text.pruning import Pruning
    from benchmark.text.streams import TermStream

#: Offset and prime of the hash FNV-1a (64 bits), here of code points, and a factor of MurmurHash3 that mixes its bits.
_OFFSET, _PRIME, _MIX = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3), np.uint64(0xFF51AFD7ED558CCD)
#: Number of marks by which distinct n-grams are counted, and how far a hash is shifted for its mark.
_TOLD_APART, _SHIFT = 2**24, np.uint64(40)


class HashedRows(NamedTuple):
    """Counts of buckets in some documents.

    Parameters
    ----------
    matrices : list of CSR array of int32, shape (documents, buckets)
        For each length, the counts of its buckets.
    marks : list of int64 array
        For each length, the distinct marks of n-grams, see `_n_distinct`.
    counted : bool array, shape (documents,)
        Whether pruning counts the document.
    """

    matrices: list[sp.csr_array]
    marks: list[NDArray[np.int64]]
    counted: NDArray[np.bool_]


def hash_characters(characters: TermStream, lexing: Lexing) -> HashedRows:
    """Count the buckets of some documents, from the stream of their code points."""
    matrices, marks = [], []
    for n in hashed_lengths(lexing):
        here, hashes = _hashes(n, lexing, characters.terms)
        buckets = (hashes % np.uint64(lexing.buckets)).astype(np.int32)
        pointers, indices, data = count_sorted_terms(buckets, np.searchsorted(here, characters.bounds))
        shape = len(characters.counted), lexing.buckets
        matrices.append(sp.csr_array((data, indices, pointers), shape=shape))
        marks.append(pd.unique(hashes >> _SHIFT).astype(np.int64))
    return HashedRows(matrices, marks, characters.counted)


def hashed_terms(prefix: str, rows: list[HashedRows], lexing: Lexing, pruning: Pruning) -> Iterator[TermLevel]:
    """Yield the buckets of each length that pruning keeps, as `character_terms` yields n-grams."""
    for place, n in enumerate(hashed_lengths(lexing)):
        occurrences, in_documents = np.zeros((2, lexing.buckets), dtype=np.int64)
        seen = np.zeros(_TOLD_APART, dtype=np.bool_)
        for some in rows:
            seen[some.marks[place]] = True
            counted = some.matrices[place][some.counted]
            occurrences += np.bincount(counted.indices, counted.data, lexing.buckets).astype(np.int64)
            in_documents += np.bincount(counted.indices, minlength=lexing.buckets)
        common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
        columns = np.full(lexing.buckets + 1, NO_TERM)
        columns[common] = np.arange(len(common), dtype=np.int32)
        names = [prefix + _bucket_name(n, bucket) for bucket in common.tolist()]
        yield TermLevel(names, columns, [some.matrices[place] for some in rows], _n_distinct(seen))


def hashed_lengths(lexing: Lexing) -> range:
    """Return the lengths of n-grams; below the shortest that is asked for, only whole words are hashed."""
    low, high = lexing.characters
    return range(min(low, MAX_PACKED), high + 1)


def _hashes(n: int, lexing: Lexing, codes: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Find the characters at which n-grams begin, and hash these."""
    here = character_runs(n, codes)
    if n < lexing.characters[0]:
        here = here[(codes[here] == ord(" ")) & (codes[here + n - 1] == ord(" "))]
    hashes = np.full(len(here), _OFFSET)
    for place in range(n):
        hashes = (hashes ^ codes[here + place].astype(np.uint64)) * _PRIME
    hashes = (hashes ^ hashes >> np.uint64(33)) * _MIX
    return here, hashes ^ hashes >> np.uint64(33)


def _n_distinct(seen: NDArray[np.bool_]) -> int:
    """Estimate the number of distinct n-grams by linear counting, from the marks that were not `seen`.

    See Whang et al. (1990). The standard error is below 0.1% up to 20 million n-grams.
    """
    empty = max(1, len(seen) - int(np.count_nonzero(seen)))
    return round(-len(seen) * math.log(empty / len(seen)))


def _bucket_name(n: int, bucket: int) -> str:
    """Return the name of a bucket; names are in the order of their numbers."""
    return f"{n}-gram-{bucket:08d}"


def bucket_of_name(name: str) -> tuple[int, int]:
    """Return the length and the bucket of a name."""
    n, _, bucket = name.partition("-gram-")
    return int(n), int(bucket)
