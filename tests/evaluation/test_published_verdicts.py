"""Verdicts on printed numbers and claims: what the data show, and no more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from benchmark.evaluation.outcomes import Estimate
from benchmark.evaluation.significance import TestResult as Result
from benchmark.papers.claims import Evidence, judge_claim
from benchmark.papers.published import Claim, PublishedValue
from benchmark.papers.published_verdicts import Exclusion, value_row


def estimate(value, low=None, high=None, n=100):
    return Estimate(value, value if low is None else low, value if high is None else high, n, "bootstrap")


def printed(value, metric="accuracy", unit="percent", **more):
    data = {"table": 1, "config": "webkb", "cell": "a", "metric": metric, "value": value, "unit": unit} | more
    return PublishedValue.model_validate(data)


class TestValueRow:
    @pytest.mark.parametrize(
        ("text", "ours", "verdict"),
        [
            ("91.88", (0.91876, 0.90, 0.93), "equal"),
            ("91.88", (0.91885, 0.90, 0.93), "equal"),  # half-way rounds to either
            ("91.88", (0.91875, 0.90, 0.93), "equal"),
            ("91.88", (0.9189, 0.90, 0.93), "consistent"),
            ("91.88", (0.9300, 0.9188, 0.94), "consistent"),
            ("91.88", (0.9300, 0.9189, 0.94), "deviates"),
            ("91.88", (0.9000, 0.89, 0.91), "deviates"),
            ("92", (0.9249, 0.92, 0.93), "equal"),
            ("72.20", (0.7224, 0.723, 0.73), "deviates"),  # a printed zero is a digit
            ("92", (0.9249, 0.921, 0.93), "equal, outside the interval"),
            ("91.88", (0.9189, math.nan, math.nan), "no interval"),  # a single replicate
        ],
    )
    def test_comes_from_the_data(self, text, ours, verdict):
        judged = value_row(printed(text), estimate(*ours))
        assert judged["verdict"] == verdict

    def test_an_interval_that_excludes_the_print_is_never_called_equal_alone(self):
        ratio = PublishedValue(config="c", pair=("a", "b"), metric="error-ratio", value="0.5")
        assert value_row(ratio, estimate(0.54, 0.51, 0.58))["verdict"] == "equal, outside the interval"

    def test_what_was_fitted_shows_nothing(self):
        assert value_row(printed("91.88"), estimate(0.9188), aside=Exclusion("tuned", "C 3"))["verdict"] == "tuned"

    def test_a_count_is_equal_or_not(self):
        count = printed("48", metric="documents", unit="one")
        assert count.kind == "count"
        assert value_row(count, estimate(48.0))["verdict"] == "equal"
        assert value_row(count, estimate(49.0))["verdict"] == "deviates"
        assert math.isnan(value_row(count, estimate(48.0))["widest"])

    @pytest.mark.parametrize(
        ("text", "ours", "n", "grade"),
        [
            ("91.88", (0.9188, 0.90, 0.93), 1041, "same"),
            ("91.88", (0.9158, 0.90, 0.93), 7531, "same"),  # 0.30 points
            ("91.88", (0.9157, 0.90, 0.93), 7531, "near"),
            ("91.88", (0.9140, 0.90, 0.93), 1041, "same"),  # 5 documents, 0.48 points
            ("91.88", (0.9130, 0.90, 0.93), 1041, "near"),  # 6 documents
            ("91.88", (0.9130, 0.90, 0.93), 100, "near"),  # less than a document, but 0.58 points
            ("91.88", (0.9087, 0.90, 0.91), 1041, "outside"),
            ("91.88", (0.9088, 0.90, 0.91), 1041, "near"),  # near, although outside the interval
            ("91.88", (0.9000, 0.89, 0.93), 1041, "inside the interval"),
            ("91.88", (0.9000, math.nan, math.nan), 1041, "no interval"),
        ],
    )
    def test_the_grade_is_of_points_and_documents(self, text, ours, n, grade):
        percent = value_row(printed(text), estimate(*ours, n=n))
        fraction = value_row(printed(str(float(text) / 100), unit="one"), estimate(*ours, n=n))
        assert percent["grade"] == grade == fraction["grade"]

    def test_the_grade_of_what_is_no_share(self):
        z = PublishedValue(config="c", pair=("a", "b"), metric="sign-z", value="3.55")
        assert value_row(z, estimate(3.55, 1.7, 5.4))["grade"] == "no information"
        assert value_row(z, estimate(1.50, -0.3, 3.3))["grade"] == "no information"
        assert (z.kind, value_row(z, estimate(1.50, -0.3, 3.3))["verdict"]) == ("z", "deviates")
        nats = printed("9.035", metric="average-skl", unit="one")
        assert value_row(nats, estimate(9.0351, 9.0, 9.1))["grade"] == "same"
        assert value_row(nats, estimate(9.2, 9.0, 9.3))["grade"] == "inside the interval"
        assert value_row(printed("48", metric="documents", unit="one"), estimate(48.0))["grade"] == ""
        assert value_row(printed("91.88"), estimate(0.9188), aside=Exclusion("tuned", "C 3"))["grade"] == ""

    def test_the_difference_in_documents(self):
        judged = value_row(printed("72.57"), estimate(0.7015, 0.6730, 0.7290, n=1041))
        assert round(judged["documents"]) == -25
        fraction = value_row(printed("0.7257", unit="one"), estimate(0.7015, 0.6730, 0.7290, n=1041))
        assert fraction["documents"] == pytest.approx(judged["documents"])
        assert math.isnan(value_row(printed("72.57", metric="macro-f1"), estimate(0.7))["documents"])

    def test_the_widest_difference_that_would_have_passed(self):
        ours = estimate(0.80, 0.77, 0.82)
        assert value_row(printed("80.00"), ours)["widest"] == pytest.approx(3.0)
        for text, verdict in (("77.00", "consistent"), ("76.99", "deviates"), ("82.00", "consistent")):
            assert value_row(printed(text), ours)["verdict"] == verdict

    def test_z_is_not_a_percentage(self):
        value = PublishedValue(table=3, config="webkb", pair=("a", "b"), metric="sign-z", value="4.2500")
        assert value_row(value, estimate(4.25))["verdict"] == "equal"
        assert value_row(value, estimate(3.2, 1.5, 4.9))["verdict"] == "consistent"


def make_claim(n=3, relation="greater", **changes):
    comparisons = [{"for": {"i": [str(i) for i in range(n)]}, "config": "webkb", "a": "a{i}", "b": "b{i}"}]
    base = {"id": "c", "text": "t", "relation": relation, "comparisons": comparisons}
    test = {"test": "sign"} if relation in ("greater", "lower") else {"because": "so"}
    return Claim.model_validate(base | test | changes)


def evidence_of(claim, p_values, difference=0.02, favours="a", half=0.01):
    found = {}
    for comparison, p in zip(claim.comparisons, p_values, strict=False):
        side = {"a": comparison.a, "b": comparison.b}[favours]
        tests = [
            Result(comparison.a, comparison.b, name, 9, math.nan, p, side) if name else None
            for name in (claim.test, claim.rule.test)
        ]
        found[comparison] = Evidence(estimate(difference, difference - half, difference + half), *tests)
    return found


def strict(claim, *arguments, **changes):
    return judge_claim(claim, evidence_of(claim, *arguments, **changes)).strict


class TestStrictly:
    @pytest.mark.parametrize(
        ("p_values", "verdict"),
        [
            ([0.001, 0.002, 0.003], "holds"),
            ([0.001, 0.002, 0.2], "holds in part (2 of 3)"),
            ([0.02, 0.02, 0.02], "holds"),  # each by itself is below 0.05: the claim needs no more (Berger 1982)
            ([0.02, 0.02, 0.06], "not shown"),  # Holm makes all of them 0.06
            ([0.3, 0.2, 0.1], "not shown"),
            ([0.001, 0.001], "not tested (1 of 3 missing)"),
            ([], "not tested (3 of 3 missing)"),
            ([0.001, None], "not tested (1 of 3 missing)"),
            ([0.001, None, 0.001], "holds in part (2 of 3, 1 not testable)"),
            ([0.3, None, 0.3], "not shown (1 of 3 not testable)"),
            ([None, None, None], "not testable"),
        ],
    )
    def test_greater(self, p_values, verdict):
        assert strict(make_claim(), p_values) == verdict

    def test_significant_the_other_way_is_contradicted(self):
        assert strict(make_claim(), [1e-9] * 3, favours="b", difference=-0.02) == "contradicted"
        assert strict(make_claim(), [0.2] * 3, favours="b", difference=-0.02) == "not shown"

    def test_a_test_that_favours_one_and_a_score_the_other_show_nothing(self):
        assert strict(make_claim(), [1e-9] * 3, favours="b") == "not shown"
        assert strict(make_claim(), [1e-9] * 3, difference=-0.02) == "not shown"

    @pytest.mark.parametrize(
        ("gap", "favoured", "verdict"), [(-0.1, "a", "holds"), (0.1, "b", "contradicted"), (0.0, "a", "not shown")]
    )
    def test_lower_is_for_scores_of_which_less_is_better(self, gap, favoured, verdict):
        claim = make_claim(1, "lower", metric="error", test="wilcoxon")
        assert strict(claim, [1e-6], favours=favoured, difference=gap) == verdict

    @pytest.mark.parametrize(
        ("interval", "verdict"),
        [
            ((0.0, -0.009, 0.009), "holds"),
            ((0.008, 0.001, 0.009), "holds"),  # a difference that is significant, and small
            ((0.0, -0.02, 0.009), "not shown"),  # low power is no sameness
            ((0.03, 0.02, 0.04), "contradicted"),
            ((0.0, math.nan, math.nan), "not testable"),
        ],
    )
    def test_the_same_is_a_whole_interval_within_the_margin(self, interval, verdict):
        claim = make_claim(1, "equivalent", margin="0.01")
        judged = judge_claim(claim, {claim.comparisons[0]: Evidence(estimate(*interval))})
        assert judged.strict == verdict

    @pytest.mark.parametrize(
        ("interval", "paper", "strictly"),
        [
            ((0.3, 0.2, 0.4), "holds", "holds"),  # better by any amount
            ((0.0, -0.005, 0.005), "holds", "holds"),
            ((-0.009, -0.02, 0.002), "holds", "not shown"),
            ((-0.011, -0.02, -0.002), "fails", "not shown"),
            ((-0.03, -0.04, -0.02), "fails", "contradicted"),
        ],
    )
    def test_what_is_not_lower_may_be_above_by_any_amount(self, interval, paper, strictly):
        claim = make_claim(1, "not-lower", margin="0.01")
        judged = judge_claim(claim, {claim.comparisons[0]: Evidence(estimate(*interval))})
        assert (judged.paper, judged.strict) == (paper, strictly)
        shown = judged.comparisons[0].detectable
        assert shown == -interval[1] if strictly == "not shown" else math.isnan(shown)

    @pytest.mark.parametrize(
        ("interval", "paper", "strictly"),
        [
            ((0.5, 0.45, 0.55), "holds", "holds"),
            ((0.55, 0.45, 0.65), "holds", "not shown"),
            ((0.62, 0.55, 0.7), "fails", "not shown"),
            ((0.8, 0.7, 0.9), "fails", "contradicted"),
        ],
    )
    def test_a_ratio_lies_in_its_range_or_not(self, interval, paper, strictly):
        claim = make_claim(1, "ratio", metric="error", low="0.4", high="0.6")
        judged = judge_claim(claim, {claim.comparisons[0]: Evidence(estimate(*interval))})
        assert (judged.paper, judged.strict) == (paper, strictly)

    def test_the_whole_needs_no_correction_and_its_parts_do(self):
        claim = make_claim()
        judged = judge_claim(claim, evidence_of(claim, [0.02, 0.02, 0.02]))
        assert judged.strict == "holds"
        assert [each.strict for each in judged.comparisons] == ["not shown"] * 3

    def test_a_test_that_could_not_be_significant_is_not_testable(self):
        claim = make_claim(1, rule={"test": "sign", "sides": 1})
        comparison = claim.comparisons[0]

        def judged(least, n=4):
            test = Result(comparison.a, comparison.b, "sign", n, 2.0, 1.0, comparison.a, least_p=least)
            return judge_claim(claim, {comparison: Evidence(estimate(0.02, 0.01, 0.03), test, test)})

        assert judged(2**-5).strict == "not shown"
        assert judged(2**-3).strict == "not testable"
        assert judged(2**-4).paper == "not shown"  # one side is half of two: 0.031
        assert judged(2**-3).paper == "not testable"

    def test_two_cells_that_never_differ_are_the_same_by_a_rule(self):
        claim = make_claim(1, "equivalent", margin="0.01", rule={"test": "sign"})
        comparison = claim.comparisons[0]
        test = Result(comparison.a, comparison.b, "sign", 0, 0.0, 1.0, least_p=1.0)
        assert judge_claim(claim, {comparison: Evidence(estimate(0.0), None, test)}).paper == "holds"

    def test_keeps_the_order_and_corrects_over_the_claim(self):
        claim = make_claim()
        found = dict(reversed(evidence_of(claim, [0.001, 0.002, 0.003]).items()))
        judged = judge_claim(claim, found)
        assert tuple(each.comparison for each in judged.comparisons) == claim.comparisons
        assert [each.evidence.test.p_holm for each in judged.comparisons] == pytest.approx([0.003, 0.004, 0.004])


class TestByThePapersRule:
    def paper(self, claim, *arguments, **changes):
        return judge_claim(claim, evidence_of(claim, *arguments, **changes)).paper

    def test_without_a_test_the_scores_decide(self):
        claim = make_claim(test=None)
        found = {c: Evidence(estimate(d)) for c, d in zip(claim.comparisons, [0.1, 0.0, -0.1], strict=True)}
        judged = judge_claim(claim, found)
        assert judged.paper == "holds in part (1 of 3)"
        assert [each.paper for each in judged.comparisons] == ["holds", "fails", "fails"]
        assert judged.strict == "not testable"

    @pytest.mark.parametrize(
        ("difference", "verdict"),
        [(0.0, "holds"), (0.01, "holds"), (-0.01, "holds"), (0.011, "fails"), (-0.011, "fails")],
    )
    def test_without_a_test_the_same_is_a_score_within_the_margin(self, difference, verdict):
        claim = make_claim(1, "equivalent", margin="0.01")
        judged = judge_claim(claim, {claim.comparisons[0]: Evidence(estimate(difference))})
        assert judged.paper == verdict

    @pytest.mark.parametrize(("difference", "verdict"), [(-0.01, "holds"), (0.0, "fails"), (0.01, "fails")])
    def test_without_a_test_lower_is_a_score_below(self, difference, verdict):
        claim = make_claim(1, "lower", metric="error", test=None)
        judged = judge_claim(claim, {claim.comparisons[0]: Evidence(estimate(difference))})
        assert judged.paper == verdict

    @pytest.mark.parametrize(("sides", "verdict"), [(1, "holds"), (2, "not shown")])
    def test_one_side_is_half_of_two(self, sides, verdict):
        """Z = 2.6726 is printed as P < 0.005: 0.0038 on one side, 0.0075 on two."""
        p = 2 * norm.sf(2.6726)
        claim = make_claim(rule={"test": "sign", "sides": sides, "alpha": 0.005}, alpha=0.005)
        assert self.paper(claim, [p] * 3) == verdict
        assert strict(claim, [p] * 3) == "not shown"

    def test_the_papers_own_numbers_hold_by_its_own_rule(self):
        z = [3.4744, 4.2500, 7.5234, 7.4853, 2.6726, 4.4313, 7.6028, 8.4718]
        p_values = (2 * norm.sf(z)).tolist()
        claim = make_claim(8, rule={"test": "sign", "sides": 1, "alpha": 0.005}, alpha=0.005)
        assert self.paper(claim, p_values) == "holds"
        assert strict(claim, p_values) == "holds in part (7 of 8)"

    def test_one_side_sees_what_is_against_it(self):
        claim = make_claim(1, rule={"test": "sign", "sides": 1, "alpha": 0.005})
        assert self.paper(claim, [0.001], favours="b", difference=-0.02) == "contradicted"
        assert self.paper(claim, [0.4], favours="b", difference=-0.02) == "not shown"

    def test_a_rule_may_correct(self):
        rule = {"test": "sign", "alpha": 0.05}
        p_values = [0.02, 0.02, 0.02]
        assert self.paper(make_claim(rule=rule), p_values) == "holds"
        assert self.paper(make_claim(rule=rule | {"correction": "holm"}), p_values) == "not shown"

    def test_no_significant_difference_is_a_rule_of_its_own(self):
        claim = make_claim(1, "equivalent", margin="0.01", rule={"test": "wilcoxon"})
        far = evidence_of(claim, [0.3], difference=0.05, half=0.06)
        assert (judge_claim(claim, far).paper, judge_claim(claim, far).strict) == ("holds", "not shown")
        near = evidence_of(claim, [0.01], difference=0.005, half=0.002)
        assert (judge_claim(claim, near).paper, judge_claim(claim, near).strict) == ("contradicted", "holds")


class TestPower:
    def test_what_the_test_would_have_found_four_times_out_of_five(self):
        """Simulated: a difference of that size is significant, two-sided at 0.05, in 80% of samples."""
        claim, se = make_claim(1), 0.01
        half = norm.ppf(0.975) * se
        (judged,) = judge_claim(claim, evidence_of(claim, [0.5], difference=0.003, half=half)).comparisons
        drawn = np.random.default_rng(0).normal(judged.detectable, se, 20_000)
        assert np.mean(np.abs(drawn) > half) == pytest.approx(0.8, abs=0.01)

    def test_the_level_is_what_holm_leaves(self):
        claim = make_claim(3)
        found = judge_claim(claim, evidence_of(claim, [1e-6, 0.5, 0.6])).comparisons
        alone = judge_claim(make_claim(2), evidence_of(make_claim(2), [0.5, 0.6])).comparisons
        assert math.isnan(found[0].detectable)
        assert found[1].detectable == pytest.approx(alone[0].detectable)

    def test_what_is_missing_takes_no_level(self):
        of_three, of_two = (
            judge_claim(claim, evidence_of(claim, [0.3, 0.2])) for claim in (make_claim(3), make_claim(2))
        )
        found = [each.detectable for each in of_three.comparisons]
        assert found[:2] == [each.detectable for each in of_two.comparisons]
        assert math.isnan(found[2])

    def test_what_is_contradicted_is_decided_and_leaves_its_level_to_the_others(self):
        claim = make_claim(3)
        found = evidence_of(claim, [1e-6, 0.5, 0.6])
        found[claim.comparisons[0]] = evidence_of(claim, [1e-6], difference=-0.02, favours="b")[claim.comparisons[0]]
        judged = judge_claim(claim, found).comparisons
        alone = judge_claim(make_claim(2), evidence_of(make_claim(2), [0.5, 0.6])).comparisons
        assert [each.strict for each in judged] == ["contradicted", "not shown", "not shown"]
        assert judged[1].detectable == pytest.approx(alone[0].detectable)

    def test_of_sameness_the_smallest_margin_that_is_shown(self):
        claim = make_claim(1, "equivalent", margin="0.01")
        wide = {claim.comparisons[0]: Evidence(estimate(0.0, -0.02, 0.015))}
        (judged,) = judge_claim(claim, wide).comparisons
        assert judged.detectable == 0.02
        other = make_claim(1, "equivalent", margin="0.02")
        assert judge_claim(other, {other.comparisons[0]: Evidence(estimate(0.0, -0.02, 0.015))}).strict == "holds"
