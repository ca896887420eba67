"""Predictions that were made elsewhere: those of a run, written to a file, have the scores and tests of the run."""

import numpy as np
import pandas as pd
import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment

CONFIG = """
name: elsewhere
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
methods: [mnb, {{name: words, classifier: linear-svm}}{more}]
compare: [[mnb, words]{pairs}]
metrics: [macro-f1, macro-average-precision]
"""
PROTOCOLS = {
    "leave-one-group-out": ("leave-one-group-out", "", ["id", "label"]),
    "several labels": ("k-fold, k: 2, stratified: false", ", subset: several", ["id", "labels"]),
    "replicates": ("random-subsets, train_size: [40, 80], replicates: 2", "", ["id", "label", "split", "size"]),
}


def configured(folder, kind, more="", pairs=""):
    protocol, subset, _ = PROTOCOLS[kind]
    path = folder / "elsewhere.yaml"
    path.write_text(CONFIG.format(protocol=protocol, subset=subset, more=more, pairs=pairs))
    return load_checked(path)


def write_predictions(run, columns, path):
    """Write the predictions of multinomial naive Bayes, with its decision values, as a file."""
    rows = []
    for key, setting in run.predictions.settings.items():
        if key.method == "mnb":
            documents, splits = run.predictions.tasks[key.of_task], run.predictions.splits[key.of_splits]
            classes, names = sorted(documents.classes, reverse=True), np.array(documents.classes)
            tested = [(row, split) for split in splits for row in split.test]
            for (row, split), own, values in zip(tested, setting.predicted, setting.values, strict=True):
                label = ";".join(names[own]) if documents.multilabel else names[own]
                place = {"id": documents.ids[row], columns[1]: label, "split": split.name, "size": split.trained.sum()}
                scores = {f"decision {name}": repr(float(values[documents.classes.index(name)])) for name in classes}
                rows.append({name: place[name] for name in columns} | scores)
    pd.DataFrame(rows).to_csv(path, index=False)


@pytest.mark.parametrize("kind", PROTOCOLS)
@pytest.mark.usefixtures("sketched")
def test_they_are_scored_ranked_and_tested_as_the_same_predictions_of_a_run(store, tmp_path, kind):
    first = run_experiment(configured(tmp_path, kind), RunContext(store))
    write_predictions(first, PROTOCOLS[kind][2], tmp_path / "theirs.csv")
    given = configured(tmp_path, kind, ", {predictions: theirs.csv, name: a large model}", ", [a-large-model, words]")
    done = run_and_write(given, RunContext(store), folder=tmp_path / "run")
    assert not done.results.failures
    scores = pd.read_csv(tmp_path / "run" / "scores.csv")
    own, theirs = (scores[scores["cell"].str.startswith(name)] for name in ("mnb", "a-large-model"))
    np.testing.assert_array_equal(own["value"].to_numpy(), theirs["value"].to_numpy())
    significance = pd.read_csv(tmp_path / "run" / "significance.csv")
    tested = (significance[significance["a"].str.startswith(name)] for name in ("mnb", "a-large-model"))
    np.testing.assert_array_equal(*(each["p_value"].to_numpy() for each in tested))
    told = "Predictions of a-large-model were made elsewhere, perhaps with sight of the tested documents."
    assert told in done.summary.caveats
    assert told in (tmp_path / "run" / "table.md").read_text()
    (tmp_path / "theirs.csv").unlink()
    again = report_again(tmp_path / "run")  # without the file
    assert (again.summary.notes, again.summary.caveats) == (done.summary.notes, done.summary.caveats)
