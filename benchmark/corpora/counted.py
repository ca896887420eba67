"""A corpus that has been counted already: svmlight with a vocabulary, as ``bench data export`` writes it."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.archive import Source
from benchmark.corpora.assemble import select
from benchmark.corpora.corpus import Documents
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.records import columns_of, records
from benchmark.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

FILES = COUNTS, VOCABULARY, DOCUMENTS = "counts.svmlight", "vocabulary.txt", "documents.csv"


@dataclass(frozen=True, eq=False)
class CountedCorpus:
    """Documents with their counts.

    Parameters
    ----------
    dataset : str
    documents : Documents
    matrix : CSR matrix of int32, shape (n, V)
    vocabulary : tuple of str, length V
        In bytewise order.
    digest : str
    """

    dataset: str
    documents: Documents
    matrix: sp.csr_array
    vocabulary: tuple[str, ...]
    digest: str

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
class CountsFolder(CorpusReader):
    """Counts as svmlight, with a vocabulary: a folder as ``bench data export`` writes it.

    Parameters
    ----------
    path : str
        Of the folder, relative to the configuration: counts.svmlight, whose features are numbered from 1, and
        vocabulary.txt, a word a line. With documents.csv, of columns id, label and group, these name the documents;
        without, classes are called by their numbers.
    base : Path
        What `path` is relative to.
    """

    path: str
    base: Path = field(default=Path(), compare=False)

    name: ClassVar[str] = "counts"
    set_by_run: ClassVar[tuple[str, ...]] = ("base",)

    @cached_property
    def _folder(self) -> Path:
        return self.base / Path(self.path).expanduser()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of their numbers."""
        return self._corpus.documents.classes

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order of their names."""
        return self._corpus.documents.group_names

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self._corpus.documents.topics is not None

    def outline(self) -> Documents:
        """The documents themselves."""
        return self._corpus.documents

    def locate(
        self,
        *,
        download: bool,  # noqa: ARG002 - it is here, or nowhere
        notify: Callable[[str], None],  # noqa: ARG002
        progress: bool,  # noqa: ARG002
    ) -> Source:
        """The folder."""
        return Source(Path(self.path))

    def content(self, source: Source) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """The digest of the files."""
        return {"digest": self._corpus.digest}

    def load(self, source: Source) -> CountedCorpus:  # type: ignore[override]  # noqa: ARG002
        """The documents with their counts."""
        return self._corpus

    @property
    def code(self) -> tuple[Any, ...]:
        """The classes that decide which counts it gives."""
        return CountsFolder, CountedCorpus, select

    def facts(self) -> dict[str, Any]:
        """As one's own files keep them."""
        return {"base": str(self.base.resolve()), **super().facts()}

    @cached_property
    def _corpus(self) -> CountedCorpus:
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - 30 MB that no other corpus needs

        digest = hashlib.sha256()
        for name in FILES:
            digest.update(self._bytes(name, optional=name == DOCUMENTS))
        vocabulary = tuple(self._bytes(VOCABULARY).decode("utf-8", "replace").splitlines())
        if len(set(vocabulary)) < len(vocabulary) or not vocabulary:
            raise DataError(f"{self._folder / VOCABULARY}: must have a word a line, none twice")
        several = any(b"," in line.split(b" ", 1)[0] for line in self._bytes(COUNTS).splitlines())
        named = self._named()
        several = several or any(" " in label or not label for _, label, _ in named or [])
        try:
            found, labels = load_svmlight_file(
                str(self._folder / COUNTS), n_features=len(vocabulary), zero_based=False, multilabel=several
            )
        except (ValueError, OverflowError) as error:
            raise DataError(f"{self._folder / COUNTS}: is no svmlight of {len(vocabulary):,} words: {error}") from None
        matrix = sp.csr_array(found)
        if matrix.nnz and (matrix.data.min() < 0 or (matrix.data % 1).any() or matrix.data.max() >= 2**31):
            raise DataError(f"{self._folder / COUNTS}: a count is a whole number that isn't negative")
        matrix = matrix.astype(np.int32)
        matrix.eliminate_zeros()
        documents = self._documents(labels, named, matrix.shape[0], several=several)
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        matrix = sp.csr_array(matrix[:, order])
        matrix.sort_indices()
        return CountedCorpus(self.name, documents, matrix, tuple(vocabulary[n] for n in order), digest.hexdigest())

    def _bytes(self, name: str, *, optional: bool = False) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            if optional:
                return b""
            raise DataError(f"{self._folder / name}: no such file; `bench data export` writes one") from None
        except OSError as error:
            raise DataError(f"{self._folder / name}: can't be read: {error.strerror or error}") from None

    def _named(self) -> list[list[str]] | None:
        """Id, label and group of each document."""
        path = self._folder / DOCUMENTS
        if not path.exists():
            return None
        csv.field_size_limit(2**27)
        group = ["group"] if "group" in columns_of(path) else []
        found = [values for _, values in records(path, ["id", "label", *group])]
        return [[*values, "all"][:3] for values in found]

    def _documents(self, labels: Any, named: list[list[str]] | None, n: int, *, several: bool) -> Documents:
        if named is not None and len(named) != n:
            raise DataError(f"{self._folder / DOCUMENTS}: names {len(named):,} documents, and {COUNTS} has {n:,}")
        codes_of = [sorted(int(code) for code in (each if several else [each])) for each in labels]
        own = [list(map(str, codes)) for codes in codes_of]
        if named is not None:
            own = [label.split() if several else [label] for _, label, _ in named]
        number: dict[str, int] = {}
        for names, codes in zip(own, codes_of, strict=True):
            if len(names) != len(codes) or any(
                number.setdefault(*pair) != pair[1] for pair in zip(names, codes, strict=True)
            ):
                problem = f"{names} of {DOCUMENTS} and {codes} of {COUNTS} are not the same classes throughout"
                raise DataError(f"{self._folder}: {problem}")
        classes = tuple(sorted(number, key=number.__getitem__))
        code = {name: position for position, name in enumerate(classes)}
        topics = None
        if several:
            topics = np.zeros((n, len(classes)), dtype=np.bool_)
            for row, each in enumerate(own):
                topics[row, [code[name] for name in each]] = True
        labelled = np.full(n, -1, np.int32) if several else np.array([code[each[0]] for each in own], dtype=np.int32)
        ids = tuple(name for name, _, _ in named) if named is not None else tuple(str(row + 1) for row in range(n))
        if len(set(ids)) < n:
            raise DataError(f"{self._folder / DOCUMENTS}: two documents have the same id")
        sides = [group for _, _, group in named] if named is not None else ["all"] * n
        groups = sorted(set(sides))
        place = {name: position for position, name in enumerate(groups)}
        of_group = np.array([place[each] for each in sides], dtype=np.int32)
        return Documents(ids, labelled, of_group, classes, tuple(groups), topics)
