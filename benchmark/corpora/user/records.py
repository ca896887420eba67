"""Stream records from files: comma- and tab-separated tables, JSON and Parquet, compressed or not.

Only one record (of Parquet, one batch; of a JSON array, the text of the file) is in memory.
"""

from __future__ import annotations

import csv
import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Literal

from pyarrow import ArrowException, types

from benchmark.corpora.user.decompress import COMPRESSED, open_as_digested, open_decompressed
from benchmark.corpora.user.json_records import (
    column_names,
    has_column,
    nested_value,
    objects_of_array,
    objects_of_lines,
)
from benchmark.corpora.user.text_lines import MAX_FIELD_LENGTH, text_lines
from benchmark.system.errors import MAX_NAMES, DataError, did_you_mean, one_line, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyarrow import Schema, StructType

    from benchmark.corpora.file_digest import FileDigest


class UnknownColumnError(DataError):
    """A file without a column that is asked for."""

    def __init__(self, path: Path, column: str, known: Sequence[str], hint: str = "") -> None:
        columns = one_line(", ".join(known[:MAX_NAMES]))
        others = [
            mark for mark in DELIMITERS if column in (part.strip() for name in known for part in name.split(mark))
        ]
        if others:
            hint = f"; the columns are separated by {others[0]!r}: state delimiter: {others[0]!r}"
        more = f"{'' if others else did_you_mean(column, known)} (columns: {columns}){hint}"
        super().__init__(f"{path}: has no column {quote_value(column)}{more}")
        self.column = column


#: A record: its first line (or row of a Parquet file), from 1, and the values of the requested columns.
FileRecord = tuple[int, list[Any]]

TABLE_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Delimiters that are looked for.
DELIMITERS = ",;\t|"
#: Quotes of a table: doubled within a quoted field; or none, so that every line is a row.
QUOTINGS: dict[str, Literal[0, 3]] = {"double": csv.QUOTE_MINIMAL, "none": csv.QUOTE_NONE}
#: First line of a table by which Excel names the delimiter.
_NAMED_DELIMITER = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_UNQUOTED = (
    "; if quotes are part of the text, state quoting: none; if a backslash stands before them, state escape: '\\' "
    "(bench init: --quoting none, --escape '\\')"
)
LINES = (".jsonl", ".ndjson")
ARRAYS = (".json",)
PARQUET = (".parquet", ".pq")
#: Extensions of all files of records.
RECORD_EXTENSIONS = (*TABLE_DELIMITERS, *LINES, *ARRAYS, *PARQUET)
#: Extensions of spreadsheets, which only their programs read.
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
#: Rows of a Parquet file in memory at a time.
RECORD_BATCH_ROWS = 4096


def file_extension(path: Path) -> str:
    """Return the extension of a file's name, such as ".csv", without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")


@dataclass(frozen=True)
class TextForm:
    """How a file of text is written.

    Parameters
    ----------
    encoding : str
        Encoding of a file without a byte order mark.
    delimiter : str, optional
        Character between the columns of a table; by default a comma, in ``.tsv`` a tab. A first line such as ``sep=;``
        names another.
    header : bool
        Whether the first row of a table has the names of its columns; otherwise they are named 1, 2, ….
    quoting : str
        One of `QUOTINGS`.
    escape : str, optional
        Character that stands before a quote, a delimiter or a line feed of a table's text.
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quoting: str = "double"
    escape: str | None = None


def iter_records(
    path: Path,
    columns: Sequence[str],
    *,
    digest: FileDigest | None = None,
    skipped: list[int] | None = None,
    **form: Any,
) -> Iterator[FileRecord]:
    """Yield the records of a file with the values of some columns, None where a record has no value.

    Parameters
    ----------
    path : Path
        File; the extension of its name is its format.
    columns : sequence of str
    digest : FileDigest, optional
        Digest of the file; other content raises DataError.
    skipped : list of int, optional
        Gets the lines of rows that have only delimiters, which are no records.
    form
        Parameters of `TextForm`.

    Raises
    ------
    DataError
        The file can't be read; the message has the line and the reason.
    """
    text = TextForm(**form)
    kind = file_extension(path)
    if kind in TABLE_DELIMITERS:
        yield from _of_table(path, columns, text, digest, [] if skipped is None else skipped)
    elif kind in LINES:
        yield from _of_objects(path, columns, text.encoding, digest, objects_of_lines)
    elif kind in ARRAYS:
        yield from _of_objects(path, columns, text.encoding, digest, objects_of_array)
    elif kind in PARQUET:
        yield from _of_parquet(path, columns, digest)
    else:
        raise unreadable_kind(path)


def unreadable_kind(path: Path) -> DataError:
    """Return the error for a file that is no file of records."""
    kind = file_extension(path)
    if kind in SPREADSHEETS:
        return DataError(f"{path}: is a spreadsheet: save its table as CSV (UTF-8), or write it as Parquet")
    return DataError(f"{path}: {unknown_name('kind of file', kind or path.name, RECORD_EXTENSIONS)}, or a folder")


def read_columns(path: Path, *, digest: FileDigest | None = None, **form: Any) -> list[str]:
    """Return the columns of a file, in order; for JSON, those of the first records, with dots before nested keys."""
    kind, text = file_extension(path), TextForm(**form)
    if kind in TABLE_DELIMITERS:
        with open_decompressed(path, digest) as file:
            return _names(next(_table_rows(path, file, text), (1, list[str]()))[1], header=text.header)
    if kind in PARQUET:
        with _parquet(path, digest) as parquet_file:
            return _parquet_columns(parquet_file.schema_arrow)
    if kind not in (*LINES, *ARRAYS):
        raise unreadable_kind(path)
    found: dict[str, None] = {}
    objects = objects_of_lines if kind in LINES else objects_of_array
    with open_decompressed(path, digest) as file:
        for _, record in islice(objects(path, text_lines(file, path, text.encoding)), RECORD_BATCH_ROWS):
            found.update(dict.fromkeys(column_names(record)))
    return list(found)


def named_delimiter(first: str) -> str | None:
    """Return the delimiter that the first line of a table names, as Excel's ``sep=;`` does; None if it names none."""
    found = _NAMED_DELIMITER.fullmatch(first)
    return None if found is None else found[1]


def _table_rows(path: Path, file: IO[bytes], form: TextForm) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the line that it begins on."""
    lines = text_lines(file, path, form.encoding)
    first = next(lines, "")
    named = named_delimiter(first)
    rest, skipped = (chain([first], lines), 0) if named is None else (lines, 1)
    csv.field_size_limit(MAX_FIELD_LENGTH)
    reader = csv.reader(
        rest,
        delimiter=named or form.delimiter or TABLE_DELIMITERS[file_extension(path)],
        strict=True,
        quoting=QUOTINGS[form.quoting],
        escapechar=form.escape,
    )
    line = 1 + skipped
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        problem = str(error)
        if "new-line character" in problem:
            problem = "a carriage return stands alone outside quotes; end all rows in the same way"
        elif form.quoting != "none":
            problem += _UNQUOTED
        raise DataError(f"{path}:{line}: is not a valid table: {problem}") from None


def _of_table(
    path: Path, columns: Sequence[str], form: TextForm, digest: FileDigest | None, skipped: list[int]
) -> Iterator[FileRecord]:
    header = form.header
    with open_decompressed(path, digest) as file:
        rows = _table_rows(path, file, form)
        first = next(rows, None)
        names = _names([] if first is None else first[1], header=header)
        if header and columns and not set(columns) & set(names):
            hint = "; if its first row is not a header, add one, or set header: false in the configuration"
            raise UnknownColumnError(path, columns[0], names, hint)
        where = [_position(path, names, name) for name in columns]
        for line, row in rows if header or first is None else chain([first], rows):
            if row and not any(map(str.strip, row)):
                skipped.append(line)
            elif row and len(row) != len(names):
                raise DataError(f"{path}:{line}: {_other_length(row, len(names), form, path)}")
            elif row:
                yield line, [row[position] for position in where]


def _names(first: Sequence[str], *, header: bool) -> list[str]:
    """Return the names of a table's columns from its first row."""
    return [name.strip() if header else str(number) for number, name in enumerate(first, start=1)]


def _other_length(row: Sequence[str], wanted: int, form: TextForm, path: Path) -> str:
    """Return what is wrong with a row that has more or fewer columns than the first row."""
    n = len(row)
    problem = f"has {n} column{'s' if n > 1 else ''}, and the {'header' if form.header else 'first row'} has {wanted}"
    delimiter = form.delimiter or TABLE_DELIMITERS[file_extension(path)]
    name = {",": "commas", ";": "semicolons", "\t": "tabs"}.get(delimiter, repr(delimiter))
    quote = f"; quote the text if it holds {name}" if n > wanted else ""
    return problem + quote + (_UNQUOTED if form.quoting != "none" and any("\n" in cell for cell in row) else "")


def _position(path: Path, header: Sequence[str], name: str) -> int:
    if name not in header:
        raise UnknownColumnError(path, name, header)
    if header.count(name) > 1:
        raise DataError(f"{path}:1: two columns are named {quote_value(name)}")
    return header.index(name)


def _of_objects(
    path: Path,
    columns: Sequence[str],
    encoding: str,
    digest: FileDigest | None,
    objects: Callable[[Path, Iterator[str]], Iterator[tuple[int, dict[str, Any]]]],
) -> Iterator[FileRecord]:
    missing, names = set(columns), dict[str, None]()
    with open_decompressed(path, digest) as file:
        for count, (number, record) in enumerate(objects(path, text_lines(file, path, encoding))):
            if missing:
                missing = {name for name in missing if not has_column(record, name)}
            if missing and count < RECORD_BATCH_ROWS:
                names.update(dict.fromkeys(column_names(record)))
            yield number, [nested_value(record, name) for name in columns]
    for name in columns:
        if name in missing and names:
            raise UnknownColumnError(path, name, list(names))


@contextmanager
def _parquet(path: Path, digest: FileDigest | None = None) -> Iterator[Any]:
    from pyarrow import parquet  # noqa: PLC0415 - slow to import, and only for Parquet

    try:
        with open_as_digested(path, digest) as plain, parquet.ParquetFile(plain) as file:
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


def _parquet_columns(schema: Schema | StructType) -> list[str]:
    """Return the columns of a Parquet file, with dots before the fields of a struct."""
    found = list[str]()
    for field in schema:
        nested = _parquet_columns(field.type) if types.is_struct(field.type) else []
        found += [f"{field.name}.{name}" for name in nested] or [field.name]
    return found


def _of_parquet(path: Path, columns: Sequence[str], digest: FileDigest | None) -> Iterator[FileRecord]:
    row = 0
    with _parquet(path, digest) as file:
        names, known = file.schema_arrow.names, _parquet_columns(file.schema_arrow)
        for name in columns:
            if name not in names and name not in known:
                raise UnknownColumnError(path, name, known)
        roots = [name if name in names else next(r for r in names if name.startswith(f"{r}.")) for name in columns]
        for root in roots:
            _position(path, names, root)
        for batch in file.iter_batches(RECORD_BATCH_ROWS, columns=list(dict.fromkeys(roots))):
            values = [batch.column(root).to_pylist() for root in roots]
            for record in zip(*values, strict=True):
                row += 1
                whole = zip(columns, roots, record, strict=True)
                yield row, [nested_value({root: value}, name) for name, root, value in whole]
