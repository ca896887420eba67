"""Labels that may mean something else: lists written as text, names that are nearly alike, rows within quotes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.corpora.user.records import TABLE_DELIMITERS, file_extension, read_columns
from benchmark.corpora.user.records_reader import CLASS_MARKS
from benchmark.system.errors import MAX_PROBLEMS, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.user.file_parameters import FileParameters
    from benchmark.corpora.user.records_reader import FileRow

#: Names by which programs write that a value is missing, in lower case.
MISSING = {"nan", "none", "null", "nil", "n/a", "na", "<na>", "nat", "#n/a", "''", '""'}
#: Brackets of a list.
LIST_BRACKETS = ("[", "(", "{")
#: A list in brackets, as Python, NumPy and JSON write lists, tuples and sets; and an item of it.
_LIST = re.compile(r"(?:array|frozenset|set)?\(?[\[({](.*?)[\])}](?:, dtype=[^,)]+\)?|\))?", re.DOTALL)
_ITEM = re.compile(
    r"""(?:np\.str_\()?[uU]?(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)?|(?P<word>-?\d+(?:\.\d+)?|None|null|nan|NaN)"""
)
#: A list of words in brackets.
UNQUOTED_LIST = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
#: Largest number of records with line breaks that are searched for rows.
MAX_SEARCHED = 1000


def listed_labels(text: str) -> list[Any] | None:
    """Return the items of a list that is written as text, such as ``['a', 'b']``; None for any other text."""
    text = text.strip()
    found = _LIST.fullmatch(text)
    if found is None or (text[0] == "(" and not re.search("[,'\"]", text)):
        return None
    try:
        parsed = json.loads(text)
        return parsed if isinstance(parsed, list) else None
    except (ValueError, RecursionError):
        pass
    if _ITEM.sub("", found[1]).strip(" ,\t\r\n"):
        return None
    items = _ITEM.finditer(found[1])
    quoted = ((each["text"], each["word"]) for each in items)
    values = [re.sub(r"\\(.)", r"\1", text[1:-1]) if text else word for text, word in quoted]
    return [value for value in values if value not in ("None", "null", "nan", "NaN")]


def label_notes(documents: Documents, decomposed: Mapping[str, int]) -> Iterator[str]:
    """Yield what is said of classes that differ in form alone, and of those that stand for a missing value."""
    sizes = {name: int(n) for name, n in zip(documents.classes, documents.sizes().sum(axis=1), strict=True)}
    for name, n in decomposed.items():
        if 0 < n < sizes.get(name, 0):
            forms = f"two forms of Unicode, composed and decomposed ({n:,})"
            yield f"{quote_value(name)} is written in {forms}: they are one class"
    alike = defaultdict[str, list[str]](list)
    for name in sizes:
        alike[_without_form(name)].append(name)
    groups = [sorted(names, key=lambda name: (-sizes[name], name)) for names in alike.values() if len(names) > 1]
    if groups:
        shown = groups[:MAX_PROBLEMS]
        counted = "; ".join(", ".join(f"{quote_value(name)} ({sizes[name]:,})" for name in names) for names in shown)
        more = f"; and {len(groups) - len(shown):,} more" if len(groups) > len(shown) else ""
        joined = _flow({name: names[0] for names in shown for name in names[1:]})
        text = f"Classes differ only in case, spaces or the form of a number: {counted}{more}"
        yield f"{text}. Under `corpus`, rename: {joined} makes them one."
    missing = [name for name in sizes if name.casefold() in MISSING]
    if missing:
        counted = ", ".join(f"{name!r} ({sizes[name]:,})" for name in missing)
        left_out = _flow(dict.fromkeys(missing, ""))
        text = f"A class may stand for a missing value: {counted}"
        drop = "" if documents.topics is not None else ", drop: [unlabelled]"
        yield f"{text}. Under `corpus`, rename: {left_out}{drop} leaves it out."


def _flow(mapping: dict[str, str]) -> str:
    text: str = yaml.safe_dump(mapping, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**6)
    return text.strip()


def _without_form(name: str) -> str:
    """Return a class without case, spaces and the form of a number: 1 for 1.0."""
    text = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return str(number.normalize()) if number.is_finite() else text


class SwallowedRows:
    """Rows of a table that stand in a quoted field of another row, as after a quote that is part of the text."""

    def __init__(self) -> None:
        self._found: list[tuple[FileRow, str]] = []

    def add(self, row: FileRow) -> None:
        """Take a record whose text or class has several lines."""
        if not row.line or len(self._found) >= MAX_SEARCHED or file_extension(row.path) not in TABLE_DELIMITERS:
            return
        texts = *(row.fields.values() or [row.text]), row.label
        self._found += [(row, text) for text in texts if isinstance(text, str) and "\n" in text]

    def notes(self, reader: FileParameters, classes: Sequence[str]) -> Iterator[str]:
        """Yield a note if lines within quotes have as many columns as the table, and the name of a class in one."""
        known, widths = {*classes, *CLASS_MARKS} - {""}, dict[Any, int]()
        n_records, n_lines, first = 0, 0, ""
        for row, text in self._found:
            if row.path not in widths:
                widths[row.path] = len(read_columns(row.path, **reader.form))
            delimiter = reader.delimiter or TABLE_DELIMITERS[file_extension(row.path)]
            cells = (line.split(delimiter) for line in text.split("\n"))
            n = sum(len(own) == widths[row.path] and any(cell.strip() in known for cell in own) for own in cells)
            n_records, n_lines = n_records + bool(n), n_lines + n
            first = first or (f"{row.path.name}:{row.line}" if n else "")
        if n_lines:
            records = "1 record holds" if n_records == 1 else f"{n_records:,} records hold"
            rows = "a line that looks like a row" if n_lines == 1 else f"{n_lines:,} lines that look like rows"
            where = f"{records} {rows} of the table within quotes (the first begins at {first})"
            yield f"{where}. If these quotes are part of the text: quoting: none (bench init: --quoting none)."
