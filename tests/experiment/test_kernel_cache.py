"""Matrices and models of kernels are kept where that saves time, and a run from them has the same predictions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment import kernel_cache as module
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.kernel_cache import KERNEL_STAGE, KernelCache
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import Linear
from benchmark.system.user_classes import running_user_code_here
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.evaluation.predictions import SettingPredictions

SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 2, "stratified": False},
}
HEAT = {"corpus": {"name": "synthetic", "classes": ["course", "faculty"]}, "protocol": {"name": "leave-one-group-out"}}
PLUGIN = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class Slow(TransformerMixin, BaseEstimator):
    stored = True

    def fit(self, X, y=None):
        self.points = X
        return self

    def transform(self, X):
        return np.asarray((X @ self.points.T).todense())


KERNELS = {"slow": Slow}
"""


@pytest.fixture
def everything_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_KERNEL_SECONDS", 0.0)
    monkeypatch.setattr(module, "MIN_SPEEDUP", 0.0)


@pytest.fixture
def from_scratch(tmp_path: Path) -> Any:
    """Run with a store that nothing else has used."""
    return lambda experiment: run_experiment(experiment, RunContext(Store(tmp_path / "another"))).predictions.settings


def kept(store: Store) -> list[dict[str, Any]]:
    return [facts for facts, *_ in store.described() if facts.get("stage") == KERNEL_STAGE]


def same(one: SettingPredictions, other: SettingPredictions) -> bool:
    return np.array_equal(one.predicted, other.predicted) and np.array_equal(one.tied, other.tied)


def with_c(method: dict[str, Any], C: float) -> dict[str, Any]:
    return {**method, "classifier": {"name": "svm", "C": C}}


class TestRuns:
    @pytest.mark.usefixtures("everything_is_worth_it", "sketched")
    @pytest.mark.parametrize(
        ("sections", "kernel", "what"),
        [
            (SEVERAL, {"name": "plsi-fisher", "n_classes": [2, 3]}, "PLSI models"),
            (HEAT, {"name": "heat", "t": 0.01}, ""),
        ],
    )
    def test_another_c_is_trained_on_what_is_kept(
        self, sections: Any, kernel: Any, what: str, store: Store, notebook: Any, from_scratch: Any
    ) -> None:
        method = {"kernel": kernel, **({} if what else {"weighting": "tf", "normalization": "l1"})}
        one, other = (small_experiment(**sections, methods=[with_c(method, C)]) for C in (1, 3))
        run_experiment(one, RunContext(store, notebook))
        first = kept(store)
        assert all(facts["about"].startswith(what) for facts in first)
        notebook.notes.clear()
        found = run_experiment(other, RunContext(store, notebook)).predictions.settings
        assert len(kept(store)) == len(first)
        said = f"{len(first)} of the kernels' matrices, models and hyperplanes came from the store"
        assert any(said in note for note in notebook.notes) == bool(first)
        expected = from_scratch(other)
        assert found.keys() == expected.keys()
        assert all(same(found[key], expected[key]) for key in found)

    @pytest.mark.usefixtures("everything_is_worth_it", "sketched")
    def test_hp_top_has_the_hyperplanes_of_the_linear_machines(self, store: Store, from_scratch: Any) -> None:
        method = {"weighting": "tf", "normalization": "l2"}
        linear, top = (
            small_experiment(**SEVERAL, methods=[method | {"kernel": kernel}]) for kernel in ("linear", "hp-top")
        )
        run_experiment(linear, RunContext(store))
        hyperplanes = len(kept(store))
        assert hyperplanes == 2
        found = run_experiment(top, RunContext(store)).predictions.settings
        assert len(kept(store)) == hyperplanes
        expected = from_scratch(top)
        assert all(same(found[key], expected[key]) for key in expected)
        other_c = small_experiment(**SEVERAL, methods=[with_c(method | {"kernel": "hp-top"}, 7)])
        run_experiment(other_c, RunContext(store))
        assert len(kept(store)) == 2 * hyperplanes, "another C has other hyperplanes"

    @pytest.mark.usefixtures("everything_is_worth_it", "sketched")
    def test_a_plug_ins_matrix_is_kept_until_its_file_changes(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "slow.py").write_text(PLUGIN)

        def run_with(C: float) -> list[dict[str, Any]]:
            text = (
                "name: own\ncorpus: {name: synthetic}\nplugins: [slow.py]\n"
                "text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 5}\n"
                "protocol: {name: leave-one-group-out, held_out: [cornell]}\n"
                f"methods: [{{kernel: slow, weighting: tf, normalization: l1, classifier: {{name: svm, C: {C}}}}}]\n"
            )
            (tmp_path / "own.yaml").write_text(text)
            with running_user_code_here():  # where everything is worth it
                run_experiment(load_checked(tmp_path / "own.yaml"), RunContext(store))
            return kept(store)

        assert len(run_with(1)) == 1
        assert len(run_with(2)) == 1
        (tmp_path / "slow.py").write_text(PLUGIN.replace("self.points.T", "(2 * self.points).T"))
        assert len(run_with(3)) == 2


class TestCache:
    @pytest.fixture
    def cache(self, store: Store) -> KernelCache:
        return KernelCache(store)

    @staticmethod
    def ask(cache: KernelCache, seconds: float, n: int = 10, **content: Any) -> list[str]:
        """Ask for arrays that take so long; return what was called."""
        called = []

        def make() -> dict[str, Any]:
            called.append("made")
            time.sleep(seconds)
            return {"gram": np.arange(float(n))}

        np.testing.assert_array_equal(cache("some", [Linear], content, make)["gram"], np.arange(float(n)))
        return called

    def test_what_takes_long_is_made_once(self, cache: KernelCache) -> None:
        assert self.ask(cache, 0.6, x=1) == ["made"]
        assert self.ask(cache, 0.6, x=1) == []
        assert self.ask(cache, 0.6, x=2) == ["made"]
        assert cache.n_found == 1

    def test_what_is_soon_made_or_long_to_read_is_not_kept(
        self, cache: KernelCache, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.ask(cache, 0.0, x=1)
        monkeypatch.setattr(module, "READ_SPEED", 200.0)
        self.ask(cache, 0.6, x=1)
        assert store.entries() == []

    def test_a_run_fills_no_more_than_its_share(self, tmp_path: Path) -> None:
        store = Store(tmp_path, limit=4 * 1000)
        cache = KernelCache(store)
        for x in range(3):
            self.ask(cache, 0.6, n=60, x=x)
        assert len(store.entries()) == 2, "480 bytes each, of 1,000"

    def test_an_array_that_was_damaged_is_made_again(self, cache: KernelCache, store: Store) -> None:
        self.ask(cache, 0.6, x=1)
        ((path, *_),) = store.entries()
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        assert self.ask(cache, 0.6, x=1) == ["made"]
