"""Methods whose files or code are wrong are refused before the run, in one line with the line of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

MODELS = """
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

def make():
    return make_pipeline(CountVectorizer(), LinearSVC())

def broken():
    raise RuntimeError("no such weights")

def lazy():
    return CountVectorizer()
"""
CONFIG = """name: wrong
corpus: {{name: synthetic}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
metrics: [{metric}]
"""


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{name: p, pipeline: 'models.py:mak'}", "did you mean 'make'?"),
        ("{name: p, pipeline: 'nowhere.py:make'}", "no such file"),
        ("{name: p, pipeline: 'models.py:broken'}", "no such weights"),
        ("{name: p, pipeline: 'models.py:lazy'}", "a pipeline has fit and predict, and this has no predict"),
        ("{name: p, pipeline: sklearn.svm.LinearSVCC}", "did you mean 'LinearSVC'?"),
        ("{name: p, pipeline: [[1]]}", "must be a valid string"),
        ("{name: p, pipeline: {name: 'models.py:make', linearsvc__c: 1}}", "did you mean 'linearsvc__C'?"),
        ("{name: p, pipeline: {name: 'models.py:make', linearsvc__C: -1}}", "'C' parameter of LinearSVC must be"),
        ("{name: p, predictions: nowhere.csv}", "nowhere.csv: can't be read"),
        ("{predictions: theirs.csv}", "give this method a `name`"),
        ("{name: v, vectors: nowhere.parquet, classifier: logistic}", "nowhere.parquet: can't be read"),
        ("{name: v, vectors: {file: x.parquet, colum: e}, classifier: logistic}", "did you mean 'column'?"),
        ("{name: v, vectors: x.parquet, weighting: tf, classifier: mnb}", "weighting can't stand beside vectors"),
        ("ngd", "'ngd' lets pairs of classes vote: give it `scheme: one-vs-rest`"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(tmp_path: Path, entry: str, words: str) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "x.parquet").write_bytes(b"x")
    (tmp_path / "theirs.csv").write_text("id,label\n1,course\n")
    metric, line = ("micro-break-even", 5) if entry == "ngd" else ("accuracy", 4)
    (tmp_path / "wrong.yaml").write_text(CONFIG.format(entry=entry, metric=metric))
    with pytest.raises(ConfigError) as caught:
        load_checked(tmp_path / "wrong.yaml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"wrong.yaml:{line}" in str(caught.value)
