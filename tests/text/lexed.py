"""The tokens of a document, as the tests of lexing and counting compare them."""

from __future__ import annotations

import numpy as np

from benchmark.text.lexer import Lexing, find_tokens, term_name
from benchmark.text.stoplist import stop_words


def tokens(document: bytes, lexing: Lexing) -> list[str]:
    """Find the tokens of one document, in order and without the stop words."""
    text = np.frombuffer(document, dtype=np.uint8)
    found = find_tokens(text, np.array([0, len(document)], dtype=np.int64), lexing)
    spans = zip(found.starts, found.lengths, strict=True)
    names = (
        term_name(found.spelling[found.text[start : start + length]].tobytes().decode(), lexing)
        for start, length in spans
    )
    return [name for name in names if name not in stop_words(lexing.stoplist)]


tokens(b"", Lexing())  # machine code is read before hypothesis starts its clock
