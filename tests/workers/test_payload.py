"""What a worker is sent is slim, it uses the threads that it is given, and it stops where nobody waits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.experiment.store import Store, StoreEntry, store_key
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.workers import worker
from benchmark.workers.worker import (
    Cancelled,
    _NotifyingStore,
    compute_units,
    files_of_plugins,
    make_payload,
    unpickle_content,
)
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = StoreEntry({"numbers": np.arange(3)})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**9)


def test_what_no_setting_depends_on_is_not_sent(store: Store) -> None:
    experiment = small_experiment(methods=["mnb"], diagnostics=["document-counts"])
    variant = experiment.variants["base"]
    held = replace(
        experiment, variants={"base": replace(variant, collection=replace(variant.collection, loaded="all"))}
    )
    read = read_variants(experiment, RunContext(store))
    payload = make_payload(held, read, store, 3)
    slim, keys = unpickle_content(payload.content, {})
    assert (slim.diagnostics, slim.raw, slim.variants["base"].collection.loaded) == ((), {}, None)
    assert {*slim.known.kernels} == {*BUILTIN_REGISTRIES.kernels}
    assert keys == {"base": (read["base"].key, {}, {})}
    assert (slim.seed, slim.cells, slim.name) == (experiment.seed, experiment.cells, experiment.name)
    assert payload.versions == worker.library_versions()


def test_files_are_those_of_plug_ins_of_any_kind_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    known = BUILTIN_REGISTRIES.copied()
    for name, file in (("a", "/x/one.py"), ("b", "/x/one.py"), ("c", "")):
        known.kernels.origins[name] = SimpleNamespace(file=file)  # type: ignore[assignment]
    known.metrics.origins["m"] = SimpleNamespace(file="/x/two.py")  # type: ignore[assignment]
    known.pipelines.origins["p"] = SimpleNamespace(file="/x/a.py")  # type: ignore[assignment]
    monkeypatch.setattr(worker, "plugin_files", lambda names: {name: {} for name in names})
    experiment: Any = SimpleNamespace(registries=known)
    assert list(files_of_plugins(experiment)) == ["/x/a.py", "/x/one.py", "/x/two.py"]


@pytest.mark.parametrize(("given", "threads"), [(0, 5), (2, 2)])
def test_a_worker_has_as_many_threads_as_it_is_given_or_all(
    given: int, threads: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = small_experiment(methods=["mnb"])
    read = read_variants(experiment, RunContext(store))
    (work,) = plan_tasks(experiment, read)
    seen: list[int] = []

    class Walk:
        failed: dict[Any, str] = {}  # noqa: RUF012

        def __init__(self, context: RunContext, bench: Any) -> None:
            seen.extend([context.jobs, bench.jobs])

        def solve(self, work: Any) -> None:
            assert work.points

    monkeypatch.setattr(worker, "n_processors", lambda: 5)
    monkeypatch.setattr(worker, "MatrixCache", lambda jobs, **_: SimpleNamespace(jobs=jobs, release=lambda: None))
    monkeypatch.setattr(worker, "blas_threads", lambda jobs: seen.append(jobs) or worker.threading.Lock())
    monkeypatch.setattr(worker, "TaskExecutor", Walk)
    keys = frozenset(job.key for point in work.points for job in point.jobs)
    reply = compute_units(make_payload(experiment, read, store, given), "base", work.task, keys, lambda _: True)
    assert seen == [threads] * 3
    assert sorted(reply["lost"]) == sorted(keys)


def test_a_worker_stops_once_nobody_waits_for_what_was_stored(store: Store) -> None:
    notes: list[str] = []
    told: list[str] = []
    own = _NotifyingStore(store.folder, 10**9)
    own.tell(lambda key: not told.append(key), notes.append)
    keys = [store_key(n=n) for n in range(4)]
    assert own.put(keys[0], ENTRY)
    own.tell(lambda key: bool(told.append(key)), notes.append)
    with pytest.raises(Cancelled):
        own.put(keys[1], ENTRY)
    assert own.has(keys[1]), "it is stored all the same"
    own.writable = False
    assert not own.put(keys[2], ENTRY), "nobody is told of what wasn't stored"
    assert told == keys[:2]
    own.tell(lambda _: True, notes.append)
    assert own.put(keys[3], ENTRY), "it is tried again"
    assert notes == []
