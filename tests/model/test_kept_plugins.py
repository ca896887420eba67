"""Kept models with plug-ins: they predict as the run does, anywhere, once a person trusts the code in them."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from benchmark.corpora.reader import LastCorpus
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import DESCRIPTION_FILE, read_model, write_model
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import ConfigError, DataError

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
BESIDE = "def sharpened(values):\n    return values**3\n"
NEAREST = "{name: p, weighting: log-idf, classifier: nearest}"
ENTRIES = [
    NEAREST,
    "{name: p, features: power, classifier: linear-svm}",
    "{name: p, weighting: log-idf, kernel: squared}",
]


@pytest.fixture
def folder(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    for name, text in (("mine.py", PLUGIN), ("beside.py", BESIDE), ("scale.txt", "2")):
        (own / name).write_text(text)
    return own


@pytest.fixture
def fitted(folder, tmp_path):
    def fit(entry, subset="", **how):
        (folder / "kept.yaml").write_text(CONFIG.format(entry=entry, subset=subset))
        experiment, context = load_checked(folder / "kept.yaml"), RunContext(Store(tmp_path / "store"))
        write_model(fit_model(experiment, "p", context, **how), tmp_path / "model")
        return experiment, context, tmp_path / "model"

    return fit


def documents_of(experiment, run):
    """Ids, texts and predictions of the tested documents."""
    reader = experiment.variants["base"].collection.reader
    corpus = LastCorpus().load(reader, reader.locate(download=False, notify=print))
    contents = dict(zip(corpus.documents.ids, corpus, strict=True))
    place, setting = next(each for each in run.predictions.settings.items() if each[0].method == "p")
    (split,) = run.predictions.splits[place.of_splits]
    ids = [run.predictions.tasks[place.of_task].ids[row] for row in split.test]
    return [(each, contents[each]) for each in ids], setting.predicted


@pytest.mark.parametrize(
    ("entry", "subset"),
    [
        *((entry, "") for entry in ENTRIES),
        *((entry, ", subset: several") for entry in ENTRIES),
        ("{name: p, classifier: linear-svm, threshold: half}", ", subset: several"),
    ],
)
def test_it_predicts_the_tested_documents_as_the_run_does_without_the_original(fitted, folder, entry, subset):
    experiment, context, model = fitted(entry, subset, split="cornell")
    run = run_experiment(experiment, context)
    assert not run.failures
    documents, predicted = documents_of(experiment, run)
    shutil.rmtree(folder)
    ((_, answers),) = read_model(model).answers(documents)
    np.testing.assert_array_equal(answers.predicted, predicted)


def test_it_predicts_in_another_process(fitted, folder, tmp_path):
    *_, model = fitted(NEAREST)
    shutil.rmtree(folder)
    code = (
        "import sys; from benchmark.model.persistence import read_model\n"
        "((_, answers),) = read_model(__import__('pathlib').Path(sys.argv[1])).answers([('a', b'veti duka')])\n"
        "print(answers.values.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code, model], capture_output=True, text=True, check=True)
    ((_, answers),) = read_model(model).answers([("a", b"veti duka")])
    assert json.loads(done.stdout) == answers.values.tolist()


def test_its_code_runs_once_it_is_trusted(fitted, monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: tmp_path / "user")
    *_, model = fitted(NEAREST)
    monkeypatch.delenv("BENCH_TRUST")
    asked = []
    with (
        asking_before_code(lambda question: bool(asked.append(question))),
        pytest.raises(ConfigError, match=r"model\.json: has the code of mine\.py, which would be run"),
    ):
        read_model(model)
    assert len(asked) == 1
    with asking_before_code(lambda question: not asked.append(question)):
        read_model(model)
        read_model(model)
    assert len(asked) == 2, "one question answers for the file, what it imports, and its classes"


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("plugin-1/mine.py", lambda path: path.write_text(path.read_text() + "\n"), "was changed"),
        ("plugin-1/beside.py", lambda path: path.write_text("raise SystemExit"), "was changed"),
        ("plugin-1/scale.txt", lambda path: path.unlink(), "is missing"),
        ("plugin-1/more.py", lambda path: path.write_text("x = 1"), "is no file of the model"),
    ],
)
def test_files_of_other_content_are_refused(fitted, file, change, words):
    *_, model = fitted(NEAREST)
    change(model / file)
    with pytest.raises(DataError, match=rf"{file}: {words}; fit it again"):
        read_model(model)


def test_a_model_without_plug_ins_says_nothing_of_them(fitted, tmp_path):
    *_, model = fitted("{name: p, classifier: linear-svm}")
    assert json.loads((model / DESCRIPTION_FILE).read_text())["plugins"] == []
    assert not (model / "plugin-1").exists()


OUTSIDE = """
class Outside(Nearest):
    reads = ("../elsewhere.txt",)


CLASSIFIERS["outside"] = Outside
"""
RAISING = """
class Raising(Nearest):
    def decision_function(self, X):
        if X.shape[0] == 1:
            raise KeyError("one")
        return super().decision_function(X)


CLASSIFIERS["raising"] = Raising
"""


@pytest.mark.parametrize(
    ("more", "entry", "words"),
    [
        (OUTSIDE, "{name: p, classifier: outside}", r"mine\.py reads \.\./elsewhere\.txt: a model, or another"),
    ],
)
def test_what_can_not_be_kept_is_refused_in_a_line(fitted, folder, more, entry, words):
    (folder / "mine.py").write_text(PLUGIN + more)
    (folder.parent / "elsewhere.txt").write_text("1")
    with pytest.raises(ConfigError, match=words):
        fitted(entry)


def test_an_error_where_it_predicts_is_told_with_its_line(fitted, folder):
    (folder / "mine.py").write_text(PLUGIN + RAISING)
    *_, model = fitted("{name: p, classifier: raising}")
    line = (PLUGIN + RAISING).splitlines().index('            raise KeyError("one")') + 1
    with pytest.raises(ConfigError, match=rf"mine\.py:{line}: KeyError: 'one'"):
        list(read_model(model).answers([("a", b"veti")]))
