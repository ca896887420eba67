"""Fusion: the sum of standardized decision values, computed here by the machines themselves."""

import numpy as np
import pytest

from benchmark.config.cells import subset_experiment
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

CONFIG = """
name: fused
corpus: {{name: synthetic}}
text: {{stoplist: none}}
protocol: {{name: leave-one-group-out, held_out: [cornell, texas]}}
methods: [mnb, {{name: words, weighting: tf, normalization: l2, classifier: linear-svm}}, {entry}]
compare: [[both, words]]
"""


def checked(folder, entry):
    (folder / "fused.yaml").write_text(CONFIG.format(entry=entry))
    return load_checked(folder / "fused.yaml")


@pytest.mark.usefixtures("sketched")
def test_it_is_stored_reported_and_named(store, tmp_path):
    experiment = checked(tmp_path, "{fuse: [mnb, words], name: both}")
    done = run_and_write(experiment, RunContext(store), folder=tmp_path / "run")
    assert "mnb + words" in (tmp_path / "run" / "table.md").read_text()
    assert report_again(tmp_path / "run").summary.notes == done.summary.notes
    again = run_experiment(experiment, RunContext(store))
    assert {key.method for key in again.stored} == {"mnb", "words", "both"}
    other = run_experiment(checked(tmp_path, "{fuse: [mnb, words], weights: [1, 4], name: both}"), RunContext(store))
    assert {key.method for key in other.stored} == {"mnb", "words"}


def test_it_decides_the_same_without_the_cells_of_its_methods(tmp_path):
    """Each method reads its own text, even where no other cell does."""
    twin = "{name: pairs, text: {ngrams: [1, 2], min_occurrences: 30}, classifier: mnb}"
    experiment = checked(tmp_path, f"{twin}, {{fuse: [words, pairs], name: both}}")
    alone = subset_experiment(experiment, ["both"], ["both"])
    runs = [run_experiment(each, RunContext(Store(tmp_path / str(len(each.cells))))) for each in (experiment, alone)]
    one, other = (
        next(found.predicted for key, found in run.predictions.settings.items() if key.method == "both") for run in runs
    )
    np.testing.assert_array_equal(one, other)
    (text,) = runs[1].facts["base"]["texts"]
    assert text["ngrams"] == [1, 2]
