"""What is planned: parts add up, grow with the documents, follow the store, and are near what the run then takes."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.commands import pilot as trial
from benchmark.commands import plan as planning
from benchmark.commands.plan import (
    LEARNING,
    READING,
    RUN_PARTS,
    SCORING,
    START,
    Forecast,
    Plan,
    forecast_text,
    plan_run,
)
from benchmark.experiment import runner
from benchmark.experiment.batches import plan_batches
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import load_checked
from benchmark.experiment.runner import TaskExecutor, plan_tasks, run_experiment
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.system import memory as environment
from tests.builders import small_experiment
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("sketched")
KERNELS = {"weighting": "tf", "normalization": "l1", "kernel": ["linear", "ngd"]}
SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 4, "stratified": False, "test": "texas"},
    "metrics": ["macro-f1"],
}
TWO = {
    "tasks": [["faculty", "course"]],
    "protocol": {"name": "random-subsets", "train_size": [40], "replicates": 4},
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**10)


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., Experiment]:
    """A configuration for generated documents of one's own: words drawn by class."""

    def make(n: int, methods: str = "[mnb, ngd]", words: int = 60, *, ordered: bool = False) -> Experiment:
        random = np.random.default_rng(0)
        with (tmp_path / f"{n}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            for row in sorted(range(n), key=lambda row: row % 3) if ordered else range(n):
                drawn = random.zipf(1.3, words) % 2000 + 700 * (row % 3) * (random.random(words) < 0.3)
                writer.writerow([" ".join(map(word_of, drawn.tolist())), f"c{row % 3}"])
        text = (
            f"name: own\ncorpus: {{name: files, path: {n}.csv}}\nprotocol: {{name: k-fold, k: 3}}\nmethods: {methods}\n"
        )
        (tmp_path / f"{n}.yaml").write_text(text)
        return load_checked(tmp_path / f"{n}.yaml")  # type: ignore[return-value]

    return make


LETTERS = str.maketrans("0123456789", "qrstuvwxyz")


@cache
def word_of(number: int) -> str:
    return np.base_repr(number, 26).translate(LETTERS)


def forecast(experiment: Experiment, store: Store) -> Forecast:
    found = plan_run(experiment, RunContext(store)).forecast
    assert found is not None
    return found


# What holds of every plan


MODELS = {"methods": [{"kernel": {"name": "plsi-fisher", "n_classes": [3]}}, {"kernel": "hp-top"}]}


@pytest.mark.parametrize("changes", [{}, SEVERAL, TWO, SEVERAL | MODELS, {"methods": ["mnb", "linear-svm"]}], ids=str)
def test_every_part_is_there_and_none_is_negative(store: Store, changes: dict[str, Any]) -> None:
    found = forecast(small_experiment(**changes), store)
    for parts in (found.seconds, found.cpu, found.memory):
        assert tuple(parts) == RUN_PARTS
        assert all(np.isfinite(value) and value >= 0 for value in parts.values())
    assert found.peak == sum(found.memory.values()) > 5e7
    assert found.cpu[LEARNING] > 0


def test_nothing_but_the_counts_is_kept(store: Store) -> None:
    experiment = small_experiment()
    plan_run(experiment, RunContext(store))
    assert len(store.entries()) == 1
    assert plan_run(experiment, RunContext(store), with_pilot=False).rows == [
        *(("tf-l1-linear", 2, 0), ("tf-l1-ngd", 2, 0)), *(("tfidf-l1-linear", 2, 0), ("tfidf-l1-ngd", 2, 0))
    ]  # fmt: skip


def test_what_the_store_has_takes_nothing(store: Store) -> None:
    run_experiment(small_experiment(methods=[KERNELS]), RunContext(store))
    experiment = small_experiment(methods=[KERNELS, "mnb"])
    found = plan_run(experiment, RunContext(store))
    assert found.from_store == (2, 3)
    assert found.together == []
    run_experiment(experiment, RunContext(store))
    done = forecast(experiment, store)
    assert done.memory[LEARNING] == done.disk == 0
    assert done.cpu[LEARNING] < 0.02 < done.cpu[SCORING]


@pytest.mark.parametrize(("changes", "n_joined"), [({}, 2), (SEVERAL, 0), (TWO, 0)], ids=["table", "several", "two"])
def test_what_is_computed_together_is_what_the_run_walks(
    store: Store, monkeypatch, changes: dict[str, Any], n_joined: int
) -> None:
    alike = {"weighting": "tf", "normalization": "l1", "kernel": ["linear", "ned"]}
    experiment, walked, solve = small_experiment(methods=[alike], **changes), Counter[str](), TaskExecutor.results_of
    found = plan_run(experiment, RunContext(store), with_pilot=False)

    def watched(self: TaskExecutor, batch: Any) -> Any:
        if len(batch.parts) > 1:
            walked[", ".join(dict.fromkeys(planning._curve(point) for point, _ in batch.parts))] += 1
        return solve(self, batch)

    monkeypatch.setattr(TaskExecutor, "results_of", watched)
    run_experiment(experiment, RunContext(store))
    assert dict(found.together) == walked
    assert walked.total() == n_joined


def test_quick_tries_nothing(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(trial, "estimate_seconds", lambda *_: pytest.fail("a method is tried"))
    found = plan_run(small_experiment(), RunContext(store), with_pilot=False)
    assert (found.forecast, forecast_text(found)) == (None, "")


def test_a_sample_is_not_asked_whether_a_method_sees_anything(store: Store, monkeypatch) -> None:
    """Of a few documents it may see nothing, and to find out why takes a matrix that the run never makes."""
    monkeypatch.setattr(runner, "degenerate_predictions_reason", lambda *_: pytest.fail("a sample is looked at"))
    assert forecast(small_experiment(), store).cpu[LEARNING] > 0


def test_a_method_that_fails_costs_no_plan(store: Store) -> None:
    huge = {"weighting": "tf", "normalization": "none", "kernel": {"name": "polynomial", "degree": 400}}
    assert forecast(small_experiment(methods=[huge, "mnb"]), store).cpu[LEARNING] > 0


FAILING = """
from sklearn.base import BaseEstimator, ClassifierMixin

class Never(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("not today")
    def predict(self, X):
        return X

CLASSIFIERS = {"never": Never}
"""


def test_a_plugin_that_fails_costs_no_plan(tmp_path: Path, store: Store) -> None:
    (tmp_path / "never.py").write_text(FAILING)
    (tmp_path / "never.yaml").write_text(
        "name: never\ncorpus: {name: synthetic}\nprotocol: {name: k-fold, k: 3}\n"
        "plugins: [never.py]\nmethods: [mnb, {classifier: never}]\n"
    )
    found = plan_run(load_checked(tmp_path / "never.yaml"), RunContext(store))
    assert len(found.rows) == 2
    assert found.forecast is not None
    assert found.forecast.cpu[LEARNING] > 0
    assert len(store.entries()) == 1


# The extrapolation

SECONDS = st.floats(1e-4, 1e3)
POWER = st.sampled_from([trial.KERNEL_POWER, trial.POINT_POWER])
LARGE = st.floats(1e-4, 1 / 3)


@given(SECONDS, SECONDS, LARGE, st.floats(1e-2, 1), POWER)
def test_more_documents_never_take_less(less: float, more: float, large: float, part: float, power: float) -> None:
    few, many = (
        trial.extrapolate_seconds(np.full(2, less), np.full(2, more), share, power)[0]
        for share in (large, large * part)
    )
    assert few <= many * (1 + 1e-9)
    assert more <= few <= more * large**-power * (1 + 1e-9)


@given(st.floats(0, 10), st.floats(0.01, 10), LARGE, POWER)
def test_what_is_the_same_for_any_number_stays_so(fixed: float, rest: float, large: float, power: float) -> None:
    less, more, all_ = (np.full(2, fixed + rest * share**power) for share in (large / trial.PILOT_RATIO, large, 1))
    np.testing.assert_allclose(trial.extrapolate_seconds(less, more, large, power), all_, rtol=1e-6)


def test_more_documents_take_more(own, store: Store) -> None:
    few, many = (forecast(own(n), store) for n in (400, 4000))
    assert many.cpu[LEARNING] > 3 * few.cpu[LEARNING]
    assert many.memory[LEARNING] > 10 * few.memory[LEARNING]
    assert many.disk > few.disk > 0


# The sample


@pytest.mark.parametrize("changes", [{}, SEVERAL], ids=["table", "several"])
def test_a_sample_has_all_classes_and_the_splits_of_the_whole(store: Store, changes: dict[str, Any]) -> None:
    experiment = small_experiment(**changes)
    (work,) = plan_tasks(experiment, runner.read_variants(experiment, RunContext(store, download=False)))
    todo = [(point, job) for point in work.points for job in point.jobs]
    all_ = plan_batches(todo, by_split=work.problem.multilabel)
    for small, batch in zip(trial.subsample_batches(all_, 0.1), all_, strict=True):
        for (point, jobs), (whole, wholes) in zip(small.parts, batch.parts, strict=True):
            documents, names = point.problem.documents, np.array(whole.problem.documents.ids)
            assert point.place == whole.place
            assert set(documents.ids) < set(names)
            for job, other in zip(jobs, wholes, strict=True):
                (split,), (origin,) = job.splits, other.splits
                for rows, all_rows in ((split.train, origin.train), (split.test, origin.test)):
                    assert set() < {documents.ids[row] for row in rows} < set(names[all_rows])
                trained = whole.problem.members[origin.train].sum(axis=0)
                assert (
                    point.problem.members[split.train].sum(axis=0) >= np.minimum(trained, trial.MIN_PER_CLASS)
                ).all()


@pytest.mark.parametrize("changes", [{}, SEVERAL, TWO], ids=["table", "several", "two"])
def test_the_matrices_that_a_run_holds_are_foreseen(store: Store, monkeypatch, changes: dict[str, Any]) -> None:
    experiment, held = small_experiment(methods=[KERNELS], **changes), {"products": 0, "kernel": 0}
    found = forecast(experiment, store)
    take, fill = MatrixCache._take, NodeMatrix.fill

    def watched_take(self: MatrixCache, shape: tuple[int, int]) -> Any:
        held["products"] = max(held["products"], shape[0] * shape[1] * 8)
        return take(self, shape)

    def watched_fill(self: NodeMatrix, kernel: Any, jobs: int, ridge: float = 0.0) -> None:
        fill(self, kernel, jobs, ridge)
        held["kernel"] = max(held["kernel"], self._memory.nbytes)

    monkeypatch.setattr(MatrixCache, "_take", watched_take)
    monkeypatch.setattr(NodeMatrix, "fill", watched_fill)
    run_experiment(experiment, RunContext(store))
    assert sum(held.values()) < found.memory[LEARNING] < 5 * sum(held.values())


def test_products_that_are_too_large_to_be_held_take_no_memory(store: Store, monkeypatch) -> None:
    experiment = small_experiment(methods=[KERNELS])
    held = forecast(experiment, store).memory[LEARNING]
    monkeypatch.setenv("BENCH_MEMORY_GB", "0.0001")
    assert forecast(experiment, store).memory[LEARNING] < held / 2


# Files that are not read to their end


def test_of_a_large_file_only_the_beginning_is_counted(own, store: Store, monkeypatch) -> None:
    experiment = own(3000)
    monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", 200_000)
    guessed = forecast(experiment, store)
    assert not store.entries(), "counts of a part aren't those of the whole"
    monkeypatch.undo()
    known = forecast(experiment, store)
    assert store.entries()
    assert guessed.cpu[READING] > known.cpu[READING]
    assert guessed.memory[LEARNING] == pytest.approx(known.memory[LEARNING], rel=0.1)
    assert 1 / 3 < guessed.cpu[LEARNING] / known.cpu[LEARNING] < 3


def test_of_a_large_file_that_is_sorted_by_class_each_document_stands_for_its_own_class(
    own, store: Store, monkeypatch
) -> None:
    monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", 200_000)
    experiment = own(3000, ordered=True)
    (guessed, part_took) = planning._read(experiment, RunContext(store, download=False))
    monkeypatch.undo()
    (known, took) = planning._read(experiment, RunContext(store, download=False))
    few, all_ = guessed["base"].counts, known["base"].counts
    words = sorted(set(few.vocabulary) & set(all_.vocabulary))
    centroids = []
    for counts in (few, all_):
        columns = [counts.vocabulary.index(word) for word in words]
        sums = [counts.matrix[counts.documents.labels == code][:, columns].sum(axis=0) for code in range(3)]
        centroids.append(np.sqrt(np.array(sums) / np.sum(sums, axis=1, keepdims=True)))
    assert (np.diag(centroids[0] @ centroids[1].T) > 0.95).all()  # of words of another class 0.7
    assert part_took[1] > took[1]


# Words


def test_a_machine_that_is_too_small_is_told_with_what_to_do(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: -1e12)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    memory, disk = plan_run(small_experiment(), RunContext(store, jobs=2)).warnings
    assert "fewer documents" in memory
    assert "--jobs 1" in memory
    assert str(store.folder) in disk
    assert "BENCH_CACHE" in disk
    parts = dict.fromkeys(RUN_PARTS, 1.0) | {LEARNING: 1e10}
    (said,) = planning._warnings(Forecast(parts, parts, parts, -1.0), 8e9, store, 1)
    assert said.startswith("the run needs 10 GB of memory, and 8.0 GB are free")
    assert "`linear-svm`" in said
    assert "BENCH_MEMORY_GB" in said
    assert not planning._warnings(Forecast(parts, parts, parts, -1.0), 11e9, store, 1)


def test_no_more_memory_is_free_than_a_process_may_have(monkeypatch) -> None:
    assert environment.free_memory() > 1e7
    monkeypatch.setattr(environment, "memory_limit", lambda: 5.0)
    assert environment.free_memory() == 5.0


@pytest.mark.parametrize(
    ("seconds", "n_bytes", "said"),
    [
        (3.14, 4.4e8, "3.1 s and 0.4 GB"),
        (41.9, 1.23e9, "42 s and 1.2 GB"),
        (312, 1.2e10, "5.2 min and 12 GB"),
        (7500, 1.2e11, "2.1 h and 120 GB"),
    ],
)
def test_two_digits_are_said(seconds: float, n_bytes: float, said: str) -> None:
    rest = dict.fromkeys(RUN_PARTS, 0.0)
    found = Forecast(rest | {START: seconds}, rest, rest | {START: n_bytes}, 0.0)
    assert forecast_text(Plan([], [], (0, 10), found)) == f"A first run takes about {said}."
    assert forecast_text(Plan([], [], (8, 10), found)) == f"A run takes about {said}; 8 of 10 cells are in the store."


# Plan and truth

USED = "import resource; used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"
SCRIPT = """
import sys
from pathlib import Path
from benchmark.experiment.run import load_checked
from benchmark.experiment.store import Store
from benchmark.commands.plan import plan_run
from benchmark.experiment.context import RunContext
found = plan_run(load_checked(Path(sys.argv[1])), RunContext(Store(), jobs=2)).forecast
print(sum(found.cpu.values()), found.peak)
"""


@pytest.mark.slow
def test_a_run_takes_about_what_was_planned(own, tmp_path: Path) -> None:
    """In processes of their own; of the processors' time, since other work on the machine passes on the clock, too.

    What is shipped is planned and run by `make perf`.
    """
    own(2000, "[mnb, ngd, {weighting: tfidf, classifier: linear-svm}]")
    config = tmp_path / "2000.yaml"

    def call(*arguments: object, code: str) -> list[str]:
        variables = {"BENCH_CACHE": str(tmp_path / "cache")}
        status, output, error = Process(*map(str, arguments), code=code, folder=tmp_path, variables=variables).finish()
        assert not status, error
        return list(output.split())

    cpu, peak = map(float, call(config, code=SCRIPT))
    arguments = ("run", config, "--out", tmp_path / "run", "--jobs", "2")
    *_, used = call(*arguments, code=f"from benchmark.cli import main\ntry:\n    main()\nfinally:\n    {USED}")
    with (tmp_path / "run" / "costs.csv").open() as file:
        most = max(float(row["peak_bytes"]) for row in csv.DictReader(file))
    assert 1 / 2 < cpu / float(used) < 2
    assert 1 / 1.5 < peak / most < 1.5
