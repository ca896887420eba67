"""Sentences of the main finding, case by case, on summaries made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from benchmark.analysis.prose.main_finding import main_finding, published_sentences, question_sentence
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from tests.report.rows import result, summary_of, verdict, verdicts_of

NAN = float("nan")
GAP = ("a", "b", 0.1, 0.05, 0.15, 9)


def finding(gaps: Any = (GAP,), tests: Any = (), names: str = "ab", **changes: Any) -> Any:
    return main_finding(summary_of(names, gaps=gaps, tests=tests, **changes))


def of_family(test: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    return (*test[:7], size, *test[8:])


class TestOnePair:
    @pytest.mark.parametrize(
        ("gap", "p", "headline"),
        [
            (GAP, 0.01, "a beats b by 10.0 points of accuracy (95% interval 5.0 to 15.0)"),
            (
                ("a", "b", -0.1, -0.15, -0.05, 9),
                0.01,
                "b beats a by 10.0 points of accuracy (95% interval 5.0 to 15.0)",
            ),
            (GAP, 0.5, "a and b show no clear difference: +10.0 points of accuracy (95% interval +5.0 to +15.0)"),
            (
                ("a", "b", -0.1, -0.2, 0.05, 9),
                0.01,
                "a and b show no clear difference: −10.0 points of accuracy (95% interval −20.0 to +5.0)",
            ),
        ],
    )
    def test_the_interval_is_that_of_what_is_said(self, gap: Any, p: float, headline: str) -> None:
        assert finding((gap,), (result("a", "b", p),)).headline == headline

    @pytest.mark.parametrize(("size", "words"), [(1, "p = 0.01."), (2, "p = 0.01, corrected over 2 tests.")])
    def test_the_correction_is_over_several_tests(self, size: int, words: str) -> None:
        found = finding(tests=(of_family(result("a", "b"), size),))
        assert f"Exact sign test: {words}" in found.details
        assert "Exact sign test: p < 0.0001." in finding(tests=(of_family(result("a", "b", 1e-9), 1),)).details

    @pytest.mark.parametrize("ends", [(NAN, NAN), (NAN, 0.15), (0.05, NAN)])
    def test_a_missing_interval_is_not_told(self, ends: tuple[float, float]) -> None:
        assert (
            finding((("a", "b", 0.1, *ends, 9),)).headline == "a and b differ by +10.0 points of accuracy, not tested"
        )

    def test_without_a_test_nothing_is_decided(self) -> None:
        assert finding().headline.endswith("(95% interval +5.0 to +15.0), not tested")


class TestLeading:
    columns: ClassVar[dict[str, Any]] = {
        "a": {"more": {"of_class": "x"}},
        "b": {"more": {"of_class": "x"}},
        "c": {"more": {"of_class": "all"}},
        "d": {"more": {"of_class": "all"}},
        "e": {"more": {"of_class": "all", "choice": "oracle"}},
        "f": {"more": {"of_class": "all", "choice": "oracle"}},
    }
    gaps = (("a", "b", 0.1, 0.05, 0.15, 9), ("e", "f", 0.2, 0.1, 0.3, 9), ("c", "d", 0.3, 0.2, 0.4, 9))
    tests = tuple(result(a, b) for a, b, *_ in gaps)

    def test_all_classes_and_an_honest_choice_lead(self) -> None:
        assert finding(self.gaps, self.tests, "abcdef", columns=self.columns).headline.startswith("c beats d by 30.0")
        oracle = finding(self.gaps[:2], self.tests[:2], "abcdef", columns=self.columns)
        assert oracle.headline.startswith("e beats f by 20.0")
        assert oracle.details[-1].startswith("The parameters were chosen on the test documents")
        single = finding(self.gaps[:1], self.tests[:1], "abcdef", columns=self.columns)
        assert single.headline.startswith("a beats b by 10.0")

    def test_gains_do_not_lead(self) -> None:
        columns = {name: {"columns": {"what": "gain"}} for name in "ab"}
        gaps = (self.gaps[0], ("c", "d", 0.3, 0.2, 0.4, 9))
        found = finding(gaps, (result("a", "b"), result("c", "d")), "abcd", columns=columns)
        assert found.headline.startswith("c beats d")


class TestSeveral:
    @staticmethod
    def sized(p_values: Any, metric: str = "accuracy") -> Any:
        """Return the finding of two methods at three sizes, which lead by 10, 20 and 30 points."""
        names = "abcdef"
        columns = {name: {"more": {"size": 10 * (i // 2 + 1)}} for i, name in enumerate(names)}
        gaps = [(names[2 * i], names[2 * i + 1], 0.1 * (i + 1), 0.05, 0.5, 9) for i in range(3)]
        tests = [
            result(a, b, p, "" if p is not None else "not testable (few)")
            for (a, b, *_), p in zip(gaps, p_values, strict=True)
        ]
        summary = summary_of(names, gaps=gaps, tests=tests, columns=columns, metric=metric)
        cells = tuple(
            type(cell)(cell.id, cell.columns, method="one" if i % 2 == 0 else "two", size=cell.size)
            for i, cell in enumerate(summary.cells)
        )
        vars(summary)["cells"] = cells
        return main_finding(summary)

    def test_the_settings_in_which_one_is_better_are_counted(self) -> None:
        found = self.sized((0.01, 0.01, 0.5))
        assert found.headline == "one beats two at 2 of 3 training sizes, by 10.0 to 20.0 points of accuracy"
        assert "Differences, one minus two, are +10.0 to +30.0 points." in found.details
        assert "By the exact sign test with Holm's correction, 1 shows no clear difference." in found.details

    def test_one_beats_the_other_only_where_most_comparisons_are_decided(self) -> None:
        found = self.sized((0.5, 0.01, 0.5)).headline
        start = "one and two show no clear difference at 2 of 3 training sizes; one is better in 1"
        assert found == f"{start}: +10.0 to +30.0 points of accuracy"

    @pytest.mark.parametrize(
        ("p_values", "headline"),
        [
            (
                (0.5, 0.5, None),
                "one and two show no clear difference at any of 3 training sizes: +10.0 to +30.0 points of accuracy",
            ),
            (
                (None, None, None),
                "one and two differ by +10.0 to +30.0 points of accuracy, in 3 training sizes without a valid test",
            ),
        ],
    )
    def test_where_none_is_better_the_range_is_told(self, p_values: Any, headline: str) -> None:
        found = self.sized(p_values)
        assert found.headline == headline

    @pytest.mark.parametrize(
        ("p_values", "said"),
        [
            ((0.01, 0.01, 0.01), ["By the exact sign test with Holm's correction, every difference is decided."]),
            ((0.01, 0.5, 0.5), ["By the exact sign test with Holm's correction, 2 show no clear difference."]),
            (
                (0.01, 0.01, None),
                [
                    "By the exact sign test with Holm's correction, every difference is decided.",
                    "1 of 3 differences could not be significant: few.",
                ],
            ),
            (
                (0.01, None, None),
                [
                    "By the exact sign test with Holm's correction, every difference is decided.",
                    "2 of 3 differences could not be significant: few.",
                ],
            ),
            ((None, None, None), ["No difference could be significant: few."]),
        ],
    )
    def test_what_the_tests_leave_open_is_counted(self, p_values: Any, said: list[str]) -> None:
        found = [text for text in self.sized(p_values).details if "By the" in text or "significant" in text]
        assert found == said


class TestOneBaseline:
    def test_the_finding_is_at_the_largest_size(self) -> None:
        names = "abcdefgh"
        columns = {name: {"more": {"size": 10 if i < 4 else 2000}} for i, name in enumerate(names)}
        gaps = [(name, "d", -0.1, -0.2, -0.05, 9) for name in "abc"] + [
            (name, "h", 0.1, 0.05, 0.2, 9) for name in "efg"
        ]
        summary = summary_of(names, gaps=gaps, tests=[result(a, b) for a, b, *_ in gaps], columns=columns)
        methods = dict(zip(names, ("m1", "m2", "m3", "base") * 2, strict=True))
        vars(summary)["cells"] = tuple(
            type(cell)(cell.id, cell.columns, method=methods[cell.id], size=cell.size) for cell in summary.cells
        )
        assert main_finding(summary).headline == "3 of 3 methods beat base with 2,000 training documents"

    @pytest.mark.parametrize(
        ("p_values", "headline"),
        [
            ((0.01, 0.01, 0.5), "2 of 3 methods beat d; 1 shows no clear difference"),
            ((0.01, 0.5, 0.5), "1 of 3 methods beats d; 2 show no clear difference"),
            ((0.5, 0.5, 0.5), "None of 3 methods shows a clear difference from d"),
        ],
    )
    def test_methods_that_beat_it_are_counted(self, p_values: Any, headline: str) -> None:
        gaps = [(name, "d", 0.1, 0.05, 0.2, 9) for name in "abc"]
        tests = [result(a, b, p) for (a, b, *_), p in zip(gaps, p_values, strict=True)]
        assert finding(gaps, tests, "abcd").headline == headline

    @pytest.mark.parametrize(("metric", "sign"), [("accuracy", 1), ("error", -1)])
    @pytest.mark.parametrize(
        ("leads", "said"),
        [
            ((10, 30, 20), "3 of 3 methods beat d"),
            ((10, 30, -20), "2 of 3 methods beat d; 1 is worse"),
            ((10, -30, -20), "1 of 3 methods beats d; 2 are worse"),
            ((0, 30, -20), "1 of 3 methods beats d; 1 is worse, 1 shows no clear difference"),
            ((0, -10, -20), "0 of 3 methods beat d; 2 are worse, 1 shows no clear difference"),
        ],
    )
    def test_methods_that_are_worse_are_counted_apart_and_the_largest_lead_is_told(
        self, metric: str, sign: int, leads: tuple[int, ...], said: str
    ) -> None:
        points = [sign * lead / 100 for lead in leads]
        gaps = [(name, "d", own, own - 0.05, own + 0.05, 9) for name, own in zip("abc", points, strict=True)]
        found = finding(gaps, [result(name, "d") for name in "abc"], "abcd", metric=metric)
        assert found.headline == said
        best = max(leads)
        leading = f"The largest lead is that of {'abc'[leads.index(best)]}: {best:.1f} points of {metric} "
        told = [text for text in found.details if text.startswith("The largest lead")]
        ends = f"(95% interval {best - 5:.1f} to {best + 5:.1f})."
        assert told == ([leading + ends] if best > 0 else [])

    def test_of_several_comparisons_of_each_method_both_outcomes_are_counted(self) -> None:
        names = "abcdefgh"
        columns = {name: {"more": {"task": "one" if i < 4 else "two"}} for i, name in enumerate(names)}
        gaps = [(name, "d", 0.1, 0.05, 0.2, 9) for name in "abc"]
        gaps += [(name, "h", -0.1, -0.2, -0.05, 9) for name in "ef"] + [("g", "h", 0.1, -0.1, 0.2, 9)]
        summary = summary_of(names, gaps=gaps, tests=[result(a, b) for a, b, *_ in gaps], columns=columns)
        methods = dict(zip(names, ("m1", "m2", "m3", "base") * 2, strict=True))
        vars(summary)["cells"] = tuple(
            type(cell)(cell.id, cell.columns, method=methods[cell.id], task=cell.task) for cell in summary.cells
        )
        found = main_finding(summary)
        assert found.headline == "Other methods beat base in 3 of 6 comparisons, and lose to it in 2"
        assert "The 6 comparisons: 3 methods × 2 tasks." in found.details
        assert "By the exact sign test with Holm's correction, 1 shows no clear difference." in found.details


@pytest.mark.parametrize(("metric", "better", "worse"), [("accuracy", "a", "b"), ("error", "b", "a")])
def test_of_a_pair_the_better_score_wins(metric: str, better: str, worse: str) -> None:
    found = finding(tests=(result("a", "b"),), metric=metric)
    assert found.headline == f"{better} beats {worse} by 10.0 points of {metric} (95% interval 5.0 to 15.0)"
    other = finding((("a", "b", -0.1, -0.15, -0.05, 9),), (result("a", "b"),), metric=metric)
    assert other.headline == f"{worse} beats {better} by 10.0 points of {metric} (95% interval 5.0 to 15.0)"


class TestScores:
    def test_the_ends_of_a_curve_are_its_first_and_last_size(self) -> None:
        for axis, words in (("size", "training documents"), ("terms", "terms")):
            columns = {name: {"more": {axis: size}} for name, size in zip("abcd", (10, 100, 1000, 1000), strict=True)}
            found = main_finding(summary_of("abcd", columns=columns))
            assert found.headline == (f"Accuracy of 4 methods: 90.00% with 10, 60.00 to 70.00% with 1,000 {words}")

    def test_one_score_has_its_interval(self) -> None:
        assert main_finding(summary_of("a")).headline == "Accuracy of a: 90.00% (95% interval 80.00 to 95.00)"
        mixed = {name: {"more": {"size": i + 1, "task": name}} for i, name in enumerate("abc")}
        assert main_finding(summary_of(columns=mixed)).headline.startswith("Accuracy of 3 methods")

    def test_less_of_an_error_is_better(self) -> None:
        assert main_finding(summary_of(metric="error")).details[-1] == "Less error is better."
        assert "Less" not in " ".join(main_finding(summary_of()).details)
        assert question_sentence(summary_of("a")) == "1 method was scored by accuracy."


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], []),
        ([{}], ["1 of 1 published results was reproduced (equal after rounding, or inside our 95% interval)."]),
        (
            [{}, {"verdict": "equal"}],
            ["All 2 published results were reproduced (equal after rounding, or inside our 95% interval)."],
        ),
        (
            [{}, {"verdict": "deviates"}, {"reading": "other"}, {"verdict": REFERENCE_VALUE}],
            ["1 of 2 published results were reproduced (equal after rounding, or inside our 95% interval)."],
        ),
        ([{"kind": "count", "verdict": "deviates"}], ["0 of 1 published counts of data was reproduced (equal)."]),
        (
            [{"verdict": "tuned"}, {"verdict": "another setting"}, {"verdict": "another setting"}],
            [
                "1 published values to which a setting was tuned are not counted.",
                "2 published values of another setting are not counted.",
            ],
        ),
        ([{"verdict": "tuned", "reading": "other"}], []),
    ],
)
def test_published_values_are_counted(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert published_sentences(verdicts_of(*(verdict("a", **row) for row in rows))) == said


class TestChoices:
    """Two methods in three settings, some of whose parameters were chosen."""

    @staticmethod
    def found(more: list[dict[str, Any]], columns: dict[str, str] | None = None, p: float = 0.01) -> Any:
        names = "abcdef"[: 2 * len(more)]
        given = {name: {"more": more[i // 2], "columns": columns or {}} for i, name in enumerate(names)}
        gaps = [(names[2 * i], names[2 * i + 1], 0.1 * (i + 1), 0.05, 0.5, 9) for i in range(len(more))]
        summary = summary_of(names, gaps=gaps, tests=[result(a, b, p) for a, b, *_ in gaps], columns=given)
        vars(summary)["cells"] = tuple(
            replace(cell, method="one" if i % 2 == 0 else "two") for i, cell in enumerate(summary.cells)
        )
        return main_finding(summary)

    @pytest.mark.parametrize(
        ("more", "where"),
        [
            ([{"size": 10}, {"size": 20}, {"size": 30}], "at 3 of 3 training sizes"),
            ([{"terms": 10}, {"terms": 20}, {"terms": 30}], "at 3 of 3 numbers of terms"),
            ([{"task": "x"}, {"task": "y"}, {"task": "z"}], "in 3 of 3 tasks"),
            ([{"variant": "x"}, {"variant": "y"}, {"variant": "z"}], "in 3 of 3 variants"),
            ([{"of_class": "x"}, {"of_class": "y"}, {"of_class": "z"}], "in 3 of 3 classes"),
            (
                [{"size": 10, "task": "x"}, {"size": 20, "task": "x"}, {"size": 20, "task": "y"}],
                "in 3 of 3 comparisons",
            ),
        ],
    )
    def test_settings_are_named_by_what_varies(self, more: list[dict[str, Any]], where: str) -> None:
        found = self.found(more)
        assert found.headline == f"one beats two {where}, by 10.0 to 30.0 points of accuracy"
        product = "The 3 comparisons: 2 tasks × 2 training sizes."
        assert (product in found.details) == (where == "in 3 of 3 comparisons")

    @pytest.mark.parametrize(
        ("choices", "last"),
        [
            (["", ""], []),
            (["cross-validation", "cross-validation"], ["by cross-validation on the training documents."]),
            (["temporal-holdout", "temporal-holdout"], ["on the newest training documents."]),
            (["oracle", "oracle"], ["on the test documents, so the scores are optimistic."]),
            (["cross-validation", "temporal-holdout"], ["by cross-validation on", "on the newest training documents."]),
            (["oracle", "cross-validation"], ["by cross-validation on the training documents."]),
        ],
    )
    def test_how_parameters_were_chosen_is_said_of_each_choice(self, choices: list[str], last: list[str]) -> None:
        found = self.found([{"choice": choice, "size": i} for i, choice in enumerate(choices)])
        said = [text for text in found.details if text.startswith("The parameters were chosen ")]
        assert len(said) == len(last)
        assert all(words in text for text, words in zip(said, last, strict=True))

    @pytest.mark.parametrize(
        ("columns", "choice", "both"),
        [
            ({"weighting": "TF", "classifier": "svm"}, "", " (both: TF, svm)"),
            ({"weighting": "TF", "classifier": "svm"}, "cross-validation", " (both: TF)"),
            ({"classifier": "svm"}, "", " (both: svm)"),
            ({"weighting": "", "classifier": ""}, "", ""),
        ],
    )
    def test_what_both_share_is_said_unless_it_was_chosen(
        self, columns: dict[str, str], choice: str, both: str
    ) -> None:
        found = self.found([{"choice": choice}], columns)
        assert found.details[0] == f"Accuracy: a 90.00%, b 80.00%{both}."


@pytest.mark.parametrize(
    ("parts", "detail"),
    [
        ({}, ""),
        ({"kernel": "abc"}, ""),
        ({"kernel": "abc", "weighting": "aab"}, " (2 weightings, 3 kernels)"),
        ({"normalization": "aab", "classifier": "abb"}, " (2 normalizations, 2 classifiers)"),
    ],
)
def test_the_question_has_the_parts_where_several_vary(parts: dict[str, str], detail: str) -> None:
    columns = {name: {"columns": {part: own[i] for part, own in parts.items()}} for i, name in enumerate("abc")}
    assert question_sentence(summary_of(columns=columns)) == f"3 methods{detail} were scored by accuracy."
