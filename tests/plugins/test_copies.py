"""A user's weighting, kernel or feature map may write over what it gets: no number of another method changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.system.user_classes import running_user_code_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITING = """\
import numpy as np
from chi2 import ChiSquared
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap

class Same(Weighting):
    def local(self, counts):
        counts.data *= 3
        return counts.data / 3.0
    def factors(self, presence, members):
        presence.data *= 0
        return np.ones(presence.shape[1])

class Root(FeatureMap):
    def map(self, points):
        points.data **= 0.5
        return points

class Writing(ChiSquared):
    def transform(self, X):
        rows = super().transform(X)
        X.data *= 0
        return rows

KERNELS, WEIGHTINGS, FEATURES = {"writing": Writing}, {"same": Same}, {"root": Root}
"""
METHODS = (
    "{name: a, weighting: same, classifier: linear-svm}, {name: b, features: root, classifier: linear-svm}, writing, "
    "{name: c, weighting: tf, classifier: linear-svm}, {name: d, features: hellinger, classifier: linear-svm}, chi2"
)


def test_what_is_written_over_is_a_copy(
    config: Callable[..., Path], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    plugin(WRITING)
    with running_user_code_here():  # in one process, where what one method writes another could read
        experiment = load_checked(config("chi2.py, mine.py", METHODS))
        run = run_experiment(experiment, RunContext(Store(tmp_path / "store")))
    assert not run.failures
    found = {key.method: setting.predicted for key, setting in run.predictions.settings.items()}
    for written, plain in (("a", "c"), ("b", "d"), ("writing", "chi2")):
        np.testing.assert_array_equal(found[written], found[plain])
