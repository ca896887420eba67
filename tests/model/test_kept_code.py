"""Kept models with classes of users and libraries: they predict as the run does, anywhere, once they are trusted."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import load_model, write_model
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fit = Callable[..., tuple[Any, RunContext, Path]]

CONFIG = """
name: kept
plugins: [mine.py]
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none, skip_html: true, min_occurrences: 20}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {entry}]
"""
PLUGIN = """
from pathlib import Path

import numpy as np
from beside import sharpened
from sklearn.base import BaseEstimator

from benchmark.kernels import Linear
from benchmark.representation import Weighting, inverse_document_frequency
from benchmark.representation.features import FeatureMap


class LogIdf(Weighting):
    def local(self, counts):
        return np.log1p(counts.data)

    def factors(self, presence, members):
        return inverse_document_frequency(presence)


class Power(FeatureMap):
    def __init__(self, exponent: float = 0.5):
        self.exponent = exponent

    def map(self, points):
        return points.power(self.exponent)


class Half(BaseEstimator):
    def fit(self, values, members):
        self.thresholds_ = np.array([np.quantile(v[np.isfinite(v)], 0.8) for v in values.T])
        return self


class Nearest(BaseEstimator):
    reads = ("scale.txt",)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.vstack([X[y == c].mean(axis=0) for c in self.classes_])
        self.scale_ = float((Path(__file__).parent / "scale.txt").read_text())
        return self

    def decision_function(self, X):
        import beside  # once more, where the model is asked

        if X.shape[0] == 1:
            raise KeyError("one")
        values = beside.sharpened(self.scale_ * (X @ self.means_.T))
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]


class Squared(Linear):
    def from_products(self, products, *_):
        return sharpened(products)


WEIGHTINGS = {"log-idf": LogIdf}
FEATURES = {"power": Power}
THRESHOLDS = {"half": Half}
CLASSIFIERS = {"nearest": Nearest}
KERNELS = {"squared": Squared}
"""
MODELS = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def make():
    return make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)), LinearSVC())


class First(ClassifierMixin, BaseEstimator):
    def fit(self, texts, labels):
        self.first_ = int(labels[0])
        return self

    def predict(self, texts):
        return [self.first_] * len(texts)
"""
FILES = {"mine.py": PLUGIN, "models.py": MODELS, "beside.py": "def sharpened(values):\n    return values**3\n"}
NEAREST = "{name: p, weighting: log-idf, features: power, classifier: nearest}"
FOREST = "{name: p, weighting: tf, classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 7}}"
PIPELINE = "{name: p, pipeline: 'models.py:make'}"
TEXTS = [("a", b"veti duka duka"), ("b", b"")]
PLUGIN_FILES = {"beside.py", "mine.py", "models.py"}
#: Methods, subsets of the corpus, and the files of the model's folder.
ENTRIES = [
    (NEAREST, "", PLUGIN_FILES | {"scale.txt"}),
    (NEAREST, "several", PLUGIN_FILES | {"scale.txt"}),
    ("{name: p, weighting: log-idf, kernel: squared}", "", PLUGIN_FILES | {"scale.txt"}),
    ("{name: p, weighting: log-idf, kernel: squared}", "several", PLUGIN_FILES | {"scale.txt"}),
    (FOREST, "several", set()),
    (PIPELINE, "", PLUGIN_FILES),
    (PIPELINE.replace("make", "First"), "several", PLUGIN_FILES),
    ("{name: p, classifier: linear-svm, threshold: half}", "several", PLUGIN_FILES | {"scale.txt"}),
    ("{name: p, classifier: sklearn.naive_bayes.ComplementNB, threshold: cross-validated}", "several", set()),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    for name, text in {**FILES, "scale.txt": "2"}.items():
        (own / name).write_text(text)
    return own


@pytest.fixture
def fitted(folder: Path, tmp_path: Path) -> Fit:
    def fit(entry: str, subset: str = "", **how: Any) -> tuple[Any, RunContext, Path]:
        (folder / "kept.yaml").write_text(CONFIG.format(entry=entry, subset=subset))
        experiment, context = load_checked(folder / "kept.yaml"), RunContext(Store(tmp_path / "store"))
        write_model(fit_model(experiment, "p", context, **how), tmp_path / "model")
        return experiment, context, tmp_path / "model"

    return fit


@pytest.mark.usefixtures("users_code_here")
@pytest.mark.parametrize(("entry", "subset", "files"), ENTRIES)
def test_it_predicts_the_tested_documents_as_the_run_does_without_the_original(
    fitted: Fit, folder: Path, entry: str, subset: str, files: set[str]
) -> None:
    experiment, context, model = fitted(entry, subset and f", subset: {subset}", split="cornell")
    run = run_experiment(experiment, context)
    assert not run.failures
    reader = experiment.variants["base"].collection.reader
    corpus = reader.load(reader.locate(download=False, notify=print))
    contents = dict(zip(corpus.documents.ids, corpus, strict=True))
    key, setting = next(each for each in run.predictions.settings.items() if each[0].method == "p")
    (split,) = run.predictions.splits[key.of_splits]
    ids = [run.predictions.tasks[key.of_task].ids[row] for row in split.test]
    shutil.rmtree(folder)
    assert {path.name for path in (model / "plugins" / "1").glob("*")} == files
    ((_, answers),) = load_model(model).answers([(each, contents[each]) for each in ids])
    np.testing.assert_array_equal(answers.predicted, setting.predicted)


def test_files_of_a_model_are_its_own_and_no_others(fitted: Fit, tmp_path: Path) -> None:
    out = tmp_path / "model"
    fitted(NEAREST)
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert names == {"model.json", "model.skops", *(f"plugins/1/{name}" for name in PLUGIN_FILES | {"scale.txt"})}
    (out / "plugins" / "1" / "beside.py").write_text("raise SystemExit")
    with pytest.raises(DataError, match=r"plugins/1/beside\.py: is damaged, was changed.*; fit it again"):
        load_model(out)
    fitted("{name: p, classifier: linear-svm}")
    assert not (out / "plugins").exists()
    assert load_model(out).plugins == ()


def test_its_code_runs_once_it_is_trusted(fitted: Fit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: tmp_path / "user")
    *_, model = fitted(NEAREST)
    monkeypatch.delenv("BENCH_TRUST")
    asked: list[str] = []
    with (
        asking_before_code(lambda question: bool(asked.append(question))),
        pytest.raises(ConfigError, match=r"model\.json: has the code of mine\.py, which would be run"),
    ):
        load_model(model)
    with asking_before_code(lambda question: not asked.append(question)):
        load_model(model)
        load_model(model)
    assert len(asked) == 2, "one question answers for the file, what it imports, and its classes"


def test_types_that_are_not_known_are_listed_and_asked_for(fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, model = fitted(FOREST)
    monkeypatch.delenv("BENCH_TRUST")
    asked: list[str] = []
    with (
        asking_before_code(lambda question: bool(asked.append(question))),
        pytest.raises(ConfigError, match=r"sklearn\.tree\._tree\.Tree"),
    ):
        load_model(model)
    assert "has objects of sklearn.tree._tree.Tree, whose code would be run" in asked[0]
    with asking_before_code(lambda _: True):
        load_model(model)


def test_an_error_where_it_predicts_is_told_with_its_line_and_a_pipeline_has_no_terms(fitted: Fit) -> None:
    *_, model = fitted(NEAREST)
    line = PLUGIN.splitlines().index('            raise KeyError("one")') + 1
    with pytest.raises(ConfigError, match=rf"mine\.py:{line}: KeyError: 'one'"):
        list(load_model(model).answers(TEXTS[:1]))
    *_, model = fitted(PIPELINE)
    with pytest.raises(ConfigError, match="has no terms to show"):
        list(load_model(model).answers(TEXTS, n_words=2))
