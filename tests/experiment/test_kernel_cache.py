"""Models of kernels are stored where that saves time, and a run from them has the same predictions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.experiment import store as module
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import KERNEL_STAGE, KernelCache, Store
from benchmark.kernels import Linear
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 2, "stratified": False},
}
FISHER = {"kernel": {"name": "plsi-fisher", "n_classes": [2, 3]}}


def kept(store: Store) -> int:
    entries = (store.get(path.name) for path, *_ in store.entries())
    return sum(entry is not None and entry.facts.get("stage") == KERNEL_STAGE for entry in entries)


def test_another_c_is_trained_on_what_is_stored(
    store: Store, notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_KERNEL_SECONDS", 0.0)
    monkeypatch.setattr(module, "MIN_SPEEDUP", 0.0)
    one, other = (
        small_experiment(**SEVERAL, methods=[{**FISHER, "classifier": {"name": "svm", "C": C}}]) for C in (1, 3)
    )
    run_experiment(one, RunContext(store, notebook))
    first = kept(store)
    notebook.notes.clear()
    found = run_experiment(other, RunContext(store, notebook)).predictions.settings
    assert kept(store) == first > 0
    assert f"{first} of the kernels' models came from the store." in notebook.notes
    expected = run_experiment(other, RunContext(Store(tmp_path / "another"))).predictions.settings
    assert found.keys() == expected.keys()
    for key, setting in found.items():
        np.testing.assert_array_equal(setting.predicted, expected[key].predicted)
        np.testing.assert_array_equal(setting.tied, expected[key].tied)


def ask(cache: KernelCache, seconds: float, n: int = 10, **content: Any) -> bool:
    """Ask for arrays that take so long; return whether they were computed."""
    called = []

    def make() -> dict[str, Any]:
        called.append(True)
        time.sleep(seconds)
        return {"gram": np.arange(float(n))}

    np.testing.assert_array_equal(cache([Linear], content, make)["gram"], np.arange(float(n)))
    return bool(called)


def test_a_run_fills_no_more_than_its_share(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=4 * 1000)
    cache = KernelCache(store)
    assert all(ask(cache, 0.6, n=60, x=x) for x in range(3))
    assert len(store.entries()) == 2, "480 bytes each, of 1,000"
    assert not ask(cache, 0.6, n=60, x=0)
