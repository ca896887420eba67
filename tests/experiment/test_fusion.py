"""Fusion: the sum of standardized decision values, computed here by the machines themselves."""

import numpy as np
import pytest

from benchmark.classifiers import LinearSvm, MultinomialBayes
from benchmark.config.subset import subset_experiment
from benchmark.evaluation.protocols import KFold
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.methods.wrappers.out_of_fold import INNER_FOLDS
from benchmark.representation import TermWeighting

CONFIG = """
name: fused
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: leave-one-group-out, held_out: [cornell, texas]}}
methods: [mnb, {{name: words, weighting: tf, normalization: l2, classifier: linear-svm}}, {entry}]
compare: [[both, words]]
{more}
"""
BOTH = "{fuse: [mnb, words], name: both}"


@pytest.fixture
def checked(tmp_path):
    def check(entry=BOTH, subset="", more=""):
        path = tmp_path / "fused.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset, more=more))
        return load_checked(path)

    return check


def columns(values):
    return np.column_stack([-values, values]) if values.ndim == 1 else values


@pytest.mark.parametrize(
    ("entry", "weights", "scored"),
    [
        (BOTH, (1.0, 1.0), INNER_FOLDS),
        ("{fuse: [mnb, words], weights: [1, 4], name: both}", (1.0, 4.0), INNER_FOLDS),
        ("{fuse: [mnb, words], scale: hold-out, name: both}", (1.0, 1.0), 1),
    ],
)
def test_the_sum_is_of_centred_values_over_their_deviation_out_of_folds(checked, tmp_path, entry, weights, scored):
    run = run_experiment(checked(entry), RunContext(Store(tmp_path / "store")))
    counts, *_ = read_counts(checked().variants["base"].collection, RunContext(Store(tmp_path / "counted")))
    documents, labels = counts.documents, counts.documents.labels
    inputs = counts.matrix, TermWeighting(normalization="l2").fit_transform(counts.matrix)
    found = next(each for key, each in run.predictions.settings.items() if key.method == "both")
    for group, predicted in zip(("cornell", "texas"), found.by_split, strict=True):
        train = np.flatnonzero(documents.parts != documents.part_names.index(group))
        test = np.flatnonzero(documents.parts == documents.part_names.index(group))
        total = 0.0
        for X, make, weight in zip(inputs, (MultinomialBayes, LinearSvm), weights, strict=True):
            outside = np.full((len(train), 4), np.nan)
            folds = KFold(INNER_FOLDS, 0, stratified=True, keep_lone=True).splits(documents.take(train))
            for fold in folds[:scored]:
                rows, asked = train[fold.train], train[fold.test]
                outside[fold.test] = columns(make().fit(X[rows], labels[rows]).decision_function(X[asked]))
            values = columns(make().fit(X[train], labels[train]).decision_function(X[test]))
            scale = np.nanstd(outside - outside.mean(axis=1, keepdims=True))
            total = total + weight * (values - values.mean(axis=1, keepdims=True)) / scale
        np.testing.assert_array_equal(predicted, total.argmax(axis=1))


@pytest.mark.usefixtures("sketched")
def test_it_is_stored_reported_and_named(checked, tmp_path):
    store = Store(tmp_path / "store")
    done = run_and_write(checked(), RunContext(store), folder=tmp_path / "run")
    assert "mnb + words" in (tmp_path / "run" / "table.md").read_text()
    assert report_again(tmp_path / "run").summary.notes == done.summary.notes
    again = run_experiment(checked(), RunContext(store))
    assert {key.method for key in again.stored} == {"mnb", "words", "both"}
    other = run_experiment(checked("{fuse: [mnb, words], weights: [1, 4], name: both}"), RunContext(store))
    assert {key.method for key in other.stored} == {"mnb", "words"}


def test_it_decides_the_same_without_the_cells_of_its_methods(checked, tmp_path):
    """Each method reads its own text, even where no other cell does."""
    twin = "{name: pairs, text: {ngrams: [1, 2], min_occurrences: 30}, classifier: mnb}"
    experiment = checked(f"{twin}, {{fuse: [words, pairs], name: both}}")
    alone = subset_experiment(experiment, ["both"], ["both"])
    runs = [run_experiment(each, RunContext(Store(tmp_path / str(len(each.cells))))) for each in (experiment, alone)]
    one, other = (
        next(found.predicted for key, found in run.predictions.settings.items() if key.method == "both") for run in runs
    )
    np.testing.assert_array_equal(one, other)
    (text,) = runs[1].facts["base"]["texts"]
    assert text["ngrams"] == [1, 2]
