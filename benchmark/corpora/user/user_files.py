"""A user's corpus: a folder of class folders, or a file of records with named columns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.corpora.user.documents import read_documents
from benchmark.corpora.user.file_parameters import FileParameters
from benchmark.corpora.user.records import file_extension
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Corpus, Documents
    from benchmark.corpora.user.documents import ScanResult


@dataclass(frozen=True)
class UserFiles(FileParameters):
    """A user's documents: a folder of class folders, or a file of records (.csv, .tsv, .jsonl, .parquet; .gz, .zst).

    The parameters are those of `FileParameters`.
    """

    name: ClassVar[str] = "files"

    def outline(self) -> Documents:
        """Return the documents; read the files to the end, and raise DataError with all problems."""
        return self.scanned().corpus.documents

    def scanned(self) -> ScanResult:
        """Return the documents and dropped records of the files; cached as long as the files aren't edited."""
        return _read(json.dumps(self._parameters()), self.base, self._stamps)

    def digest(self) -> str:
        """Return the sha256 over the files' names (of a folder, below it; of a split, its part) and contents."""
        return self.scanned().corpus.digest

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to, and notes on the documents."""
        notes = list(self.scanned().notes)
        return super().facts() | ({"notes": notes} if notes else {})

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Return the digest of the files and all parameters but `path`."""
        kinds = [[split, "" if path.is_dir() else file_extension(path)] for split, path in self.paths_by_part()]
        parameters = {key: value for key, value in self._parameters().items() if key != "path"}
        return {"kinds": kinds, "digest": self.digest(), **parameters}

    def load(self, source: CorpusSource) -> Corpus:  # noqa: ARG002 - there is one
        """Return the documents with their text."""
        return self.scanned().corpus

    def _parameters(self) -> dict[str, Any]:
        """Return all parameters by name, as plain data."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @cached_property
    def _stamps(self) -> tuple[tuple[str, int, int], ...]:
        """Name, size and time of modification of each file."""
        stats = [(str(file), file.stat()) for _, path in self.paths_by_part() for _, file in files_below(path)]
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=2)
def _read(parameters: str, base: Path, stamps: tuple[tuple[str, int, int], ...]) -> ScanResult:
    del stamps  # files that were edited are read again
    reader = UserFiles(**json.loads(parameters), base=base)
    return read_documents(reader, [(part, path, files_below(path)) for part, path in reader.paths_by_part()])


def files_below(path: Path) -> list[tuple[str, Path]]:
    """Return the files below a folder that aren't hidden, sorted by relative path; a file itself has the path ""."""
    if not path.is_dir():
        return [("", path)]
    found = list[tuple[str, Path]]()
    for top, folders, names in os.walk(path, onerror=_refuse, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(top) / name for name in names if not name.startswith("."))
        found += [(file.relative_to(path).as_posix(), file) for file in files]
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise DataError(f"{error.filename}: can't be read: {error.strerror}")
