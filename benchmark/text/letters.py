"""Bytes to characters, and what Unicode says of each: which are letters, and which spellings are the same."""

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

#: What a character beyond ASCII is, as a byte beyond ASCII.
LETTER, MARK, IDEOGRAPH, OTHER = range(0x80, 0x84)

#: The scripts without spaces between words, by how Unicode's names of their letters begin: Han, the Japanese syllables,
#: Thai, Lao, Khmer, Myanmar.
WITHOUT_SPACES = (
    *("CJK ", "IDEOGRAPHIC ", "HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA"),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR "),
)

#: What may be an entity: no name is longer, and no number that is a character.
ENTITY = re.compile(r"&[^<>&;\s]{0,32};?")
DIGIT = re.compile(r"[^\D0-9]")
#: What no entity may bring into a text: a tag, an entity, the end of a header.
BLANKS = dict.fromkeys(map(ord, "<>&\r\n\N{NO-BREAK SPACE}"), " ")


@cache
def classes() -> NDArray[np.uint8]:
    """What each character is, shape (0x110000,): one of ASCII is itself; any other LETTER, MARK, IDEOGRAPH, OTHER."""
    found = np.full(0x110000, OTHER, dtype=np.uint8)
    found[:128] = np.arange(128)
    for code in range(128, len(found)):
        category = unicodedata.category(character := chr(code))[0]
        if category == "M":
            found[code] = MARK
        elif category == "L":
            alone = unicodedata.name(character, "").startswith(WITHOUT_SPACES)
            found[code] = IDEOGRAPH if alone else LETTER
    return found


def decoded(document: bytes, entities: bool) -> tuple[str, int]:
    r"""Return a document of UTF-8, spelled alike, and how many places in it are no UTF-8; they become U+FFFD.

    Entities, if asked for, become the characters that they stand for, but never a bracket of a tag. Digits of all
    scripts become 0 to 9. What isn't ASCII is then composed (NFC) and lower-cased.

    Examples
    --------
    >>> decoded(b"Caf&eacute; \xd9\xa1\xd9\xa2", entities=True)
    ('café 12', 0)
    """
    text = document.decode("utf-8", "replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if entities:
        text = ENTITY.sub(lambda found: _character(found[0]), text)
    if not text.isascii():
        text = DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)
        text = unicodedata.normalize("NFC", text).lower()
    return text, lost


@lru_cache(4096)  # a few entities are most of them
def _character(entity: str) -> str:
    return html.unescape(entity).translate(BLANKS)


def letters_beyond_ascii(document: bytes) -> int:
    """Count the letters of UTF-8 that aren't ASCII; in what is no UTF-8, the bytes that aren't."""
    if document.isascii():
        return 0
    beyond = document.translate(None, ASCII)
    try:
        document.decode()
    except UnicodeDecodeError:
        return len(beyond)
    return sum(map(str.isalpha, beyond.decode()))  # true of Unicode's categories L*, and of nothing else
