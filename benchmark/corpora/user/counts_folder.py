"""Corpora of term counts: svmlight with a vocabulary, as ``bench data export`` writes them."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.file_digest import (
    DIGEST_BLOCK_BYTES,
    FileDigest,
    changed_file_error,
    check_file_stamp,
    file_stamp,
)
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.corpora.user.user_corpus import UserCorpus, encode_documents
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Documents

COUNTS_FOLDER_FILES = COUNTS_FILE, VOCABULARY_FILE, DOCUMENTS_FILE, BLOCKS_FILE = (
    "counts.svmlight",
    "vocabulary.txt",
    "documents.csv",
    "blocks.txt",
)
OPTIONAL_FILES = DOCUMENTS_FILE, BLOCKS_FILE


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
        for row in range(len(self.documents)):
            counts = self.matrix[[row]].tocoo()
            terms = (
                [self.vocabulary[column]] * int(n) for column, n in zip(counts.coords[1], counts.data, strict=True)
            )
            yield " ".join(term for repeated in terms for term in repeated).encode()

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

    @cached_property
    def _folder(self) -> Path:
        return self.places()[0][1]

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the blocks of terms."""
        return self._corpus.blocks

    @property
    def multilabel(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self._corpus.documents.topics is not None

    def outline(self) -> Documents:
        """Return the documents themselves."""
        return self._corpus.documents

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Return the digest of the files; raise DataError if they have changed since they were read."""
        self.check_unchanged()
        return {"digest": self.digest()}

    def load(self, source: CorpusSource) -> CountsCorpus:  # type: ignore[override]  # noqa: ARG002
        """Return the documents with their counts."""
        return self._corpus

    def digest(self) -> str:
        """Return the sha256 over the files."""
        return self._corpus.digest

    def check_unchanged(self) -> None:
        """Raise DataError if a file of the folder was edited, removed or added since the counts were read."""
        for name, before in self._stamps.items():
            path = self._folder / name
            if before is not None:
                check_file_stamp(path, before)
            elif path.exists():
                raise changed_file_error(path)

    @cached_property
    def _stamps(self) -> dict[str, tuple[int, ...] | None]:
        """The `file_stamp` of each file from before the counts were read; None for a file that doesn't exist."""
        paths = {name: self._folder / name for name in COUNTS_FOLDER_FILES}
        return {name: file_stamp(path) if path.exists() else None for name, path in paths.items()}

    @cached_property
    def _corpus(self) -> CountsCorpus:
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - 30 MB that no other corpus needs

        _ = self._stamps  # before the first file is read
        counts, terms, names, listed = contents = [
            self._bytes(name, optional=name in OPTIONAL_FILES) for name in COUNTS_FOLDER_FILES
        ]
        self.check_unchanged()  # all four files must be of one version
        vocabulary = tuple(terms.decode("utf-8", "replace").splitlines())
        if len(set(vocabulary)) < len(vocabulary) or not vocabulary:
            raise DataError(f"{self._folder / VOCABULARY_FILE}: must have one term per line, each of them once")
        block_names = listed.decode("utf-8", "replace").splitlines() or ["all"] * len(vocabulary)
        if len(block_names) != len(vocabulary):
            problem = f"has {len(block_names):,} lines, but {VOCABULARY_FILE} has {len(vocabulary):,} terms"
            raise DataError(f"{self._folder / BLOCKS_FILE}: {problem}")
        blocks = tuple(dict.fromkeys(block_names))
        multilabel = _has_several_classes(counts)
        try:
            features, labels = load_svmlight_file(
                io.BytesIO(counts), n_features=len(vocabulary), zero_based=False, multilabel=multilabel
            )
            codes = [sorted(map(_whole, label if multilabel else [label])) for label in labels]
        except (ValueError, OverflowError) as error:
            raise DataError(
                f"{self._folder / COUNTS_FILE}: is not svmlight with {len(vocabulary):,} terms: {error}"
            ) from None
        if not codes:
            raise DataError(f"{self._folder / COUNTS_FILE}: holds no document")
        matrix = sp.csr_array(features)
        if matrix.nnz and (matrix.data.min() < 0 or (matrix.data % 1).any() or matrix.data.max() >= 2**31):
            raise DataError(f"{self._folder / COUNTS_FILE}: counts must be whole numbers, and not negative")
        matrix = matrix.astype(np.int32)
        matrix.eliminate_zeros()
        documents = self._documents(codes, names, multilabel=multilabel)
        number = {name: position for position, name in enumerate(blocks)}
        order = sorted(range(len(vocabulary)), key=lambda n: (number[block_names[n]], vocabulary[n]))
        block_of = np.array([number[block_names[n]] for n in order], dtype=np.int32)
        matrix = sp.csr_array(matrix[:, order])
        matrix.sort_indices()
        digest = hashlib.sha256()
        for content in contents:
            digest.update(content)
        ordered_terms = tuple(vocabulary[n] for n in order)
        return CountsCorpus(self.name, documents, matrix, ordered_terms, digest.hexdigest(), blocks, block_of)

    def _bytes(self, name: str, *, optional: bool) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            if optional:
                return b""
            raise DataError(f"{self._folder / name}: no such file; `bench data export` writes one") from None
        except OSError as error:
            raise DataError(f"{self._folder / name}: can't be read: {error.strerror or error}") from None

    def _documents(self, codes: list[list[int]], content: bytes, *, multilabel: bool) -> Documents:
        by_number = [(str(row), list(map(str, numbers)), "all") for row, numbers in enumerate(codes, start=1)]
        found = self._named(content, multilabel=multilabel)
        named = by_number if found is None else found
        if len(named) != len(codes):
            problem = f"has {len(named):,} documents, but {COUNTS_FILE} has {len(codes):,}"
            raise DataError(f"{self._folder / DOCUMENTS_FILE}: {problem}")
        ids, labels, parts = zip(*named, strict=True)
        if len(set(ids)) < len(ids):
            raise DataError(f"{self._folder / DOCUMENTS_FILE}: two documents have the same id")
        code_of, name_of = dict[str, int](), dict[int, str]()
        for names, numbers in zip(labels, codes, strict=True):
            for name, code in zip(names, numbers, strict=False):
                code_of.setdefault(name, code)
                name_of.setdefault(code, name)
            if list(map(code_of.get, names)) != numbers or list(map(name_of.get, numbers)) != names:
                problem = (
                    f"classes in {DOCUMENTS_FILE} and {COUNTS_FILE} must match one to one, unlike {names} and {numbers}"
                )
                raise DataError(f"{self._folder}: {problem}")
        return encode_documents(ids, labels, sorted(code_of, key=code_of.__getitem__), parts, multilabel=multilabel)

    def _named(self, content: bytes, *, multilabel: bool) -> list[tuple[str, list[str], str]] | None:
        """Read id, classes and group of each document from documents.csv; return None where it doesn't exist.

        The file is read again, and must still have this content.
        """
        path = self._folder / DOCUMENTS_FILE
        if not content and not path.exists():
            return None
        digest = FileDigest.of(
            content[start : start + DIGEST_BLOCK_BYTES] for start in range(0, len(content), DIGEST_BLOCK_BYTES)
        )
        group = ["group"] if "group" in read_columns(path, digest=digest) else []
        rows = (values for _, values in iter_records(path, ["id", "label", *group], digest=digest))
        return [(name, label.split() if multilabel else [label], *(part or ["all"])) for name, label, *part in rows]


def _has_several_classes(counts: bytes) -> bool:
    """Test whether a document has several classes, or none (its line then begins with a feature)."""
    first = (line.partition(b"#")[0].split(None, 1)[:1] for line in io.BytesIO(counts))
    return any(b"," in token[0] or b":" in token[0] for token in first if token)


def _whole(label: float) -> int:
    if label % 1:
        raise ValueError(f"the class {label:g} is not a whole number")
    return int(label)
