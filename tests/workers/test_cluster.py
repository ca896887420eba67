"""Whoever solves the points, and whatever happens to them meanwhile, a run comes to the bytes that it has at home."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.evaluation import intervals
from benchmark.experiment import plan
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.runner import LocalExecutor
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError, ConfigError
from benchmark.workers import processes as module
from benchmark.workers.processes import DaskExecutor, pack_task
from tests.builders import small_experiment
from tests.processes import contents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.config.model import Experiment

pytestmark = [pytest.mark.usefixtures("sketched", "few_draws"), pytest.mark.timeout(120)]
#: Eight points in six groups: four matrices, and two that need none.
METHODS: list[Any] = [
    {"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]},
    {"classifier": ["mnb", "complement-nb"]},
]


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """Intervals come from results, at home always: thousands of resamples would take most of what is done there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 100)
        patch.setattr(intervals, "RESAMPLES_MANY_KINDS", 100)
        yield


@pytest.fixture
def experiment() -> Experiment:
    return small_experiment(methods=METHODS)


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many jobs were solved by this process, a number each time."""
    solved, solved_here = list[int](), LocalExecutor._solved_here

    def counted(self: Any, batch: Any) -> Any:
        solved.append(len(batch.units))
        return solved_here(self, batch)

    monkeypatch.setattr(LocalExecutor, "_solved_here", counted)
    return solved


@pytest.fixture
def there(dask: Any, notebook: Any, tmp_path: Path) -> Callable[..., DaskExecutor]:
    """Run an experiment on the cluster, into the folder `run`."""

    def run(experiment: Experiment, store: Store, address: str = "") -> DaskExecutor:
        with closing(DaskExecutor(address or dask.address, store, 1, notebook)) as cluster:
            run_and_write(experiment, RunContext(store, observer=notebook, workers=cluster), tmp_path / "run")
        return cluster

    return run


@pytest.fixture(scope="module")
def home() -> dict[str, bytes]:
    """What the experiment is at home, once it was asked for."""
    return {}


@pytest.fixture
def same(
    experiment: Experiment, home: dict[str, bytes], there: Any, notebook: Any, tmp_path: Path
) -> Callable[..., DaskExecutor]:
    """Run the experiment on the cluster, and see that it is what it is at home."""
    if not home:
        run_and_write(experiment, RunContext(Store(tmp_path / "home")), folder=tmp_path / "run-home")
        home.update(contents_of(tmp_path / "run-home"))

    def run(store: Store | None = None, **how: Any) -> DaskExecutor:
        cluster: DaskExecutor = there(experiment, store or Store(tmp_path / "store", warn=notebook.note), **how)
        assert contents_of(tmp_path / "run") == home
        assert len(notebook.steps) == notebook.planned
        return cluster

    return run


@pytest.mark.parametrize("shared", ["folder", "address"])
def test_the_same_bytes_from_workers_and_a_full_store_needs_none(
    same: Any, dask: Any, bucket: str, at_home: list[int], tmp_path: Path, shared: str
) -> None:
    dask.employ(2)
    store = Store(tmp_path / "store" if shared == "folder" else f"{bucket}/cluster", limit=10**9)
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": dask.address}))
    address = dask.address if shared == "folder" else str(tmp_path / "scheduler.json")
    same(store, address=address)
    dask.employ(0)
    same(store, address=address)
    assert at_home == [], "everything was solved by workers, or in the store"


def test_a_worker_with_other_code_ends_the_run_in_a_line(
    experiment: Experiment, dask: Any, there: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    dask.employ(2)
    monkeypatch.setattr(plan, "method_code", lambda _: "0" * 64)
    with pytest.raises(BenchError, match=r"^\S+: a worker has other code than this machine, or "):
        there(experiment, Store(tmp_path / "store"))


OWN = """
from pathlib import Path
from beside import scale
from sklearn.naive_bayes import MultinomialNB

class Own(MultinomialNB):
    reads = ("words.txt",)

    def fit(self, X, y):
        with open(SEEN, "a") as file:
            print(Path(__file__).parent, file=file)
        return super().fit(scale(X, float(Path(__file__).with_name("words.txt").read_text())), y)

CLASSIFIERS = {"own": Own}
"""
WITH_OWN = """
name: small
plugins: [own.py]
corpus: {name: synthetic}
protocol: {name: leave-one-group-out, held_out: [texas]}
methods: [mnb, own]
"""


@pytest.mark.slow
def test_users_code_gives_the_same_bytes_on_workers_which_get_its_files(dask: Any, there: Any, tmp_path: Path) -> None:
    dask.employ(1)
    (tmp_path / "own.py").write_text(OWN.replace("SEEN", repr(str(tmp_path / "seen"))))
    (tmp_path / "beside.py").write_text("def scale(X, by):\n    return X * by\n")
    (tmp_path / "words.txt").write_text("2")
    (tmp_path / "small.yaml").write_text(WITH_OWN)
    experiment = load_checked(tmp_path / "small.yaml")
    done = run_and_write(experiment, RunContext(Store(tmp_path / "home")), tmp_path / "here")
    assert not done.results.failures
    there(experiment, Store(tmp_path / "store"))
    assert contents_of(tmp_path / "run") == contents_of(tmp_path / "here")
    here, copy = dict.fromkeys((tmp_path / "seen").read_text().split())
    assert Path(here) == tmp_path
    assert not (Path(copy) / "own.py").samefile(tmp_path / "own.py")


def unseen(task: Any, store: Store, jobs: int) -> bytes:
    """Give workers a store of their own, which takes no more entries."""
    folder = Path(store.address)
    shutil.copytree(folder, folder.parent / "other")
    return pack_task(task, Store(folder.parent / "other", limit=1), jobs)


#: Workers, what happens at which step, how the task is packed, and what a line says, if no worker is left. Those
#: that need living workers come first: starting one takes seconds.
EVENTS: dict[str, tuple[int, Any, Any, str | None]] = {
    "another store": (2, None, unseen, None),
    "a worker killed": (2, (1, lambda dask: dask.kill(dask.workers[0])), None, None),
    "all workers killed": (1, (2, lambda dask: dask.kill(dask.workers[0])), None, "RuntimeError: no worker is left"),
    "no worker": (0, None, None, "WorkerStartTimeoutError: Only 0"),
    "scheduler stopped": (2, (1, lambda dask: dask.scheduler.send_signal(signal.SIGSTOP)), None, ""),
    "scheduler killed": (1, (1, lambda dask: dask.scheduler.send_signal(signal.SIGKILL)), None, ""),
}


@pytest.mark.parametrize(
    "event",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "scheduler stopped")) for name in EVENTS],
)
def test_whatever_happens_to_the_cluster(
    event: str, same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers, happens, changed, why = EVENTS[event]
    if happens or not workers:
        monkeypatch.setattr(module, "QUIET_SECONDS", 1.0)
        monkeypatch.setattr(module, "CONNECT_TIMEOUT", 5.0)
    if changed:
        monkeypatch.setattr(module, "pack_task", changed)
    dask.employ(workers)
    if happens:
        notebook.at_step = lambda n: happens[1](dask) if n == happens[0] else None
    try:
        same()
    finally:
        if event == "scheduler stopped":
            dask.end()
            dask.start()
    assert bool(at_home) == (why is not None), notebook.notes
    said = [] if why is None else [f"the Dask cluster failed ({why}"]
    assert [note[: len(start)] for note, start in zip(notebook.notes, said, strict=True)] == said
    assert all(note.endswith("); this process computes the rest") for note in notebook.notes)


def test_what_is_not_there_is_told_in_a_line(
    experiment: Experiment, there: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(BenchError, match=f"^no Dask scheduler answers at {address}: "):
            there(experiment, Store(tmp_path / "store"), address=address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"^--dask needs Dask: pip install 'simplexbench\[cluster\]'$"):
        there(experiment, Store(tmp_path / "store"))
