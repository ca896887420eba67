"""How seconds grow with bytes, for what each parser and lexer would find hardest: as bytes^1.1 at most."""

from __future__ import annotations

import functools
import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.corpora import reuters
from benchmark.corpora.sgml import decode_entities, read_articles
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from tests.corpora.test_reuters import CARD, story
from tests.trials.limits import some, trial
from tests.trials.test_documents import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    Parser = Callable[[bytes], Any]

#: Bytes: first small ones, so that what grows with the square is told before it takes hours.
PROBES, SIZES = (1 << 12, 1 << 13, 1 << 14), (1 << 20, 1 << 21, 1 << 22, 1 << 23)
STEEPEST, REPEATS = 1.1, 3
#: Seconds for the largest size below which a slope tells of the processor's caches.
QUICK = 0.3
#: Seconds that the largest size may take by what the probes foretell.
TOO_LONG = 60.0

OPENING = [
    b"<REUTERS", b"<REUTERS ", b"<REUTERS>", b"</REUTERS>", b"<TOPICS>", b"</TOPICS>", b"<TOPICS", b"<D>", b"<D",
    b"</D>", b"<TEXT>", b"<TEXT", b"<TITLE>", b"<BODY>", b"</BODY", b"<TITLE></TITLE", b"<!", b"<!x>", b"<!-", b"<",
    b">", b'"', b"A", b"A=", b'A="', b"A ='", b'A="" ', b"A =", b" ", b"=", b"&", b"&#", b"&#1", b"&a", b"&lt;",
    b"&amp", b"\0", b"\n", b"<D></D>",
]  # fmt: skip
#: Where the repeats stand in an article, if in one.
ARTICLE = (
    b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="7"%b>%b<TOPICS%b>%b<D>earn</D></TOPICS>%b'
    b"<TEXT%b>%b<TITLE>%bx</TITLE><BODY>%by</BODY></TEXT>%b</REUTERS>%b"
)
GAPS = ARTICLE.count(b"%b")
WORDS = [
    b"a", b"1", b"a1", b"a ", b"<", b"< ", b"<a", b"<a ", b"<!--", b"><", b"&", b"&;", b"& ", b"&a", b"&#", b"&#1",
    b"&#;", b"&#1;", b"&lt;", b"&gt;", b"&amp", b"&yuml;a", b"&aaaaaa", b"\n", b"\r\n", b"\r", b"\0", b"a\n", b"\xff",
    b"a" * 100 + b" ", b"\xcc\x81", b"\xce\xa3",
]  # fmt: skip
LEXINGS = {
    "run-length": Lexing(False, True, "run-length", "none"),
    "joined": Lexing(True, False, "joined", "none"),
    "literal": Lexing(False, False, "literal", "none"),
    "unicode": Lexing(False, True, "run-length", "none", "unicode"),
}


def articles(content: bytes) -> None:
    try:
        list(read_articles(content, "x.sgm"))
    except DataError:
        return


def corpus(content: bytes) -> None:
    try:
        reuters.read_reuters({b"reut2-000.sgm": content}, CARD, CARD.digest)
    except DataError:
        return


def words(lexing: Lexing, content: bytes) -> None:
    counted([content], lexing)


def repeated(unit: bytes, size: int) -> bytes:
    return (unit * (size // len(unit) + 1))[:size]


def in_article(unit: bytes, gap: int, size: int) -> bytes:
    return ARTICLE % tuple(repeated(unit, size) if each == gap else b"" for each in range(GAPS))


def stories(size: int) -> bytes:
    return b"".join(story(number, "earn acq") for number in range(size // 150))


@functools.cache
def collisions(bits: int = 20, blocks: int = 18) -> list[tuple[bytes, bytes]]:
    """Find pairs of syllables that leave the low bits of FNV-1a alike: words of one of each pair meet in one slot.

    The low bits of a state depend on those of the state before alone, so that pairs can be sought one after the other.
    """
    prime, mask, state = 0x100000001B3, (1 << bits) - 1, 0xCBF29CE484222325
    found = []
    for _ in range(blocks):
        seen: dict[int, bytes] = {}
        for number in range(26**5):
            syllable = bytes(97 + number // 26**place % 26 for place in range(5))
            code = state
            for letter in syllable:
                code = ((code ^ letter) * prime) & mask
            if code in seen:
                found.append((seen[code], syllable))
                state = code
                break
            seen[code] = syllable
    return found


def colliding(size: int) -> bytes:
    pairs = collisions()
    n = min(size // (5 * len(pairs) + 1), 1 << len(pairs))
    return b" ".join(b"".join(pair[number >> bit & 1] for bit, pair in enumerate(pairs)) for number in range(n))


def inputs() -> dict[str, tuple[Parser, Callable[[int], bytes]]]:
    """Name pairs of a parser and a maker of its input of so many bytes, the hardest first, for a slice."""
    found: dict[str, tuple[Parser, Callable[[int], bytes]]] = {}

    def add(name: str, parse: Parser, make: Callable[..., bytes], *given: Any) -> None:
        found[", ".join([name, *map(str, given)])] = parse, functools.partial(make, *given)

    for unit, gap in itertools.product((b"A", b"<D>", b"<TOPICS>", b"<TITLE>", b"&", b" "), (0, 3, 8)):
        add("articles", articles, in_article, unit, gap)
    add("stories by the thousand", corpus, stories)
    add("words that collide", functools.partial(words, LEXINGS["run-length"]), colliding)
    for name, lexing in LEXINGS.items():
        for unit in WORDS:
            add(f"words, {name}", functools.partial(words, lexing), repeated, unit)
    for number, unit in enumerate(OPENING):
        if b"&" in unit:
            add("entities", decode_entities, repeated, unit)
        add("articles", articles, repeated, unit)
        for gap in (number % GAPS, (number + 4) % GAPS, (number + 7) % GAPS):
            add("articles", articles, in_article, unit, gap)
    return found


INPUTS = inputs()


def seconds_of(parse: Parser, content: bytes, repeats: int) -> float:
    """Measure the processor's seconds, the least of a few."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        parse(content)
        found.append(time.process_time() - started)
        if found[-1] > 1:
            break
    return max(min(found), 1e-5)


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


@pytest.mark.parametrize("name", some(list(INPUTS), 12))
@trial(120)
def test_seconds_grow_as_bytes(name: str) -> None:
    """Fit log seconds to log bytes: a line of a slope of at most 1.1."""
    parse, make = INPUTS[name]
    parse(make(1_000))
    probed = [seconds_of(parse, make(size), REPEATS) for size in PROBES]
    foretold = max(probed[-1], probed[-1] * (SIZES[-1] / PROBES[-1]) ** exponent(PROBES, probed))
    assert foretold <= TOO_LONG, probed
    contents = [make(size) for size in SIZES]
    slopes = []
    for repeats in (1, REPEATS, REPEATS):  # what else the machine did meanwhile makes one slope too steep, not all
        seconds = [seconds_of(parse, content, repeats) for content in contents]
        slopes.append(exponent(SIZES, seconds))
        if slopes[-1] <= STEEPEST or seconds[-1] < QUICK:
            return
    pytest.fail(f"bytes^{min(slopes):.2f}; {seconds} s for 1, 2, 4, 8 MB")
