"""Models of kernels are stored where that saves time, and a run from them has the same predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.experiment import store as module
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import KERNEL_STAGE, Store
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 2, "stratified": False},
}
FISHER = {"kernel": {"name": "plsi-fisher", "n_classes": [2, 3]}}


def kept(store: Store) -> int:
    return sum(facts.get("stage") == KERNEL_STAGE for facts, *_ in store.described())


def test_another_c_is_trained_on_what_is_stored(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_KERNEL_SECONDS", 0.0)
    monkeypatch.setattr(module, "MIN_SPEEDUP", 0.0)
    one, other = (
        small_experiment(**SEVERAL, methods=[{**FISHER, "classifier": {"name": "svm", "C": C}}]) for C in (1, 3)
    )
    run_experiment(one, RunContext(store))
    first = kept(store)
    with monkeypatch.context() as patch:
        patch.setattr("benchmark.kernels.plsi.PLSI.fit", lambda *_, **__: pytest.fail("a model was trained"))
        found = run_experiment(other, RunContext(store)).predictions.settings
    assert kept(store) == first > 0
    expected = run_experiment(other, RunContext(Store(tmp_path / "another"))).predictions.settings
    assert found.keys() == expected.keys()
    for key, setting in found.items():
        np.testing.assert_array_equal(setting.predicted, expected[key].predicted)
        np.testing.assert_array_equal(setting.tied, expected[key].tied)
