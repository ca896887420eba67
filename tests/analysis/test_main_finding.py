"""The headline of a run: its numbers are those of the files, and it says no more than they show."""

from __future__ import annotations

import functools
import re
import zlib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import yaml

from benchmark.analysis.comparisons import planned_comparisons
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.analysis.summary import summary_table
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from benchmark.experiment.configuration import load_checked
from benchmark.system.shipped_files import CONFIGS_FOLDER
from tests.builders import inner_counts, setting_of
from tests.report.rows import result, verdict, verdicts_of
from tests.report.rows import summary_of as summary_of_cells
from tests.report.summaries import webkb_summary

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


def check_against_files(summary):
    """Every number of the headline is one of a planned comparison, and what is better is so by test and interval."""
    headline = main_finding(summary).headline.partition(";")[0]
    pairs = planned_comparisons(summary)
    scores = {cell: row["value"] for (cell, metric), row in summary.headlines.items() if metric == summary.main_metric}
    if not pairs:
        ends = re.findall(r"\d+\.\d+", headline.rpartition(":")[2])[:2]
        assert {float(end) for end in ends} <= {float(f"{100 * value:.2f}") for value in scores.values()}
        return
    tests = summary.significance.set_index(["a", "b", "test"])
    for pair in pairs:
        assert pair.value == pytest.approx(scores[pair.a.id] - scores[pair.b.id], abs=1e-9)
        if pair.better is not None:
            assert tests.loc[(pair.a.id, pair.b.id, pair.test), "p_holm"] < 0.05
            assert not pair.low <= 0 <= pair.high
    counts = [int(n) for n in re.findall(r"(?: in |, no[a-z ]+ )(\d+)(?= of |,|$| \()", headline)]
    if of := re.search(r" of (\d+) comparisons", headline):
        assert sum(counts) == int(of[1]) <= len(pairs)
    for text in re.findall(r"([-+−][\d.]+) points of", headline):
        gaps = {round(100 * sign * pair.value, len(text.partition(".")[2])) for pair in pairs for sign in (1, -1)}
        assert float(text.replace("−", "-")) in gaps


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
        assert found.n == 4199
        words = {"a": ("better", "worse"), "b": ("worse", "better")}.get(better, (better, better))
        assert tuple(map(found.outcome_for, pair)) == words


PAIR = ("a", "b", 0.1, 0.09, 0.11, 120)
NOT_TESTABLE = "not testable (smallest p 0.125)"
NGD = {"columns": {"kernel": "ngd"}, "more": {"spoken": "the NGD kernel"}}


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
        ([PAIR], [result("a", "b")], {"columns": {"a": NGD}}, "The NGD kernel is better than b"),
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
    ],
)
def test_a_headline_says_what_the_comparisons_show_and_no_more(gaps, tests, changes, headline):
    assert headline in main_finding(summary_of_cells("abc", gaps=gaps, tests=tests, **changes)).headline
