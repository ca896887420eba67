"""Read records from files: comma- and tab-separated tables, JSON and Parquet, compressed or not."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO

from benchmark.corpora.user.text_files import COMPRESSED, decode_error, open_decompressed, open_text
from benchmark.system.errors import MAX_NAMES, DataError, did_you_mean, one_line, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

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
LINES, ARRAYS, PARQUET = (".jsonl", ".ndjson"), (".json",), (".parquet", ".pq")
#: Extensions of all files of records.
RECORD_EXTENSIONS = (*TABLE_DELIMITERS, *LINES, *ARRAYS, *PARQUET)
#: Extensions of spreadsheets, which only their programs read.
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
#: Rows of a Parquet file in memory at a time, and JSON records whose keys are columns.
RECORD_BATCH_ROWS = 4096
#: Deepest level of nested objects whose keys are columns.
MAX_NESTED = 10
#: Largest number of characters of a field: the csv module's default is 131,072.
csv.field_size_limit(2**31 - 1)


class UnknownColumnError(DataError):
    """A file without a column that is asked for."""

    def __init__(self, path: Path, column: str, known: Sequence[str], hint: str = "") -> None:
        marks = [mark for mark in DELIMITERS if any(column in map(str.strip, name.split(mark)) for name in known)]
        if marks:
            hint = f"; the columns are separated by {marks[0]!r}: state delimiter: {marks[0]!r}"
        nearest = "" if marks else did_you_mean(column, known)
        columns = one_line(", ".join(known[:MAX_NAMES]))
        super().__init__(f"{path}: has no column {quote_value(column)}{nearest} (columns: {columns}){hint}")
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
        Is updated with the bytes of the file, and has all of them after the last record.
    skipped : list of int, optional
        Gets the lines of rows that have only delimiters, which are no records.
    form
        Parameters of `TextForm`.

    Raises
    ------
    DataError
        The file can't be read; the message has the line and the reason.
    """
    text, kind = TextForm(**form), file_extension(path)
    if kind in TABLE_DELIMITERS:
        yield from _of_table(path, columns, text, digest, [] if skipped is None else skipped)
        return
    known, missing = dict[str, None](), set(columns)
    for count, (number, record) in enumerate(_objects(path, text.encoding, digest, columns)):
        if missing:
            missing = {name for name in missing if _nested(record, name) is _MISSING}
        if missing and count < RECORD_BATCH_ROWS:
            known.update(dict.fromkeys(_column_names(record)))
        yield number, [None if (value := _nested(record, name)) is _MISSING else value for name in columns]
    if known and missing:
        raise UnknownColumnError(path, next(name for name in columns if name in missing), list(known))


def unreadable_kind(path: Path) -> DataError:
    """Return the error for a file that is no file of records."""
    kind = file_extension(path)
    if kind in SPREADSHEETS:
        return DataError(f"{path}: is a spreadsheet: save its table as CSV (UTF-8), or write it as Parquet")
    return DataError(f"{path}: {unknown_name('kind of file', kind or path.name, RECORD_EXTENSIONS)}, or a folder")


def read_columns(path: Path, **form: Any) -> list[str]:
    """Return the columns of a file, in order; for JSON, those of the first records, with dots before nested keys."""
    kind, text = file_extension(path), TextForm(**form)
    if kind in TABLE_DELIMITERS:
        with open_text(path, text.encoding) as file:
            return _names(next(_table_rows(path, file, text), (1, list[str]()))[1], header=text.header)
    if kind in PARQUET:
        with open_decompressed(path) as file:
            return _parquet_columns(_parquet_file(path, file).schema_arrow)
    records = islice(_objects(path, text.encoding), RECORD_BATCH_ROWS)
    return list(dict.fromkeys(name for _, record in records for name in _column_names(record)))


# --- Tables ---


def named_delimiter(first: str) -> str | None:
    """Return the delimiter that the first line of a table names, as Excel's ``sep=;`` does; None if it names none."""
    found = _NAMED_DELIMITER.fullmatch(first)
    return None if found is None else found[1]


def _table_rows(path: Path, file: TextIO, form: TextForm) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the line that it begins on."""
    line, before, reader = 1, 0, None
    try:
        first = file.readline()
        named = named_delimiter(first)
        before = 0 if named is None else 1
        reader = csv.reader(
            chain([first], file) if named is None else file,
            delimiter=named or form.delimiter_of(path),
            strict=True,
            quoting=QUOTINGS[form.quoting],
            escapechar=form.escape,
        )
        line = before + 1
        for row in reader:
            yield line, row
            line = before + reader.line_num + 1
    except csv.Error as error:
        hint = "" if form.quoting == "none" else _UNQUOTED
        raise DataError(f"{path}:{line}: is not a valid table: {error}{hint}") from None
    except UnicodeDecodeError as error:
        raise decode_error(path, _encoding(file), error, before + reader.line_num if reader else 0) from None


def _encoding(file: TextIO) -> str:
    return file.encoding.removesuffix("-sig")


def _of_table(
    path: Path, columns: Sequence[str], form: TextForm, digest: Any, skipped: list[int]
) -> Iterator[FileRecord]:
    with open_text(path, form.encoding, digest) as file:
        rows = _table_rows(path, file, form)
        first = next(rows, None)
        names = _names([] if first is None else first[1], header=form.header)
        if form.header and columns and not set(columns) & set(names):
            hint = "; if its first row is not a header, add one, or set header: false in the configuration"
            raise UnknownColumnError(path, columns[0], names, hint)
        where = [_position(path, names, name) for name in columns]
        for line, row in rows if form.header or first is None else chain([first], rows):
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
    quote = f"; quote the text if it holds {form.delimiter_of(path)!r}" if n > wanted else ""
    return problem + quote + (_UNQUOTED if form.quoting != "none" and any("\n" in cell for cell in row) else "")


def _position(path: Path, header: Sequence[str], name: str) -> int:
    if name not in header:
        raise UnknownColumnError(path, name, header)
    if header.count(name) > 1:
        raise DataError(f"{path}:1: two columns are named {quote_value(name)}")
    return header.index(name)


# --- Objects: JSON and Parquet ---

_MISSING: Any = object()


def _nested(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a column; of `body.text`, the value of `text` in `body`, unless a key has that very name."""
    if name in record:
        return record[name]
    for dot in re.finditer(r"\.", name):
        inner = record.get(name[: dot.start()])
        if isinstance(inner, dict) and (value := _nested(inner, name[dot.end() :])) is not _MISSING:
            return value
    return _MISSING


def _column_names(record: Mapping[str, Any], levels: int = MAX_NESTED) -> Iterator[str]:
    """Yield the columns of a record, in order: its keys, and those of objects in it after a dot."""
    for key, value in record.items():
        if isinstance(value, dict) and value and levels:
            yield from (f"{key}.{name}" for name in _column_names(value, levels - 1))
        else:
            yield key


def _objects(
    path: Path, encoding: str, digest: Any = None, columns: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file, each with its line or number, from 1."""
    kind = file_extension(path)
    if kind in PARQUET:
        with open_decompressed(path, digest) as packed:
            yield from enumerate(_parquet_rows(path, packed, columns), start=1)
        return
    if kind not in (*LINES, *ARRAYS):
        raise unreadable_kind(path)
    number = 0
    with open_text(path, encoding, digest) as file:
        try:
            lines: Iterator[str] = file
            if kind in ARRAYS:
                text = file.read()
                if text.lstrip().startswith("["):
                    records = enumerate(_parsed(path, 0, text), start=1)
                    yield from ((number, _object(path, number, record)) for number, record in records)
                    return
                lines = io.StringIO(text)
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _object(path, number, _parsed(path, number - 1, line.rstrip()))
        except UnicodeDecodeError as error:
            raise decode_error(path, _encoding(file), error, number) from None


def _parsed(path: Path, lines: int, text: str) -> Any:
    """Parse JSON that stands after so many lines of a file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = "; a .json file is an array, [{…}, …], or has an object a line" if file_extension(path) in ARRAYS else ""
        raise DataError(f"{path}:{lines + error.lineno}: is not valid JSON: {error.msg}{hint}") from None
    except RecursionError:
        raise DataError(f"{path}:{lines + 1}: is not valid JSON: its values are nested too deeply") from None


def _object(path: Path, number: int, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"{path}:{number}: is {quote_value(record)}, and must be an object: {{…}}")
    return record


def _parquet_file(path: Path, file: IO[bytes]) -> Any:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - slow to import, and only for Parquet

    try:
        return parquet.ParquetFile(io.BytesIO(file.read()))
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: can't be read: {error}") from None


def _parquet_columns(schema: Any) -> list[str]:
    """Return the columns of a Parquet file, with dots before the fields of a struct."""
    from pyarrow import types  # noqa: PLC0415 - as above

    found = list[str]()
    for field in schema:
        nested = _parquet_columns(field.type) if types.is_struct(field.type) else []
        found += [f"{field.name}.{name}" for name in nested] or [field.name]
    return found


def _parquet_rows(path: Path, file: IO[bytes], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    from pyarrow import ArrowException  # noqa: PLC0415 - as above

    table = _parquet_file(path, file)
    names, known = table.schema_arrow.names, _parquet_columns(table.schema_arrow)
    for name in columns:
        if name not in names and name not in known:
            raise UnknownColumnError(path, name, known)
    roots = [
        root for root in dict.fromkeys(names) if any(name == root or name.startswith(f"{root}.") for name in columns)
    ]
    try:
        for batch in table.iter_batches(RECORD_BATCH_ROWS, columns=roots):
            values = [batch.column(root).to_pylist() for root in roots]
            yield from (dict(zip(roots, row, strict=True)) for row in zip(*values, strict=True))
    except (OSError, ArrowException, ArithmeticError, LookupError, TypeError, ValueError) as error:  # damaged files
        raise DataError(f"{path}: can't be read: {error}") from None
