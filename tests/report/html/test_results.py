"""The table of results and where its two best methods disagree: every promise that a page of tables makes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from benchmark.analysis.comparisons import leading_pair
from benchmark.analysis.document_predictions import Disagreement, DocumentExplanation, DocumentPrediction
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import Summary, summary_table
from benchmark.report.html.page import page_html
from benchmark.report.html.results import confusions_of_pair, results_of
from tests.analysis.made import predicted, table_study
from tests.report.expected_texts import page_words
from tests.report.rows import curve, result, summary_of, verdict, verdicts_of

BAD = '</script><img src=x onerror="alert(1)">\u202e{{7*7}}'


def scored(**values: tuple[float, float, float]) -> list[tuple[Any, ...]]:
    """Return rows of accuracies: the score and the ends of its interval."""
    return [(name, "all", "accuracy", *numbers, 10, 0) for name, numbers in values.items()]


SCORES = scored(a=(0.7, 0.6, 0.8), b=(0.5, 0.4, 0.6))


def rows_of(summary: Summary) -> dict[str, dict[str, Any]]:
    """Return the rows of the table of results by cell."""
    return {row["cell"]: row for row in results_of(summary)["rows"]}


class TestRows:
    def test_a_bar_lies_where_its_numbers_are_on_the_scale(self) -> None:
        gaps = [("a", "b", 0.2, 0.1, 0.3, 10)]
        more: dict[str, Any] = {"gaps": gaps, "tests": [result("a", "b")], "verdicts": verdicts_of(verdict("a", "65"))}
        table = results_of(summary_of("ab", scores=SCORES, **more))
        (zero, first), (end, last) = table["ticks"][0], table["ticks"][-1]
        step = (end - zero) / (float(last) - float(first))  # percent of the width a point of accuracy
        bar, base = (row["bar"] for row in table["rows"])
        expected = {"value": 70, "low": 60, "high": 80, "published": 65, "base_low": 40, "base_high": 60}
        for name, number in expected.items():
            assert bar[name] == pytest.approx(zero + step * (number - float(first)), abs=0.02), name
        assert base["base_low"] is None  # others are compared with it
        assert base["low"] < 10
        assert 90 < bar["high"] < 100

    @pytest.mark.parametrize(
        ("p", "note", "outcome"),
        [
            (0.01, "", "better"),
            (0.2, "", "no clear difference"),
            (0.2, "not testable (smallest p 0.062)", "not testable"),
        ],
    )
    def test_a_difference_is_bold_where_it_is_significant(self, p: float, note: str, outcome: str) -> None:
        """The mark of no clear difference is hollow; it isn't that of a pair that no test can tell apart."""
        gaps, tests = [("a", "b", 0.2, 0.1, 0.3, 10)], [result("a", "b", p, note)]
        html = page_html(summary_of("ab", gaps=gaps, tests=tests, scores=SCORES)).partition("<tbody")[2]
        assert ('class="number wide clear"' in html) == (outcome == "better")
        assert ('<circle class="ours" ' in html) == (outcome == "no clear difference")
        assert re.search(rf'\+20\.00 *<span class="unseen">{outcome}<', html)


class TestPages:
    def test_only_those_of_curves_have_the_script_that_draws(self, webkb: Summary) -> None:
        assert "/*! Vega" not in page_html(webkb)
        assert len(page_html(webkb).encode()) <= 200_000
        assert "/*! Vega" in page_html(summary_of(charts=(curve(),)))

    def test_the_worst_caveat_is_at_the_top_and_all_are_below(self) -> None:
        html = page_html(summary_of(caveats=("The worst.", "Another.", "A third.")))
        top, below = html.split("<main")
        assert "The worst." in top
        assert "2 more" in top
        assert "Another." not in top
        assert all(caveat in below for caveat in ("The worst.", "Another.", "A third."))
        assert "Before you trust" not in page_html(summary_of())


def both(name: str, truth: str, *labels: str) -> tuple[DocumentPrediction, ...]:
    """Return what two cells predict for a document."""
    return tuple(DocumentPrediction(0, "s", name, 0, (label,), (truth,), tied=False) for label in labels)


def pair_of(*documents: tuple[DocumentPrediction, ...], **changes: Any) -> Summary:
    return summary_of("ab", disagreement=Disagreement(("a", "b"), (2, 1), documents), **changes)


class TestWhatGoesWrong:
    documents = (
        both("d1", "yes", "yes", "no"),
        both("d2", "yes, no", "no", "yes, no"),
    )

    def test_the_two_methods_are_beside_each_other_with_documents(self) -> None:
        confused = [("a", "yes", "yes", 3), ("a", "yes", "no", 1), ("a", "no", "no", 4), ("b", "yes", "yes", 1)]
        summary = pair_of(*self.documents, confusions=summary_table("confusions", confused))
        found = confusions_of_pair(summary)
        assert found["matrices"] == [[[3, 1], [0, 4]], [[1, 0], [0, 0]]]
        words = " ".join(page_words(page_html(summary)).split())
        assert "yes no yes 75.0 25.0 no · 100.0" in words
        assert "a alone is right on 2 documents, b alone on 1. Some of them:" in words
        assert "d1 yes ✓ ✗ no d2 yes, no ✗ no ✓" in words

    def test_names_and_texts_of_documents_are_no_markup(self) -> None:
        summary = pair_of(both(BAD, BAD, BAD, "no"), notes=(BAD,))
        explanation = DocumentExplanation(BAD, BAD, {BAD: [BAD]}, BAD)
        html = page_html(replace(summary, title=BAD), explanations={BAD: explanation})
        assert "<img" not in html
        assert "\u202e" not in html
        assert "{{7*7}}" in html
        assert 'class="document"' in html
        assert 'class="document"' not in page_html(summary, explanations={"another": explanation})


@pytest.mark.parametrize("multilabel", [False, True])
def test_disagreements_are_counted_as_the_sign_test_counts_them(multilabel: bool) -> None:
    experiment = table_study(metrics=["macro-f1"] if multilabel else ["accuracy"])
    made = predicted(experiment, multilabel=multilabel)
    summary = summarize(RunPredictions(experiment, made, {}, {}))
    found = summary.disagreement
    assert found is not None
    assert found.cells == leading_pair(summary)
    wrong = {}
    for cell in experiment.cells:
        setting = next(each for key, each in made.settings.items() if key.method == cell.method)
        missed = setting.predicted != next(iter(made.tasks.values())).truth
        wrong[cell.id] = missed.any(axis=1) if multilabel else missed
    first, second = (wrong[cell] for cell in found.cells)
    assert found.right == ((~first & second).sum(), (first & ~second).sum())
    signs = summary.significance[summary.significance["test"].isin(["sign", "mcnemar"])]
    if not multilabel:
        assert set(signs["n"]) == {sum(found.right)}
    for pair in found.documents:
        assert sum(each.right for each in pair) == 1, "exactly one of the two is right"
