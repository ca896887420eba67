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
    return sum(facts.get("stage") == KERNEL_STAGE for facts, *_ in store.described())


def test_another_c_is_trained_on_what_is_stored(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_KERNEL_SECONDS", 0.0)
    monkeypatch.setattr(module, "MIN_SPEEDUP", 0.0)
    one, other = (
        small_experiment(**SEVERAL, methods=[{**FISHER, "classifier": {"name": "svm", "C": C}}]) for C in (1, 3)
    )
    computed, ask = list[str](), KernelCache.__call__

    def counted(self: KernelCache, about: str, components: Any, content: Any, make: Any) -> Any:
        return ask(self, about, components, content, lambda: (computed.append(about), make())[1])

    monkeypatch.setattr(KernelCache, "__call__", counted)
    run_experiment(one, RunContext(store))
    first = kept(store)
    found = run_experiment(other, RunContext(store)).predictions.settings
    assert kept(store) == len(computed) == first > 0
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

    np.testing.assert_array_equal(cache("some", [Linear], content, make)["gram"], np.arange(float(n)))
    return bool(called)


def test_a_run_fills_no_more_than_its_share(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=4 * 1000)
    cache = KernelCache(store)
    assert all(ask(cache, 0.6, n=60, x=x) for x in range(3))
    assert len(store.entries()) == 2, "480 bytes each, of 1,000"
    assert not ask(cache, 0.6, n=60, x=0)
