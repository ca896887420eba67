"""Experiments on points: predictions against scikit-learn's machines on kernels by formula, and regions from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from benchmark.corpora.curved_points import draw_points, grid_points
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import Heat, Hyperbolic
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.analysis.scoring import RunPredictions

SEED, TRAIN, TEST, RESOLUTION = 4, 60, 200, 24
MACHINE = {"classifier": {"name": "svm", "C": 10}}
GRID = {"resolution": RESOLUTION, "seed": SEED}


def sphere(left: Any, right: Any) -> Any:
    """Return cosines of the angles between square roots."""
    return np.minimum(np.sqrt(left) @ np.sqrt(right).T, 1)


FORMULAS: dict[str, dict[str, Callable[[Any, Any], Any]]] = {
    "simplex": {
        "rbf": lambda left, right: np.exp(-cdist(left, right, "sqeuclidean") / 8),
        "diffusion": lambda left, right: np.exp(-(np.arccos(sphere(left, right)) ** 2) / 2),
        "heat": lambda left, right: Heat(t=2.0).fit(right).transform(left),
    },
    "half-plane": {
        "rbf": lambda left, right: np.exp(-cdist(left, right, "sqeuclidean") / 8),
        "hyperbolic": lambda left, right: Hyperbolic(t=2.0).fit(right).transform(left),
    },
}


def of_space(space: str) -> dict[str, Any]:
    normalization = "l1" if space == "simplex" else "none"
    return {
        "corpus": {"name": "curved-points", "space": space, "train": TRAIN, "test": TEST} | GRID,
        "text": {"stoplist": "none"},
        "protocol": "fixed-split",
        "defaults": {"weighting": "tf", "normalization": normalization, "t": 2, "sigma": 2} | MACHINE,
        "methods": [{"kernel": list(FORMULAS[space])}],
        "variants": {"regions": {"protocol": {"test": "grid"}}},
        "diagnostics": ["coordinates"],
        "figures": [{"name": "figure", "regions": ["regions"]}],
    }


@pytest.fixture(scope="module", params=sorted(FORMULAS))
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, RunPredictions]:
    store = Store(tmp_path_factory.mktemp("store"))
    return request.param, run_experiment(small_experiment(**of_space(request.param)), RunContext(store))


def test_decides_as_scikit_learns_machine(done: tuple[str, RunPredictions]) -> None:
    space, found = done
    samples = draw_points(space, TRAIN, TEST, SEED)
    asked = {"base": samples.test_points, "regions": grid_points(space, RESOLUTION)}
    for (variant, _, method, *_), setting in found.predictions.settings.items():
        formula = FORMULAS[space][method]
        oracle = SVC(C=10.0, kernel="precomputed")
        oracle.fit(formula(samples.points, samples.points), samples.labels)
        values = oracle.decision_function(formula(asked[variant], samples.points))
        clear = np.abs(values) > 5e-3  # both stop at a gap of 1e-3, which bounds how far they may be apart
        assert clear.mean() > 0.95
        np.testing.assert_array_equal(setting.predicted[clear], (values > 0)[clear])
