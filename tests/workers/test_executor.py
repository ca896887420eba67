"""What the executor decides by itself: groups, how many at once, which answers it believes, and when it gives up.

The client here computes in this process, or doesn't answer; the connection itself is tried in `test_cluster`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.config.schema import ParallelSection
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment
from benchmark.experiment.store import Store
from benchmark.system.errors import BenchError
from benchmark.system.threads import n_processors
from benchmark.workers import cluster as module
from benchmark.workers import worker
from benchmark.workers.cluster import DaskExecutor, JobGroup, group_jobs
from benchmark.workers.worker import Cancelled, compute_units, make_payload
from tests.builders import small_experiment
from tests.workers.clusters import Notebook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

#: Four kernels of two matrices, and two methods of points.
METHODS: list[Any] = [
    {"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]},
    {"classifier": ["mnb", "complement-nb"]},
]
REPLY: dict[str, Any] = {"failed": {}, "lost": [], "notes": [], "details": []}


class Future:
    """A group that was submitted, with its state and its reply or error."""

    def __init__(self, key: str, keys: tuple[str, ...], status: str = "pending", reply: Any = None) -> None:
        self.key, self.keys, self.status, self.reply = key, keys, status, reply

    def result(self) -> Any:
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply


class Client:
    """Computes what is submitted when it is submitted, or leaves it pending; its scheduler knows `n_workers`."""

    def __init__(self, *, computes: bool = True, n_workers: int = 1) -> None:
        self.computes, self.n_workers = computes, n_workers
        self.submitted, self.cancelled, self.closed = list[Future](), list[Future](), list[float]()
        self.seen: dict[str, Any] = {}
        self.answers = True

    def submit(
        self, function: Any, payload: Any, variant: str, task: str, keys: Any, *, key: str, retries: int
    ) -> Future:
        assert (function, retries) == (worker.compute_on_worker, 2)
        future = Future(key, keys)
        if self.computes:
            try:
                future.reply = compute_units(payload, variant, task, frozenset(keys), lambda _: True)
                future.status = "finished"
            except Exception as error:  # noqa: BLE001 - as Dask hands on any
                future.status, future.reply = "error", error
        self.submitted.append(future)
        return future

    def run_on_scheduler(self, function: Any, names: list[str]) -> Any:
        if not self.answers:
            raise OSError("closed")
        workers = dict.fromkeys(range(self.n_workers))
        return function(names, SimpleNamespace(tasks=self.seen, workers=workers))

    def cancel(self, futures: list[Future]) -> None:
        self.cancelled += futures

    def close(self, timeout: float) -> None:
        self.closed.append(timeout)


@pytest.fixture
def experiment() -> Experiment:
    return small_experiment(methods=METHODS)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**9)


@pytest.fixture
def executor(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[..., DaskExecutor]:
    """Make an executor whose client is ours."""

    def make(client: Client | None = None, jobs: int = 1, **place: Any) -> DaskExecutor:
        made = DaskExecutor(ParallelSection(**{"dask_address": "tcp://x:1"} | place), store, jobs, Notebook())

        def connect(self: DaskExecutor) -> None:
            self._client = client

        monkeypatch.setattr(DaskExecutor, "_connect", connect)
        return made

    return make


def notes_of(made: DaskExecutor) -> list[str]:
    observer: Any = made._observer
    return list(observer.notes)


@pytest.mark.parametrize("subset", [None, "several"])
def test_groups_have_every_job_once_with_those_that_share(subset: str | None, store: Store) -> None:
    experiment = small_experiment(methods=METHODS, corpus={"name": "synthetic", "subset": subset})
    (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(store)))
    missing = [(point, job) for point in work.points for job in point.jobs]
    groups = group_jobs(work, missing)
    assert {(group.variant, group.task) for group in groups} == {("base", work.task)}
    assert sorted(key for group in groups for key in group.keys) == sorted(job.key for _, job in missing)
    shares = {job.key: job.splits[0].name if subset else point.shares for point, job in missing}
    points = {job.key: point.place for point, job in missing if point.classifies_points and not subset}
    for group in groups:
        assert len({points.get(key, shares[key]) for key in group.keys}) == 1
    assert len(groups) == len({points.get(key, shares[key]) for key in shares})
    assert len(group_jobs(work, missing[:1])) == 1


def test_the_run_is_the_one_at_home(
    experiment: Experiment, executor: Callable[..., DaskExecutor], store: Store, tmp_path: Path
) -> None:
    home = run_experiment(experiment, RunContext(Store(tmp_path / "home")))
    client = Client()
    with executor(client, n_jobs=2) as there:
        found = run_experiment(experiment, RunContext(store, elsewhere=there))
    assert not found.failures
    for key, setting in home.predictions.settings.items():
        assert setting.predicted.tolist() == found.predictions.settings[key].predicted.tolist()
    assert len({future.key for future in client.submitted}) == len(client.submitted) > 2
    assert all(future.key.startswith("simplexbench-") for future in client.submitted)
    assert client.closed == [module.CLOSE_TIMEOUT]
    assert there._client is None


def test_what_the_store_has_is_not_submitted(
    experiment: Experiment, executor: Callable[..., DaskExecutor], store: Store
) -> None:
    read = read_variants(experiment, RunContext(store))
    works = list(plan_tasks(experiment, read))
    run_experiment(small_experiment(methods=METHODS[1:]), RunContext(store))
    client = Client(computes=False)
    there = executor(client)
    assert there.begin(experiment, read, iter(works)) == works
    known = {job.key for work in works for point in work.points for job in point.jobs if store.has(job.key)}
    sent = {key for future in client.submitted for key in future.keys}
    assert known
    assert not known & sent
    assert known | sent == {job.key for work in works for point in work.points for job in point.jobs}
    none = executor(Client(), n_jobs=0)
    assert none.begin(experiment, read, iter(works)) == works
    assert none._client is None, "no process is asked for"
    (work,) = works
    assert list(none.solved([(point, job) for point in work.points for job in point.jobs])) == []


def test_no_more_are_submitted_than_there_may_be_processes(
    experiment: Experiment, executor: Callable[..., DaskExecutor], store: Store
) -> None:
    read = read_variants(experiment, RunContext(store))
    for n_jobs, expected in ((1, 1), (2, 2), (3, 3), (None, 6)):
        client = Client(computes=False)
        there = executor(client, n_jobs=n_jobs)
        there.begin(experiment, read, plan_tasks(experiment, read))
        assert len(client.submitted) == expected
        there._cancel()
        assert client.cancelled == client.submitted
        assert not there._waiting
        assert not there._running


@pytest.mark.parametrize(
    ("jobs", "place", "threads"),
    [
        (3, {"dask_address": None, "n_jobs": 2}, 3),
        (0, {"dask_address": "tcp://x:1", "n_jobs": 2}, 0),
        (5, {"dask_address": "tcp://x:1"}, 5),
        (0, {"dask_address": None, "n_jobs": 1}, n_processors()),
        (0, {"dask_address": None, "n_jobs": 2}, max(1, n_processors() // 2)),
        (0, {"dask_address": None, "n_jobs": 10**6}, 1),
        (0, {"dask_address": None}, 1),
    ],
)
def test_processes_of_this_machine_divide_its_threads(
    jobs: int, place: dict[str, Any], threads: int, executor: Callable[..., DaskExecutor]
) -> None:
    assert executor(jobs=jobs, **place)._threads == threads


# Replies


def taken(executor: DaskExecutor, status: str, reply: Any) -> DaskExecutor:
    """Let the executor take one group of two jobs."""
    future = Future("name", ("a", "b"), status, reply)
    executor._client = Client(computes=False)
    executor._running = {future: JobGroup("base", "task", ("a", "b"))}
    executor._take(future)
    executor._take(future)  # once more is nothing
    assert future not in executor._running
    return executor


def test_of_a_reply_each_job_has_its_reason_and_what_was_lost_is_left(executor: Callable[..., DaskExecutor]) -> None:
    reply = {"failed": {"a": "why"}, "lost": [], "notes": ["one", "one", "two"], "details": ["trace"]}
    there = taken(executor(), "finished", reply)
    assert there._ready == {"a": "why", "b": ""}
    assert there._client is not None
    there._tell()
    there._tell()
    assert notes_of(there) == ["one", "two"]
    observer: Any = there._observer
    assert observer.details == ["trace"]
    assert taken(executor(), "finished", REPLY | {"lost": ["b"]})._ready == {"a": ""}


def test_a_group_that_another_run_gave_up_waits_again(executor: Callable[..., DaskExecutor]) -> None:
    there = taken(executor(), "error", Cancelled())
    assert [group.keys for group in there._waiting] == [("a", "b")]
    assert notes_of(there) == []


def test_an_error_of_ours_is_raised(executor: Callable[..., DaskExecutor]) -> None:
    with pytest.raises(BenchError, match="other versions"):
        taken(executor(), "error", BenchError("other versions"))


@pytest.mark.parametrize(
    ("status", "gives_up", "note"),
    [
        ("cancelled", True, "lost the connection to the Dask scheduler; this process computes the rest"),
        ("lost", True, "lost the connection to the Dask scheduler; this process computes the rest"),
        ("finished", True, "no Dask worker returned its result for 7 s; this process computes the rest"),
        ("error", False, "a worker failed (KeyError: 'x\\ny'); this process did its work"),
    ],
)
def test_a_group_that_fails_is_left_to_this_process(
    status: str, gives_up: bool, note: str, executor: Callable[..., DaskExecutor]
) -> None:
    there = taken(executor(silence=7), status, KeyError("x\ny"))
    there._tell()
    assert notes_of(there) == [note]
    assert (there._client is None) == gives_up
    assert there._ready == {}


def test_after_an_error_here_troubles_are_not_told(executor: Callable[..., DaskExecutor]) -> None:
    for error, told in ((None, ["trouble"]), (KeyError(), [])):
        there = executor()
        client = there._client = Client()
        there._local = Client()
        local = there._local
        there._troubles["trouble"] = None
        there.__exit__(error)
        assert notes_of(there) == told
        assert (client.closed, local.closed) == ([5.0], [5.0])


# The beginning and the end


def test_what_a_killed_process_left_in_the_store_is_removed_at_the_end(
    executor: Callable[..., DaskExecutor], store: Store, tmp_path: Path
) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    parts = tmp_path / "store" / "parts"
    parts.mkdir(parents=True)
    (parts / f"{'a' * 64}.{child.pid}.abcd").write_bytes(b"half")
    with executor(Client()):
        assert list(parts.iterdir())
    assert not list(parts.iterdir())


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("tcp://host:1", {"address": "tcp://host:1"}),
        ("there.json", {"scheduler_file": "there.json"}),
        (None, {"address": "processes"}),
    ],
)
def test_a_scheduler_is_named_by_its_address_or_file(
    address: str | None, named: dict[str, Any], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    given = list[dict[str, Any]]()
    monkeypatch.setattr(distributed, "Client", lambda **options: given.append(options) or "client")
    monkeypatch.setattr(DaskExecutor, "_processes", lambda _: "processes")
    made = DaskExecutor(ParallelSection(dask_address=address, n_jobs=2), store, 1, Notebook())
    made._connect()
    assert given == [{"timeout": module.CONNECT_TIMEOUT, **named}]
    assert made._client == "client"


def test_processes_that_die_at_the_start_are_started_three_times(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    tries, signals = list[dict[str, Any]](), list[Any]()

    def die(**options: Any) -> Any:
        tries.append(options)
        signals.append(signal.getsignal(signal.SIGINT))
        if len(tries) > 4:
            return "started"
        raise RuntimeError("died")

    monkeypatch.setattr(distributed, "LocalCluster", die)
    made = DaskExecutor(ParallelSection(n_jobs=2), store, 1, Notebook())
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(BenchError, match=r"^can't start 2 processes: one of them died in each of 3 attempts$"):
        made._processes()
    assert len(tries) == 3
    assert {(each["n_workers"], each["threads_per_worker"], each["memory_limit"]) for each in tries} == {(2, 1, 0)}
    assert made._processes() == "started"
    assert len(tries) == 5
    assert set(signals) == {signal.SIG_IGN}, "the terminal's interrupt is for this process alone"
    assert signal.getsignal(signal.SIGINT) is before
    with ThreadPoolExecutor(1) as pool:  # where no signal can be handled
        assert pool.submit(made._processes).result() == "started"


# Silence


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 1000.0, list[float]()
        own = SimpleNamespace(monotonic=lambda: self.now, time=lambda: self.now, sleep=self.slept.append)
        monkeypatch.setattr(module, "time", own)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def asked(there: DaskExecutor, client: Client, clock: Clock, seconds: float) -> list[str]:
    """Ask the scheduler after some seconds; return what is told then."""
    there._client = there._client or client
    clock.now += seconds
    there._ask()
    return notes_of(there)


def test_a_scheduler_without_workers_is_waited_for(executor: Callable[..., DaskExecutor], clock: Clock) -> None:
    client = Client(computes=False, n_workers=0)
    there = executor(client)
    there._heard = there._employed = clock.now
    assert asked(there, client, clock, 30.0) == []
    assert asked(there, client, clock, 0.5) == [], "not asked again within a second"
    assert asked(there, client, clock, 0.6) == ["no worker connected for 30 s; this process computes the rest"]
    assert there._client is None
    client.n_workers = 1
    there = executor(client)
    there._heard = there._employed = clock.now
    for _ in range(3):
        assert asked(there, client, clock, 29.0) == []


def test_a_scheduler_that_does_not_answer_is_given_up(executor: Callable[..., DaskExecutor], clock: Clock) -> None:
    client = Client(computes=False)
    there = executor(client, silence=10)
    there._heard = there._employed = clock.now
    assert asked(there, client, clock, 2.0) == []
    client.answers = False
    assert asked(there, client, clock, 10.0) == []
    client.answers = True
    assert asked(there, client, clock, 5.0) == [], "an answer counts from now on"
    client.answers = False
    assert asked(there, client, clock, 9.0) == []
    assert asked(there, client, clock, 1.5) == [
        "no message from the Dask scheduler for 10 s; this process computes the rest"
    ]


def test_a_worker_that_is_silent_with_our_group_is_given_up(
    executor: Callable[..., DaskExecutor], clock: Clock
) -> None:
    client = Client(computes=False)
    there = executor(client, silence=10)
    there._heard = there._employed = clock.now
    there._running = {Future("ours", ()): JobGroup("", "", ()), Future("waiting", ()): JobGroup("", "", ())}
    client.seen = {
        "ours": SimpleNamespace(processing_on=SimpleNamespace(last_seen=clock.now)),
        "waiting": SimpleNamespace(processing_on=None),
        "another's": SimpleNamespace(processing_on=SimpleNamespace(last_seen=0.0)),
    }
    assert asked(there, client, clock, 10.0) == []
    assert asked(there, client, clock, 1.1) == [
        "no message from a Dask worker for 10 s; this process computes the rest"
    ]
    assert client.cancelled, "what was submitted is cancelled"


def test_an_entry_of_another_machine_is_looked_for_once(
    executor: Callable[..., DaskExecutor], store: Store, clock: Clock
) -> None:
    there = executor()
    there._look_for("f" * 64)
    assert clock.slept == list(module.STORE_RETRY_DELAYS)
    said = f"entries that workers store in {store.address} aren't visible here; this process computes them again"
    assert notes_of(there) == [said]
    there._look_for("e" * 64)
    assert clock.slept == list(module.STORE_RETRY_DELAYS), "not again"
    here = executor(dask_address=None, n_jobs=1)
    here._look_for("f" * 64)
    assert notes_of(here) == []
    assert sum(module.STORE_RETRY_DELAYS) == pytest.approx(37.6)


def test_a_name_is_of_the_jobs_and_the_store(
    experiment: Experiment, executor: Callable[..., DaskExecutor], store: Store, tmp_path: Path
) -> None:
    """Two runs that ask for the same at once wait for one worker."""
    read, names = read_variants(experiment, RunContext(store)), list[list[str]]()
    for place in (store, store, Store(tmp_path / "other")):
        client = Client(computes=False)
        there = executor(client)
        there._store = place
        there.begin(experiment, read, plan_tasks(experiment, read))
        names.append([future.key for future in client.submitted])
    assert names[0] == names[1]
    assert not set(names[0]) & set(names[2])


# Workers


def test_a_worker_answers_with_what_failed_and_what_is_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = small_experiment(methods=["mnb", {"classifier": "linear-svm"}])
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    keys = {point.place.method: [job.key for job in point.jobs] for point in work.points}
    payload = make_payload(experiment, read, store, 2)
    assert (payload.jobs, payload.store, payload.limit, payload.plugins) == (2, store.address, 10**9, {})
    one = compute_units(payload, "base", work.task, frozenset(keys["mnb"]), lambda _: True)
    assert one == REPLY
    there = worker._EXPERIMENTS[payload.key][2]
    assert (there.address, there.limit) == (store.address, store.limit)
    assert all(store.has(key) for key in keys["mnb"])
    assert not any(store.has(key) for key in keys["linear-svm"])

    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("benchmark.classifiers.LinearSvm.fit", broken)
    two = compute_units(payload, "base", work.task, frozenset(keys["linear-svm"]), lambda _: True)
    assert two["failed"].keys() == set(keys["linear-svm"])
    assert all("broken" in reason for reason in two["failed"].values())
    assert two["lost"] == []


PLUGIN = """\
from sklearn.naive_bayes import MultinomialNB


class Mine(MultinomialNB):
    def fit(self, X, y):
        if self.alpha > 5:
            raise KeyError("large")
        return super().fit(X, y)


CLASSIFIERS = {"mine": Mine}
"""


def test_an_error_of_a_plug_in_comes_with_its_line_and_its_traceback(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "own.yaml").write_text(
        "name: own\nplugins: [mine.py]\ncorpus: {name: synthetic}\ntext: {min_occurrences: 50}\n"
        "protocol: {name: leave-one-group-out, held_out: [cornell]}\n"
        "methods: [{classifier: {name: mine, alpha: [1, 9]}}, mnb]\n"
    )
    experiment = load_checked(tmp_path / "own.yaml")
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    payload = make_payload(experiment, read, store, 1)
    assert payload.plugins == {str(tmp_path / "mine.py"): {"mine.py": PLUGIN.encode()}}
    keys = {point.place.method: [job.key for job in point.jobs] for point in work.points}
    reply = compute_units(
        payload, "base", work.task, frozenset(key for own in keys.values() for key in own), lambda _: True
    )
    assert reply["failed"].keys() == set(keys["mine-alpha9"])
    assert all("mine.py:7: KeyError: 'large'" in reason for reason in reply["failed"].values())
    assert reply["lost"] == []
    (detail,) = reply["details"]
    assert detail.startswith("Traceback")
    assert detail.endswith("KeyError: 'large'\n")
    assert all(store.has(key) for name in ("mine-alpha1", "mnb") for key in keys[name])


def test_a_worker_keeps_the_last_experiment_and_four_tasks(store: Store) -> None:
    tasks = [["student", "course"], ["student", "faculty"], ["course", "faculty"], ["project", "student"]]
    experiment = small_experiment(methods=["mnb"], tasks=[*tasks, ["project", "course"]])
    read = read_variants(experiment, RunContext(store))
    payload = make_payload(experiment, read, store, 1)
    works = list(plan_tasks(experiment, read))
    for work in works:
        keys = frozenset(job.key for point in work.points for job in point.jobs)
        assert compute_units(payload, "base", work.task, keys, lambda _: True) == REPLY
    assert [task for _, _, task in worker._WORKS] == [work.task for work in works[1:]]
    assert list(worker._EXPERIMENTS) == [payload.key]
    other = make_payload(experiment, read, store, 3)
    assert other.key == payload.key, "threads change no result"
    changed = small_experiment(methods=["mnb"], seed=9)
    again = make_payload(changed, read_variants(changed, RunContext(store)), store, 1)
    (work,) = plan_tasks(changed, read_variants(changed, RunContext(store)))
    keys = frozenset(job.key for point in work.points for job in point.jobs)
    assert compute_units(again, "base", work.task, keys, lambda _: True) == REPLY
    assert list(worker._EXPERIMENTS) == [again.key]
    assert len(worker._WORKS) == 1


def test_a_worker_counts_texts_of_methods_and_reads_strings(store: Store, tmp_path: Path) -> None:
    """From the store alone; the results are those of this process."""
    pairs = {"name": "pairs", "classifier": "mnb", "text": {"ngrams": [1, 2], "min_occurrences": 20}}
    experiment = small_experiment(methods=["mnb", pairs, {"name": "gz", "classifier": "complement-nb"}])
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    payload = make_payload(experiment, read, store, 0)
    keys = frozenset(job.key for point in work.points for job in point.jobs)
    assert compute_units(payload, "base", work.task, keys, lambda _: True) == REPLY
    there = run_experiment(experiment, RunContext(store))
    assert there.stored == set(there.predictions.settings)
    home = run_experiment(experiment, RunContext(Store(tmp_path / "home")))
    for key, setting in home.predictions.settings.items():
        assert setting.predicted.tolist() == there.predictions.settings[key].predicted.tolist()
    nowhere = replace(payload, key="x", store=str(tmp_path / "nowhere"))
    with pytest.raises(
        BenchError, match=r"a worker can't read the counts from .*nowhere: the store must be a folder or"
    ):
        compute_units(nowhere, "base", work.task, keys, lambda _: True)


def test_a_worker_works_while_its_group_is_wanted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    experiment = small_experiment(methods=["mnb", "complement-nb"], seed=21)
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    keys = [job.key for point in work.points for job in point.jobs]
    payload = make_payload(experiment, read, store, 1)
    tasks: dict[str, Any] = {}
    own = SimpleNamespace(get_current_task=lambda: "ours", state=SimpleNamespace(tasks=tasks))
    monkeypatch.setattr(distributed, "get_worker", lambda: own)
    for state in (None, "cancelled"):
        tasks.update({} if state is None else {"ours": SimpleNamespace(state=state)})
        with pytest.raises(Cancelled):
            worker.compute_on_worker(payload, "base", work.task, keys)
        for key in keys:
            store.remove(key)
    tasks["ours"] = SimpleNamespace(state="executing")
    assert worker.compute_on_worker(payload, "base", work.task, keys) == REPLY


def test_jobs_that_a_worker_does_not_know_are_refused(store: Store) -> None:
    experiment = small_experiment(methods=["mnb"])
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    with pytest.raises(BenchError, match="a worker computes different keys"):
        compute_units(make_payload(experiment, read, store, 1), "base", work.task, frozenset(["0"]), lambda _: True)


def test_a_store_that_cannot_be_written_leaves_results_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = small_experiment(methods=["mnb"], seed=11)
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    keys = frozenset(job.key for point in work.points for job in point.jobs)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benchmark.experiment.storage.LocalStoreFiles.write", full)
    reply = compute_units(make_payload(experiment, read, store, 1), "base", work.task, keys, lambda _: True)
    assert sorted(reply["lost"]) == sorted(keys)
    assert reply["failed"] == {}
    assert len(reply["notes"]) == 1
    assert "No space left on device" in reply["notes"][0]
    monkeypatch.undo()
    started = time.monotonic()
    again = compute_units(make_payload(experiment, read, store, 1), "base", work.task, keys, lambda _: True)
    assert again == REPLY, "written once there is room again"
    assert time.monotonic() - started < 60


# What is sent


def test_a_payload_s_key_is_of_all_that_decides_what_a_worker_does(
    experiment: Experiment, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_variants(experiment, RunContext(store))
    keys = [make_payload(experiment, read, store, 1).key]
    keys.append(make_payload(experiment, read, Store(store.folder, limit=10**8), 1).key)
    keys.append(make_payload(experiment, read, Store(tmp_path / "other", limit=10**9), 1).key)
    seeded = small_experiment(methods=METHODS, seed=77)
    keys.append(make_payload(seeded, read, store, 1).key)
    monkeypatch.setattr(worker, "files_of_plugins", lambda _: {"/x/mine.py": {"mine.py": b"1"}})
    keys.append(make_payload(experiment, read, store, 1).key)
    monkeypatch.undo()
    monkeypatch.setattr(worker, "library_versions", lambda: {"numpy": "0"})
    keys.append(make_payload(experiment, read, store, 1).key)
    assert len(set(keys)) == len(keys)
    monkeypatch.undo()
    again = make_payload(experiment, read, Store(store.folder, limit=10**9), 4)
    assert (again.key, again.jobs) == (keys[0], 4)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, ""),
        ({"numpy": "1"}, ""),
        ({"numpy": "2"}, "numpy 1, not 2"),
        ({"pandas": "2"}, "pandas none, not 2"),
        ({"numpy": "2", "scipy": "1", "pandas": "3"}, "numpy 1, not 2, pandas none, not 3"),
    ],
)
def test_versions_are_those_of_the_sender(sent: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "library_versions", lambda: {"numpy": "1", "scipy": "1"})
    if not said:
        worker.check_versions(sent)
        return
    with pytest.raises(BenchError) as raised:
        worker.check_versions(sent)
    assert str(raised.value) == f"a worker computes with {said}: it needs the versions of this machine"


def test_files_of_plug_ins_and_of_pipelines_are_sent_and_so_are_all_texts(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "models.py").write_text(
        "from sklearn.feature_extraction.text import CountVectorizer\nfrom sklearn.naive_bayes import MultinomialNB\n"
        "from sklearn.pipeline import make_pipeline\ndef make():\n"
        "    return make_pipeline(CountVectorizer(), MultinomialNB())\n"
    )
    texts = [f"{{name: p{n}, pipeline: 'models.py:make', text: {{skip_html: {html}}}}}" for n, html in
             enumerate(("true", "false"))]  # fmt: skip
    (tmp_path / "own.yaml").write_text(
        "name: own\nplugins: [mine.py]\ncorpus: {name: synthetic}\ntext: {min_occurrences: 50}\n"
        "protocol: {name: leave-one-group-out, held_out: [cornell]}\n"
        f"methods: [{{classifier: mine}}, mnb, {', '.join(texts)}]\n"
    )
    experiment = load_checked(tmp_path / "own.yaml")
    files = worker.files_of_plugins(experiment)
    assert {name: [*own] for name, own in files.items()} == {
        str(tmp_path / "mine.py"): ["mine.py"],
        str(tmp_path / "models.py"): ["models.py"],
    }
    read = read_variants(experiment, RunContext(store))
    payload = make_payload(experiment, read, store, 1)
    there, keys = worker.unpickle_content(payload.content, payload.plugins)
    assert there.ids == experiment.ids
    counts, own, strings = keys["base"]
    assert (counts, own) == (read["base"].key, {text: key for text, (_, key) in read["base"].texts.items()})
    assert strings == {text: each.key for text, each in read["base"].strings.items()}
    assert len(set(strings.values())) == 2
    (work,) = plan_tasks(experiment, read)
    units = frozenset(job.key for point in work.points for job in point.jobs)
    assert compute_units(payload, "base", work.task, units, lambda _: True) == REPLY


def test_of_several_sizes_each_has_groups_of_its_own(store: Store) -> None:
    protocol = {"name": "random-subsets", "train_size": [60, 80], "replicates": 2, "test": "texas", "stratified": False}
    corpus = {"name": "synthetic", "subset": "several"}
    experiment = small_experiment(methods=["mnb", "ngd"], corpus=corpus, protocol=protocol)
    (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(store)))
    missing = [(point, job) for point in work.points for job in point.jobs]
    sizes = {job.key: (point.place.size, job.splits[0].name) for point, job in missing}
    groups = group_jobs(work, missing)
    assert [{sizes[key] for key in group.keys} for group in groups] == [
        {each} for each in dict.fromkeys(sizes.values())
    ]


def test_what_an_earlier_run_was_answered_is_of_no_later_one(
    experiment: Experiment, executor: Callable[..., DaskExecutor], store: Store
) -> None:
    there = executor(Client(computes=False))
    there._ready["old"], there._troubles["trouble"] = "reason", None
    there._waiting.append(JobGroup("base", "old", ("old",)))
    read = read_variants(experiment, RunContext(store))
    there.begin(experiment, read, plan_tasks(experiment, read))
    assert there._ready == {}
    assert notes_of(there) == ["trouble"]
    assert "old" not in {group.task for group in [*there._waiting, *there._running.values()]}
