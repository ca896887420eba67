"""Whoever solves the points, and whatever happens to them meanwhile, a run comes to the bytes that it has at home."""

from __future__ import annotations

import re
import shutil
import signal
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.config.schema import ParallelSection
from benchmark.evaluation import intervals
from benchmark.experiment import run as session
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.observer import Observer
from benchmark.system.threads import n_processors
from benchmark.workers import cluster as module
from benchmark.workers.cluster import DaskExecutor, group_jobs, parse_dask_option
from tests.builders import small_experiment
from tests.trials.limits import mostly_slow
from tests.workers.clusters import contents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmark.config.model import Experiment

pytestmark = [pytest.mark.usefixtures("sketched"), pytest.mark.timeout(120)]
#: Eight points in six groups: four matrices, and two that need none.
METHODS: list[Any] = [
    {"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]},
    {"classifier": ["mnb", "complement-nb"]},
]


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Intervals come from results, at home always: thousands of resamples would take most of what is done there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 100)
        patch.setattr(intervals, "RESAMPLES_MANY_KINDS", 100)
        yield


@pytest.fixture
def experiment() -> Experiment:
    return small_experiment(methods=METHODS)


@pytest.fixture(scope="module")
def home(few_draws: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the experiment is at home, without the pictures, which are drawn at home always."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "cached_pictures", lambda _, specs: {name: {} for name in specs})
        run_and_write(small_experiment(methods=METHODS), RunContext(Store(folder / "store")), folder=folder / "run")
    return {
        name: each for name, each in contents_of(folder / "run").items() if not name.endswith((".png", ".svg", ".html"))
    }


@pytest.fixture
def same(
    experiment: Experiment, home: dict[str, bytes], brought: Any, notebook: Any, tmp_path: Path
) -> Callable[..., DaskExecutor]:
    """Run the experiment on the cluster, and see that it is what it is at home."""

    def run(store: Store | None = None, **how: Any) -> DaskExecutor:
        store = store or Store(tmp_path / "store", limit=10**9, warn=notebook.note)
        with brought(store, **how) as cluster:
            run_and_write(experiment, RunContext(store, observer=notebook, elsewhere=cluster), folder=tmp_path / "run")
        found = contents_of(tmp_path / "run")
        assert {name: found[name] for name in home} == home
        assert len(notebook.steps) == notebook.planned
        return cluster

    return run


# Same bytes


@pytest.mark.parametrize("workers", mostly_slow([2, 1, 4], 1))
def test_the_same_bytes_from_any_number_of_workers(same: Any, dask: Any, at_home: list[int], workers: int) -> None:
    dask.employ(workers)
    same()
    assert at_home == [], "everything was solved by workers"


def test_without_a_worker_it_is_computed_at_home(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = DaskExecutor._connect

    def connected(self: DaskExecutor) -> None:
        connect(self)
        monkeypatch.setattr(module, "CONNECT_TIMEOUT", 0.1)

    monkeypatch.setattr(DaskExecutor, "_connect", connected)
    dask.employ(0)
    same()
    assert sum(at_home) > 0
    assert failed(notebook, "WorkerStartTimeoutError: Only 0")


def failed(notebook: Any, why: str = "") -> bool:
    """Whether one line says that the cluster failed, and what follows."""
    (note,) = notebook.notes
    start, end = f"the Dask cluster failed ({why}", "); this process computes the rest"
    return bool(note.startswith(start) and note.endswith(end))


def test_a_worker_that_is_killed_costs_only_what_it_had_in_hand(same: Any, dask: Any, notebook: Any) -> None:
    dask.employ(2)
    notebook.at_step = lambda n: dask.kill(dask.workers[0]) if n == 1 else None
    same()
    assert notebook.notes == []


def test_all_workers_killed(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 1.0)
    dask.employ(1)
    notebook.at_step = lambda n: dask.kill(dask.workers[0]) if n == 2 else None
    same()
    assert sum(at_home) > 0
    assert failed(notebook, "RuntimeError: no worker is left")


def test_a_store_behind_an_address(same: Any, dask: Any, bucket: str, at_home: list[int]) -> None:
    dask.employ(2)
    same(Store(f"{bucket}/cluster", limit=10**9))
    assert at_home == []


def test_results_that_the_store_has_need_no_cluster(same: Any, dask: Any, at_home: list[int]) -> None:
    dask.employ(1)
    same()
    cluster = same(address="tcp://127.0.0.1:9")
    assert cluster._client is None
    assert at_home == []


def test_what_a_worker_kept_and_is_not_seen_is_computed_at_home(
    same: Any, dask: Any, notebook: Any, at_home: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STORE_RETRY_DELAYS", (0.0, 0.01))
    dask.employ(1)
    here, make = Store(tmp_path / "here", limit=10**9), module.make_payload

    def to_another(experiment: Any, read: Any, store: Store, jobs: int) -> Any:
        shutil.copytree(tmp_path / "here", tmp_path / "there")
        return replace(make(experiment, read, store, jobs), store=str(tmp_path / "there"))

    monkeypatch.setattr(module, "make_payload", to_another)
    same(here)
    assert sum(at_home) > 0
    assert failed(notebook, f"RuntimeError: entries that workers store in {tmp_path / 'here'} aren't visible here")


# The connection


@pytest.mark.parametrize("how", ["SIGKILL", pytest.param("SIGSTOP", marks=pytest.mark.slow)])
def test_a_scheduler_that_is_killed_or_stopped(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 3.0)
    dask.employ(2)
    notebook.at_step = lambda n: dask.scheduler.send_signal(getattr(signal, how)) if n == 1 else None
    try:
        same()
    finally:
        dask.begin_anew()
    assert sum(at_home) > 0
    assert failed(notebook)


def test_a_scheduler_that_is_not_there_is_told_in_a_line(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 0.5)
    store = Store(tmp_path / "store")
    for address, said in (
        ("tcp://127.0.0.1:9", "127.0.0.1:9"),
        ("nonsense://x", "nonsense://x: ValueError: unknown address"),
    ):
        cluster = DaskExecutor(parse_dask_option(address), store, 1, Observer())
        with pytest.raises(BenchError, match=f"^no Dask scheduler answers at .*{said}"), cluster:
            run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / "run")


# What goes wrong


@pytest.mark.slow
def test_an_error_of_a_worker_alone_is_told_and_its_work_done_at_home(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.employ(1)
    make = module.make_payload
    monkeypatch.setattr(
        module, "make_payload", lambda *given: replace(make(*given), content=b"nothing that can be read")
    )
    same()
    assert sum(at_home) > 0
    assert failed(notebook, "UnpicklingError: ")


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("local", ParallelSection()),
        ("local:4", ParallelSection(n_jobs=4)),
        ("tcp://host:8786", ParallelSection(dask_address="tcp://host:8786")),
        ("scheduler.json", ParallelSection(dask_address="scheduler.json")),
    ],
)
def test_a_place_by_its_words(given: str, place: ParallelSection) -> None:
    assert parse_dask_option(given) == place


@pytest.mark.parametrize("given", ["local:x", "local:-1"])
def test_words_that_name_no_place(given: str) -> None:
    with pytest.raises(ConfigError, match="must have a number of processes"):
        parse_dask_option(given)


def test_without_dask_it_is_said_how_to_have_it(experiment: Experiment, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    store = Store(tmp_path / "store")
    said = "--dask and parallel need Dask: pip install 'simplexbench[cluster]'"
    cluster = DaskExecutor(parse_dask_option("local:1"), store, 1, Observer())
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}$"), cluster:
        run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("jobs", "place", "threads"),
    [
        (3, {"dask_address": None, "n_jobs": 2}, 3),
        (0, {"dask_address": "tcp://x:1", "n_jobs": 2}, 0),
        (0, {"dask_address": None, "n_jobs": 2}, max(1, n_processors() // 2)),
        (0, {"dask_address": None}, 1),
    ],
)
def test_processes_of_this_machine_divide_its_threads(
    jobs: int, place: dict[str, Any], threads: int, tmp_path: Path
) -> None:
    assert DaskExecutor(ParallelSection(**place), Store(tmp_path), jobs, Observer())._threads == threads


# What is sent


@pytest.mark.parametrize("subset", [None, "several"])
def test_groups_have_every_job_once_with_those_that_share(subset: str | None, tmp_path: Path) -> None:
    experiment = small_experiment(methods=METHODS, corpus={"name": "synthetic", "subset": subset})
    (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(Store(tmp_path))))
    missing = [(point, job) for point in work.points for job in point.jobs]
    groups = group_jobs(work, missing)
    assert {(group.variant, group.task) for group in groups} == {("base", work.task)}
    assert sorted(key for group in groups for key in group.keys) == sorted(job.key for _, job in missing)
    shares = {job.key: job.splits[0].name if subset else point.shares for point, job in missing}
    points = {job.key: point.place for point, job in missing if point.classifies_points and not subset}
    for group in groups:
        assert len({points.get(key, shares[key]) for key in group.keys}) == 1
    assert len(groups) == len({points.get(key, shares[key]) for key in shares})


class Client:
    """Computes nothing; `reply` is that of every group."""

    def __init__(self, reply: Any = None) -> None:
        self.reply, self.submitted = reply, list[tuple[str, ...]]()

    def wait_for_workers(self, *_: Any, **__: Any) -> None:
        """One is there."""

    def submit(self, *given: Any, pure: bool) -> Any:
        assert not pure
        self.submitted.append(given[-1])
        return Future(self)

    def close(self, timeout: float) -> None:
        assert timeout == module.CLOSE_TIMEOUT


@dataclass(eq=False)
class Future:
    """A group that was submitted."""

    client: Client

    def result(self) -> Any:
        if isinstance(self.client.reply, Exception):
            raise self.client.reply
        return self.client.reply


@pytest.fixture
def begun(experiment: Experiment, notebook: Any, tmp_path: Path, monkeypatch: Any) -> Callable[..., Any]:
    """Begin a run with a client of ours, half of whose results are in the store; return executor and missing jobs."""
    distributed = pytest.importorskip("distributed")

    def begin(client: Client, **place: Any) -> Any:
        store = Store(tmp_path / "store", limit=10**9)
        run_experiment(small_experiment(methods=METHODS[1:]), RunContext(store))
        monkeypatch.setattr(DaskExecutor, "_connect", lambda self: setattr(self, "_client", client))
        monkeypatch.setattr(distributed, "wait", lambda futures, **_: SimpleNamespace(done=futures))
        made = DaskExecutor(ParallelSection(**{"n_jobs": None} | place), store, 1, notebook)
        (work,) = made.begin(
            experiment, read := read_variants(experiment, RunContext(store)), plan_tasks(experiment, read)
        )
        return made, [(p, job) for p in work.points for job in p.jobs if not store.has(job.key)]

    return begin


@pytest.mark.parametrize(("n_jobs", "expected"), [(0, 0), (1, 1), (2, 2), (None, 4)])
def test_what_the_store_has_is_not_sent_and_no_more_at_once_than_there_may_be(
    begun: Any, n_jobs: int | None, expected: int
) -> None:
    client = Client({"failed": {}, "entries": {}, "lost": [], "notes": ["one"], "details": []})
    executor, missing = begun(client, n_jobs=n_jobs)
    assert len(client.submitted) == expected
    solved = list(executor.solved(missing))
    assert sorted(solved) == sorted((job.key, "") for _, job in missing if n_jobs != 0)
    assert executor._observer.notes == ["one"] * (n_jobs != 0)


def test_each_job_has_its_reason_and_what_was_lost_is_left(begun: Any) -> None:
    client = Client()
    executor, missing = begun(client)
    first, second, *_ = (job.key for _, job in missing)
    client.reply = {"failed": {first: "why"}, "entries": {}, "lost": [second], "notes": [], "details": ["trace"]}
    solved = dict(executor.solved(missing))
    assert (solved[first], second in solved) == ("why", False)
    assert len(solved) == len(missing) - 1
    assert set(executor._observer.details) == {"trace"}


def test_an_error_of_ours_ends_the_run_and_any_other_is_finished_here(begun: Any) -> None:
    executor, missing = begun(Client(KeyError("x\ny")))
    assert list(executor.solved(missing)) == []
    assert failed(executor._observer, "KeyError: 'x\\ny'")
    assert executor._client is None
    executor, missing = begun(Client(BenchError("other versions")))
    with pytest.raises(BenchError, match="other versions"):
        list(executor.solved(missing))


# Words


@pytest.mark.parametrize(
    ("dask", "at_most", "place"),
    [
        ("local", None, (None, None)),
        ("local", 2, (None, 2)),
        ("local:4", None, (None, 4)),
        ("local:4", 2, (None, 4)),
        ("tcp://host:8786", 3, ("tcp://host:8786", 3)),
    ],
)
def test_the_most_workers_are_those_of_either_option(
    dask: str, at_most: int | None, place: tuple[str | None, int | None]
) -> None:
    parsed = parse_dask_option(dask, at_most)
    assert (parsed.dask_address, parsed.n_jobs) == place
