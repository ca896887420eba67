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

from benchmark.analysis.comparisons import LIBERAL_TEST, planned_comparisons
from benchmark.analysis.prose.main_finding import main_finding, question_sentence
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import DIFFERENCES, SCORE_COLUMNS, SIGNIFICANCE, summary_table
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from benchmark.experiment.run import load_checked
from benchmark.report.tables import frame_csv
from benchmark.system.shipped_files import CONFIGS_FOLDER
from tests.builders import inner_counts, setting_of
from tests.report.expected_texts import assert_expected
from tests.report.summaries import all_failed_summary, many_cells_summary, webkb_summary
from tests.trials.limits import some

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
    scores = as_file(summary.scores, SCORE_COLUMNS)
    scores = scores[(scores["fold"] == "all") & (scores["metric"] == metric)].set_index("cell")["value"]
    gaps = as_file(summary.differences, DIFFERENCES)
    if not len(gaps):
        check_range(summary, headline, scores)
        return
    tests = as_file(summary.significance, SIGNIFICANCE)
    tests = tests[tests["test"] != LIBERAL_TEST]
    able = tests[tests["p_value"].notna() & tests["note"].isna()]
    tests = tests[tests["test"] == (able if len(able) else tests)["test"].iloc[0]]
    gaps = gaps.merge(tests, on=["a", "b"], how="left")
    gaps["gap"] = gaps["a"].map(scores) - gaps["b"].map(scores)
    whole = gaps["gap"].notna()
    assert gaps.loc[whole, "value"].to_numpy() == pytest.approx(gaps.loc[whole, "gap"].to_numpy(), abs=1e-9)
    sure = (gaps["p_holm"] < 0.05) & gaps["note"].isna() & ((gaps["low"] > 0) | (gaps["high"] < 0))
    better = 1 if metric != "error" else -1
    gaps["a_wins"], gaps["b_wins"] = sure & (better * gaps["gap"] > 0), sure & (better * gaps["gap"] < 0)
    cells = {cell.id: cell for cell in summary.cells}
    chosen = [cells[a].of_class in ("", "all") and cells[a].columns.get("what", "point") == "point" for a in gaps["a"]]
    own = gaps[chosen]
    honest = own[[cells[a].choice != "oracle" for a in own["a"]]]
    check_counts(headline, honest if len(honest) else own, cells)


def check_range(summary, headline, scores):
    told = [number for number in numbers_in(headline.rpartition(":")[2]) if "." in headline]
    percent = [float(f"{100 * value:.2f}") for value in scores]
    assert set(told[:2]) <= set(percent), headline
    if len({cell.size for cell in summary.cells}) == 1:
        assert sorted(told) == sorted({min(percent), max(percent)})


def check_counts(headline, own, cells):
    methods = [(cells[a].method, cells[b].method) for a, b in zip(own["a"], own["b"], strict=True)]
    if len({b for _, b in methods}) == 1 and len({a for a, _ in methods}) >= 3:
        rest = headline.partition(";")[2]
        n = len({a for a, _ in methods})
        if headline.startswith("None of"):
            assert numbers_in(headline)[0] == n
            assert not own["a_wins"].any()
            assert not own["b_wins"].any()
        elif n == len(own):
            assert numbers_in(headline)[:2] == [own["a_wins"].sum(), n]
            assert sum(numbers_in(rest)) == n - own["a_wins"].sum()
            assert f"{own['b_wins'].sum()} " in rest or not own["b_wins"].any()
        return
    own = own[[each == methods[0] for each in methods]]
    won = {"a": own[own["a_wins"]], "b": own[own["b_wins"]]}
    sizes = max(won.values(), key=len)["gap"].abs() if " beats " in headline else own["gap"]
    told = re.search(r"([-+]?[\d.]+)(?: to ([-+]?[\d.]+))? points of", headline)
    ends = [float(each) for each in told.groups() if each]
    decimals = len(told[1].partition(".")[2])
    assert {ends[0], ends[-1]} == {round(100 * end, decimals) + 0.0 for end in (sizes.min(), sizes.max())}
    if len(own) == 1:
        low, high = own[["low", "high"]].iloc[0]
        interval = numbers_in(re.search(r"95% interval (.*?)\)", headline)[1].replace(" to ", " , "))
        found = sorted(abs(100 * end) for end in (low, high)) if " beats " in headline else [100 * low, 100 * high]
        assert interval == pytest.approx(found, abs=0.051)
        assert (" beats " in headline) == (len(won["a"]) + len(won["b"]) == 1)
    else:
        assert ("not shown to differ" in headline) == (not len(won["a"]) and not len(won["b"]))
        if " beats " in headline:
            n, total = map(int, re.search(r"(?:in|at) (\d+) of (\d+) ", headline).groups())
            assert (n, total) == (max(map(len, won.values())), len(own))


@pytest.mark.parametrize("name", QUICK)
def test_the_numbers_of_a_headline_are_those_of_the_files(name):
    check_against_files(summary_of(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", some(sorted(set(CONFIGURATIONS) - set(QUICK)), 9))
def test_the_numbers_of_every_headline_are_those_of_the_files(name):
    check_against_files(summary_of(name))


class TestOnePair:
    PAIR = ("tf-l1-ngd", "tf-l2-linear")

    def told(self, gap, p_holm, note="", **changes):
        low, high = (gap - 0.01, gap + 0.01)
        p_value = None if note else p_holm / 2
        tests = [(*self.PAIR, "sign", 90, 3.0, p_value, p_holm, 2, note)]
        changes |= {"differences": summary_table(DIFFERENCES, [(*self.PAIR, gap, low, high, 4199)])}
        return main_finding(replace(webkb_summary(), **{"significance": summary_table(SIGNIFICANCE, tests), **changes}))

    def test_beats_only_where_the_test_shows_it(self):
        assert " beats " in self.told(0.03, 0.01).headline
        assert "are not shown to differ" in self.told(0.03, 0.06).headline
        assert "are not shown to differ" in self.told(0.005, 0.01).headline  # the interval has zero in it
        assert "too few splits to test it" in self.told(0.03, None, "not testable (smallest p 0.125)").headline

    def test_a_test_whose_p_is_too_small_decides_nothing(self):
        """Its pairs share test documents, so that it tells two apart where the test over replicates can't."""
        tests = [
            (*self.PAIR, "wilcoxon", 4, 0.0, None, None, 0, "not testable (smallest p 0.125)"),
            (*self.PAIR, LIBERAL_TEST, 90, 3.0, 0.001, 0.001, 1, ""),
        ]
        found = self.told(0.03, 0.01, significance=summary_table(SIGNIFICANCE, tests))
        assert "too few splits to test it" in found.headline
        assert " beats " not in found.headline

    def test_names_the_better_one_first(self):
        assert self.told(-0.03, 0.01).headline.startswith("The linear kernel beats the NGD kernel by 3.0 points")
        assert "(95% interval 2.0 to 4.0)" in self.told(-0.03, 0.01).headline

    def test_less_may_be_better(self):
        scores = webkb_summary().scores.replace({"metric": {"accuracy": "error"}})
        found = self.told(-0.03, 0.01, scores=scores, verdicts=webkb_summary().verdicts[:0])
        assert found.headline.startswith("The NGD kernel beats the linear kernel by 3.0 points of error")
        assert "Less error is better." in found.details
        of_a_plugin = scores.replace({"metric": {"error": "cost"}})
        more = self.told(-0.03, 0.01, scores=of_a_plugin, minimized=frozenset({"cost"}))
        assert more.headline.startswith("The NGD kernel beats")

    def test_the_papers_difference_is_that_of_its_values_at_its_settings(self):
        (told,) = (text for text in self.told(0.03, 0.01).details if "paper" in text)
        assert told == "The paper reported +2.36 (91.88 − 89.52)."
        as_fractions = webkb_summary().verdicts
        as_fractions["published"] = [str(Decimal(text) / 100) for text in as_fractions["published"]]
        for name in ("value", "low", "high", "between_low", "between_high", "widest"):
            as_fractions[name] = as_fractions[name] / 100
        as_fractions["unit"] = "one"
        assert told in self.told(0.03, 0.01, verdicts=as_fractions).details
        for verdict in ("another setting", "tuned", "reference value"):
            other = webkb_summary().verdicts.assign(verdict=verdict)
            assert "paper" not in " ".join(self.told(0.03, 0.01, verdicts=other).details)
        of_another_reading = webkb_summary().verdicts.assign(reading="another", published="50.00")
        both = pd.concat([webkb_summary().verdicts, of_another_reading], ignore_index=True)
        assert told in self.told(0.03, 0.01, verdicts=both).details

    def test_a_tenth_of_a_point_is_the_least_that_is_written_with_one_decimal(self):
        # The interval goes from 0.04 to 2.04 points: with one decimal its end would be 0.0, as if it had zero in it.
        assert "by 1.0 points of accuracy (95% interval 0.04 to 2.04)" in self.told(0.0104, 0.01).headline


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
        assert found.headline == "Accuracy of 30 methods: 50.00 to 90.00 %"
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
        said = [finding.headline, *finding.details, finding.baseline, question_sentence(summary)]
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
