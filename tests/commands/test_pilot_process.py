"""What a pilot's process is told, reads and answers, and what of a large run and of a large file stands for all."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmark.commands import plan as planning
from benchmark.commands.forecast import pilot
from benchmark.commands.forecast.pilot_plan import plan_pilots
from benchmark.commands.forecast.sample import made_up_entries
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import NO_INNER_FOLDS
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.experiment.settings import unpack_predictions
from benchmark.experiment.store import Store, StoreEntry
from tests.builders import small_experiment


@pytest.mark.parametrize("n", [1, 149, 150, 151, 299, 301, 450, 1000])
def test_of_many_cells_some_at_equal_steps_stand_for_all(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    module, taken = "benchmark.commands.forecast.pilot_plan", dict[str, Any]()
    whole: Any = SimpleNamespace(ids=tuple(f"c{number}" for number in range(n)))

    def subset(experiment: Any, ids: set[str], patterns: tuple[str, ...]) -> Any:
        assert (experiment, patterns) == (whole, ("*",))
        taken["ids"] = sorted(ids, key=whole.ids.index)
        return SimpleNamespace(ids=tuple(taken["ids"]))

    monkeypatch.setattr(f"{module}.subset_experiment", subset)
    monkeypatch.setattr(f"{module}.plan_tasks", lambda some, read: [(len(some.ids), read)])
    monkeypatch.setattr(f"{module}.missing_batches", lambda works, left: [("batch", *works, left)])
    monkeypatch.setattr(f"{module}.choose_pilots", lambda batches: ["pilot", *batches])
    some, plan = plan_pilots(whole, "read", "works", "left")  # type: ignore[arg-type]
    step = -(-n // 150)
    ids = whole.ids[::step]
    assert (len(ids) <= 150, some.ids) == (True, ids)
    assert plan.cells == n / len(ids)
    assert plan.missing == [("batch", *"works", "left")], "those of the whole run"
    if n <= 150:
        assert (some, taken, plan.works, plan.represented) == (whole, {}, "works", plan.missing)
    else:
        assert plan.works == [(len(ids), "read")]
        assert plan.represented == [("batch", (len(ids), "read"), "left")]
    assert plan.pilots == ["pilot", *plan.represented]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("part", [1 / 3, 1 / 10, 2.0])
def test_seconds_of_a_large_file_are_those_of_its_part_as_often_as_it_is_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ordered: bool, part: float
) -> None:
    """Reading grows with the rows up to the last that was read, and counting with the documents that were counted."""
    labels = sorted("abc" * 100) if ordered else [*"abc" * 100]
    rows = [f"word{number % 10} and more of it,{label}" for number, label in enumerate(labels)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    (tmp_path / "many.yaml").write_text(
        "name: many\ncorpus: {name: files, path: many.csv}\ntext: {stoplist: none}\n"
        "protocol: {name: k-fold, k: 2}\nmethods: [mnb]\n"
    )
    (variant,) = load_checked(tmp_path / "many.yaml").variants.values()
    monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", int(part * path.stat().st_size))
    times = itertools.count()
    monkeypatch.setattr(planning, "clock", lambda: np.array([1.0, 10.0]) * next(times))
    read, took = planning._stand_in(variant.collection, RunContext(Store(tmp_path / "store"), download=False))
    n = min(100, -(-int(part * path.stat().st_size) * 100 // path.stat().st_size))  # of each class
    last = 200 + n if ordered else 3 * n
    assert took == pytest.approx(np.array([1.0, 10.0]) * (300 / last + 300 / (3 * n)))
    counts = read.counts
    assert len(counts.documents) == 300
    assert (counts.matrix.sum(axis=1) == 5).all()


def test_the_bytes_of_a_corpus_in_the_home_folder_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.csv").write_bytes(bytes(70))
    for path in ("~/mine/a.csv", {"train": "~/mine/a.csv"}, "~/mine"):
        assert planning._bytes(UserFiles(path=path, text="t", label="l", base=tmp_path / "elsewhere")) == 70


@pytest.mark.parametrize("remote", [False, True])
def test_a_pilot_process_reads_the_store_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: bool
) -> None:
    """What it is told goes through its standard input, and its answers through its standard output."""
    started = list[list[str]]()

    def popen(command: list[str], **_: Any) -> Any:
        started.append(command)
        return SimpleNamespace(stdout=SimpleNamespace(readline=lambda: "[1.5, 2.5, 3e8]\n"))

    monkeypatch.setattr(pilot.subprocess, "Popen", popen)
    address = "memory://x" if remote else str(tmp_path / "store")
    context: Any = SimpleNamespace(store=SimpleNamespace(address=address), jobs=3)
    process = pilot.PilotProcess(small_experiment(methods=["mnb"]), context, tmp_path)
    assert started == [[sys.executable, "-P", "-m", "benchmark.commands.forecast.pilot", str(tmp_path), address, "3"]]
    assert (process.start.seconds.tolist(), process.start.memory) == ([1.5, 2.5], 3e8)
    opened = list[Any]()
    monkeypatch.setattr(pilot, "Store", lambda place, limit: opened.append((place, limit)) or "store")
    monkeypatch.setattr(pilot, "RunContext", lambda store, jobs: opened.append((store, jobs)))
    monkeypatch.setattr(sys, "argv", ["pilot", *started[0][4:]])
    monkeypatch.setattr(pilot, "_read", lambda _: None)
    monkeypatch.setattr(pilot, "ensure_numba_cache", lambda _: None)
    answers = tmp_path / "answers"
    saved, number = os.dup(1), os.open(answers, os.O_WRONLY | os.O_CREAT)
    try:
        os.dup2(number, 1)
        pilot.main()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(number)
    assert opened == [(address, 0), ("store", 3)]
    cpu, again, peak = json.loads(answers.read_text())
    assert 0 < cpu <= again
    assert peak > 5e7


@pytest.mark.parametrize("n", [1, 2])
def test_each_pilot_has_its_memory_its_plug_ins_and_a_folder_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    asked, folders = list[Any](), list[Path]()
    contents = [part for number in range(n) for part in (f"what {number}".encode(), f"plug-ins {number}".encode())]
    left = [*contents, None]

    def unpickle(content: bytes, plugins: Any) -> Any:
        asked.append((content, plugins))
        return {"budget": 2.5e9, "works": content} if content.startswith(b"what") else {"of": content}

    def measure(works: Any, *, context: Any, folder: Path) -> Any:
        assert folder.is_dir()
        folders.append(folder)
        asked.append((works, context, os.environ["BENCH_MEMORY_GB"]))
        return {"rest": [1.0, 2.0, 3.0]}

    monkeypatch.setenv("BENCH_MEMORY_GB", "9")
    monkeypatch.setattr(pilot, "unpickle_content", unpickle)
    monkeypatch.setattr(pilot, "measure_pilot", measure)
    monkeypatch.setattr(pilot, "release_memory", lambda: 4e8)
    monkeypatch.setattr(pilot, "Store", lambda *_, **__: "store")
    monkeypatch.setattr(pilot, "RunContext", lambda *_, **__: "context")
    monkeypatch.setattr(sys, "argv", ["pilot", str(tmp_path), "store", "1"])
    monkeypatch.setattr(pilot, "_read", lambda _: left.pop(0))
    monkeypatch.setattr(pilot, "ensure_numba_cache", lambda _: None)
    answers = io.StringIO()
    monkeypatch.setattr(pilot.os, "fdopen", lambda *_: contextlib.nullcontext(answers))
    monkeypatch.setattr(pilot.os, "dup2", lambda *_: None)
    monkeypatch.setattr(pilot.os, "dup", lambda _: None)
    pilot.main()
    found = [json.loads(line) for line in answers.getvalue().splitlines()[1:]]
    assert found == [{"rest": [1.0, 2.0, 3.0], "base": 4e8}] * n
    expected = list[Any]()
    for what, plugins in zip(contents[::2], contents[1::2], strict=True):
        expected += [(plugins, {}), (what, {"of": plugins}), (what, "context", "2.5")]
    assert asked == expected
    assert len({*folders}) == n
    assert all(folder.parent == tmp_path and not folder.exists() for folder in folders)


def test_an_entry_is_that_in_memory_or_the_pilot_s_or_the_run_s(tmp_path: Path) -> None:
    made, mine, other = (StoreEntry({"n": np.array([number])}) for number in range(3))
    keys = ["0" * 64, "1" * 64, "2" * 64, "3" * 64]
    run = Store(tmp_path / "run", limit=10**9)
    for key in keys[:3]:
        run.put(key, other)
    found = pilot.PilotStore(tmp_path / "pilot", {keys[0]: made}, run)
    for key in keys[:2]:
        found.put(key, mine)
    entries = [found.get(key) for key in keys]
    assert [None if each is None else each.arrays["n"].tolist() for each in entries] == [[0], [1], [2], None]
    assert run.get(keys[3]) is None
    assert found.get(keys[0]) is made


def test_made_up_results_have_counts_of_inner_folds_where_a_parameter_is_chosen(tmp_path: Path) -> None:
    """For each split three counts a class and the documents, as results of a run have."""
    chosen = {"kernel": "ngd", "classifier": {"name": "svm", "C": [1, 2]}}
    how: dict[str, Any] = {"methods": [chosen, "mnb"], "choose": {"by": "cross-validation", "folds": 3}}
    read = read_variants(small_experiment(**how), RunContext(Store(tmp_path / "store"), download=False))
    (work,) = plan_tasks(small_experiment(**how), read)
    entries = made_up_entries([work], frozenset())
    k, inner = len(work.documents.classes), 0
    for point in work.points:
        for job in point.jobs:
            found = unpack_predictions(entries[job.key], job, work.problem)
            folds = any(job.inner)
            inner += folds
            assert found.inner.shape == ((len(job.splits), 3 * k + 1) if folds else NO_INNER_FOLDS.shape)
            assert entries[job.key].facts["reads"] == []
    assert inner == 4  # of two candidates on two splits
