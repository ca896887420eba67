"""Weightings, feature maps and threshold rules of one's own: their numbers, failures and stored results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers import LinearSvm
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.payload import make_payload
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_run
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment
from benchmark.experiment.store import Store
from benchmark.experiment.task_planning import plan_task
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.out_of_fold import inner_folds
from benchmark.plugins.contract import COMPONENT_CHECKS, check_file, check_one_component
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap
from benchmark.schema.registries import list_components
from benchmark.workers.worker import compute_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("sketched")
EXTENDING = Path(__file__).parents[2] / "docs" / "extending.md"
SEVERAL = "{name: synthetic, subset: several}"
OF_EACH = (
    "{name: weighed, weighting: log-idf, classifier: linear-svm, threshold: pcut}, "
    "{features: power, classifier: linear-svm}, {features: hellinger, classifier: linear-svm}"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**9)


def example() -> tuple[str, str]:
    """The file and the configuration of the documents."""
    found = re.search(
        r"`mypoints\.py`.*?```python\n(.*?)```\n\n```yaml\n(.*?)```", EXTENDING.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    python, yaml = found.groups()
    return python, yaml


@pytest.fixture
def documented(plugin: Callable[..., Path]) -> Path:
    return plugin(example()[0], "mypoints.py")


def test_the_example_of_the_documents_runs(documented: Path, store: Store, tmp_path: Path) -> None:
    rest = (
        "name: own\ncorpus: {name: synthetic, subset: several}\ntext: {min_occurrences: 100}\n"
        "protocol: {name: leave-one-group-out, held_out: [texas]}\n"
    )
    documented.with_name("own.yaml").write_text(rest + example()[1], encoding="utf-8")
    done = run_and_write(load_checked(documented.with_name("own.yaml")), RunContext(store), folder=tmp_path / "run")
    assert not done.summary.failures
    assert done.results.experiment.ids == (
        *("log-idf-linear-svm-threshold-zero", "log-idf-linear-svm-threshold-pcut"),
        *("power-exponent0.5-linear-svm", "power-exponent0.75-linear-svm"),
    )
    assert min(done.results.scored.estimate(cell, "micro-f1").value for cell in done.results.experiment.ids) > 0.5
    assert read_run(done.folder).experiment.ids == done.results.experiment.ids
    manifest = json.loads((done.folder / "manifest.json").read_text())
    records = [(each["kind"], each["name"]) for each in manifest["plugins"]]
    assert set(records) == {("weightings", "log-idf"), ("thresholds", "pcut"), ("features", "power")}


def test_decisions_are_those_of_the_formulas(studied: Callable[..., Experiment], documented: Path) -> None:
    assert documented
    experiment = studied(files="mypoints.py", methods=OF_EACH, corpus=SEVERAL)
    variant = experiment.variants["base"]
    counts, _, key = read_counts(variant.collection, RunContext(Store()))
    weighed, power, hellinger = plan_task(experiment, variant, variant.tasks[0], counts, key).points
    problem, (split,) = weighed.problem, [split for job in weighed.jobs for split in job.splits]
    found = [
        point.method.solve(problem, [split], None, MatrixCache(1))[0].predicted for point in (weighed, power, hellinger)
    ]
    np.testing.assert_array_equal(found[1], found[2])  # p^½ is √p
    matrix, members = problem.counts.matrix, problem.members

    def values(train: Any, test: Any) -> Any:
        df = np.asarray((matrix[train] != 0).sum(axis=0)).ravel()
        points = np.log1p(matrix.toarray()) * np.where(df > 0, np.log(len(train) / np.maximum(df, 1)), 0.0)
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
        machines = [LinearSvm().fit(points[train], own) for own in members[train].T.astype(int)]
        return np.stack([each.decision_function(points[test]) for each in machines], axis=1)

    outside = np.empty(members.shape)
    for fold in inner_folds(problem, split):
        outside[fold.test] = values(fold.train, fold.test)
    own = zip(outside[split.train].T, members[split.train].T, strict=True)
    thresholds = np.array([np.quantile(column, 1 - inside.mean()) for column, inside in own])
    assert np.abs(thresholds).max() > 0.05
    expected = values(split.train, split.test) > thresholds
    assert np.mean(expected == found[0]) > 0.999  # values at a threshold may be rounded to either side


def test_they_are_listed_and_pass_the_checks(documented: Path) -> None:
    rows = {part.title: [row[0] for row in part.rows] for part in list_components("", [documented])}
    assert {"log-idf"} < set(rows["weightings"])
    assert {"power"} < set(rows["features"])
    assert {"pcut"} < set(rows["thresholds"])
    found = list(check_file(documented))
    assert [each for each in found if each.problem] == []
    assert len(found) == sum(1 + len(COMPONENT_CHECKS[kind]) for kind in ("weightings", "features", "thresholds"))


def test_their_parameters_are_candidates(studied: Callable[..., Experiment], documented: Path, store: Store) -> None:
    assert documented
    experiment = studied(
        files="mypoints.py",
        methods="{features: [{name: power, exponent: [0.5, 1]}, hellinger], weighting: [tf, log-idf], "
        "classifier: linear-svm, name: own}",
        choose="{by: cross-validation, folds: 2, grid_keys: [features, weighting]}",
    )
    run = run_experiment(experiment, RunContext(store))
    assert not run.failures
    assert len(run.predictions.settings) == 6


class Negative(Weighting):
    """Gives some terms a negative weight."""

    def transform(self, X: Any) -> Any:
        return super().transform(X) * -1

    def factors(self, presence: Any, members: Any) -> Any:
        return np.ones(presence.shape[1])


class OfTheBatch(Negative):
    """Depends on the documents beside a document."""

    def transform(self, X: Any) -> Any:
        weights = Weighting.transform(self, X)
        return weights / weights.max()


class Learns(FeatureMap):
    """Learns from the points that it is fitted to."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.mean_ = float(X.max())
        return super().fit(X, y)

    def map(self, points: Any) -> Any:
        return points * self.mean_


class Alone:
    """Has one threshold for all classes."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def fit(self, values: Any, members: Any) -> Any:
        self.thresholds_ = np.zeros(1)
        return self


@pytest.mark.parametrize(
    ("kind", "component", "check", "words"),
    [
        ("weightings", Negative, "returns one finite weight", "negative or not finite"),
        ("weightings", OfTheBatch, "returns the same weights for a document alone", "differ by"),
        ("features", Learns, "returns the same features for a point alone", "differ by"),
        ("thresholds", Alone, "learns a finite threshold for each class", "has the shape (1,), not (3,)"),
    ],
)
def test_each_check_finds_what_it_is_for(kind: str, component: Any, check: str, words: str) -> None:
    (problem,) = [
        each.problem for each in check_one_component(kind, "mine", component, "mine") if each.check.startswith(check)
    ]
    assert words in problem


FAILING = """\
import numpy as np
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap

class Raises(Weighting):
    def local(self, counts):
        return self.nothing  # line 7

    def factors(self, presence, members):
        return np.ones(presence.shape[1])

class Negative(Raises):
    def local(self, counts):
        return -counts.data

class Nan(FeatureMap):
    def map(self, points):
        return points * np.nan

class Short:
    def fit(self, values, members):
        self.thresholds_ = np.zeros(1)

WEIGHTINGS = {"raises": Raises, "negative": Negative}
FEATURES = {"nan": Nan}
THRESHOLDS = {"short": Short}
"""
FAILURES = {
    "raises-linear": "mine.py:7: AttributeError: 'Raises' object has no attribute 'nothing'",
    "negative-linear": "`local` of Negative must return numbers of shape",
    "nan-linear-svm": "`map` of Nan must return a row of finite numbers for each of",
    "linear-svm-threshold-short": "the threshold rule Short gives values of the shape (1,), not",
}


def test_what_goes_wrong_is_told_in_a_line_and_stops_its_cell_alone(
    config: Callable[..., Path], plugin: Callable[..., Path], store: Store, tmp_path: Path
) -> None:
    plugin(FAILING)
    methods = (
        "{weighting: [raises, negative], kernel: linear}, {features: nan, classifier: linear-svm}, "
        "{classifier: linear-svm, threshold: short}, mnb"
    )
    path = config(files="mine.py", methods=methods, corpus=SEVERAL)
    done = run_and_write(load_checked(path), RunContext(store), folder=tmp_path / "run")
    assert done.results.failures.keys() == FAILURES.keys()
    for name, words in FAILURES.items():
        assert words in done.results.failures[name]
        assert "\n" not in done.results.failures[name]
        assert str(tmp_path) not in done.results.failures[name]
    assert set(done.results.scored.cells) == {"mnb"}


READING = """\
from pathlib import Path
import numpy as np
from benchmark.representation import Weighting

class Read(Weighting):
    def local(self, counts):
        return counts.data ** float((Path(__file__).parent / "power.txt").read_text())

    def factors(self, presence, members):
        return np.ones(presence.shape[1])

WEIGHTINGS = {"read": Read}
"""
NEAREST = """\
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator

class Nearest(BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.vstack([X[y == c].mean(axis=0) for c in self.classes_])
        self.scale_ = float((Path(__file__).parent / "scale.txt").read_text())
        return self

    def decision_function(self, X):
        values = self.scale_ * (X @ self.means_.T)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

CLASSIFIERS = {"nearest": Nearest}
"""


@pytest.fixture
def two_files(plugin: Callable[..., Path], folder: Path, config: Callable[..., Path]) -> Path:
    """A configuration whose method takes a weighting of one file, and a classifier of another."""
    plugin(READING, "reading.py")
    plugin(NEAREST, "nearest.py")
    (folder / "power.txt").write_text("1")
    (folder / "scale.txt").write_text("1")
    methods = "{weighting: read, classifier: nearest, name: own}, {weighting: read, kernel: linear, name: svm}, mnb"
    return config(files="reading.py, nearest.py", methods=methods)


def test_a_method_takes_a_weighting_of_one_file_and_a_classifier_of_another(two_files: Path, store: Store) -> None:
    experiment = load_checked(two_files)
    assert not run_experiment(experiment, RunContext(store)).failures
    (two_files.parent / "power.txt").write_text("none")
    failures = run_experiment(experiment, RunContext(store)).failures
    assert failures.keys() == {"own", "svm"}
    assert all("reading.py:7: ValueError" in each for each in failures.values())


def test_a_worker_computes_the_same_from_copies_of_the_files(
    studied: Callable[..., Experiment], documented: Path, store: Store
) -> None:
    experiment = studied(files="mypoints.py", methods=OF_EACH, corpus=SEVERAL, metrics="[micro-break-even, micro-f1]")
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    payload = make_payload(experiment, read, store, 1)
    keys = frozenset(job.key for point in work.points for job in point.jobs)
    reply = compute_units(payload, work.variant, work.task, keys)
    assert (reply["failed"], reply["lost"]) == ({}, [])
    run = run_experiment(experiment, RunContext(store))
    assert {key.method for key in run.stored} == {"hellinger-linear-svm"}, "those of a user's code are computed anew"
    sent = {point.place: reply["entries"].get(job.key) for point in work.points for job in point.jobs}
    assert sum(each is not None for each in sent.values()) == 2
    for place, setting in run.predictions.settings.items():
        assert setting.values is not None
        if sent.get(place):
            np.testing.assert_array_equal(sent[place].arrays["values"], setting.values)
