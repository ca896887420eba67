"""Texts of documents: their fields, which are counted separately, and strings, for methods that read texts themselves.

Fields are headers of mail, anchors of HTML, columns of a table. A field that occurs in several places of a document,
such as its headings, has a line for each place.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.corpus import FieldedText, concatenate_texts
from benchmark.system.errors import DataError
from benchmark.text.lexer import WHOLE_DOCUMENT, body_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray


#: A tag as `skip_html` of the lexer reads it: up to the next ``>``, or the end.
HTML_TAG = re.compile(rb"<(/?)([A-Za-z0-9]*)[^>]*>?")
QUOTED_LINE = re.compile(rb"(?m)^[>|:].*$")
#: Names of header lines (RFC 5322, 3.6.8), in any case.
HEADER_NAME = re.compile(r"[!-9;-~]+")
HEADING_TAGS = frozenset(b"h%d" % level for level in range(1, 7))


def field_of(text: bytes, name: str, kind: str | None) -> bytes:
    """Return the bytes of one field of a document; none where the document lacks the header or element.

    Parameters
    ----------
    text : bytes
        The document; a `FieldedText` if the corpus divides it into fields.
    name : str
        Name of the field; "all" is the whole document.
    kind : str, optional
        The document's format, one of `FIELD_FINDERS`, which finds fields that the corpus doesn't divide.

    Raises
    ------
    DataError
        If the text has no field of this name and `kind` is None.
    """
    if name == WHOLE_DOCUMENT:
        return text
    if isinstance(text, FieldedText) and name in text.fields:
        return text.fields[name]
    if kind is None:
        has = ", ".join(text.fields) if isinstance(text, FieldedText) else "none, as it is plain"
        raise DataError(f"a text has no field {name!r}, which is counted separately (its fields: {has})")
    find = FIELD_FINDERS[kind].get(name)
    return find(text) if find else _header_line(text, name.lower())


def format_has_field(kind: str | None, name: str) -> bool:
    """Return whether texts of a format can have a field; mail can have any header line."""
    return kind is not None and (name in FIELD_FINDERS[kind] or (kind == "mail" and bool(HEADER_NAME.fullmatch(name))))


def start_of_body(text: bytes) -> int:
    """Return the position after the first blank line, or the length where there is none."""
    return int(body_start(np.frombuffer(text, dtype=np.uint8), 0, len(text)))


def _body(text: bytes) -> bytes:
    return text[start_of_body(text) :]


def _header_line(text: bytes, name: str) -> bytes:
    """Return the value of the first header line of a name, with its continuation lines."""
    match = _line(name).search(text[: start_of_body(text)])
    return match[1] if match else b""


@lru_cache(256)
def _line(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?im)^%s[ \t]*:(.*(?:\n[ \t].*)*)" % re.escape(name.encode()))


def _elements(names: frozenset[bytes]) -> Callable[[bytes], bytes]:
    """Return a function that finds the text of elements, up to the next end tag of `names`; without one, no text."""

    def within(text: bytes) -> bytes:
        texts, start = list[bytes](), None
        for tag in HTML_TAG.finditer(text):
            if tag[2].lower() not in names:
                continue
            if tag[1] and start is not None:
                texts.append(text[start : tag.start()])
            start = None if tag[1] else tag.end()
        return b"\n".join(texts)

    return within


#: Functions that find a field in a text, by format and name; in mail, any other name is that of a header line.
FIELD_FINDERS: Mapping[str, Mapping[str, Callable[[bytes], bytes]]] = {
    "mail": {
        **{name: partial(_header_line, name=name) for name in ("subject", "from", "organization")},
        "header": lambda text: text[: start_of_body(text)],
        "body": _body,
        "quoted": lambda text: b"\n".join(QUOTED_LINE.findall(_body(text))),
        "own": lambda text: QUOTED_LINE.sub(b"", _body(text)),
    },
    "html": {
        "title": _elements(frozenset({b"title"})),
        "headings": _elements(HEADING_TAGS),
        "anchors": _elements(frozenset({b"a"})),
        "body": _body,
    },
}


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts of documents as UTF-8, concatenated.

    Parameters
    ----------
    data : uint8 array
    bounds : int64 array, shape (n + 1,)
        Text i is ``data[bounds[i]:bounds[i + 1]]``.
    key : str
        Digest of everything that determines the texts.
    rows : intp array, shape (m,), optional
        The texts to return, in this order; all n by default.
    """

    data: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    key: str
    rows: NDArray[np.intp] | None = None

    def take(self, rows: NDArray[np.intp]) -> Texts:
        """Return the texts at `rows`; the bytes are shared."""
        return Texts(self.data, self.bounds, self.key, rows if self.rows is None else self.rows[rows])

    def strings(self) -> NDArray[np.object_]:
        """Return the texts as an array of str, shape (m,)."""
        rows = range(len(self.bounds) - 1) if self.rows is None else self.rows
        texts = (self.data[self.bounds[row] : self.bounds[row + 1]].tobytes().decode() for row in rows)
        return np.fromiter(texts, dtype=object, count=len(rows))


def document_string(document: bytes, *, skip_header: bool, skip_html: bool) -> str:
    r"""Decode a document: UTF-8, or latin-1 where it isn't valid UTF-8.

    Parameters
    ----------
    document : bytes
    skip_header : bool
        Whether to leave out everything up to the first blank line, as the lexer does.
    skip_html : bool
        Whether to put a blank in place of each tag, and its character in place of each entity.

    Examples
    --------
    >>> document_string(b"From: me\n\nCaf&eacute;<br>au lait", skip_header=True, skip_html=True)
    'Café au lait'
    """
    body = document[start_of_body(document) :] if skip_header else document
    body = HTML_TAG.sub(b" ", body) if skip_html else body
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("latin-1")
    return html.unescape(text) if skip_html else text


def joined_texts(strings: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 of texts, and the bounds between them; what UTF-8 can't hold becomes a question mark."""
    return concatenate_texts([each.encode("utf-8", "replace") for each in strings])
