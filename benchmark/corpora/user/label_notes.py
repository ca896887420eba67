"""Labels that may mean something else: lists written as text, and names that are nearly alike."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.system.errors import MAX_PROBLEMS, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.corpora.corpus import Documents

#: Names by which programs write that a value is missing, in lower case.
MISSING = {"nan", "none", "null", "nil", "n/a", "na", "<na>", "nat", "#n/a", "''", '""'}
#: Brackets of a list.
LIST_BRACKETS = ("[", "(", "{")
#: A list in brackets, as Python, NumPy and JSON write lists, tuples and sets; an item of it; and a list of words.
_LIST = re.compile(r"(?:array|frozenset|set)?\(?[\[({](.*?)[\])}](?:, dtype=[^,)]+\)?|\))?", re.DOTALL)
_ITEM = re.compile(
    r"""(?:np\.str_\()?[uU]?(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)?|(?P<word>-?\d+(?:\.\d+)?|None|null|nan|NaN)"""
)
UNQUOTED_LIST = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")


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
    values = [
        re.sub(r"\\(.)", r"\1", item["text"][1:-1]) if item["text"] else item["word"]
        for item in _ITEM.finditer(found[1])
    ]
    return [value for value in values if value not in ("None", "null", "nan", "NaN")]


def label_notes(documents: Documents) -> Iterator[str]:
    """Yield notes on classes that differ in form alone, and on those that stand for a missing value."""
    sizes = {name: int(n) for name, n in zip(documents.classes, documents.sizes().sum(axis=1), strict=True)}
    alike = defaultdict[str, list[str]](list)
    for name in sizes:
        alike[_without_form(name)].append(name)
    groups = [sorted(names, key=lambda name: (-sizes[name], name)) for names in alike.values() if len(names) > 1]
    if groups:
        listed = groups[:MAX_PROBLEMS]
        counted = "; ".join(", ".join(f"{quote_value(name)} ({sizes[name]:,})" for name in names) for names in listed)
        more = f"; and {len(groups) - len(listed):,} more" if len(groups) > len(listed) else ""
        joined = _flow({name: names[0] for names in listed for name in names[1:]})
        text = f"Classes differ only in case, spaces or the form of a number: {counted}{more}"
        yield f"{text}. Under `corpus`, rename: {joined} makes them one."
    if missing := [name for name in sizes if name.casefold() in MISSING]:
        counted = ", ".join(f"{name!r} ({sizes[name]:,})" for name in missing)
        drop = "" if documents.topics is not None else ", drop: [unlabelled]"
        rename = _flow(dict.fromkeys(missing, ""))
        yield f"A class may stand for a missing value: {counted}. Under `corpus`, rename: {rename}{drop} leaves it out."


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
