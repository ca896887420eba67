"""Stream records from files: comma- and tab-separated tables, JSON lines and Parquet, compressed or not.

Only one record (of Parquet, one batch) is in memory. Text is decoded line by line, so that an error names the line and
offset of the first byte that doesn't fit the encoding.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import lzma
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from pyarrow import ArrowException, parquet

from benchmark.corpora.file_digest import CheckedFile, changed_file_error
from benchmark.system.errors import MAX_NAMES, ConfigError, DataError, did_you_mean, one_line, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmark.corpora.file_digest import FileDigest


class UnknownColumnError(DataError):
    """A file without a column that is asked for."""

    def __init__(self, path: Path, column: str, known: Sequence[str], hint: str = "") -> None:
        columns = one_line(", ".join(known[:MAX_NAMES]))
        more = f"{did_you_mean(column, known)} (columns: {columns}){hint}"
        super().__init__(f"{path}: has no column {quote_value(column)}{more}")
        self.column = column


#: A record: its first line (or row of a Parquet file), from 1, and the values of the requested columns.
FileRecord = tuple[int, list[Any]]

COMPRESSED = (".gz", ".zst", ".xz")
TABLE_DELIMITERS = {".csv": ",", ".tsv": "\t"}
LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
#: Largest number of characters of a field (the csv module's default is 131,072), and of bytes of a line.
MAX_FIELD_LENGTH = 2**27
#: Number of bytes read at once.
READ_BYTES = 2**17
#: Number of compressed bytes decompressed at once: they may expand 32,768 times.
ZSTD_PIECE = 2**12
#: Rows of a Parquet file in memory at a time.
RECORD_BATCH_ROWS = 4096


def file_extension(path: Path) -> str:
    """Return the extension of a file's name, such as ".csv", without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")


def iter_records(
    path: Path,
    columns: Sequence[str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
    digest: FileDigest | None = None,
) -> Iterator[FileRecord]:
    """Yield the records of a file with the values of some columns, None where a record has no value.

    Parameters
    ----------
    path : Path
        File; the extension of its name is its format.
    columns : sequence of str
    encoding : str
        Encoding in which a line feed is the byte 10.
    delimiter : str, optional
        Character between the columns of a table; by default a comma, in ``.tsv`` a tab.
    header : bool
        Whether the first row of a table has the names of its columns; otherwise they are named 1, 2, ….
    digest : FileDigest, optional
        Digest of the file; other content raises DataError.

    Raises
    ------
    DataError
        The file can't be read; the message has the line and the reason.
    """
    kind = file_extension(path)
    if kind in TABLE_DELIMITERS:
        yield from _of_table(path, columns, encoding, delimiter or TABLE_DELIMITERS[kind], digest, header=header)
    elif kind in LINES:
        yield from _of_lines(path, columns, encoding, digest)
    elif kind in PARQUET:
        yield from _of_parquet(path, columns, digest)
    else:
        raise _no_kind(path)


def _no_kind(path: Path) -> DataError:
    kinds = [*TABLE_DELIMITERS, *LINES, *PARQUET]
    return DataError(f"{path}: {unknown_name('kind of file', file_extension(path) or path.name, kinds)}, or a folder")


def read_columns(
    path: Path,
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
    digest: FileDigest | None = None,
) -> list[str]:
    """Return the columns of a file, in order; for JSON lines, the keys of the first records."""
    kind = file_extension(path)
    if kind in TABLE_DELIMITERS:
        with open_decompressed(path, digest) as file:
            lines = _text_lines(file, path, encoding)
            return _names(next(csv.reader(lines, delimiter=delimiter or TABLE_DELIMITERS[kind]), []), header=header)
    if kind in PARQUET:
        with _parquet(path, digest) as parquet_file:
            return list(parquet_file.schema_arrow.names)
    if kind not in LINES:
        raise _no_kind(path)
    found: dict[str, None] = {}
    with open_decompressed(path, digest) as file:
        for number, line in zip(range(1, RECORD_BATCH_ROWS), _text_lines(file, path, encoding), strict=False):
            found.update(dict.fromkeys(_object(path, number, line)))
    return list(found)


def check_encoding(name: str) -> None:
    """Raise ConfigError for an unknown encoding, or one whose lines can't be split before they are decoded."""
    try:
        line_feed = "\n".encode(name)
    except (LookupError, ValueError):
        raise ConfigError(f"encoding: unknown encoding {name!r}; use one such as utf-8, latin-1 or cp1252") from None
    if line_feed != b"\n":
        raise ConfigError(f"encoding: {name!r} can't be read line by line; save the file as utf-8")


@contextmanager
def open_decompressed(path: Path, digest: FileDigest | None = None) -> Iterator[IO[bytes]]:
    """Open a file that is decompressed as it is read; raise DataError if opening or reading fails.

    With a digest of the file, only the digested content can be read.
    """
    try:
        with _as_digested(path, digest) as plain, _unpacked(path, plain) as file:
            yield file
    except EOFError:
        raise DataError(f"{path}: is truncated: its compressed stream ends too early") from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: can't be read: {reason}") from None


@contextmanager
def _as_digested(path: Path, digest: FileDigest | None) -> Iterator[IO[bytes]]:
    """Open a file without decompressing it; check its content if there is a digest."""
    try:
        plain = path.open("rb")
    except FileNotFoundError:
        if digest is None:
            raise
        raise changed_file_error(path) from None
    with plain:
        yield plain if digest is None else io.BufferedReader(CheckedFile(path, plain, digest), READ_BYTES)


def _unpacked(path: Path, plain: IO[bytes]) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=plain))
    if suffix == ".xz":
        return cast("IO[bytes]", lzma.LZMAFile(plain))
    if suffix == ".zst":
        return _zstandard(path, plain)
    return plain


def _zstandard(path: Path, plain: IO[bytes]) -> IO[bytes]:
    import zstandard  # noqa: PLC0415 - few files are compressed by it

    class Unpacked(io.RawIOBase):
        """Decompressed bytes of all frames; zstandard's reader accepts a frame without its end."""

        def __init__(self) -> None:
            self._frame: Any = None
            self._rest, self._ready, self._whole = b"", b"", True

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            while not self._ready:
                packed = self._rest or plain.read(ZSTD_PIECE)
                if not packed and not self._whole:
                    raise EOFError
                if not packed:
                    return 0
                if self._whole:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                try:
                    self._ready = self._frame.decompress(packed)
                except zstandard.ZstdError as error:
                    raise DataError(f"{path}: can't be read: {error}") from None
                self._whole = self._frame.eof
                self._rest = self._frame.unused_data if self._whole else b""
            n = min(len(buffer), len(self._ready))
            buffer[:n], self._ready = self._ready[:n], self._ready[n:]
            return n

    return io.BufferedReader(Unpacked(), READ_BYTES)


def decode_text(content: bytes, encoding: str, path: Path, line: int, start: int) -> str:
    """Decode bytes of a file; raise DataError that names the first byte that doesn't fit the encoding."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        byte, line = content[error.start], line + content.count(b"\n", 0, error.start)
        raise DataError(
            f"{path}:{line}: the byte 0x{byte:02x} at offset {start + error.start:,} is not {encoding}; "
            f"name the file's encoding, such as encoding: cp1252, or save the file as {encoding}"
        ) from None


def _text_lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    offset = 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_FIELD_LENGTH), b""), start=1):
        if len(line) == MAX_FIELD_LENGTH:
            raise DataError(f"{path}:{number}: the line is longer than {MAX_FIELD_LENGTH:,} bytes")
        text = decode_text(line, encoding, path, number, offset)
        if number == 1 and line.startswith(codecs.BOM_UTF8) and text.startswith("\ufeff"):
            text = text[1:]
        yield text
        offset += len(line)


def _of_table(
    path: Path, columns: Sequence[str], encoding: str, delimiter: str, digest: FileDigest | None, *, header: bool
) -> Iterator[FileRecord]:
    csv.field_size_limit(MAX_FIELD_LENGTH)
    with open_decompressed(path, digest) as file:
        reader = csv.reader(_text_lines(file, path, encoding), delimiter=delimiter, strict=True)
        line = 1
        try:
            row = next(reader, None)
            names = _names(row or [], header=header)
            if header and columns and not set(columns) & set(names):
                hint = "if its first row is not a header, add one, or set header: false in the configuration"
                raise UnknownColumnError(path, columns[0], names, f"; {hint}")
            where = [_position(path, names, name) for name in columns]
            if header:
                line = reader.line_num + 1
                row = next(reader, None)
            while row is not None:
                if row and len(row) != len(names):
                    raise DataError(f"{path}:{line}: {_other_length(len(row), len(names), delimiter, header=header)}")
                if row:
                    yield line, [row[position] for position in where]
                line = reader.line_num + 1
                row = next(reader, None)
        except csv.Error as error:
            raise DataError(f"{path}:{line}: is not a valid table: {error}") from None


def _names(first: Sequence[str], *, header: bool) -> list[str]:
    """Return the names of a table's columns from its first row."""
    return [name.strip() if header else str(number) for number, name in enumerate(first, start=1)]


def _other_length(n: int, wanted: int, delimiter: str, *, header: bool) -> str:
    """Return what is wrong with a row that has more or fewer columns than the first row."""
    problem = f"has {n} column{'s' if n > 1 else ''}, and the {'header' if header else 'first row'} has {wanted}"
    name = {",": "commas", ";": "semicolons", "\t": "tabs"}.get(delimiter, repr(delimiter))
    return f"{problem}; quote the text if it holds {name}" if n > wanted else problem


def _position(path: Path, header: Sequence[str], name: str) -> int:
    if name not in header:
        raise UnknownColumnError(path, name, header)
    if header.count(name) > 1:
        raise DataError(f"{path}:1: two columns are named {quote_value(name)}")
    return header.index(name)


def _of_lines(path: Path, columns: Sequence[str], encoding: str, digest: FileDigest | None) -> Iterator[FileRecord]:
    seen = dict.fromkeys(columns, False)
    names: dict[str, None] = {}
    with open_decompressed(path, digest) as file:
        for number, line in enumerate(_text_lines(file, path, encoding), start=1):
            if not line.strip():
                continue
            record = _object(path, number, line)
            if number <= RECORD_BATCH_ROWS:
                names.update(dict.fromkeys(record))
            for name in columns:
                seen[name] |= name in record
            yield number, [record.get(name) for name in columns]
    for name in columns:
        if not seen[name] and names:
            raise UnknownColumnError(path, name, list(names))


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line) if line.strip() else {}
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}:{number}: is not valid JSON: {error}") from None
    if not isinstance(record, dict):
        raise DataError(f"{path}:{number}: is {quote_value(record)}, and must be an object: {{…}}")
    return record


@contextmanager
def _parquet(path: Path, digest: FileDigest | None = None) -> Iterator[Any]:
    try:
        with _as_digested(path, digest) as plain, parquet.ParquetFile(plain) as file:
            yield file
    except (
        OSError,
        ArrowException,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:  # damaged files
        raise DataError(f"{path}: can't be read: {error}") from None


def _of_parquet(path: Path, columns: Sequence[str], digest: FileDigest | None) -> Iterator[FileRecord]:
    row = 0
    with _parquet(path, digest) as file:
        for name in columns:
            _position(path, file.schema_arrow.names, name)
        for batch in file.iter_batches(RECORD_BATCH_ROWS, columns=list(columns)):
            values = [batch.column(name).to_pylist() for name in columns]
            for record in zip(*values, strict=True):
                row += 1
                yield row, list(record)
