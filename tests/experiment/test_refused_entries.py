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


def load(folder: Path, entry: str, metric: str = "accuracy") -> None:
    (folder / "models.py").write_text(MODELS)
    (folder / "x.parquet").write_bytes(b"x")
    (folder / "theirs.csv").write_text("id,label\n1,course\n")
    (folder / "wrong.yaml").write_text(CONFIG.format(entry=entry, metric=metric))
    load_checked(folder / "wrong.yaml")


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
        (
            "{name: v, vectors: x.parquet, weighting: tf, classifier: logistic}",
            "weighting can't stand beside vectors",
        ),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(tmp_path: Path, entry: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, entry)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "wrong.yaml:4" in str(caught.value)


def test_votes_are_refused_where_a_metric_ranks(tmp_path: Path) -> None:
    words = "'ngd' lets pairs of classes vote: give it `scheme: one-vs-rest`"
    with pytest.raises(ConfigError, match=rf"wrong\.yaml:5: 'micro-break-even' ranks .*{words}"):
        load(tmp_path, "ngd", "micro-break-even")
