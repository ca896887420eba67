"""A corpus that has been counted already: svmlight with a vocabulary, as ``bench data export`` writes it."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.file_digest import BLOCK, FileDigest, changed, check_stamp, stamp
from benchmark.corpora.own import OwnCorpus, documents_of
from benchmark.corpora.records import columns_of, records
from benchmark.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.corpora.archive import Source
    from benchmark.corpora.corpus import Documents

FILES = COUNTS, VOCABULARY, DOCUMENTS, BLOCKS = "counts.svmlight", "vocabulary.txt", "documents.csv", "blocks.txt"
OPTIONAL = DOCUMENTS, BLOCKS


@dataclass(frozen=True, eq=False)
class CountedCorpus:
    """Documents with their counts.

    Parameters
    ----------
    dataset : str
    documents : Documents
    matrix : CSR matrix of int32, shape (n, V)
    vocabulary : tuple of str, length V
        Block after block, each in bytewise order.
    digest : str
    blocks : tuple of str
    block_of : int32 array, shape (V,)
        As in `benchmark.text.counts.Counts`.
    """

    dataset: str
    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    digest: str
    blocks: tuple[str, ...]
    block_of: NDArray[np.int32]

    def __iter__(self) -> Iterator[bytes]:
        """What stands for the text of each document: its words, as often as they occur."""
        for row in range(len(self.documents)):
            own = self.matrix[[row]].tocoo()
            words = ([self.vocabulary[column]] * int(n) for column, n in zip(own.coords[1], own.data, strict=True))
            yield " ".join(word for each in words for word in each).encode()

    def take(self, rows: NDArray[np.intp]) -> CountedCorpus:
        """The corpus restricted to the documents at `rows`, in that order."""
        return replace(self, documents=self.documents.take(rows), matrix=self.matrix[rows])


@dataclass(frozen=True)
class CountsFolder(OwnCorpus):
    """Counts as svmlight, with a vocabulary: a folder as ``bench data export`` writes it.

    Parameters
    ----------
    path : str
        Of the folder, relative to the configuration: counts.svmlight, whose features are numbered from 1, and
        vocabulary.txt, a word a line. With documents.csv, of columns id, label and group, these name the documents;
        without, classes are called by their numbers. Documents may have several classes where a line of the counts
        has several numbers, parted by commas, or none; documents.csv parts their names by spaces. With
        blocks.txt, each line names the block that the word on the same line of vocabulary.txt is of; without, all are
        of one.
    base : Path
        What `path` is relative to.
    """

    path: str

    name: ClassVar[str] = "counts"

    @cached_property
    def _folder(self) -> Path:
        return self.places()[0][1]

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields that the blocks are of."""
        return self._corpus.blocks

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self._corpus.documents.topics is not None

    def outline(self) -> Documents:
        """The documents themselves."""
        return self._corpus.documents

    def content(self, source: Source) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """The digest of the files; DataError if they were changed since they were read."""
        self.check_unchanged()
        return {"digest": self.digest()}

    def load(self, source: Source) -> CountedCorpus:  # type: ignore[override]  # noqa: ARG002
        """The documents with their counts."""
        return self._corpus

    def digest(self) -> str:
        """The sha256 over the files that it takes."""
        return self._corpus.digest

    def check_unchanged(self) -> None:
        """Raise DataError if a file of the folder was edited, removed or added since the counts were read."""
        for name, before in self._stamps.items():
            path = self._folder / name
            if before is not None:
                check_stamp(path, before)
            elif path.exists():
                raise changed(path)

    @cached_property
    def _stamps(self) -> dict[str, tuple[int, ...] | None]:
        """The `stamp` of each file from before the counts were read; None of a file that isn't there."""
        paths = {name: self._folder / name for name in FILES}
        return {name: stamp(path) if path.exists() else None for name, path in paths.items()}

    @cached_property
    def _corpus(self) -> CountedCorpus:
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - 30 MB that no other corpus needs

        _ = self._stamps  # before the first file is read
        counts, words, names, listed = held = [self._bytes(name, optional=name in OPTIONAL) for name in FILES]
        self.check_unchanged()  # all four belong together
        vocabulary = tuple(words.decode("utf-8", "replace").splitlines())
        if len(set(vocabulary)) < len(vocabulary) or not vocabulary:
            raise DataError(f"{self._folder / VOCABULARY}: must have a word a line, none twice")
        of_words = listed.decode("utf-8", "replace").splitlines() or ["all"] * len(vocabulary)
        if len(of_words) != len(vocabulary):
            problem = f"names {len(of_words):,} blocks, and {VOCABULARY} has {len(vocabulary):,} words"
            raise DataError(f"{self._folder / BLOCKS}: {problem}")
        blocks = tuple(dict.fromkeys(of_words))
        several = _several(counts)
        try:
            found, labels = load_svmlight_file(
                io.BytesIO(counts), n_features=len(vocabulary), zero_based=False, multilabel=several
            )
            codes = [sorted(map(_whole, each if several else [each])) for each in labels]
        except (ValueError, OverflowError) as error:
            raise DataError(f"{self._folder / COUNTS}: is no svmlight of {len(vocabulary):,} words: {error}") from None
        if not codes:
            raise DataError(f"{self._folder / COUNTS}: holds no document")
        matrix = sp.csr_array(found)
        if matrix.nnz and (matrix.data.min() < 0 or (matrix.data % 1).any() or matrix.data.max() >= 2**31):
            raise DataError(f"{self._folder / COUNTS}: a count is a whole number that isn't negative")
        matrix = matrix.astype(np.int32)
        matrix.eliminate_zeros()
        documents = self._documents(codes, names, several=several)
        number = {name: position for position, name in enumerate(blocks)}
        order = sorted(range(len(vocabulary)), key=lambda n: (number[of_words[n]], vocabulary[n]))
        block_of = np.array([number[of_words[n]] for n in order], dtype=np.int32)
        matrix = sp.csr_array(matrix[:, order])
        matrix.sort_indices()
        digest = hashlib.sha256()
        for content in held:
            digest.update(content)
        words_in_order = tuple(vocabulary[n] for n in order)
        return CountedCorpus(self.name, documents, matrix, words_in_order, digest.hexdigest(), blocks, block_of)

    def _bytes(self, name: str, *, optional: bool) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            if optional:
                return b""
            raise DataError(f"{self._folder / name}: no such file; `bench data export` writes one") from None
        except OSError as error:
            raise DataError(f"{self._folder / name}: can't be read: {error.strerror or error}") from None

    def _documents(self, codes: list[list[int]], content: bytes, *, several: bool) -> Documents:
        by_number = [(str(row), list(map(str, own)), "all") for row, own in enumerate(codes, start=1)]
        named = self._named(content, several=several) or by_number
        if len(named) != len(codes):
            problem = f"names {len(named):,} documents, and {COUNTS} has {len(codes):,}"
            raise DataError(f"{self._folder / DOCUMENTS}: {problem}")
        ids, labels, sides = zip(*named, strict=True)
        if len(set(ids)) < len(ids):
            raise DataError(f"{self._folder / DOCUMENTS}: two documents have the same id")
        code_of, name_of = dict[str, int](), dict[int, str]()
        for names, own in zip(labels, codes, strict=True):
            for name, code in zip(names, own, strict=False):
                code_of.setdefault(name, code)
                name_of.setdefault(code, name)
            if list(map(code_of.get, names)) != own or list(map(name_of.get, own)) != names:
                problem = f"{names} of {DOCUMENTS} and {own} of {COUNTS} are not the same classes throughout"
                raise DataError(f"{self._folder}: {problem}")
        return documents_of(ids, labels, sorted(code_of, key=code_of.__getitem__), sides, several=several)

    def _named(self, content: bytes, *, several: bool) -> list[tuple[str, list[str], str]]:
        """Id, classes and group of each document; none where there is no file of them.

        The file is read again, and must still have this content.
        """
        path = self._folder / DOCUMENTS
        if not content and not path.exists():
            return []
        digest = FileDigest.of(content[start : start + BLOCK] for start in range(0, len(content), BLOCK))
        group = ["group"] if "group" in columns_of(path, digest=digest) else []
        found = (values for _, values in records(path, ["id", "label", *group], digest=digest))
        return [(name, label.split() if several else [label], *(side or ["all"])) for name, label, *side in found]


def _several(counts: bytes) -> bool:
    """Whether a document has several classes, or none: its line then begins with a feature."""
    first = (line.partition(b"#")[0].split(None, 1)[:1] for line in io.BytesIO(counts))
    return any(b"," in own[0] or b":" in own[0] for own in first if own)


def _whole(label: float) -> int:
    if label % 1:
        raise ValueError(f"the class {label:g} is no whole number")
    return int(label)
