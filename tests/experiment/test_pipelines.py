"""Pipelines on raw texts: they predict as they do when they are used on the texts by hand."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmark.classifiers.gzip_neighbours import GzipNeighbours
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
CONFIG = """
name: pipelines
corpus: {{name: synthetic{subset}}}
text: {{stoplist: {stoplist}{rules}}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
{more}
"""
MODELS = """
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def weighted():
    weights = {"course": 1, "faculty": 0.01, "project": 30, "student": 2}
    return make_pipeline(CountVectorizer(), LogisticRegression(C=1e-4, class_weight=weights))


def make():
    return make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0))


def forest(trees=5):
    return make_pipeline(CountVectorizer(), RandomForestClassifier(trees))


class First:
    def fit(self, texts, labels):
        assert isinstance(texts, list) and all(isinstance(each, str) for each in texts)
        self.first = labels[0]
        return self

    def predict(self, texts):
        return [self.first] * len(texts)


def words():
    return make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0))


make.stored = First.stored = True
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "models.py").write_text(MODELS)

    def check(entry, subset="", stoplist="none", rules="", more=""):
        path = tmp_path / "pipelines.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset, stoplist=stoplist, rules=rules, more=more))
        return load_checked(path)

    return check


def strings_of(corpus):
    """Documents as strings: those that aren't valid UTF-8 are latin-1."""

    def string(document):
        try:
            return document.decode()
        except UnicodeDecodeError:
            return document.decode("latin-1")

    return np.array([string(each) for each in corpus], dtype=object)


@pytest.fixture
def by_hand(checked):
    """Train and test rows, labels, and the documents as strings."""
    reader = checked("ngd").variants["base"].collection.reader
    corpus = reader.load(reader.locate(download=False, notify=print))
    texts = strings_of(corpus)
    tested = corpus.documents.parts == corpus.documents.part_names.index("cornell")
    return texts[~tested], corpus.documents.labels[~tested], texts[tested]


def predictions_of(run, method):
    return next(each for key, each in run.predictions.settings.items() if key.method == method).predicted


#: Pipelines as a configuration writes them, and by hand.
PIPELINES = {
    "'models.py:make'": make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0)),
    "{name: 'models.py:make', linearsvc__C: 0.1, tfidfvectorizer__ngram_range: [1, 2]}": make_pipeline(
        TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC(C=0.1, random_state=0)
    ),
    "{name: 'models.py:forest', trees: 3, randomforestclassifier__max_depth: 5}": make_pipeline(
        CountVectorizer(), RandomForestClassifier(3, max_depth=5, random_state=0)
    ),
    "'models.py:weighted'": make_pipeline(  # labels are numbers here, and names there
        CountVectorizer(), LogisticRegression(C=1e-4, class_weight={0: 1, 1: 0.01, 2: 30, 3: 2})
    ),
    "{name: benchmark.classifiers.gzip_neighbours.GzipNeighbours, ties: printed}": GzipNeighbours(ties="printed"),
}


def test_they_predict_as_by_hand(checked, by_hand, tmp_path):
    entries = (f"{{name: p{number}, pipeline: {entry}}}" for number, entry in enumerate(PIPELINES))
    run = run_experiment(checked(", ".join(entries)), RunContext(Store(tmp_path / "store")))
    train, labels, test = by_hand
    assert not run.failures
    for number, estimator in enumerate(PIPELINES.values()):
        expected = estimator.fit(list(train), labels).predict(list(test))
        np.testing.assert_array_equal(predictions_of(run, f"p{number}"), expected)


def test_candidates_are_chosen_by_parameters_of_steps(checked, by_hand, tmp_path):
    entry = "{name: p, pipeline: {name: 'models.py:words', linearsvc__C: [1.0e-5, 1]}}"
    experiment = checked(entry, more="choose: {by: cross-validation, folds: 3}")
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    assert "p-cv selected linearsvc__C 1 (cornell)." in done.summary.notes
    again = report_again(tmp_path / "run")
    assert again.summary.notes == done.summary.notes


def test_only_the_rules_for_header_and_html_decide_its_results(checked, tmp_path):
    context = RunContext(Store(tmp_path / "store"))
    for stoplist, rules, stored in (("none", "", 0), ("smart", "", 1), ("smart", ", skip_html: true", 0)):
        experiment = checked("{name: p, pipeline: 'models.py:First'}", stoplist=stoplist, rules=rules)
        run = run_experiment(experiment, context)
        assert sum(key.method == "p" for key in run.stored) == stored
