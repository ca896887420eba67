"""N-grams of characters inside words, as scikit-learn's analyzer ``char_wb`` finds them.

Each word has a space before and after it, and an n-gram may begin or end with that space. A word that is shorter than
the shortest n-gram, with its spaces, is a term as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.text.fields import document_string
from benchmark.text.lexer import LINE_FEED, WORDS
from benchmark.text.streams import NO_TERM, TermLevel, TermStream, common_terms, ngram_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import TextChunk
    from benchmark.text.lexer import Lexing, Pruning, TokenSpans

MAX_CODE_POINT = 0x10FFFF
#: Characters of a word of one letter, with its spaces.
SHORTEST_WORD = 3
#: Joins the words of a document: the space after a word, a mark that ends it, and the space before the next word.
BETWEEN_WORDS = " \n "


def find_characters(chunk: TextChunk, spans: TokenSpans, lexing: Lexing, counted: NDArray[np.bool_]) -> TermStream:
    """Return the characters of some documents, as a stream of code points with -1 after each word.

    Parameters
    ----------
    chunk : (uint8 array, int64 array)
        Bytes of the documents, and the bounds between them.
    spans : TokenSpans
        Their tokens.
    lexing : Lexing
        `within` says which words have characters.
    counted : bool array, shape (documents,)
        Whether pruning counts the document.
    """
    codes, bounds = _lexed_words(spans) if lexing.within == WORDS else _spaced_words(chunk, lexing)
    terms = codes.astype(np.int32)
    terms[codes == LINE_FEED] = NO_TERM
    return TermStream(terms, bounds, counted)


def _lexed_words(spans: TokenSpans) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of the tokens, stop words too, with spaces and a line feed, and the documents' bounds."""
    spelled = spans.spelled()
    padded = b" " + spelled.replace(b"\n", BETWEEN_WORDS.encode())
    codes = _code_points(padded.decode())[:-1]
    ends = np.concatenate([[0], np.flatnonzero(codes == LINE_FEED) + 1])
    return codes, ends[spans.bounds]


def _spaced_words(chunk: TextChunk, lexing: Lexing) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of the characters between white space, as `_lexed_words` does; NUL is white space, too."""
    text, bounds = chunk
    found = list[str]()
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        document = text[start:stop].tobytes().replace(b"\0", b" ")
        string = document_string(document, skip_header=lexing.skip_header, skip_html=lexing.skip_html)
        words = string.lower().split()
        found.append(f" {BETWEEN_WORDS.join(words)} \n" if words else "")
    return _code_points("".join(found)), np.cumsum([0, *map(len, found)], dtype=np.int64)


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def character_terms(
    prefix: str, characters: list[TermStream], lexing: Lexing, pruning: Pruning, jobs: int
) -> Iterator[TermLevel]:
    """Yield the terms of each length."""
    low, high = lexing.characters
    common, streams = common_terms(characters, MAX_CODE_POINT + 1, pruning)
    names = [chr(code) for code in common.tolist()]
    keep = {n: bool if n >= low else _is_whole_word for n in range(min(low, SHORTEST_WORD), high + 1)}
    return ngram_terms(streams, names, "", keep, prefix, pruning, jobs)


def _is_whole_word(name: str) -> bool:
    """Return whether an n-gram is a word with its spaces."""
    return name[0] == name[-1] == " "
