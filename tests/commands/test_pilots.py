"""What pilots compute and how they go on, by made-up measurements whose growth is known."""

from __future__ import annotations

import itertools
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest

from benchmark.commands import plan as planning
from benchmark.commands.forecast import estimate, pilot, sample
from benchmark.commands.forecast.estimate import (
    LEARNING,
    READING,
    REST,
    SCORING,
    START,
    PilotRun,
    forecast_run,
    is_cheap,
    run_pilots,
)
from benchmark.commands.forecast.pilot_plan import plan_pilots
from benchmark.commands.forecast.sample import (
    KERNEL_GROUP,
    POINT_GROUP,
    job_sizes,
    made_up_entries,
    missing_batches,
    sample_counts,
    sample_rows,
    sample_task,
    smallest_share,
)
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment
from benchmark.experiment.settings import unpack_predictions
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import memory_budget
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask

NOTHING = pilot.Span(np.zeros(2), 0.0)
KERNEL = {"weighting": "tf", "normalization": "l1", "kernel": "ngd"}
SEVERAL = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 4, "stratified": False, "test": "texas"},
    "metrics": ["macro-f1"],
}


@pytest.fixture
def quick_pilots() -> None:
    """Pilots may take what those of a user may."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**10)


def planned(experiment: Experiment, store: Store) -> tuple[Mapping[str, LoadedVariant], list[PlannedTask], set[str]]:
    """What is read, the tasks, and the keys of all jobs."""
    read = read_variants(experiment, RunContext(store, download=False))
    works = list(plan_tasks(experiment, read))
    return read, works, {job.key for work in works for point in work.points for job in point.jobs}


# Whether another pilot is cheap


@pytest.mark.parametrize(("whole", "limit"), [(0, 15), (150, 15), (200, 20), (400, 40), (4000, 40)])
def test_pilots_may_take_a_tenth_of_the_run_within_limits(whole: float, limit: float) -> None:
    assert estimate._limit(whole) == pytest.approx(limit)


def one_pilot(group: str, seconds: float, share: float, diagnostics: float = 0.0) -> PilotRun:
    pair, sizes = np.full(2, seconds), np.array([share, share**2])
    span = pilot.Span(np.full(2, diagnostics), 0.0)
    return PilotRun({group: pair}, {group: sizes}, {group: 0.0}, 0.0, {group: seconds}, span)


@pytest.mark.parametrize(
    ("group", "share", "diagnostics", "most"),
    [
        (KERNEL_GROUP, 1 / 8, 0, 15 / 17),  # of 4 times as many documents: 16 times the seconds
        (KERNEL_GROUP, 1 / 8, 5, 10 / 17),
        (POINT_GROUP, 1 / 8, 0, 15 / 9),  # 8 times the seconds
        (REST, 1 / 8, 0, 15 / 5),  # 4 times
        (KERNEL_GROUP, 1 / 64, 0, 40 / 17),  # beside a run of hours
    ],
)
def test_after_one_pilot_the_next_must_be_cheap_however_seconds_grow(
    group: str, share: float, diagnostics: float, most: float
) -> None:
    for seconds, cheap in ((0.99 * most, True), (1.01 * most, False)):
        assert is_cheap([one_pilot(group, seconds, share, diagnostics)], seconds, 4, (group,)) is cheap


@pytest.mark.parametrize(("computed", "most"), [(1.0, 9.0), (0.5, 12.0)])
def test_after_two_pilots_the_next_is_as_dear_as_they_let_expect(computed: float, most: float) -> None:
    """Of a part that takes 2 s and 16 s for all documents, 6 s on a fourth, of which pilots compute a share."""
    runs = []
    for share in (1 / 32, 1 / 8):
        seconds = 2 + 16 * share
        values, sizes = {REST: np.full(2, seconds)}, {REST: np.array([share, share**1.5])}
        runs.append(PilotRun(values, sizes, {REST: 0.0}, 0.0, {REST: computed * seconds}, NOTHING))
    assert is_cheap(runs, most - 0.05, 2, (REST,))
    assert not is_cheap(runs, most + 0.05, 2, (REST,))


@pytest.mark.parametrize(
    ("fixed", "growing", "shares", "limits"),
    [
        (1, 80, (1 / 32, 1 / 8), {KERNEL_GROUP: 40, POINT_GROUP: 15}),  # 81 s, or 512 s with the pairs alone
        (1, 80, (1 / 8, 1 / 4), {KERNEL_GROUP: 21.3, POINT_GROUP: 15}),  # 213 s
        (60, 4, (1 / 8, 1 / 2), {KERNEL_GROUP: 15, POINT_GROUP: 15}),  # 64 s, of which 60 s don't grow
    ],
)
def test_kernels_are_tried_on_more_documents_where_they_may_take_long(
    fixed: float, growing: float, shares: tuple[float, float], limits: dict[str, float]
) -> None:
    for group, limit in limits.items():
        runs = []
        for share in shares:
            values = {group: np.full(2, fixed + growing * share)}
            sizes = {group: np.array([share, share ** (2 if group == KERNEL_GROUP else 1.5)])}
            runs.append(PilotRun(values, sizes, {group: 0.0}, 0.0, {group: 1e-3}, NOTHING))  # they compute little of it
        taken = [spent for spent in np.arange(0, 60, 0.1) if is_cheap(runs, spent, 2, (group,))]
        assert max(taken) == pytest.approx(limit, abs=0.15)


# How pilots go on


class Machine:
    """A process whose batches take as many milliseconds for each document of their jobs, or a power of them."""

    def __init__(self, kernels: float = 1.0, points: float = 1.0, power: float = 1.0) -> None:
        self.slow, self.power = {KERNEL_GROUP: kernels, POINT_GROUP: points}, {KERNEL_GROUP: 1.0, POINT_GROUP: power}
        self.calls: list[tuple[list[PlannedTask], frozenset[str], float]] = []
        self.start = pilot.Span(np.array([1.0, 2.0]), 3e8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def run(
        self, works: list[PlannedTask], computed: frozenset[str], _: Any, budget: float, *, pictures: bool = False
    ) -> pilot.Measurement:
        assert pictures == (not self.calls), "the first draws them, and no other"
        first = 0.25 if not self.calls else 0.0
        drawn = pilot.Span(np.array([1.5, 2.5]) if pictures else np.zeros(2), 6e8)
        self.calls.append((works, computed, budget))
        batches = {}
        for point in (point for work in works for point in work.points):
            group = POINT_GROUP if point.classifies_points else KERNEL_GROUP
            for job in (job for job in point.jobs if job.key in computed):
                seconds = 1e-3 * self.slow[group] * job_sizes(job, group)[0] ** self.power[group]
                batches[job.label] = pilot.Span(np.array([seconds, 2 * seconds]), 5e8)
        diagnostics = pilot.Span(np.array([0.125, 0.25]), 4e8)
        return pilot.Measurement(batches, diagnostics, pilot.Span(np.array([0.5 + first, 0.75]), 4e8), drawn, 4e8)


@pytest.mark.parametrize(
    ("kernels", "points", "steps"),
    [(1e-3, 1e-3, [4, 2]), (1e4, 1e4, [2]), (1e-3, None, [2, 4])],
    ids=["cheap", "dear", "points are dear"],
)
def test_pilots_go_on_while_they_are_cheap_and_are_two_at_least(
    store: Store, monkeypatch: pytest.MonkeyPatch, kernels: float, points: float | None, steps: list[int]
) -> None:
    monkeypatch.setattr(estimate, "smallest_share", lambda *_: 1 / 16)
    read, works, left = planned(small_experiment(methods=[KERNEL, "mnb"]), store)
    _, plan = plan_pilots(small_experiment(methods=[KERNEL, "mnb"]), read, works, left)
    machine, said = Machine(kernels, points or 1.0), list[str]()
    if points is None:  # 3 s at first, and 12 s for twice as many documents
        small = [point for work in works for point in sample_task(work, 1 / 16).points if point.classifies_points]
        documents = sum(job_sizes(job, POINT_GROUP)[0] for point in small for job in point.jobs)
        machine = Machine(kernels, 3e3 / documents**2, 2.0)
    runs, first_use, pictures = run_pilots(machine, plan, read, said.append)
    shares = [1 / 16]
    for step in steps:
        shares.append(shares[-1] * step)
    numbers = [sum(len(sample_task(work, share).problem.documents) for work in works) for share in shares]
    assert said == [f"pilot run on {n:,} documents" for n in numbers]
    budgets = [budget for *_, budget in machine.calls]
    assert budgets == pytest.approx([memory_budget() * share**2 for share in (shares[0], *shares)])
    groups = [tuple(plan.groups)] * 3 if kernels == points else [*[tuple(plan.groups)] * 3, (KERNEL_GROUP,)]
    for (_, computed, _), expected in zip(machine.calls, groups, strict=False):
        assert computed == plan.computed(expected)
    assert len(machine.calls) == len(shares) + 1  # the first twice
    assert first_use == pytest.approx([0.25, 0.0])  # by which the first is slower than the same again
    assert pictures.seconds == pytest.approx([1.5, 2.5])
    assert len(runs) == len(shares)
    assert all(run.values[REST] == pytest.approx([0.5, 0.75]) for run in runs)


@pytest.mark.parametrize("cells", [150, 2])
def test_a_forecast_is_the_sum_of_its_parts(store: Store, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Training is what pilots let expect of each group and of diagnostics; seconds of scores grow with the cells."""
    monkeypatch.setattr("benchmark.commands.forecast.pilot_plan.MAX_CELLS", cells)
    monkeypatch.setattr(estimate, "PilotProcess", lambda *_: Machine())
    monkeypatch.setattr(estimate.os, "getloadavg", lambda: (1.25, 3.0, 5.0))
    weightings = ["binary", "tf", "tfidf", "log-tf"] if cells == 2 else ["tf"]
    methods = [KERNEL | {"weighting": weightings}, *([] if cells == 2 else ["mnb"])]
    experiment = small_experiment(methods=methods, compare=[])
    read, works, left = planned(experiment, store)
    few, vocabulary = sample_counts(read)
    _, plan = plan_pilots(experiment, read, works, left)
    runs, *_ = run_pilots(Machine(), plan, few, lambda _: None)
    assert len(plan.groups) == (1 if cells == 2 else 2)
    own, on_clock = np.sum([estimate.forecast_seconds(runs, group) for group in plan.groups], axis=0)
    assert on_clock == pytest.approx(2 * own)
    found = forecast_run(
        experiment, read, works, left, RunContext(store, jobs=3), (np.array([7.0, 9.0]), 1e9), disk=5.0
    )
    scored = 2 if cells == 2 else 1  # as many cells as pilots have
    cpu = {START: 1.25, READING: 7.0, LEARNING: own + 0.125 * vocabulary, SCORING: 2.0 * scored}
    clock = {START: 2.0, READING: 9.0, LEARNING: on_clock + 0.25 * vocabulary, SCORING: 3.25 * scored}
    assert found.cpu == pytest.approx(cpu, rel=1e-3)
    assert found.seconds == pytest.approx(clock, rel=1e-3)
    assert found.memory[START] == 3e8
    assert found.memory[READING] == 1.3e9
    assert found.memory[SCORING] == 6e8
    assert found.memory[LEARNING] == max(estimate.forecast_memory(runs, group) for group in plan.groups) > 5e8
    assert (found.disk, found.processors, found.load) == (5.0, 3, 1.25)


@pytest.mark.parametrize("cells", [2, 3])
def test_cells_that_no_pilot_has_take_what_the_others_take(
    store: Store, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    """Six settings with equally many documents, of which pilots have every second or third."""
    monkeypatch.setattr("benchmark.commands.forecast.pilot_plan.MAX_CELLS", cells)
    weightings = ["binary", "tf", "tfidf", "log-tf", "log-tfidf", "log-entropy"]
    experiment = small_experiment(methods=[KERNEL | {"weighting": weightings}], compare=[])
    read, works, left = planned(experiment, store)
    _, plan = plan_pilots(experiment, read, works, left)
    few = _sum_of_documents(plan.represented) / _sum_of_documents(plan.missing)
    assert few == pytest.approx(cells / 6)
    assert plan.weights == {KERNEL_GROUP: pytest.approx(6 / cells)}
    assert plan.cells == pytest.approx(6 / cells)


def _sum_of_documents(batches: Any) -> float:
    return float(sum(job_sizes(job, KERNEL_GROUP)[0] for batch in batches for job in batch.jobs))


# What they compute


def test_rows_of_a_sample_are_a_share_and_some_of_each_class() -> None:
    members = np.repeat(np.eye(3, dtype=bool), [60, 36, 4], axis=0)
    rows = np.arange(0, 100, 2)  # 30, 18 and 2 of the classes
    drawn = [sample_rows(rows, members, share, 0) for share in (0.0, 0.11, 0.5, 1.0)]
    assert [len(each) for each in drawn] == [0, 6, 25, 50]  # a started document is a whole one
    for small, large in itertools.pairwise(drawn):
        assert set(small) <= set(large)
    np.testing.assert_array_equal(drawn[-1], rows)
    of_classes = sample_rows(rows, members, 0.0, 5)
    assert members[of_classes].sum(axis=0).tolist() == [5, 5, 2]
    assert set(of_classes) <= set(rows)
    assert set(rows[:5]) != set(of_classes[:5]), "the first of a file are alike"


@pytest.mark.parametrize(
    ("sizes", "classes", "largest", "share"),
    [
        ([4800], 3, 1.0, 1 / 16),  # 300 documents
        ([4799], 3, 1.0, 1 / 4),
        ([100, 4800, 300], 3, 1.0, 1 / 16),  # of the largest split
        ([4800], 200, 1.0, 1 / 4),  # 2 of each class
        ([4800], 3, 1 / 8, 1 / 8),
        ([100], 3, 1 / 8, 1 / 8),
    ],
)
def test_the_smallest_sample_has_300_documents_and_two_of_each_class(
    sizes: list[int], classes: int, largest: float, share: float
) -> None:
    split, problem = SimpleNamespace, SimpleNamespace(documents=SimpleNamespace(classes=range(classes)))
    work = SimpleNamespace(splits={n: [split(train=range(n))] for n in sizes}, problem=problem)
    assert smallest_share([work], largest) == share


@pytest.mark.parametrize("source", [None, "training"])
def test_a_sample_trains_its_vocabulary_on_what_the_whole_does(store: Store, source: str | None) -> None:
    text = {"stoplist": "none"} | ({"vocabulary_from": source} if source else {})
    _, works, _ = planned(small_experiment(methods=["mnb"], text=text), store)
    problems = {
        id(point.problem): (point.problem, each)
        for work in works
        for each, point in zip(sample_task(work, 0.5).points, work.points, strict=True)
    }
    for whole, point in problems.values():
        few = point.problem
        assert (few.trained is None) == (whole.trained is None)
        if whole.trained is not None:
            trained = {whole.documents.ids[row] for row in whole.trained}
            assert {few.documents.ids[row] for row in few.trained} == trained & set(few.documents.ids)


def test_the_words_that_diagnostics_see_are_those_of_a_few_documents(store: Store) -> None:
    read, *_ = planned(small_experiment(methods=["mnb"]), store)
    few, growth = sample_counts(read)
    whole, some = read["base"].counts, few["base"].counts
    sizes = np.bincount(some.documents.labels)
    assert sizes.tolist() == [6] * len(whole.documents.classes)
    assert growth == len(whole.vocabulary) / len(some.vocabulary) > 1
    at = {name: row for row, name in enumerate(whole.documents.ids)}
    columns = [whole.vocabulary.index(term) for term in some.vocabulary]
    rows = [at[name] for name in some.documents.ids]
    assert (some.matrix != whole.matrix[rows][:, columns]).nnz == 0
    assert (some.matrix.sum(axis=0) > 0).all()


def test_what_pilots_leave_out_gets_the_classes_of_other_documents(store: Store) -> None:
    """Methods differ in them, or no comparison would have a discordant pair."""
    _, (work,), left = planned(small_experiment(methods=["mnb", "complement-nb", KERNEL]), store)
    first = work.points[0].jobs[0].key
    entries = made_up_entries([work], frozenset([first]))
    assert entries.keys() == left - {first}
    for number, point in enumerate(work.points):
        for job in (job for job in point.jobs if job.key in entries):
            found = unpack_predictions(entries[job.key], job, work.problem)
            truth = [np.roll(work.documents.truth[split.test], number) for split in job.splits]
            np.testing.assert_array_equal(found.predicted, np.concatenate(truth))
            assert not found.tied.any()
            assert (found.seconds == 1).all()
            assert not found.inner.size


def test_of_each_kind_the_first_batches_are_tried(store: Store) -> None:
    """Two batches of a kind and two jobs of a batch, of as many kinds as may be."""
    experiment = small_experiment(
        corpus={"name": "synthetic"}, protocol={"name": "k-fold", "k": 5}, methods=[KERNEL, "mnb", "complement-nb"]
    )
    _, works, left = planned(experiment, store)
    batches = missing_batches(works, left)
    chosen = sample.choose_pilots(batches)
    by_group = {group: [each.jobs for each in chosen if each.group == group] for group in (KERNEL_GROUP, POINT_GROUP)}
    kernel, *points = ([job.key for job in point.jobs] for point in works[0].points)
    assert [key for jobs in by_group[KERNEL_GROUP] for key in jobs] == kernel[:2]
    assert sorted(key for jobs in by_group[POINT_GROUP] for key in jobs) == sorted(
        key for keys in points for key in keys[:2]
    )


def test_a_solver_s_cache_holds_the_same_share_of_a_sample_s_kernel(store: Store) -> None:
    given = KERNEL | {"classifier": {"name": "svm", "cache_mb": 64}}
    _, (work,), _ = planned(small_experiment(methods=[given, "mnb"]), store)
    assert sample_task(work, 1 / 4).points[0].method.spec.classifier.resolved["cache_mb"] == 64 / 16


def test_each_part_of_a_pilot_is_booked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds before a batch or a diagnostic are others', and those of results from the store are no diagnostic's."""
    now = [1.0]
    monkeypatch.setattr(pilot, "clock", lambda: np.array([now[0], 0.0]))
    monkeypatch.setattr(pilot, "peak_memory", lambda: 7.0)
    observer = pilot.PilotObserver()
    for now[0], call in (
        (2.0, lambda: observer.now("mnb")),
        (4.0, lambda: observer.step("mnb")),
        (5.0, lambda: observer.step("of the same batch")),
        (6.0, lambda: observer.step("ngd", stored=True)),
        (8.0, lambda: observer.plan(3)),
        (16.0, lambda: observer.step("a diagnostic")),
        (20.0, lambda: observer.step("none was planned")),
        (32.0, lambda: observer.plan(1)),
        (40.0, lambda: observer.step("a stored diagnostic", stored=True)),
        (50.0, lambda: observer.step("none was planned")),
        (64.0, lambda: observer.now("scores")),
    ):
        call()
    now[0] = 128.0
    found = observer.finish()
    assert found["batches"] == {"mnb": [2.0, 0.0, 7.0]}
    assert found["diagnostics"] == [8.0, 0.0, 7.0]
    assert found["rest"] == [127.0 - 2.0 - 8.0, 0.0, 7.0]


def test_the_peak_of_a_part_is_the_largest_of_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    now, peak, forgotten = [0.0], [0.0], list[float]()
    monkeypatch.setattr(pilot, "clock", lambda: np.array([now[0], 0.0]))
    monkeypatch.setattr(pilot, "peak_memory", lambda: peak[0])
    monkeypatch.setattr(pilot, "reset_peak_memory", lambda: forgotten.append(peak[0]))
    observer = pilot.PilotObserver()
    for peak[0], call in (
        (9.0, lambda: observer.now("mnb")),
        (5.0, lambda: observer.step("mnb")),
        (3.0, lambda: observer.now("mnb")),
        (4.0, lambda: observer.step("mnb")),
        (1.0, lambda: observer.plan(1)),
        (6.0, lambda: observer.step("a diagnostic")),
        (2.0, lambda: observer.plan(1)),
        (8.0, lambda: observer.step("a diagnostic")),
        (7.0, lambda: observer.now("scores")),
    ):
        call()
    peak[0] = 0.5
    found = observer.finish()
    assert found["batches"]["mnb"][2] == 5.0
    assert found["diagnostics"][2] == 8.0
    assert found["rest"][2] == 9.0
    assert forgotten == [9.0, 5.0, 3.0, 4.0, 1.0, 6.0, 2.0, 8.0, 7.0, 0.5]


BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_seconds_of_children_count() -> None:
    before = pilot.clock()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert (pilot.clock() - before >= 0.28).all()


@pytest.mark.parametrize(("code", "why"), [("exit(3)", "status 3"), ("exit('one\\ntwo')", "two")])
def test_a_process_that_ended_says_its_last_line_or_status(tmp_path: Path, code: str, why: str) -> None:
    ended = object.__new__(pilot.PilotProcess)
    with (tmp_path / "errors").open("w+b") as ended._errors:
        ended._process = subprocess.Popen([sys.executable, "-c", code], stderr=ended._errors)
        assert str(ended._ended()) == f"a pilot run failed: {why}"


# The plan's words


@pytest.mark.parametrize(("changes", "bits"), [({}, "16 + 1"), (SEVERAL, "2 * k")], ids=["table", "several"])
def test_disk_space_is_that_of_predictions_ties_and_seconds(store: Store, changes: dict[str, Any], bits: str) -> None:
    experiment = small_experiment(**changes)
    _, works, left = planned(experiment, store)
    kept, k = planning._kept(missing_batches(works, left)), len(works[0].problem.documents.classes)
    splits = [split for work in works for point in work.points for job in point.jobs for split in job.splits]
    of_document = {"16 + 1": 17, "2 * k": 2 * k}[bits]
    assert kept == pytest.approx(sum(len(split.test) for split in splits) * of_document / 8 + 48 * len(splits))
    if not changes:
        run_experiment(experiment, RunContext(store))
        arrays = [entry.arrays for key in left if (entry := store.get(key))]
        stored = sum(each[name].nbytes for each in arrays for name in ("predicted", "tied", "seconds"))
        assert kept == pytest.approx(stored, abs=len(splits))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(9.94, "9.9 s"), (9.96, "10 s"), (119, "120 s"), (120, "2.0 min"), (7199, "120 min"), (7200, "2.0 h")],
)
def test_times_have_the_unit_of_which_there_are_two(seconds: float, said: str) -> None:
    assert planning._time(seconds) == said


def parts_of(start: float, reading: float, learning: float, scoring: float) -> dict[str, float]:
    return {START: start, READING: reading, LEARNING: learning, SCORING: scoring}


def test_rows_of_a_forecast_add_up_but_for_memory() -> None:
    found = estimate.Forecast(parts_of(1, 2, 3, 4.5), parts_of(2, 4, 6, 8.25), parts_of(1e8, 2e8, 3.2e9, 3e8), 0.0)
    assert planning.forecast_rows(planning.Plan([], forecast=found)) == [
        ("start", "2.0", "1.0", "100"),
        ("reading and counting", "4.0", "2.0", "200"),
        ("training and deciding", "6.0", "3.0", "3,200"),
        ("scoring and tables", "8.2", "4.5", "300"),
        ("in all", "20.2", "10.5", "3,200"),
    ]
    assert planning.forecast_rows(planning.Plan([])) == []
    for free, said in ((3.2e9, ""), (3.1e9, ", of which 3.1 GB are free")):
        plan = planning.Plan([], forecast=found, free_bytes=free)
        assert planning.needs_text(plan) == f"20 s of processor time and 3.2 GB{said}"
    assert planning.needs_text(planning.Plan([])) == ""


@pytest.mark.parametrize(
    ("learning", "scoring", "jobs", "remedies"),
    [
        (6e9, 8e9, 1, ["linear-svm", "BENCH_MEMORY_GB"]),  # kernels alone need more than is free
        (4.5e9, 8e9, 1, []),
        (4.5e9, 8e9, 2, ["--jobs 1"]),
        (9e9, 1e9, 2, ["linear-svm", "BENCH_MEMORY_GB", "--jobs 1"]),
        (1e9, 5e9, 4, None),  # there is just enough
    ],
)
def test_remedies_are_those_of_the_part_that_needs_the_memory(
    store: Store, learning: float, scoring: float, jobs: int, remedies: list[str] | None
) -> None:
    memory = parts_of(1e8, 1e8, learning, scoring)
    said = planning._warnings(estimate.Forecast(memory, memory, memory, -1.0), 5e9, store, jobs)
    if remedies is None:
        assert not said
        return
    (only,) = said
    assert "take fewer documents or classes" in only
    assert [word for word in ("linear-svm", "BENCH_MEMORY_GB", "--jobs 1") if word in only] == remedies


@pytest.mark.parametrize(("more", "said"), [(-1, False), (0, False), (1, True)])
def test_disk_space_is_short_if_the_run_stores_more_than_is_free(
    store: Store, monkeypatch: pytest.MonkeyPatch, more: int, said: bool
) -> None:
    class Usage:
        free = 10**9

    monkeypatch.setattr(planning.shutil, "disk_usage", lambda _: Usage)
    parts = parts_of(1, 1, 1, 1)
    warnings = planning._warnings(estimate.Forecast(parts, parts, parts, 1e9 + more), 1e9, store, 1)
    assert bool(warnings) is said


def setting(place: tuple[str, ...], *keys: str, classes: int = 4, several: bool = False) -> Any:
    """A planned setting with a job of each key, whose splits test as many documents as the key has letters."""
    jobs = [SimpleNamespace(key=key, splits=[SimpleNamespace(test=[0] * len(key))]) for key in keys]
    problem = SimpleNamespace(documents=SimpleNamespace(classes=("c",) * classes), multilabel=several)
    return SimpleNamespace(place=place, jobs=jobs, problem=problem)


def test_entries_are_counted_over_all_settings_of_a_curve_and_so_is_what_the_store_has() -> None:
    points = [
        setting(("base", "", "ngd", "0", "40"), "a", "b"),
        setting(("base", "", "ngd", "0", "80"), "c", "d"),
        setting(("soft", "x", "ngd", "0", "40"), "e", "f", "g"),
        setting(("base", "x", "mnb", "1", "40"), "h"),
    ]
    works: Any = [SimpleNamespace(points=points[:1]), SimpleNamespace(points=points[1:])]
    for left in ("", "bdh", "abcdefgh", "efg"):
        expected = [
            (name, len(keys), len(set(keys) - set(left)))
            for name, keys in (("ngd", "abcd"), ("soft-x-ngd", "efg"), ("x-mnb", "h"))
        ]
        assert planning._rows(works, set(left)) == expected


def test_what_is_computed_together_is_two_or_more_settings_of_a_batch() -> None:
    one, two, three = (setting(("base", "", name, "0", "40"), "a") for name in ("ngd", "mnb", "eef"))
    other = setting(("base", "", "ngd", "0", "80"), "a")
    batches: Any = [
        SimpleNamespace(parts=[(each, []) for each in parts])
        for parts in ([one], [one, two], [two, three, one], [one, two], [one, other])
    ]
    assert planning._together(batches) == [("ngd, mnb", 2), ("mnb, eef, ngd", 1), ("ngd", 1)]
    assert planning._together(batches[:1]) == []


@pytest.mark.parametrize(("classes", "several"), [(4, False), (200, False), (4, True), (90, True)])
def test_the_store_grows_by_the_predictions_and_the_seconds_of_each_split(classes: int, several: bool) -> None:
    parts = [setting(("p",), "abc", "de", classes=classes, several=several), setting(("q",), "f", classes=classes)]
    batches: Any = [SimpleNamespace(parts=[(part, part.jobs)]) for part in parts]
    bits = [2 * classes if several else 17, 17]
    expected = sum((6 - n) * own / 8 for own, n in zip(bits, (1, 5), strict=True)) + 3 * 8 * len(planning.TIMERS)
    assert planning._kept(batches) == pytest.approx(expected)


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("jobs", [1, 2, 8])
@pytest.mark.parametrize(
    ("peak", "learning", "matrices"),
    [(4e9, 4e9, None), (4.1e9, 3e9, False), (9e9, 4.1e9, False), (9e9, 4.6e9, True), (9e9, 9e9, True)],
)
def test_a_lack_of_memory_is_told_with_what_helps(
    tmp_path: Path, local: bool, jobs: int, peak: float, learning: float, matrices: bool | None
) -> None:
    """With 4 GB free: what a kernel's matrix can't be blamed for is not."""
    memory = {START: 1e9, READING: peak, LEARNING: learning, SCORING: 1e9}
    parts = dict.fromkeys(memory, 1.0)
    forecast = estimate.Forecast(parts, parts, memory, disk=1e3)
    store: Any = SimpleNamespace(local=local, address=str(tmp_path / "not" / "there"), folder="F")
    found = planning._warnings(forecast, 4e9, store, jobs)
    if matrices is None:
        assert found == []
        return
    (said,) = found
    assert said.startswith(f"the run needs {planning._gigabytes(peak)} of memory, and 4.0 GB are free: take fewer ")
    assert ("`linear-svm`" in said, "BENCH_MEMORY_GB" in said) == (matrices, matrices)
    assert said.endswith(", or --jobs 1") is (jobs > 1)


@pytest.mark.parametrize("free_memory", [1e3, 1e12])
@pytest.mark.parametrize(("disk", "room", "told"), [(5e9, 5e9, False), (5.1e9, 5e9, True), (1e3, 5e9, False)])
def test_a_lack_of_room_is_told_where_the_store_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: float, room: float, told: bool, free_memory: float
) -> None:
    parts = dict.fromkeys(estimate.RUN_PARTS, 1e9)
    asked = list[Any]()
    monkeypatch.setattr(planning.shutil, "disk_usage", lambda place: asked.append(place) or SimpleNamespace(free=room))
    store: Any = SimpleNamespace(local=True, address=str(tmp_path / "not" / "there"), folder="F")
    found = planning._warnings(estimate.Forecast(parts, parts, parts, disk=disk), free_memory, store, 1)
    assert len(found) == told + (free_memory < 1e9)
    assert asked == [tmp_path], "the nearest folder that is there"
    if told:
        assert found[-1] == (
            "the run stores 5.1 GB in F, and 5.0 GB are free: remove stored results (`bench cache clear`), "
            "or name another folder in BENCH_CACHE"
        )
    elsewhere: Any = SimpleNamespace(local=False, address="s3://x", folder="F")
    forecast = estimate.Forecast(parts, parts, parts, disk=disk)
    assert len(planning._warnings(forecast, free_memory, elsewhere, 1)) == (free_memory < 1e9)


def test_large_files_are_counted_in_part_unless_the_store_has_their_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("text,label\n" + "sun,a\nsea,b\n" * 20)
    (tmp_path / "a.yaml").write_text(
        "name: a\ncorpus: {name: files, path: a.csv, text: text, label: label}\ntext: {stoplist: none}\n"
        "protocol: {name: k-fold, k: 2}\nmethods: [mnb]\n"
    )
    experiment, store = load_checked(tmp_path / "a.yaml"), Store(tmp_path / "store", limit=10**9)
    size = (tmp_path / "a.csv").stat().st_size
    for most, large in ((size - 1, True), (size, False), (size + 1, False)):
        monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", most)
        assert planning._large(experiment, RunContext(store)) is large
    monkeypatch.setattr(planning, "MAX_COUNTED_BYTES", 1)
    assert not planning._large(small_experiment(methods=["mnb"]), RunContext(store))
    read_variants(experiment, RunContext(store))
    assert not planning._large(experiment, RunContext(store))
    assert planning._large(experiment, RunContext(Store(tmp_path / "other", limit=10**9)))
