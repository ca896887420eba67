"""Kept classifiers of libraries and pipelines: they predict as the run does, and are built once trusted."""

import hashlib
import json

import numpy as np
import pytest

from benchmark.corpora.reader import LastCorpus
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import DESCRIPTION_FILE, MODEL_FILE, read_model, write_model
from benchmark.plugins.trust import asking_before_code
from benchmark.system.checks import digest_without_itself
from benchmark.system.errors import ConfigError, DataError

CONFIG = """
name: kept
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none, skip_html: true}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
"""
FOREST = "{name: p, weighting: tf, classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 7}}"
PIPELINE = "{name: p, pipeline: 'models.py:make'}"
MODELS = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC, SVC


def make():
    return make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)), LinearSVC())


def votes():
    return make_pipeline(TfidfVectorizer(max_features=300), SVC(kernel="linear"))


class First(ClassifierMixin, BaseEstimator):
    def fit(self, texts, labels):
        self.first_ = int(labels[0])
        return self

    def predict(self, texts):
        return [self.first_] * len(texts)
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "models.py").write_text(MODELS)

    def check(entry, subset=""):
        path = tmp_path / "kept.yaml"
        path.write_text(CONFIG.format(entry=entry, subset=subset))
        return load_checked(path)

    return check


@pytest.fixture
def written(checked, tmp_path):
    """Folder of a model of a forest."""
    write_model(fit_model(checked(FOREST), "p", RunContext(Store(tmp_path / "store"))), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("subset", ["", ", subset: several"])
@pytest.mark.parametrize("entry", [FOREST, PIPELINE, PIPELINE.replace("make", "votes")])
def test_it_predicts_the_tested_documents_as_the_run_does(checked, tmp_path, entry, subset):
    experiment, context = checked(entry, subset), RunContext(Store(tmp_path / "store"))
    run = run_experiment(experiment, context)
    write_model(fit_model(experiment, "p", context, split="cornell"), tmp_path / "model")
    model = read_model(tmp_path / "model")
    reader = experiment.variants["base"].collection.reader
    corpus = LastCorpus().load(reader, reader.locate(download=False, notify=print))
    contents = dict(zip(corpus.documents.ids, corpus, strict=True))
    (place, setting) = next(each for each in run.predictions.settings.items() if each[0].method == "p")
    (split,) = run.predictions.splits[place.variant, place.task, place.size]
    ids = [run.predictions.tasks[place.variant, place.task].ids[row] for row in split.test]
    ((_, answers),) = model.answers([(each, contents[each]) for each in ids])
    np.testing.assert_array_equal(answers.predicted, setting.predicted)
    if not subset:
        np.testing.assert_array_equal(answers.values.argmax(axis=1), setting.predicted)


def test_probabilities_sum_to_one(checked, tmp_path):
    write_model(
        fit_model(checked(PIPELINE), "p", RunContext(Store(tmp_path / "store")), probability=True), tmp_path / "model"
    )
    ((_, answers),) = read_model(tmp_path / "model").answers([("a", b"veti duka"), ("b", b"")])
    np.testing.assert_allclose(answers.probabilities.sum(axis=1), 1)


def test_types_that_are_not_known_are_listed_and_asked_for(written, monkeypatch):
    monkeypatch.delenv("BENCH_TRUST")
    asked = []
    with (
        asking_before_code(lambda question: bool(asked.append(question))),
        pytest.raises(ConfigError, match=r"sklearn\.tree\._tree\.Tree"),
    ):
        read_model(written)
    assert "has objects of sklearn.tree._tree.Tree, whose code would be run" in asked[0]
    with asking_before_code(lambda _: True):
        read_model(written)


def test_a_class_of_a_file_is_kept_with_the_file(checked, tmp_path):
    model = fit_model(checked(PIPELINE.replace("make", "First")), "p", RunContext(Store(tmp_path / "store")))
    write_model(model, tmp_path / "model")
    (tmp_path / "models.py").unlink()
    assert (tmp_path / "model" / "plugin-1" / "models.py").is_file()
    ((_, answers),) = read_model(tmp_path / "model").answers([("a", b"veti duka"), ("b", b"")])
    ((_, expected),) = model.answers([("a", b"veti duka"), ("b", b"")])
    np.testing.assert_array_equal(answers.predicted, expected.predicted)
    assert not (tmp_path / "model" / "plugin-2").exists()


def test_a_pipeline_of_packages_is_kept_without_the_file(checked, tmp_path):
    write_model(fit_model(checked(PIPELINE), "p", RunContext(Store(tmp_path / "store"))), tmp_path / "model")
    assert not (tmp_path / "model" / "plugin-1").exists()


def test_a_pipeline_has_no_terms_to_show(checked, tmp_path):
    model = fit_model(checked(PIPELINE), "p", RunContext(Store(tmp_path / "store")))
    with pytest.raises(ConfigError, match="has no terms to show"):
        list(model.answers([("a", b"veti")], n_words=2))


@pytest.mark.parametrize("change", [lambda data: data[:-40], lambda _: b"no zip", lambda data: data[:30] + data[60:]])
def test_damage_is_told_in_a_line(written, change):
    damaged = change((written / MODEL_FILE).read_bytes())
    (written / MODEL_FILE).write_bytes(damaged)
    about = json.loads((written / DESCRIPTION_FILE).read_text())
    about["files"][MODEL_FILE] = hashlib.sha256(damaged).hexdigest()
    about["digest"] = digest_without_itself(about)
    (written / DESCRIPTION_FILE).write_text(json.dumps(about))
    with pytest.raises(DataError, match="is no model of this version") as caught:
        read_model(written)
    assert "\n" not in str(caught.value)


def test_thresholds_of_a_library_s_classifier_are_kept(checked, tmp_path):
    entry = "{name: p, classifier: sklearn.naive_bayes.ComplementNB, threshold: cross-validated}"
    model = fit_model(checked(entry, ", subset: several"), "p", RunContext(Store(tmp_path / "store")))
    write_model(model, tmp_path / "model")
    texts = [("a", b"veti duka duka"), ("b", b"")]
    ((_, before),), ((_, after),) = model.answers(texts), read_model(tmp_path / "model").answers(texts)
    np.testing.assert_array_equal(after.values, before.values, strict=True)
