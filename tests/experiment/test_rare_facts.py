"""Rare facts of runs: patterns without a cell, stored values, texts by their key, and damaged entries."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.config.model import Collection, TextSettings
from benchmark.corpora.archive import CorpusSource
from benchmark.evaluation.splits import Split
from benchmark.experiment import code_digest as code
from benchmark.experiment import counting
from benchmark.experiment import run as runs
from benchmark.experiment.batches import unit_splits
from benchmark.experiment.configuration import experiment_of_manifest, select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import _check_words, _read_texts, read_counts, text_counts
from benchmark.experiment.manifest import _method
from benchmark.experiment.runner import TaskExecutor, plan_tasks, read_variants
from benchmark.experiment.settings import (
    StoreUnit,
    fold_counts,
    pack_predictions,
    predictions_of_unit,
    unpack_predictions,
)
from benchmark.experiment.store import Store, StoreEntry, store_key
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.system.distributions import distributions_of
from benchmark.system.errors import ConfigError
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.strings import joined_texts
from tests.builders import SMALL, setting_of, small_experiment
from tests.toy_data import toy_problem

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = StoreEntry({"numbers": np.arange(3)}, {"stage": "tried"})


# --- Configurations ---


def test_the_pattern_without_a_cell_is_the_one_that_is_named() -> None:
    for patterns in (("tf-*", "no-such", "nor-that"), ("no-such", "tf-*")):
        with pytest.raises(ConfigError, match="no-such"):
            select_cells(small_experiment(), patterns)


def test_a_manifest_s_plug_ins_are_looked_for_where_they_were(tmp_path: Path) -> None:
    record = {"kind": "kernels", "name": "mine", "file": str(tmp_path / "gone.py"), "digest": "x"}
    manifest = {"name": "small", "config": SMALL | {"plugins": ["mine.py"]}, "variants": {"base": {}}}
    with pytest.raises(ConfigError, match=rf"{tmp_path}/gone\.py: no such file"):
        experiment_of_manifest(manifest | {"plugins": [record]}, tmp_path)
    assert experiment_of_manifest(manifest, tmp_path).ids == small_experiment().ids, "no component of them was used"


@pytest.mark.parametrize("drawn", [False, True])
def test_what_a_run_writes_is_given_all_that_it_needs(
    drawn: bool, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark.report import files  # noqa: PLC0415
    from benchmark.report.html import page  # noqa: PLC0415

    seen: list[Any] = []
    results, summary, machine = object(), object(), {"threads": 3}
    monkeypatch.setattr(runs, "summarize", lambda given: summary if given is results else None)
    monkeypatch.setattr(runs, "manifest_of", lambda given, **more: {"of": given, "machine": machine} | more)
    monkeypatch.setattr(runs, "write_run", lambda *given: seen.append(given))
    monkeypatch.setattr(files, "write_report_files", lambda *given: seen.append(given))
    monkeypatch.setattr(page, "write_page", lambda *given: seen.append(given))
    context, render = RunContext(store, jobs=3), object()
    started = time.perf_counter() - 100
    done = runs.write_results(results, context, tmp_path, started, render if drawn else None)  # type: ignore[arg-type]
    (_, manifest, folder), (*written, drawer, note), of_page = seen
    assert (manifest["of"], manifest["jobs"], manifest["machine"], folder) == (results, 3, machine, tmp_path)
    assert 100 <= manifest["seconds"] <= done.seconds < 200
    assert (written, note) == ([summary, tmp_path], context.observer.note)
    assert drawer is render if drawn else drawer.args == (store,)
    assert of_page == (summary, tmp_path, machine)
    assert (done.folder, done.results, done.summary) == (tmp_path, results, summary)


# --- Code ---


def test_the_version_of_the_code_knows_each_module_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = set[str]()
    for names in (("a", "b"), ("b", "a"), ("a", "c")):
        monkeypatch.setattr(code, "MODULE_SOURCES", dict(zip(names, (b"1", b"2"), strict=True)))
        versions.add(code.code_version.__wrapped__())
    monkeypatch.setattr(code, "MODULE_SOURCES", {"a": b"1", "b": b"3"})
    versions.add(code.code_version.__wrapped__())
    assert len(versions) == 4
    assert {each.partition(" (")[0] for each in versions} == {code.distribution_version("simplexbench")}


def test_a_library_counts_by_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_reached", lambda modules: (frozenset(), modules))
    digests = set[str]()
    for release in ("1.0", "1.1"):
        monkeypatch.setattr(code, "distribution_version", lambda name, release=release: f"{name} {release}")
        digests |= {code._digest.__wrapped__(frozenset({top}), frozenset()) for top in ("numpy", "scipy")}
    assert len(digests) == 4
    monkeypatch.undo()
    names = {"sklearn": "scikit-learn", "libsvm": "libsvm-official", "yaml": "pyyaml", "numpy": "numpy", "json": None}
    for top, name in names.items():
        assert [each.lower() for each in distributions_of(top)] == ([name] if name else [])
    assert distributions_of("no_such_of_tests") == ()


# --- Settings ---


@pytest.mark.parametrize("keeps", [False, True])
def test_decision_values_are_stored_where_a_metric_asks_for_them_alone(keeps: bool) -> None:
    problem = toy_problem(multilabel=False)
    unit = StoreUnit("k", "m", (Split("s", np.arange(30), np.arange(30, 33)),), ((),), keeps)
    given = replace(setting_of([[0, 1, 2]]), values=np.arange(9.0).reshape(3, 3))
    got = predictions_of_unit(unit, [given], problem, 5.0)
    entry = pack_predictions(got)
    assert ("values" in entry.arrays) == keeps
    again = unpack_predictions(entry, unit, problem)
    for each in (got, again):
        assert (each.values is None) != keeps
        if keeps:
            np.testing.assert_array_equal(each.values, given.values)


@pytest.mark.parametrize("multilabel", [False, True])
def test_folds_are_counted_class_by_class(multilabel: bool) -> None:
    problem = toy_problem(multilabel=multilabel)
    folds = [Split(f"f{n}", np.arange(30), np.arange(30 + 10 * n, 40 + 10 * n)) for n in range(3)]
    rng = np.random.default_rng(4)
    found = [
        setting_of([rng.random((10, 3)) < 0.5 if multilabel else rng.integers(0, 2, 10)]) for _ in folds
    ]  # never the third class
    truth = problem.members[30:]
    predicted = np.concatenate([each.predicted for each in found])
    given = predicted if multilabel else predicted[:, None] == np.arange(3)
    expected = [*(given & truth).sum(axis=0), *given.sum(axis=0), *truth.sum(axis=0), 30]
    assert fold_counts(found, folds, problem).tolist() == expected


def test_the_splits_of_jobs_are_followed_by_the_folds_of_each() -> None:
    one, two, three, *folds = (Split(name, np.arange(2), np.arange(2)) for name in "abcdefg")
    jobs = [
        StoreUnit("j", "j", (one, two), ((folds[0], folds[1]), (folds[2],))),
        StoreUnit("k", "k", (three,), ((folds[3],),)),
        StoreUnit("l", "l", (one,), ((),)),
    ]
    assert [split.name for split in unit_splits(jobs)] == list("abdefcga")
    assert unit_splits([]) == []


@pytest.mark.parametrize("fails", [False, True])
def test_jobs_that_are_computed_one_by_one_all_have_their_results(
    fails: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = TaskExecutor(RunContext(store), MatrixCache())
    point: Any = SimpleNamespace(place="here")
    jobs: list[Any] = [SimpleNamespace(key=key) for key in "abc"]
    asked: list[str] = []

    def results(batch: Any) -> list[Any]:
        (job,) = batch.jobs
        asked.append(job.key)
        return ["b: wrong" if fails and job.key == "b" else {job.key: job}]

    monkeypatch.setattr(walk, "results_of", results)
    found = walk._one_by_one(point, jobs)
    assert found == ("b: wrong" if fails else {job.key: job for job in jobs})
    assert asked == ["a", "b"] if fails else ["a", "b", "c"]


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


# --- Counts and texts ---


class Reader:
    """Reader of a corpus that is never read."""

    name, subset, multilabel = "tried", None, False

    def locate(self, **_: Any) -> CorpusSource:
        return CorpusSource(None)

    def content(self, source: CorpusSource) -> dict[str, Any]:
        return {"of": str(source)}

    def facts(self) -> dict[str, Any]:
        return {"said": "by the reader"}


COLLECTION: Any = Collection.of(Reader(), ("a", "b"), (), TextSettings(Lexing(), Pruning()))  # type: ignore[arg-type]
#: What decides texts, and what doesn't.
TEXTS: dict[str, tuple[dict[str, Any], bool]] = {
    "classes": ({"classes": ("b", "a")}, True),
    "documents": ({"exclude": ("d1",)}, True),
    "header": ({"rules": (True, False)}, True),
    "html": ({"rules": (False, True)}, True),
    "the corpus": ({"name": "other"}, True),
    "its content": ({"content": {"of": "another"}}, True),
    "words": ({"lexing": Lexing(stoplist="none")}, False),
    "nothing": ({}, False),
}


@pytest.mark.parametrize("name", TEXTS)
def test_all_that_decides_texts_is_in_their_key_and_nothing_else(
    name: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem(multilabel=False)
    data, bounds = joined_texts(problem.documents.ids)
    ids = counting.join_names(problem.documents.ids)
    keys: list[str] = []

    def known(key: str) -> StoreEntry:
        keys.append(key)
        return StoreEntry({"data": data, "bounds": bounds, "ids": ids})

    monkeypatch.setattr(counting, "is_builtin", lambda _: True)
    monkeypatch.setattr(store, "get", known)
    changes, decides = TEXTS[name]
    experiment: Any = SimpleNamespace(name="small")

    def read(collection: Any, rules: tuple[bool, bool]) -> None:
        texts = _read_texts(experiment, collection, problem.counts, RunContext(store), "m", rules, None)
        assert (texts.key, list(texts.strings())) == (keys[-1], list(problem.documents.ids))

    read(COLLECTION, (False, False))
    for attribute, value in changes.items():
        if attribute in ("name", "content"):
            monkeypatch.setattr(Reader, attribute, value if attribute == "name" else lambda *_, own=value: own)
    fields = {key: value for key, value in changes.items() if key not in ("name", "content", "rules")}
    read(replace(COLLECTION, **fields), changes.get("rules", (False, False)))
    assert (keys[0] != keys[1]) is decides


def test_other_words_are_counted_wherever_the_method_with_the_same_words_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = toy_problem(multilabel=False).counts
    monkeypatch.setattr(counting, "read_counts", lambda given, *_: (counts, {}, given.pruning.min_documents))
    same, *others = (TextSettings(Lexing(), Pruning(min_documents=n)) for n in (1, 2, 3))
    collection = Collection.of(Reader(), ("a",), (), same)  # type: ignore[arg-type]
    experiment: Any = SimpleNamespace(name="small")
    for texts in ((same, *others), (others[0], same, others[1]), (*others, same)):
        variant: Any = SimpleNamespace(texts=dict.fromkeys(texts, "m"), collection=collection, terms=None)
        found = text_counts(experiment, variant, counts, None)  # type: ignore[arg-type]
        assert {text: key for text, (_, key) in found.items()} == {each: each.pruning.min_documents for each in others}


def test_facts_of_counts_have_those_of_the_reader(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = small_experiment().variants["base"].collection
    monkeypatch.setattr(type(collection.reader), "facts", Reader.facts)
    checked: list[object] = []
    monkeypatch.setattr(type(collection.reader), "check_unchanged", lambda reader: checked.append(reader) or None)
    for _ in range(2):
        _, facts, _ = read_counts(collection, RunContext(store))
        assert facts["said"] == "by the reader"
        assert {"source", "content_digest"} <= facts.keys()
    assert checked == [collection.reader], "once it was read, and not where its counts were stored"


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


@pytest.mark.parametrize(("fields", "block_of", "lacks"), [("ab", [0, 1], ""), ("abc", [1], "a"), ("abc", [0], "b")])
def test_the_first_field_without_a_word_is_named(fields: str, block_of: list[int], lacks: str) -> None:
    experiment: Any = SimpleNamespace(name="small")
    variant: Any = SimpleNamespace(terms=None)
    counts: Any = SimpleNamespace(vocabulary=("w",), block_of=np.array(block_of))
    lexing: Any = SimpleNamespace(fields=tuple(fields), blocks_of_field=1)
    if not lacks:
        _check_words(experiment, variant, counts, lexing, "documents")
        return
    with pytest.raises(
        ConfigError, match=f"^small: lexing and pruning leave no word of the field '{lacks}' in the doc"
    ):
        _check_words(experiment, variant, counts, lexing, "documents")


# --- The store ---


def test_entries_before_and_after_a_damaged_one_are_described(store: Store) -> None:
    keys = [store_key(tried=n) for n in range(4)]
    for n, key in enumerate(keys):
        store.put(key, StoreEntry({"numbers": np.arange(3)}, {"stage": str(n)}))
    entries = store.entries()
    by_name = {path.name: path for path, _, _ in entries}
    order = [keys.index(path.name) for path, _, _ in entries]
    for damage in (b"", b"\0" * 300):
        by_name[keys[order[1]]].write_bytes(damage)
        for hour, n in enumerate(order):
            os.utime(by_name[keys[n]], (hour * 3600, hour * 3600))
        described = sorted(int(facts["stage"]) for facts, _, _ in store.described())
        assert described == sorted(set(range(4)) - {order[1]})
