"""What a paper printed and claimed, judged in one way whatever the experiment's shape."""

from __future__ import annotations

from benchmark.evaluation.judging import evidence_for, judge_claims, judge_ranges, judge_values
from benchmark.evaluation.published import Published

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
