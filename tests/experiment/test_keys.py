"""Keys name results by all that decides them, code and libraries included, and by nothing else."""

from __future__ import annotations

import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import benchmark
from benchmark.corpora.archive import CorpusSource
from benchmark.diagnostics.base import DiagnosticContext
from benchmark.experiment import code_digest as code
from benchmark.experiment.code_digest import MODULE_SOURCES, code_digest, imported_modules
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import LoadedVariant, corpus_content, counts_key, read_counts
from benchmark.experiment.plan import Batch, plan_task
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.plugins.pipelines import imported_pipeline
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system import arrays
from benchmark.system.numba_jit import compile_all
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.text.counts import Counts

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "smart", "min_occurrences": 40}
CLASSES = ["course", "faculty", "project", "student"]
NAMES = ["linear", "ngd", "diffusion", "heat", "hp-top", "plsi-fisher", "mnb", "complement-nb", "eef"]
NAMES = [*NAMES, "divergence-bayes-skl"]
METHODS: list[Any] = [
    *NAMES[:5],
    {"kernel": {"name": "plsi-fisher", "n_classes": [2]}},
    *NAMES[6:9],
    {"classifier": {"name": "divergence-bayes", "centroid": "skl"}},
]
MEASURES = [{"name": "centroid-distances", "resamples": 2}, "centroid-flow"]
#: Where the package stands.
ROOT = str(Path(benchmark.__file__).parent)
EVERYTHING = {"counts", *NAMES, "centroid-distances", "centroid-flow"}
SEVERAL = {"corpus": {"name": "synthetic", "subset": "several"}, "protocol": {"name": "leave-one-group-out"}}
Keys = dict[str, Any]


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    collection = small_experiment(text=TEXT).variants["base"].collection
    return read_counts(collection, RunContext(Store(tmp_path_factory.mktemp("store"), limit=10**9)))[0]


def study(**changes: Any) -> Experiment:
    return small_experiment(**{"text": TEXT, "methods": METHODS, "diagnostics": MEASURES} | changes)


def key_of_counts(experiment: Experiment) -> str:
    collection = experiment.variants["base"].collection
    return counts_key(collection, corpus_content(collection.reader, CorpusSource(None)))


def counted(**changes: Any) -> str:
    return key_of_counts(study(**changes, diagnostics=[]))


@pytest.fixture
def keys_of(counts: Counts) -> Callable[..., Keys]:
    """The keys of everything of an experiment on the same counts."""

    def named(counted_as: str = "counts", **changes: Any) -> Keys:
        experiment = study(**changes)
        (variant,) = experiment.variants.values()
        found: Keys = {"counts": key_of_counts(experiment)}
        for task in variant.tasks:
            for unit in plan_task(experiment, variant, task, LoadedVariant(counts, counted_as, {})).units:
                found.setdefault(unit.setting.key.method, []).append(unit.key)
        return found | {each.name: code_digest(each.cls) for each in experiment.diagnostics}

    return named


def differing(one: Keys, other: Keys) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if one[name] != other[name]}


# Parameters and rows


@pytest.mark.parametrize(
    "changes",
    [
        {"corpus": {"name": "synthetic", "classes": CLASSES[::-1]}},
        {"corpus": {"name": "synthetic", "classes": CLASSES[1:]}},
        {"corpus": {"name": "synthetic", "exclude": ["course/misc/http:^^www.misc.example^course^000.html"]}},
        SEVERAL,
        *({"text": TEXT | {key: False}} for key in ("skip_header", "skip_html")),
        *({"text": TEXT | {key: value}} for key, value in (("digits", "run-length"), ("stoplist", "none"))),
        *({"text": TEXT | {key: value}} for key, value in (("min_occurrences", 41), ("min_documents", 2))),
        {"text": TEXT | {"vocabulary_from": "misc"}},
    ],
    ids=str,
)
def test_other_documents_or_words_are_other_counts(changes: dict[str, Any]) -> None:
    assert counted(**changes) != counted()


TERMS = {"number": 50, "rank": "information-gain", "aggregate": "sum"}
#: Method, and one section with a value and another.
PARAMETERS: list[tuple[Any, str, Any, Any]] = [
    *(("linear", "defaults", {key: a}, {key: b}) for key, a, b in (("C", 1, 2), ("epsilon", 0.001, 0.01))),
    ("linear", "defaults", {"scheme": "one-vs-one"}, {"scheme": "one-vs-rest"}),
    ("linear", "defaults", {"scale_C": "one"}, {"scale_C": "mean-self-product"}),
    ("linear", "defaults", {"normalization": "l1"}, {"normalization": "l2"}),
    ("linear", "defaults", {"weighting": "tf"}, {"weighting": "tfidf"}),
    ("linear", "defaults", {"weighting": "tf"}, {"weighting": "binary"}),
    ("ngd", "defaults", {"dirichlet": 0}, {"dirichlet": 0.5}),
    ("ngd", "defaults", {"weighting": "tfidf", "idf": "collection"}, {"weighting": "tfidf", "idf": "training"}),
    *((name, "defaults", {"smoothing": 0.1}, {"smoothing": 0.5}) for name in ("mnb", "eef", "divergence-bayes")),
    *(("mnb", "terms", TERMS, TERMS | change) for change in ({"number": 51}, {"aggregate": "maximum"})),
    ("", "methods", *([{"kernel": {"name": "ngd-e", "t": t}}] for t in (0.5, 0.25))),
    ("", "methods", *([{"classifier": "mnb", **more}] for more in ({}, {"threshold": "at-least-one"}))),
]


@pytest.mark.parametrize(("method", "section", "one", "other"), PARAMETERS, ids=str)
def test_every_resolved_parameter_counts(
    keys_of: Callable[..., Keys], method: str, section: str, one: Any, other: Any
) -> None:
    several = SEVERAL if "threshold" in str(other) else {}
    a, b = (keys_of(**{"methods": [method], "diagnostics": [], section: value} | several) for value in (one, other))
    assert a.pop("counts") == b.pop("counts")
    keys = [{key for own in each.values() for key in own} for each in (a, b)]
    assert all(keys)
    assert not keys[0] & keys[1]


@pytest.mark.parametrize("protocol", [{"k": 3, "seed": 1}, {"k": 3, "stratified": False}, {"k": 4}], ids=str)
def test_other_folds_are_other_results(keys_of: Callable[..., Keys], protocol: dict[str, Any]) -> None:
    a, b = (keys_of(protocol={"name": "k-fold", "k": 3} | each) for each in ({}, protocol))
    assert all(not set(a[name]) & set(b[name]) for name in NAMES)


def test_the_rows_of_a_split_count_and_not_its_name(keys_of: Callable[..., Keys]) -> None:
    methods = [name for name in NAMES[:9] if name != "plsi-fisher"]
    turned = {"name": "leave-one-group-out", "held_out": ["texas", "cornell"]}
    a, b = keys_of(methods=methods), keys_of(methods=methods, protocol=turned)
    assert all(sorted(a[name]) == sorted(b[name]) for name in methods)


def test_inner_folds_count_where_something_is_chosen_by_them(keys_of: Callable[..., Keys]) -> None:
    """By the documents in each, which the seed deals out, and not by their number alone."""
    methods = ["linear", {"kernel": {"name": "diffusion", "t": [0.5, 1]}}]
    by = ["oracle", "cross-validation"]
    a, b, c = (
        keys_of(methods=methods, diagnostics=[], choose={"by": by, "folds": folds}, seed=seed)
        for folds, seed in ((2, 0), (3, 0), (2, 1))
    )
    assert differing(a, b) == differing(a, c) == {"diffusion"}
    assert differing(keys_of(), keys_of(seed=7)) == {"plsi-fisher"}, "without them, where something is drawn"


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other", "title": "Other", "notes": ["one"], "paper": "zhang2005", "expect": {"documents": 600}},
        {"metrics": ["accuracy"], "compare": [["ngd", "linear"]]},
        {"per_class": True},
        {"corpus": {"name": "synthetic", "classes": CLASSES}},
        {"defaults": {"idf": "collection", "classifier": {"C": 1, "epsilon": 0.001}, "ngd": {"shift": 0}}},
        {"text": TEXT | {"digits": "drop", "min_documents": 1}},
        {"methods": METHODS[::-1]},
    ],
    ids=str,
)
def test_what_decides_nothing_changes_no_key(keys_of: Callable[..., Keys], changes: dict[str, Any]) -> None:
    assert not differing(keys_of(), keys_of(**changes))


# Code


def forget() -> None:
    for cached in (code._digest, code._reached, code._imports):
        cached.cache_clear()


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Sources and versions that were others when the program started; call `forget` after each change."""
    yield monkeypatch
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(
    ("module", "results"),
    [
        ("text.lexer", {"counts"}),
        ("representation.selection", set(NAMES)),
        ("kernels.sphere", {"heat"}),
        ("classifiers.libsvm", set(NAMES)),
        ("diagnostics.centroids", {"centroid-distances"}),
        ("evaluation.protocols", set(NAMES)),
        ("experiment.plan", set(NAMES)),
        ("experiment.runner", set()),
    ],
)
def test_a_module_is_seen_by_the_results_that_import_it_and_by_no_other(
    keys_of: Callable[..., Keys], patched: pytest.MonkeyPatch, module: str, results: set[str]
) -> None:
    before, name = keys_of(), f"benchmark.{module}"
    patched.setitem(MODULE_SOURCES, name, MODULE_SOURCES[name] + b"\n# touched\n")
    forget()
    found = differing(before, keys_of())
    assert found >= results
    assert results or not found


#: Of these rooms, what computes nothing that is stored under their code.
NOT_STORED = {
    "benchmark.corpora.user.frames",  # writes a frame's file, which is a corpus then
    "benchmark.text.duplicates",  # searched in each run
}
#: Rooms of which every module that runs for a result must be part of its key.
DECIDING = ("text", "corpora", "representation", "kernels", "classifiers", "methods")


def registered_components() -> list[Any]:
    """Every class that a configuration can name."""
    parts = (*WEIGHTINGS.values(), *FEATURE_MAPS.values())
    named = [each for kind, registry in BUILTIN_REGISTRIES.each() if kind != "metrics" for each in registry.values()]
    return [*parts, *named, imported_pipeline("benchmark.classifiers.gzip_neighbours.GzipNeighbours")]


def test_every_module_of_the_deciding_rooms_counts_for_some_result_and_none_that_shows_it() -> None:
    reached, _ = imported_modules(*registered_components(), plan_task, counts_key)
    modules = {name for name in MODULE_SOURCES if name.startswith(tuple(f"benchmark.{room}." for room in DECIDING))}
    packages = {name for name in modules if any(other.startswith(f"{name}.") for other in modules)}
    assert modules - reached - packages == NOT_STORED
    for room in ("report", "cli", "commands", "workers", "schema"):
        assert not [module for module in reached if module.startswith(f"benchmark.{room}.")]


def test_imports_for_the_type_checker_do_not_count(patched: pytest.MonkeyPatch) -> None:
    for text, imported in (
        (b"if TYPE_CHECKING:\n    from benchmark.kernels import sphere\n", False),
        (b"if TYPE_CHECKING:\n    pass\nelse:\n    from benchmark.kernels import sphere\n", True),
        (b"def late():\n    from benchmark.kernels import sphere\n", True),
        (b"try:\n    import benchmark.kernels.sphere\nexcept ImportError:\n    pass\n", True),
    ):
        patched.setitem(MODULE_SOURCES, "benchmark.system.arrays", text)
        forget()
        assert ("benchmark.kernels.sphere" in imported_modules(arrays)[0]) == imported


@pytest.mark.parametrize(("library", "results"), [("libsvm-official", set(NAMES)), ("numpy", EVERYTHING)])
def test_another_release_of_a_library_counts_where_it_is_used(
    keys_of: Callable[..., Keys], patched: pytest.MonkeyPatch, library: str, results: set[str]
) -> None:
    before, released = keys_of(), code.distribution_version
    patched.setattr(code, "distribution_version", lambda name: "99" if name == library else released(name))
    forget()
    assert differing(before, keys_of()) == results


def calls_of(compute: Callable[[], object]) -> set[str]:
    """Return the modules of this package whose functions are called."""
    compile_all()  # to compile under a profile takes minutes
    files = set[str]()

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT) and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        compute()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    parts = [Path(path).relative_to(ROOT).with_suffix("").parts for path in files]
    return {".".join(("benchmark", *each)).removesuffix(".__init__") for each in parts}


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
    variant = experiment.variants["base"]
    read = partial(read_counts, variant.collection, RunContext(Store(tmp_path, limit=10**9)))
    roots = type(variant.collection.reader), counts_key  # the key of the counts is part of all others
    assert_covered(calls_of(read), *roots)
    counts, _, key = read()
    matrices = MatrixCache(2)
    planned = plan_task(experiment, variant, variant.tasks[0], LoadedVariant(counts, key, {}))
    for setting, units in planned.settings.items():
        called = calls_of(lambda part=tuple(units): Batch((part,)).solve(matrices))
        assert_covered(called, *setting.classes, plan_task)
    for diagnostic in (each.build() for each in experiment.diagnostics):
        context = DiagnosticContext(counts, variant, 0, 1, lambda _, compute: compute())
        assert_covered(calls_of(partial(diagnostic.compute, context)), type(diagnostic), *roots)
