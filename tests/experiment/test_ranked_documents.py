"""Metrics of decision values in a run: kept where a metric asks for them, the same when reported, refused in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmark.evaluation import intervals
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_run
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
ONE_EACH: list[Any] = [
    "mnb",
    {"name": "machine", "kernel": "ngd", "classifier": {"name": "svm", "scheme": "one-vs-rest"}},
    {"name": "linear", "weighting": "tfidf", "classifier": "linear-svm"},
    {"name": "library", "weighting": "tfidf", "classifier": {"name": "sklearn.linear_model.RidgeClassifier"}},
    {"fuse": ["mnb", "linear"], "name": "both"},
]
SEVERAL = [*ONE_EACH, {"name": "hp", "kernel": "hp-top"}]
METRICS = ["micro-break-even", "macro-average-precision", "micro-roc-auc", "macro-roc-auc", "macro-f1"]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals are tested in `evaluation`; here their number would take most of the time."""
    monkeypatch.setattr(intervals, "RESAMPLES_OF_RANKINGS", 50)


def experiment_of(methods: list[Any], subset: str | None) -> Experiment:
    corpus = {"name": "synthetic", "subset": subset} if subset else {"name": "synthetic"}
    protocol = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
    return small_experiment(corpus=corpus, protocol=protocol, methods=methods, metrics=METRICS)


@pytest.mark.parametrize(("methods", "subset"), [(ONE_EACH, None), (SEVERAL, "several")])
def test_scores_are_scikit_learns_of_the_kept_values(methods: list[Any], subset: str | None, tmp_path: Path) -> None:
    experiment, context = experiment_of(methods, subset), RunContext(Store(tmp_path / "store"))
    done = run_and_write(experiment, context, folder=tmp_path / "run")
    assert not done.results.failures
    assert len(run_experiment(experiment, context).stored) == len(methods)
    run = read_run(done.folder)
    assert run.scored.frame.equals(done.results.scored.frame)
    for place, setting in run.predictions.settings.items():
        task, splits = run.predictions.tasks[place.of_task], run.predictions.splits[place.of_splits]
        assert setting.values is not None
        bounds, found = setting.bounds, []
        for number, split in enumerate(splits):
            values = setting.values[bounds[number] : bounds[number + 1]]
            truth = task.truth[split.test]
            if not task.multilabel:
                predicted = setting.by_split[number]
                np.testing.assert_array_equal(values.max(axis=1), values[np.arange(len(values)), predicted])
                truth, values = truth[:, None] == np.arange(len(task.classes)), values - values.mean(axis=1)[:, None]
            else:
                np.testing.assert_array_equal(setting.by_split[number], values > 0)
            areas = [roc_auc_score(truth, values, average=average) for average in ("micro", "macro")]
            found.append([average_precision_score(truth, values, average="macro"), *areas])
        expected = dict(zip(METRICS[1:4], np.mean(found, axis=0), strict=True))
        for metric, value in expected.items():
            estimate = run.scored.estimate(place.method, metric)
            assert estimate.value == pytest.approx(value, rel=1e-9)
            assert estimate.method == "bootstrap" or np.isnan(estimate.low)


PLUGIN = """
import numpy as np
from benchmark.evaluation.metrics import Metric

def precision_at_ten(ranking, weights=None):
    own = np.ones(len(ranking.truth)) if weights is None else weights
    order = np.argsort(-ranking.values[:, 0], kind="stable")
    counted = np.minimum(np.cumsum(own[order]), 10)
    return float(np.diff(counted, prepend=0) @ ranking.truth[order, 0] / 10)

class Most:
    def fit(self, X, y):
        self.most_ = np.bincount(y).argmax()
        return self

    def predict(self, X):
        return np.where(X.sum(axis=1) > X.sum() / X.shape[0], self.most_, 0)

METRICS = {"precision-at-ten": Metric(ranking=precision_at_ten)}
CLASSIFIERS = {"most": Most}
"""


def test_a_plug_in_may_rank_and_a_classifier_that_only_predicts_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "ranked.yaml").write_text(
        "name: ranked\nplugins: [mine.py]\ncorpus: {name: synthetic}\ntext: {min_occurrences: 100}\n"
        "protocol: {name: leave-one-group-out, held_out: [texas]}\n"
        "methods: [mnb, most]\nmetrics: [precision-at-ten]\n"
    )
    context = RunContext(Store(tmp_path / "store"))
    done = run_and_write(load_checked(tmp_path / "ranked.yaml"), context, folder=tmp_path / "run")
    assert done.results.failures == {"most": "it has no decision value for each class, which a ranking metric needs"}
    found = done.results.scored.estimate("mnb", "precision-at-ten")
    assert found.method == "bootstrap"
    assert found.value in [each / 10 for each in range(11)]
    (tmp_path / "mine.py").unlink()
    assert read_run(done.folder).scored.estimate("mnb", "precision-at-ten") == found
