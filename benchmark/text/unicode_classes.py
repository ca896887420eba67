"""Decoding of UTF-8, and Unicode's classes of characters: letters, marks and ideographs."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ASCII = bytes(range(128))

#: Classes of characters beyond ASCII, numbered as bytes beyond ASCII.
UNICODE_LETTER, UNICODE_MARK, UNICODE_IDEOGRAPH, UNICODE_OTHER = range(0x80, 0x84)

#: Prefixes of the Unicode names of letters in scripts without spaces between words: Han, the Japanese syllables, Thai,
#: Lao, Khmer, Myanmar.
UNSPACED_SCRIPT_PREFIXES = (
    *("CJK ", "IDEOGRAPHIC ", "HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA"),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR "),
)

#: Candidates for entities: no name is longer, and no number of a character.
ENTITY = re.compile(r"&[^<>&;\s]{0,32};?")
DIGIT = re.compile(r"[^\D0-9]")
#: Characters that become spaces when an entity decodes to them, as they would open a tag or an entity or end a header.
BLANKS = dict.fromkeys(map(ord, "<>&\r\n\N{NO-BREAK SPACE}"), " ")


@cache
def character_classes() -> NDArray[np.uint8]:
    """Return the class of each character, shape (0x110000,): ASCII itself, else LETTER, MARK, IDEOGRAPH or OTHER."""
    kinds = np.full(0x110000, UNICODE_OTHER, dtype=np.uint8)
    kinds[:128] = np.arange(128)
    for code in range(128, len(kinds)):
        category = unicodedata.category(character := chr(code))[0]
        if category == "M":
            kinds[code] = UNICODE_MARK
        elif category == "L":
            without_spaces = unicodedata.name(character, "").startswith(UNSPACED_SCRIPT_PREFIXES)
            kinds[code] = UNICODE_IDEOGRAPH if without_spaces else UNICODE_LETTER
    return kinds


def decode_document(document: bytes, entities: bool) -> tuple[str, int]:
    r"""Decode and normalize UTF-8; return the text and the number of invalid places, which become U+FFFD.

    With `entities`, HTML entities become the characters that they stand for, but never a bracket of a tag. Digits of
    all scripts become 0 to 9. Text that isn't ASCII is then composed (NFC) and lower-cased.

    Examples
    --------
    >>> decode_document(b"Caf&eacute; \xd9\xa1\xd9\xa2", entities=True)
    ('café 12', 0)
    """
    text = document.decode("utf-8", "replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if entities:
        text = ENTITY.sub(lambda match: _character(match[0]), text)
    if not text.isascii():
        text = DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
        text = unicodedata.normalize("NFC", text).lower()
    return text, lost


@lru_cache(4096)  # a few entities make up most occurrences
def _character(entity: str) -> str:
    return html.unescape(entity).translate(BLANKS)


def letters_beyond_ascii(document: bytes) -> int:
    """Count the letters of UTF-8 that aren't ASCII; in a document that isn't valid UTF-8, the bytes that aren't."""
    if document.isascii():
        return 0
    beyond = document.translate(None, ASCII)
    try:
        document.decode()
    except UnicodeDecodeError:
        return len(beyond)
    return sum(map(str.isalpha, beyond.decode()))  # isalpha is True exactly for Unicode's categories L*
