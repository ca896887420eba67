"""Where predictions that were made elsewhere stand: sentences, tables and a page on which one's own row is marked."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from benchmark.analysis.ranking import NOT_SHOWN
from benchmark.analysis.summary import SCORE_COLUMNS, summary_table
from benchmark.evaluation.public_test_sets import TEST_SETS
from benchmark.report.html import render
from benchmark.report.placement import (
    LONGEST_METHOD,
    PUBLISHED_SCORE_COLUMNS,
    RANKING_COLUMNS,
    Placement,
    placement_data,
    placement_page,
    published_grid_of,
    ranking_grid_of,
    screen_grids,
)
from tests.report.expected_texts import page_words

NAN = math.nan


def placed(place: int, n: int = 12, name: str = "20ng", published: Any = (), **changes: Any) -> Placement:
    """Return a placed method among n cells, of which the three after it show no clear difference."""
    main, rows = TEST_SETS[name].metrics[0], []
    for i in range(n + 1):
        own, gap = i + 1 == place, (i + 1 - place) / 100
        word = "" if own else "no clear difference" if 0 < gap < 0.035 else "better" if gap > 0 else "worse"
        row = dict.fromkeys(RANKING_COLUMNS, NAN) | {"rank": i + 1, "cell": "mine" if own else f"c{i}"}
        row |= {"value": 0.9 - i / 100, "low": 0.88 - i / 100, "high": 0.92 - i / 100, "difference": gap}
        row |= {"only_placed": 10 + i, "only_cell": 20 - i, "p_holm": 0.05 * i}
        rows.append(row | {"configuration": "" if own else "simplex-x", "compared": word})
    value = 0.9 - (place - 1) / 100
    scores = [("mine", "all", metric, value, value - 0.02, value + 0.02, 9, 0) for metric in TEST_SETS[name].metrics]
    found = summary_table(PUBLISHED_SCORE_COLUMNS, [(main, *row) for row in published])
    made = Placement(TEST_SETS[name], "mine", summary_table(SCORE_COLUMNS, scores), pd.DataFrame(rows), found, {})
    return replace(made, **changes)


#: Method, source, year, published score, whether it saw the test texts, and how it compares with 90.00.
PUBLISHED = (
    ("m" * LONGEST_METHOD, "", 2020.0, "95.00", True, "higher"),
    ("same", "", NAN, "90.00", None, "the same digits"),
    ("low", "Ann", 2020.0, "80.0", False, "lower"),
)


def test_the_sentences_say_the_score_the_rank_and_how_it_compares() -> None:
    score = "90.00% [88.00, 92.00]"
    assert placed(1, published=PUBLISHED, excluded={"x": False}).sentences == (
        f"mine: accuracy {score} and macro-F1 {score}, on 9 posts of 20 Newsgroups, split by date.",
        "x, which our methods leave out, is predicted wrong: 81.00% of all 10.",
        "By accuracy, it has rank 1 beside 12 methods of ours.",
        f"By a paired test, it is better than 9 of them, and worse than 0; there is {NOT_SHOWN} from 3: c1, c2, c3.",
        "Its accuracy is below 1 and above 1, equal to 1 in the printed digits of 3 published values.",
    )
    assert placed(1).sentences[-1] == "No published value on these documents is known here."


def test_the_notes_say_what_decides() -> None:
    of_one, of_several = placed(2), placed(2, name="modapte-90")
    assert "after Holm's correction over 12 cells." in of_one.notes[0]
    assert "after Holm's correction" not in of_several.notes[0]
    assert any("a class has fewer than ten" in note for note in of_several.notes)
    for made, kept, gone in ((of_one, "p (Holm)", "in macro-F1"), (of_several, "in macro-F1", "p (Holm)")):
        assert kept in ranking_grid_of(made).header
        assert gone not in ranking_grid_of(made).header
    rows = [("mine", fold, "accuracy", 0.9, 0.8, 1.0, 9, 0) for fold in ("all", "g1", "g2", "g3")]
    assert placed(2, scores=summary_table(SCORE_COLUMNS, rows)).notes[0] == "Accuracy is the mean over the 3 groups."


@pytest.mark.parametrize(
    ("place", "n", "shown"),
    [
        (1, 12, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (7, 12, [1, 2, 4, 5, 6, 7, 8, 9, 10]),
        (13, 12, [1, 2, 7, 8, 9, 10, 11, 12, 13]),
        (2, 8, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_a_screen_has_the_first_places_and_those_around_it(place: int, n: int, shown: list[int]) -> None:
    grid = screen_grids(placed(place, n))[0]
    assert [int(row[0]) for row in grid.rows] == shown
    assert grid.title.endswith("(9 of 13 rows)") == (n == 12)


def test_published_scores_stand_above_beside_and_below() -> None:
    made = placed(1, published=PUBLISHED)
    assert [row[1:] for row in published_grid_of(made).rows] == [
        ("95.00", "m" * LONGEST_METHOD, "2020", "−5.00", "yes"),
        ("90.00", "mine", "", "", ""),
        ("90.00", "same", "–", "+0.00", "not known"),
        ("80.0", "low (Ann)", "2020", "+10.00", "no"),
    ]
    longer = placed(1, published=[("m" * (LONGEST_METHOD + 1), *PUBLISHED[0][1:])])
    assert [row[1] for row in screen_grids(longer)[1].rows] == [f"{'m' * (LONGEST_METHOD - 1)}…", "mine"]


def test_the_page_has_every_method_with_its_bar_and_marks_the_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(render._environment().globals, "vega", lambda: "SCRIPT")
    html = placement_page(placed(2, published=PUBLISHED))
    words = page_words(html)
    for text in ("c0", "c12", "Among published scores", "Notes", "bench place", "no clear difference"):
        assert text in words, text
    (own,) = re.findall(r'<tr class="own">(.*?)</tr>', html, re.DOTALL)
    assert "mine (placed)" in own
    assert len(re.findall(r'<svg class="bar"', html)) == 13
    assert "89.00" in own
    assert "SCRIPT" not in html


def test_data_are_whole() -> None:
    data = placement_data(placed(2, excluded={"x": True}), "page.html")
    names = {"name", "test_set", "rank", "scores", "ranking", "published", "excluded", "notes", "page"}
    assert (set(data), data["rank"], data["excluded"], data["page"]) == (names, 2, {"x": True}, "page.html")
