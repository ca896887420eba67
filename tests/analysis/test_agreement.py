"""Agreement of two sets of predictions, of two cells of a run, and of two runs."""

from __future__ import annotations

import pytest

from benchmark.analysis.agreement import (
    agreements,
    compare_two_cells,
    compare_two_runs,
)
from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.scoring import RunPredictions
from benchmark.system.errors import ConfigError
from tests.analysis.made import predicted, table_study


def run_of(experiment, predictions=None, seed=0):
    return RunPredictions(experiment, predictions or predicted(experiment, seed), {}, {})


def compared(one, two):
    sentence, table, _ = compare_two_runs(one, two, ("one", "two"))
    return sentence, {row[0]: row[1:] for row in table.rows}


@pytest.fixture(scope="module")
def tabled():
    experiment = table_study()
    predictions = predicted(experiment)
    return experiment, predictions, RunPredictions(experiment, predictions, {}, {}).scored


class TestCells:
    def test_those_of_other_documents_are_refused(self, drawn):
        experiment, predictions, _ = drawn
        with pytest.raises(ConfigError, match="there is nothing to pair"):
            compare_two_cells(RunPredictions(experiment, predictions, {}, {}), "rbf-oracle-50", "rbf-oracle-100")


class TestRuns:
    def test_cells_of_one_run_alone_are_unequal_and_counted(self, tabled):
        one = run_of(*tabled[:2])
        part = table_study(methods=["mnb", {"kernel": "linear", "name": "tf-l1-linear"}], compare=[])
        two = run_of(part)
        found = agreements(label_frame(one), label_frame(two))
        assert {*found.index[(found["first"] > 0) | (found["second"] > 0)]} == {*one.experiment.ids} ^ {*part.ids}
        sentence, rows = compared(one, two)
        assert rows.keys() == {*one.experiment.ids} & {*part.ids}
        assert sentence.endswith("3 only in one; 1 only in two.")
