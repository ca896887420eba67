"""Any classifier by its import path: the run's numbers are those of the class itself, used by hand."""

import warnings

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.report.files import table_markdown
from benchmark.system.errors import ConfigError
from tests.points import points_pipeline

CONFIG = """
name: paths
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
seed: 5
methods: [{methods}]
"""
OWN = """
import numpy as np

class Nearest:
    \"\"\"Nearest mean, with fit and predict alone.\"\"\"

    def __init__(self, p: float = 2.0):
        self.p = p

    def fit(self, X, y):
        self.labels = np.unique(y)
        self.means = np.vstack([np.asarray(X[y == label].mean(axis=0)).ravel() for label in self.labels])
        return self

    def predict(self, X):
        return self.labels[np.asarray(X @ self.means.T).argmax(axis=1)]

"""


@pytest.fixture
def checked(tmp_path):
    def read(methods, protocol="leave-one-group-out, held_out: [cornell]", subset=""):
        path = tmp_path / "paths.yaml"
        path.write_text(CONFIG.format(methods=methods, protocol=protocol, subset=subset))
        return load_checked(path)

    return read


@pytest.fixture
def done(checked, tmp_path):
    def run(methods, **more):
        return run_experiment(checked(methods, **more), RunContext(Store(tmp_path / "store")))

    return run


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "nearest_of_mine.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def points(checked, tmp_path):
    """Points of all documents (TF of unit sum), their labels, and the rows of the tested university."""
    variant = checked("mnb").variants["base"]
    counts, *_ = read_counts(variant.collection, RunContext(Store(tmp_path / "points")))
    tested = counts.documents.parts == counts.documents.part_names.index("cornell")
    return points_pipeline(normalization="l1").fit_transform(counts.matrix), counts.documents.labels, tested


def predicted(run, method):
    return next(each.predicted for key, each in run.predictions.settings.items() if key.method == method)


#: Parameters of library classes, the same by hand (the seed is the configuration's), and whether points are dense.
LIBRARIES = {
    "sklearn.ensemble.RandomForestClassifier": (
        "n_estimators: 9",
        RandomForestClassifier(n_estimators=9, random_state=5),
        False,
    ),
    "sklearn.ensemble.HistGradientBoostingClassifier": (
        "max_iter: 2",
        HistGradientBoostingClassifier(max_iter=2, random_state=5),
        True,
    ),
    "lightgbm.LGBMClassifier": (  # hands on keyword arguments
        "n_estimators: 3, min_child_samples: 5, verbose: -1",
        LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1, random_state=5, n_jobs=1),
        False,
    ),
}
POINTS = "weighting: tf, normalization: l1"


def short(path):
    return path.rpartition(".")[2].lower()


@pytest.mark.usefixtures("library")
def test_predictions_are_those_of_the_class_by_hand_and_stored_where_it_is_installed(done, points, tmp_path):
    X, y, tested = points
    own = "nearest_of_mine.Nearest"
    methods = [
        f"{{name: {short(path)}, {POINTS}, classifier: {{name: {path}, {given}}}}}"
        for path, (given, *_) in LIBRARIES.items()
    ]
    methods += [
        f"{{name: own, {POINTS}, classifier: {own}}}",
        "{name: failing, classifier: {name: sklearn.neighbors.KNeighborsClassifier, n_neighbors: 5000}}",
    ]
    run = done(", ".join(methods))
    settings = {key.method: each for key, each in run.predictions.settings.items()}
    for path, (_, classifier, dense) in LIBRARIES.items():
        train, test = (X[part].toarray() if dense else X[part] for part in (~tested, tested))
        name = short(path)
        np.testing.assert_array_equal(settings[name].predicted, classifier.fit(train, y[~tested]).predict(test))
        best = np.sort(classifier.predict_proba(test), axis=1)
        np.testing.assert_array_equal(settings[name].tied, best[:, -1] == best[:, -2])
    means = np.vstack([X[~tested][y[~tested] == label].mean(axis=0) for label in np.unique(y)])
    np.testing.assert_array_equal(settings["own"].predicted, (X[tested] @ means.T).argmax(axis=1))
    assert not settings["own"].tied.any()
    assert not settings["own"].warnings
    assert run.failures.keys() == {"failing"}
    assert "Expected n_neighbors <= n_samples_fit" in run.failures["failing"]
    file = tmp_path / "nearest_of_mine.py"
    file.write_text(file.read_text().replace("argmax", "argmin"))
    after = done(", ".join(methods[:-1]))
    assert {key.method for key in after.stored} == settings.keys() - {"own"}
    assert not np.array_equal(predicted(after, "own"), settings["own"].predicted)


def test_lists_are_candidates_but_for_parameters_that_are_lists_by_nature(checked):
    mlp = "sklearn.neural_network.MLPClassifier"
    for classifier, labels in {
        f"{mlp}, hidden_layer_sizes: [30, 10]": ["tf-MLPClassifier"],
        f"{mlp}, hidden_layer_sizes: [[30], [30, 10]]": [
            "tf-MLPClassifier-hidden_layer_sizes30",
            "tf-MLPClassifier-hidden_layer_sizes30-10",
        ],
    }.items():
        found = checked(f"{{weighting: tf, classifier: {{name: {classifier}}}}}").variants["base"].entries
        assert [entry.label for entry in found] == labels


@pytest.mark.parametrize(
    ("classifier", "words"),
    [
        ("sklearn.ensemble.RandomForrestClassifier", "did you mean 'RandomForestClassifier'?"),
        ("sklearn.nothing.Forest", "sklearn.nothing can't be imported"),
        ("sklearn.decomposition.PCA", "has no predict"),
        ("{name: sklearn.ensemble.RandomForestClassifier, n_estimator: 3}", "did you mean 'n_estimators'?"),
        ("{name: sklearn.ensemble.RandomForestClassifier, n_estimators: many}", "'n_estimators' parameter"),
        ("{name: lightgbm.LGBMClassifier, n_estimator: 3}", "did you mean 'n_estimators'?"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(checked, classifier, words):
    with pytest.raises(ConfigError) as caught:
        checked(f"{{weighting: tf, classifier: {classifier}}}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("sketched", "users_code_here")
def test_what_a_library_warns_of_stands_in_the_table_and_comes_back_from_the_store_and_the_folder(checked, tmp_path):
    store = Store(tmp_path / "store")
    experiment = checked(
        "{name: net, weighting: tf, classifier: {name: sklearn.neural_network.MLPClassifier, max_iter: 2}}"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)  # collected, not warned of
        done = run_and_write(experiment, RunContext(store), folder=tmp_path / "run")
    again = run_and_write(experiment, RunContext(store), folder=tmp_path / "again")
    for each in (done, again, report_again(tmp_path / "run")):
        (caveat,) = (text for text in each.summary.caveats if text.startswith("Warning of net: ConvergenceWarning: "))
        assert caveat in table_markdown(each.summary)
    assert again.results.stored


@pytest.mark.usefixtures("users_code_here")
def test_a_class_that_predicts_otherwise_when_trained_again_is_named(done, tmp_path, monkeypatch):
    drawn = OWN.replace("def fit(self, X, y):", "def fit(self, X, y):\n        y = np.random.permutation(y)")
    (tmp_path / "drawn_of_mine.py").write_text(drawn)
    monkeypatch.syspath_prepend(str(tmp_path))
    forest = "{name: forest, classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 2}}"
    settings = done(f"{{name: drawn, classifier: drawn_of_mine.Nearest}}, {forest}").predictions.settings
    warned = {key.method: own.warnings for key, own in settings.items()}
    assert warned["drawn"][0].startswith("not deterministic: trained again on the same documents")
    assert warned["forest"] == (), "its seed is the experiment's"


def test_our_linear_machines_warn_where_they_do_not_converge(done, monkeypatch):
    monkeypatch.setattr("benchmark.classifiers.linear_models._MOST_ITERATIONS", 1)
    run = done("{name: machine, weighting: tf, classifier: {name: linear-svm, C: 1000}}")
    (setting,) = run.predictions.settings.values()
    assert setting.warnings[0].startswith("ConvergenceWarning: ")
    assert not run.failures
