"""Decode a user's files line by line, so that an error names the line and offset of the first byte that doesn't fit.

A byte order mark decides the encoding. UTF-16 without one is recognised by its zeros, where the text has many letters
of ASCII. Lines end in a line feed, or in carriage returns alone, if the first line does.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import IO, TYPE_CHECKING, cast

from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Largest number of characters of a field (the csv module's default is 131,072), and of bytes of a line.
MAX_FIELD_LENGTH = 2**27
#: Number of bytes read at once.
READ_BYTES = 2**17
#: Encodings by their byte order marks; that of UTF-32 begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Smallest share of zeros in every other byte of UTF-16, and largest share of them in the bytes between.
MIN_ZEROS, MAX_ZEROS = 0.2, 0.02
_MARK = "\ufeff"


def check_encoding(name: str) -> None:
    """Raise ConfigError for an unknown encoding."""
    try:
        readable = "\n".encode(name).decode(name) == "\n" and codecs.lookup(name).incrementaldecoder is not None
    except (LookupError, ValueError):
        readable = False
    if not readable:
        raise ConfigError(f"encoding: unknown encoding {name!r}; use one such as utf-8, utf-16, latin-1 or cp1252")


def encoding_of(beginning: bytes, encoding: str) -> str:
    """Return the encoding that the first bytes of a file state or show, or else the one that is named."""
    for mark, stated in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return stated
    n = len(beginning) // 2
    if n and codecs.lookup(encoding).name == "utf-8":
        even, odd = (beginning[start : 2 * n : 2].count(0) / n for start in (0, 1))
        if odd >= MIN_ZEROS and even <= MAX_ZEROS:
            return "utf-16-le"
        if even >= MIN_ZEROS and odd <= MAX_ZEROS:
            return "utf-16-be"
    return encoding


def decode_text(content: bytes, encoding: str, path: Path, line: int, start: int) -> str:
    """Decode bytes of a file; raise DataError that names the first byte that doesn't fit the encoding."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        raise _undecodable(path, line, content[error.start], start + error.start, encoding) from None


def _undecodable(path: Path, line: int, byte: int, offset: int | None, encoding: str) -> DataError:
    at = "" if offset is None else f" at offset {offset:,}"
    return DataError(
        f"{path}:{line}: the byte 0x{byte:02x}{at} is not {encoding}; "
        f"name the file's encoding, such as encoding: cp1252, or save the file as utf-8"
    )


def text_lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines of a file with their ends, without a byte order mark.

    Raises
    ------
    DataError
        A byte doesn't fit the encoding, or a line is longer than `MAX_FIELD_LENGTH`.
    """
    beginning = cast("io.BufferedReader", file).peek(READ_BYTES)
    encoding = encoding_of(beginning, encoding)
    in_bytes = "\n".encode(encoding) == b"\n" and not _ends_in_carriage_returns(beginning)
    lines = _lines_of_bytes(file, path, encoding) if in_bytes else _lines_of_text(file, path, encoding)
    for number, line in enumerate(lines):
        yield line.removeprefix(_MARK) if not number else line


def _ends_in_carriage_returns(beginning: bytes) -> bool:
    """Return whether the first line ends in a carriage return alone, as on old Macs."""
    found = re.search(rb"\r\n?|\n", beginning)
    return found is not None and found[0] == b"\r" and found.end() < len(beginning)


def _lines_of_bytes(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    """Yield lines that are cut before they are decoded, where a line feed is the byte 10."""
    offset = 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_FIELD_LENGTH), b""), start=1):
        if len(line) == MAX_FIELD_LENGTH:
            raise _too_long(path, number)
        yield decode_text(line, encoding, path, number, offset)
        offset += len(line)


def _lines_of_text(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    """Yield lines that are cut after they are decoded, at line feeds and carriage returns."""
    text, number = io.TextIOWrapper(cast("io.BufferedReader", file), encoding, newline=""), 1
    try:
        for number, line in enumerate(iter(lambda: text.readline(MAX_FIELD_LENGTH), ""), start=1):
            if len(line) == MAX_FIELD_LENGTH:
                raise _too_long(path, number)
            yield line
            number += 1  # noqa: PLW2901 - that of the next line, for an error
    except UnicodeDecodeError as error:
        content, start = error.object, error.start
        before = content[:start].decode(encoding, "ignore")
        line_number = number + len(re.findall(r"\r\n?|\n", before))
        offset = file.tell() - len(content) + start if file.seekable() else None
        raise _undecodable(path, line_number, content[start], offset, encoding) from None
    finally:
        if not file.closed:
            text.detach()  # otherwise it would close the file


def _too_long(path: Path, number: int) -> DataError:
    return DataError(f"{path}:{number}: the line is longer than {MAX_FIELD_LENGTH:,} bytes")
