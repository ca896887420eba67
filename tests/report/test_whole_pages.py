"""Whole pages of what stands beside a run: a placement, documents that are hard, regions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.hardest_documents import hardest_documents
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summary import (
    SCORE_COLUMNS,
    summary_table,
)
from benchmark.evaluation.public_test_sets import TEST_SETS
from benchmark.report.drawing.regions import region_chart
from benchmark.report.html.simplex import simplex_section
from benchmark.report.placement import (
    PUBLISHED_SCORE_COLUMNS,
    RANKING_COLUMNS,
    Placement,
    placement_data,
    placement_page,
    published_grid_of,
    ranking_grid_of,
    screen_grids,
)
from benchmark.report.writers import frame_csv
from tests.analysis.made import predicted, table_study
from tests.report.expected_texts import assert_expected, figure_text, grid_text, page_words
from tests.report.regions import figure_of, panel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.analysis.formatting.table import Table
    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("without_vega")
NAN = math.nan


def placement(name: str, place: int) -> Placement:
    """A placed method among eleven cells, from the best (place 1) on, and among published scores."""
    test_set = TEST_SETS[name]
    main, further = test_set.metrics
    value = 0.95 - 0.01 * place + 0.014
    ranking = []
    for i in range(12):
        cell, own = f"cell-{i}", 0.95 - 0.01 * i
        if i + 1 == place:
            row = (place, "placed", "", value, value - 0.01, value + 0.01, value - 0.05, *[NAN] * 10, "")
            ranking.append(row)
        gap = value - own
        word = "better" if gap > 0.03 else "worse" if gap < -0.03 else "not told apart"
        macro = (gap - 0.01, NAN, NAN) if test_set.multilabel else (NAN, NAN, NAN)
        p = (NAN, NAN) if test_set.multilabel else (0.0123 * i, min(1.0, 0.05 * i))
        ranking.append(
            (
                *(i + 1 + (i + 1 >= place), cell, "simplex-x", own, own - 0.01, own + 0.01, own - 0.05),
                *(gap, gap - 0.02, gap + 0.02, *macro, 10 + i, 20 - i, *p, word),
            )
        )
    published = []
    for metric, ours in ((main, value), (further, value - 0.05)):
        for k in range(6 if metric == main else 2):
            text = f"{100 * ours + 2 - k:.{k % 3}f}"
            gap = float(text) - 100 * ours
            beside = "the same digits" if abs(gap) < 0.005 else "higher" if gap > 0 else "lower"
            year, seen = (NAN, None) if k == 1 else (2000 + k, k % 2 == 0)
            method = "a method with a name of more than forty characters" if k == 2 else f"method {k}"
            published.append((metric, method, "" if k == 3 else "a source", year, text, seen, beside))
    heads = [
        ("placed", fold, metric, share, share - 0.01, share + 0.01, n, 0)
        for fold, n in (("all", 7531), *((("g", 3000), ("h", 4531)) if name == "webkb" else ()))
        for metric, share in ((main, value), (further, value - 0.05))
    ]
    return Placement(
        test_set,
        "placed",
        summary_table(SCORE_COLUMNS, heads),
        summary_table(RANKING_COLUMNS, ranking),
        summary_table(PUBLISHED_SCORE_COLUMNS, published if name != "webkb" else []),
        dict.fromkeys(test_set.excluded, True),
    )


def placement_parts(made: Placement) -> Iterator[tuple[str, str]]:
    """Yield all that a placement makes a reader see."""
    yield "sentences", "\n".join([str(made.rank), *made.sentences, *made.notes])
    for grid in (ranking_grid_of(made), published_grid_of(made), *screen_grids(made)):
        yield grid.title, grid_text(grid)
    yield "data", "\n".join(f"{key}: {value}" for key, value in placement_data(made, "page.html").items() if key != "x")
    yield "page", page_words(placement_page(made))
    yield "in a notebook", made._repr_html_().partition("<table")[0]


@pytest.mark.parametrize(("name", "place"), [("20ng", 6), ("modapte-90", 1), ("webkb", 12)])
def test_placements(name: str, place: int) -> None:
    assert_expected(f"placement-{name}", placement_parts(placement(name, place)))


def test_regions() -> None:
    simplex, plane = panel("simplex", 0.5), panel("half-plane", 0.5)
    figure = figure_of((simplex, plane))
    parts = {
        "picture": figure_text("regions", region_chart(figure)),
        "section": json.dumps(simplex_section(figure).simplex),
        "words": "\n".join([simplex_section(figure).title, *simplex_section(figure).says]),
        "another step": repr(simplex_section(figure_of((plane,)))),
    }
    assert_expected("regions", parts.items())


def test_a_row_of_the_triangle_tells_also_a_change_at_its_last_point() -> None:
    n = 4
    places = np.array([(n - j - k, j, k) for k in range(n + 1) for j in range(n + 1 - k)])
    last = (places[:, 0] == 0).astype(int)
    of_edge = replace(panel("simplex", 0.5), grid=places / n, predicted=last, likelier=1 - last)
    found = simplex_section(figure_of((of_edge,))).simplex
    assert found["kernels"][0]["rows"] == [[n - k] for k in range(n + 1)]
    assert found["likelier"] == [[0, n - k] if k < n else [] for k in range(n + 1)]


def table_text(table: Table) -> str:
    """A table of a terminal, a line a row."""
    rows = [table.header, *table.rows] if table.rows else [(table.empty,)]
    return "\n".join([table.title, *(" | ".join(map(str, row)) for row in rows)])


def run_of(experiment: Experiment, seed: int = 0, *, multilabel: bool = False) -> RunPredictions:
    """A run of made-up predictions."""
    return RunPredictions(experiment, predicted(experiment, seed, multilabel=multilabel), {}, {})


def test_hard_documents_of_one_class_and_of_several() -> None:
    parts = {}
    for multilabel in (False, True):
        run = run_of(table_study(metrics=["macro-f1"]), multilabel=multilabel)
        hard = hardest_documents(run.experiment, run.predictions, run.scored)
        frame = label_frame(run)
        title = "several" if multilabel else "one"
        parts[title] = "\n".join([*map(str, hard), frame_csv(frame.head(12), list(frame.columns)), str(frame.shape)])
    assert_expected("hard", parts.items())
