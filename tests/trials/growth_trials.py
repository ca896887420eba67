"""How seconds grow with bytes, for what each parser and lexer would find hardest."""

from __future__ import annotations

import functools
import itertools
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from reading_trials import counted
from trial import Family, borrowed

from benchmark.corpora import reuters
from benchmark.corpora.sgml import decode_entities, read_articles
from benchmark.errors import DataError
from benchmark.text.lexer import Lexing

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
LEXINGS = [
    Lexing(False, True, "run-length", "none"),
    Lexing(True, False, "joined", "none"),
    Lexing(False, False, "literal", "none"),
    Lexing(False, True, "run-length", "none", "unicode"),
]


def _articles(content: bytes) -> None:
    try:
        list(read_articles(content, "x.sgm"))
    except DataError:
        return


def _corpus(content: bytes) -> None:
    card = borrowed("corpora/test_reuters")["CARD"]
    try:
        reuters.read({b"reut2-000.sgm": content}, card, card.digest)
    except DataError:
        return


def _in_article(unit: bytes, gap: int, size: int) -> bytes:
    filled = (unit * (size // len(unit) + 1))[:size]
    return ARTICLE % tuple(filled if each == gap else b"" for each in range(GAPS))


def _stories(size: int) -> bytes:
    story = borrowed("corpora/test_reuters")["story"]
    return b"".join(story(number, "earn acq") for number in range(size // 150))


@functools.cache
def collisions(bits: int = 20, blocks: int = 18) -> list[tuple[bytes, bytes]]:
    """Pairs of syllables that leave the low bits of FNV-1a alike: words of one of each pair meet in one slot.

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


def _colliding(size: int) -> bytes:
    pairs = collisions()
    n = min(size // (5 * len(pairs) + 1), 1 << len(pairs))
    return b" ".join(b"".join(pair[number >> bit & 1] for bit, pair in enumerate(pairs)) for number in range(n))


def _inputs() -> list[tuple[str, Parser, Callable[[int], bytes]]]:
    """A name, the parser, and what makes its input of so many bytes; the hardest first, for a slice."""
    hard: list[tuple[str, Parser, Callable[[int], bytes]]] = []
    for unit, gap in itertools.product((b"A", b"<D>", b"<TOPICS>", b"<TITLE>", b"&", b" "), (0, 3, 8)):
        hard += [(f"articles, {unit!r} in gap {gap}", _articles, functools.partial(_in_article, unit, gap))]
    hard += [("stories by the thousand", _corpus, _stories)]
    for lexing in LEXINGS:
        lexed = functools.partial(_lexed, lexing)
        hard += [(f"words that collide, {lexing}", lexed, _colliding)] if lexing is LEXINGS[0] else []
        hard += [(f"words, {unit!r}, {lexing}", lexed, functools.partial(_repeated, unit)) for unit in WORDS]
    rest = [
        (f"entities, {unit!r}", decode_entities, functools.partial(_repeated, unit)) for unit in OPENING if b"&" in unit
    ]
    for number, unit in enumerate(OPENING):
        rest += [(f"articles, {unit!r} alone", _articles, functools.partial(_repeated, unit))]
        rest += [
            (f"articles, {unit!r} in gap {gap}", _articles, functools.partial(_in_article, unit, gap))
            for gap in (number % GAPS, (number + 4) % GAPS, (number + 7) % GAPS)
        ]
    return [*hard, *rest]


def _repeated(unit: bytes, size: int) -> bytes:
    return (unit * (size // len(unit) + 1))[:size]


def _lexed(lexing: Lexing, content: bytes) -> None:
    counted([content], lexing)


INPUTS = _inputs()


def _seconds(parse: Parser, content: bytes, repeats: int) -> float:
    """Of the processor, the least of a few."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        parse(content)
        found.append(time.process_time() - started)
        if found[-1] > 1:
            break
    return max(min(found), 1e-5)


def _exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(number: int) -> str | None:
    """Log seconds against log bytes: a line of a slope of at most 1.1."""
    name, parse, make = INPUTS[number]
    parse(make(1_000))
    probed = [_seconds(parse, make(size), REPEATS) for size in PROBES]
    foretold = max(probed[-1], probed[-1] * (SIZES[-1] / PROBES[-1]) ** _exponent(PROBES, probed))
    if foretold > TOO_LONG and not math.isnan(foretold):
        return f"{name}: bytes^{_exponent(PROBES, probed):.2f}; {probed[-1]:.2f} s for {PROBES[-1] // 1024} kB"
    contents = [make(size) for size in SIZES]
    for repeats in (1, REPEATS, REPEATS):  # what else the machine did meanwhile makes one slope too steep, not all
        seconds = [_seconds(parse, content, repeats) for content in contents]
        slope = _exponent(SIZES, seconds)
        if slope <= STEEPEST or seconds[-1] < QUICK:
            return None
    taken = ", ".join(f"{each:.3f}" for each in seconds)
    return f"{name}: bytes^{slope:.2f}; {taken} s for 1, 2, 4, 8 MB"


TRIES = "1 to 8 MB of the hardest input: seconds as bytes^1.1 at most"
FAMILIES = [Family("growth", TRIES, growth, len(INPUTS), 12, 120, alone=True)]
