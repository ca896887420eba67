"""Any classifier by its import path: the run's numbers are those of the class itself, used by hand."""

import warnings

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from benchmark.config.components import lists_by_nature
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.report.run_tables import table_markdown
from benchmark.representation import TermWeighting
from benchmark.system.errors import ConfigError

CONFIG = """
name: paths
corpus: {{name: synthetic{subset}}}
text: {{stoplist: none}}
protocol: {{name: {protocol}}}
seed: 5
methods: [{methods}]
"""
OWN = """
import os, random
import numpy as np

class Nearest:
    \"\"\"Nearest mean, with fit and predict alone.\"\"\"

    def __init__(self, p: float = 2.0, noise: float = 0.0):
        self.p, self.noise = p, noise

    def fit(self, X, y):
        self.labels = np.unique(y)
        self.means = np.vstack([np.asarray(X[y == label].mean(axis=0)).ravel() for label in self.labels])
        self.means = self.means + self.noise * np.frombuffer(os.urandom(8 * self.means.size), np.int64).reshape(
            self.means.shape) / 2**63
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
    return TermWeighting(normalization="l1").fit_transform(counts.matrix), counts.documents.labels, tested


def predicted(run, method):
    return next(each.predicted for key, each in run.predictions.settings.items() if key.method == method)


def test_a_forest_predicts_as_by_hand_with_the_seed_of_the_configuration(done, points):
    forest = "classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 9}"
    X, y, tested = points
    expected = RandomForestClassifier(n_estimators=9, random_state=5).fit(X[~tested], y[~tested])
    run = done(f"{{weighting: tf, normalization: l1, {forest}}}")
    np.testing.assert_array_equal(
        predicted(run, "tf-l1-RandomForestClassifier-n_estimators9"), expected.predict(X[tested])
    )
    (setting,) = run.predictions.settings.values()
    best = np.sort(expected.predict_proba(X[tested]), axis=1)
    np.testing.assert_array_equal(setting.tied, best[:, -1] == best[:, -2])
    assert setting.tied.any()


def test_dense_points_where_it_must(done, points):
    boosted = "sklearn.ensemble.HistGradientBoostingClassifier"
    X, y, tested = points
    with pytest.raises(TypeError):
        HistGradientBoostingClassifier().fit(X, y)
    run = done(f"{{name: b, weighting: tf, normalization: l1, classifier: {{name: {boosted}, max_iter: 2}}}}")
    own = HistGradientBoostingClassifier(max_iter=2, random_state=5).fit(X[~tested].toarray(), y[~tested])
    np.testing.assert_array_equal(predicted(run, "b"), own.predict(X[tested].toarray()))


def test_a_constructor_that_hands_on_keyword_arguments_takes_any_that_is_no_misspelling(done, checked, points):
    X, y, tested = points
    given = "name: lightgbm.LGBMClassifier, n_estimators: 3, min_child_samples: 5"
    run = done(f"{{name: b, weighting: tf, normalization: l1, classifier: {{{given}, verbose: -1}}}}")
    own = LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1, random_state=5, n_jobs=1)
    np.testing.assert_array_equal(predicted(run, "b"), own.fit(X[~tested], y[~tested]).predict(X[tested]))
    with pytest.raises(ConfigError, match="did you mean 'n_estimators'"):
        checked(f"{{name: b, classifier: {{{given.replace('estimators', 'estimator')}}}}}")


def test_documents_with_several_classes_get_a_classifier_each(done):
    forest = "{name: f, weighting: tf, classifier: {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 5}}"
    run = done(forest, subset=", subset: several", protocol="k-fold, k: 2, stratified: false")
    (setting,) = run.predictions.settings.values()
    assert setting.predicted.dtype == bool
    assert 0 < setting.predicted.mean() < 0.6


def test_lists_are_candidates_but_for_parameters_that_are_lists_by_nature(checked):
    mlp = "sklearn.neural_network.MLPClassifier"
    assert "hidden_layer_sizes" in lists_by_nature(MLPClassifier)
    one = checked(f"{{weighting: tf, classifier: {{name: {mlp}, hidden_layer_sizes: [30, 10]}}}}")
    assert [entry.label for entry in one.variants["base"].entries] == ["tf-MLPClassifier"]
    two = checked(
        f"{{weighting: tf, classifier: {{name: {mlp}, hidden_layer_sizes: [[30], [30, 10]], alpha: [0.1, 1]}}}}"
    )
    labels = [entry.label for entry in two.variants["base"].entries]
    assert labels[:2] == [f"tf-MLPClassifier-hidden_layer_sizes30-alpha{alpha}" for alpha in ("0.1", "1")]
    assert len(labels) == 4
    regularizations = "{weighting: tf, classifier: {name: sklearn.linear_model.LogisticRegressionCV, Cs: [0.1, 1]}}"
    assert len(checked(regularizations).variants["base"].entries) == 1


@pytest.mark.parametrize(
    ("classifier", "words"),
    [
        ("sklearn.ensemble.RandomForrestClassifier", "did you mean 'RandomForestClassifier'?"),
        ("sklearn.nothing.Forest", "sklearn.nothing can't be imported"),
        ("sklearn.decomposition.PCA", "has no predict"),
        ("sklearn.ensemble.RandomForestRegressor", "predicts numbers, not classes"),
        ("sklearn.metrics.accuracy_score", "accuracy_score is no class that can be built"),
        ("{name: sklearn.ensemble.RandomForestClassifier, n_estimator: 3}", "did you mean 'n_estimators'?"),
        ("{name: sklearn.ensemble.RandomForestClassifier, n_estimators: many}", "'n_estimators' parameter"),
    ],
)
@pytest.mark.usefixtures("library")
def test_what_is_wrong_is_said_in_a_line(checked, classifier, words):
    with pytest.raises(ConfigError) as caught:
        checked(f"{{weighting: tf, classifier: {classifier}}}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("library")
def test_fit_and_predict_are_enough(done, points):
    X, y, tested = points
    means = np.vstack([X[~tested][y[~tested] == label].mean(axis=0) for label in np.unique(y)])
    run = done("{name: own, weighting: tf, normalization: l1, classifier: nearest_of_mine.Nearest}")
    np.testing.assert_array_equal(predicted(run, "own"), (X[tested] @ means.T).argmax(axis=1))
    (setting,) = run.predictions.settings.values()
    assert not setting.tied.any()
    assert not setting.warnings


@pytest.mark.usefixtures("library")
def test_what_is_not_deterministic_is_noticed(done):
    run = done("{name: own, weighting: tf, normalization: l1, classifier: {name: nearest_of_mine.Nearest, noise: 1.0}}")
    (setting,) = run.predictions.settings.values()
    assert [text.partition(":")[0] for text in setting.warnings] == ["not deterministic"]


@pytest.mark.usefixtures("sketched")
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
        (note,) = (note for note in each.summary.notes if note.startswith("Warning of "))
        assert note.startswith("Warning of net: ConvergenceWarning: ")
        assert "There are warnings of net, see the notes." in each.summary.caveats
        assert "There are warnings of net, see the notes." in table_markdown(each.summary)
    assert again.results.stored


def test_our_linear_machines_warn_where_they_do_not_converge(done, monkeypatch):
    monkeypatch.setattr("benchmark.classifiers.linear_models._MOST_ITERATIONS", 1)
    run = done("{name: machine, weighting: tf, classifier: {name: linear-svm, C: 1000}}")
    (setting,) = run.predictions.settings.values()
    assert setting.warnings[0].startswith("ConvergenceWarning: ")
    assert not run.failures


def test_an_error_of_a_library_fails_its_cell_alone(done):
    run = done(
        "mnb, {name: n, weighting: tf, classifier: {name: sklearn.neighbors.KNeighborsClassifier, n_neighbors: 5000}}"
    )
    (problem,) = run.failures.values()
    assert "Expected n_neighbors <= n_samples_fit" in problem
    assert len(run.predictions.settings) == 1


@pytest.mark.usefixtures("library")
def test_a_class_that_is_not_installed_gives_the_new_number_after_an_edit(done, tmp_path):
    """What scikit-learn's class and ours give is stored."""
    own = "{name: own, weighting: tf, classifier: {name: nearest_of_mine.Nearest}}"
    methods = f"mnb, {own}, {{name: l, weighting: tf, classifier: sklearn.neighbors.NearestCentroid}}"
    first = done(methods)
    file = tmp_path / "nearest_of_mine.py"
    file.write_text(file.read_text().replace("argmax", "argmin"))
    after = done(methods)
    assert {key.method for key in after.stored} == {"mnb", "l"}
    assert not np.array_equal(predicted(first, "own"), predicted(after, "own"))
