"""A corpus of any size from a seed: words by Zipf's law, some of each document's by its class.

    python tests/perf/zipf.py OUT.csv DOCUMENTS

Of ranks r from 0, p(r) ∝ ln(1 + 1 / (r + 1)), nearly Zipf's 1 / (r + 1.5); drawn as the whole part of
(n_words + 1)^u - 1, u uniform. A share of a document's words, drawn for the document, is its class's: there a rank
stands for another word in each class.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of these a word is made: 2 letters for the 40 most frequent, 8 for most.
SYLLABLES = [consonant + vowel for consonant in "bdklmnrt" for vowel in "aeiou"]
#: Documents drawn by one generator: a smaller corpus is the beginning of a larger one.
BLOCK = 10_000
#: Between these lies the share of a document's words that are its class's: nine in ten can be told.
SHARES = (0.04, 0.2)
#: Of so many documents, one is tested.
TESTED = 5


def write(
    path: Path,
    n_documents: int,
    *,
    n_words: int = 500_000,
    words_per_document: int = 100,
    n_classes: int = 20,
    seed: int = 0,
) -> None:
    """Write a table with the columns text, label and split (train, test)."""
    words = [word_of(rank) for rank in range(n_words)]
    classes = [f"class-{number:0{len(str(n_classes - 1))}}" for number in range(n_classes)]
    own = np.random.default_rng([seed, 0]).permuted(np.tile(np.arange(n_words, dtype=np.int32), (n_classes, 1)), axis=1)
    with path.open("w", encoding="ascii", newline="") as file:
        file.write("text,label,split\n")
        for start in range(0, n_documents, BLOCK):
            labels, drawn = block(np.random.default_rng([seed, 1, start]), own, (BLOCK, words_per_document))
            for row, number in enumerate(range(start, min(start + BLOCK, n_documents))):
                text = " ".join([words[rank] for rank in drawn[row].tolist()])
                file.write(f"{text},{classes[labels[row]]},{'train' if (number + 1) % TESTED else 'test'}\n")


def word_of(rank: int) -> str:
    """A word of each rank: its number in syllables, the least first."""
    word = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        rank -= 1
        word += SYLLABLES[rank % len(SYLLABLES)]
    return word


def block(
    random: np.random.Generator, own: NDArray[np.int32], shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The classes of a block of documents, shape (documents,), and the ranks of their words, (documents, words).

    `own` has the word that each rank stands for in each class, shape (n_classes, n_words).
    """
    labels = random.integers(len(own), size=shape[0])
    share = random.uniform(*SHARES, (shape[0], 1))
    drawn = (np.exp(random.random(shape) * np.log(own.shape[1] + 1)) - 1).astype(np.int32)
    of_class = random.random(drawn.shape) < share
    return labels, np.where(of_class, own[labels[:, np.newaxis], drawn], drawn)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
