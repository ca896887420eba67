"""Documents as strings, for methods that read texts themselves."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.corpus import concatenate_texts
from benchmark.text.fields import HTML_TAG, start_of_body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


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
        found = np.empty(len(rows), dtype=object)
        for number, row in enumerate(rows):
            found[number] = self.data[self.bounds[row] : self.bounds[row + 1]].tobytes().decode()
        return found


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
