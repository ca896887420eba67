"""Parts of the walk by themselves: what goes together, what is counted, and which facts a run keeps."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.config.model import Collection, TextSettings
from benchmark.corpora.archive import CorpusSource
from benchmark.evaluation.predictions import SettingKey, SettingPredictions, SplitKey
from benchmark.evaluation.splits import Split
from benchmark.experiment import code_digest as code
from benchmark.experiment import configuration, counting, runner
from benchmark.experiment import run as runs
from benchmark.experiment.batches import plan_batches
from benchmark.experiment.code_digest import MODULE_SOURCES
from benchmark.experiment.configuration import experiment_of_manifest, select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import check_expectations, counts_key, document_strings, read_counts, text_counts
from benchmark.experiment.kernel_cache import KERNEL_CACHE_SHARE, KernelCache
from benchmark.experiment.leftovers import remove_places, user_places
from benchmark.experiment.manifest import manifest_differences
from benchmark.experiment.near_duplicates import find_near_duplicates
from benchmark.experiment.run_folder import MANIFEST_FILE, RUN_FORMAT, _check_format, _rows_digest
from benchmark.experiment.runner import TaskExecutor, compute_diagnostics, plan_tasks, read_variants, setting_name
from benchmark.experiment.settings import StoreUnit, pack_predictions, predictions_of_unit, unpack_predictions
from benchmark.experiment.store import Store, StoreEntry, store_key
from benchmark.experiment.task_planning import _inner, _with_texts
from benchmark.kernels import Linear
from benchmark.system.errors import BenchError, ConfigError, DataError
from benchmark.system.observer import Observer
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.strings import Texts, joined_texts
from tests.builders import setting_of, small_experiment
from tests.toy_data import toy_problem

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = StoreEntry({"numbers": np.arange(3)}, {"stage": "tried"})


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


# --- Batches ---


@pytest.mark.parametrize(
    ("protocol", "once"),
    [
        ({"name": "random-subsets", "train_size": 60, "replicates": 1, "test": "texas"}, True),
        ({"name": "random-subsets", "train_size": [60, 80], "replicates": 1, "test": "texas"}, False),
        ({"name": "random-subsets", "train_size": 60, "replicates": 3, "test": "texas"}, False),
    ],
)
def test_products_are_needed_once_only_where_one_split_of_one_size_is_left(
    protocol: dict[str, Any], once: bool, store: Store
) -> None:
    (work,) = works_of(small_experiment(protocol=protocol, methods=["linear", "ngd"]), store)
    batches = plan_batches([(point, job) for point in work.points for job in point.jobs], by_split=False)
    assert {batch.once for batch in batches} == {once}


def test_machines_over_other_numbers_of_terms_are_not_trained_together(store: Store) -> None:
    methods = [{"weighting": "tf", "normalization": "l1", "kernel": ["ngd", "bhattacharyya"]}]
    (work,) = works_of(small_experiment(methods=methods, terms={"number": [20, 40]}), store)
    batches = plan_batches([(point, job) for point in work.points for job in point.jobs], by_split=False)
    assert {len(batch.parts) for batch in batches} == {2}
    for batch in batches:
        assert len({point.terms for point, _ in batch.parts}) == 1
        assert len({point.place.method for point, _ in batch.parts}) == 2


# --- Code ---


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add modules to those of this package."""

    def add(**sources: str) -> None:
        names = {f"benchmark.tried_{name}": text.encode() for name, text in sources.items()}
        for name, text in names.items():
            monkeypatch.setitem(MODULE_SOURCES, name, text)
        monkeypatch.setattr(code, "_PACKAGES", code._PACKAGES | {"benchmark.tried_pack"})
        for each in (code._digest, code._reached, code._imports, code._imported):
            each.cache_clear()

    yield add  # type: ignore[misc]
    monkeypatch.undo()
    for each in (code._digest, code._reached, code._imports, code._imported):
        each.cache_clear()


def test_a_name_that_a_package_hands_on_is_followed_to_its_module(packages: Callable[..., None]) -> None:
    packages(
        pack="from benchmark.tried_deep import inner as outer, other\nfrom benchmark.tried_far import thing\nX = 1\n",
        deep="inner = other = 1\n",
        far="from benchmark.tried_deep import inner as thing\n",
        user="from benchmark.tried_pack import outer\n",
    )
    cases = {"outer": "deep", "other": "deep", "inner": "pack", "thing": "far", "X": "pack"}
    for name, module in cases.items():
        assert code._defined_in("benchmark.tried_pack", name) == f"benchmark.tried_{module}", name
    assert code._defined_in("benchmark", "tried_deep") == "benchmark.tried_deep", "a module of a package"
    own, _ = code._reached(frozenset({"benchmark.tried_user"}))
    assert own == {"benchmark.tried_user", "benchmark.tried_deep"}


def test_imports_stand_anywhere_but_where_they_never_run() -> None:
    text = (
        "import a\nfrom b import c\nif TYPE_CHECKING:\n    import d\n    if x:\n        import e\nelse:\n    import f\n"
        "if other:\n    import g\nclass C:\n    import h\n    def m(self):\n        import i\nwith x:\n    import j\n"
    )
    found = list(code._within(ast.parse(text).body))
    names = [node.names[0].name if isinstance(node, ast.Import) else node.module for node in found]
    assert names == ["a", "b", "f", "g", "h", "i", "j"]


@pytest.mark.parametrize("change", ["new", "gone", "size", "time"])
def test_any_other_file_while_the_program_starts_is_refused(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Path("/x/a.py"), Path("/x/b.py")
    before = {one: (1, 1), two: (2, 2)}
    now = {"new": before | {Path("/x/c.py"): (3, 3)}, "gone": {one: (1, 1)}, "size": before | {two: (2, 3)}}
    monkeypatch.setattr(code, "_AT_START", before)
    monkeypatch.setattr(code, "_stamps", lambda: before)
    code._refuse_edited.__wrapped__()
    monkeypatch.setattr(code, "_stamps", lambda: now.get(change, before | {two: (3, 2)}))
    name = {"new": "c", "gone": "b"}.get(change, "b")
    with pytest.raises(BenchError, match=rf"^/x/{name}\.py: was changed while the program started; run it again$"):
        code._refuse_edited.__wrapped__()


# --- Configurations ---


def test_cells_are_selected_by_any_of_several_patterns_as_they_are_written() -> None:
    experiment = small_experiment()
    assert select_cells(experiment, ("tfidf-*", "tf-l1-ngd")).ids == ("tf-l1-ngd", "tfidf-l1-linear", "tfidf-l1-ngd")
    assert select_cells(experiment, ("tf-l1-ngd", "tf-*")).ids == ("tf-l1-linear", "tf-l1-ngd")
    with pytest.raises(ConfigError, match="TF-L1-ngd"):
        select_cells(experiment, ("TF-L1-ngd",))


def test_a_manifest_s_configuration_is_read_with_and_without_the_folder_of_its_file(tmp_path: Path) -> None:
    config = small_experiment().raw
    variants = {"base": {}, "other": {"base": "/x"}, "third": {"base": "/y"}}
    for facts, name in ((variants, "/x/small.yaml"), ({"base": {}}, "small.yaml")):
        wrong = {"name": "small", "config": config | {"nothing": 1}, "variants": facts}
        with pytest.raises(ConfigError, match=rf"^{name}: unknown key 'nothing'"):
            experiment_of_manifest(wrong, tmp_path)
        assert experiment_of_manifest(wrong | {"config": config}, tmp_path).name == "small"


def test_each_name_is_of_one_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "load_checked", lambda path: SimpleNamespace(name=path.name))
    load: Any = configuration.load_all_checked
    assert [each.name for each in load([Path("a"), Path("b"), Path("c")])] == ["a", "b", "c"]
    for names in ("aa", "aba", "abb", "abcb", "caab"):
        said = next(name for name in names if names.count(name) > 1)
        with pytest.raises(ConfigError, match=f"^two of these configurations are named '{said}': one would overwrite"):
            load([tmp_path / str(number) / name for number, name in enumerate(names)])


@pytest.mark.parametrize("column", [False, True])
def test_a_report_is_made_again_as_it_is_asked_for(
    column: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark.report import files  # noqa: PLC0415
    from benchmark.report.html import page  # noqa: PLC0415

    seen: list[Any] = []
    results, summary = object(), object()
    monkeypatch.setattr(runs, "read_run", lambda folder: results if folder == tmp_path else None)
    monkeypatch.setattr(runs, "summarize", lambda given: summary if given is results else None)
    monkeypatch.setattr(runs, "read_manifest", lambda _: {"machine": {"threads": 3}})
    monkeypatch.setattr(files, "write_report_files", lambda *given, **more: seen.append((given, more)))
    monkeypatch.setattr(page, "write_page", lambda *given: seen.append(given))
    note = seen.append
    done = runs.report_again(tmp_path, note, column=column)
    assert seen == [((summary, tmp_path), {"note": note, "column": column}), (summary, tmp_path, {"threads": 3})]
    assert (done.folder, done.results, done.summary) == (tmp_path, results, summary)


# --- Counts ---


class Reader:
    """Reader of a corpus that is never read."""

    name, subset, multilabel = "tried", None, False

    def content(self, source: CorpusSource) -> dict[str, Any]:
        return {"of": str(source)}


COLLECTION: Any = Collection.of(Reader(), ("a", "b"), (), TextSettings(Lexing(), Pruning()))  # type: ignore[arg-type]
CHANGES: dict[str, dict[str, Any]] = {
    "classes": {"classes": ("b", "a")},
    "one class": {"classes": ("a",)},
    "documents": {"exclude": ("d1",)},
    "stop words": {"lexing": Lexing(stoplist="none")},
    "fields": {"lexing": Lexing(fields=("all", "title"))},
    "lexing": {"lexing": Lexing(skip_html=True)},
    "pruning": {"pruning": Pruning(min_documents=7)},
}


@pytest.mark.parametrize("name", CHANGES)
def test_all_that_decides_counts_is_in_their_key(name: str) -> None:
    source = CorpusSource(None)
    changed = replace(COLLECTION, **CHANGES[name])
    assert counts_key(changed, source) != counts_key(COLLECTION, source)
    assert counts_key(replace(COLLECTION), source) == counts_key(COLLECTION, source)


def test_another_version_of_unicode_or_another_corpus_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    source, key = CorpusSource(None), counts_key(COLLECTION, CorpusSource(None))
    monkeypatch.setattr(Reader, "name", "other")
    assert counts_key(COLLECTION, source) != key
    monkeypatch.undo()
    monkeypatch.setattr(counting, "unidata_version", "99")
    assert counts_key(COLLECTION, source) != key
    monkeypatch.undo()
    monkeypatch.setattr(Reader, "content", lambda *_: {"of": "another"})
    assert counts_key(COLLECTION, source) != key


def test_texts_are_read_once_by_their_rules_and_each_gets_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        TextSettings(Lexing(skip_header=header, skip_html=html, stoplist=stoplist), Pruning()): f"{header}-{html}"
        for header in (False, True)
        for html in (False, True)
        for stoplist in ("none", "smart")
    }
    seen: list[tuple[str, Any]] = []

    def read(_: Any, __: Any, ___: Any, ____: Any, label: str, rules: Any, _____: Any) -> Any:
        seen.append((label, rules))
        return rules

    monkeypatch.setattr(counting, "_read_texts", read)
    variant: Any = SimpleNamespace(read_texts=texts, collection=None)
    found: Any = document_strings(None, variant, None, None)  # type: ignore[arg-type]
    assert found == {text: (text.lexing.skip_header, text.lexing.skip_html) for text in texts}
    assert seen == [(f"{header}-{html}", (header, html)) for header in (False, True) for html in (False, True)]


@pytest.mark.parametrize("download", [True, False])
def test_whether_a_corpus_may_be_downloaded_is_heeded_wherever_it_is_read(
    download: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = small_experiment(methods=["mnb"])
    variant = experiment.variants["base"]
    reader = variant.collection.reader
    asked: list[bool] = []
    locate = type(reader).locate

    def located(self: Any, *, download: bool, **more: Any) -> Any:
        asked.append(download)
        return locate(self, download=download, **more)

    monkeypatch.setattr(type(reader), "locate", located)
    context = RunContext(store, download=download)
    counts, *_ = read_counts(variant.collection, context)
    text = TextSettings(replace(variant.collection.lexing, stoplist="smart"), variant.collection.pruning)
    text_counts(experiment, replace(variant, entries=()), counts, context)
    given: Any = SimpleNamespace(texts={text: "m"}, collection=variant.collection, terms=None, read_texts={text: "m"})
    text_counts(experiment, given, counts, context)
    document_strings(experiment, given, counts, context)
    assert asked == [download] * 3


def test_what_is_expected_is_of_the_first_variant_alone(store: Store) -> None:
    experiment = small_experiment(methods=["mnb"])
    base = experiment.variants["base"]
    counts, *_ = read_counts(base.collection, RunContext(store))
    other = replace(base, name="other")
    for variants, first in (({"base": base, "other": other}, base), ({"other": other, "base": base}, other)):
        wrong = replace(experiment, variants=variants, expected_documents=1)
        for variant in (base, other):
            if variant is first:
                with pytest.raises(DataError, match="expects 1 documents"):
                    check_expectations(wrong, variant, counts)
            else:
                check_expectations(wrong, variant, counts)


@pytest.mark.parametrize("change", ["ids", "labels", "topics", "none"])
def test_a_text_that_changes_the_documents_is_refused(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = toy_problem(multilabel=change == "topics")
    counts, documents = problem.counts, problem.documents
    changes: dict[str, Any] = {
        "ids": {"ids": (*documents.ids[:-1], "another")},
        "labels": {"labels": (documents.labels + 1) % 3},
        "topics": {"topics": None if documents.topics is None else ~documents.topics},
        "none": {},
    }
    own = replace(counts, documents=replace(documents, **changes[change]))
    monkeypatch.setattr(counting, "read_counts", lambda *_: (own, {}, "key"))
    text = TextSettings(Lexing(), Pruning())
    collection = Collection.of(Reader(), ("a",), (), TextSettings(Lexing(stoplist="none"), Pruning()))  # type: ignore[arg-type]
    variant: Any = SimpleNamespace(texts={text: "m", collection.text: "same"}, collection=collection, terms=None)
    experiment: Any = SimpleNamespace(name="small")
    if change == "none":
        found = text_counts(experiment, variant, counts, None)  # type: ignore[arg-type]
        assert [*found] == [text]
        assert found[text][1] == "key"
        assert found[text][0].documents is documents
        return
    with pytest.raises(DataError, match=r"^small: the text of the method 'm' changes which documents there are$"):
        text_counts(experiment, variant, counts, None)  # type: ignore[arg-type]


# --- The store ---


def test_what_is_cleared_is_counted_and_nothing_else_goes(store: Store) -> None:
    keys = [store_key(tried=n) for n in range(3)]
    for key in keys:
        store.put(key, ENTRY)
    n_bytes = sum(size for _, size, _ in store.entries())
    assert store.clear() == (3, n_bytes)
    assert store.entries() == []
    assert store.clear() == (0, 0)


def test_no_folder_of_the_store_is_left_where_it_is_removed(store: Store, tmp_path: Path) -> None:
    store.put(store_key(n=1), ENTRY)
    folder = Path(store.folder)
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts" / "half").touch()
    assert remove_places(store, {"results": user_places(store)["results"]}) == []
    assert not folder.exists()


def test_kernels_are_kept_in_a_folder_of_this_machine_up_to_a_share(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import benchmark.experiment.kernel_cache as kept  # noqa: PLC0415

    seconds = iter(float(n) for n in range(10**6))
    monkeypatch.setattr(kept, "time", SimpleNamespace(perf_counter=lambda: next(seconds)))
    monkeypatch.setattr(kept, "MIN_SPEEDUP", 0.0)
    limited = Store(store.folder, limit=KERNEL_CACHE_SHARE * 1000)
    made: list[int] = []

    def numbers(n: int) -> Callable[[], dict[str, Any]]:
        return lambda: made.append(n) or {"numbers": np.zeros(n, np.uint8)}

    def use(cache: KernelCache, name: str, n: int) -> None:
        assert cache("about", [Linear], {"name": name}, numbers(n))["numbers"].nbytes == n

    cache = KernelCache(limited)
    for name, n in (("large", 1001), ("one", 600), ("two", 400), ("three", 1)):
        use(cache, name, n)
    again = KernelCache(limited)
    made.clear()
    for name, n in (("large", 1001), ("one", 600), ("two", 400), ("three", 1)):
        use(again, name, n)
    assert made == [1001, 1]
    assert again.n_found == 2
    limited.local = False
    far = KernelCache(limited)
    made.clear()
    use(far, "one", 600)
    assert (made, far.n_found) == ([600], 0)


# --- Settings and runs ---


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (("base", "", "mnb", 0, None, None), "mnb"),
        (("base", "", "mnb", 3, 80, 500), "mnb-80-500"),
        (("other", "reuters", "mnb", 0, None, 20), "other-reuters-mnb-20"),
        (("other", "", "mnb", 0, 80, None), "other-mnb-80"),
    ],
)
def test_a_setting_is_named_by_all_that_tells_it_from_others(place: Any, name: str) -> None:
    assert setting_name(SettingKey(*place)) == name


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
    with pytest.raises(ValueError, match="it has no decision value for each class, which a ranking metric needs"):
        predictions_of_unit(replace(unit, keeps_values=True), found, problem, 0.0)


def test_inner_folds_are_rows_of_the_task() -> None:
    problem = toy_problem(multilabel=False)
    split = Split("texas", np.arange(20, 60), np.arange(20))
    protocol: Any = SimpleNamespace(
        splits=lambda documents: [
            Split("f1", np.arange(10, len(documents)), np.arange(10), 1),
            Split("f2", np.arange(len(documents) - 5), np.arange(len(documents) - 5, len(documents)), 2),
        ]
    )
    one, two = _inner(split, problem, protocol)
    assert (one.name, one.number, two.name, two.number) == ("f1", 1, "f2", 2)
    assert one.test.tolist() == list(range(20, 30))
    assert one.train.tolist() == list(range(30, 60))
    assert two.test.tolist() == list(range(55, 60))
    assert _inner(split, problem, None) == ()


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
    walk = TaskExecutor(RunContext(store), runner.MatrixCache())
    found, failed = walk.solve(work)
    assert (len(found), failed, walk.stored) == (2, {}, {eef.place})


@pytest.mark.parametrize("only", [(), ("mnb",)])
def test_diagnostics_are_computed_for_each_variant_that_they_are_for(
    only: tuple[str, ...], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, bool]] = []

    def computed(built: Any, given: Any, *, whole: bool) -> dict[str, Any]:
        seen.append((given.variant.name, whole))
        if given.variant.name == "other":
            raise ValueError("not for these")
        return {"x": np.zeros(1)}

    monkeypatch.setattr(runner, "compute_checked", computed)
    monkeypatch.setattr(runner, "tags_of", lambda _: SimpleNamespace(base_only=False))
    variants = {"other": {"text": {"min_occurrences": 50}}}
    experiment = small_experiment(methods=["mnb"], variants=variants, diagnostics=["document-counts"])
    experiment = replace(experiment, only=only)
    watching = Watching()
    counts = toy_problem(multilabel=False).counts
    read = dict.fromkeys(experiment.variants, (counts, "key"))
    found, failures = compute_diagnostics(experiment, read, RunContext(store, watching))
    assert seen == [("base", not only), ("other", not only)]
    assert list(found) == [("document-counts", "base")]
    assert failures == {"other-document-counts": "not for these"}
    assert watching.notes == ["other-document-counts failed: not for these"]
    assert [done for done, _ in watching.steps] == ["document-counts", "other-document-counts"]
    first = replace(experiment, variants=dict(reversed(experiment.variants.items())))
    monkeypatch.setattr(runner, "tags_of", lambda _: SimpleNamespace(base_only=True))
    seen.clear()
    compute_diagnostics(first, read, RunContext(store))
    assert [name for name, _ in seen] == ["base"], "wherever it stands"


def test_stored_arrays_of_a_diagnostic_are_of_its_counts_and_content(store: Store) -> None:
    made: list[int] = []

    def compute() -> dict[str, Any]:
        made.append(len(made))
        return {"n": np.array([len(made)])}

    for _ in range(2):
        for counts in ("one", "two"):
            for content in ({"a": 1}, {"a": 2}):
                runner.cached_arrays(store, [Linear], counts, content, compute)
    assert made == [0, 1, 2, 3]


def test_near_duplicates_are_found_again_for_the_same_rows_alone(store: Store) -> None:
    problem = toy_problem(multilabel=False)
    rows = np.arange(60)
    dense = np.random.default_rng(0).integers(0, 2, (60, 200), dtype=np.int32)
    dense[50] = dense[3]
    problem = replace(problem, counts=replace(problem.counts, matrix=sp.csr_array(dense)))
    for train, near in ((rows[:50], 1), (rows[5:50], 0), (rows[:49], 1)):
        work: Any = SimpleNamespace(splits={None: (Split("s", train, rows[50:]),)}, problem=problem)
        ((found,), _) = find_near_duplicates(work, store)
        assert (found["near"], found["same"], found["tested"]) == (near, near, 10), "also from a store with the others"


# --- Manifests ---


@pytest.mark.parametrize(
    ("kind", "does"),
    [
        (1, "run the configuration again"),
        (RUN_FORMAT - 1, "run the configuration again"),
        (RUN_FORMAT + 1, "read it with 9.9 or later, or run the configuration again"),
        ("new", "read it with 9.9 or later, or run the configuration again"),
    ],
)
def test_another_format_says_what_reads_it(kind: Any, does: str) -> None:
    path = Path(MANIFEST_FILE)
    _check_format(path, {"format": RUN_FORMAT})
    with pytest.raises(DataError) as raised:
        _check_format(path, {"format": kind, "versions": {"simplexbench": "9.9"}})
    said = f"{path}: is of format {kind!r}, of simplexbench 9.9; this version reads {RUN_FORMAT}: {does}"
    assert str(raised.value) == said


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


def test_settings_know_how_their_terms_and_words_are_chosen(store: Store) -> None:
    own = {"stoplist": "none", "min_occurrences": 60, "vocabulary_from": "training"}
    methods = ["mnb", {"classifier": "mnb", "name": "own", "text": own}]
    for aggregate in ("sum", "maximum"):
        terms = {"number": [20, 40], "aggregate": aggregate}
        (work,) = works_of(small_experiment(methods=methods, terms=terms), store)
        assert {point.aggregate for point in work.points} == {aggregate}
        assert [point.terms for point in work.points] == [20, 40] * 2
        pruning = {point.place.method: point.problem.pruning for point in work.points}
        assert pruning["mnb"] is None
        assert pruning["own"] is not None
        assert pruning["own"].min_occurrences == 60
    text = {"skip_header": True, "skip_html": True, "min_occurrences": 5, "vocabulary_from": "training"}
    (work,) = works_of(small_experiment(methods=["mnb", methods[1]], text=text), store)
    assert [point.problem.pruning.min_occurrences for point in work.points] == [5, 60]
    assert {point.aggregate for point in work.points} == {"sum"}


ROWS: dict[str, Callable[[Any, Any], None]] = {
    "a setting": lambda run, _: run.settings.update({SettingKey("base", "", "eef", 0, None, None): 0}),
    "a diagnostic": lambda run, _: run.diagnostics.update({("lengths", "base"): 0}),
    **{f"the name of document {n}": (lambda _, task, n=n: task.ids.__setitem__(n, "other")) for n in range(2, 6)},
    **{f"the class of document {n}": (lambda _, task, n=n: task.truth.__setitem__(n, 7)) for n in range(2, 6)},
    "the name of a split": lambda run, _: run.splits[PLACE][1].__dict__.update(name="other"),
    "a tested document": lambda run, _: run.splits[PLACE][1].__dict__.update(test=np.array([4, 0])),
    "another size": lambda run, _: run.splits.update({SplitKey("base", "", 80): run.splits.pop(PLACE)}),
    "one split less": lambda run, _: run.splits.update({PLACE: run.splits[PLACE][:1]}),
}
PLACE = SplitKey("base", "", None)


def rows() -> tuple[Any, Any]:
    """Predictions of two splits of six documents, and the documents."""
    task = SimpleNamespace(ids=[f"d{n}" for n in range(6)], truth=np.arange(6) % 2)
    splits = tuple(SimpleNamespace(name=f"s{n}", test=np.array([2 + 2 * n, 3 + 2 * n])) for n in range(2))
    settings = {SettingKey("base", "", "mnb", 0, None, None): 0}
    run = SimpleNamespace(settings=settings, diagnostics={}, tasks={PLACE.of_task: task}, splits={PLACE: splits})
    return run, task


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_a_run_are_of_every_document_that_is_tested(name: str) -> None:
    def digest(run: Any) -> str:
        return _rows_digest(SimpleNamespace(predictions=run))  # type: ignore[arg-type]

    (run, task), (same, other) = rows(), rows()
    assert digest(run) == digest(same)
    other.ids[0], other.truth[1] = "not tested", 9
    assert digest(run) == digest(same)
    before = digest(run)
    ROWS[name](run, task)
    assert digest(run) != before


def test_texts_of_a_task_are_those_of_its_documents() -> None:
    problem = toy_problem(multilabel=False)
    strings = [f"text of {name}" for name in problem.documents.ids]
    texts = Texts(*joined_texts(strings), "key")
    for classes in (("class-0", "class-1", "class-2"), ("class-2", "class-0")):
        rows, documents = problem.documents.of_classes(classes)
        task: Any = SimpleNamespace(classes=classes)
        found = _with_texts(replace(problem, pruning=Pruning()), task, problem.counts, texts)
        assert found.texts is not None
        assert list(found.texts.strings()) == [strings[row] for row in rows]
        assert len(rows) == len(documents)
        assert found.pruning is None
        assert found.key != problem.key
        other = _with_texts(problem, task, problem.counts, replace(texts, key="another"))
        assert other.key != found.key


def test_rows_of_a_run_are_of_every_task() -> None:
    (run, _), (other, _) = rows(), rows()
    for each in (run, other):
        place = SplitKey("base", "second", None)
        again = SimpleNamespace(ids=["e0", "e1"], truth=np.array([0, 1]))
        each.tasks[place.of_task] = again
        each.splits[place] = (SimpleNamespace(name="s0", test=np.array([0, 1])),)
    digests = [_rows_digest(SimpleNamespace(predictions=each)) for each in (run, other)]  # type: ignore[arg-type]
    assert digests[0] == digests[1]
    run.tasks[SplitKey("base", "second", None).of_task].ids[1] = "another"
    assert _rows_digest(SimpleNamespace(predictions=run)) != digests[0]  # type: ignore[arg-type]
