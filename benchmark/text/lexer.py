"""Lexers of documents' bytes, by the rules of Rainbow (A. McCallum, Bow toolkit, 1996) or of Unicode.

A word is a maximal run of letters, lower-cased, of `MIN_WORD_LENGTH` to `MAX_WORD_LENGTH` letters; a longer run is
dropped, not cut. All other characters separate words, apostrophes too. `Lexing` has the options, such as how digits are
read.

Rainbow's letters are those of ASCII. Rainbow reads C strings, which end at a NUL; here NUL is a separator, so that no
text is lost. Measured: 20NG has no NUL, and of the 4,199 WebKB pages of four classes three have some, but no words
after them.

The Unicode lexer's letters are the categories L*, with marks (M*) after a letter, in UTF-8 whose composed and
decomposed spellings are equal (NFC); invalid UTF-8 separates words. In scripts without spaces (Han, Hiragana, Katakana,
Thai, Lao, Khmer, Myanmar) each letter is a word, with its marks: for ideographs that is the default of UAX #29. Digits
are those of every script (Nd), written 0 to 9. HTML entities are read as their characters, inside words too, and never
open or close a tag. Both lexers find the same tokens in ASCII without an ampersand, and in ASCII with one unless
`skip_html` is set.

The stop list of the SMART retrieval system is public data (G. Salton & C. Buckley, Cornell University), as distributed
with Rainbow. Words with an apostrophe are omitted here: a word is a run of letters, so these entries would never match.
"smart-split" has their parts, as a lexer of letters reads the list: "don" and "t" of "don't".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.numba_jit import compile_lazily
from benchmark.text import unicode_classes as letters

if TYPE_CHECKING:
    from numpy.typing import NDArray


STOPLISTS = {"smart": "smart-stoplist.txt", "smart-split": "smart-stoplist.txt", "none": None}
#: Parts of the words with an apostrophe that are no words of the list themselves.
PARTS = "ain aren couldn didn doesn don hadn hasn haven isn ll mon shouldn ve wasn weren won wouldn"


@cache
def stop_words(name: str) -> frozenset[str]:
    """Return the words of the stop list called `name`.

    Examples
    --------
    >>> len(stop_words("smart")), len(stop_words("smart-split")), len(stop_words("none"))
    (523, 541, 0)
    """
    file = STOPLISTS[name]
    if file is None:
        return frozenset()
    words = frozenset(Path(__file__).with_name(file).read_text(encoding="ascii").split())
    return words.union(PARTS.split()) if name == "smart-split" else words


#: Name in place of a group: each split counts its own training documents.
TRAINING = "training"


@dataclass(frozen=True)
class Pruning:
    """Minimum frequency of terms in the vocabulary; the default keeps every term.

    Parameters
    ----------
    min_occurrences : int
        Keep terms that occur at least this often in the collection (Rainbow's ``--prune-vocab-by-occur-count``).
    min_documents : int
        Keep terms that occur in at least this many documents. Rainbow's ``--prune-vocab-by-doc-count=N`` drops
        words in N *or fewer* documents, which is ``min_documents = N + 1``.
    group : str, optional
        Count only the documents of this group, such as the training documents; a term that doesn't occur there is
        dropped. All documents by default. With "training", each split counts its own training documents, and what is
        counted here are all documents: no term that a split keeps is rarer in them.
    """

    min_occurrences: int = 1
    min_documents: int = 1
    group: str | None = None

    @property
    def by_split(self) -> bool:
        """True if each split prunes again, by the counts in its training documents."""
        return self.group == TRAINING

    def keeps(self, occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which terms are kept, from their numbers of occurrences and documents, both of shape (n_terms,)."""
        return (occurrences >= self.min_occurrences) & (documents >= self.min_documents)


LEXERS = {
    "rainbow": "words are runs of ASCII letters",
    "unicode": "words are runs of the letters of any script, in UTF-8",
}

DIGIT_RULES = {
    "drop": "digits separate words, like any other byte",
    "run-length": "a run of digits is a token by itself, one token per run length: <digits:3>",
    "token": "every run of digits is the same token: <digits>",
    "joined": "all digits are the same letter, inside words too: cs101 is cs###",
    "literal": "a run of digits is a token by itself, unchanged: 101",
}

STEMMERS = {
    "none": "words are terms as they are",
    "porter": "of each word its stem, by M. F. Porter's algorithm (Program 14, 1980) for English",
}

MIN_WORD_LENGTH, MAX_WORD_LENGTH = 2, 99
MAX_NGRAM_LENGTH = 5
MAX_CHARACTERS = 10
WORDS = "words"
#: Between which borders n-grams of characters are found.
WITHIN = {
    WORDS: "the lexer's words, also those of the stop list",
    "white-space": "characters between white space, with punctuation and digits, of all scripts, lower-cased",
}
#: Names of the field that is the whole document, and of its block of n-grams of characters.
WHOLE_DOCUMENT, CHARACTERS = "all", "characters"

# Kinds of characters. A token begins with a letter, a digit or an ideograph and continues over characters whose kinds
# share a bit with the first; a token of an ideograph continues over marks alone.
SEPARATOR_KIND, LETTER_KIND, DIGIT_KIND, IDEOGRAPH_KIND, CONTINUATION_BIT = 0, 1, 2, 4, 8
MARK_KIND = LETTER_KIND | CONTINUATION_BIT

LINE_FEED, CARRIAGE_RETURN = 10, 13
HASH, AMPERSAND, SEMICOLON, LESS_THAN, GREATER_THAN = b"#&;<>"
ZERO, NINE = b"09"

# The named entities of HTML's latin-1 set that Rainbow decodes. Two of them decode to the brackets of a tag.
ENTITY_NAMES = """
    nbsp quot amp lt gt iexcl cent pound yen brvbar sect copy laquo raquo not reg deg plusmn sup2 sup3 micro para sup1
    middot frac14 frac12 iquest frac34 aelig aacute acirc agrave aring atilde auml ccedil eth eacute ecirc egrave euml
    iacute icirc igrave iuml ntilde oacute ocirc ograve oslash otilde ouml thorn uacute ucirc ugrave uuml yacute szlig
    yuml
"""
MAX_ENTITY_LENGTH = 6


def _packed(name: str) -> int:
    """Return the bytes of `name` as one number, with a leading 1 so that leading NULs count."""
    return int.from_bytes(b"\1" + name.encode("ascii"), "big")


ENTITIES = np.array([_packed(name) for name in ENTITY_NAMES.split()], dtype=np.int64)
ENTITY_LT, ENTITY_GT = _packed("lt"), _packed("gt")


@dataclass(frozen=True)
class Lexing:
    """Options of a lexer: what is skipped, and how digits and stop words are read.

    Parameters
    ----------
    skip_header : bool
        Start after the first blank line (lines end in LF or CRLF). A document without a blank line is a header
        without a body, as in mail (RFC 5322), and has no tokens.
    skip_html : bool
        Skip tags and entities, as Rainbow does (see `scan_tokens`).
    digits : str
        One of `DIGIT_RULES`. "run-length" is the closest known guess at the unpublished script behind Rainbow's
        ``--lex-pipe-command=tagdigits`` of Zhang, Chen & Lee (2005). Runs of digits under "run-length", "token"
        and "literal" are tokens at any length; under "joined" digits count as letters, towards the limits too.
    stoplist : str
        "smart", "smart-split" or "none"; any name where `stopped` has the words. Tokens with digits are never stop
        words.
    lexer : str
        One of `LEXERS`, which defines letters.
    ngrams : tuple of int
        Numbers of consecutive tokens that make a term, ascending: (1, 2) is words and pairs. The stop list applies to
        words alone: "out of order" is a term.
    fields : tuple of str
        Parts of a document that are counted separately. "all" is the whole document; `skip_header` applies to it alone.
    format : str, optional
        Format of documents whose fields the corpus doesn't provide, see `benchmark.text.fields`.
    characters : tuple of int
        Lengths of the shortest and the longest n-gram of characters, which are a block of terms of each field; () for
        none. See `benchmark.text.characters`.
    within : str
        One of `WITHIN`: between which borders n-grams of characters are found.
    stopped : tuple of str
        Words of a stop list of one's own, lower-cased and sorted; () for those of the named one.
    stemmer : str
        One of `STEMMERS`. Terms are made of stems, and n-grams of characters of words as they are. The stop list is of
        words and of stems: no single word or stem that it has is a term.
    min_length : int
        Number of letters that a single word, or its stem, must have to be a term.
    """

    skip_header: bool = False
    skip_html: bool = False
    digits: str = "drop"
    stoplist: str = "smart"
    lexer: str = "rainbow"
    ngrams: tuple[int, ...] = (1,)
    fields: tuple[str, ...] = (WHOLE_DOCUMENT,)
    format: str | None = None
    characters: tuple[int, ...] = ()
    within: str = WORDS
    stopped: tuple[str, ...] = ()
    stemmer: str = "none"
    min_length: int = 1

    @property
    def left_out(self) -> frozenset[str]:
        """The words of the stop list."""
        return frozenset(self.stopped) if self.stopped else stop_words(self.stoplist)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks of terms, in order: "all" for words, "all-2" for pairs, "characters"; "subject-2"."""
        found = list[str]()
        for field in self.fields:
            found += [field if n == 1 else f"{field}-{n}" for n in self.ngrams]
            if self.characters:
                found.append(CHARACTERS if field == WHOLE_DOCUMENT else f"{field}-{CHARACTERS}")
        return tuple(found)

    @property
    def blocks_of_field(self) -> int:
        """Number of blocks of each field."""
        return len(self.ngrams) + bool(self.characters)


@dataclass(frozen=True)
class TokenSpans:
    """Positions of the tokens of some documents in bytes.

    Parameters
    ----------
    text : uint8 array
        The documents' bytes, or their text as the Unicode lexer normalizes it.
    starts : int64 array, shape (t,)
    lengths : int32 array, shape (t,)
        Token k is spelled ``spelling[text[starts[k]:starts[k] + lengths[k]]]``.
    bounds : int64 array, shape (n + 1,)
        The tokens of document i are ``bounds[i]:bounds[i + 1]``.
    spelling : uint8 array, shape (256,)
        Replacement of each byte of a token: ASCII letters in lower case, and digits by the digit rule.
    dropped : int
        Rainbow: number of letters beyond ASCII, which are ignored (of bytes beyond ASCII in a document that isn't valid
        UTF-8). Unicode: number of places with invalid UTF-8. Headers and tags count.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    bounds: NDArray[np.int64]
    spelling: NDArray[np.uint8]
    dropped: int

    def spelled(self) -> bytes:
        """Return the tokens as they are spelled, with a line feed after each."""
        return _spell(self.text, self.starts, self.lengths, self.spelling).tobytes()


def find_tokens(text: NDArray[np.uint8], bounds: NDArray[np.int64], lexing: Lexing) -> TokenSpans:
    """Find the tokens of the documents ``text[bounds[i]:bounds[i + 1]]``, including stop words."""
    kinds = np.full(256, SEPARATOR_KIND, dtype=np.uint8)
    spelling = np.arange(256, dtype=np.uint8)
    upper, lower = np.arange(ord("A"), ord("Z") + 1), np.arange(ord("a"), ord("z") + 1)
    digits = np.arange(ZERO, NINE + 1)
    kinds[upper] = kinds[lower] = LETTER_KIND
    spelling[upper] = lower
    kinds[digits] = {"drop": SEPARATOR_KIND, "joined": LETTER_KIND}.get(lexing.digits, DIGIT_KIND)
    if lexing.digits != "literal":
        spelling[digits] = HASH
    if lexing.lexer == "unicode":
        beyond_ascii = [letters.UNICODE_LETTER, letters.UNICODE_MARK, letters.UNICODE_IDEOGRAPH]
        kinds[beyond_ascii] = LETTER_KIND, MARK_KIND, IDEOGRAPH_KIND
        decoded = [
            letters.decode_document(text[start:stop].tobytes(), lexing.skip_html) for start, stop in pairwise(bounds)
        ]
        text, starts, lengths, token_bounds = _scan_characters([document for document, _ in decoded], kinds, lexing)
        dropped = sum(invalid for _, invalid in decoded)
    else:
        starts, lengths, token_bounds = scan_tokens(text, bounds, kinds, lexing.skip_header, lexing.skip_html)
        beyond = np.flatnonzero(text >= 0x80)
        rows = np.unique(np.searchsorted(bounds, beyond, side="right") - 1).tolist()
        dropped = sum(letters.letters_beyond_ascii(text[bounds[row] : bounds[row + 1]].tobytes()) for row in rows)
    if lexing.digits == "token":
        # Keep one digit of a run, so that all runs have the same spelling.
        lengths[kinds[text[starts]] == DIGIT_KIND] = 1
    return TokenSpans(text, starts, lengths, token_bounds, spelling, dropped)


def _scan_characters(
    documents: list[str], kinds: NDArray[np.uint8], lexing: Lexing
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Scan the characters of documents; return their UTF-8 and the starts, lengths and bounds of tokens in bytes."""
    joined = "".join(documents)
    bounds = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    text = np.frombuffer(bytearray(joined.encode()), dtype=np.uint8)
    if joined.isascii():
        return text, *scan_tokens(text, bounds, kinds, lexing.skip_header, lexing.skip_html)
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    classes = letters.character_classes()[codes]
    starts, lengths, token_bounds = scan_tokens(classes, bounds, kinds, lexing.skip_header, lexing.skip_html)
    # Position of each character in the bytes; UTF-8's continuation bytes are 10......
    at = np.append(np.flatnonzero(text & 0xC0 != 0x80), len(text))
    first = at[starts]
    return text, first, (at[starts + lengths] - first).astype(np.int32), token_bounds


def term_name(spelled: str, lexing: Lexing) -> str:
    """Return the vocabulary's name of a token that `TokenSpans` spells.

    Examples
    --------
    >>> term_name("###", Lexing(digits="run-length")), term_name("cs###", Lexing(digits="joined"))
    ('<digits:3>', 'cs###')
    """
    if spelled[0] == "#" and lexing.digits == "run-length":
        return f"<digits:{len(spelled)}>"
    if spelled[0] == "#" and lexing.digits == "token":
        return "<digits>"
    return spelled


@compile_lazily("int64(Array(uint8, 1, 'C', readonly=True), int64, int64)")
def body_start(text: NDArray[np.uint8], start: int, stop: int) -> int:
    """Return the position after the first blank line in ``text[start:stop]``, or `stop` if there is none."""
    line = start
    for position in range(start, stop):
        if text[position] == LINE_FEED:
            length = position - line
            if length == 0 or (length == 1 and text[line] == CARRIAGE_RETURN):
                return position + 1
            line = position + 1
    return stop


@compile_lazily("UniTuple(int64, 2)(Array(uint8, 1, 'C', readonly=True), int64, int64)")
def decode_entity(text: NDArray[np.uint8], position: int, stop: int) -> tuple[int, int]:
    """Decode an entity at an ampersand; return the position to continue at and the byte that replaces the entity."""
    name = position + 1
    last = min(stop, name + MAX_ENTITY_LENGTH + 1)
    semicolon = name
    while semicolon < last and text[semicolon] != SEMICOLON:
        semicolon += 1
    if semicolon == last:
        return position, AMPERSAND
    if text[name] == HASH:
        position = name + 1
        while ZERO <= text[position] <= NINE:
            position += 1
        return position, text[position]
    packed = 1
    for letter in text[name:semicolon]:
        packed = packed * 256 + letter
    if packed == ENTITY_LT:
        return semicolon, LESS_THAN
    if packed == ENTITY_GT:
        return semicolon, GREATER_THAN
    if np.any(packed == ENTITIES):
        return semicolon, SEMICOLON
    return position, AMPERSAND


@compile_lazily(
    "Tuple((int64[::1], int32[::1], int64[::1]))"
    "(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint8[::1], boolean, boolean)"
)
def scan_tokens(
    text: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    skip_header: bool,
    skip_html: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    r"""Find the tokens; return the starts, the lengths, and the bounds of the documents among them.

    With `skip_html`, between tokens, ``<`` opens a tag, whose bytes are skipped up to the next ``>`` or the
    document's end, and ``&`` may begin an entity. An entity has at most `MAX_ENTITY_LENGTH` bytes between ``&`` and
    ``;``. A number (``&#233;``) is skipped up to the first byte that isn't a digit. A known name is read as the
    one character that it stands for, never one of A-Z. Other names are not entities, so that ``&foo;`` is the word foo.
    Within a token, tags and entities are not recognized.

    Rainbow decodes entities before it looks for tags: ``&lt;`` opens a tag and ``&gt;`` closes one. Reading
    ``&lt;`` as a separator instead changes 63 of the 4,199 WebKB pages of four classes. Compared with a regular
    expression (tags ``<[^>]*>?`` and entities ``&#?\w+;`` blanked), the decoding lexer's counts differ on 79
    pages, as those of Rainbow itself do; without decoding they would differ on 16.
    """
    n = len(bounds) - 1
    token_bounds = np.zeros(n + 1, dtype=np.int64)
    # Allocate one token per byte: pages that are never written take no memory, and growing arrays would make
    # the loop four times slower.
    starts = np.empty(len(text), dtype=np.int64)
    lengths = np.empty(len(text), dtype=np.int32)
    n_tokens = 0
    for document in range(n):
        position, stop = bounds[document], bounds[document + 1]
        if skip_header:
            position = body_start(text, position, stop)
        in_tag = False
        while position < stop:
            byte = text[position]
            if skip_html:
                if byte == AMPERSAND:
                    position, byte = decode_entity(text, position, stop)
                in_tag = byte == LESS_THAN or (in_tag and byte != GREATER_THAN)
            kind = kinds[byte]
            end = position + 1
            if not in_tag and SEPARATOR_KIND < kind < MARK_KIND:
                more = CONTINUATION_BIT if kind == IDEOGRAPH_KIND else kind
                while end < stop and kinds[text[end]] & more:
                    end += 1
                if kind != LETTER_KIND or MIN_WORD_LENGTH <= end - position <= MAX_WORD_LENGTH:
                    starts[n_tokens] = position
                    lengths[n_tokens] = end - position
                    n_tokens += 1
            position = end
        token_bounds[document + 1] = n_tokens
    return starts[:n_tokens].copy(), lengths[:n_tokens].copy(), token_bounds


@compile_lazily(
    "uint8[::1](Array(uint8, 1, 'C', readonly=True), int64[::1], int32[::1], Array(uint8, 1, 'C', readonly=True))"
)
def _spell(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int32], spelling: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Return the spelled tokens as bytes, with a line feed after each token."""
    spelled = np.empty(lengths.sum() + len(lengths), dtype=np.uint8)
    written = 0
    for start, length in zip(starts, lengths):  # noqa: B905 - numba knows no `strict`
        for position in range(start, start + length):
            spelled[written] = spelling[text[position]]
            written += 1
        spelled[written] = LINE_FEED
        written += 1
    return spelled
