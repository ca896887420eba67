"""Records of JSON: an object a line, or an array of objects; dots in a column's name go into nested objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

#: Deepest level of nested objects whose keys are columns.
MAX_NESTED = 10
_MISSING = object()


def nested_value(record: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """Return the value of a column; of `body.text`, the value of `text` in `body`, unless a key has that very name."""
    if name in record:
        return record[name]
    for dot in (position for position, letter in enumerate(name) if letter == "."):
        inner = record.get(name[:dot])
        if isinstance(inner, dict) and has_column(inner, name[dot + 1 :]):
            return nested_value(inner, name[dot + 1 :])
    return default


def has_column(record: Mapping[str, Any], name: str) -> bool:
    """Test whether a record has a column."""
    return nested_value(record, name, _MISSING) is not _MISSING


def column_names(record: Mapping[str, Any], levels: int = MAX_NESTED) -> Iterator[str]:
    """Yield the columns of a record, in order: its keys, and those of objects in it after a dot."""
    for key, value in record.items():
        if isinstance(value, dict) and value and levels:
            yield from (f"{key}.{name}" for name in column_names(value, levels - 1))
        else:
            yield key


def objects_of_lines(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON lines with the numbers of their lines, without blank lines."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}:{number}: is not valid JSON: {error}") from None
            yield number, _object(path, number, record)


def objects_of_array(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of an array with their numbers, from 1; the whole text is in memory, and one object."""
    text, decoder = "".join(lines), json.JSONDecoder()
    position, number = _after_space(text, 0), 0
    if text[position : position + 1] != "[":
        raise DataError(f"{path}: {_no_array(text, position)}")
    end = ","
    position = _after_space(text, position + 1)
    if text[position : position + 1] == "]":
        return
    while end == ",":
        number += 1
        try:
            record, position = decoder.raw_decode(text, _after_space(text, position))
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, getattr(error, "pos", position)) + 1
            raise DataError(f"{path}:{line}: is not valid JSON: {getattr(error, 'msg', error)}") from None
        yield number, _object(path, number, record)
        position = _after_space(text, position)
        end = text[position : position + 1]
        position += 1
    if end != "]" or _after_space(text, position) < len(text):
        line = text.count("\n", 0, position) + 1
        raise DataError(
            f"{path}:{line}: is not valid JSON: a comma or ] should follow object {number}, and nothing a ]"
        )


def _no_array(text: str, position: int) -> str:
    """Explain a file that has no array of objects."""
    wanted = "a .json file is an array of objects: [{…}, …]"
    try:
        record, end = json.JSONDecoder().raw_decode(text, position)
    except (ValueError, RecursionError):
        return f"is not valid JSON; {wanted}"
    if isinstance(record, dict) and text[_after_space(text, end) :].startswith("{"):
        return "has an object a line: name the file .jsonl"
    arrays = [key for key, value in record.items() if isinstance(value, list)] if isinstance(record, dict) else []
    hint = f"; write the array of its key {quote_value(arrays[0])} to a file of its own" if arrays else ""
    return f"is no array; {wanted}{hint}"


def _after_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _object(path: Path, number: int, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"{path}:{number}: is {quote_value(record)}, and must be an object: {{…}}")
    return record
