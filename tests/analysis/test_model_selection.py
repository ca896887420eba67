"""Which candidate each split uses: by the tested documents, once a curve; by cross-validation, by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmark.analysis.model_selection import select_candidates, selected_predictions, split_losses
from benchmark.config.model import Cell
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from tests.analysis.made import drawn_study
from tests.builders import inner_counts, setting_of


class TestChoice:
    def test_each_split_is_scored_by_what_its_own_candidate_decided(self, drawn):
        experiment, predictions, scored = drawn
        cell = next(cell for cell in experiment.cells if cell.id == "rbf-cv-50")
        candidates = scored.chosen[cell.id]
        assert len(set(candidates)) > 1
        found = selected_predictions(predictions, cell, candidates)
        for split, index in enumerate(candidates):
            of = predictions.settings["base", "", "rbf", int(index), 50, None]
            np.testing.assert_array_equal(found.by_split[split], of.by_split[split])
            np.testing.assert_array_equal(found.split(split).tied, of.split(split).tied)
            np.testing.assert_array_equal(found.seconds[split], of.seconds[split])


#: Of ten documents every other one is of the second class, and those are tested: 1, 3, 5, 7 and 9.
TRUTH = np.tile([0, 1], 5).astype(np.int32)
TESTED = np.arange(1, 10, 2)


@pytest.fixture(scope="module")
def choosing():
    """Choose between candidates by what each decided on the one split of each size, and by their inner errors."""
    experiment = drawn_study(corpus={"name": "synthetic", "classes": ["course", "faculty"]}, metrics=["error"])

    def choose(choice, decisions, inner=None, metrics=("error",), tested=TESTED):
        key = TaskKey("base", "")
        documents = TaskDocuments(tuple("abcdefghij"), ("course", "faculty"), TRUTH)
        split = TestedSplit("replicate-01", tested, np.array([3, 2]))
        points = {}
        for size, each in decisions.items():
            for index, given in enumerate(each):
                wrong = 5 if inner is None else inner[index]
                own = np.array([wrong]) if isinstance(wrong, tuple) else inner_counts([wrong])
                points[SettingKey(*key, "rbf", index, size, None)] = setting_of([given], inner=own)
        predictions = Predictions({key: documents}, {SplitKey(*key, size): (split,) for size in (50, 100)}, points)
        cell = Cell("x", "base", "", "rbf", choice=choice, size=50)
        study_of = replace(experiment, metrics=metrics)
        return select_candidates(study_of, predictions, cell, partial(split_losses, study_of, predictions))

    return choose


ALL_RIGHT, ALL_WRONG, ONE_WRONG = [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]


class TestOracle:
    def test_sees_the_tested_documents_and_no_other(self, choosing):
        as_the_first_five = list(TRUTH[:5])  # right on documents that aren't tested, wrong on most that are
        found = choosing("oracle", {50: [as_the_first_five, ALL_RIGHT, ALL_WRONG]})
        assert found.tolist() == [1]

    @pytest.mark.parametrize("metrics", [("accuracy",), ("macro-f1",), ("error",), ("f1", "error"), ("seconds",)])
    def test_takes_the_best_be_more_better_or_less(self, choosing, metrics):
        assert choosing("oracle", {50: [ALL_WRONG, ONE_WRONG, ALL_RIGHT]}, metrics=metrics).tolist() == [2]

    def test_leaves_out_a_size_at_which_a_candidate_failed(self, choosing):
        decisions = {50: [ALL_RIGHT, ONE_WRONG, ALL_WRONG], 100: [ALL_WRONG, ALL_RIGHT]}
        assert choosing("oracle", decisions).tolist() == [0]


class TestCrossValidation:
    @pytest.mark.parametrize(
        ("inner", "index"),
        [((3, 2, 1), 2), ((1, 2, 1), 0), ((2, 2, 2), 1), ((3, 1, 1), 1), ((1, 1, 3), 0)],
    )
    def test_takes_the_lowest_inner_error_and_the_middle_of_equals(self, choosing, inner, index):
        assert choosing("cross-validation", {50: [ALL_WRONG, ALL_RIGHT, ALL_WRONG]}, inner).tolist() == [index]

    @pytest.mark.parametrize(("metric", "index"), [("error", 0), ("accuracy", 0), ("macro-f1", 1)])
    def test_goes_by_the_main_metric(self, choosing, metric, index):
        """Of eight documents of one class and two of another, all are taken for the first, or three for the second."""
        all_first, three_wrong = (8, 0, 10, 0, 8, 2, 10), (5, 2, 5, 5, 8, 2, 10)
        found = choosing("cross-validation", {50: [ALL_WRONG] * 3}, (all_first, three_wrong, 9), (metric,))
        assert found.tolist() == [index]

    def test_never_sees_the_tested_documents(self, choosing):
        decisions = {50: [ALL_RIGHT, ALL_WRONG, ALL_WRONG]}
        assert choosing("cross-validation", decisions, (2, 2, 1)).tolist() == [2]
