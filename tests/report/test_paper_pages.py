"""Pages of papers: what is counted, what deviates, what other choices do to it, and what other methods scored."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.analysis.summary import Summary, summary_table
from benchmark.papers.published import Published
from benchmark.report.page import render_markdown
from benchmark.report.paper_results import (
    PaperExperiment,
    PaperResult,
    counts_table,
    scoreboard_headline,
)
from benchmark.report.sensitivity import (
    BASE_VARIANT_LABEL,
    agreement_text,
    sensitivity_frame,
    sensitivity_sentence,
    sensitivity_table,
    tried_frame,
)
from tests.report.expected_texts import assert_expected
from tests.report.rows import claim, claims_of, summary_of, verdict, verdicts_of

if TYPE_CHECKING:
    from benchmark.analysis.formatting.labels import CellInfo

NAN = math.nan
DEVIATES, SAME = {"verdict": "deviates"}, {"grade": "same"}


def paper(*claims: dict[str, Any], verdicts: Any = (), printed: Any = None, **changes: Any) -> PaperResult:
    part = PaperExperiment(summary_of("a", verdicts=verdicts_of(*verdicts)))
    published = Published(paper="k", title="A title", reference="A. Author. A title. 2026.")
    made = PaperResult(published, (part,), claims_of(*claims), printed or {})
    return replace(made, **changes)


def trial(cell: str, variant: str, *, agrees: bool, value: float = 70.0, reach: float = 1.0) -> tuple[Any, ...]:
    return (cell, "accuracy", "accuracy %", "", "72.00", variant, value, value - reach, value + reach, agrees)


BASE = trial("a", BASE_VARIANT_LABEL, agrees=False)


def test_of_a_paper_are_as_expected(papers: list[PaperResult]) -> None:
    (made,) = papers
    texts = {"reproduction": render_markdown("reproduction", sections=papers)}
    texts |= {"paper": render_markdown("paper", section=made)}
    assert_expected("paper", (texts | {"deviations": render_markdown("deviations", sections=papers)}).items())


def test_the_scoreboard_counts_by_tone_and_leaves_out_what_is_not_counted() -> None:
    made = paper(
        claim("c", "holds", 1, 1),
        claim("d", "holds in part (1 of 2)", 1, 2, strict_verdict="contradicted"),
        claim("e", "fails", 0, 1, strict_verdict="no test"),
        claim("f", "holds", 1, 1, counted="same as c"),
        verdicts=[verdict("a", **SAME), verdict("a", grade="outside", **DEVIATES), verdict("a", verdict="tuned")],
        printed={"result": 5},
    )
    grid = counts_table([made, made])
    assert grid.rows == (
        ("published results", 10, 2, 0, 2, 6),
        ("claims, by the papers' criteria", 6, 2, 2, 2, 0),
        ("claims, by our stricter test", 6, 2, 0, 2, 2),
    )
    assert grid.note == "2 tuned, not counted."
    assert scoreboard_headline([made]) == (
        "1 of 5 published results and 1 of 3 claims are reproduced; 3 published values are not measured"
    )
    assert ([each["claim"] for each in made.counted_claims], made.source) == (["c", "d", "e"], "A. Author. 2026.")
    signs = re.findall(r"([✓✗◐○]{2}) \[(\w+)\]", render_markdown("paper", section=made))
    assert signs == [("✓✓", "c"), ("◐✗", "d"), ("✗○", "e")]


def sweep_of(*cells: tuple[CellInfo, float], reach: float = 0.01) -> Summary:
    """Return a sweep of cells with these scores; NaN as `reach` leaves out the intervals."""
    rows = [(cell.id, "all", "accuracy", value, value - reach, value + reach, 9, 0) for cell, value in cells]
    return Summary("sweep", "Sweep", None, tuple(cell for cell, _ in cells), summary_table("scores", rows))


OWN = {"a": {"classifier": "SVM, C 1", "points": "tf l1 ngd"}}
#: Changes of a cell in a sweep, and the name of the trial that it then is.
TRIED = [
    ({"variant": "v"}, "v"),
    ({"classifier": "SVM, C 10"}, "SVM, C 10"),
    ({"variant": "v", "method": "other"}, "v"),  # the same points under another name
    ({"variant": "v", "method": "other", "points": "tf l1 ned"}, None),
    ({"variant": "v", "size": 5}, None),
    ({}, None),
]


@pytest.mark.parametrize(("changes", "name"), TRIED)
def test_a_trial_is_the_same_setting_under_another_choice(changes: dict[str, Any], name: str | None) -> None:
    summary = summary_of("ab", columns=OWN, verdicts=verdicts_of(verdict("a", **DEVIATES)))
    found = sensitivity_frame(summary, [sweep_of((replace(summary.cells[0], id="o", **changes), 0.5))])
    assert list(found["variant"]) == [BASE_VARIANT_LABEL, *([name] if name else [])]


@pytest.mark.parametrize(("unit", "published"), [("one", "0.5000"), ("percent", "50.00")])
def test_trials_are_judged_by_the_same_rule_and_shown_in_percent(unit: str, published: str) -> None:
    summary = summary_of("a", verdicts=verdicts_of(verdict("a", published, unit=unit, **DEVIATES)))
    cells = [(replace(summary.cells[0], id=f"o{i}", variant=f"v{i}"), value) for i, value in enumerate((0.5, 0.51))]
    found = sensitivity_frame(summary, [sweep_of(*cells, reach=NAN)])
    assert set(found["published"]) == {"50.00"}
    rows = found[["value", "low", "agrees"]].to_numpy()[1:]
    assert rows.tolist() == [[50.0, 50.0, True], [51.0, 51.0, False]]


def test_the_sentence_on_trials_counts_choices() -> None:
    assert sensitivity_sentence(tried_frame()) == sensitivity_sentence(tried_frame([BASE])) == ""
    others = [trial("b", BASE_VARIANT_LABEL, agrees=False), trial("b", "v", agrees=True)]
    tried = tried_frame([BASE, trial("a", "v", agrees=False, value=69.0), *others])
    assert sensitivity_sentence(tried) == (
        "1 of the 2 that deviate are consistent under some other choice, which would be tuned to the published values "
        "(b under v); a under none that was tried; of all 2, 0 are consistent as configured, and at most 1 "
        "under another (v). Other choices that were tried: at most 1 for a cell."
    )


def test_each_variant_has_a_row_with_all_values_and_how_they_agree_together() -> None:
    """A choice that explains one value and breaks two is seen to do so."""
    values = {"a": (82.0, 80.0, "72.00"), "b": (70.0, 60.0, "70.00"), "c": (90.0, 50.0, "90.50")}
    rows = [
        (
            *trial(cell, variant, agrees=agrees, value=value)[:4],
            published,
            *trial(cell, variant, agrees=agrees, value=value)[5:],
        )
        for cell, (own, other, published) in values.items()
        for variant, value, agrees in ((BASE_VARIANT_LABEL, own, cell != "a"), ("v", other, cell == "a"))
    ]
    tried = tried_frame(rows)
    grid = sensitivity_table(tried)
    assert grid.header[1:4] == ("accuracy %: consistent", "accuracy %: rms", "accuracy %: order")
    assert grid.rows == (
        (BASE_VARIANT_LABEL, "2 of 3", "5.78", "1.00", "82.00", "70.00 ✓", "90.00 ✓"),
        ("v", "1 of 3", "24.52", "−0.50", "80.00 ✓", "60.00", "50.00"),
    )
    assert agreement_text(tried) == (
        "accuracy %: 2 of 3 published values in our intervals, rms difference 5.78, rank correlation 1.00"
    )
    own = PaperExperiment(summary_of("a", verdicts=verdicts_of(verdict("a", **DEVIATES))), tried)
    assert "Sensitivity analysis" in render_markdown("paper", section=paper(experiments=(own,)))
