"""Whole pages of what stands beside a run: documents that are hard, regions."""

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
from benchmark.report.drawing.regions import region_chart
from benchmark.report.html.simplex import simplex_section
from benchmark.report.writers import frame_csv
from tests.analysis.made import predicted, table_study
from tests.report.expected_texts import assert_expected, figure_text
from tests.report.regions import figure_of, panel

if TYPE_CHECKING:
    from benchmark.analysis.formatting.table import Table
    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("without_vega")
NAN = math.nan


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
