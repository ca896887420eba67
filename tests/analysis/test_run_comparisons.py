"""Two cells of a run, and two runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmark.analysis.formatting.units import metric_name
from benchmark.analysis.run_comparisons import agreement_sentence, compare_two_cells, compare_two_runs
from benchmark.analysis.scoring import RunPredictions, score_cells
from benchmark.evaluation.predictions import Predictions, SettingKey
from benchmark.system.errors import ConfigError
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study


@pytest.fixture(scope="module")
def tabled():
    experiment = table_study()
    predictions = predicted(experiment)
    return experiment, predictions, score_cells(experiment, predictions)


class TestCells:
    def test_of_draws(self, drawn):
        experiment, predictions, scored = drawn
        scores, tests = compare_two_cells(
            RunPredictions(experiment, predictions, {}, {}), "rbf-oracle-50", "linear-oracle-50"
        )
        (row,) = scores.rows
        values = [100 * scored.estimate(name, "error").value for name in ("rbf-oracle-50", "linear-oracle-50")]
        assert row[:4] == ("error %", f"{values[0]:.2f}", f"{values[1]:.2f}", f"{values[0] - values[1]:+.2f}")
        assert [row[0] for row in tests.rows] == ["Wilcoxon's signed rank test", "McNemar's exact test"]

    def test_of_documents(self, tabled):
        experiment, predictions, scored = tabled
        scores, tests = compare_two_cells(RunPredictions(experiment, predictions, {}, {}), "tf-l1-ngd", "tf-l1-linear")
        assert [row[0] for row in scores.rows] == [f"{metric_name(name, {})} %" for name in experiment.metrics]
        assert [row[0] for row in tests.rows] == [
            "exact sign test",
            "McNemar's exact test",
            "Wilcoxon's signed rank test",
        ]
        assert tests.rows[2][3].startswith("not testable")
        for name, row in zip(("sign", "mcnemar"), tests.rows, strict=False):
            own = scored.test(name, "tf-l1-ngd", "tf-l1-linear", "accuracy")
            assert (row[1], float(row[3])) == (own.n, pytest.approx(own.p_value, rel=0.01))

    def test_one_that_failed_says_why(self, drawn):
        experiment, predictions, _ = drawn
        points = {key: point for key, point in predictions.settings.items() if key[2] != "linear"}
        part = Predictions(predictions.tasks, predictions.splits, points)
        with pytest.raises(ConfigError, match="'linear-oracle-50' failed: too wide"):
            compare_two_cells(
                RunPredictions(experiment, part, {"linear-oracle-50": "too wide"}, {}),
                "rbf-oracle-50",
                "linear-oracle-50",
            )

    def test_those_of_other_documents_are_refused(self, drawn):
        experiment, predictions, _ = drawn
        with pytest.raises(ConfigError, match="there is nothing to pair"):
            compare_two_cells(RunPredictions(experiment, predictions, {}, {}), "rbf-oracle-50", "rbf-oracle-100")

    def test_those_of_other_classes_are_refused(self, centroids):
        experiment, predictions, _ = centroids
        with pytest.raises(ConfigError, match="there is nothing to pair"):
            compare_two_cells(RunPredictions(experiment, predictions, {}, {}), "faculty-skl-50", "course-skl-50")


class TestRuns:
    def test_a_run_and_itself_decide_alike(self, drawn):
        experiment, predictions, _ = drawn
        (part,) = compare_two_runs(
            RunPredictions(experiment, predictions, {}, {}),
            RunPredictions(experiment, predictions, {}, {}),
            ("one", "two"),
        )
        assert len(part.rows) == len(experiment.cells)
        assert all(row[-3:] == ("+0.00", 240, 0) for row in part.rows)
        run = RunPredictions(experiment, predictions, {}, {})
        n = len(experiment.cells)
        told = f"{n} of the {n} cells that both runs have agree in every prediction."
        assert agreement_sentence(run, run, ("one", "two")) == told

    def test_documents_that_were_decided_otherwise_are_counted(self, tabled):
        experiment, predictions, _ = tabled
        key = SettingKey("base", "", "tf-l1-ngd", 0, None, None)
        point = predictions.settings[key]
        labels = point.predicted.copy()
        labels[:3] = (labels[:3] + 1) % 3
        moved = replace(point, predicted=labels)
        other = Predictions(predictions.tasks, predictions.splits, predictions.settings | {key: moved})
        (part,) = compare_two_runs(
            RunPredictions(experiment, predictions, {}, {}), RunPredictions(experiment, other, {}, {}), ("one", "two")
        )
        assert {row[0]: row[-2:] for row in part.rows} == {
            cell.id: (60, 3 if cell.id == "tf-l1-ngd" else 0) for cell in experiment.cells
        }

    def test_a_difference_is_the_second_runs_score_less_the_firsts(self, tabled):
        experiment, predictions, scored = tabled
        truth = predictions.tasks["base", ""].truth
        tests = np.concatenate([split.test for split in predictions.splits["base", "", None]])
        key = SettingKey("base", "", "tf-l1-ngd", 0, None, None)
        right = replace(predictions.settings[key], predicted=truth[tests].astype(np.int16))
        better = Predictions(predictions.tasks, predictions.splits, predictions.settings | {key: right})
        runs = [RunPredictions(experiment, each, {}, {}) for each in (predictions, better)]
        gap = 100 * (1 - scored.estimate("tf-l1-ngd", "accuracy").value)
        for (one, two), sign in ((runs, 1), (runs[::-1], -1)):
            (part,) = compare_two_runs(one, two, ("one", "two"))
            differences = {row[0]: row[3] for row in part.rows}
            assert differences.pop("tf-l1-ngd") == f"{sign * gap:+.2f}"
            assert set(differences.values()) == {"+0.00"}
            assert f"the largest difference is {sign * gap:+.2f} points" in agreement_sentence(one, two, ("one", "two"))

    def test_the_order_of_classes_changes_no_decision(self, tabled):
        experiment = table_study(corpus={"name": "synthetic", "classes": CLASSES[::-1]})
        (part,) = compare_two_runs(
            RunPredictions(*tabled[:2], {}, {}),
            RunPredictions(experiment, predicted(experiment), {}, {}),
            ("one", "two"),
        )
        assert all(row[-2] == 60 for row in part.rows)
        truth = [predictions.tasks["base", ""] for predictions in (tabled[1], predicted(experiment))]
        names = [np.array(task.classes)[task.truth].tolist() for task in truth]
        assert names[0] == names[1]
        assert all(row[-1] < 30 for row in part.rows)

    def test_several_classes_of_a_document_are_one_decision(self):
        experiment = drawn_study(choose=None, methods=["linear", "ngd"], compare=[], metrics=["macro-f1"])
        one, two = (predicted(experiment, seed, multilabel=True) for seed in (0, 1))
        (part,) = compare_two_runs(
            RunPredictions(experiment, one, {}, {}), RunPredictions(experiment, two, {}, {}), ("one", "two")
        )
        assert all(row[-2] == 240 and 0 < row[-1] < 240 for row in part.rows)

    def test_runs_of_different_metrics_have_nothing_to_compare(self, drawn, tabled):
        (part,) = compare_two_runs(
            RunPredictions(*drawn[:2], {}, {}), RunPredictions(*tabled[:2], {}, {}), ("one", "two")
        )
        assert (part.rows, part.empty) == (
            [],
            "the runs have different metrics, error and accuracy: nothing to compare",
        )

    def test_runs_without_a_common_cell_say_so(self, tabled):
        experiment = table_study(methods=["mnb"], compare=[])
        (part,) = compare_two_runs(
            RunPredictions(*tabled[:2], {}, {}),
            RunPredictions(experiment, predicted(experiment), {}, {}),
            ("one", "two"),
        )
        assert (part.rows, part.empty) == ([], "the runs have no cell in common")


PAIRED = "only the same test documents can be paired"


def test_why_cells_are_not_compared_is_said(drawn):
    experiment, predictions, _ = drawn
    points = {key: point for key, point in predictions.settings.items() if key[2] != "linear"}
    part = Predictions(predictions.tasks, predictions.splits, points)
    for pair, run, said in [
        (
            ("rbf-oracle-50", "linear-oracle-50"),
            RunPredictions(experiment, part, {}, {}),
            "the cell 'linear-oracle-50' failed: it has no predictions",
        ),
        (
            ("rbf-oracle-50", "rbf-oracle-100"),
            RunPredictions(experiment, predictions, {}, {}),
            f"'rbf-oracle-50' and 'rbf-oracle-100' differ in documents: {PAIRED}: there is nothing to pair",
        ),
    ]:
        with pytest.raises(ConfigError) as refused:
            compare_two_cells(run, *pair)
        assert str(refused.value) == said
