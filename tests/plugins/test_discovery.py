"""Where components come from: files by any spelling, packages, pipelines, and what a run came with."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.naive_bayes import MultinomialNB

from benchmark.evaluation.metrics import Metric
from benchmark.experiment.configuration import load_checked
from benchmark.kernels import Linear
from benchmark.plugins import discovery
from benchmark.plugins.contract import check_file
from benchmark.plugins.discovery import BUILTIN_REGISTRIES, names_component, registries_with_plugins
from benchmark.plugins.import_paths import imported_class
from benchmark.plugins.loader import load_plugin
from benchmark.plugins.pipelines import _pipeline
from benchmark.plugins.records import changed_plugin, plugin_records
from benchmark.plugins.trust import asking_before_code, check_trusted, trusted_digests
from benchmark.system.errors import ConfigError
from benchmark.system.user_classes import plugin_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OWN_REGISTRIES = [
    ("KERNELS", "benchmark.kernels"),
    ("CLASSIFIERS", "benchmark.classifiers"),
    ("WEIGHTINGS", "benchmark.representation"),
    ("FEATURE_MAPS as FEATURES", "benchmark.representation.features"),
    ("THRESHOLDS", "benchmark.classifiers.thresholds"),
    ("PROTOCOLS", "benchmark.evaluation.protocols"),
    ("DIAGNOSTICS", "benchmark.diagnostics"),
    ("METRICS", "benchmark.evaluation.metrics"),
    ("CORPORA", "benchmark.corpora.registry"),
]


@pytest.mark.parametrize(("name", "module"), OWN_REGISTRIES)
def test_a_registry_that_a_file_imports_is_none_of_its_own_whatever_its_kind(
    name: str, module: str, folder: Path
) -> None:
    word = name.rpartition(" ")[2]
    kinds = {kind.upper() for kind, _ in BUILTIN_REGISTRIES.each()}
    assert word in kinds
    assert len(OWN_REGISTRIES) == len(kinds)
    (folder / "imports.py").write_text(f"from {module} import {name}\n")
    assert not names_component(load_plugin(folder / "imports.py"))
    (folder / "both.py").write_text(f"from {module} import {name}\nfrom chi2 import Other\nclass Mine:\n    pass\n")
    with pytest.raises(ConfigError, match="names no component: a plug-in has at its top level KERNELS, "):
        registries_with_plugins([folder / "both.py"])
    (folder / "own.py").write_text(f"{word} = {{}}\n")
    assert names_component(load_plugin(folder / "own.py"))


def test_one_file_by_several_spellings_is_one(
    folder: Path, config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    (folder / "link.py").symlink_to("chi2.py")
    spellings = [folder / "chi2.py", folder / "sub" / ".." / "chi2.py", folder / "link.py"]
    assert "chi2" in registries_with_plugins(spellings).kernels
    monkeypatch.setenv("HOME", str(folder))
    assert load_checked(config(files="~/chi2.py, chi2.py")).ids == ("chi2",)
    (folder / "sub" / "models.py").write_text(
        "from sklearn.naive_bayes import MultinomialNB\ndef make():\n    return MultinomialNB()\n"
    )
    methods = "{name: p, pipeline: '~/sub/models.py:make'}"
    assert load_checked(config(files="", methods=methods)).ids == ("p",)


def test_all_that_was_trusted_stays_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_TRUST", raising=False)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: tmp_path / "user")
    for number in range(3):
        (tmp_path / f"{number}.py").write_text(f"x = {number}\n")
        with asking_before_code(lambda _: True):
            check_trusted(tmp_path / f"{number}.py", "is code")
        assert len(trusted_digests()) == number + 1
    with asking_before_code(lambda _: pytest.fail("asked again")):
        for number in range(3):
            check_trusted(tmp_path / f"{number}.py", "is code")


# --- Installed packages ---


def entry(kind: str, name: str, component: Any, dist: str = "mine") -> Any:
    """An entry point of a package."""
    package = SimpleNamespace(name=dist, version="1.0", locate_file=lambda _: "/nowhere")
    found = SimpleNamespace(group=f"simplexbench.{kind}", name=name, value=f"{dist}:X", dist=package)
    found.load = lambda: component() if not isinstance(component, type | Metric) else component
    return found


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The registries where packages with these entry points are installed."""

    def install(*entries: Any) -> Any:
        monkeypatch.setattr(discovery, "_entries", lambda: entries)
        return registries_with_plugins()

    return install


def made(base: Any) -> Any:
    return type("Mine", (base,), {"__module__": "installed_of_tests"})


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "installed_of_tests", type(sys)("installed_of_tests"))


def test_a_package_s_component_is_found_and_belongs_to_it(packages: Callable[..., Any]) -> None:
    kernel = made(Linear)
    found = packages(entry("kernels", "own", kernel), entry("nothing", "own", kernel))
    assert found.kernels["own"] is kernel
    assert plugin_of(kernel).name == "mine 1.0"  # type: ignore[union-attr]
    origin = found.kernels.origins["own"]
    assert (origin.place, origin.file) == ("mine 1.0 (mine:X)", "")
    assert changed_plugin([{"kind": "kernels", "name": "own", "file": "", "digest": origin.digest}], found) == ""
    assert "own" not in BUILTIN_REGISTRIES.kernels


@pytest.mark.parametrize("kinds", [("kernels", "kernels"), ("kernels", "classifiers"), ("classifiers", "kernels")])
def test_of_two_packages_with_one_name_neither_is_taken(kinds: tuple[str, str], packages: Callable[..., Any]) -> None:
    bases = {"kernels": Linear, "classifiers": MultinomialNB}
    one, other = (entry(kind, "own", made(bases[kind]), dist) for kind, dist in zip(kinds, ("a", "b"), strict=True))
    found = packages(one, other)
    said = "two components are named 'own': a 1.0 (a:X) and b 1.0 (b:X)"
    assert getattr(found, kinds[1]).broken["own"] == said
    assert "own" not in getattr(found, kinds[1])


def test_a_package_does_not_take_a_name_of_ours_and_a_kind_has_names_of_its_own(packages: Callable[..., Any]) -> None:
    def share(tallies: Any) -> Any:
        return tallies.documents * 0.0

    share.__module__ = "installed_of_tests"
    found = packages(entry("classifiers", "ngd", made(MultinomialNB)), entry("metrics", "ngd", Metric(share)))
    assert "ngd" in found.kernels
    assert "ngd" not in found.classifiers
    assert "multinomial.py" in found.classifiers.broken["ngd"]
    assert "ngd" in found.metrics


def test_a_package_that_fails_is_told_where_it_is_named(packages: Callable[..., Any]) -> None:
    def fail() -> None:
        raise ImportError("no such thing")

    found = packages(entry("kernels", "lost", fail), entry("kernels", "own", made(Linear)))
    assert "own" in found.kernels
    assert "lost" not in found.kernels
    assert found.kernels.broken["lost"].startswith("mine 1.0 (mine:X): ImportError: no such thing")
    assert found.kernels.origins["lost"].place == "mine 1.0 (mine:X)"


# --- Pipelines and checks ---


class Made:
    """Has parameters by its own arguments and by `set_params`."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.kept = kept

    def get_params(self, *, deep: bool) -> dict[str, Any]:
        assert deep
        return {"step__C": 1.0, "step": self, "names": ["a"]}

    def set_params(self, **given: Any) -> None:
        self.kept |= given

    def fit(self, X: Any, y: Any) -> Any:
        return self

    predict = fit


def by_position(alpha: float = 1.0) -> Made:
    return Made({"alpha": alpha})


def by_keyword(*, alpha: float = 1.0) -> Made:
    return Made({"alpha": alpha})


def without() -> Made:
    return Made({})


@pytest.mark.parametrize("make", [by_position, by_keyword, without])
def test_arguments_go_to_what_makes_a_pipeline_and_all_else_to_the_pipeline(make: Any) -> None:
    built = _pipeline(make, "m")
    own = [] if make is without else ["alpha"]
    assert list(built.__signature__.parameters) == [*own, "names", "step__C"]  # type: ignore[attr-defined]
    alpha = dict.fromkeys(own, 2.0)
    assert built(**alpha).kept == alpha
    assert built(**alpha, step__C=3.0).kept == {**alpha, "step__C": 3.0}
    assert built(step__C=3.0).kept == {**dict.fromkeys(own, 1.0), "step__C": 3.0}
    assert built(names=["b"]).kept["names"] == ["b"]


def test_pipelines_of_several_files_and_functions_are_all_loaded(config: Callable[..., Path], folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(
            "from sklearn.naive_bayes import MultinomialNB as Bayes\n"
            "def make():\n    return Bayes()\ndef other():\n    return Bayes(alpha=2)\n"
        )
    names = [f"{file}.py:{function}" for file in ("one", "two") for function in ("make", "other")]
    methods = ", ".join(f"{{name: p{number}, pipeline: '{name}'}}" for number, name in enumerate(names))
    found = load_checked(config(files="", methods=methods))
    assert found.ids == tuple(f"p{number}" for number in range(4))
    origins = found.registries.pipelines.origins
    files = [folder / f"{name.partition('.')[0]}.py" for name in names]
    assert [origins[name].file for name in names] == [*map(str, files)]
    classes = [entry.candidates[0].classifier.cls for entry in found.variants["base"].entries]
    assert len(set(classes)) == 4


@pytest.mark.parametrize(
    ("place", "methods"),
    [
        ("methods.0.pipeline", "{name: p, pipeline: 'gone.py:make'}"),
        ("methods.1.pipeline", "ngd, {name: p, pipeline: {name: 'gone.py:make'}}"),
        ("methods.0.pipeline.1", "{pipeline: [sklearn.naive_bayes.MultinomialNB,\n  'gone.py:make']}"),
    ],
)
def test_a_pipeline_s_file_that_is_missing_is_told_at_its_line(
    config: Callable[..., Path], place: str, methods: str
) -> None:
    path = config(files="", methods=methods)
    text = path.read_text().splitlines()
    line = next(number for number, each in enumerate(text, start=1) if "gone.py" in each)
    with pytest.raises(ConfigError) as raised:
        load_checked(path)
    assert str(raised.value).startswith(f"{path}:{line}: {path.parent / 'gone.py'}: "), place


def test_only_the_components_of_a_file_are_checked_and_broken_ones_are_told(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from chi2 import Other\nfrom benchmark.evaluation.metrics import Metric, accuracy\n"
        "class Needy(Other):\n    def __init__(self, a, b, c=1):\n        self.a, self.b, self.c = a, b, c\n"
        "KERNELS = {'needy': Needy, 'no': 3}\nMETRICS = {'share': accuracy}\n"
    )
    load_plugin(folder / "chi2.py")
    found = [(each.component, each.check, each.problem) for each in check_file(folder / "mine.py")]
    assert found[:2] == [
        ("kernel needy", "can be used", ""),
        ("kernel needy", "is built without parameters", "give a, b a default, or it can't be checked"),
    ]
    assert [each[:2] for each in found[2:]] == [("kernel no", "can be used"), ("metric share", "can be used")]
    assert all("can't be used: " in each[2] for each in found[2:])


def test_every_plug_in_and_every_variant_is_seen(config: Callable[..., Path], folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f"from chi2 import Other\nKERNELS = {{'{name}': Other}}\n")
    path = config(files="one.py, two.py", methods="one", variants="{v: {methods: [two]}}")
    found = load_checked(path)
    assert [each["name"] for each in plugin_records(found)] == ["one", "two"]
    with pytest.raises(ConfigError) as raised:
        load_checked(config(files="one.py, gone.py", methods="one"))
    assert str(raised.value).startswith(f"{path}:2: {folder / 'gone.py'}: no such file")


def test_a_pipeline_s_record_has_the_digest_of_its_file(config: Callable[..., Path], folder: Path) -> None:
    text = "from sklearn.naive_bayes import MultinomialNB as Bayes\ndef make():\n    return Bayes()\n"
    digests = set()
    for number in range(2):
        (folder / "models.py").write_text(f"{text}# {number}\n")
        found = load_checked(config(files="", methods="{name: p, pipeline: 'models.py:make'}"))
        origin = found.registries.pipelines.origins["models.py:make"]
        assert origin.digest == load_plugin(folder / "models.py").digest
        assert origin.place == f"{folder / 'models.py'}:2"
        digests.add(origin.digest)
    assert len(digests) == 2


def test_who_asks_outside_asks_again_when_the_inner_one_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCH_TRUST", raising=False)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: tmp_path / "user")
    (tmp_path / "a.py").write_text("x = 1\n")
    asked: list[str] = []
    with asking_before_code(lambda _: bool(asked.append("outer"))):
        with asking_before_code(lambda _: bool(asked.append("inner"))), pytest.raises(ConfigError):
            check_trusted(tmp_path / "a.py", "is code")
        with pytest.raises(ConfigError):
            check_trusted(tmp_path / "a.py", "is code")
    check_trusted(tmp_path / "a.py", "is code")
    assert asked == ["inner", "outer"]


def test_an_import_path_that_is_no_classifier_is_named_whole() -> None:
    for path, said in (
        ("sklearn.cluster.KMeans", "predicts numbers, not classes"),
        ("sklearn.linear_model.Ridge", "predicts numbers, not classes"),
        ("sklearn.preprocessing.Normalizer", "has no predict: a classifier has both"),
        ("sklearn.base.clone", "is no class that can be built"),
    ):
        with pytest.raises(ConfigError, match=rf"^{path} {said}"):
            imported_class(path)
