"""Corpora of term counts: svmlight with a vocabulary, as ``bench data export`` writes them."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.corpora.user.text_files import read_file
from benchmark.corpora.user.user_corpus import UserCorpus, encode_documents
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Documents

COUNTS_FILE, VOCABULARY_FILE = "counts.svmlight", "vocabulary.txt"
#: Files that may be missing.
DOCUMENTS_FILE, BLOCKS_FILE = "documents.csv", "blocks.txt"


@dataclass(frozen=True, eq=False)
class CountsCorpus:
    """Documents with their term counts.

    Parameters
    ----------
    dataset : str
    documents : Documents
    matrix : CSR matrix of int32, shape (n, V)
    vocabulary : tuple of str, length V
        Terms by block, in bytewise order within each block.
    digest : str
        Content digest of the files.
    blocks : tuple of str
        Names of the blocks, as in `benchmark.text.counts.Counts`.
    block_of : int32 array, shape (V,)
        Block of each term, as in `benchmark.text.counts.Counts`.
    """

    dataset: str
    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    digest: str
    blocks: tuple[str, ...]
    block_of: NDArray[np.int32]

    def __iter__(self) -> Iterator[bytes]:
        """Yield a stand-in for the text of each document: its terms, repeated as often as they occur."""
        for row in self.matrix:
            yield " ".join(np.repeat(np.array(self.vocabulary)[row.indices], row.data.astype(np.intp))).encode()

    def take(self, rows: NDArray[np.intp]) -> CountsCorpus:
        """Return the corpus restricted to the documents at `rows`, in that order."""
        return replace(self, documents=self.documents.take(rows), matrix=self.matrix[rows])


@dataclass(frozen=True)
class CountsFolder(UserCorpus):
    """Term counts as svmlight, with a vocabulary: a folder as ``bench data export`` writes it.

    Parameters
    ----------
    path : str
        Folder, relative to the configuration, with counts.svmlight (features numbered from 1) and vocabulary.txt (one
        term per line). An optional documents.csv has the columns id, label and group; without it, classes are named by
        their numbers. Documents may have several classes, or none, where a line of the counts has several numbers,
        separated by commas, or none; documents.csv separates their names by spaces. An optional blocks.txt names the
        block of the term on the same line of vocabulary.txt; without it, all terms are in one block.
    base : Path
        Folder that `path` is relative to.
    """

    path: str

    name: ClassVar[str] = "counts"

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the blocks of terms."""
        return self._corpus.blocks

    def outline(self) -> Documents:
        """Return the documents themselves."""
        return self._corpus.documents

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Return the digest of the files."""
        return {"digest": self.digest()}

    def load(self, source: CorpusSource) -> CountsCorpus:  # type: ignore[override]  # noqa: ARG002
        """Return the documents with their counts."""
        return self._corpus

    def digest(self) -> str:
        """Return the sha256 over the files."""
        return self._corpus.digest

    @cached_property
    def _corpus(self) -> CountsCorpus:
        folder, digest = self.paths_by_part()[0][1], hashlib.sha256()
        counts = read_file(folder / COUNTS_FILE, digest)
        vocabulary = read_file(folder / VOCABULARY_FILE, digest).decode("utf-8", "replace").splitlines()
        if len(set(vocabulary)) < len(vocabulary) or not vocabulary:
            raise DataError(f"{folder / VOCABULARY_FILE}: must have one term per line, each of them once")
        matrix, numbers = _counts(folder / COUNTS_FILE, counts, len(vocabulary))
        documents, names = _documents(folder, numbers, digest), ["all"] * len(vocabulary)
        if (path := folder / BLOCKS_FILE).exists():
            names = read_file(path, digest).decode("utf-8", "replace").splitlines()
            if len(names) != len(vocabulary):
                raise DataError(f"{path}: must have {len(vocabulary):,} lines, one per term")
        blocks = tuple(dict.fromkeys(names))
        order = sorted(range(len(vocabulary)), key=lambda n: (blocks.index(names[n]), vocabulary[n]))
        block_of = np.array([blocks.index(names[n]) for n in order], dtype=np.int32)
        matrix = sp.csr_array(matrix[:, order])
        matrix.sort_indices()
        terms = tuple(vocabulary[n] for n in order)
        return CountsCorpus(self.name, documents, matrix, terms, digest.hexdigest(), blocks, block_of)


def _counts(path: Path, content: bytes, n_terms: int) -> tuple[sp.csr_array, list[tuple[float, ...]]]:
    """Return the counts, shape (n, V), and the ascending numbers of each document's classes."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - 30 MB that no other corpus needs

    file = io.BytesIO(content)
    try:
        features, numbers = load_svmlight_file(file, n_features=n_terms, zero_based=False, multilabel=True)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not svmlight with {n_terms:,} terms: {error}") from None
    matrix = sp.csr_array(features)
    if matrix.nnz and (matrix.data.min() < 0 or (matrix.data % 1).any() or matrix.data.max() >= 2**31):
        raise DataError(f"{path}: counts must be whole numbers, and not negative")
    matrix = matrix.astype(np.int32)
    matrix.eliminate_zeros()
    return matrix, numbers


def _documents(folder: Path, numbers: Sequence[tuple[float, ...]], digest: Any) -> Documents:
    """Return the documents by the numbers of their classes, named by documents.csv where there is one."""
    path, multilabel = folder / DOCUMENTS_FILE, any(len(of_row) != 1 for of_row in numbers)
    named = [(str(row), [f"{number:g}" for number in of_row], "all") for row, of_row in enumerate(numbers, start=1)]
    if path.exists():
        columns = ["id", "label", *(name for name in read_columns(path) if name == "group")]
        named = [
            (name, label.split() if multilabel else [label], *(group or ["all"]))
            for _, (name, label, *group) in iter_records(path, columns, digest=digest)
        ]
    if len(named) != len(numbers) or not numbers:
        raise DataError(f"{folder}: {COUNTS_FILE} has {len(numbers):,} documents, and {DOCUMENTS_FILE} {len(named):,}")
    ids, labels, parts = zip(*named, strict=True)
    if len(set(ids)) < len(ids):
        raise DataError(f"{path}: two documents have the same id")
    pairs = {pair for both in zip(labels, numbers, strict=True) for pair in zip_longest(*both)}
    names, codes = {name for name, _ in pairs}, {number for _, number in pairs}
    if None in (*names, *codes) or not len(names) == len(codes) == len(pairs):
        raise DataError(f"{folder}: classes in {DOCUMENTS_FILE} and {COUNTS_FILE} must match one to one")
    classes = [name for name, _ in sorted(pairs, key=lambda pair: pair[1])]
    return encode_documents(ids, labels, parts, multilabel=multilabel, classes=classes)
