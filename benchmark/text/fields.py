"""The parts of a document that are counted by themselves: headers of mail, anchors of HTML, columns of a table.

What stands in several places of a document, such as its headings, is one field: place after place, a line each.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.corpus import FieldedText
from benchmark.errors import DataError
from benchmark.text.lexer import ALL, body

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: A tag as the lexer's `skip_html` has it: up to the next ``>``, or the end.
TAG = re.compile(rb"<(/?)([A-Za-z0-9]*)[^>]*>?")
QUOTED = re.compile(rb"(?m)^[>|:].*$")
#: Names of header lines (RFC 5322, 3.6.8), in lower case or not.
HEADER_NAME = re.compile(r"[!-9;-~]+")
HEADINGS = frozenset(b"h%d" % level for level in range(1, 7))


def field_of(text: bytes, name: str, kind: str | None) -> bytes:
    """The bytes of one field of a document; none where it doesn't have the header or element.

    Parameters
    ----------
    text : bytes
        A `FieldedText`, where its fields stand beside it.
    name : str
        "all" is all of it.
    kind : str, optional
        One of `FORMATS`, by which other fields are found.

    Raises
    ------
    DataError
        There are no such fields in the text.
    """
    if name == ALL:
        return text
    if isinstance(text, FieldedText) and name in text.fields:
        return text.fields[name]
    if kind is None:
        has = ", ".join(text.fields) if isinstance(text, FieldedText) else "none, as it is plain"
        raise DataError(f"a text has no field {name!r}, which is counted by itself (its fields: {has})")
    find = FORMATS[kind].get(name)
    return find(text) if find else _header_line(text, name.lower())


def can_have(kind: str | None, name: str) -> bool:
    """Whether texts of a format can have a field: mail has every header line."""
    return kind is not None and (name in FORMATS[kind] or (kind == "mail" and bool(HEADER_NAME.fullmatch(name))))


def _start_of_body(text: bytes) -> int:
    return int(body(np.frombuffer(text, dtype=np.uint8), 0, len(text)))


def _header(text: bytes) -> bytes:
    return text[: _start_of_body(text)]


def _body(text: bytes) -> bytes:
    return text[_start_of_body(text) :]


def _header_line(text: bytes, name: str) -> bytes:
    """What stands behind the first header of a name, with the lines that go on with it."""
    found = _line(name).search(_header(text))
    return found[1] if found else b""


@lru_cache(256)
def _line(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?im)^%s[ \t]*:(.*(?:\n[ \t].*)*)" % re.escape(name.encode()))


def _quoted(text: bytes) -> bytes:
    return b"\n".join(QUOTED.findall(_body(text)))


def _own(text: bytes) -> bytes:
    return QUOTED.sub(b"", _body(text))


def _elements(names: frozenset[bytes]) -> Callable[[bytes], bytes]:
    """What finds the text within elements: up to the next end tag of one of the names; one without has no text."""

    def within(text: bytes) -> bytes:
        found, start = list[bytes](), None
        for tag in TAG.finditer(text):
            if tag[2].lower() not in names:
                continue
            if tag[1] and start is not None:
                found.append(text[start : tag.start()])
            start = None if tag[1] else tag.end()
        return b"\n".join(found)

    return within


#: How the fields of a text are found, by its format and their names; of mail, any other name is that of a header line.
FORMATS: Mapping[str, Mapping[str, Callable[[bytes], bytes]]] = {
    "mail": {
        **{name: partial(_header_line, name=name) for name in ("subject", "from", "organization")},
        "header": _header,
        "body": _body,
        "quoted": _quoted,
        "own": _own,
    },
    "html": {
        "title": _elements(frozenset({b"title"})),
        "headings": _elements(HEADINGS),
        "anchors": _elements(frozenset({b"a"})),
        "body": _body,
    },
}
