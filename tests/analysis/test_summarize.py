"""A summary is computed from the predictions alone, and shows them truly."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from benchmark.analysis.summarize import summarize
from benchmark.config.model import ComparedPair
from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from benchmark.experiment.runner import RunPredictions
from tests.builders import setting_of, small_experiment

FACTS = {"documents": 90, "vocabulary": 7, "documents_without_words": 0}
CLASSES = ("course", "faculty", "project", "student")
CELLS = ("tf-l1-linear", "tf-l1-ngd", "tfidf-l1-linear", "tfidf-l1-ngd")
#: How many of its 60 and 30 documents each cell gets right.
RIGHT = dict(zip(CELLS, [(20, 18), (57, 27), (30, 15), (45, 21)], strict=True))


def made_up(experiment, failures=None, facts=FACTS, documents=(60, 30), fewer=()):
    """A run with the numbers of `RIGHT`, over folds of different size; the variants `fewer` lack a document."""
    tasks, splits, points = {}, {}, {}
    names = ("cornell", "texas")[: len(documents)]
    ids = [f"{fold}/{number}" for fold, n in zip(names, documents, strict=True) for number in range(n)]
    numbers = [number for n in documents for number in range(n)]
    starts = np.cumsum((0, *documents))
    for variant in experiment.variants:
        key, first = TaskKey(variant, ""), int(variant in fewer)
        tasks[key] = TaskDocuments(tuple(ids[first:]), CLASSES, np.array(numbers[first:], dtype=np.int32) % 4)
        tests = [np.arange(max(a, first), b) - first for a, b in pairwise(starts)]
        splits[SplitKey(*key, None)] = tuple(
            TestedSplit(name, test, np.ones(4, dtype=np.int64)) for name, test in zip(names, tests, strict=True)
        )
    for cell in experiment.cells:
        if cell.id in (failures or {}):
            continue
        given, tied = [], []
        for fold, (n, right) in enumerate(zip(documents, RIGHT[cell.method], strict=False)):
            number = np.arange(n)[int(cell.variant in fewer and not fold) :]
            # Spread, so that cells are right on different documents.
            wrong = (number * 7 + len(cell.id)) % n >= right
            given.append(np.where(wrong, (number + 1) % 4, number % 4).astype(np.int32))
            tied.append(number < 3)
        points[SettingKey(cell.variant, "", cell.method, 0, None, None)] = setting_of(given, tied)
    return RunPredictions(
        experiment, Predictions(tasks, splits, points), failures or {}, dict.fromkeys(experiment.variants, facts)
    )


def table(run):
    """One row a cell, fold and document: what is true, and what was predicted."""
    rows = []
    for (variant, task, method, *_), point in run.predictions.settings.items():
        truth, classes = run.predictions.tasks[variant, task].truth, np.array(CLASSES)
        for split, given in zip(run.predictions.splits[variant, task, None], point.by_split, strict=True):
            rows += [
                (method, split.name, t, p) for t, p in zip(classes[truth[split.test]], classes[given], strict=True)
            ]
    return pd.DataFrame(rows, columns=["cell", "fold", "truth", "predicted"])


def score(summary, cell, fold="all", metric="accuracy"):
    scores = summary.scores
    rows = scores[(scores["cell"] == cell) & (scores["fold"] == fold) & (scores["metric"] == metric)]
    assert len(rows) == 1
    return rows.iloc[0]


class TestScores:
    @pytest.fixture(scope="class")
    @staticmethod
    def results():
        return made_up(small_experiment())

    @pytest.fixture(scope="class")
    @staticmethod
    def summary(results):
        return summarize(results)

    def test_every_metric_against_scikit_learn(self, summary, results):
        predicted = table(results)
        metrics = {
            "accuracy": accuracy_score,
            "micro-f1": lambda t, p: f1_score(t, p, average="micro"),
            "macro-f1": lambda t, p: f1_score(t, p, average="macro", labels=CLASSES, zero_division=0),
        }
        for cell in CELLS:
            for metric, oracle in metrics.items():
                values = []
                for fold in ("cornell", "texas"):
                    rows = predicted[(predicted["cell"] == cell) & (predicted["fold"] == fold)]
                    values.append(oracle(rows["truth"], rows["predicted"]))
                    assert score(summary, cell, fold, metric)["value"] == pytest.approx(values[-1])
                own = predicted[(predicted["cell"] == cell) & predicted["fold"].isin(["cornell", "texas"])]
                whole = oracle(own["truth"], own["predicted"]) if metric == "macro-f1" else np.mean(values)
                assert score(summary, cell, "all", metric)["value"] == pytest.approx(whole)

    def test_confusions_are_the_counts(self, summary, results):
        predicted = table(results)
        for cell in CELLS:
            rows = predicted[predicted["cell"] == cell]
            expected = confusion_matrix(rows["truth"], rows["predicted"], labels=CLASSES)
            found = np.zeros((4, 4), dtype=int)
            own = summary.confusions[summary.confusions["cell"] == cell]
            for row in own.itertuples():
                found[CLASSES.index(row.truth), CLASSES.index(row.predicted)] = row.n
            np.testing.assert_array_equal(found, expected)


class TestComparisons:
    PAIRS = (("tf-l1-ngd", "tf-l1-linear"), ("tfidf-l1-ngd", "tf-l1-ngd"))

    @pytest.fixture(scope="class")
    @staticmethod
    def results():
        return made_up(small_experiment(compare=[list(pair) for pair in TestComparisons.PAIRS]))

    @pytest.mark.parametrize("families", [("", ""), ("one", "two")])
    def test_are_corrected_within_their_family_alone(self, results, families):
        pairs = tuple(ComparedPair(*pair, family) for pair, family in zip(self.PAIRS, families, strict=True))
        tests = summarize(replace(results, experiment=replace(results.experiment, compare=pairs))).significance
        signs = tests[tests["test"] == "sign"]
        least, size = signs["p_value"].min(), 2 // len(set(families))
        assert signs["family"].tolist() == [size] * 2
        assert signs["p_holm"].min() == pytest.approx(size * least)
