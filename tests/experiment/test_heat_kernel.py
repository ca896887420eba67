"""The kernel that must know the size of the vocabulary, from a configuration through the runner to predictions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import eval_gegenbauer
from sklearn.svm import SVC

from benchmark.config.model import BASE_VARIANT
from benchmark.config.tasks import protocol_at_size
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.system.errors import ConfigError
from tests.builders import small_experiment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store

    Matrix = NDArray[np.float64]

#: Near 4 log(n)/n of the generated corpus, so that 20 terms of the series are enough and none cancels.
T, TERMS = 0.025, 20
EPSILON, DOUBTFUL = 1e-8, 1e-5


def heat(s: Matrix, n: int, t: float) -> Matrix:
    """The series of the sphere S^n of radius 2, term by term, divided by its value at s = 1."""
    total, diagonal = np.zeros_like(s), 0.0
    for d in range(TERMS):
        harmonics = math.comb(n + d, n) - (math.comb(n + d - 2, n) if d > 1 else 0)
        weight = harmonics * math.exp(-d * (d + n - 1) * t / 4)
        order = (n - 1) / 2
        total += weight * eval_gegenbauer(d, order, s) / eval_gegenbauer(d, order, 1.0)
        diagonal += weight
    return np.asarray(total / diagonal)


@pytest.fixture
def experiment() -> Experiment:
    """TF under L1 with the heat kernel, on two held-out universities."""
    return small_experiment(
        methods=[{"weighting": "tf", "normalization": "l1", "kernel": {"name": "heat", "t": T}}],
        defaults={"C": 10, "epsilon": EPSILON},
    )


def test_predictions_are_those_of_the_series_in_the_vocabularys_dimension(experiment: Experiment, store: Store) -> None:
    found = run_experiment(experiment, RunContext(store))
    assert not found.failures
    variant = experiment.variants[BASE_VARIANT]
    counts, _, _ = read_counts(variant.collection, RunContext(store))
    dense, labels = counts.matrix.toarray().astype(float), counts.documents.labels
    n = dense.shape[1] - 1
    assert 3 < T * n / math.log(n) < 5, "the corpus has another vocabulary: choose T anew"
    roots = np.sqrt(dense / np.maximum(dense.sum(axis=1, keepdims=True), 1))
    gram = heat(np.clip(roots @ roots.T, 0, 1), n, T)
    (point,) = found.predictions.settings.values()
    for split, predicted in zip(
        protocol_at_size(variant.protocol, None).splits(counts.documents), point.by_split, strict=True
    ):
        oracle = SVC(kernel="precomputed", C=10.0, tol=EPSILON, decision_function_shape="ovo")
        oracle.fit(gram[np.ix_(split.train, split.train)], labels[split.train])
        rows = gram[np.ix_(split.test, split.train)]
        clear = (np.abs(oracle.decision_function(rows)) > DOUBTFUL).all(axis=1)
        np.testing.assert_array_equal(predicted[clear], oracle.predict(rows)[clear])
        assert clear.mean() > 0.9
        assert (predicted == labels[split.test]).mean() > 0.8, "the largest class alone has 0.4"


def test_a_time_out_of_range_is_refused_before_any_work() -> None:
    kernel = {"name": "heat", "t": 1e-12}
    with pytest.raises(ConfigError, match="t must lie between 1e-09 and 1e"):
        small_experiment(methods=[{"weighting": "tf", "normalization": "l1", "kernel": kernel}])
    with pytest.raises(ConfigError, match="l1"):
        small_experiment(methods=[{"weighting": "tf", "normalization": "l2", "kernel": {"name": "heat", "t": T}}])
