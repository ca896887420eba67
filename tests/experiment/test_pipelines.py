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
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

pytestmark = pytest.mark.usefixtures("users_code_here")
CONFIG = """
name: pipelines
corpus: {{name: synthetic{subset}}}
text: {{stoplist: {stoplist}{rules}}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
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


make.stored = First.stored = True
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "models.py").write_text(MODELS)

    def check(entry, subset="", stoplist="none", rules=""):
        path = tmp_path / "pipelines.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset, stoplist=stoplist, rules=rules))
        return load_checked(path)

    return check


def string_of(document):
    """The text of a document: latin-1 if it isn't valid UTF-8."""
    try:
        return document.decode()
    except UnicodeDecodeError:
        return document.decode("latin-1")


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


def test_they_predict_as_by_hand(checked, tmp_path):
    entries = (f"{{name: p{number}, pipeline: {entry}}}" for number, entry in enumerate(PIPELINES))
    experiment = checked(", ".join(entries))
    run = run_experiment(experiment, RunContext(Store(tmp_path / "store")))
    assert not run.failures
    reader = experiment.variants["base"].collection.reader
    corpus = reader.load(reader.locate(download=False, notify=print))
    texts = np.array([string_of(each) for each in corpus], dtype=object)
    tested = corpus.documents.parts == corpus.documents.part_names.index("cornell")
    found = {key.method: each.predicted for key, each in run.predictions.settings.items()}
    for number, estimator in enumerate(PIPELINES.values()):
        fitted = estimator.fit(list(texts[~tested]), corpus.documents.labels[~tested])
        np.testing.assert_array_equal(found[f"p{number}"], fitted.predict(list(texts[tested])))


def test_only_the_rules_for_header_and_html_decide_its_results(checked, tmp_path):
    context = RunContext(Store(tmp_path / "store"))
    for stoplist, rules, stored in (("none", "", 0), ("smart", "", 1), ("smart", ", skip_html: true", 0)):
        experiment = checked("{name: p, pipeline: 'models.py:First'}", stoplist=stoplist, rules=rules)
        run = run_experiment(experiment, context)
        assert sum(key.method == "p" for key in run.stored) == stored
