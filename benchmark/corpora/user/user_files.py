"""A user's corpus: a folder of class folders, or a file of records with named columns, read as a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.corpora.corpus import FieldedText, StreamedCorpus
from benchmark.corpora.user.file_parameters import FileParameters
from benchmark.corpora.user.records import file_extension
from benchmark.corpora.user.records_reader import iter_rows
from benchmark.corpora.user.validate import scan_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.user.validate import ScanResult


@dataclass(frozen=True)
class UserFiles(FileParameters):
    """A user's documents: a folder of class folders, or a file of records (.csv, .tsv, .jsonl, .parquet; .gz, .zst).

    The parameters are those of `FileParameters`.
    """

    name: ClassVar[str] = "files"

    def outline(self) -> Documents:
        """Return the documents themselves; read the files to the end, and raise DataError with all problems."""
        return self.scanned().documents

    def scanned(self) -> ScanResult:
        """Return the documents and dropped records of the files, without text; cached."""
        return scan_files(self)

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to, and notes on the documents."""
        notes = list(self.scanned().notes)
        return super().facts() | ({"notes": notes} if notes else {})

    # --- Content that a run uses ---

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Return the digest of the files and all parameters but `path`; raise DataError if files have changed."""
        self.check_unchanged()
        kinds = [[place.split, "" if place.is_folder else file_extension(place.path)] for place in self.digests.places]
        return {"kinds": kinds, "digest": self.digest(), **{k: v for k, v in self.parameters().items() if k != "path"}}

    def load(self, source: CorpusSource) -> StreamedCorpus:  # noqa: ARG002 - there is one
        """Return the documents, with their text as a stream."""
        scan = self.scanned()
        return StreamedCorpus(self.name, scan.documents, scan.rows, self._texts, self.digest())

    def _texts(self) -> Iterator[bytes]:
        """Yield the text of every record, as UTF-8."""
        for row in iter_rows(self):
            text = row.text.encode("utf-8", "replace")
            yield (
                FieldedText(text, {k: v.encode("utf-8", "replace") for k, v in row.fields.items()})
                if row.fields
                else text
            )
