"""What the tests of lexing and counting share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.text.lexer import Lexing, find_tokens, term
from benchmark.text.stoplist import stop_words

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def tokens() -> Callable[[bytes, Lexing], list[str]]:
    """The tokens of one document, in order and without the stop words."""

    def of(document: bytes, lexing: Lexing) -> list[str]:
        text = np.frombuffer(document, dtype=np.uint8)
        found = find_tokens(text, np.array([0, len(document)], dtype=np.int64), lexing)
        spans = zip(found.starts, found.lengths, strict=True)
        names = (
            term(found.spelling[found.text[start : start + length]].tobytes().decode(), lexing)
            for start, length in spans
        )
        return [name for name in names if name not in stop_words(lexing.stoplist)]

    of(b"", Lexing())  # machine code is read before hypothesis starts its clock
    return of
