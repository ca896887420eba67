"""Whoever solves the points, and whatever happens to them meanwhile, a run comes to the bytes that it has at home."""

from __future__ import annotations

import random
import re
import shutil
import signal
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.config.schema import ParallelSection
from benchmark.evaluation import intervals
from benchmark.experiment import run as session
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.observer import Observer
from benchmark.workers import cluster as module
from benchmark.workers.cluster import DaskExecutor, parse_dask_option
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


@pytest.fixture
def shuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, chance = module.group_jobs, random.Random(0)  # noqa: S311

    def mixed(*given: Any) -> list[Any]:
        found = [replace(each, keys=tuple(chance.sample(each.keys, len(each.keys)))) for each in groups(*given)]
        return chance.sample(found, len(found))

    monkeypatch.setattr(module, "group_jobs", mixed)


# Same bytes


@pytest.mark.parametrize("workers", mostly_slow([2, 1, 4], 1))
def test_the_same_bytes_from_any_number_of_workers(same: Any, dask: Any, at_home: list[int], workers: int) -> None:
    dask.employ(workers)
    same()
    assert at_home == [], "everything was solved by workers"


def test_the_same_bytes_in_any_order(same: Any, dask: Any, shuffled: None, at_home: list[int]) -> None:
    dask.employ(2)
    same()
    assert at_home == []


def test_without_a_worker_it_is_computed_at_home(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WORKER_TIMEOUT", 0.1)
    dask.employ(0)
    same()
    assert sum(at_home) > 0
    assert notebook.notes == ["no worker connected for 0 s; this process computes the rest"]


def test_a_worker_that_is_killed_costs_only_what_it_had_in_hand(same: Any, dask: Any, notebook: Any) -> None:
    dask.employ(2)
    notebook.at_step = lambda n: dask.kill(dask.workers[0]) if n == 1 else None
    same()
    assert notebook.notes == []


def test_all_workers_killed(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WORKER_TIMEOUT", 1.0)
    dask.employ(1)
    notebook.at_step = lambda n: dask.kill(dask.workers[0]) if n == 2 else None
    same()
    assert sum(at_home) > 0
    assert notebook.notes == ["no worker connected for 1 s; this process computes the rest"]


def test_two_clients_at_once(
    experiment: Experiment, home: dict[str, bytes], brought: Any, dask: Any, tmp_path: Path
) -> None:
    dask.employ(2)

    def run(name: str) -> None:
        store = Store(tmp_path / "store", limit=10**9)
        with brought(store) as cluster:
            run_and_write(experiment, RunContext(store, elsewhere=cluster), folder=tmp_path / name)

    both = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for each in both:
        each.start()
    for each in both:
        each.join(60)
    for name in ("one", "two"):
        found = contents_of(tmp_path / name)
        assert {name: found[name] for name in home} == home


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
    assert notebook.notes == [
        f"entries that workers store in {tmp_path / 'here'} aren't visible here; this process computes them again"
    ]


# The connection


BROKEN = "lost the connection to the Dask scheduler; this process computes the rest"


def test_after_a_connection_that_breaks_the_rest_is_done_here(
    same: Any, dask: Any, notebook: Any, at_home: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.employ(1)
    connect, clusters = DaskExecutor._connect, list[DaskExecutor]()

    def connected(self: DaskExecutor) -> None:
        clusters.append(self)
        connect(self)

    monkeypatch.setattr(DaskExecutor, "_connect", connected)

    def disturb(n: int) -> None:
        if n == 1:
            client = clusters[0]._client
            client.loop.add_callback(client.scheduler_comm.comm.abort)

    notebook.at_step = disturb
    same()
    assert sum(at_home) > 0
    assert notebook.notes == [BROKEN]


def test_a_scheduler_that_is_killed(same: Any, dask: Any, notebook: Any, at_home: list[int]) -> None:
    dask.employ(2)
    notebook.at_step = lambda n: dask.kill(dask.scheduler) if n == 1 else None
    try:
        same()
    finally:
        dask.begin_anew()
    assert sum(at_home) > 0
    assert notebook.notes == [BROKEN]


def silent(who: str) -> list[list[str]]:
    """What may be said of a stopped process: where it had an answer ready that can't be fetched, that comes first."""
    reasons = f"no message from {who} for 6 s", "no Dask worker returned its result for 6 s"
    return [[f"{reason}; this process computes the rest"] for reason in reasons]


@pytest.mark.slow
def test_a_scheduler_that_is_stopped(same: Any, dask: Any, notebook: Any, at_home: list[int]) -> None:
    dask.employ(2)
    notebook.at_step = lambda n: dask.scheduler.send_signal(signal.SIGSTOP) if n == 1 else None
    try:
        same(silence=6.0)
    finally:
        dask.begin_anew()
    assert sum(at_home) > 0
    assert notebook.notes in silent("the Dask scheduler")


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [1, 2])
def test_workers_that_are_stopped(same: Any, dask: Any, notebook: Any, at_home: list[int], stopped: int) -> None:
    dask.employ(2)

    def stop(n: int) -> None:
        for worker in dask.workers[:stopped] if n == 1 else ():
            worker.send_signal(signal.SIGSTOP)

    notebook.at_step = stop
    try:
        same(silence=6.0)
    finally:
        dask.employ(0)
    assert sum(at_home) > 0
    assert notebook.notes in silent("a Dask worker")


def test_an_address_that_accepts_and_says_nothing(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = DaskExecutor(
            parse_dask_option(f"tcp://127.0.0.1:{silent.getsockname()[1]}"), Store(tmp_path / "s"), 1, Observer()
        )
        with (
            pytest.raises(BenchError, match=r"^no Dask scheduler answers at .*; without --dask the run uses"),
            cluster,
        ):
            run_and_write(experiment, RunContext(Store(tmp_path / "s"), elsewhere=cluster), folder=tmp_path / "run")


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
    assert len(notebook.notes) == 1
    assert notebook.notes[0].startswith("a worker failed (UnpicklingError: ")


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


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_started_on_this_machine_is_closed_at_the_end(fails: bool, tmp_path: Path, monkeypatch: Any) -> None:
    """A scheduler with its threads; no worker need start."""
    monkeypatch.setattr(DaskExecutor, "_n_local", 0)
    executor, found = DaskExecutor(parse_dask_option("local:1"), Store(tmp_path / "store"), 1, Observer()), list[Any]()
    with suppress(ZeroDivisionError), executor as cluster:
        cluster._connect()
        found += [cluster._local, cluster._client]
        assert [getattr(each.status, "name", each.status) for each in found] == ["running", "running"]
        assert 1 / (not fails)
    assert [getattr(each.status, "name", each.status) for each in found] == ["closed", "closed"]


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
