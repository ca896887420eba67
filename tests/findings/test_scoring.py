"""Predictions to scores and verdicts, on predictions made up by hand: no training."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from benchmark.evaluation.judging import evidence_for, judge_claims, judge_ranges, judge_values
from benchmark.evaluation.metrics import METRICS, tally
from benchmark.evaluation.predictions import Given, Predictions, TaskDocuments, TestedSplit
from benchmark.evaluation.published import Published
from benchmark.findings.comparing import compare_cells, compare_runs
from benchmark.findings.scoring import score
from benchmark.findings.summary import summarize

CLASSES = ["course", "faculty", "student"]
DRAWN = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "random-subsets", "train_size": [50, 100], "replicates": 6},
    "methods": ["linear", {"kernel": {"name": "rbf", "sigma": [0.1, 0.2, 0.4]}}],
    "choose": {"by": ["oracle", "cross-validation"], "folds": 3},
    "metrics": ["error"],
    "compare": [["rbf", "linear"]],
}
CENTROIDS = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "random-subsets", "train_size": [50, 100], "replicates": 6},
    "defaults": {"classifier": {"name": "divergence-bayes", "smoothing": 0.001}},
    "methods": [{"classifier": {"centroid": ["mean", "skl"]}}],
    "metrics": ["macro-recall"],
    "classes": "each",
    "derive": ["growth"],
    "compare": [["skl", "mean"]],
}
TABLE = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "compare": [["tf-l1-ngd", "tf-l1-linear"]],
}


def predicted(study, seed=0, n=60, several=False):
    """Right on nine decisions of ten."""
    rng, k = np.random.default_rng(seed), len(CLASSES)
    tasks, splits, points = {}, {}, {}
    for variant in study.variants.values():
        for task in variant.tasks:
            order = np.argsort([CLASSES.index(name) for name in task.classes])
            truth = np.random.default_rng(9).integers(k, size=n).astype(np.int32)
            truth = order[truth].astype(np.int32)
            members = np.random.default_rng(8).random((n, k)) < 0.4
            key = (variant.name, task.name)
            tasks[key] = TaskDocuments(tuple(map(str, range(n))), task.classes, members if several else truth)
            for size in variant.sizes:
                draws = 6 if size else 2
                tests = [np.sort(np.random.default_rng([i, size or 0]).permutation(n)[:40]) for i in range(draws)]
                if not size:
                    tests = [np.arange(25), np.arange(25, n)]
                names = [f"replicate-{i + 1:02d}" for i in range(draws)] if size else ["cornell", "texas"]
                splits[*key, size] = tuple(
                    TestedSplit(name, test, np.full(k, 5)) for name, test in zip(names, tests, strict=True)
                )
                for entry, number in product(variant.entries, variant.numbers):
                    for index in range(len(entry.candidates)):
                        given = []
                        for test in tests:
                            own = tasks[key].truth[test]
                            wrong = rng.random(own.shape) < 0.1 + 0.05 * index
                            given.append(
                                own ^ wrong if several else np.where(wrong, (own + 1) % k, own).astype(np.int32)
                            )
                        inner = rng.integers(4, size=draws) / 10 if len(entry.candidates) > 1 else np.empty(0)
                        tied = tuple(np.arange(own.size).reshape(own.shape) == 3 for own in given)
                        found = Given(tuple(given), tied, rng.random((draws, 5)), np.ones(draws), inner)
                        points[*key, entry.label, index, size, number] = found
    return Predictions(tasks, splits, points)


@pytest.fixture(scope="module", name="drawn")
def fixture_drawn(configured):
    study = configured(name="drawn", **DRAWN)
    predictions = predicted(study)
    return study, predictions, score(study, predictions)


@pytest.fixture(scope="module", name="centroids")
def fixture_centroids(configured):
    study = configured(name="centroids", **CENTROIDS)
    predictions = predicted(study)
    return study, predictions, score(study, predictions)


def headline(scored, cell, metric):
    rows = scored.frame[(scored.frame["cell"] == cell) & (scored.frame["metric"] == metric)]
    return rows[rows["fold"] == "all"].iloc[0]


class TestFrame:
    def test_has_a_row_for_each_split_and_one_for_the_cell(self, drawn):
        study, _, scored = drawn
        rows = scored.frame.groupby("cell", sort=False)["fold"].agg(list)
        assert list(rows.index) == [cell.id for cell in study.cells]
        assert all(folds == [f"replicate-{i:02d}" for i in range(1, 7)] + ["all"] for folds in rows)

    def test_says_what_a_cell_is_made_of(self, centroids):
        study, _, scored = centroids
        for cell in study.cells:
            row = headline(scored, cell.id, "macro-recall")
            assert (row["method"], row["of_class"], row["what"]) == (cell.method, cell.of_class, cell.what)

    def test_ties_are_counted(self, drawn):
        _, _, scored = drawn
        assert headline(scored, "linear-oracle-50", "error")["ties"] == 6


class TestClasses:
    def test_the_mean_of_the_classes_is_that_of_all(self, centroids):
        _, _, scored = centroids
        each = [scored.cells[f"{name}-skl-50"].values["macro-recall"] for name in CLASSES]
        assert scored.cells["all-skl-50"].values["macro-recall"] == pytest.approx(np.mean(each, axis=0))

    def test_growth_is_the_last_size_less_the_first(self, centroids):
        _, _, scored = centroids
        ends = [scored.cells[f"faculty-skl-{size}"] for size in (100, 50)]
        growth = scored.cells["growth-faculty-skl"]
        expected = ends[0].values["macro-recall"] - ends[1].values["macro-recall"]
        np.testing.assert_array_equal(growth.values["macro-recall"], expected)
        np.testing.assert_array_equal(growth.ties, ends[0].ties + ends[1].ties)

    def test_cells_of_a_class_are_paired_on_its_documents(self, centroids):
        study, _, scored = centroids
        tests = scored.tests("faculty-skl-50", "faculty-mean-50", study.metrics)
        assert [test.test for test in tests] == ["wilcoxon", "mcnemar"]
        with pytest.raises(ValueError, match="different classes"):
            scored.test("mcnemar", "faculty-skl-50", "course-mean-50", "macro-recall")


class TestChoice:
    def test_the_oracle_takes_one_candidate_for_the_curve_and_the_best(self, drawn):
        _, predictions, scored = drawn
        task = predictions.tasks["base", ""]
        means = []
        for index in range(3):
            wrong = []
            for size in (50, 100):
                splits, point = (
                    predictions.splits["base", "", size],
                    predictions.points["base", "", "rbf", index, size, None],
                )
                each = [tally(task.truth[s.test], g, 3) for s, g in zip(splits, point.given, strict=True)]
                wrong.append(np.mean([METRICS["error"].of(one) for one in each]))
            means.append(np.mean(wrong))
        for size in (50, 100):
            assert set(scored.chosen[f"rbf-oracle-{size}"]) == {int(np.argmin(means))}

    def test_cross_validation_takes_each_splits_own(self, drawn):
        _, predictions, scored = drawn
        inner = np.stack([predictions.points["base", "", "rbf", i, 50, None].inner for i in range(3)])
        chosen = scored.chosen["rbf-cv-50"]
        assert (inner[chosen, np.arange(6)] == inner.min(axis=0)).all()

    def test_a_candidate_that_failed_leaves_no_score(self, drawn):
        study, predictions, _ = drawn
        points = {key: point for key, point in predictions.points.items() if key[2:5] != ("rbf", 1, 50)}
        part = Predictions(predictions.tasks, predictions.splits, points)
        failures = {"rbf-50": "too wide"}
        summary = summarize(study, part, failures, {})
        assert summary.failures == dict.fromkeys(("rbf-oracle-50", "rbf-cv-50"), "too wide")


class TestVariants:
    def test_other_orders_of_the_classes_are_the_same_classes(self, configured):
        reverse = {"variants": {"reversed": {"corpus": {"classes": CLASSES[::-1]}}}}
        study = configured(name="table", **TABLE, **reverse)
        scored = score(study, predicted(study))
        one, other = (scored.cells[name].outcome for name in ("tf-l1-ngd", "reversed-tf-l1-ngd"))
        np.testing.assert_array_equal(one.truth, other.truth)
        assert scored.test("sign", "tf-l1-ngd", "reversed-tf-l1-ngd", "accuracy").p_value is not None


PAPER = {
    "paper": "p",
    "title": "t",
    "reference": "r",
    "values": [
        {"config": "drawn", "pair": ["rbf-oracle-50", "linear-oracle-50"], "metric": "error-ratio", "value": "1.0"},
        {"config": "drawn", "cell": "linear-oracle-50", "metric": "macro-f1", "value": "90", "unit": "percent"},
        {"config": "drawn", "cell": "linear-oracle-50", "metric": "error", "value": "0.1", "alternative": True},
        {"config": "drawn", "pair": ["rbf-oracle-50", "linear-oracle-50"], "metric": "sign-z", "value": "1.0"},
    ],
    "ranges": [
        {"figure": 1, "config": "drawn", "cells": "linear-oracle-{n}", "for": {"n": ["50", "100"]}}
        | {"metric": "error", "low": "0.0", "high": "0.5"},
    ],
    "claims": [
        {"id": "sign", "text": "s", "relation": "greater", "metric": "macro-f1", "test": test, "alpha": 0.05}
        | {"id": f"by-{test}", "comparisons": [{"config": "drawn", "a": "linear-oracle-50", "b": "rbf-oracle-50"}]}
        for test in ("sign", "mcnemar", "wilcoxon")
    ]
    + [
        {"id": "fast", "text": "f", "relation": "lower", "metric": "seconds", "alpha": 0.05}
        | {"comparisons": [{"config": "drawn", "a": "linear-oracle-50", "b": "rbf-oracle-50"}]}
    ],
}


class TestJudging:
    PAPER = Published.model_validate(PAPER)

    def test_a_pairs_metric_is_its_own_and_what_the_sample_does_not_give_is_not_judged(self, drawn):
        judged = judge_values(self.PAPER, "drawn", drawn[2])
        assert [each.published.metric for each in judged] == ["error-ratio", "macro-f1", "error"]
        assert [each.published.printed_in for each in judged] == ["one", "percent", "one"]
        assert [each.published.reading for each in judged] == ["", "", "another"]

    def test_a_claim_with_any_test_has_an_answer_on_draws(self, drawn):
        judged = judge_claims(self.PAPER, "drawn", None, [""], drawn[2])
        assert len(judged) == 4
        assert all(each.judged.comparisons[0].verdict in ("holds", "fails") for each in judged)

    def test_times_are_not_judged_again_where_a_configuration_explains_another(self, drawn):
        judged = judge_claims(self.PAPER, "sweep", "drawn", [""], drawn[2])
        assert "fast" not in {each.judged.claim.id for each in judged}

    def test_ranges_are_of_any_cells(self, drawn):
        (judged,) = judge_ranges(self.PAPER, "drawn", drawn[2])
        assert (judged.verdict, judged.inside, judged.of, judged.published.printed_in) == ("inside", 2, 2, "one")

    def test_scores_of_other_documents_say_nothing(self, drawn):
        paper = self.PAPER.claims[0]
        templates = [t.model_copy(update={"b": "rbf-oracle-100"}) for t in paper.templates]
        assert evidence_for(paper.model_copy(update={"templates": tuple(templates)}), "drawn", drawn[2]) == {}


class TestComparing:
    def test_two_cells_have_scores_and_tests(self, drawn):
        study, predictions, _ = drawn
        scores, tests = compare_cells(study, predictions, {}, "rbf-oracle-50", "linear-oracle-50")
        assert [row[0] for row in scores.rows] == ["error %"]
        assert [row[0] for row in tests.rows] == ["wilcoxon", "mcnemar"]

    def test_a_run_and_itself_decide_alike(self, drawn):
        study, predictions, _ = drawn
        (part,) = compare_runs((study, predictions), (study, predictions), ("one", "two"))
        assert len(part.rows) == len(study.cells)
        assert all(row[-3:] == ("+0.00", 240, 0) for row in part.rows)


def test_several_classes_have_f_measures_and_no_accuracy(configured):
    study = configured(
        name="several", **{**DRAWN, "choose": None, "methods": ["linear", "ngd"], "compare": [["ngd", "linear"]]}
    )
    scored = score(study, predicted(study, several=True))
    cell = next(iter(scored.cells.values()))
    assert "accuracy" not in cell.values
    assert 0.5 < cell.values["micro-f1"].mean() < 1
    a, b = (pair for pair in (study.compare[0].a, study.compare[0].b))
    names = [test.test for test in scored.tests(a, b, ["macro-f1", "micro-f1"])]
    assert names == ["wilcoxon", "wilcoxon, micro-f1", "wilcoxon, category × draw", "sign"]
