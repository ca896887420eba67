"""Predictions that were made elsewhere: those of a run, written to a file, have the scores and tests of the run."""

import numpy as np
import pandas as pd
import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

CONFIG = """
name: elsewhere
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
methods: [mnb, ngd{more}]
compare: [[mnb, ngd]]
"""
GIVEN = ", {predictions: theirs.csv, name: a large model}]\ncompare: [[mnb, ngd], [a-large-model, ngd]"
PROTOCOLS = {
    "leave-one-group-out": ("leave-one-group-out", "", ["id", "label"]),
    "several labels": ("k-fold, k: 2, stratified: false", ", subset: several", ["id", "labels"]),
    "replicates": ("random-subsets, train_size: [40, 80], replicates: 2", "", ["id", "label", "split", "size"]),
}


@pytest.fixture
def run(tmp_path):
    def run_it(kind, more=""):
        protocol, subset, _ = PROTOCOLS[kind]
        path = tmp_path / "elsewhere.yaml"
        text = CONFIG.format(protocol=protocol, subset=subset, more="]" if more else "")
        path.write_text(text.replace("]]\ncompare: [[mnb, ngd]", f"{more}") if more else text)
        return load_checked(path)

    return run_it


@pytest.fixture
def written(run, tmp_path):
    """Write the predictions of multinomial naive Bayes as a file, and return the run and the frame."""

    def write(kind):
        done = run_experiment(run(kind), RunContext(Store(tmp_path / "store")))
        rows = []
        for key, setting in done.predictions.settings.items():
            if key.method == "mnb":
                documents = done.predictions.tasks[key.of_task]
                splits = done.predictions.splits[key.of_splits]
                for split, predicted in zip(splits, setting.by_split, strict=True):
                    for row, own in zip(split.test, predicted, strict=True):
                        names = np.array(documents.classes)[own]
                        label = names if setting.predicted.ndim == 1 else ";".join(names)
                        rows.append((documents.ids[row], label, split.name, split.trained.sum()))
        frame = pd.DataFrame(rows, columns=["id", PROTOCOLS[kind][2][1], "split", "size"])[PROTOCOLS[kind][2]]
        frame.to_csv(tmp_path / "theirs.csv", index=False)
        return done, frame

    return write


@pytest.mark.parametrize("kind", PROTOCOLS)
@pytest.mark.usefixtures("sketched")
def test_they_are_scored_and_tested_as_the_same_predictions_of_a_run(run, written, tmp_path, kind):
    written(kind)
    done = run_and_write(run(kind, GIVEN), RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
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
