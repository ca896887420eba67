"""Mean ranks over splits and tasks: of methods that are scored on all of them, and of no curve."""

import pandas as pd
import pytest

from benchmark.analysis.ranking import mean_rank_rows
from benchmark.evaluation.cell_scores import CELL_COLUMNS, SCORE_COLUMNS
from benchmark.evaluation.score_table import ScoreTable
from tests.builders import small_experiment


def scored_of(values, **more):
    """Scores of each method on each split, by task."""
    rows = []
    for (method, task), own in values.items():
        keys = {"variant": "base", "task": task, "method": method, "choice": "", "of_class": "", "what": "point"}
        keys |= {"size": pd.NA, "terms": pd.NA} | more
        splits = [("all", sum(own) / len(own)), *((f"s{i}", value) for i, value in enumerate(own))]
        rows += [{"cell": method, "fold": fold, "metric": "accuracy", "value": value} | keys for fold, value in splits]
    table = pd.DataFrame(rows, columns=[*SCORE_COLUMNS, *CELL_COLUMNS])
    return ScoreTable({}, {}, {}, lambda: (table, table))


THREE = {
    (method, task): [0.5 + i / 10, 0.6 + i / 10, 0.7 + i / 10] for i, method in enumerate("abc") for task in ("x", "y")
}


def test_a_split_is_a_sample_whose_tasks_share_documents():
    rows = mean_rank_rows(small_experiment(), scored_of(THREE))
    assert [row[:3] for row in rows] == [["c", 1.0, 3], ["b", 2.0, 3], ["a", 3.0, 3]]


def test_a_method_without_a_score_somewhere_is_left_out():
    part = THREE | {("d", "x"): [0.1, 0.1, 0.1]}
    assert mean_rank_rows(small_experiment(), scored_of(part)) == mean_rank_rows(small_experiment(), scored_of(THREE))


@pytest.mark.parametrize("more", [{"size": 50}, {"terms": 50}, {"of_class": "earn"}, {"what": "diagnostic"}])
def test_neither_curves_nor_single_classes_are_ranked(more):
    assert mean_rank_rows(small_experiment(), scored_of(THREE, **more)) == []


def test_of_two_methods_or_two_samples_there_are_pairs():
    assert (
        mean_rank_rows(small_experiment(), scored_of({key: own for key, own in THREE.items() if key[0] != "a"})) == []
    )
    assert mean_rank_rows(small_experiment(), scored_of({key: own[:2] for key, own in THREE.items()})) == []


def test_of_errors_the_lowest_is_first():
    table = scored_of(THREE).frame.assign(metric="error")
    rows = mean_rank_rows(small_experiment(metrics=["error"]), ScoreTable({}, {}, {}, lambda: (table, table)))
    assert [row[:2] for row in rows] == [["a", 1.0], ["b", 2.0], ["c", 3.0]]
