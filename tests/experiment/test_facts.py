"""Facts of a run: what is counted, stored and recorded of its settings, texts and pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.evaluation.splits import Split
from benchmark.experiment import run as runs
from benchmark.experiment import runner
from benchmark.experiment.configuration import experiment_of_manifest
from benchmark.experiment.context import RunContext
from benchmark.experiment.manifest import _method, manifest_differences
from benchmark.experiment.runner import LocalExecutor, plan_tasks, read_variants, solve_task
from benchmark.experiment.settings import (
    StoreUnit,
    pack_predictions,
    predictions_of_unit,
    unpack_predictions,
)
from benchmark.system.errors import ConfigError
from benchmark.system.observer import Observer
from tests.builders import Notebook, setting_of, small_experiment
from tests.toy_data import toy_problem

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.experiment.store import Store


class Watching(Observer):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.plans: list[tuple[int, int]] = []
        self.steps: list[tuple[str, bool]] = []
        self.notes: list[str] = []

    def plan(self, steps: int, later: int = 0) -> None:
        self.plans.append((steps, later))

    def step(self, done: str, *, stored: bool = False) -> None:
        self.steps.append((done, stored))

    def note(self, message: str) -> None:
        self.notes.append(message)


def works_of(experiment: Any, store: Store) -> list[Any]:
    return list(plan_tasks(experiment, read_variants(experiment, RunContext(store, download=False))))


def test_a_manifest_s_configuration_is_read_with_and_without_the_folder_of_its_file(tmp_path: Path) -> None:
    config = small_experiment().raw
    variants = {"base": {}, "other": {"base": "/x"}, "third": {"base": "/y"}}
    for facts, name in ((variants, "/x/small.yaml"), ({"base": {}}, "small.yaml")):
        wrong = {"name": "small", "config": config | {"nothing": 1}, "variants": facts}
        with pytest.raises(ConfigError, match=rf"^{name}: unknown key 'nothing'"):
            experiment_of_manifest(wrong, tmp_path)
        assert experiment_of_manifest(wrong | {"config": config}, tmp_path).name == "small"


def folds_of(*sizes: int) -> tuple[Split, ...]:
    return tuple(Split(f"f{i}", np.arange(9, 60), np.arange(i, i + n)) for i, n in enumerate(sizes))


def test_a_unit_keeps_its_splits_and_counts_the_folds_of_each() -> None:
    problem = toy_problem(multilabel=False)
    outer, inner = folds_of(4, 2), (folds_of(3, 2), folds_of(5))
    unit = StoreUnit("k", "m", outer, inner)
    labels = problem.documents.labels

    def of(split: Split, wrong: int, warnings: tuple[str, ...] = ()) -> SettingPredictions:
        predicted = labels[split.test].astype(np.int16)
        predicted[:wrong] = (predicted[:wrong] + 1) % 3
        return replace(setting_of([predicted]), warnings=warnings)

    found = [*(of(split, 0) for split in outer), of(inner[0][0], 1), of(inner[0][1], 1, ("w", "v")), of(inner[1][0], 3)]
    got = predictions_of_unit(unit, found, problem, 123.0)
    np.testing.assert_array_equal(got.by_split[0], labels[:4])
    np.testing.assert_array_equal(got.by_split[1], labels[1:3])
    assert got.inner.shape == (2, 10)
    assert got.inner[:, -1].tolist() == [5, 5], "documents of the folds of each split"
    assert got.inner[:, :3].sum(axis=1).tolist() == [3, 2], "those that are right"
    assert got.memory.tolist() == [123.0, 123.0]
    assert (got.warnings, len(got.versions)) == (("w", "v"), 2)
    entry = pack_predictions(got)
    again = unpack_predictions(entry, unit, problem)
    for name in ("predicted", "tied", "seconds", "inner", "memory"):
        np.testing.assert_array_equal(getattr(again, name), getattr(got, name), strict=True)
    assert (again.warnings, again.sizes, again.versions) == (got.warnings, got.sizes, got.versions)


def test_progress_is_planned_task_by_task_with_what_comes_later(store: Store) -> None:
    seen = Watching()
    tasks = [["course", "faculty"], ["course", "student"], ["faculty", "student"]]
    runner.run_experiment(small_experiment(methods=["mnb", "ngd"], tasks=tasks), RunContext(store, seen))
    assert seen.plans == [(4, 8), (4, 4), (4, 0)]
    assert len(seen.steps) == 12


def test_near_duplicates_are_those_of_the_first_task(store: Store) -> None:
    tasks = [["course", "faculty"], ["course", "student"]]
    variants = {"other": {"text": {"min_occurrences": 50}}}
    done = runner.run_experiment(small_experiment(methods=["mnb"], tasks=tasks, variants=variants), RunContext(store))
    looked_for = {tuple(key): [set(split.leaks) for split in each] for key, each in done.predictions.splits.items()}
    assert looked_for.pop(("base", "course-faculty", None)) == [{"near-duplicates"}] * 2
    assert list(looked_for.values()) == [[set()] * 2] * 3
    assert len(done.facts["base"]["near_duplicates"]) == 2
    assert "near_duplicates" not in done.facts["other"]


def test_each_text_of_a_variant_has_its_own_counts(store: Store) -> None:
    texts = [{"stoplist": "none", "min_occurrences": n} for n in (60, 120)]
    methods = ["mnb", *({"classifier": "mnb", "name": f"m{n}", "text": text} for n, text in enumerate(texts))]
    read = read_variants(small_experiment(methods=methods), RunContext(store))["base"]
    sizes = [len(counts.vocabulary) for counts, _ in read.texts.values()]
    assert sizes[0] > sizes[1] > 0
    assert len({key for _, key in read.texts.values()}) == 2
    assert [each["vocabulary"] for each in read.facts["texts"]] == sizes


def test_a_setting_is_stored_if_all_its_splits_were(store: Store) -> None:
    experiment = small_experiment(methods=["mnb", "eef"])
    runner.run_experiment(experiment, RunContext(store))
    (work,) = works_of(experiment, store)
    bayes, eef = work.points
    store.remove(bayes.jobs[-1].key)
    context = RunContext(store)
    found, known = solve_task(work, context, [LocalExecutor(context, runner.MatrixCache())])
    assert known == found.keys() - {bayes.jobs[-1].key}
    assert runner.run_experiment(experiment, context).stored == {bayes.place, eef.place}


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


def test_two_manifests_differ_in_what_decides_and_in_nothing_else() -> None:
    one = {
        "name": "a",
        "seconds": 1,
        "finished": "x",
        "command": ["a"],
        "timings": {"t": 1},
        "digest": "d",
        "experiment": {"e": 1},
        "methods": {"base": {"mnb": [{"C": 1}, {"C": 2}], "ngd": [{"C": 1}]}},
        "files": {"timings.parquet": "x", "predictions.parquet": "x"},
        "seeds": {"experiment": 1},
    }
    other = dict.fromkeys(("name", "seconds", "finished", "command", "timings", "digest", "experiment"), "other")
    assert manifest_differences(one, one | other) == []
    changed = one | {"methods": {"base": {"mnb": [{"C": 1}, {"C": 3}], "ngd": [{"C": 4}]}}, "seeds": {}, "more": [1]}
    assert manifest_differences(one, changed) == [
        ("methods.base.mnb.1.C", 2, 3),
        ("methods.base.ngd.C", 1, 4),
        ("seeds.experiment", 1, None),
        ("more", None, [1]),
    ]


def test_a_manifest_describes_a_method_by_all_that_is_set_of_it() -> None:
    methods = [
        "ngd",
        {"classifier": "mnb", "text": {"stoplist": "none", "min_occurrences": 60}},
        {"weighting": "tfidf", "classifier": "linear-svm", "threshold": "cross-validated"},
    ]
    several = {"corpus": {"name": "synthetic", "subset": "several"}, "protocol": {"name": "leave-one-group-out"}}
    experiment = small_experiment(methods=methods, **several)
    described = [_method(spec) for entry in experiment.variants["base"].entries for spec in entry.candidates]
    assert [bool(each["kernel"]) for each in described] == [True, False, False]
    assert [each["classifier"]["name"] for each in described] == ["svm", "mnb", "linear-svm"]
    assert [each.get("text", {}).get("min_occurrences") for each in described] == [None, 60, None]
    assert [each["weighting"] for each in described] == ["tf", "tf", "tfidf"]
    assert ["threshold" in each for each in described] == [False, False, True]
    assert described[2]["threshold"] == "cross-validated"


def test_a_pipeline_reads_texts_by_rules_of_its_own_or_of_all(store: Store) -> None:
    pipeline = {"pipeline": "benchmark.classifiers.gzip_neighbours.GzipNeighbours"}
    rules = [(True, True), (False, True), (True, False)]
    own = [
        {"name": f"p{n}", "text": {"skip_header": header, "skip_html": html}, **pipeline}
        for n, (header, html) in enumerate(rules[1:])
    ]
    experiment = small_experiment(methods=[{"name": "p", **pipeline}, *own, "mnb"])
    read = read_variants(experiment, RunContext(store))
    keys = {(text.lexing.skip_header, text.lexing.skip_html): own.key for text, own in read["base"].strings.items()}
    assert len({*keys.values()}) == 3
    (work,) = plan_tasks(experiment, read)
    texts = [point.problem.texts for point in work.points]
    assert [each and each.key for each in texts] == [*(keys[each] for each in rules), None]


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
