"""What a paper printed and claimed, judged in one way whatever the experiment's shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from benchmark.analysis.prose.verdict_sentences import claim_notes
from benchmark.analysis.scoring import RunPredictions, score_cells
from benchmark.analysis.summarize import summarize
from benchmark.analysis.verdict_tables import (
    claim_verdict_frame,
    strict_rule_label,
)
from benchmark.evaluation.predictions import Predictions
from benchmark.papers.claims import evidence_for, judge_claims
from benchmark.papers.published import Published
from benchmark.papers.published_verdicts import Exclusion, judge_ranges, judge_values
from benchmark.report.tables import cell_table, verdict_table
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.builders import small_experiment

HEAD = {"paper": "p", "title": "t", "reference": "r"}
TESTS = ("sign", "mcnemar", "wilcoxon")
PAIR = ["rbf-oracle-50", "linear-oracle-50"]
PAPER = Published.model_validate(
    HEAD
    | {
        "unit": "percent",
        "values": [
            {"config": "drawn", "pair": PAIR, "metric": "error-ratio", "value": "1.0"},
            {"config": "drawn", "cell": "linear-oracle-50", "metric": "macro-f1", "value": "90"},
            {"config": "drawn", "cell": "linear-oracle-50", "metric": "error", "value": "10", "alternative": True},
            {"config": "drawn", "pair": PAIR, "metric": "sign-z", "value": "1.0"},
        ],
        "ranges": [
            {"figure": 1, "config": "drawn", "cells": "linear-oracle-{n}", "for": {"n": ["50", "100"]}}
            | {"metric": "error", "low": "0.0", "high": "0.5"},
        ],
        "claims": [
            {"text": "s", "relation": "greater", "metric": "macro-f1", "test": test, "alpha": 0.05}
            | {"id": f"by-{test}", "comparisons": [{"config": "drawn", "a": PAIR[1], "b": PAIR[0]}]}
            for test in TESTS
        ]
        + [
            {"id": "fast", "text": "f", "relation": "lower", "metric": "seconds", "alpha": 0.05}
            | {"comparisons": [{"config": "drawn", "a": PAIR[1], "b": PAIR[0]}]}
        ],
    }
)


class TestJudging:
    def test_a_pairs_metric_is_its_own_and_what_the_sample_does_not_give_is_not_judged(self, drawn):
        judged = judge_values(PAPER, "drawn", drawn[2])
        assert [each.published.metric for each in judged] == ["error-ratio", "macro-f1", "error"]
        assert [each.published.printed_in for each in judged] == ["one", "percent", "percent"]
        assert [each.published.reading for each in judged] == ["", "", "another"]

    def test_scores_of_other_documents_say_nothing(self, drawn):
        claim = PAPER.claims[0]
        templates = [template.model_copy(update={"b": "rbf-oracle-100"}) for template in claim.templates]
        assert evidence_for(claim.model_copy(update={"templates": tuple(templates * 2)}), "drawn", drawn[2]) == {}

    @pytest.mark.parametrize("relation", ["greater", "ratio"])
    def test_evidence_is_of_the_first_cell_against_the_second(self, drawn, relation):
        (config, a, b), scored = ("drawn", *PAIR), drawn[2]
        more = {"low": "0.1", "high": "9", "because": "w"} if relation == "ratio" else {"test": "wilcoxon"}
        claim = {"id": "c", "text": "t", "relation": relation, "metric": "error", **more}
        paper = HEAD | {"claims": [claim | {"comparisons": [{"config": config, "a": a, "b": b}]}]}
        (found,) = evidence_for(Published.model_validate(paper).claims[0], config, scored).values()
        one, other = (scored.estimate(cell, "error").value for cell in PAIR)
        assert one != other
        assert found.estimate.value == pytest.approx(one / other if relation == "ratio" else one - other)
        if relation == "greater":
            assert (found.test.a, found.test.b, found.rule_test) == (a, b, None)

    def test_a_reference_value_stands_beside_every_cell_of_its_pattern_and_shows_nothing(self, drawn):
        value = {"config": "drawn", "cell": "*-oracle-50", "metric": "error", "value": "10", "unit": "percent"}
        others = {"config": "elsewhere"}, {"cell": "rbf-none-*"}  # of no cell here
        reference = {"method": "GCN", "source": "S", "transductive": True, "unlike": "other words"}
        reference["values"] = [value, *(value | other for other in others)]
        paper = Published.model_validate(HEAD | {"reference_values": [reference]})
        judged = judge_values(paper, "drawn", drawn[2])
        assert {each.published.cell for each in judged} == {"linear-oracle-50", "rbf-oracle-50"}
        assert {each.verdict for each in judged} == {"reference value"}
        for each in judged:
            ours = drawn[2].estimate(each.published.cell, "error").value
            assert each.difference == pytest.approx(100 * ours - 10)
            assert (each.reading, each.aside.why) == ("GCN, transductive", "S; other words")

    @pytest.mark.parametrize("of_claim", [{PAIR[0]}, {PAIR[1]}, set(PAIR), {"rbf-cv-100"}])
    def test_a_claim_says_that_one_of_its_cells_was_chosen_on_the_test(self, drawn, of_claim):
        judged = judge_claims(PAPER, "drawn", None, [""], drawn[2])
        rules = claim_verdict_frame(judged, {("drawn", cell) for cell in of_claim})["rule"]
        assert len(rules) == len(PAPER.claims)
        assert {rule.endswith("; chosen on the test") for rule in rules} == {not of_claim.isdisjoint(PAIR)}


@pytest.fixture
def shapes(drawn, centroids):
    """An experiment of every shape: name, a cell with its metric, and the cell's score."""

    def of(experiment, cell, metric="accuracy", multilabel=False):
        scored = score_cells(experiment, predicted(experiment, multilabel=multilabel))
        return experiment.name, cell, metric, scored

    terms = small_experiment(
        name="terms",
        corpus={"name": "synthetic", "classes": CLASSES},
        protocol={"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
        terms={"number": [20, 50], "rank": "information-gain"},
        methods=["mnb", "eef"],
    )
    multilabel = small_experiment(
        name="several",
        corpus={"name": "synthetic", "classes": CLASSES},
        protocol={"name": "random-subsets", "train_size": [50], "replicates": 6},
        methods=["linear", "ngd"],
        metrics=["macro-f1"],
    )
    return {
        "table": of(table_study(), "tf-l1-ngd"),
        "terms": of(terms, "eef-50"),
        "several": of(multilabel, "linear-50", "macro-f1", multilabel=True),
        "curves": ("drawn", "rbf-cv-100", "error", drawn[2]),
        "centroids": ("centroids", "faculty-skl-50", "macro-recall", centroids[2]),
    }


@pytest.mark.parametrize("shape", ["table", "terms", "several", "curves", "centroids"])
class TestEveryShapeIsJudgedAlike:
    def test_its_values_and_other_readings_of_them(self, shapes, shape):
        name, cell, metric, scored = shapes[shape]
        ours = 100 * scored.estimate(cell, metric).value
        value = {"config": name, "cell": cell, "metric": metric, "unit": "percent"}
        printed = [value | {"value": f"{ours:.6f}"}, value | {"value": f"{ours + 90:.1f}", "alternative": True}]
        paper = Published.model_validate(HEAD | {"values": printed})
        judged = judge_values(paper, name, scored)
        assert [(each.verdict, each.published.reading) for each in judged] == [("equal", ""), ("deviates", "another")]
        assert judge_values(paper, "elsewhere", scored) == []

    def test_its_ranges(self, shapes, shape):
        name, cell, metric, scored = shapes[shape]
        ours = scored.estimate(cell, metric).value
        loop = {"figure": 1, "config": name, "cells": "{cell}", "metric": metric}
        ends = [(ours - 0.01, ours + 0.01, cell), (ours + 0.01, ours + 0.02, cell), (0, 1, "absent")]
        ranges = [
            loop | {"for": {"cell": [named]}, "low": f"{low:.4f}", "high": f"{high:.4f}"} for low, high, named in ends
        ]
        judged = judge_ranges(Published.model_validate(HEAD | {"ranges": ranges}), name, scored)
        assert [each.verdict for each in judged] == ["inside", "outside", "not tested"]
        assert (judged[0].low, judged[0].high) == (ours, ours)

    @pytest.mark.parametrize("test", TESTS)
    def test_claims_by_any_test(self, shapes, shape, test):
        name, cell, metric, scored = shapes[shape]
        of_method = {"table": "tf-l1-linear", "terms": "mnb-50", "several": "ngd-50", "curves": "linear-cv-100"}
        other = of_method.get(shape, "faculty-mean-50")
        claim = {"id": "c", "text": "c", "relation": "greater", "metric": metric, "test": test, "alpha": 0.05}
        claim |= {"comparisons": [{"config": name, "a": cell, "b": other}]}
        (judged,) = judge_claims(Published.model_validate(HEAD | {"claims": [claim]}), name, None, [""], scored)
        (comparison,) = judged.comparisons
        assert comparison.evidence.test.test == test
        assert comparison.strict in ("holds", "not shown", "contradicted", "not testable")
        assert (comparison.strict == "not testable") == (not comparison.evidence.test.is_testable())


def test_an_f_measure_is_judged_beside_counts_of_documents(publish):
    values = [
        {"table": 1, "config": "counted", "cell": "course-cornell", "metric": "documents", "value": "7"},
        {"table": 2, "config": "counted", "cell": "linear", "metric": "macro-f1", "value": "12.3", "unit": "percent"},
    ]
    experiment = small_experiment(
        name="counted",
        corpus={"name": "synthetic", "classes": CLASSES},
        methods=["linear"],
        metrics=["macro-f1"],
        diagnostics=["document-counts"],
        paper=publish(HEAD | {"values": values}),
    )
    made = predicted(experiment, multilabel=True)
    measured = {
        "documents": np.full((3, 2), 7),
        "without": np.zeros(2, dtype=np.int64),
        "classes": np.frombuffer("\0".join(CLASSES).encode(), dtype=np.uint8),
        "parts": np.frombuffer(b"cornell\0texas", dtype=np.uint8),
    }
    predictions = Predictions(made.tasks, made.splits, made.settings, {("document-counts", "base"): measured})
    verdicts = summarize(RunPredictions(experiment, predictions, {}, {})).verdicts
    rows = [(row.cell, row.metric, row.unit, row.verdict) for row in verdicts.itertuples()]
    assert rows == [
        ("course-cornell", "documents", "documents", "equal"),
        ("linear", "macro-f1", "percent", "deviates"),
    ]
    assert math.isnan(verdicts["low"].iloc[0])
    assert [bool(each) for each in verdicts["sample"]] == [False, True]
    assert verdicts["low"].iloc[1] < verdicts["value"].iloc[1] < verdicts["high"].iloc[1]


class TestPairs:
    """A pair's metric is honoured, each on the sample that gives it."""

    def values(self, name, pair):
        printed = [{"config": name, "pair": list(pair), "metric": m, "value": "1.0"} for m in ("sign-z", "error-ratio")]
        return Published.model_validate(HEAD | {"values": printed})

    def test_on_documents_both(self):
        experiment = table_study()
        scored = score_cells(experiment, predicted(experiment))
        a, b = "tf-l1-ngd", "tf-l1-linear"
        (z,) = judge_values(self.values("table", (a, b)), "table", scored)
        right = [scored.cells[name].outcome.correct for name in (a, b)]
        only = [np.count_nonzero(right[i] & ~right[1 - i]) for i in (0, 1)]
        assert z.published.metric == "sign-z"
        assert z.ours.value == pytest.approx((only[0] - only[1]) / np.sqrt(sum(only)))
        with pytest.raises(ValueError, match="may be 0"):
            scored.ratio(a, b, "error")  # two splits are too few

    @pytest.mark.parametrize("cell", PAIR)
    def test_either_cell_that_is_set_aside_sets_the_number_aside(self, drawn, cell):
        fitted = {("drawn", cell): Exclusion("tuned", "C 3")}
        (ratio,) = judge_values(self.values("drawn", PAIR), "drawn", drawn[2], fitted)
        assert (ratio.verdict, ratio.aside) == ("tuned", fitted["drawn", cell])

    def test_on_draws_the_ratio_alone(self, drawn):
        scored = drawn[2]
        (ratio,) = judge_values(self.values("drawn", PAIR), "drawn", scored)
        errors = [scored.cells[name].values["error"].mean() for name in PAIR]
        assert ratio.published.metric == "error-ratio"
        assert ratio.ours.value == pytest.approx(errors[0] / errors[1])
        assert ratio.ours.low < ratio.ours.value < ratio.ours.high


class TestClaimsOnDraws:
    """A claim by a test of right and wrong decisions is judged where draws are the sample, and says how."""

    @pytest.fixture
    def claimed(self, publish):
        def summary(*, multilabel):
            methods = {"choose": None, "methods": ["linear", "ngd"], "compare": [], "metrics": ["macro-f1"]}
            claims = [
                {"id": f"by-{test}", "text": "s", "relation": "greater", "metric": "macro-f1", "test": test}
                | {"alpha": 0.05, "comparisons": [{"config": "drawn", "a": "linear-50", "b": "ngd-50"}]}
                for test in TESTS
            ]
            experiment = drawn_study(**methods, paper=publish(HEAD | {"claims": claims}))
            return summarize(RunPredictions(experiment, predicted(experiment, multilabel=multilabel), {}, {}))

        return summary

    def test_of_one_class_a_document_counts_once(self, claimed):
        summary = claimed(multilabel=False)
        verdicts = dict(zip(summary.claims["claim"], summary.claims["strict_verdict"], strict=True))
        assert set(verdicts) == {"by-sign", "by-mcnemar", "by-wilcoxon"}
        assert set(verdicts.values()) <= {"holds", "not shown", "contradicted"}
        said = [note for note in summary.notes if note.startswith("The claim ")]
        assert [note.split(" by ")[0] for note in said] == ["The claim by-sign", "The claim by-mcnemar"]
        assert all("each document counts once" in note for note in said)

    def test_of_several_classes_the_draws_tests_are_joined_or_there_is_none(self, claimed):
        summary = claimed(multilabel=True)
        verdicts = dict(zip(summary.claims["claim"], summary.claims["strict_verdict"], strict=True))
        assert verdicts["by-sign"] in ("holds", "not shown", "contradicted", "not testable")
        assert verdicts["by-mcnemar"] == "not testable"
        assert any("by-sign" in note and "p twice the median p" in note for note in summary.notes)
        assert any("by-mcnemar" in note and "documents have several classes" in note for note in summary.notes)


class TestNamesAndUnits:
    def test_the_mean_of_the_classes_recalls_is_not_called_accuracy(self, centroids):
        scored = centroids[2]
        cell = scored.cells["all-skl-50"]
        truth, given = cell.outcome.truth, cell.outcome.predicted
        first = cell.outcome.rows[0]
        shares = [np.mean(given[first][truth[first] == c] == c) for c in range(3)]
        assert cell.values["macro-recall"][0] == pytest.approx(np.mean(shares))
        assert cell.values["accuracy"][0] == pytest.approx(np.mean(given[first] == truth[first]))
        assert cell.values["accuracy"][0] != pytest.approx(cell.values["macro-recall"][0])
        assert "accuracy" not in scored.cells["faculty-skl-50"].values
        assert set(scored.frame["metric"]) == {"macro-recall"}

    @pytest.mark.parametrize(("unit", "printed"), [("percent", "percent"), ("fraction", "one"), (None, "one")])
    def test_units_come_with_the_file_and_the_metric_and_not_from_magnitudes(self, unit, printed):
        value = {"config": "drawn", "cell": "linear-oracle-50", "value": "0.5"}
        values = [value | {"metric": each} for each in ("average-skl", "documents", "error", "accuracy", "seconds")]
        reference = {"method": "a", "source": "b", "transductive": False, "values": [value | {"metric": "micro-f1"}]}
        data = HEAD | {"values": values, "reference_values": [reference]} | ({"unit": unit} if unit else {})
        paper = Published.model_validate(data)
        assert {v.metric: v.printed_in for v in (*paper.values, *paper.reference_values[0].values)} == {
            "average-skl": "nats",
            "documents": "documents",
            "error": printed,
            "accuracy": printed,
            "seconds": "seconds",
            "micro-f1": printed,
        }
        assert "unit" not in values[2], "what was read isn't changed"

    @pytest.mark.parametrize(
        ("unit", "units"), [(None, ["percent", None]), ("fraction", ["percent", "percent"]), ("percent", ["one", None])]
    )
    def test_a_file_has_one_unit(self, unit, units):
        value = {"config": "drawn", "cell": "linear-oracle-50", "metric": "error", "value": "0.5"}
        values = [value | ({"unit": each} if each else {}) for each in units]
        with pytest.raises(ValueError, match="its values are in percent and in fractions: state one `unit` at the top"):
            Published.model_validate(HEAD | {"values": values} | ({"unit": unit} if unit else {}))

    def test_a_fraction_is_shown_in_percent_with_its_digits(self, publish):
        value = {"config": "table", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "0.900"}
        shown = []
        for unit, digits in (("fraction", "0.900"), ("percent", "90.0")):
            experiment = table_study(
                paper=publish(HEAD | {"values": [value | {"value": digits}], "unit": unit, "paper": unit})
            )
            summary = summarize(RunPredictions(experiment, predicted(experiment), {}, {}))
            rows = [row for row in cell_table(summary).rows if row[0] == "tf-l1-ngd"]
            shown.append((rows, verdict_table(summary.verdicts)))
        assert shown[0] == shown[1]
        assert "90.0" in shown[0][0][0]
        assert "accuracy %" in shown[0][1].rows[0]

    def test_the_interval_over_groups_is_in_the_unit_of_the_print(self, publish):
        value = {"config": "table", "cell": "tf-l1-ngd", "metric": "accuracy", "value": "90.0", "unit": "percent"}
        experiment = table_study(paper=publish(HEAD | {"values": [value]}))
        run = RunPredictions(experiment, predicted(experiment), {}, {})
        (row,) = summarize(run).verdicts.itertuples()
        low, high = ttest_1samp(run.scored.cells["tf-l1-ngd"].values["accuracy"], 0).confidence_interval(0.95)
        assert (row.between_low, row.between_high) == pytest.approx((100 * low, 100 * high))


def test_margins_ranges_and_claims_that_are_stated_twice_are_noted():
    compared = {"comparisons": [{"config": "drawn", "a": PAIR[1], "b": PAIR[0]}], "text": "t", "metric": "error"}
    claims = [
        {"id": "same", "relation": "equivalent", "margin": "0.01", "because": "the paper says so."},
        {"id": "half", "relation": "ratio", "low": "0.4", "high": "0.6", "because": "it is half"},
        {"id": "again", "relation": "greater", "same_as": "half"},
        {"id": "reasoned", "relation": "greater", "same_as": "half", "because": "in other words"},
        {"id": "plain", "relation": "greater"},
        {"id": "both", "relation": "ratio", "low": "0.1", "high": "0.2", "same_as": "half", "because": "of both"},
    ]
    paper = Published.model_validate(HEAD | {"claims": [claim | compared for claim in claims]})
    assert claim_notes(paper.claims) == [
        "same: 'the same' means a difference of at most 0.01: the paper says so.",
        "half: the ratio must lie between 0.4 and 0.6: it is half.",
        "again repeats half and is not counted.",
        "reasoned repeats half and is not counted: in other words.",
        "both: the ratio must lie between 0.1 and 0.2: of both.",
        "both repeats half and is not counted: of both.",
    ]
    assert [strict_rule_label(claim) for claim in paper.claims] == [
        *["95% interval"] * 2,
        *["no test"] * 3,
        "95% interval",
    ]
    (by_sign, by_mcnemar, by_wilcoxon) = (strict_rule_label(claim) for claim in PAPER.claims[:3])
    assert (by_sign, by_mcnemar) == ("sign test, two-sided, 0.05, Holm", "McNemar, two-sided, 0.05, Holm")
    assert by_wilcoxon == "Wilcoxon, two-sided, 0.05, Holm"
