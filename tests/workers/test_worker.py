"""What a worker is sent and does: other code or another store it refuses, what fails there fails in the same words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.payload import make_payload
from benchmark.experiment.run import run_and_write
from benchmark.experiment.runner import read_variants
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError
from benchmark.workers import cluster as module
from benchmark.workers.worker import check_versions, library_versions
from tests.builders import small_experiment
from tests.workers.clusters import contents_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

pytestmark = [pytest.mark.usefixtures("sketched"), pytest.mark.timeout(120)]
SLOW = """\
import time
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator


class Slow(BaseEstimator):
    def __init__(self, number: int = 0, fails: bool = False):
        self.number, self.fails = number, fails

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.fails:
            raise RuntimeError(f"number {self.number} was told to fail")
        started = time.time()
        time.sleep(PAUSE)
        Path(FOLDER, str(self.number)).write_text(f"{started} {time.time()}")
        return self

    def predict(self, X):
        scores = X @ np.random.default_rng(self.number).random((X.shape[1], len(self.classes_)))
        return self.classes_[np.asarray(scores).argmax(axis=1)]


CLASSIFIERS = {"slow": Slow}
"""


@pytest.fixture
def experiment() -> Experiment:
    return small_experiment()


# What goes wrong


@pytest.fixture
def slow(tmp_path: Path) -> Callable[..., Experiment]:
    """An experiment with a classifier of one's own, which writes down when it works."""

    def make(methods: str, pause: float = 0.15) -> Experiment:
        (tmp_path / "work").mkdir(exist_ok=True)
        code = SLOW.replace("FOLDER", repr(str(tmp_path / "work"))).replace("PAUSE", str(pause))
        (tmp_path / "slow.py").write_text(code)
        (tmp_path / "own.yaml").write_text(
            "name: own\nplugins: [slow.py]\ncorpus: {name: synthetic}\ntext: {min_occurrences: 50}\n"
            f"protocol: {{name: leave-one-group-out, held_out: [cornell]}}\nmethods: {methods}\n"
        )
        found: Any = load_checked(tmp_path / "own.yaml")
        return found

    return make


@pytest.mark.slow
def test_what_fails_on_a_worker_fails_in_the_same_line(
    slow: Any, dask: Any, brought: Any, notebook: Any, at_home: list[int], tmp_path: Path
) -> None:
    experiment = slow("[{classifier: {name: slow, number: [1, 2], fails: [true, false]}}]")
    done = run_and_write(experiment, RunContext(Store(tmp_path / "one"), observer=notebook), folder=tmp_path / "home")
    assert len(done.results.failures) == 2
    notes, details = list(notebook.notes), len(notebook.details)
    assert details == 2
    assert sum("was told to fail" in note for note in notes) == 2
    at_home.clear()
    notebook.notes.clear()
    dask.employ(2)
    store = Store(tmp_path / "two")
    with brought(store) as cluster:
        there = run_and_write(
            experiment, RunContext(store, observer=notebook, elsewhere=cluster), folder=tmp_path / "there"
        )
    assert there.results.failures == done.results.failures
    assert notebook.notes == notes
    assert len(notebook.details) == 2 * details, "its author may see where it came from"
    assert at_home == []
    assert contents_of(tmp_path / "there") == contents_of(tmp_path / "home")


def test_a_worker_that_refuses_ends_the_run_in_a_line(
    experiment: Experiment, dask: Any, brought: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.employ(1)
    make, store = module.make_payload, Store(tmp_path / "store")
    changes = {
        "a worker computes with numpy .*, not 0.1: it needs the versions": {"versions": {"numpy": "0.1"}},
        "a worker can't read the counts from .*elsewhere: the store must": {
            "store": str(tmp_path / "elsewhere"),
            "key": "x",
        },
    }
    for said, change in changes.items():
        monkeypatch.setattr(module, "make_payload", lambda *given, change=change: replace(make(*given), **change))
        with pytest.raises(BenchError, match=f"^{said}"), brought(store) as cluster:
            run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / "run")
    check_versions(library_versions())
    with pytest.raises(BenchError, match=r"computes with python 3.*, not 2\.7, perl none, not 5: "):
        check_versions({"python": "2.7", "perl": "5"})


def test_other_keys_are_other_code(
    experiment: Experiment, dask: Any, brought: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    dask.employ(1)
    groups, store = module.group_jobs, Store(tmp_path / "store")
    monkeypatch.setattr(
        module, "group_jobs", lambda *each: [replace(g, keys=(*g.keys, "0" * 64)) for g in groups(*each)]
    )
    with (
        pytest.raises(BenchError, match="computes different keys for results: its simplexbench code"),
        brought(store) as cluster,
    ):
        run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / "run")


# How many, and what is sent


@pytest.mark.slow
@pytest.mark.parametrize("at_most", [2, None])
def test_at_most_so_many_at_once(slow: Any, dask: Any, brought: Any, tmp_path: Path, at_most: int | None) -> None:
    # Long enough that a worker which takes seconds to begin meets the others at work.
    experiment = slow(f"[{{classifier: {{name: slow, number: {list(range(16))}}}}}]", pause=1.5)
    dask.employ(3)
    store = Store(tmp_path / "store")
    with brought(store, at_most) as cluster:
        done = run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / "run")
    assert not done.results.failures
    spans = [tuple(map(float, path.read_text().split())) for path in (tmp_path / "work").iterdir()]
    assert len(spans) == 16
    most = max(sum(start <= moment < end for start, end in spans) for moment, _ in spans)
    assert most == (at_most or 3)


def test_what_is_sent_is_no_corpus(experiment: Experiment, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    read = read_variants(experiment, RunContext(store, download=False))
    found = make_payload(experiment, read, store, 1)
    assert len(found.content) < 20_000
    assert make_payload(experiment, read, store, 1) == found
    assert "content" not in repr(found)
