"""Keys name results by all that decides them, code and libraries included, and by nothing else."""

from __future__ import annotations

import ast
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
from benchmark import code
from benchmark.code import SOURCES, code_digest, dependencies
from benchmark.compiled import compile_all
from benchmark.corpora import card as cards
from benchmark.corpora import registry
from benchmark.corpora.archive import Source
from benchmark.evaluation import protocols
from benchmark.experiment import reading, work
from benchmark.experiment.reading import counts_key, read_counts
from benchmark.experiment.runner import _each
from benchmark.experiment.store import Store
from benchmark.experiment.work import pack, solved, task_work
from benchmark.measures.base import Context
from benchmark.methods.workbench import Workbench
from benchmark.observer import Observer
from benchmark.text import stoplist
from benchmark.text.vocabulary import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmark.config.model import Experiment
    from benchmark.experiment.work import Job, PointWork
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
LIBSVM = {"linear", "ngd", "diffusion", "heat", "hp-top", "plsi-fisher"}
GRAMS = {"linear", "ngd", "diffusion", "heat"}
MEASURES = [
    {"name": "centroid-distances", "resamples": 2},
    {"name": "centroid-flow", "graphs": ["path"], "tolerance": 0.01},
]
MEASURED = {"centroid-distances", "centroid-flow"}
#: Where the package stands.
ROOT = str(Path(benchmark.__file__).parent)
EVERYTHING = {"counts", *NAMES, *MEASURED}
SEVERAL = {"corpus": {"name": "synthetic", "subset": "several"}, "protocol": {"name": "leave-one-group-out"}}
DRAWS = {"name": "random-subsets", "train_size": [60, 100], "replicates": 2}


@pytest.fixture(scope="module")
def counts(configured: Callable[..., Experiment], tmp_path_factory: pytest.TempPathFactory) -> Counts:
    collection = configured(text=TEXT).variants["base"].collection
    return read_counts(collection, Store(tmp_path_factory.mktemp("store"), limit=10**9), Observer())[0]


@pytest.fixture
def study(configured: Callable[..., Experiment]) -> Callable[..., Experiment]:
    return lambda **changes: configured(**{"text": TEXT, "methods": METHODS, "measures": MEASURES} | changes)


def named(experiment: Experiment, counts: Counts) -> dict[str, Any]:
    """What everything of an experiment on the same counts is named by."""
    (variant,) = experiment.variants.values()
    found: dict[str, Any] = {
        "counts": counts_key(variant.collection, Source(None)),
    }
    for task in variant.tasks:
        for point in task_work(experiment, variant, task, counts, "counts").points:
            found.setdefault(point.place[2], []).extend(job.key for job in point.jobs)
    return found | {name: code_digest(*measure.code) for name, _, measure in _each(experiment)}


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
        {"text": TEXT | {"counted_in": "misc"}},
    ],
    ids=str,
)
def test_other_documents_or_words_are_other_counts(study: Callable[..., Experiment], changes: dict[str, Any]) -> None:
    one, other = (
        counts_key(study(**each, measures=[]).variants["base"].collection, Source(None)) for each in ({}, changes)
    )
    assert one != other


def test_other_counts_are_everything_else_other(study: Callable[..., Experiment], counts: Counts) -> None:
    experiment = study(measures=[])
    variant = experiment.variants["base"]
    one, other = (
        {
            job.key
            for point in task_work(experiment, variant, variant.tasks[0], counts, name).points
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
    key = counts_key(collection, Source(None))
    with monkeypatch.context() as patched:
        patched.setattr(registry, "fingerprint", lambda *_: "another")
        assert counts_key(collection, Source(None)) != key
    shutil.copytree(cards.CARDS, tmp_path / "cards", ignore=shutil.ignore_patterns("[!s]*"))
    monkeypatch.setattr(cards, "CARDS", tmp_path / "cards")
    path = tmp_path / "cards" / "synthetic.yaml"
    text = path.read_text()
    path.write_text(text.replace("licence: ", "licence: Surely. "))
    assert counts_key(collection, Source(None)) == key
    assert "cornell: 14, misc: 72" in text
    path.write_text(text.replace("cornell: 14, misc: 72", "cornell: 15, misc: 71"))
    assert counts_key(collection, Source(None)) != key


def test_another_stop_list_is_other_counts(study: Callable[..., Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    collection = study().variants["base"].collection
    bare = replace(collection, lexing=replace(collection.lexing, stoplist="none"))
    before = counts_key(collection, Source(None)), counts_key(bare, Source(None))
    monkeypatch.setattr(
        reading, "stop_words", lambda name: stoplist.stop_words(name) - {"the"} if name == "smart" else frozenset()
    )
    after = counts_key(collection, Source(None)), counts_key(bare, Source(None))
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, False]


POLYNOMIAL = {"name": "polynomial", "degree": 3}
TERMS = {"number": 50, "rank": "information-gain", "over_classes": "sum"}


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
                ("unit", "one", "mean-self-product"),
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
            for key, value in (("number", 51), ("over_classes", "maximum"))
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
    a, b = (keys_of(study(**each, measures=[])) for each in (one, other))
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
    experiment = study(protocol=DRAWS, methods=methods, tasks=[task], measures=[])
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


def test_another_line_in_how_rows_are_drawn_is_other_results(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What protocols do counts by the rows that come of it, not by its text."""
    experiment = study(protocol=DRAWS)
    before = keys_of(experiment)
    text, name = SOURCES["benchmark.evaluation.protocols"], "[self.seed, self.train_size, replicate]"
    assert text.count(name) == 1
    edited: dict[str, Any] = {"__name__": protocols.__name__}
    exec(compile(text.replace(name, name.replace("self.seed", "self.seed + 1")), "edited", "exec"), edited)  # noqa: S102
    monkeypatch.setattr(protocols.RandomSubsets, "splits", edited["RandomSubsets"].splits)
    after = keys_of(experiment)
    assert all(not set(before[method]) & set(after[method]) for method in NAMES)
    assert differing(before, after) == set(NAMES)


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
        keys_of(study(methods=methods, measures=[], choose={"by": by, "folds": folds}, seed=seed))
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
        {"classes": "each"},
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


class Editor:
    """Other sources than those that are installed, as if the files had been changed before the start."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def write(self, module: str, text: str) -> None:
        self._patch.setitem(SOURCES, module, text)
        forget()

    def replace(self, module: str, old: str, new: str) -> None:
        assert old in SOURCES[module], f"{module} has no {old!r}: mend the test"
        self.write(module, SOURCES[module].replace(old, new, 1))

    def change(self, module: str, definition: str) -> None:
        """Let a definition do something more."""
        tree = ast.parse(SOURCES[module])
        (node,) = [each for each in tree.body if getattr(each, "name", "") == definition]
        node.body.append(ast.parse("changed = 1").body[0])  # type: ignore[attr-defined]
        self.write(module, ast.unparse(tree))

    def undo(self) -> None:
        self._patch.undo()
        forget()


def forget() -> None:
    for cached in (code._digest, code._reached):
        cached.cache_clear()


def by_text(function: Any) -> Callable[..., Any]:
    """What is remembered of a module, by its text: of a hundred modules an edit changes one."""
    known: dict[Any, Any] = {}

    def remembered(module: str, *name: str) -> Any:
        place = (module, SOURCES.get(module), *name)
        if place not in known:
            known[place] = function.__wrapped__(module, *name)
        return known[place]

    return remembered


@pytest.fixture(scope="module", autouse=True)
def remembered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_named_by", "_digest_of_one", "_within", "_parsed"):
            patch.setattr(code, name, by_text(getattr(code, name)))
        patch.setattr(code, "forget_trees", lambda: None)
        patch.setattr(code, "_kept", dict)
        patch.setattr(code, "_keep", lambda *_: None)
        yield
    forget()


@pytest.fixture
def editor() -> Iterator[Editor]:
    with pytest.MonkeyPatch.context() as patch:
        yield Editor(patch)
    forget()


@pytest.fixture(scope="module")
def unchanged(configured: Callable[..., Experiment], counts: Counts) -> tuple[Experiment, dict[str, Any]]:
    """An experiment, and what all is named by as long as nothing is edited."""
    experiment = configured(text=TEXT, methods=METHODS, measures=MEASURES)
    return experiment, named(experiment, counts)


@pytest.fixture
def changed_by(
    unchanged: tuple[Experiment, dict[str, Any]], counts: Counts, editor: Editor
) -> Callable[[Callable[[], None]], set[str]]:
    """Which results an edit gives other keys."""

    def changed(edit: Callable[[], None]) -> set[str]:
        editor.undo()
        edit()
        return differing(unchanged[1], named(unchanged[0], counts))

    return changed


@pytest.mark.parametrize(
    ("module", "definition", "results"),
    [
        ("corpora.synthetic", "_urn", {"counts"}),
        ("corpora.webkb", "read", {"counts"}),
        ("corpora.assemble", "gate", {"counts"}),
        ("corpora.reuters", "read", set()),
        ("text.lexer", "find_tokens", {"counts"}),
        ("text.vocabulary", "count", {"counts"}),
        ("text.counts", "packed", {"counts"}),
        ("representation.weighting", "weight_terms", set(NAMES)),
        ("representation.weightings.supervised", "Aitchison", set()),
        ("representation.weightings.unsupervised", "TermFrequency", set(NAMES)),
        ("representation.selection", "information_gain", set(NAMES)),
        ("kernels.products", "inner_products", set(NAMES)),
        ("kernels.gram", "Gram", GRAMS),
        ("kernels.multinomial", "NegativeGeodesicDistance", {"ngd"}),
        ("kernels.multinomial", "Diffusion", {"diffusion"}),
        ("kernels.euclidean", "Linear", {"linear"}),
        ("kernels.heat.sphere", "HypersphereHeatKernel", {"heat"}),
        ("kernels.models.hp_top", "HyperplaneTop", {"hp-top"}),
        ("kernels.models.plsi_em", "expectation_maximization", {"plsi-fisher"}),
        ("classifiers.libsvm", "train", LIBSVM),
        ("classifiers.svm", "fit_machines", LIBSVM),
        ("classifiers.hyperplanes", "hyperplanes_of", {"hp-top", "plsi-fisher"}),
        ("classifiers.multinomial_bayes", "MultinomialBayes", set(NAMES) - LIBSVM),
        ("classifiers.complement_bayes", "ComplementBayes", {"complement-nb"}),
        ("classifiers.class_specific", "EmbeddedFamily", {"eef"}),
        ("classifiers.divergence_bayes", "DivergenceBayes", {"divergence-bayes-skl", *MEASURED}),
        ("classifiers.centroids.exact", "skl_centroid", {"divergence-bayes-skl", *MEASURED}),
        ("classifiers.centroids.flow", "flow", {"centroid-flow"}),
        ("measures.centroid_distances", "CentroidDistances", {"centroid-distances"}),
        ("methods.kernel_machines", "KernelMachine", GRAMS),
        ("methods.category_machines", "TopMachines", {"hp-top"}),
        ("methods.category_machines", "FisherMachines", {"plsi-fisher"}),
        ("methods.points", "PointClassifier", set(NAMES) - LIBSVM),
        ("methods.workbench", "Workbench", set(NAMES)),
        ("methods.base", "Problem", set(NAMES)),
        ("experiment.work", "solved", set(NAMES)),
        ("experiment.runner", "Walk", set()),
        ("evaluation.metrics", "tally", set()),
        ("evaluation.sample", "ByDocuments", set()),
        ("config.entries", "entries_of", set()),
    ],
)
def test_a_change_is_seen_by_the_results_that_it_decides_and_by_no_other(
    changed_by: Callable[[Callable[[], None]], set[str]],
    editor: Editor,
    module: str,
    definition: str,
    results: set[str],
) -> None:
    assert changed_by(lambda: editor.change(f"benchmark.{module}", definition)) == results


def test_report_cli_and_scores_decide_no_result(
    changed_by: Callable[[Callable[[], None]], set[str]], editor: Editor
) -> None:
    rooms = (
        "report",
        "cli",
        "boundaries",
        "findings",
        "evaluation.significance",
        "evaluation.intervals",
        "evaluation.scored",
    )

    def edit() -> None:
        modules = [name for name in SOURCES if name.removeprefix("benchmark.").startswith(rooms)]
        assert len(modules) > 25
        for name in modules:
            editor.write(name, "nothing = None")

    assert changed_by(edit) <= MEASURED, "intervals of measures are made with their numbers"


def test_comments_docstrings_and_layout_decide_nothing(
    changed_by: Callable[[Callable[[], None]], set[str]], editor: Editor
) -> None:
    def edit() -> None:
        for name, text in list(SOURCES.items()):
            tree = ast.parse(text)
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                    node.body[0] = ast.Expr(ast.Constant("Said otherwise."))
            editor.write(name, f'"""Another."""\n# a comment\n{ast.unparse(tree)}\n')

    assert changed_by(edit) == set()


def test_how_a_function_is_compiled_counts(
    changed_by: Callable[[Callable[[], None]], set[str]], editor: Editor
) -> None:
    old, new = ('i8[::1], {_POSTINGS})", parallel=True)', 'i8[::1], {_POSTINGS})")')
    assert changed_by(lambda: editor.replace("benchmark.kernels.products", old, new)) == set(NAMES)
    wider = changed_by(lambda: editor.replace("benchmark.compiled", "nogil=True", "fastmath=True"))
    assert wider == EVERYTHING - {"centroid-distances"}


@pytest.mark.parametrize(
    ("library", "results"),
    [
        ("libsvm-official", LIBSVM),
        ("numpy", EVERYTHING),
        ("matplotlib", set()),
        ("pandas", set()),
    ],
)
def test_another_release_of_a_library_counts_where_it_is_used(
    changed_by: Callable[[Callable[[], None]], set[str]],
    editor: Editor,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    results: set[str],
) -> None:
    installed = code.version

    def edit() -> None:
        monkeypatch.setattr(code, "version", lambda name: "99" if name == library else installed(name))
        forget()

    assert changed_by(edit) == results


@dataclass
class Called:
    """Definitions of this package that were called."""

    definitions: set[tuple[str, str]]

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        own = frame.f_code
        if event == "call" and own.co_filename.startswith(ROOT) and own.co_name != "<module>":
            self.definitions.add((module_of(own.co_filename), own.co_qualname.split(".")[0]))


@cache
def module_of(path: str) -> str:
    parts = Path(path).relative_to(ROOT).with_suffix("").parts
    return ".".join(("benchmark", *parts)).removesuffix(".__init__")


def calls_of(compute: Callable[[], object]) -> set[tuple[str, str]]:
    compile_all()  # to compile under a profile takes minutes
    called = Called(set())
    threading.setprofile(called)
    sys.setprofile(called)
    try:
        compute()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return called.definitions


#: Called while something is computed, and no number comes from them: finding files, naming, keeping, building.
NAMING = {"benchmark.experiment.store", "benchmark.folders", "benchmark.code"}
INDIFFERENT = {
    *(("benchmark.config.components", name) for name in ("Component", "parameters")),
    ("benchmark.corpora.archive", "fingerprint"),
    ("benchmark.environment", "name_of_process"),  # of a file that is being written
    ("benchmark.corpora.card", "DatasetCard"),
    ("benchmark.corpora.card", "read_card"),
    *(("benchmark.corpora.reader", name) for name in ("CorpusReader", "LastCorpus")),
    ("benchmark.corpora.registry", "CardedCorpus"),
    *(("benchmark.corpora.registry", name) for name in ("card", "code", "find", "fingerprint", "load", "locate")),
    *(("benchmark.experiment.reading", name) for name in ("counts_key", "read_counts")),
    ("benchmark.environment", "return_freed_memory"),
    ("benchmark.measures.base", "Context"),
    ("benchmark.names", "parted"),
    ("benchmark.text.counts", "unpacked"),
    ("benchmark.corpora.corpus", "Documents"),  # part of the counts' key
}


def forgetful(_: Any, compute: Callable[[], Any]) -> Any:
    """A store for measures that has nothing and keeps nothing."""
    return compute()


def assert_covered(called: set[tuple[str, str]], *roots: Any) -> None:
    """Everything that was called is part of a digest: itself, or all of its module; of a lambda only that is known."""
    reached, _ = dependencies(*roots)
    modules = {module for module, _ in reached}
    missed = {
        (module, name)
        for module, name in called - INDIFFERENT
        if not {(module, name), (module, "")} & reached and not (name == "<lambda>" and module in modules)
    }
    assert not {each for each in missed if each[0] not in NAMING}


@pytest.mark.parametrize("subset", [None, "several"])
@pytest.mark.parametrize("chosen", [False, True], ids=["given", "chosen"])
def test_whatever_is_called_to_compute_a_result_is_part_of_its_key(
    configured: Callable[..., Experiment], subset: str | None, chosen: bool, tmp_path: Path
) -> None:
    """Imports are followed by reading; here the calls themselves are counted."""
    text = TEXT | {"min_occurrences": 200}
    changes: dict[str, Any] = {"corpus": {"name": "synthetic", "subset": subset}, "text": text}
    changes["methods"] = [{"kernel": {"name": "ngd-e", "t": [0.5, 1]}}, *METHODS] if chosen else METHODS
    changes |= {"choose": {"by": ["cross-validation"], "folds": 2}} if chosen else {"terms": {"number": 30}}
    changes |= {} if subset else {"measures": MEASURES}
    experiment = configured(protocol={"name": "leave-one-group-out", "held_out": ["cornell"]}, **changes)
    variant, bench = experiment.variants["base"], Workbench(2)
    read = partial(read_counts, variant.collection, Store(tmp_path, limit=10**9), Observer())
    assert_covered(calls_of(read), *registry.code("synthetic"), reading._counts, reading.packed)
    counts, _, key = read()
    for point in task_work(experiment, variant, variant.tasks[0], counts, key).points:
        (job,) = point.jobs
        called = calls_of(partial(solve_job, point, job, bench))
        assert_covered(called, *point.method.code, solved, pack)
    for _, _, measure in _each(experiment):
        context = Context(counts, variant, 0, 1, forgetful)
        assert_covered(calls_of(partial(measure.compute, context)), *measure.code)


def solve_job(point: PointWork, job: Job, bench: Workbench) -> None:
    splits = [*job.splits, *(fold for folds in job.inner for fold in folds)]
    pack(solved(job, point.method.solve(point.problem, splits, point.terms, bench), point.problem, memory=0.0))


def test_every_module_that_a_result_depends_on_is_seen(editor: Editor, study: Callable[..., Experiment]) -> None:
    """Of each module that is reached, some definition is changed, and the digest with it."""
    (variant,) = study().variants.values()
    roots = [*registry.code("synthetic"), count]
    for entry in variant.entries:
        (spec,) = entry.candidates
        roots += [spec.classifier.cls, *([spec.kernel.cls] if spec.kernel else [])]
    before = code_digest(*roots)
    reached, _ = dependencies(*roots)
    functions = {
        module: name
        for module, name in sorted(reached)
        if any(
            isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
            for node in ast.parse(SOURCES.get(module, "")).body
        )
    }
    assert len(functions) > 30
    for module, name in functions.items():
        editor.change(module, name)
        after = code_digest(*roots)
        assert after != before, f"{module}.{name}"
        before = after


def test_jobs_have_keys_of_their_own(
    study: Callable[..., Experiment], keys_of: Callable[[Experiment], dict[str, Any]]
) -> None:
    found = [key for name, own in keys_of(study(protocol=DRAWS)).items() if name in NAMES for key in own]
    assert len(set(found)) == len(found)


def test_the_entry_of_a_job_holds_what_it_gave(work_of_one: tuple[Any, Any]) -> None:
    job, problem = work_of_one
    rng, several = np.random.default_rng(0), problem.several
    k, decisions = len(problem.documents.classes), []
    for split in job.splits:
        shape = (len(split.test), k) if several else (len(split.test),)
        given = rng.random(shape) < 0.5 if several else rng.integers(0, k, shape).astype(np.int32)
        decisions.append(work.Decisions(given, rng.random(shape) < 0.5, rng.random(5)))
    first = work.Solved(tuple(decisions), rng.random(len(job.splits)), rng.random(len(job.splits)))
    back = work.unpack(pack(first), job, problem)
    for one, other in zip(first.decisions, back.decisions, strict=True):
        for name in ("given", "tied", "seconds"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    np.testing.assert_array_equal(first.inner, back.inner)
    np.testing.assert_array_equal(first.memory, back.memory)


@pytest.fixture(params=[None, "several"])
def work_of_one(request: pytest.FixtureRequest, configured: Callable[..., Experiment], store: Store) -> tuple[Any, Any]:
    """A job of several splits, and its problem."""
    draws = {"name": "random-subsets", "train_size": 100, "replicates": 3, "stratified": request.param is None}
    given = {"corpus": {"name": "synthetic", "subset": request.param}, "protocol": draws, "methods": ["mnb"]}
    experiment = configured(**given)
    variant = experiment.variants["base"]
    counts, _, key = read_counts(variant.collection, store, Observer())
    (point,) = task_work(experiment, variant, variant.tasks[0], counts, key).points
    return point.jobs[0], point.problem
