"""Keys name results by all that decides them, code and libraries included, and by nothing else."""

from __future__ import annotations

import shutil
import sys
import threading
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import benchmark
from benchmark.corpora import card as cards
from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource
from benchmark.diagnostics.base import DiagnosticContext
from benchmark.evaluation import protocols
from benchmark.experiment import code_digest as code
from benchmark.experiment.code_digest import MODULE_SOURCES, code_digest, imported_modules
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import counts_key, read_counts
from benchmark.experiment.runner import _each
from benchmark.experiment.settings import component_classes, pack_predictions, predictions_of_unit
from benchmark.experiment.store import Store
from benchmark.experiment.task_planning import plan_task
from benchmark.kernels import KERNELS
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system import string_arrays as names
from benchmark.system.numba_jit import compile_all
from benchmark.text import lexer, stoplist
from benchmark.text.duplicates import near_duplicates
from tests.builders import small_experiment
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.experiment.settings import Setting, StoreUnit
    from benchmark.text.counts import Counts

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 40}
CLASSES = ["course", "faculty", "project", "student"]
METHODS = [
    "linear",
    "ngd",
    "diffusion",
    "heat",
    "hp-top",
    {"kernel": {"name": "plsi-fisher", "n_classes": [2]}},
    "mnb",
    "complement-nb",
    "eef",
    {"classifier": {"name": "divergence-bayes", "centroid": "skl"}},
]
NAMES = ["linear", "ngd", "diffusion", "heat", "hp-top", "plsi-fisher", "mnb", "complement-nb", "eef"]
NAMES = [*NAMES, "divergence-bayes-skl"]
MEASURES = [
    {"name": "centroid-distances", "resamples": 2},
    {"name": "centroid-flow", "tolerance": 0.01},
]
MEASURED = {"centroid-distances", "centroid-flow"}
#: Where the package stands.
ROOT = str(Path(benchmark.__file__).parent)
EVERYTHING = {"counts", *NAMES, *MEASURED}
SEVERAL = {"corpus": {"name": "synthetic", "subset": "several"}, "protocol": {"name": "leave-one-group-out"}}
DRAWS = {"name": "random-subsets", "train_size": [60, 100], "replicates": 2}


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    collection = small_experiment(text=TEXT).variants["base"].collection
    return read_counts(collection, RunContext(Store(tmp_path_factory.mktemp("store"), limit=10**9)))[0]


@pytest.fixture
def study() -> Callable[..., Experiment]:
    return lambda **changes: small_experiment(**{"text": TEXT, "methods": METHODS, "diagnostics": MEASURES} | changes)


def named(experiment: Experiment, counts: Counts) -> dict[str, Any]:
    """What everything of an experiment on the same counts is named by."""
    (variant,) = experiment.variants.values()
    found: dict[str, Any] = {
        "counts": counts_key(variant.collection, CorpusSource(None)),
    }
    for task in variant.tasks:
        for point in plan_task(experiment, variant, task, counts, "counts").points:
            found.setdefault(point.place[2], []).extend(job.key for job in point.jobs)
    return found | {name: code_digest(type(diagnostic)) for name, _, diagnostic in _each(experiment)}


@pytest.fixture
def keys_of(counts: Counts) -> Callable[[Experiment], dict[str, Any]]:
    return lambda experiment: named(experiment, counts)


def differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if one[name] != other[name]}


# Parameters and rows


@pytest.mark.parametrize(
    "changes",
    [
        {"corpus": {"name": "synthetic", "classes": CLASSES[::-1]}},
        {"corpus": {"name": "synthetic", "classes": CLASSES[1:]}},
        {"corpus": {"name": "synthetic", "exclude": ["course/misc/http:^^www.misc.example^course^000.html"]}},
        {"corpus": {"name": "synthetic", "subset": "several"}, "protocol": {"name": "leave-one-group-out"}},
        *({"text": TEXT | {key: False}} for key in ("skip_header", "skip_html")),
        {"text": TEXT | {"digits": "run-length"}},
        {"text": TEXT | {"stoplist": "none"}},
        {"text": TEXT | {"min_occurrences": 41}},
        {"text": TEXT | {"min_documents": 2}},
        {"text": TEXT | {"vocabulary_from": "misc"}},
    ],
    ids=str,
)
def test_other_documents_or_words_are_other_counts(study: Callable[..., Experiment], changes: dict[str, Any]) -> None:
    one, other = (
        counts_key(study(**each, diagnostics=[]).variants["base"].collection, CorpusSource(None))
        for each in ({}, changes)
    )
    assert one != other


def test_other_counts_are_everything_else_other(study: Callable[..., Experiment], counts: Counts) -> None:
    experiment = study(diagnostics=[])
    variant = experiment.variants["base"]
    one, other = (
        {
            job.key
            for point in plan_task(experiment, variant, variant.tasks[0], counts, name).points
            for job in point.jobs
        }
        for name in ("one", "other")
    )
    assert not one & other


def test_another_source_or_card_is_other_counts(
    study: Callable[..., Experiment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The corpus must then pass the gate anew."""
    collection = study().variants["base"].collection
    key = counts_key(collection, CorpusSource(None))
    with monkeypatch.context() as patched:
        patched.setattr(registry, "corpus_fingerprint", lambda *_: "another")
        assert counts_key(collection, CorpusSource(None)) != key
    shutil.copytree(cards.CARDS, tmp_path / "cards", ignore=shutil.ignore_patterns("[!s]*"))
    monkeypatch.setattr(cards, "CARDS", tmp_path / "cards")
    path = tmp_path / "cards" / "synthetic.yaml"
    text = path.read_text()
    path.write_text(text.replace("licence: ", "licence: Surely. "))
    assert counts_key(collection, CorpusSource(None)) == key
    assert "cornell: 14, misc: 72" in text
    path.write_text(text.replace("cornell: 14, misc: 72", "cornell: 15, misc: 71"))
    assert counts_key(collection, CorpusSource(None)) != key


def test_another_stop_list_is_other_counts(study: Callable[..., Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    collection = study().variants["base"].collection
    bare = replace(collection, lexing=replace(collection.lexing, stoplist="none"))
    before = counts_key(collection, CorpusSource(None)), counts_key(bare, CorpusSource(None))
    monkeypatch.setattr(
        lexer, "stop_words", lambda name: stoplist.stop_words(name) - {"the"} if name == "smart" else frozenset()
    )
    after = counts_key(collection, CorpusSource(None)), counts_key(bare, CorpusSource(None))
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, False]


POLYNOMIAL = {"name": "polynomial", "degree": 3}
TERMS = {"number": 50, "rank": "information-gain", "aggregate": "sum"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"methods": [{"kernel": "ngd"}]}, {"methods": [{"kernel": "bhattacharyya"}]}),
        *(
            ({"methods": [{"kernel": kernel | {key: a}}]}, {"methods": [{"kernel": kernel | {key: b}}]})
            for kernel, key, a, b in (({"name": "ngd-e"}, "t", 0.5, 0.25), (POLYNOMIAL, "c", 0.5, 0.25))
        ),
        *(
            ({"defaults": {key: a}, "methods": ["linear"]}, {"defaults": {key: b}, "methods": ["linear"]})
            for key, a, b in (
                ("C", 1.0, 2.0),
                ("epsilon", 0.001, 0.01),
                ("scheme", "one-vs-one", "one-vs-rest"),
                ("scale_C", "one", "mean-self-product"),
                ("normalization", "l1", "l2"),
                ("weighting", "tf", "tfidf"),
                ("weighting", "tf", "binary"),
            )
        ),
        *(
            ({"defaults": {**given, key: a}, "methods": ["ngd"]}, {"defaults": {**given, key: b}, "methods": ["ngd"]})
            for given, key, a, b in (
                ({}, "dirichlet", 0, 0.5),
                ({"weighting": "tfidf"}, "idf", "collection", "training"),
            )
        ),
        *(
            ({"defaults": {"smoothing": a}, "methods": [name]}, {"defaults": {"smoothing": b}, "methods": [name]})
            for name, a, b in (("mnb", 1, 0.5), ("eef", 1, 0.5), ("divergence-bayes", 0.1, 0.5))
        ),
        *(
            ({"terms": TERMS, "methods": ["mnb"]}, {"terms": TERMS | {key: value}, "methods": ["mnb"]})
            for key, value in (("number", 51), ("aggregate", "maximum"))
        ),
        ({"methods": ["mnb"]}, {"terms": TERMS, "methods": ["mnb"]}),
        *(
            (SEVERAL | {"methods": ["mnb"]}, SEVERAL | {"methods": [{"classifier": "mnb", "threshold": threshold}]})
            for threshold in ("at-least-one", "cross-validated")
        ),
    ],
    ids=str,
)
def test_every_resolved_parameter_counts(
    study: Callable[..., Experiment],
    keys_of: Callable[[Experiment], dict[str, Any]],
    one: dict[str, Any],
    other: dict[str, Any],
) -> None:
    a, b = (keys_of(study(**each, diagnostics=[])) for each in (one, other))
    jobs = [{key for name, own in each.items() if name != "counts" for key in own} for each in (a, b)]
    assert not jobs[0] & jobs[1]
    assert a["counts"] == b["counts"]
    assert all(map(len, jobs))


@pytest.mark.parametrize("protocol", [{"k": 3, "seed": 1}, {"k": 3, "stratified": False}, {"k": 4}], ids=str)
def test_other_folds_are_other_results(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]], protocol: dict[str, Any]
) -> None:
    a, b = (keys_of(study(protocol={"name": "k-fold", "k": 3} | each)) for each in ({}, protocol))
    assert all(not set(a[name]) & set(b[name]) for name in NAMES)


@pytest.mark.parametrize("methods", [["linear"], ["mnb"], ["hp-top"]], ids=str)
@pytest.mark.parametrize("task", [CLASSES, CLASSES[:2]], ids=["four", "two"])
def test_draws_that_differ_in_one_row_are_other_results(
    study: Callable[..., Experiment],
    keys_of: Callable[[Experiment], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    methods: list[str],
    task: list[str],
) -> None:
    experiment = study(protocol=DRAWS, methods=methods, tasks=[task], diagnostics=[])
    before, drawn = keys_of(experiment), protocols.RandomSubsets.splits

    def one_row_other(self: protocols.RandomSubsets, documents: Any) -> list[protocols.Split]:
        first, *rest = drawn(self, documents)
        if self.train_size != 60:
            return [first, *rest]
        train = np.sort(np.append(first.train[1:], first.test[0]))
        return [replace(first, train=train, test=np.sort(np.append(first.test[1:], first.train[0]))), *rest]

    monkeypatch.setattr(protocols.RandomSubsets, "splits", one_row_other)
    after = keys_of(experiment)
    changed = [a != b for a, b in zip(before[methods[0]], after[methods[0]], strict=True)]
    assert any(changed)
    assert not all(changed), "those of the other size stay"


def test_the_rows_of_a_split_count_and_not_its_name(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]]
) -> None:
    methods = [name for name in NAMES[:9] if name != "plsi-fisher"]
    turned = {"name": "leave-one-group-out", "held_out": ["texas", "cornell"]}
    a, b = keys_of(study(methods=methods)), keys_of(study(methods=methods, protocol=turned))
    assert all(sorted(a[name]) == sorted(b[name]) for name in methods)


def test_inner_folds_count_where_something_is_chosen_by_them(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]]
) -> None:
    """By the documents in each, which the seed deals out, and not by their number alone."""
    methods = ["linear", {"kernel": {"name": "diffusion", "t": [0.5, 1]}}]
    by = ["oracle", "cross-validation"]
    a, b, c = (
        keys_of(study(methods=methods, diagnostics=[], choose={"by": by, "folds": folds}, seed=seed))
        for folds, seed in ((2, 0), (3, 0), (2, 1))
    )
    assert differing(a, b) == differing(a, c) == {"diffusion"}


def test_the_seed_counts_where_something_is_drawn(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]]
) -> None:
    assert differing(keys_of(study()), keys_of(study(seed=7))) == {"plsi-fisher"}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"title": "Other", "notes": ["one"]},
        {"metrics": ["accuracy"]},
        {"paper": "zhang2005"},
        {"expect": {"documents": 600}},
        {"corpus": {"name": "synthetic", "classes": CLASSES}},
        {"compare": [["ngd", "linear"]]},
        {"per_class": True},
        {"defaults": {"idf": "collection", "classifier": {"C": 1, "epsilon": 0.001}, "ngd": {"shift": 0}}},
        {"text": TEXT | {"digits": "drop", "min_documents": 1}},
        {"methods": METHODS[::-1]},
    ],
    ids=str,
)
def test_what_decides_nothing_changes_no_key(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]], changes: dict[str, Any]
) -> None:
    assert not differing(keys_of(study()), keys_of(study(**changes)))


# Code


def forget() -> None:
    for cached in (code._digest, code._reached, code._imports, code._imported):
        cached.cache_clear()


@pytest.fixture
def touch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Let a module's source have been another when the program started."""

    def edit(module: str) -> None:
        monkeypatch.setitem(MODULE_SOURCES, module, MODULE_SOURCES[module] + b"\n# touched\n")
        forget()

    yield edit
    monkeypatch.undo()
    forget()


@pytest.fixture(scope="module")
def unchanged(counts: Counts) -> tuple[Experiment, dict[str, Any]]:
    """An experiment, and what all is named by as long as nothing is edited."""
    experiment = small_experiment(text=TEXT, methods=METHODS, diagnostics=MEASURES)
    return experiment, named(experiment, counts)


@pytest.mark.parametrize(
    ("module", "results"),
    mostly_slow(
        [
            ("corpora.synthetic", {"counts"}),
            ("corpora.assemble", {"counts"}),
            ("text.lexer", {"counts"}),
            ("text.vocabulary", {"counts"}),
            ("representation.weighting", EVERYTHING - {"counts"}),
            ("representation.weightings.supervised", set()),
            ("representation.weightings.unsupervised", set(NAMES)),
            ("representation.selection", set(NAMES)),
            ("kernels.products", set(NAMES)),
            ("kernels.heat.sphere", {"heat"}),
            ("classifiers.libsvm", set(NAMES)),
            ("classifiers.centroids.flow", {"centroid-flow"}),
            ("diagnostics.centroid_distances", {"centroid-distances"}),
            ("methods.svm_method", set(NAMES)),
            ("methods.matrix_cache", set(NAMES)),
            ("evaluation.protocols", set(NAMES)),
            ("evaluation.splits", set(NAMES)),
            ("experiment.task_planning", set(NAMES)),
            ("experiment.runner", set()),
            ("config.methods", set()),
        ],
        7,
    ),
)
def test_a_module_is_seen_by_the_results_that_import_it_and_by_no_other(
    unchanged: tuple[Experiment, dict[str, Any]],
    counts: Counts,
    touch: Callable[[str], None],
    module: str,
    results: set[str],
) -> None:
    touch(f"benchmark.{module}")
    found = differing(unchanged[1], named(unchanged[0], counts))
    assert found >= results
    assert results or not found


#: Of these rooms, what computes nothing that is stored under their code.
NOT_STORED = {
    "benchmark.corpora.user.frames",  # writes a frame's file, which is a corpus then
    "benchmark.corpora.user.user_card",
    "benchmark.methods.degenerate",
    "benchmark.text.known_terms",  # counts the texts that a kept model is asked about
}
#: Rooms of which every module that runs for a result must be part of its key.
DECIDING = ("text", "corpora", "representation", "kernels", "classifiers", "methods")


def test_no_result_depends_on_what_shows_it() -> None:
    """Neither report, nor commands, nor the command line gives a result another key."""
    roots = [*registered_components(), plan_task, counts_key]
    reached, _ = imported_modules(*roots)
    for room in ("report", "cli", "commands", "workers", "schema"):
        assert not [module for module in reached if module.startswith(f"benchmark.{room}.")]


def registered_components() -> list[Any]:
    """Every class that a configuration can name."""
    parts = (*WEIGHTINGS.values(), *FEATURE_MAPS.values())
    named = [each for kind, registry in BUILTIN_REGISTRIES.each() if kind != "metrics" for each in registry.values()]
    shipped = BUILTIN_REGISTRIES.pipelines["benchmark.classifiers.gzip_neighbours.GzipNeighbours"]
    return [*parts, *named, shipped]


def test_every_module_of_the_deciding_rooms_counts_for_some_result() -> None:
    reached, _ = imported_modules(*registered_components(), plan_task, counts_key, near_duplicates)
    modules = {name for name in MODULE_SOURCES if name.startswith(tuple(f"benchmark.{room}." for room in DECIDING))}
    packages = {name for name in modules if any(other.startswith(f"{name}.") for other in modules)}
    assert modules - reached - packages == NOT_STORED


def test_a_touched_module_is_another_digest_of_whatever_imports_it_and_of_nothing_else(
    touch: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each module of the deciding rooms, of protocols and of splits, in turn; each component that can be named."""
    components = {each: imported_modules(each)[0] for each in [*registered_components(), plan_task, counts_key]}
    before = {each: code_digest(each) for each in components}
    rooms = (*DECIDING, "evaluation.protocols", "evaluation.splits", "report", "cli", "commands")
    for module in [
        name for name in MODULE_SOURCES if f"{name}.".startswith(tuple(f"benchmark.{room}." for room in rooms))
    ]:
        with monkeypatch.context() as patch:
            patch.setitem(MODULE_SOURCES, module, MODULE_SOURCES[module] + b"# touched\n")
            code._digest.cache_clear()
            changed = {each for each in components if code_digest(each) != before[each]}
        assert changed == {each for each, reached in components.items() if module in reached}, module
    code._digest.cache_clear()


def test_a_module_that_comes_or_goes_by_a_registry_is_no_other_component(touch: Callable[[str], None]) -> None:
    """A line in a registry names a new kernel; results of the others stay."""
    before = code_digest(KERNELS["ngd"]), code_digest(KERNELS["heat"])
    touch("benchmark.kernels")
    assert (code_digest(KERNELS["ngd"]), code_digest(KERNELS["heat"])) == before


def test_imports_for_the_type_checker_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, counted in (
        (b"if TYPE_CHECKING:\n    from benchmark.kernels.heat import sphere\n", False),
        (b"if TYPE_CHECKING:\n    pass\nelse:\n    from benchmark.kernels.heat import sphere\n", True),
        (b"def late():\n    from benchmark.kernels.heat import sphere\n", True),
        (b"try:\n    import benchmark.kernels.heat.sphere\nexcept ImportError:\n    pass\n", True),
    ):
        monkeypatch.setitem(MODULE_SOURCES, "benchmark.system.string_arrays", text)
        forget()
        reached, _ = imported_modules(names)
        assert ("benchmark.kernels.heat.sphere" in reached) == counted
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(("library", "results"), [("libsvm-official", set(NAMES)), ("numpy", EVERYTHING)])
def test_another_release_of_a_library_counts_where_it_is_used(
    unchanged: tuple[Experiment, dict[str, Any]],
    counts: Counts,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    results: set[str],
) -> None:
    released = code.distribution_version
    monkeypatch.setattr(code, "distribution_version", lambda name: "99" if name == library else released(name))
    forget()
    assert differing(unchanged[1], named(unchanged[0], counts)) == results
    monkeypatch.undo()
    forget()


@dataclass
class Called:
    """Modules of this package whose functions were called."""

    modules: set[str]

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        own = frame.f_code
        if event == "call" and own.co_filename.startswith(ROOT) and own.co_name != "<module>":
            self.modules.add(module_of(own.co_filename))


@cache
def module_of(path: str) -> str:
    parts = Path(path).relative_to(ROOT).with_suffix("").parts
    return ".".join(("benchmark", *parts)).removesuffix(".__init__")


def calls_of(compute: Callable[[], object]) -> set[str]:
    compile_all()  # to compile under a profile takes minutes
    called = Called(set())
    threading.setprofile(called)
    sys.setprofile(called)
    try:
        compute()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return called.modules


def forgetful(_: Any, compute: Callable[[], Any]) -> Any:
    """A store for diagnostics that has nothing and keeps nothing."""
    return compute()


def assert_covered(called: set[str], *roots: Any) -> None:
    """Every module of the deciding rooms that was called is part of the digest."""
    reached, _ = imported_modules(*roots)
    deciding = tuple(f"benchmark.{room}." for room in (*DECIDING, "evaluation.splits", "evaluation.protocols"))
    assert {module for module in called if f"{module}.".startswith(deciding)} <= reached


@pytest.mark.parametrize("subset", [None, "several"])
@pytest.mark.parametrize("chosen", [False, True], ids=["given", "chosen"])
def test_whatever_is_called_to_compute_a_result_is_part_of_its_key(
    subset: str | None, chosen: bool, tmp_path: Path
) -> None:
    """Imports are followed by reading; here the calls themselves are counted."""
    text = TEXT | {"min_occurrences": 200}
    changes: dict[str, Any] = {"corpus": {"name": "synthetic", "subset": subset}, "text": text}
    changes["methods"] = [{"kernel": {"name": "ngd-e", "t": [0.5, 1]}}, *METHODS] if chosen else METHODS
    changes |= {"choose": {"by": ["cross-validation"], "folds": 2}} if chosen else {"terms": {"number": 30}}
    changes |= {} if subset else {"diagnostics": MEASURES}
    experiment = small_experiment(protocol={"name": "leave-one-group-out", "held_out": ["cornell"]}, **changes)
    variant, bench = experiment.variants["base"], MatrixCache(2)
    read = partial(read_counts, variant.collection, RunContext(Store(tmp_path, limit=10**9)))
    counted = type(variant.collection.reader), counts_key  # the key of the counts is part of all others
    assert_covered(calls_of(read), *counted)
    counts, _, key = read()
    for point in plan_task(experiment, variant, variant.tasks[0], counts, key).points:
        (job,) = point.jobs
        called = calls_of(partial(solve_job, point, job, bench))
        assert_covered(called, *component_classes(point.method.spec), plan_task)
    for _, _, diagnostic in _each(experiment):
        context = DiagnosticContext(counts, variant, 0, 1, forgetful)
        assert_covered(calls_of(partial(diagnostic.compute, context)), type(diagnostic), *counted)


def solve_job(point: Setting, job: StoreUnit, bench: MatrixCache) -> None:
    splits = [*job.splits, *(fold for folds in job.inner for fold in folds)]
    pack_predictions(
        predictions_of_unit(
            job, point.method.solve(point.problem, splits, point.terms, bench), point.problem, memory=0.0
        )
    )


def test_jobs_have_keys_of_their_own(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]]
) -> None:
    found = [key for name, own in keys_of(study(protocol=DRAWS)).items() if name in NAMES for key in own]
    assert len(set(found)) == len(found)
