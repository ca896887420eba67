"""The page on words and characters: its accuracies and differences are those of the pinned numbers."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pandas as pd
import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "characters.md").read_text()
#: The rows of the first table: first words, and the cells of its numbers.
ROWS = {
    "(1 + log count)": [
        "plain-words",
        "plain-words-pairs-subject",
        "plain-characters",
        "plain-one-machine",
        "plain-fused",
    ],
    "square roots of": ["words", "words-pairs-subject", "characters", "one-machine", "fused"],
    "the same of": [
        "words-concentration",
        "characters-concentration",
        "one-machine-concentration",
        "fused-concentration",
    ],
}
#: Rows of the table of steps: first words, and the two cells.
STEPS = {
    "the choice, over words": ("chosen", "words-pairs-subject"),
    "the choice, over two": ("chosen", "plain-fused"),
    "two machines, over words": ("fused", "words-pairs-subject"),
    "two machines, over characters": ("fused", "characters"),
    "two machines, over the same": ("fused", "one-machine"),
    "one machine with": ("one-machine", "words-pairs-subject"),
    "characters, over words": ("characters", "words"),
    "concentration, of characters": ("characters-concentration", "characters"),
    "concentration, of two": ("fused-concentration", "fused"),
    "concentration, of words": ("words-concentration", "words-pairs-subject"),
    "square roots, of two": ("fused", "plain-fused"),
}
#: Rows of the table of other corpora: the configuration, the ending of its cells, and the metric.
OTHERS = {
    "20 Newsgroups without": ("characters-20ng-own", "", "accuracy"),
    "20 Newsgroups, folds": ("characters-20ng-authors", "", "accuracy"),
    "WebKB": ("characters-webkb", "-cv", "accuracy"),
    "Reuters R8": ("characters-r8", "-cv", "accuracy"),
    "Reuters R52": ("characters-r52", "-cv", "accuracy"),
    "Reuters ModApte": ("characters-modapte", "-cv", "micro-f1"),
}


def accuracies(config: str, ending: str, metric: str = "accuracy") -> dict[str, float]:
    """Accuracy, or another metric, in percent of each cell, without the ending of its name."""
    pinned = pd.read_csv(REPOSITORY / "results" / "pinned" / f"{config}.csv")
    rows = pinned[(pinned["metric"] == metric) & (pinned["fold"] == "all")]
    return {cell.removesuffix(ending): 100 * value for cell, value in zip(rows["cell"], rows["value"], strict=True)}


def numbers(beginning: str) -> list[Decimal]:
    """The numbers in the table row with this beginning, after its first column."""
    (row,) = re.findall(rf"(?m)^\| {re.escape(beginning)}[^|]*\|(.*)$", PAGE)
    return [Decimal(each.replace("−", "-")) for each in re.findall(r"[+−-]?\d+\.\d+", row)]


def printed(value: float) -> Decimal:
    return Decimal(repr(round(value, 9))).quantize(Decimal("0.01"), ROUND_HALF_EVEN)


@pytest.mark.parametrize("beginning", ROWS)
def test_accuracies(beginning: str) -> None:
    found = accuracies("characters-20ng", "-temporal-holdout")
    assert numbers(beginning) == [printed(found[cell]) for cell in ROWS[beginning]]


@pytest.mark.parametrize("beginning", STEPS)
def test_steps(beginning: str) -> None:
    found = accuracies("characters-20ng", "-temporal-holdout")
    a, b = STEPS[beginning]
    assert numbers(beginning)[0] == printed(found[a] - found[b])


@pytest.mark.parametrize("beginning", OTHERS)
def test_other_corpora(beginning: str) -> None:
    found = accuracies(*OTHERS[beginning])
    cells = ["words", "characters", "fused", "words-concentration", "characters-concentration", "fused-concentration"]
    assert numbers(beginning) == [printed(found[cell]) for cell in cells]


@pytest.mark.parametrize("corpus", ["webkb", "r8", "r52", "modapte"])
def test_controls_of_other_corpora(corpus: str) -> None:
    found = accuracies(f"characters-{corpus}", "-cv", "micro-f1" if corpus == "modapte" else "accuracy")
    named = {"webkb": "WebKB", "modapte": "ModApte"}.get(corpus, corpus.upper())
    cells = ["plain-words", "plain-characters", "plain-fused", "chosen", "simplex"]
    assert numbers(f"on {named}") == [printed(found[cell]) for cell in cells]
