"""Generate a small corpus in WebKB's shape, for trials and tests without a download.

The documents are the same bytes on every machine: all random numbers come from the raw doubles of PCG64, which numpy
keeps stable (the streams of `Generator.choice`, `.dirichlet` and others may change between versions), and all weights
are integers, so that no rounding of a sum or a power affects which word is drawn.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.assemble import read_webkb
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard

    Draw = Callable[[int], NDArray[np.float64]]

#: Name of the multi-label subset, whose documents have several classes or none.
MULTILABEL_SUBSET = "several"

#: Default number of documents.
SYNTHETIC_DOCUMENTS = 600
#: Numbers of documents by class and university; as in WebKB, misc is the largest group.
SHAPE = {
    "student": {"cornell": 24, "misc": 108, "texas": 26, "washington": 24, "wisconsin": 28},
    "faculty": {"cornell": 12, "misc": 90, "texas": 14, "washington": 11, "wisconsin": 13},
    "course": {"cornell": 14, "misc": 72, "texas": 12, "washington": 20, "wisconsin": 22},
    "project": {"cornell": 12, "misc": 60, "texas": 12, "washington": 12, "wisconsin": 14},
}

#: Number of words of the language, and number of the most frequent words, which are typical of no class.
SYNTHETIC_TERMS, FREQUENT = 3000, 10
CLASS_TERMS, CLASS_SHARE = 60, 25
#: Number of words typical of a class (university), and their share of its documents' words in percent.
#:
#: The universities' words make the task hard: in training they occur in documents of other universities, or not at all.
UNIVERSITY_TERMS, UNIVERSITY_SHARE = 60, 20
#: Weight of a new word, against 1 for each word already in the document; smaller values make words burstier.
NEW_WORDS = 8
#: Numbers of words of the shortest and the longest document; short documents are more frequent.
LENGTH = 30, 250

SYLLABLES = [consonant + vowel for vowel in "aeiou" for consonant in "bdfgklmnprstvz"]
TRIMMINGS = [
    "<br>",
    " &amp; ",
    ", 1997.",
    "&nbsp;(12)",
    ' <a href="index.html">home</a>',
    " &#169;",
    " caf\xe9",
    "<hr size=2>",
    "; 3.5 > 3",
    " <b>&eacute;</b>",
]


def generate_synthetic(seed: int = 1, size: int = SYNTHETIC_DOCUMENTS) -> FileContents:
    """Generate the documents.

    The words of a document are drawn from a Polya urn: a new word from the distribution of its class and university,
    or a repetition of one of the document's words (a Dirichlet-multinomial: words come in bursts, as in real text).
    The words of the language follow Zipf's law.

    Parameters
    ----------
    seed : int
        Not negative.
    size : int
        Approximate number of documents; every class has at least two from every university.
    """
    random = np.random.Generator(np.random.PCG64(seed)).random
    language, words = _zipf(SYNTHETIC_TERMS, 4), [_pseudo_word(rank) for rank in range(SYNTHETIC_TERMS)]
    of_class = {name: _typical(random, CLASS_TERMS) for name in SHAPE}
    of_university = {name: _typical(random, UNIVERSITY_TERMS) for name in SHAPE["student"]}
    files = dict[bytes, bytes]()
    for label, row in SHAPE.items():
        for university, count in row.items():
            weights = (100 - CLASS_SHARE - UNIVERSITY_SHARE) * language
            weights += CLASS_SHARE * of_class[label] + UNIVERSITY_SHARE * of_university[university]
            cumulated = np.cumsum(weights)
            for number in range(max(2, (count * size + SYNTHETIC_DOCUMENTS // 2) // SYNTHETIC_DOCUMENTS)):
                name = f"{label}/{university}/http:^^www.{university}.example^{label}^{number:03d}.html"
                files[name.encode("ascii")] = _page([words[term] for term in _urn(random, cumulated)], number)
    return files


def read_synthetic(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join the pages, named as WebKB's: ``<class>/<university>/<address with ^ for />``.

    A document of the subset "several" joins two pages of one university, and has the classes of both, if the card
    lists them. If a university has an odd number of pages, the last page is a document by itself.
    """
    return _pairs(files, card, digest) if card.kept == MULTILABEL_SUBSET else read_webkb(files, card, digest)


def _pairs(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    documents: list[tuple[int, list[bytes]]] = []
    for group, university in enumerate(card.parts):
        names = [name for name in files if name.split(b"/")[1] == university.encode()]
        names.sort(key=lambda name: hashlib.sha256(name).digest())  # a deterministic shuffle
        documents += [(group, names[start : start + 2]) for start in range(0, len(names), 2)]
    pages = [names for _, names in documents]
    topics = [
        [any(name.startswith(f"{label}/".encode()) for name in names) for label in card.classes] for names in pages
    ]
    labelled = Documents(
        tuple(b" ".join(names).decode("ascii") for names in pages),
        np.full(len(pages), -1, dtype=np.int32),
        np.array([group for group, _ in documents], dtype=np.int32),
        card.classes,
        card.parts,
        np.array(topics, dtype=np.bool_),
    )
    text, bounds = concatenate_texts(
        [b"".join([files[names[0]], *(_body(files[name]) for name in names[1:])]) for names in pages]
    )
    return Corpus(card.name, labelled, text, bounds, digest)


def _body(page: bytes | memoryview) -> bytes:
    """Return a page without its header, which a lexer skips only at the beginning of a document."""
    return re.split(rb"\r?\n\r?\n", bytes(page), maxsplit=1)[1]


def _zipf(terms: int, offset: int) -> NDArray[np.int64]:
    """Return Zipf-Mandelbrot weights, about 1 / (rank + offset), with sum 2^40; a hundred such sums fit into int64."""
    weights: NDArray[np.int64] = 1_000_000 // (np.arange(terms, dtype=np.int64) + offset)
    scaled: NDArray[np.int64] = (weights << 40) // weights.sum()
    return scaled


def _typical(random: Draw, count: int) -> NDArray[np.int64]:
    """Return Zipf weights of `count` words, drawn without replacement from all but the language's most frequent."""
    weights = np.zeros(SYNTHETIC_TERMS, dtype=np.int64)
    weights[FREQUENT + np.argsort(random(SYNTHETIC_TERMS - FREQUENT), kind="stable")[:count]] = _zipf(count, 1)
    return weights


def _urn(random: Draw, cumulated: NDArray[np.int64]) -> list[int]:
    """Draw a document's terms: the t-th is new with probability a / (a + t), a = `NEW_WORDS`, else repeats one."""
    shortest, longest = LENGTH
    share = float(random(1)[0])
    length = shortest + int(share * share * (longest - shortest))  # a power's last bit depends on the C library
    chances, draws = random(length), random(length)
    new = np.searchsorted(cumulated, (draws * cumulated[-1]).astype(np.int64), side="right")
    terms: list[int] = []
    for t, (chance, term) in enumerate(zip(chances.tolist(), new.tolist(), strict=True)):
        ball = int(chance * (NEW_WORDS + t))
        terms.append(term if ball < NEW_WORDS else terms[ball - NEW_WORDS])
    return terms


def _pseudo_word(rank: int) -> str:
    """Encode a rank in syllables, fewer for frequent words; some words are on the stoplist ("me", "so")."""
    word, rest = "", rank + 1
    while rest:
        rest, syllable = divmod(rest - 1, len(SYLLABLES))
        word += SYLLABLES[syllable]
    return word


def _page(words: Sequence[str], number: int) -> bytes:
    """Write words as a page: a header, and a body with markup and entities that a lexer must handle."""
    lines = []
    for start in range(0, len(words), 8):
        first, *others = words[start : start + 8]
        trimming = TRIMMINGS[(number + start // 8) % len(TRIMMINGS)]
        lines.append(f"{first.capitalize()} {' '.join(others)}{trimming}\n")
    body = f'<html><head><title>{words[0]}</title></head>\n<body bgcolor="#ffffff">\n<h1>{words[1]}</h1>\n'
    body += f"<!-- page {number} -->\n{''.join(lines)}</body></html>\n"
    header = f"MIME-Version: 1.0|Server: Example/1.0|Content-type: text/html|Content-length: {len(body)}||"
    # half of WebKB's headers end their lines with CRLF
    return (header.replace("|", "\r\n" if number % 2 else "\n") + body).encode("latin-1")
