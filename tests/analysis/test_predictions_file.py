"""The files of predictions: back to what they were, the same bytes for the same, what pandas reads, and damage seen."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from benchmark.analysis.predictions_file import (
    decode_estimates,
    decode_predictions,
    encode_estimates,
    encode_predictions,
)
from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.outcomes import Estimate
from benchmark.evaluation.predictions import (
    DIAGNOSTICS_ARRAYS,
    DOCUMENTS_TABLE,
    PREDICTIONS_TABLE,
    SETTINGS_TABLE,
    SPLITS_TABLE,
    TIMINGS_TABLE,
    Predictions,
    SettingKey,
    SplitKey,
    TaskDocuments,
    TaskKey,
    TestedSplit,
)
from tests.builders import setting_of

#: Those that are made of predictions alone.
FILES = [PREDICTIONS_TABLE, DOCUMENTS_TABLE, SPLITS_TABLE, SETTINGS_TABLE, DIAGNOSTICS_ARRAYS, TIMINGS_TABLE]

NASTY = ["course/http:^^y^\r", "a,b", 'say "this"', "two\nlines", "caf\xe9", " blank ", "NA", "1", "\r\n", "#x", "'"]


def made(*, multilabel=False, k=3, n=20, seed=0, variants=("base", "other"), sizes=(5, 10), ranked=False):
    """Two variants with two sizes of three splits each; of the second variant, one setting failed.

    Where `multilabel` is None, the documents of the second variant alone may have several classes. If `ranked`, some
    settings have decision values.
    """
    rng = np.random.default_rng(seed)
    tasks, splits, found = {}, {}, {}
    for variant in variants:
        many = variant == "other" if multilabel is None else multilabel
        task = TaskKey(variant, "a-b")
        truth = rng.random((n, k)) < 0.5 if many else rng.integers(k, size=n).astype(np.int32)
        ids = tuple(f"{variant}/ü-{row}\r" for row in range(n))
        tasks[task] = TaskDocuments(ids, tuple(f"class; {c}" for c in range(k)), truth)
        for size in sizes:
            tests = [np.sort(rng.choice(n, 7 + draw, replace=False)) for draw in range(3)]
            splits[SplitKey(*task, size)] = tuple(
                TestedSplit(f"=replicate,\r-{i}", test, rng.integers(9, size=k)) for i, test in enumerate(tests)
            )
            for index, terms in product((0, 1), (None, 100)):
                if (variant, size, index) != ("other", 10, 1):
                    shapes = [(len(test), k) if many else len(test) for test in tests]
                    labels = [rng.random(s) < 0.5 if many else rng.integers(k, size=s) for s in shapes]
                    taken = {"seconds": rng.random((3, 6)).round(6), "memory": np.array([1e9, np.nan, 3.0])}
                    found[SettingKey(*task, "ngd", index, size, terms)] = setting_of(
                        labels,
                        [rng.random(s) < 0.1 for s in shapes],
                        **taken,
                        inner=rng.integers(99, size=(3, 3 * k + 1)) if index else (),
                    )
                    if ranked and (index, terms) in ((0, 100), (1, None)):
                        values = rng.normal(size=(sum(map(len, tests)), k))
                        found[SettingKey(*task, "ngd", index, size, terms)] = replace(
                            found[SettingKey(*task, "ngd", index, size, terms)], values=values
                        )
    measured = {("distances", "base"): {"x/y": rng.random((2, 3)), "names": np.frombuffer(b"a\0b", dtype=np.uint8)}}
    return Predictions(tasks, splits, found, measured)


def same(one, two):
    assert list(one.tasks) == list(two.tasks)
    assert list(one.splits) == list(two.splits)
    assert list(one.settings) == list(two.settings)
    for key, task in one.tasks.items():
        assert (task.ids, task.classes) == (two.tasks[key].ids, two.tasks[key].classes)
        np.testing.assert_array_equal(task.truth, two.tasks[key].truth, strict=True)
    for key, splits in one.splits.items():
        for a, b in zip(splits, two.splits[key], strict=True):
            assert a.name == b.name
            np.testing.assert_array_equal(a.test, b.test)
            np.testing.assert_array_equal(a.trained, b.trained)
    for key, setting in one.settings.items():
        assert setting.sizes == two.settings[key].sizes
        for part in ("predicted", "tied", "inner", "seconds", "memory", "values"):
            np.testing.assert_array_equal(getattr(setting, part), getattr(two.settings[key], part), strict=True)
    for key, arrays in one.diagnostics.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, two.diagnostics[key][name], strict=True)


KINDS = [(False, 2), (False, 3), (False, 300), (True, 3), (True, 11), (None, 3)]


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize(("multilabel", "k"), KINDS)
def test_gives_back_what_it_was_given(multilabel, k, ranked):
    predictions = made(multilabel=multilabel, k=k, ranked=ranked)
    contents = encode_predictions(predictions)
    back = decode_predictions(contents)
    same(predictions, back)
    assert encode_predictions(back) == contents


def test_names_that_other_formats_stumble_over_warnings_and_missing_values_come_back():
    predictions = made(ranked=True)
    (key, *_), settings = predictions.settings, dict(predictions.settings)
    settings[key] = replace(settings[key], warnings=("one", "two"), values=None)
    task = replace(predictions.tasks[key.of_task], ids=(*NASTY, *map(str, range(10, 19))))
    changed_ = replace(predictions, tasks={**predictions.tasks, key.of_task: task}, settings=settings)
    again = decode_predictions(encode_predictions(changed_))
    same(changed_, again)
    assert again.settings[key].warnings == ("one", "two")
    leaks = {"near-duplicates": np.array([3], np.intp), "shared groups": np.empty(0, np.intp)}
    own = (replace(changed_.splits[key.of_splits][0], leaks=leaks), *changed_.splits[key.of_splits][1:])
    known = replace(changed_, splits={**changed_.splits, key.of_splits: own})
    first, second, _ = decode_predictions(encode_predictions(known)).splits[key.of_splits]
    assert {name: rows.tolist() for name, rows in first.leaks.items()} == {"near-duplicates": [3], "shared groups": []}
    assert second.leaks == {}


def written(classes, documents):
    return ";".join(name.replace(";", r"\;") for name in classes) if documents.multilabel else classes[0]


@pytest.mark.parametrize(("multilabel", "k"), KINDS)
def test_pandas_reads_each_prediction_by_its_names(multilabel, k):
    """Every row, found by the names that stand in it, is what was predicted; and there are as many of either."""
    predictions = made(multilabel=multilabel, k=k)
    frame = pd.read_parquet(io.BytesIO(encode_predictions(predictions)[PREDICTIONS_TABLE]))
    names = "document split variant task cell candidate size terms label predicted tied"
    assert list(frame) == names.split()
    assert len(frame) == sum(len(each.predicted) for each in predictions.settings.values())
    rows = {
        (row.variant, row.task, row.cell, row.candidate, row.size, row.terms, row.split, row.document): row
        for row in frame.astype({"size": "Int64", "terms": "Int64"}).replace({pd.NA: None}).itertuples(index=False)
    }
    for key, setting in predictions.settings.items():
        documents, splits = predictions.tasks[key.of_task], predictions.splits[key.of_splits]

        def classes(label, own=documents):
            codes = np.flatnonzero(label) if own.multilabel else [label]
            return [own.classes[code] for code in codes]

        for split, labels, ties in zip(
            splits, setting.by_split, np.split(setting.tied, setting.bounds[1:-1]), strict=True
        ):
            for document, label, tie in zip(split.test, labels, ties, strict=True):
                row = rows[*key, split.name, documents.ids[document]]
                found = [written(classes(each), documents) for each in (documents.truth[document], label)]
                assert [row.label, row.predicted] == found
                if documents.multilabel:
                    assert row.tied == written(classes(tie), documents)
                else:
                    assert bool(row.tied) == tie


def test_nothing_but_the_timings_depends_on_times():
    predictions = made()
    later = {
        key: replace(each, seconds=each.seconds + 1, memory=each.memory * 2)
        for key, each in predictions.settings.items()
    }
    one, other = map(encode_predictions, (predictions, replace(predictions, settings=later)))
    assert {name for name in FILES if one[name] != other[name]} == {TIMINGS_TABLE}


def test_recorded_numbers_come_back():
    estimates = {
        "a": {
            ("own", "all", ""): Estimate(0.5, 0.4, 0.6, 60, "bootstrap"),
            ("own", "texas", "b"): Estimate(0.1, 0.0, 0.2, 9, "t"),
        },
        "b": {("own", "all", ""): Estimate(0.25, np.nan, np.nan, 60, "single replicate")},
    }
    rows = (DiagnosticRow("a", "length", Estimate(12.5, 12.5, 12.5, 3, "count")),)
    points = (CurvePoint("steps", 2.0, "mean", "earn", "skl", 0.75),)
    measured = (
        ("lengths", "base", DiagnosticNumbers(rows, points)),
        ("lengths", "other", DiagnosticNumbers(rows[:0], points)),
    )
    rows_of = ((cell, *key, each) for cell, known in estimates.items() for key, each in known.items())
    again = decode_estimates(encode_estimates(rows_of, measured))
    assert str(again[0]) == str(estimates)
    assert again[1] == measured
