"""The headline of a run says what its comparisons show, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmark.analysis.comparisons import first_comparisons, planned_comparisons, quantity_tests
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.summary import summary_table
from tests.report.rows import result, summary_of, verdict, verdicts_of
from tests.report.summaries import webkb_summary


@pytest.mark.parametrize(
    ("gap", "p_holm", "note", "outcome"),
    [
        ((0.02, 0.01, 0.03), 0.049, "", "a"),
        ((-0.02, -0.03, -0.01), 0.049, "", "b"),
        ((0.02, 0.01, 0.03), 0.05, "", "undecided"),
        ((0.02, 0.0, 0.03), 0.001, "", "undecided"),
        ((-0.02, -0.03, 0.0), 0.001, "", "undecided"),
        ((0.0, 0.01, 0.03), 0.001, "", "undecided"),
        ((0.02, np.nan, np.nan), 0.001, "", "a"),
        ((0.02, 0.01, 0.03), np.nan, "", "undecided"),
        ((0.02, 0.01, 0.03), 0.001, "not testable (x)", "not testable"),
    ],
)
def test_a_cell_is_better_where_the_test_and_the_interval_say_so(gap, p_holm, note, outcome):
    """Significant is less than 5%, and an interval that ends at zero doesn't exclude it."""
    pair = ("tf-l1-ngd", "tf-l2-linear")
    tests = summary_table("significance", [(*pair, "sign", 9, 1.0, 0.001, p_holm, 2, note)])
    gaps = summary_table("differences", [(*pair, *gap, 4199)])
    for minimized, better in (
        (frozenset(), outcome),
        (frozenset({"accuracy"}), {"a": "b", "b": "a"}.get(outcome, outcome)),
    ):
        summary = replace(webkb_summary(), differences=gaps, significance=tests, minimized=minimized)
        (found,) = planned_comparisons(summary)
        assert (found.outcome, found.test, found.family, found.note) == (better, "sign", 2, note)
        words = {"a": ("better", "worse"), "b": ("worse", "better")}.get(better, (better, better))
        assert tuple(map(found.outcome_for, pair)) == words


PAIR = ("a", "b", 0.1, 0.09, 0.11, 120)
NOT_TESTABLE = "not testable (smallest p 0.125)"
KERNELS = {name: {"columns": {"kernel": kernel}} for name, kernel in (("a", "ngd"), ("b", "linear"))}


@pytest.mark.parametrize(
    ("gaps", "tests", "changes", "headline"),
    [
        (
            [PAIR],
            [result("a", "b")],
            {},
            "a is better than b: +10.00 points of accuracy (95% interval +9.00 to +11.00)",
        ),
        ([PAIR], [result("a", "b", 0.06)], {"corpus": "X"}, "a and b show no clear difference on X: +10.00 points of"),
        ([PAIR], [], {}, "a and b differ: +10.00 points of accuracy (95% interval +9.00 to +11.00), not tested"),
        ([PAIR], [result("a", "b", 0.1, NOT_TESTABLE)], {}, f"+11.00), {NOT_TESTABLE}"),
        ([PAIR], [result("a", "b")], {"metric": "macro-f1"}, "+11.00), no test of this quantity"),
        ([PAIR], [result("a", "b")], {"columns": KERNELS}, "The ngd kernel is better than the linear kernel: "),
        ([PAIR], [result("a", "b")], {"verdicts": verdicts_of(verdict("a"))}, "; 1 of 1 published results reproduced"),
        (
            [PAIR, ("c", "b", -0.1, -0.11, -0.09, 120)],
            [result("a", "b"), result("c", "b")],
            {},
            "b compared with a and c: better in 1 of 2 comparisons, worse in 1",
        ),
        (
            [PAIR, ("a", "c", 0.1, -0.1, 0.3, 120)],
            [result("a", "b"), result("a", "c")],
            {},
            "a compared with b and c: better in 1 of 2 comparisons, no clear difference in 1",
        ),
        ([], [], {}, "Accuracy of 3 methods: 70.00 to 90.00%"),
        ([], [], {"verdicts": verdicts_of(verdict("a"))}, "70.00 to 90.00%; 1 of 1 published results reproduced"),
    ],
)
def test_a_headline_says_what_the_comparisons_show_and_no_more(gaps, tests, changes, headline):
    assert headline in main_finding(summary_of("abc", gaps=gaps, tests=tests, **changes)).headline


def test_the_finding_is_the_same_in_any_order_of_the_comparisons():
    gaps = [PAIR, ("a", "c", 0.1, -0.1, 0.3, 120), ("b", "c", 0.2, 0.1, 0.3, 120)]
    tests = [result("a", "b"), result("a", "c", 0.3), result("b", "c")]
    turned = [(b, a, -gap, -high, -low, n) for a, b, gap, low, high, n in gaps]
    found = main_finding(summary_of("abc", gaps=gaps, tests=tests))
    again = [result(b, a, p) for (a, b, *_), p in zip(gaps, (0.01, 0.3, 0.01), strict=True)][::-1]
    assert main_finding(summary_of("abc", gaps=turned[::-1], tests=again)) == found
    assert found.headline.startswith("a compared with b and c: better in 1 of 2 comparisons, no clear difference in 1")


def test_of_methods_that_are_better_equally_often_the_headline_is_on_the_best():
    open_gap = (0.1, -0.1, 0.3, 120)
    gaps = [("a", "d", *PAIR[2:]), ("b", "c", *PAIR[2:]), ("a", "b", *open_gap), ("b", "d", *open_gap)]
    tests = [result("a", "d"), result("b", "c"), result("a", "b", 0.3), result("b", "d", 0.3)]
    headline = main_finding(summary_of("abcd", gaps=gaps, tests=tests)).headline
    assert headline.startswith("a compared with b and d: better in 1 of 2 comparisons")


def test_a_cell_stands_beside_the_one_that_it_is_first_compared_with():
    assert first_comparisons(summary_of("abc", gaps=[PAIR, ("a", "c", 0.1, 0.0, 0.2, 120)]))["a"].b.id == "b"


@pytest.mark.parametrize(
    ("metric", "kinds", "kept"),
    [
        ("accuracy", ["sign", "mcnemar"], ["sign", "mcnemar"]),
        ("micro-f1", ["sign", "mcnemar"], ["sign", "mcnemar"]),
        ("micro-f1", ["sign", "wilcoxon"], ["wilcoxon"]),  # of several classes, the sign test counts decisions
        ("macro-f1", ["sign", "wilcoxon, categories"], ["wilcoxon, categories"]),
    ],
)
def test_tests_beside_a_score_are_of_the_same_quantity(metric, kinds, kept):
    tests = summary_table("significance", [result("a", "b", kind=kind) for kind in kinds])
    assert list(quantity_tests(tests, metric)["test"]) == kept
