"""The headline of a run: its numbers are those of the files, and it says no more than they show."""

from __future__ import annotations

import functools
import io
import re
import zlib
from dataclasses import replace
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.prose.main_finding import main_finding, question_sentence
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import DIFFERENCES, SCORE_COLUMNS, SIGNIFICANCE, CellInfo, Summary, summary_table
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from benchmark.experiment.configuration import load_checked
from benchmark.report.writers import frame_csv
from benchmark.system.shipped_files import CONFIGS_FOLDER
from tests.builders import inner_counts, setting_of
from tests.report.expected_texts import assert_expected
from tests.report.summaries import all_failed_summary, many_cells_summary, webkb_summary

CONFIGURATIONS = sorted(path.stem for path in CONFIGS_FOLDER.glob("*.yaml"))
#: One of each shape: pairs, one baseline, several tasks and sizes, error, several classes, no comparison, regions.
QUICK = (
    *("webkb", "all-methods", "all-methods-topics", "tuned-reuters", "webkb-diffusion-reduced", "learning-webkb"),
    *("reuters-skl-reduced", "reuters-hp-top-reduced", "decision-boundaries", "webkb-c", "anatomy", "simplex-r52"),
)


def predicted(experiment, n=60):
    """Predictions of any experiment: each method is wrong on a share of its own, on documents of its own."""
    tasks, splits, points = {}, {}, {}
    for variant in experiment.variants.values():
        for task in variant.tasks:
            k, key = len(task.classes), TaskKey(variant.name, task.name)
            several = np.random.default_rng(5).random((n, k)) < 0.4
            truth = several if variant.collection.multilabel else (np.arange(n) % k).astype(np.int32)
            tasks[key] = TaskDocuments(tuple(map(str, range(n))), task.classes, truth)
            for size in variant.sizes:
                tests = [np.arange(25), np.arange(25, n)]
                if size:
                    tests = [np.sort(np.random.default_rng([i, size]).permutation(n)[:40]) for i in range(8)]
                names = enumerate(tests)
                splits[SplitKey(*key, size)] = tuple(TestedSplit(f"split-{i}", t, np.full(k, 5)) for i, t in names)
                for entry, number in product(variant.entries, variant.numbers):
                    code = zlib.crc32(entry.label.encode())
                    for index in range(len(entry.candidates)):
                        rng, given = np.random.default_rng([code, index]), []
                        for test in tests:
                            own = truth[test]
                            wrong = rng.random(own.shape) < code % 40 / 100 + 0.02 * index
                            moved = own ^ wrong if own.ndim == 2 else np.where(wrong, (own + 1) % k, own)
                            given.append(moved.astype(own.dtype))
                        draws = len(tests)
                        inner = inner_counts(rng.integers(4, size=draws), k) if len(entry.candidates) > 1 else ()
                        tied = tuple(np.zeros(own.shape, dtype=np.bool_) for own in given)
                        times = {"seconds": np.ones((draws, 6)), "memory": np.ones(draws)}
                        points[SettingKey(*key, entry.label, index, size, number)] = setting_of(
                            given, tied, inner=inner, **times
                        )
    return Predictions(tasks, splits, points)


@functools.cache  # by several tests
def summary_of(name):
    experiment = load_checked(CONFIGS_FOLDER / f"{name}.yaml")
    facts = {variant: {"documents": 60, "vocabulary": 7, "classes": []} for variant in experiment.variants}
    return summarize(RunPredictions(experiment, predicted(experiment), {}, facts))


def as_file(frame, columns):
    return pd.read_csv(io.StringIO(frame_csv(frame, columns)), keep_default_na=True)


def numbers_in(text):
    return [float(each.replace(",", "")) for each in re.findall(r"(?<![\w-])[-+]?\d[\d,]*(?:\.\d+)?(?![\w-])", text)]


def check_against_files(summary):
    """Every number of the headline, from scores.csv, and from the files of differences and tests where it counts."""
    headline, metric = main_finding(summary).headline, summary.main_metric
    headline = headline.partition(" where the paper reports ")[0]
    scores = as_file(summary.scores, SCORE_COLUMNS)
    scores = scores[(scores["fold"] == "all") & (scores["metric"] == metric)].set_index("cell")["value"]
    gaps = as_file(summary.differences, DIFFERENCES)
    if not len(gaps):
        check_range(summary, headline, scores)
        return
    gaps["gap"] = gaps["a"].map(scores) - gaps["b"].map(scores)
    whole = gaps["gap"].notna()
    assert gaps.loc[whole, "value"].to_numpy() == pytest.approx(gaps.loc[whole, "gap"].to_numpy(), abs=1e-9)
    pairs = planned_comparisons(summary)
    assert [(pair.a.id, pair.b.id) for pair in pairs] == list(zip(gaps["a"], gaps["b"], strict=True))
    found = [pair for pair in pairs if pair.better is not None]
    tests = as_file(summary.significance, SIGNIFICANCE).set_index(["a", "b", "test"])
    for pair in found:
        assert tests.loc[(pair.a.id, pair.b.id, pair.test), "p_holm"] < 0.05
        assert not pair.low <= 0 <= pair.high
    if " beat" in headline.partition(";")[0] and not headline.startswith("0 of"):
        assert found
    for told in re.findall(r"([-+]?[\d.]+)(?: to ([-+]?[\d.]+))? points of", headline):
        own = found if " beat" in headline else pairs
        for text in filter(None, told):
            decimals = len(text.partition(".")[2])
            assert float(text) in {round(sign * 100 * pair.value, decimals) + 0.0 for pair in own for sign in (1, -1)}
    for low, high in re.findall(r"95% interval ([-+]?[\d.]+) to ([-+]?[\d.]+)\)", headline):
        ends = [sorted((abs(float(low)), abs(float(high))))]
        assert any(ends[0] == pytest.approx(sorted((abs(100 * p.low), abs(100 * p.high))), abs=0.051) for p in pairs)


def check_range(summary, headline, scores):
    told = [number for number in numbers_in(headline.rpartition(":")[2]) if "." in headline]
    percent = [float(f"{100 * value:.2f}") for value in scores]
    assert set(told[:2]) <= set(percent), headline
    if len({cell.size for cell in summary.cells}) == 1:
        assert sorted(told) == sorted({min(percent), max(percent)})


@pytest.mark.parametrize("name", QUICK)
def test_the_numbers_of_a_headline_are_those_of_the_files(name):
    check_against_files(summary_of(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CONFIGURATIONS) - set(QUICK)))
def test_the_numbers_of_every_headline_are_those_of_the_files(name):
    check_against_files(summary_of(name))


def permuted(name, seed, folder):
    """Return a shipped configuration with its methods, comparisons, and their cells in another order."""
    content = yaml.safe_load((CONFIGS_FOLDER / f"{name}.yaml").read_text())
    rng = np.random.default_rng(seed)
    for key in ("methods", "compare"):
        content[key] = [content[key][i] for i in rng.permutation(len(content[key]))]
    content["compare"] = [pair[::-1] if rng.random() < 0.5 else pair for pair in content["compare"]]
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return load_checked(folder / f"{name}.yaml")


@pytest.mark.parametrize("name", ["webkb", "decision-boundaries", "quickstart", "rennie2003", "characters-webkb"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_finding_is_the_same_in_any_order_of_the_configuration(name, seed, tmp_path):
    experiment = permuted(name, seed, tmp_path)
    facts = {variant: {"documents": 60, "vocabulary": 7, "classes": []} for variant in experiment.variants}
    found = main_finding(summarize(RunPredictions(experiment, predicted(experiment), {}, facts)))
    assert found == main_finding(summary_of(name))


class TestOnePair:
    PAIR = ("tf-l1-ngd", "tf-l2-linear")

    def told(self, gap, p_holm, note="", **changes):
        low, high = (gap - 0.01, gap + 0.01)
        p_value = None if note else p_holm / 2
        tests = [(*self.PAIR, "sign", 90, 3.0, p_value, p_holm, 2, note)]
        changes = {"verdicts": webkb_summary().verdicts[:0]} | changes
        changes |= {"differences": summary_table(DIFFERENCES, [(*self.PAIR, gap, low, high, 4199)])}
        return main_finding(replace(webkb_summary(), **{"significance": summary_table(SIGNIFICANCE, tests), **changes}))

    def test_beats_only_where_the_test_shows_it(self):
        assert " beats " in self.told(0.03, 0.01).headline
        assert "show no clear difference" in self.told(0.03, 0.06).headline
        assert "show no clear difference" in self.told(0.005, 0.01).headline  # the interval has zero in it

    def test_a_test_of_another_quantity_decides_nothing(self):
        """A sign test of documents beside the interval of macro-F1; and one whose pairs share test documents."""
        scores = webkb_summary().scores.replace({"metric": {"accuracy": "macro-f1", "macro-f1": "micro-f1"}})
        assert self.told(0.03, 0.01, scores=scores).headline.endswith("no test of this quantity")
        tests = [
            (*self.PAIR, "wilcoxon", 4, 0.0, None, None, 0, "not testable (smallest p 0.125)"),
            (*self.PAIR, "wilcoxon, category × replicate", 90, 3.0, 0.001, 0.001, 1, ""),
            (*self.PAIR, "sign", 90, 3.0, 0.001, 0.001, 1, ""),
        ]
        found = self.told(0.03, 0.01, scores=scores, significance=summary_table(SIGNIFICANCE, tests))
        assert "too few splits to test it" in found.headline
        assert " beats " not in found.headline

    def test_what_lacks_is_said(self):
        note = "not testable (smallest p 0.125 after Holm's correction)"
        tests = [(*self.PAIR, "sign", 4, 3.0, 0.125, 0.25, 2, note)]
        found = self.told(0.03, 0.01, significance=summary_table(SIGNIFICANCE, tests))
        assert found.headline.endswith(", only 4 documents decide: no outcome could be significant")

    def test_two_that_never_differ(self):
        tests = [(*self.PAIR, "sign", 0, 0.0, 1.0, 1.0, 1, "not testable (the two never differ)")]
        found = self.told(0.0, 0.01, significance=summary_table(SIGNIFICANCE, tests))
        assert found.headline == "The NGD kernel and the linear kernel never differ (p = 1, 0 of 4,199 documents)"

    def test_names_the_better_one_first(self):
        assert self.told(-0.03, 0.01).headline.startswith("The linear kernel beats the NGD kernel by 3.0 points")
        assert "(95% interval 2.0 to 4.0)" in self.told(-0.03, 0.01).headline

    def test_less_may_be_better(self):
        scores = webkb_summary().scores.replace({"metric": {"accuracy": "error"}})
        found = self.told(-0.03, 0.01, scores=scores)
        assert found.headline.startswith("The NGD kernel beats the linear kernel by 3.0 points of error")
        assert "Less error is better." in found.details

    def test_a_tenth_of_a_point_is_the_least_that_is_written_with_one_decimal(self):
        # The interval goes from 0.04 to 2.04 points: with one decimal its end would be 0.0, as if it had zero in it.
        assert "by 1.0 points of accuracy (95% interval 0.04 to 2.04)" in self.told(0.0104, 0.01).headline

    def test_where_a_paper_is_run_whether_it_holds_comes_first(self):
        verdicts = webkb_summary().verdicts
        found = self.told(0.008, 0.01, verdicts=verdicts)
        start = "The NGD kernel and the linear kernel show no clear difference: +0.8 points of accuracy"
        assert found.headline.startswith(f"{start} where the paper reports +2.4; ")
        deviating = int((verdicts["verdict"] == "deviates").sum())
        assert found.headline.endswith(
            f"{deviating} of 10 published results {'lies' if deviating == 1 else 'lie'} outside our interval"
        )
        assert self.told(0.03, 0.01, verdicts=verdicts).headline.startswith(
            "The NGD kernel leads the linear kernel by 3.0 points of accuracy where the paper reports 2.4; "
        )
        assert found.details[0].startswith("The NGD kernel and the linear kernel show no clear difference")
        within = self.told(0.03, 0.01, verdicts=verdicts[verdicts["verdict"] != "deviates"]).headline
        assert re.search(
            r"; (\d+) of \1 published results and 1 of 1 published Z of the sign test were reproduced$", within
        )
        as_fractions = verdicts.assign(
            published=[str(Decimal(text) / 100) for text in verdicts["published"]], unit="one"
        )
        for name in ("value", "low", "high", "between_low", "between_high", "widest"):
            as_fractions[name] = as_fractions[name] / 100
        assert "where the paper reports +2.4; " in self.told(0.008, 0.01, verdicts=as_fractions).headline
        for verdict in ("another setting", "tuned"):
            other = self.told(0.03, 0.01, verdicts=verdicts.assign(verdict=verdict)).headline
            assert other.startswith("The NGD kernel beats"), verdict


class TestGroups:
    """Several methods: what was found leads, and the sentence is on all comparisons of a group."""

    def told(self, *pairs, scores=()):
        """Return the finding of comparisons (a, b, gap, p); of a gap of 0 the two never differ."""
        names = sorted({name for a, b, *_ in pairs for name in (a, b)})
        values = dict.fromkeys(names, 0.8) | dict(scores)
        rows = [
            (name, "all", "accuracy", values[name], values[name] - 0.1, values[name] + 0.1, 120, 0) for name in names
        ]
        tests = [
            (
                a,
                b,
                "sign",
                20 if gap else 0,
                1.0,
                p,
                p,
                len(pairs),
                "" if gap else "not testable (the two never differ)",
            )
            for a, b, gap, p in pairs
        ]
        return main_finding(
            Summary(
                "made",
                "Made",
                None,
                tuple(CellInfo(name, {}, method=name) for name in names),
                summary_table(SCORE_COLUMNS, rows),
                differences=summary_table(
                    DIFFERENCES, [(a, b, gap, gap - 0.01, gap + 0.01, 120) for a, b, gap, _ in pairs]
                ),
                significance=summary_table(SIGNIFICANCE, tests),
            )
        )

    def test_one_is_beaten_and_another_is_not(self):
        found = self.told(("diffusion", "wide", 0.148, 0.001), ("diffusion", "narrow", -0.014, 0.3))
        assert (
            found.headline
            == "diffusion beats wide by 14.8 points of accuracy (95% interval 13.8 to 15.8), but not narrow"
        )

    def test_two_that_never_differ_come_before_what_is_undecided_and_after_what_was_found(self):
        never = ("one", "two", 0.0, 1.0)
        found = self.told(never, ("one", "three", -0.02, 0.4)).headline
        assert found == "one and two never differ (p = 1, 0 of 120 documents); one shows no clear difference from three"
        assert self.told(never, ("one", "three", -0.05, 0.001)).headline == (
            "three beats one by 5.0 points of accuracy (95% interval 4.0 to 6.0); one never differs from two"
        )

    def test_two_are_better_than_a_third(self):
        found = self.told(("a", "c", 0.03, 0.001), ("b", "c", 0.05, 0.001)).headline
        assert found == "a and b beat c by 3.0 to 5.0 points of accuracy"

    def test_of_two_groups_that_in_which_something_was_found_leads(self):
        found = self.told(("a", "b", 0.01, 0.5), ("c", "d", 0.05, 0.001))
        assert found.headline == "c beats d by 5.0 points of accuracy (95% interval 4.0 to 6.0)"
        both = self.told(("a", "b", 0.03, 0.001), ("c", "d", 0.05, 0.001), scores=[("c", 0.9)]).headline
        assert both == (
            "c beats d by 5.0 points of accuracy (95% interval 4.0 to 6.0); "
            "a beats b by 3.0 points of accuracy (95% interval 2.0 to 4.0)"
        )

    def test_a_baseline_may_stand_first_in_its_comparisons(self):
        pairs = [("base", other, -0.03, p) for other, p in (("a", 0.001), ("b", 0.001), ("c", 0.5))]
        assert self.told(*pairs).headline == "2 of 3 methods beat base; 1 shows no clear difference"


class TestOneBaseline:
    """Of three methods that beat the same one, the largest lead is named, whichever sign it has."""

    @pytest.mark.parametrize("metric", ["accuracy", "error"])
    def test_the_largest_lead_is_that_of_the_best(self, metric):
        summary, sign = webkb_summary(), 1 if metric == "accuracy" else -1
        first = next(cell for cell in summary.cells if cell.id == "tf-l2-linear")
        others = [cell for cell in summary.cells if cell is not first][:3]
        pairs = [(cell.id, first.id, sign * gap) for cell, gap in zip(others, (0.02, 0.05, 0.03), strict=True)]
        differences = [(a, b, gap, gap - 0.01, gap + 0.01, 4199) for a, b, gap in pairs]
        tests = [(a, b, "sign", 90, 3.0, 0.001, 0.003, 3, "") for a, b, _ in pairs]
        found = main_finding(
            replace(
                summary,
                cells=tuple(replace(cell, method=cell.id) for cell in summary.cells),
                scores=summary.scores.replace({"metric": {"accuracy": metric}}),
                verdicts=summary.verdicts[:0],
                differences=summary_table(DIFFERENCES, differences),
                significance=summary_table(SIGNIFICANCE, tests),
            )
        )
        assert found.headline.startswith("3 of 3 methods beat tf-l2-linear")
        (lead,) = (text for text in found.details if "largest lead" in text)
        assert lead.startswith(f"The largest lead is that of {others[1].id}: 5.0 points of {metric}")


class TestWithoutComparisons:
    def test_nothing_is_called_best(self):
        found = main_finding(many_cells_summary())
        assert found.headline == "Accuracy of 30 methods: 50.00 to 90.00%"
        assert found.details == ("No comparison was planned, so nothing is tested.",)

    def test_where_all_failed_it_says_so(self):
        assert main_finding(all_failed_summary()).headline == "No score: 1 of 1 cells failed"


def test_the_question_counts_methods_and_settings():
    assert question_sentence(webkb_summary()) == (
        "10 methods (2 weightings, 2 normalizations, 3 kernels) were scored by accuracy."
    )
    sizes = tuple(
        replace(cell, size=size, method="m") for cell, size in zip(webkb_summary().cells, range(10), strict=True)
    )
    assert question_sentence(replace(webkb_summary(), cells=sizes)).endswith("by accuracy, in 10 training sizes.")


def test_a_comparison_is_for_one_of_its_cells_or_for_none():
    for pair in planned_comparisons(webkb_summary()):
        assert {pair.outcome_for(pair.a.id), pair.outcome_for(pair.b.id)} == {"better", "worse"}
        assert pair.better in (pair.a, pair.b)


def test_what_is_said_of_one_experiment_of_each_shape_is_as_expected():
    """The finding, the question, the caveats, the notes and the terms, as they were read."""
    parts = {}
    for name in (*QUICK, "tuned-20ng"):
        summary = summary_of(name)
        finding = main_finding(summary)
        terms = [f"{word}: {meaning}" for word, meaning in summary.terms]
        said = [finding.headline, *finding.details, question_sentence(summary)]
        parts[name] = "\n".join([*said, *summary.caveats, *summary.documents, *summary.notes, *summary.brief, *terms])
    assert_expected("said", parts.items())


def test_what_is_said_where_all_was_chosen_on_the_test_or_nothing_can_be_tested():
    webkb = webkb_summary()
    cells = tuple(replace(cell, choice="oracle") if cell.id == "tf-l1-ngd" else cell for cell in webkb.cells)
    chosen = main_finding(replace(webkb, cells=cells))
    assert "The parameters were chosen on the test documents, so the scores are optimistic." in chosen.details
    assert "optimistic" not in " ".join(main_finding(webkb).details)
    pairs = [(f"tf-l1-{kernel}", "tf-l2-linear") for kernel in ("ngd", "ned", "linear")]
    gaps = summary_table(DIFFERENCES, [(*pair, 0.02, 0.01, 0.03, 4199) for pair in pairs])
    note = "not testable (smallest p 0.5)"
    tests = summary_table(SIGNIFICANCE, [(*pair, "wilcoxon", 2, 0.0, np.nan, np.nan, 0, note) for pair in pairs])
    untested = main_finding(replace(webkb, differences=gaps, significance=tests))
    assert "No difference could be significant: smallest p 0.5." in untested.details


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
    tests = summary_table(SIGNIFICANCE, [(*pair, "sign", 9, 1.0, 0.001, p_holm, 2, note)])
    gaps = summary_table(DIFFERENCES, [(*pair, *gap, 4199)])
    for minimized, better in (
        (frozenset(), outcome),
        (frozenset({"accuracy"}), {"a": "b", "b": "a"}.get(outcome, outcome)),
    ):
        summary = replace(webkb_summary(), differences=gaps, significance=tests, minimized=minimized)
        (found,) = planned_comparisons(summary)
        assert (found.outcome, found.test, found.family, found.note) == (better, "sign", 2, note)
        assert found.n == 4199
        words = {"a": ("better", "worse"), "b": ("worse", "better")}.get(better, (better, better))
        assert tuple(map(found.outcome_for, pair)) == words
