"""What is planned: parts add up, grow with the documents, follow the store, and are near what the run then takes."""

from __future__ import annotations

import csv
import re
import shutil
import signal
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.commands import plan as planning
from benchmark.commands.forecast import pilot, sample
from benchmark.commands.forecast.estimate import (
    LEARNING,
    MAX_SHARE,
    MEMORY_MARGIN,
    READING,
    REST,
    RUN_PARTS,
    SCORING,
    START,
    Forecast,
    PilotRun,
    forecast_memory,
    forecast_seconds,
    is_cheap,
    pilot_run_of,
    seconds_terms,
)
from benchmark.commands.forecast.growth import growth_terms
from benchmark.commands.forecast.pilot_plan import plan_pilots
from benchmark.commands.forecast.sample import KERNEL_GROUP, POINT_GROUP, job_sizes, sample_counts, sample_task
from benchmark.commands.plan import Plan, forecast_text, plan_run
from benchmark.experiment import runner
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import TaskExecutor, plan_tasks, read_variants, run_experiment
from benchmark.experiment.store import Store
from benchmark.system import memory as environment
from benchmark.system.errors import BenchError
from tests.builders import small_experiment
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import Experiment

pytestmark = pytest.mark.usefixtures("sketched")
KERNELS_OF = {"weighting": "tf", "normalization": "l1", "kernel": ["linear", "ngd"]}
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


#: A forecast for what is said of forecasts; the pilots of a true one take seconds.
KNOWN = Forecast(*[dict.fromkeys(RUN_PARTS, 1.0)] * 3, disk=0.0)


def forecast(experiment: Experiment, store: Store) -> Forecast:
    found = plan_run(experiment, RunContext(store)).forecast
    assert found is not None
    return found


# What holds of every plan


MODELS = {"methods": [{"kernel": {"name": "plsi-fisher", "n_classes": [3]}}, {"kernel": "hp-top"}]}


@pytest.mark.parametrize(("changes", "here"), [(TWO, False), (SEVERAL | MODELS, True)], ids=["two", "models"])
def test_every_part_is_there_and_none_is_negative(
    store: Store, request: pytest.FixtureRequest, changes: dict[str, Any], here: bool
) -> None:
    """Of pilots in a process of their own, and here."""
    if here:
        request.getfixturevalue("pilots_here")
    found = forecast(small_experiment(**changes), store)
    for parts in (found.seconds, found.cpu, found.memory):
        assert tuple(parts) == RUN_PARTS
        assert all(np.isfinite(value) and value >= 0 for value in parts.values())
    assert found.peak == max(found.memory.values()) > 5e7
    assert found.memory[START] <= found.memory[READING]
    assert found.cpu[LEARNING] > 0
    assert len(store.entries()) == 1, "only the counts are kept"


def test_all_curves_are_listed_with_their_entries(store: Store) -> None:
    assert plan_run(small_experiment(), RunContext(store), with_pilot=False).rows == [
        *(("tf-l1-linear", 2, 0), ("tf-l1-ngd", 2, 0)), *(("tfidf-l1-linear", 2, 0), ("tfidf-l1-ngd", 2, 0))
    ]  # fmt: skip


@pytest.mark.usefixtures("pilots_here")
def test_what_the_store_has_takes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_experiment(small_experiment(methods=[KERNELS_OF]), RunContext(store))
    experiment = small_experiment(methods=[KERNELS_OF, "mnb"])
    with monkeypatch.context() as patch:
        patch.setattr(planning, "forecast_run", lambda *_: KNOWN)
        found = plan_run(experiment, RunContext(store))
    assert found.forecast is KNOWN
    assert found.from_store == (2, 3)
    assert found.together == []
    run_experiment(experiment, RunContext(store))
    done = forecast(experiment, store)
    assert done.memory[LEARNING] == done.disk == done.cpu[LEARNING] == 0
    assert done.cpu[SCORING] > 0


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
    monkeypatch.setattr(planning, "forecast_run", lambda *_: pytest.fail("a pilot is run"))
    found = plan_run(small_experiment(), RunContext(store), with_pilot=False)
    assert (found.forecast, forecast_text(found)) == (None, "")


def measured(
    experiment: Experiment, store: Store, folder: Path, share: float = 0.5, **pictures: bool
) -> pilot.Measurement:
    """A pilot run in this process."""
    context = RunContext(store, download=False)
    read = read_variants(experiment, context)
    works = list(plan_tasks(experiment, read))
    left = {job.key for work in works for point in work.points for job in point.jobs}
    some, plan = plan_pilots(experiment, read, works, left)
    small, (few, _) = [sample_task(work, share) for work in plan.works], sample_counts(read)
    found = pilot.measure_pilot(some, small, plan.computed(plan.groups), few, context, folder / "pilot", **pictures)
    spans = {label: pilot._span(each) for label, each in found["batches"].items()}
    parts = (pilot._span(found[part]) for part in ("diagnostics", "rest", "pictures"))
    return pilot.Measurement(spans, *parts, 0.0)


def test_a_pilot_measures_all_that_it_does_once(store: Store, tmp_path: Path) -> None:
    """Each computed job's batch has its seconds, and all of them are those of the pilot run."""
    began = pilot.clock()
    found = measured(small_experiment(methods=[KERNELS_OF, "mnb"]), store, tmp_path)
    took = pilot.clock() - began
    assert set(found.batches) == {"tf-l1-linear · cornell", "tf-l1-linear · texas", "tf-l1-ngd · cornell",
                                  "tf-l1-ngd · texas", "mnb · cornell"}  # fmt: skip
    assert all((span.seconds > 0).all() for span in found.batches.values())
    assert (found.seconds <= took).all()
    assert not found.pictures.seconds.any()
    assert found.rest.memory > 5e7
    assert len(store.entries()) == 1, "only the counts are kept"


def test_pictures_are_measured_apart_from_what_grows_with_the_documents(store: Store, tmp_path: Path) -> None:
    began = pilot.clock()
    found = measured(small_experiment(methods=["mnb"]), store, tmp_path, pictures=True)
    took = pilot.clock() - began
    assert list((tmp_path / "pilot" / "run").glob("*.svg"))
    assert 0 < found.pictures.seconds[1] < took[1] - found.seconds[1]
    assert found.pictures.memory > 5e7


def test_a_sample_is_not_asked_whether_a_method_sees_anything(store: Store, tmp_path: Path, monkeypatch) -> None:
    """Of a few documents it may see nothing, and to find out why takes a matrix that the run never makes."""
    monkeypatch.setattr(runner, "degenerate_predictions_reason", lambda *_: pytest.fail("a sample is looked at"))
    assert measured(small_experiment(), store, tmp_path).batches


def test_a_method_that_fails_costs_no_pilot(store: Store, tmp_path: Path) -> None:
    huge = {"weighting": "tf", "normalization": "none", "kernel": {"name": "polynomial", "degree": 400}}
    assert len(measured(small_experiment(methods=[huge, "mnb"]), store, tmp_path).batches) >= 2


def test_a_pilot_that_dies_is_an_error_with_its_reason(store: Store, monkeypatch) -> None:
    monkeypatch.setenv("BENCH_MEMORY_GB", "1")
    monkeypatch.setattr(pilot, "pickle_content", lambda _: b"no pickle")
    with pytest.raises(BenchError, match=r"^a pilot run failed: .*UnpicklingError"):
        plan_run(small_experiment(), RunContext(store))


@pytest.mark.timeout(60)
def test_pilots_that_end_early_leave_no_process(store: Store, tmp_path: Path) -> None:
    """The process ends at once, whatever it does: here it has been stopped, and reads nothing."""
    with pilot.PilotProcess(small_experiment(), RunContext(store), tmp_path) as process:
        environment = Path(f"/proc/{process._process.pid}/environ").read_bytes().split(b"\0")
        process._process.send_signal(signal.SIGSTOP)
    assert process._process.returncode == -signal.SIGKILL
    assert b"MALLOC_MMAP_THRESHOLD_=1048576" in environment, "memory that is free isn't the next pilot's"


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

TERM = st.floats(0, 1e3)
SHARES = np.array([1 / 32, 1 / 8, 1 / 2])
SIZES = np.column_stack([SHARES, SHARES**2])


@given(TERM, TERM, TERM)
def test_terms_that_all_pilots_fit_are_found(fixed: float, linear: float, steep: float) -> None:
    values = fixed + SIZES @ [linear, steep]
    terms = growth_terms(SIZES, values, np.full(3, 1e-6 * max(1e-3, values[-1])))
    assert terms.sum() == pytest.approx(fixed + linear + steep, rel=1e-3, abs=1e-6)
    assert (terms >= 0).all()


@given(st.floats(0.01, 100), st.floats(1.1, 5.0))
def test_growth_that_two_pilots_leave_open_is_half_linear_and_half_steep(first: float, ratio: float) -> None:
    sizes, values = SIZES[:2], first * np.array([1.0, ratio])
    terms = growth_terms(sizes, values, 0.05 * values)
    linear, steep = terms[1:] * sizes[-1]
    assert terms[0] + sizes[0] @ terms[1:] == pytest.approx(values[0], rel=1e-6)
    assert linear == pytest.approx(steep, rel=1e-6)
    assert linear > 0


@given(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3), st.sampled_from([1, 2]))
def test_a_forecast_is_never_below_nor_steeper_than_its_terms_allow(values: list[float], n_sizes: int) -> None:
    """More documents never take less, and at most so much more as the steepest term from the largest pilot."""
    ascending = np.sort(values)
    terms = growth_terms(SIZES[:, :n_sizes], ascending, 0.05 * ascending)
    at_largest = terms[0] + SIZES[-1, :n_sizes] @ terms[1:]
    assert at_largest <= terms.sum() * (1 + 1e-9)
    assert terms.sum() <= at_largest / SIZES[-1, n_sizes - 1] * (1 + 1e-9)


def pilot_run(share: float, seconds: float, group: str) -> PilotRun:
    pair = np.array([seconds, seconds])
    nothing = pilot.Span(np.zeros(2), 0.0)
    return PilotRun({group: pair}, {group: np.array([share, share**2])}, {group: 0.0}, 0.0, {group: seconds}, nothing)


@given(st.floats(1e-3, 1e3), st.sampled_from([KERNEL_GROUP, POINT_GROUP]))
def test_the_next_pilot_is_cheap_beside_the_run_or_at_all(seconds: float, group: str) -> None:
    runs = [pilot_run(share, seconds * share**2, group) for share in (1 / 32, 1 / 8)]
    spent, whole = sum(run.spent[group] for run in runs), float(seconds_terms(runs, group).sum())
    if is_cheap(runs, spent, 2, (group,)):
        assert seconds / 16 < 13 or seconds / 16 < 0.11 * whole


def test_where_points_are_dear_kernels_are_measured_on_more_documents_alone() -> None:
    """On the larger sample the memory of kernels is seen to grow with the pairs of documents, as it was not before."""
    nothing = pilot.Span(np.zeros(2), 0.0)
    runs = []
    both = KERNEL_GROUP, POINT_GROUP
    for share, groups in ((1 / 16, both), (1 / 8, both), (1 / 2, (KERNEL_GROUP,))):
        taken = {KERNEL_GROUP: 4 * share**2, POINT_GROUP: 1000 * share, REST: 0.1}
        values = {group: np.full(2, taken[group]) for group in (*groups, REST)}
        sizes = {group: np.array([share, share**2]) for group in values}
        memory = {group: 1e6 + (1e9 * share**2 if group == KERNEL_GROUP else 1e6) for group in values}
        spent = {group: taken[group] for group in values}
        if runs and POINT_GROUP not in groups:
            used = sum(sum(run.spent.values()) for run in runs) / 100
            assert not is_cheap(runs, used, 4, both)
            assert is_cheap(runs, used, 4, (KERNEL_GROUP,))
        runs.append(PilotRun(values, sizes, memory, 0.0, spent, nothing))
    assert forecast_memory(runs, KERNEL_GROUP) == pytest.approx(MEMORY_MARGIN * 1e9, rel=0.02)
    np.testing.assert_array_equal(forecast_seconds(runs, POINT_GROUP), forecast_seconds(runs[:2], POINT_GROUP))
    assert forecast_seconds(runs, KERNEL_GROUP)[0] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize(("group", "power"), [(KERNEL_GROUP, 2), (KERNEL_GROUP, 1), (POINT_GROUP, 1), (REST, 0.5)])
def test_memory_grows_with_the_pairs_of_documents_for_kernels_with_the_documents_or_with_their_root_for_scores(
    group: str, power: float
) -> None:
    """Of a run of 8 GB beside 0.1 GB that it has at its beginning."""
    runs = [replace(pilot_run(share, 1.0, group), memory={group: 8e9 * share**power}, base=1e8) for share in SHARES]
    assert forecast_memory(runs, group) == pytest.approx(1e8 + MEMORY_MARGIN * 8e9, rel=0.01)


METHODS_OF_BOTH_GROUPS = [
    {"classifier": ["mnb", "complement-nb", "born"]},
    {"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd", "diffusion"]},
]


@pytest.mark.parametrize("kinds", [1, 2, 60])
def test_seconds_of_a_group_are_those_of_all_its_batches(store: Store, monkeypatch, kinds: int) -> None:
    """Where each batch takes a second for each document, a group takes as many as its jobs have documents."""
    monkeypatch.setattr(sample, "MAX_KINDS", kinds)
    experiment = small_experiment(methods=METHODS_OF_BOTH_GROUPS, compare=[])
    read = read_variants(experiment, RunContext(store, download=False))
    works = list(plan_tasks(experiment, read))
    jobs = {job.key: (job, point) for work in works for point in work.points for job in point.jobs}
    _, plan = plan_pilots(experiment, read, works, jobs.keys())
    groups = {key: POINT_GROUP if point.classifies_points else KERNEL_GROUP for key, (_, point) in jobs.items()}
    documents = {key: job_sizes(job, groups[key])[0] for key, (job, _) in jobs.items()}
    batches = {jobs[key][0].label: pilot.Span(np.full(2, documents[key]), 3e8) for key in jobs}
    nothing = pilot.Span(np.zeros(2), 1e8)
    found = pilot_run_of(plan, works, pilot.Measurement(batches, nothing, nothing, nothing, 1e8), plan.groups)
    for group in plan.groups:
        whole = sum(n for key, n in documents.items() if groups[key] == group)
        assert found.values[group] == pytest.approx(np.full(2, whole))
        assert forecast_memory([found, found], group) == pytest.approx(1e8 + MEMORY_MARGIN * 2e8)


# The sample


def test_a_sample_is_a_part_of_the_larger_one(store: Store) -> None:
    """A pilot's documents are among those of the next, or its seconds would differ by the luck of the draw."""
    experiment = small_experiment()
    (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(store, download=False)))
    small, large = (set(sample_task(work, share).problem.documents.ids) for share in (1 / 8, MAX_SHARE))
    assert small < large < set(work.problem.documents.ids)


def test_sizes_are_those_of_all_splits_and_their_folds(store: Store) -> None:
    chosen = {"kernel": "ngd", "classifier": {"name": "svm", "C": [1, 2]}}
    experiment = small_experiment(methods=[chosen], choose={"by": "cross-validation", "folds": 3})
    (work,) = plan_tasks(experiment, read_variants(experiment, RunContext(store, download=False)))
    job = work.points[0].jobs[0]
    ((split,), (folds,)) = job.splits, job.inner
    n, m = len(split.train), len(split.test)
    documents, pairs = job_sizes(job, KERNEL_GROUP)
    assert documents == n + m + 3 * n  # each fold trains and tests on all training documents
    assert pairs == n * (n + m) + sum(len(fold.train) * n for fold in folds)


@pytest.mark.parametrize("changes", [{}, SEVERAL], ids=["table", "several"])
def test_a_sample_has_all_classes_and_the_splits_of_the_whole(store: Store, changes: dict[str, Any]) -> None:
    experiment = small_experiment(**changes)
    (work,) = plan_tasks(experiment, runner.read_variants(experiment, RunContext(store, download=False)))
    small = sample_task(work, 0.1)
    documents, names = small.problem.documents, np.array(work.problem.documents.ids)
    assert set(documents.ids) < set(names)
    for point, whole in zip(small.points, work.points, strict=True):
        assert (point.place, point.problem.documents.ids) == (whole.place, documents.ids)
        for job, other in zip(point.jobs, whole.jobs, strict=True):
            assert job.key == other.key
            for split, origin in zip(job.splits, other.splits, strict=True):
                for rows, all_rows in ((split.train, origin.train), (split.test, origin.test)):
                    assert set() < {documents.ids[row] for row in rows} < set(names[all_rows])
                trained = work.problem.members[origin.train].sum(axis=0)
                least = np.minimum(trained, sample.MIN_PER_CLASS)
                assert (point.problem.members[split.train].sum(axis=0) >= least).all()


# Files that are not read to their end


def test_of_a_large_file_only_the_beginning_is_counted(own, store: Store, monkeypatch) -> None:
    experiment, context = own(3000), RunContext(store, download=False)
    monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", 200_000)
    guessed, guess_took = planning._read(experiment, context)
    assert not store.entries(), "counts of a part aren't those of the whole"
    monkeypatch.undo()
    known, took = planning._read(experiment, context)
    assert store.entries()
    assert guess_took[0] > took[0]
    assert len(guessed["base"].counts.documents) == len(known["base"].counts.documents)
    assert guessed["base"].counts.matrix.sum() == pytest.approx(known["base"].counts.matrix.sum(), rel=0.1)


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
    assert part_took[0] > took[0]


# Words


def test_a_machine_that_is_too_small_is_told_with_what_to_do(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(planning, "forecast_run", lambda *_: replace(KNOWN, disk=1.0))
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
        (3.14, 4.4e8, "3.1 s of processor time and 0.4 GB; 1.6 s"),
        (41.9, 1.23e9, "42 s of processor time and 1.2 GB; 21 s"),
        (312, 1.2e10, "5.2 min of processor time and 12 GB; 2.6 min"),
        (7500, 1.2e11, "2.1 h of processor time and 120 GB; 62 min"),
    ],
)
def test_two_digits_are_said(seconds: float, n_bytes: float, said: str) -> None:
    rest = dict.fromkeys(RUN_PARTS, 0.0)
    found = Forecast(rest | {START: seconds / 2}, rest | {START: seconds}, rest | {START: n_bytes}, 0.0)
    assert forecast_text(Plan([], [], (0, 10), found)) == f"A first run takes about {said} on the clock."
    stored = "8 of 10 cells are in the store"
    assert forecast_text(Plan([], [], (8, 10), found)) == f"A run takes about {said} on the clock; {stored}."


def test_seconds_on_the_clock_are_those_of_a_machine_as_busy_as_now() -> None:
    parts = dict.fromkeys(RUN_PARTS, 1.0)
    said = forecast_text(Plan([], [], (0, 1), Forecast(parts, parts, parts, 0.0, load=1.52, processors=2)))
    assert re.search(r"4\.0 s on the clock while the machine is as busy as now \(load 1\.5, \d+ processors\)", said)


# Plan and truth

USED = "import resource; used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"
SCRIPT = """
import sys
from pathlib import Path
from benchmark.experiment.configuration import load_checked
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
