"""The page on words and characters: its accuracies and differences are those of the pinned numbers."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pandas as pd
import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "characters.md").read_text(encoding="utf-8")
FEATURES = "words characters fused words-concentration characters-concentration fused-concentration"
CONCENTRATION = "words-concentration characters-concentration one-machine-concentration fused-concentration"
CONTROLS = "plain-words plain-characters plain-fused chosen simplex"
#: Rows of the tables: how they begin, the corpus, and the cells, or differences of two, of their first numbers.
ROWS = [
    ("(1 + log count)", "20ng", "plain-words plain-words-pairs-subject plain-characters plain-one-machine plain-fused"),
    ("square roots of", "20ng", "words words-pairs-subject characters one-machine fused"),
    ("the same of", "20ng", CONCENTRATION),
    ("the choice, over words", "20ng", "chosen−words-pairs-subject"),
    ("the choice, over two", "20ng", "chosen−plain-fused"),
    ("two machines, over words", "20ng", "fused−words-pairs-subject"),
    ("two machines, over characters", "20ng", "fused−characters"),
    ("two machines, over the same", "20ng", "fused−one-machine"),
    ("one machine with", "20ng", "one-machine−words-pairs-subject"),
    ("characters, over words", "20ng", "characters−words"),
    ("concentration, of characters", "20ng", "characters-concentration−characters"),
    ("concentration, of two", "20ng", "fused-concentration−fused"),
    ("concentration, of words", "20ng", "words-concentration−words-pairs-subject"),
    ("square roots, of two", "20ng", "fused−plain-fused"),
    ("20 Newsgroups without", "20ng-own", FEATURES),
    ("20 Newsgroups, folds", "20ng-authors", FEATURES),
    ("WebKB", "webkb", FEATURES),
    ("Reuters R8", "r8", FEATURES),
    ("Reuters R52", "r52", FEATURES),
    ("Reuters ModApte", "modapte", FEATURES),
    ("on WebKB", "webkb", CONTROLS),
    ("on R8", "r8", CONTROLS),
    ("on R52", "r52", CONTROLS),
    ("on ModApte", "modapte", CONTROLS),
]


@pytest.mark.parametrize(("beginning", "corpus", "cells"), ROWS, ids=[beginning for beginning, *_ in ROWS])
def test_a_row_has_the_pinned_numbers(beginning: str, corpus: str, cells: str) -> None:
    pinned = pd.read_csv(REPOSITORY / "results" / "pinned" / f"characters-{corpus}.csv").query("fold == 'all'")
    pinned = pinned[pinned["metric"] == ("micro-f1" if corpus == "modapte" else "accuracy")]
    names = pinned["cell"].str.replace("-(cv|temporal-holdout)$", "", regex=True)
    scores = dict(zip(names, 100 * pinned["value"], strict=True))
    (row,) = re.findall(rf"(?m)^\| {re.escape(beginning)}[^|]*\|(.*)$", PAGE)
    printed = [Decimal(each.replace("−", "-")) for each in re.findall(r"[+−-]?\d+\.\d+", row)]
    for text, names_of in zip(printed, cells.split(), strict=False):
        a, _, b = names_of.partition("−")
        value = round(scores[a] - (scores[b] if b else 0), 9)
        assert text == Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_HALF_EVEN), names_of
    assert len(printed) == len(cells.split()) or "−" in cells
