"""Sweeps of reproduced papers: which cells are tried again, what a trial says, and which values deviate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from benchmark.analysis.formatting.units import DISPLAY_UNITS
from benchmark.analysis.summary import SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.page import (
    BASE_VARIANT_LABEL,
    deviations_page,
    difference_unit,
    paper_page,
    sensitivity_scores,
    sensitivity_sentence,
    sweep_effect_text,
    trial_text,
)
from benchmark.report.paper_results import PaperExperiment
from tests.report.rows import summary_of, verdict, verdicts_of
from tests.report.test_rare_pages import BASE, paper, trial

NAN = math.nan


def sweep_of(*cells: tuple[CellInfo, float], name: str = "sweep", metric: str = "accuracy", reach: float = 0.01) -> Any:
    """Return a sweep of cells with these scores; NaN as `reach` leaves out the intervals."""
    rows = [(cell.id, "all", metric, value, value - reach, value + reach, 9, 0) for cell, value in cells]
    return Summary(name, "Sweep", None, tuple(cell for cell, _ in cells), summary_table(SCORE_COLUMNS, rows))


def trials(summary: Summary, *sweeps: Summary) -> list[tuple[str, str, float, str]]:
    found = sensitivity_scores(summary, sweeps)
    return [(each.cell, each.variant, round(each.value, 6), each.verdict) for each in found]


DEVIATES = {"verdict": "deviates"}
#: The numbers of the experiment and, of a cell that is tried, of the sweep.
FIRST = ("a", BASE_VARIANT_LABEL, 91.0, "consistent")


class TestTrials:
    def test_counts_reference_values_and_pairs_without_cells_do_not_hide_those_after_them(self) -> None:
        rows = (
            verdict("a"),
            verdict("a", reading="other", **DEVIATES),
            verdict("x vs y", **DEVIATES),
            verdict("a", metric="documents", kind="count", **DEVIATES),
            verdict("a", reading="GCN", verdict="reference value"),
            verdict("b", "81.00", **DEVIATES),
        )
        found = trials(summary_of(verdicts=verdicts_of(*rows)))
        assert [each[0] for each in found] == ["a", "a", "b"]

    def test_cells_of_other_methods_or_without_a_score_do_not_hide_those_after_them(self) -> None:
        summary = summary_of(verdicts=verdicts_of(verdict("a", **DEVIATES)))
        base = summary.cells[0]
        cells = (
            (replace(base, id="other", method="b", variant="v"), 0.5),
            (replace(base, id="failed", variant="v"), NAN),
            (replace(base, id="same"), 0.5),
            (replace(base, id="last", variant="w"), 0.5),
        )
        assert trials(summary, sweep_of(*cells)) == [FIRST, ("a", "w", 50.0, "deviates")]
        assert trials(summary, sweep_of(*cells[:2]), sweep_of(cells[3])) == [FIRST, ("a", "w", 50.0, "deviates")]

    @pytest.mark.parametrize(
        ("own", "other", "tried"),
        [
            ("", "", False),
            ("tf l1 ngd", "", False),
            ("", "tf l1 ngd", False),
            ("tf l1 ngd", "tf l1 ned", False),
            ("tf l1 ngd", "tf l1 ngd", True),
        ],
    )
    def test_methods_of_other_names_are_the_same_where_their_points_are(
        self, own: str, other: str, tried: bool
    ) -> None:
        summary = summary_of(
            "ab", columns={"a": {"more": {"points": own}}}, verdicts=verdicts_of(verdict("a", **DEVIATES))
        )
        cell = replace(summary.cells[0], id="o", method="another", points=other, variant="v")
        assert trials(summary, sweep_of((cell, 0.5))) == [FIRST, *[("a", "v", 50.0, "deviates")] * tried]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"variant": "v"}, ["v"]),
            ({"classifier": "SVM, C 10"}, ["SVM, C 10"]),
            ({"variant": "v", "classifier": "SVM, C 10"}, ["v, SVM, C 10"]),
            ({"variant": "v", "classifier": "SVM, C 1"}, ["v"]),
            ({}, []),
            ({"spoken": "another"}, []),
        ],
    )
    def test_are_named_by_what_differs(self, changes: dict[str, Any], said: list[str]) -> None:
        own = {"a": {"more": {"classifier": "SVM, C 1"}}}
        summary = summary_of(columns=own, verdicts=verdicts_of(verdict("a", **DEVIATES)))
        found = trials(summary, sweep_of((replace(summary.cells[0], id="o", **changes), 0.5)))
        assert [variant for _, variant, _, _ in found] == [BASE_VARIANT_LABEL, *said]

    def test_a_score_without_an_interval_is_compared_as_a_number(self) -> None:
        summary = summary_of(verdicts=verdicts_of(verdict("a", "50.00", **DEVIATES)))
        cells = [(replace(summary.cells[0], id=f"o{i}", variant=f"v{i}"), value) for i, value in enumerate((0.5, 0.51))]
        found = sensitivity_scores(summary, [sweep_of(*cells, reach=NAN)])
        assert [(each.value, each.low, each.high, each.verdict) for each in found[1:]] == [
            (50.0, 50.0, 50.0, "equal"),
            (51.0, 51.0, 51.0, "deviates"),
        ]

    def test_are_in_the_unit_of_the_published_value(self) -> None:
        for unit, published, scale in (("percent", "50.00", 100), ("one", "0.5000", 1)):
            summary = summary_of(verdicts=verdicts_of(verdict("a", published, unit=unit, **DEVIATES)))
            cell = replace(summary.cells[0], id="o", variant="v")
            _, found = sensitivity_scores(summary, [sweep_of((cell, 0.9))])
            numbers = (round(found.value, 9), found.unit, found.published, found.metric)
            assert numbers == (0.9 * scale, unit, published, "accuracy")
            assert trial_text(found) == "v: 90.00 [89.00, 91.00], deviates"


class TestEffects:
    def effect(self, *values: float, classifier: str = "", variant: str = "v", metric: str = "accuracy") -> str:
        """Return the text on cells a, b… of a variant, of which the experiment's have 90, 80… percent."""
        summary = summary_of(metric=metric)
        cells = [
            (replace(cell, id=f"v-{cell.id}", variant="v", classifier=classifier), value)
            for cell, value in zip(summary.cells, values, strict=False)
        ]
        return sweep_effect_text(summary, sweep_of(*cells, metric=metric), variant)

    def test_is_the_range_of_the_differences(self) -> None:
        assert self.effect(0.8, 0.85) == "otherwise (v of sweep) accuracy differs by −10.00 to +5.00 points"
        assert self.effect(0.95) == "otherwise (v of sweep) accuracy differs by +5.00 points"
        assert self.effect(0.95, 0.85) == "otherwise (v of sweep) accuracy differs by +5.00 points"

    def test_is_of_one_variant_and_of_cells_with_the_same_classifier(self) -> None:
        assert self.effect(0.8, variant="w") == ""
        assert self.effect(0.8, classifier="SVM, C 10") == ""
        assert self.effect() == ""

    @pytest.mark.parametrize(
        ("metric", "text"), [("seconds", "seconds differs by −0.10 s"), ("sign-z", "Z differs by −0.10")]
    )
    def test_of_other_metrics_has_their_units(self, metric: str, text: str) -> None:
        assert self.effect(0.8, metric=metric) == f"otherwise (v of sweep) {text}"

    def test_differences_of_percentages_are_points(self) -> None:
        found = {name: difference_unit(unit) for name, unit in DISPLAY_UNITS.items()}
        assert found["percent"] == "points"
        assert all(text == DISPLAY_UNITS[name].symbol for name, text in found.items() if name != "percent")


@pytest.mark.parametrize(
    ("variant", "verdict_text", "shown"),
    [
        ("v", "equal", "tuned (equal)"),
        ("v", "equal, outside the interval", "tuned (equal, outside the interval)"),
        ("v", "consistent", "tuned (consistent)"),
        ("v", "deviates", "deviates"),
        (BASE_VARIANT_LABEL, "equal", "equal"),
        (BASE_VARIANT_LABEL, "consistent", "consistent"),
    ],
)
def test_a_choice_that_comes_near_is_tuned(variant: str, verdict_text: str, shown: str) -> None:
    assert trial_text(trial("a", variant, verdict_text)).endswith(f", {shown}")


def test_a_cell_alone_is_not_counted_at_once_with_others() -> None:
    assert "of all" not in sensitivity_sentence([BASE, trial("a", "v", "equal")])
    others = [
        BASE,
        trial("a", "v", "deviates"),
        trial("b", BASE_VARIANT_LABEL, "deviates"),
        trial("b", "v", "deviates"),
    ]
    assert "of all" not in sensitivity_sentence(others)
    assert sensitivity_sentence(others).startswith("a, b under none that was tried, nor by intervals")


class TestDeviations:
    """The page of deviations lists what deviates by the reading that is counted."""

    @pytest.mark.parametrize(
        ("changes", "listed"),
        [
            ({"verdict": "deviates"}, True),
            ({"verdict": "deviates", "reading": "other"}, False),
            ({"verdict": "consistent"}, False),
            ({"verdict": "tuned"}, True),  # although a setting was chosen to come near it
            ({"verdict": "tuned", "reading": "other"}, False),
            ({"verdict": "another setting", "aside": "other tokens"}, False),
        ],
    )
    def test_are_of_the_counted_reading(self, changes: dict[str, Any], listed: bool) -> None:
        page = deviations_page([paper(verdicts=[verdict("a", "12.34", **changes)])])
        assert ("12.34" in page) == listed

    def test_have_the_trials_of_their_experiment(self) -> None:
        summary = summary_of("a", verdicts=verdicts_of(verdict("a", "12.34", **DEVIATES)))
        tried = (BASE, trial("a", "a choice", "consistent"))
        made = replace(paper(), experiments=(PaperExperiment(summary, tried, remarks=("A remark.",)),))
        for page in (deviations_page([made]), paper_page(made)):
            assert "a choice" in page
