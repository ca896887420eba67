"""Names of code in configurations: where pipelines stand, what a file names, what is trusted and what was recorded."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmark.diagnostics.base import Diagnostic
from benchmark.evaluation.metrics import PAIR_METRICS, TIME_METRICS, DiagnosticMetric, Metric, accuracy
from benchmark.experiment.configuration import load_checked
from benchmark.kernels import Kernel, Linear
from benchmark.plugins import outline
from benchmark.plugins.discovery import BUILTIN_REGISTRIES, names_component, registries_with_plugins
from benchmark.plugins.loader import load_plugin, plugin_files, reload_plugins
from benchmark.plugins.pipelines import _is_data, _pipeline, pipelines_of_files, with_files_at
from benchmark.plugins.records import changed_plugin, plugin_records, with_plugin_paths
from benchmark.plugins.trust import asking_before_code, check_trusted, trusted_digests
from benchmark.plugins.validation import component_problem
from benchmark.representation import Weighting
from benchmark.system.errors import ConfigError
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

# Pipelines

RAW: dict[str, Any] = {
    "methods": [
        "mnb",
        {"pipeline": "a.py:make"},
        {"pipeline": {"name": "a.py:other", "svm__C": [1, 2]}},
        {"pipeline": ["a.py:make", "package.make", {"name": "sub/b.py:Class"}], "name": "p"},
        {"pipeline": {"svm__C": 1}},
        {"classifier": "a.py:make"},
    ],
    "variants": {"v": {"methods": [{"pipeline": "b.py:make"}]}},
    "note": "a.py:make",
}


def test_pipelines_of_files_are_found_where_they_stand() -> None:
    assert list(pipelines_of_files(RAW)) == [
        (("methods", 1, "pipeline"), "a.py:make"),
        (("methods", 2, "pipeline"), "a.py:other"),
        (("methods", 3, "pipeline", 0), "a.py:make"),
        (("methods", 3, "pipeline", 2), "sub/b.py:Class"),
        (("variants", "v", "methods", 0, "pipeline"), "b.py:make"),
    ]
    assert list(pipelines_of_files(None)) == []


def test_pipelines_get_other_names_where_they_are_pipelines() -> None:
    found = with_files_at(RAW, {"a.py:make": "/x/a.py:make", "sub/b.py:Class": "/x/b.py:Class"})
    assert found["methods"][:4] == [
        "mnb",
        {"pipeline": "/x/a.py:make"},
        {"pipeline": {"name": "a.py:other", "svm__C": [1, 2]}},
        {"pipeline": ["/x/a.py:make", "package.make", {"name": "/x/b.py:Class"}], "name": "p"},
    ]
    assert found["methods"][4:] == RAW["methods"][4:]
    assert (found["variants"], found["note"]) == (RAW["variants"], RAW["note"])


def steps(alpha: float = 0.5, ngram_range: tuple[int, int] = (1, 2), **more: Any) -> Any:
    """Make words and naive Bayes."""
    return make_pipeline(CountVectorizer(ngram_range=ngram_range, **more), MultinomialNB(alpha=alpha))


def needs(alpha: float) -> Any:
    return steps(alpha)


class Bare:
    """Has no parameters of scikit-learn's."""

    def __init__(self, depth: int = 3, *more: Any) -> None:
        self.depth, self.more = depth, more

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return X


def test_a_pipeline_has_the_parameters_of_what_makes_it_and_of_its_steps() -> None:
    built = _pipeline(steps, "a.py:steps")
    assert (built.__name__, built.__doc__) == ("steps", "Make words and naive Bayes.")
    names = list(built.__signature__.parameters)  # type: ignore[attr-defined]
    assert names == sorted(names)
    assert {"alpha", "ngram_range", "multinomialnb__alpha", "countvectorizer__lowercase"} < {*names}
    assert "multinomialnb" not in names, "a step is no data"
    assert "more" not in names
    assert built.__signature__.parameters["alpha"].default == 0.5  # type: ignore[attr-defined]
    made = built(alpha=2.0, ngram_range=[1, 3], countvectorizer__lowercase=False, countvectorizer__ngram_range=[2, 2])
    assert made[1].alpha == 2.0
    assert (made[0].lowercase, made[0].ngram_range) == (False, (2, 2))
    assert built(ngram_range=[1, 3])[0].ngram_range == (1, 3)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        built(multinomialnb__alpha="many")
    assert list(_pipeline(needs, "a.py:needs").__signature__.parameters) == ["alpha"]  # type: ignore[attr-defined]
    bare = _pipeline(Bare, "a.py:Bare")
    assert list(bare.__signature__.parameters) == ["depth"]  # type: ignore[attr-defined]
    assert bare(depth=7).depth == 7
    with pytest.raises(ConfigError, match=r"^a: CountVectorizer has no predict: a pipeline has both"):
        _pipeline(CountVectorizer, "a")
    with pytest.raises(ConfigError, match=r"^a: dict has no fit and no predict"):
        _pipeline(dict, "a")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((each, True) for each in (None, True, 1, 0.5, "a", [1, "a"], (1, 2), [])),
        *((each, False) for each in ([None], [[1]], {"a": 1}, object(), MultinomialNB(), [MultinomialNB()])),
    ],
)
def test_what_yaml_can_hold_is_data(value: Any, expected: bool) -> None:
    assert _is_data(value) == expected


# Files


def test_files_are_sent_as_they_were_read_and_loaded_again(folder: Path) -> None:
    (folder / "data.txt").write_text("5")
    (folder / "more").mkdir()
    (folder / "more" / "helper.py").write_text("X = 1\n")
    (folder.parent / "outside.txt").write_text("7")
    text = (
        "from pathlib import Path\nfrom chi2 import Other\nfrom more import helper\nHERE = Path(__file__).parent\n"
        "N = int((HERE / 'data.txt').read_text()) + int((HERE.parent / 'outside.txt').read_text())\n"
        "KERNELS = {'n': Other}\n"
    )
    path = folder / "sent.py"
    path.write_text(text)
    plugin = load_plugin(path)
    files = plugin_files([str(path)])
    assert files[str(path)].keys() == {"sent.py", "chi2.py", "beside.py", "data.txt", "more/helper.py"}
    assert files[str(path)]["data.txt"] == b"5"
    other = folder / "elsewhere"
    other.mkdir()
    (other / "outside.txt").write_text("8")  # beside the numbered folder
    loaded = reload_plugins(files, other)
    assert list(loaded) == [str(path)]
    assert loaded[str(path)].name == str(other / "0" / "sent.py")
    assert (plugin.module.N, loaded[str(path)].module.N) == (12, 13)  # type: ignore[union-attr]
    assert names_component(loaded[str(path)])


def test_a_file_with_the_name_of_a_module_is_not_imported_in_its_place(folder: Path) -> None:
    for name in ("time", "json", "numpy"):
        (folder / f"{name}.py").write_text(f"import {name}\nfrom chi2 import Other\nKERNELS = {{'n': Other}}\n")
        plugin = load_plugin(folder / f"{name}.py")
        assert name not in plugin.modules
        assert getattr(plugin.module, name) is not plugin.module
    assert "sent_alone" in load_plugin_named(folder, "sent_alone").modules


def load_plugin_named(folder: Path, name: str) -> Any:
    (folder / f"{name}.py").write_text("from chi2 import Other\nKERNELS = {'n': Other}\n")
    return load_plugin(folder / f"{name}.py")


@pytest.mark.parametrize("name", ["my-kernels.py", "kernels.txt", "2.py"])
def test_a_plug_in_is_a_file_of_python(name: str, folder: Path) -> None:
    (folder / name).write_text("KERNELS = {}\n")
    with pytest.raises(ConfigError, match=r"a plug-in is a Python file, such as mykernels\.py"):
        load_plugin(folder / name)


def test_a_registry_of_ours_that_a_file_imports_is_none_of_its_own(folder: Path) -> None:
    (folder / "imports.py").write_text("from benchmark.kernels import KERNELS\nfrom chi2 import ChiSquared\n")
    assert not names_component(load_plugin(folder / "imports.py"))
    (folder / "own.py").write_text("from benchmark.kernels import KERNELS\nCLASSIFIERS = {}\n")
    assert names_component(load_plugin(folder / "own.py"))
    (folder / "nameless.py").write_text("from chi2 import ChiSquared\nKERNELS = {'': ChiSquared}\n")
    with pytest.raises(ConfigError, match="KERNELS must be a mapping of names to components"):
        registries_with_plugins([folder / "nameless.py"])


METRIC = """\
import numpy as np
from benchmark.evaluation.metrics import Metric

def spoil(tallies):
    tallies.right[...] = 0
    return np.full(tallies.documents.shape, 0.5)

def ranked(ranking, weights=None):
    assert ranking.truth.dtype == bool and ranking.values.dtype == float
    ranking.truth[...] = 0
    ranking.values[...] = 0
    if weights is not None:
        weights[...] = 0
    return 0.25

METRICS = {"spoil": Metric(spoil), "short": Metric(lambda tallies: np.zeros(3)), "ranked": Metric(ranking=ranked),
           "endless": Metric(ranking=lambda *_: np.inf)}
"""


def test_a_metric_gets_copies_and_its_scores_are_checked(folder: Path) -> None:
    from benchmark.evaluation.metrics import tally_predictions  # noqa: PLC0415
    from benchmark.evaluation.ranking_metrics import DecisionRanking  # noqa: PLC0415

    (folder / "metrics.py").write_text(METRIC)
    metrics = registries_with_plugins([folder / "metrics.py"]).metrics
    tallies = tally_predictions(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    before = tallies.right.copy()
    assert metrics["spoil"].scores(tallies) == 0.5
    np.testing.assert_array_equal(tallies.right, before)
    with pytest.raises(
        ConfigError, match=r"the metric 'short' must return finite scores of shape \(\); it returned shape"
    ):
        metrics["short"].scores(tallies)
    ranking, weights = DecisionRanking(np.eye(2, dtype=bool), np.ones((2, 2))), np.ones(2)
    assert metrics["ranked"].ranking(ranking, weights) == metrics["ranked"].ranking(ranking) == 0.25  # type: ignore[misc]
    assert ranking.values.all()
    assert ranking.truth.any()
    assert weights.all()
    with pytest.raises(ConfigError, match="the metric 'endless' must return a finite score; it returned inf"):
        metrics["endless"].ranking(ranking)  # type: ignore[misc]


# Records


def test_what_was_used_is_recorded_and_found_again(studied: Callable[..., Experiment], folder: Path) -> None:
    (folder / "models.py").write_text(
        "from sklearn.naive_bayes import MultinomialNB\n\ndef make():\n    return MultinomialNB()\n"
    )
    experiment = studied(methods="chi2, mnb, {name: p, pipeline: 'models.py:make'}")
    kernel, pipeline = plugin_records(experiment)
    assert (kernel["kind"], kernel["name"], kernel["file"]) == ("kernels", "chi2", str(folder / "chi2.py"))
    assert (pipeline["kind"], pipeline["name"]) == ("pipelines", "models.py:make")
    raw = with_plugin_paths(experiment.raw, [kernel, pipeline])
    assert raw["plugins"] == [str(folder / "chi2.py")]
    assert raw["methods"][2]["pipeline"] == f"{folder / 'models.py'}:make"
    assert raw["methods"][:2] == experiment.raw["methods"][:2]
    assert "plugins" not in with_plugin_paths(experiment.raw, [])
    twice = with_plugin_paths(experiment.raw, [kernel, kernel | {"name": "other"}])
    assert twice["plugins"] == [str(folder / "chi2.py")]
    known = experiment.registries
    assert changed_plugin([kernel], known) == ""
    assert changed_plugin([kernel | {"digest": "x"}], known) == str(folder / "chi2.py")
    assert changed_plugin([kernel, kernel | {"name": "gone"}], known) == str(folder / "chi2.py")
    assert changed_plugin([kernel | {"name": "gone", "file": ""}], known) == "the plug-in of 'gone'"


# Trust


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of code, where nothing is trusted yet."""
    monkeypatch.delenv("BENCH_TRUST", raising=False)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: tmp_path / "user")
    (tmp_path / "code.py").write_text("x = 1\n")
    return tmp_path / "code.py"


def test_trust_is_asked_for_by_the_innermost_and_remembered_by_content(code: Path) -> None:
    asked: list[str] = []
    check_trusted(code, "is code")  # nobody to ask
    with asking_before_code(lambda _: pytest.fail("the outer one was asked")):
        refused = pytest.raises(ConfigError, match=f"^{code}: is code; if you trust it, add --trust once$")
        with asking_before_code(lambda question: bool(asked.append(question))), refused:
            check_trusted(code, "is code")
        assert trusted_digests() == set()
        with asking_before_code(lambda question: not asked.append(question)):
            check_trusted(code, "is code")
        check_trusted(code, "is code")
    assert asked == [f"{code}: is code. Do you trust it?"] * 2
    assert len(trusted_digests()) == 1
    assert (code.parent / "user" / "trusted").is_file()
    code.write_text("x = 2\n")
    with asking_before_code(lambda question: bool(asked.append(question))), pytest.raises(ConfigError):
        check_trusted(code, "is code")


@pytest.mark.parametrize(("value", "asks"), [("1", False), ("0", True), ("", True), ("yes", True)])
def test_the_variable_trusts_if_it_is_one(value: str, asks: bool, code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_TRUST", value)
    asked: list[str] = []
    with asking_before_code(lambda question: not asked.append(question)):
        check_trusted(code, "is code")
    assert bool(asked) == asks


def test_a_memory_that_cannot_be_read_or_written_is_no_error(code: Path) -> None:
    (code.parent / "user").write_text("a file")
    with asking_before_code(lambda _: True):
        check_trusted(code, "is code")
    assert trusted_digests() == set()


# Validation


class NoParameters(BaseEstimator):
    def splits(self, documents: Any) -> Any:
        return documents


class Positional(NoParameters):
    def __init__(self, n: int = 1, /) -> None:
        self.n = n


class Measure(Diagnostic):
    metrics = (DiagnosticMetric("own-length", "words"),)

    def compute(self, context: Any) -> Any:
        return context

    def numbers(self, found: Any) -> Any:
        return found

    def notes(self, found: Any) -> Any:
        return found


class Abstract(Diagnostic):
    def compute(self, context: Any) -> Any:
        return context


class NoPredict(BaseEstimator):
    def fit(self, X: Any, y: Any) -> Any:
        return self


class OnKernels(MultinomialNB):
    tags = Tags(needs_kernel=True)


class OfScores(Linear):
    tags = Tags(solved_by="scores")


@dataclass
class Reader:
    name: str = field(default="mine")


def declared(*metrics: Any) -> type:
    return type("Own", (Measure,), {"metrics": metrics})


PROBLEMS: list[tuple[str, Any, str]] = [
    ("protocols", NoParameters, ""),
    ("protocols", Positional, "every parameter of its constructor must have a name: no *args, no **kwargs"),
    ("protocols", object, "it has no splits; scikit-learn's BaseEstimator provides get_params"),
    ("thresholds", object, "it has no fit; "),
    ("classifiers", NoPredict, "it has no predict; "),
    ("classifiers", object, "it has no fit and no predict; "),
    ("classifiers", OnKernels, "a plug-in's classifier takes points: only the support vector machine takes kernels"),
    ("kernels", object, "it has no fit and no transform and no get_params; "),
    ("kernels", Kernel, "a Kernel must define `from_products`"),
    ("kernels", type("Scored", (OfScores,), {"scores": Linear.transform}), ""),
    ("kernels", OfScores, "its solved_by is 'scores', and it has no scores"),
    ("kernels", 3, "each of the kernels must be a class, not 3"),
    ("weightings", NoPredict, "it must be a subclass of benchmark.representation.weightings.base.Weighting"),
    ("weightings", Weighting, "it lacks factors"),
    ("features", NoPredict, "it must be a subclass of benchmark.representation.features.FeatureMap"),
    ("corpora", Reader, "it must be a subclass of benchmark.corpora.reader.CorpusReader"),
    ("diagnostics", NoPredict, "it must be a subclass of benchmark.diagnostics.base.Diagnostic"),
    ("diagnostics", Abstract, "it lacks notes, numbers"),
    ("diagnostics", Measure, ""),
    ("diagnostics", declared("length"), "its `metrics` are ('length',): must be a tuple of "),
    ("diagnostics", type("Own", (Measure,), {"metrics": ["length"]}), "its `metrics` are ['length']: must be a tuple"),
    (
        "diagnostics",
        declared(DiagnosticMetric("own-length", "words"), DiagnosticMetric("own-length", "letters")),
        "it declares the metric 'own-length' twice",
    ),
    (
        "diagnostics",
        declared(DiagnosticMetric("accuracy", "words")),
        "a metric named 'accuracy' exists, a share of predictions: choose another name",
    ),
    ("metrics", accuracy, "a metric is a benchmark.evaluation.metrics.Metric"),
    ("metrics", Metric(accuracy), ""),
]


@pytest.mark.parametrize(("kind", "component", "words"), PROBLEMS)
def test_what_can_not_be_used_is_told(kind: str, component: Any, words: str) -> None:
    problem = component_problem(kind, "mine", component, BUILTIN_REGISTRIES)
    assert problem.startswith(words)
    assert bool(problem) == bool(words)


def test_names_of_metrics_are_taken_once() -> None:
    known = BUILTIN_REGISTRIES
    quantity, unit = next((name, each.unit) for name, each in known.quantities.items())
    other = declared(DiagnosticMetric(quantity, f"{unit}s"))
    said = f"it declares {quantity!r} in '{unit}s': a metric of this name exists, in {unit!r}"
    assert component_problem("diagnostics", "mine", other, known) == said
    assert component_problem("diagnostics", "mine", declared(DiagnosticMetric(quantity, unit)), known) == ""
    taken = component_problem("metrics", quantity, Metric(accuracy), known)
    assert taken == f"a metric named {quantity!r} exists, a number of a diagnostic: choose another name"
    for names, what in ((TIME_METRICS, "seconds of methods"), (PAIR_METRICS, "a statistic of two cells")):
        for name in names:
            said = f"a metric named {name!r} exists, {what}: choose another name"
            assert component_problem("metrics", name, Metric(accuracy), known) == said
            assert component_problem("diagnostics", "mine", declared(DiagnosticMetric(name, "one")), known) == said
    assert component_problem("metrics", "accuracy", Metric(accuracy), known) == "", "its place says that it is taken"


# Without running code


def test_what_a_file_defines_is_seen_in_its_text() -> None:
    tree = ast.parse(
        "import os, numpy as np\nfrom a import b, c as d\nX = Y = 1\nZ: int = 2\nW: int\n"
        "def f():\n    g = 1\nclass C:\n    h = 1\nif X:\n    i = 1\n"
    )
    assert outline._defined(tree) == {"os", "np", "b", "d", "X", "Y", "Z", "f", "C"}
    assert [name for name, _ in outline._assigned(tree)] == ["X", "Y", "Z"]


def test_a_configuration_is_outlined_without_what_it_does_not_know(config: Callable[..., Path], folder: Path) -> None:
    (folder / "mine.py").write_text(
        "KERNELS = {'own': 1, 2: 3, **OTHERS}\nFEATURES: dict = {'map': 1}\n"
        "METRICS = {'share': 1}\nTHRESHOLDS = make()\n"
    )
    checked = load_checked(
        config(files="mine.py", methods="own, {features: map, classifier: linear-svm}"), run_code=False
    )
    assert outline.unchecked_names(checked) == ["own", "map"]
    with pytest.raises(ConfigError, match=r"'share' is of mine\.py, whose code isn't run here"):
        load_checked(config(files="mine.py", methods="ngd", metrics="[share]"), run_code=False)
    with pytest.raises(ConfigError, match=r"own\.yaml:2: .*gone\.py: can't be read as Python: "):
        load_checked(config(files="gone.py", methods="ngd"), run_code=False)
    stand_in: Any = outline.UncheckedComponent(a=1)
    assert stand_in.parameters == {"a": 1}
    assert SimpleNamespace(**stand_in.parameters).a == 1
