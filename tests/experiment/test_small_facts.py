"""Small facts of a run: counts beyond a byte, seconds, labels, digests of later tasks, and what is stored where."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.evaluation.splits import Split
from benchmark.experiment import manifest, runner
from benchmark.experiment import run as runs
from benchmark.experiment.context import RunContext
from benchmark.experiment.near_duplicates import find_near_duplicates
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.experiment.settings import PlannedTask, StoreUnit, predictions_of_unit
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.system.errors import BenchError
from tests.builders import Notebook, setting_of, small_experiment
from tests.toy_data import toy_problem

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.store import Store


def test_a_context_of_nothing_but_a_store_may_download_and_has_one_thread(store: Store) -> None:
    context = RunContext(store)
    assert (context.jobs, context.download, context.elsewhere) == (1, True, None)


def test_documents_of_a_split_are_counted_beyond_a_byte() -> None:
    members = np.tile(np.eye(2, dtype=bool), (300, 1))
    problem: Any = SimpleNamespace(members=members, documents=SimpleNamespace(groups=None))
    split = Split("s", np.arange(40, 600), np.arange(40))
    work = PlannedTask("base", "", problem, {None: (split,)}, ())
    ((size, (tested,)),) = work.tested()
    assert (size, tested.name, tested.trained.tolist(), len(tested.test)) == (None, "s", [280, 280], 40)


def test_seconds_keep_their_microseconds_and_a_unit_has_its_memory() -> None:
    problem = toy_problem(multilabel=False)
    unit = StoreUnit("k", "m", (Split("s", np.arange(30), np.arange(30, 33)),), ((),))
    given = setting_of([[0, 1, 2]], seconds=[[0.1234567, 2.0, 0, 0, 0, 0.4]])
    got = predictions_of_unit(unit, [given], problem, 5.0)
    assert got.seconds.tolist() == [[0.123457, 2.0, 0, 0, 0, 0.4]]
    assert got.memory.tolist() == [5.0]


def test_what_is_near_is_not_the_same(store: Store) -> None:
    problem = toy_problem(multilabel=False)
    dense = np.random.default_rng(0).integers(0, 2, (60, 400), dtype=np.int32)
    dense[50] = dense[51] = dense[3]
    place = np.flatnonzero(dense[51])[0]
    dense[51, place] = 0
    problem = replace(problem, counts=replace(problem.counts, matrix=sp.csr_array(dense)))
    work: Any = SimpleNamespace(splits={None: (Split("s", np.arange(50), np.arange(50, 60)),)}, problem=problem)
    ((found,), (rows,)) = find_near_duplicates(work, store)
    assert (found["near"], found["same"], rows.tolist()) == (2, 1, [50, 51])


def test_each_picture_is_stored_by_its_own_content(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmark.report.drawing import render  # noqa: PLC0415

    drawn: list[str] = []

    def made(specs: Any) -> Any:
        drawn.extend(specs)
        return {name: {"png": spec.encode(), "svg": b"<" + spec.encode()} for name, spec in specs.items()}

    monkeypatch.setattr(render, "engine_version", lambda: "1")
    monkeypatch.setattr(render, "picture_digest", lambda spec: spec)
    monkeypatch.setattr(render, "render_pictures", made)
    specs: Any = {"a": "one", "b": "two", "c": "three"}
    first = runs.cached_pictures(store, specs)
    assert drawn == ["a", "b", "c"]
    assert runs.cached_pictures(store, specs) == first
    assert runs.cached_pictures(store, {"x": "two"}) == {"x": {"png": b"two", "svg": b"<two"}}  # type: ignore[dict-item]
    assert drawn == ["a", "b", "c"]


def test_a_folder_that_can_not_be_written_is_refused_before_the_work(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "run_experiment", lambda *_: pytest.fail("the work was done"))
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BenchError, match=rf"^can't write results to {folder}: .*Name another folder\.$"):
            runs.run_and_write(small_experiment(), RunContext(store), folder)


def test_a_run_has_the_failures_of_its_methods_and_of_its_diagnostics(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise ValueError("not for these")

    monkeypatch.setattr(runner, "compute_checked", failing)
    monkeypatch.setattr("benchmark.classifiers.LinearSvm.fit", failing)
    seen = Notebook()
    experiment = small_experiment(methods=["linear-svm", "eef"], diagnostics=["document-counts"])
    done = runner.run_experiment(experiment, RunContext(store, seen))
    assert done.failures == {"linear-svm": "cornell: not for these", "document-counts": "not for these"}
    assert [note for note in seen.notes if "document-counts" in note] == ["document-counts failed: not for these"]


def test_a_single_text_of_a_method_is_told_of(store: Store) -> None:
    own = {"classifier": "mnb", "name": "own", "text": {"stoplist": "none", "min_occurrences": 60}}
    read = read_variants(small_experiment(methods=["mnb", own]), RunContext(store))["base"]
    assert [each["min_occurrences"] for each in read.facts["texts"]] == [60]
    assert "texts" not in read_variants(small_experiment(methods=["mnb"]), RunContext(store))["base"].facts


@pytest.mark.parametrize("status", ["", " M a.py"])
def test_a_commit_is_changed_by_files_that_are_its_own_alone(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    checkout = manifest.CHECKOUT
    assert checkout is not None
    answers = {"rev-parse --show-toplevel": str(checkout), "rev-parse HEAD": "abc"}

    def says(_: Any, *words: str) -> str:
        asked.append(words)
        return answers.get(" ".join(words), status)

    monkeypatch.setattr(manifest, "_git_says", says)
    assert manifest._code_origin() == {"git": {"commit": "abc", "changed": bool(status)}}
    assert ("status", "--porcelain", "--untracked-files=no") in asked


def test_candidates_are_not_alone_and_fusions_are_batched_where_documents_are_drawn(store: Store) -> None:
    methods = [
        {"name": "words", "classifier": {"name": "mnb", "smoothing": [0.1, 1]}},
        "eef",
        {"name": "linear", "classifier": "linear-svm"},
        {"fuse": ["eef", "linear"], "name": "both"},
    ]
    draws = {"name": "random-subsets", "train_size": 60, "replicates": 2, "test": "texas"}
    groups = {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]}
    for protocol, batched in ((draws, True), (groups, False)):
        experiment = small_experiment(methods=methods, protocol=protocol, choose={"by": "oracle"})
        (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(store)))
        alone = {point.place.method: point.alone for point in work.points}
        assert [name for name, is_alone in alone.items() if not is_alone] == ["words"]
        (fused,) = [point for point in work.points if isinstance(point.method, FusedMethod)]
        assert fused.method.batched is batched
        assert len(fused.jobs) == (1 if batched else 2)
