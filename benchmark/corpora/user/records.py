"""Read records from files: comma- and tab-separated tables, JSON and Parquet, compressed or not."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, TextIO

from benchmark.corpora.user.text_files import COMPRESSED, decode_text, read_file
from benchmark.system.errors import MAX_NAMES, DataError, did_you_mean, one_line, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    #: Names of columns; and rows as lists of their values or as objects, each with its line or number, from 1.
    Table = tuple[list[str], Iterator[tuple[int, list[str] | dict[str, Any]]]]

#: A record: its first line (or row of a Parquet file or JSON array), from 1, and the values of the requested columns.
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
JSON, PARQUET = (".jsonl", ".ndjson", ".json"), (".parquet", ".pq")
#: Extensions of all files of records.
RECORD_EXTENSIONS = (*TABLE_DELIMITERS, *JSON, *PARQUET)
#: Extensions of spreadsheets, which only their programs read.
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
#: Rows of a Parquet file in memory at a time, and JSON records whose keys are columns.
RECORD_BATCH_ROWS = 4096
#: Largest number of characters of a field: the csv module's default is 131,072.
csv.field_size_limit(2**31 - 1)


class UnknownColumnError(DataError):
    """A file without a column that is asked for."""

    def __init__(self, path: Path, column: str, known: Sequence[str]) -> None:
        hint, columns = did_you_mean(column, known), one_line(", ".join(known[:MAX_NAMES]))
        for mark in DELIMITERS:
            if any(column in map(str.strip, name.split(mark)) for name in known):
                hint = f"; the columns are separated by {mark!r}: state delimiter: {mark!r}"
        super().__init__(f"{path}: has no column {quote_value(column)}{hint} (columns: {columns})")
        self.column = column


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

    def delimiter_of(self, path: Path) -> str:
        """Return the character between the columns of a table."""
        return self.delimiter or TABLE_DELIMITERS[file_extension(path)]


def file_extension(path: Path) -> str:
    """Return the extension of a file's name, such as ".csv", without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")


def iter_records(
    path: Path, columns: Sequence[str], *, digest: Any = None, skipped: list[int] | None = None, **form: Any
) -> Iterator[FileRecord]:
    """Yield the records of a file with the values of some columns, None where a record has no value.

    Parameters
    ----------
    path : Path
        File; the extension of its name is its format.
    columns : sequence of str
    digest : hash of hashlib, optional
        Is updated with the bytes of the file.
    skipped : list of int, optional
        Gets the lines of rows that have only delimiters, which are no records.
    form
        Parameters of `TextForm`.

    Raises
    ------
    DataError
        The file can't be read; the message has the line and the reason.
    """
    text, is_table = TextForm(**form), file_extension(path) in TABLE_DELIMITERS
    names, rows = _opened(path, text, columns, digest)
    for name in columns if names or is_table else ():
        if name not in names:
            raise UnknownColumnError(path, name, names)
        if names.count(name) > 1:
            raise DataError(f"{path}:1: two columns are named {quote_value(name)}")
    where = [names.index(name) for name in columns if name in names]
    for line, row in rows:
        if isinstance(row, dict):
            yield line, [row.get(name) for name in columns]
        elif any(map(str.strip, row)):
            if len(row) != len(names):
                raise DataError(f"{path}:{line}: {_other_length(row, len(names), text, path)}")
            yield line, [row[position] for position in where]
        elif row and skipped is not None:
            skipped.append(line)


def unreadable_kind(path: Path) -> DataError:
    """Return the error for a file that is no file of records."""
    kind = file_extension(path)
    if kind in SPREADSHEETS:
        return DataError(f"{path}: is a spreadsheet: save its table as CSV (UTF-8), or write it as Parquet")
    return DataError(f"{path}: {unknown_name('kind of file', kind or path.name, RECORD_EXTENSIONS)}, or a folder")


def read_columns(path: Path, **form: Any) -> list[str]:
    """Return the columns of a file; of JSON those of the first records."""
    return _opened(path, TextForm(**form), ())[0]


def _opened(path: Path, form: TextForm, columns: Sequence[str], digest: Any = None) -> Table:
    """Open a file of records; of Parquet, only these columns are read."""
    kind = file_extension(path)
    if kind in PARQUET:
        return _parquet(path, read_file(path, digest), columns)
    if kind not in (*TABLE_DELIMITERS, *JSON):
        raise unreadable_kind(path)
    file = io.StringIO(decode_text(path, read_file(path, digest), form.encoding), newline="")
    return _table(path, file, form) if kind in TABLE_DELIMITERS else _json(path, file)


def _table(path: Path, file: TextIO, form: TextForm) -> Table:
    rows = _table_rows(path, file, form)
    first = next(rows, (1, []))
    if form.header:
        return [name.strip() for name in first[1]], rows
    return [str(number) for number in range(1, len(first[1]) + 1)], chain([first], rows)


def _table_rows(path: Path, file: TextIO, form: TextForm) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the line that it begins on."""
    first = file.readline()
    named = _NAMED_DELIMITER.fullmatch(first)
    line = before = 0 if named is None else 1
    reader = csv.reader(
        chain([first], file) if named is None else file,
        delimiter=named[1] if named else form.delimiter_of(path),
        strict=True,
        quoting=QUOTINGS[form.quoting],
        escapechar=form.escape,
    )
    try:
        for row in reader:
            yield line + 1, row
            line = before + reader.line_num
    except csv.Error as error:
        hint = "" if form.quoting == "none" else _UNQUOTED
        raise DataError(f"{path}:{line + 1}: is not a valid table: {error}{hint}") from None


def _other_length(row: Sequence[str], wanted: int, form: TextForm, path: Path) -> str:
    """Return what is wrong with a row that has more or fewer columns than the first row."""
    n, first = len(row), "header" if form.header else "first row"
    quote = f"; quote the text if it holds {form.delimiter_of(path)!r}" if n > wanted else ""
    quote += _UNQUOTED if form.quoting != "none" and any("\n" in cell for cell in row) else ""
    return f"has {n} column{'s' if n > 1 else ''}, and the {first} has {wanted}{quote}"


def _json(path: Path, file: TextIO) -> Table:
    objects = _objects(path, file)
    first = list(islice(objects, RECORD_BATCH_ROWS))
    return list(dict.fromkeys(key for _, record in first for key in record)), chain(first, objects)


def _objects(path: Path, file: TextIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of an array, or of one on each line, with their number or line, from 1."""
    first = file.readline()
    is_array = first.lstrip().startswith("[")
    for number, line in enumerate([first + file.read()] if is_array else chain([first], file), start=1):
        parsed = [_parsed(path, number, line.rstrip())] if line.strip() else []
        for position, record in enumerate(parsed[0] if is_array else parsed, start=number):
            if not isinstance(record, dict):
                raise DataError(f"{path}:{position}: is {quote_value(record)}, and must be an object: {{…}}")
            yield position, record


def _parsed(path: Path, line: int, text: str) -> Any:
    """Parse JSON that begins on a line of a file."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line += getattr(error, "lineno", 1) - 1
        hint = "JSON is read as an array, [{…}, …], or as an object a line"
        raise DataError(f"{path}:{line}: is not valid JSON: {getattr(error, 'msg', error)}; {hint}") from None


def _parquet(path: Path, content: bytes, columns: Sequence[str]) -> Table:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - slow to import, and only for Parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        names: list[str] = file.schema_arrow.names
        table = file.read([name for name in names if name in columns])
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: can't be read: {error}") from None
    batches = table.to_batches(RECORD_BATCH_ROWS)
    return names, enumerate(chain.from_iterable(batch.to_pylist() for batch in batches), start=1)
