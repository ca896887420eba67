"""Files and packages to names: what is loaded, what is refused, and in which words; nothing of one reaches another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.kernels import KERNELS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES, registries_with_plugins
from benchmark.plugins.records import plugin_records
from benchmark.schema.registries import list_components
from benchmark.system.errors import ConfigError
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_checked(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_configuration_names_what_its_files_name(config: Callable[..., Path]) -> None:
    experiment = load_checked(config(methods="chi2, {kernel: {name: chi2, gamma: [0.5, 2.0]}}"))
    assert experiment.ids == ("chi2", "chi2-gamma0.5", "chi2-gamma2.0")


def test_another_configuration_does_not(config: Callable[..., Path]) -> None:
    load_checked(config())
    assert "unknown method 'chi2'" in refused(config(files=""))
    assert "chi2" not in KERNELS
    assert "chi2" not in BUILTIN_REGISTRIES.kernels


def test_one_file_by_several_spellings_is_one(
    folder: Path, config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    (folder / "link.py").symlink_to("chi2.py")
    monkeypatch.setenv("HOME", str(folder))
    assert load_checked(config(files="~/chi2.py, sub/../chi2.py, link.py")).ids == ("chi2",)


def test_every_plug_in_and_every_variant_is_recorded(config: Callable[..., Path], folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f"from chi2 import Other\nKERNELS = {{'{name}': Other}}\n")
    found = load_checked(config(files="one.py, two.py", methods="one", variants="{v: {methods: [two]}}"))
    assert [each["name"] for each in plugin_records(found)] == ["one", "two"]


def test_two_configurations_may_call_different_things_by_one_name(
    config: Callable[..., Path], plugin: Callable[..., Path]
) -> None:
    plugin("from sklearn.base import BaseEstimator\nfrom chi2 import Other\nKERNELS = {'chi2': Other}\n")
    one, other = load_checked(config()), load_checked(config(files="mine.py"))
    names = [experiment.variants["base"].entries[0].candidates[0].kernel.cls.__name__ for experiment in (one, other)]
    assert names == ["ChiSquared", "Other"]


def test_a_file_is_run_once_until_it_is_changed(folder: Path, plugin: Callable[..., Path]) -> None:
    text = "from chi2 import Other\nwith open('runs', 'a') as file:\n    file.write('.')\nKERNELS = {'c': Other}\n"
    path = plugin(text.replace("'runs'", repr(str(folder / "runs"))))
    for _ in range(2):
        registries_with_plugins([path, path])
    assert (folder / "runs").read_text() == "."
    path.write_text(path.read_text() + "# changed\n")
    registries_with_plugins([path])
    assert (folder / "runs").read_text() == ".."


def test_modules_beside_a_file_are_those_of_its_own_folder(tmp_path: Path) -> None:
    found = []
    for word in ("one", "two"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "beside.py").write_text(f"WORD = {word!r}\n")
        (folder / "mine.py").write_text(
            "import beside\nfrom benchmark.evaluation.metrics import Metric, accuracy\n"
            "METRICS = {beside.WORD: Metric(accuracy)}\n"
        )
        found += [
            name
            for name in registries_with_plugins([folder / "mine.py"]).metrics
            if name not in BUILTIN_REGISTRIES.metrics
        ]
    assert found == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
        ("import os\n\nint('x')\n", 3, "ValueError: invalid literal"),
        ("import nothing_of_the_kind\n", 1, "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    config: Callable[..., Path], plugin: Callable[..., Path], text: str, line: int, words: str
) -> None:
    path, yaml = plugin(text), config(files="chi2.py, mine.py")
    assert refused(yaml).startswith(f"{yaml}:2: {path}:{line}: {words}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "names no component: a plug-in has at its top level KERNELS, "),
        ("from benchmark.kernels import KERNELS\n", "names no component"),
        ("KERNELS = [1]\n", "KERNELS must be a mapping of names to components"),
        (
            "from chi2 import ChiSquared\nKERNELS = {'linear': ChiSquared}\n",
            r"'linear' is taken, by .*euclidean\.py:\d+",
        ),
        (
            "from chi2 import ChiSquared\nKERNELS = {'mnb': ChiSquared}\n",
            r"'mnb' is taken, by .*multinomial_bayes\.py:\d+",
        ),
    ],
)
def test_what_can_not_stand_beside_the_others_is_refused(
    config: Callable[..., Path], plugin: Callable[..., Path], text: str, words: str
) -> None:
    plugin(text)
    assert re.search(words, refused(config(files="mine.py", methods="ngd")))


def test_two_files_with_one_name_are_both_told(config: Callable[..., Path], plugin: Callable[..., Path]) -> None:
    path = plugin("class Mine:\n    pass\n\nKERNELS = {'chi2': Mine}\n")
    found = refused(config(files="chi2.py, mine.py"))
    assert f"{path}:1: the name 'chi2' is taken, by {path.with_name('chi2.py')}:5" in found


def test_a_missing_file_is_told_where_it_is_named(config: Callable[..., Path]) -> None:
    assert "gone.py: no such file" in refused(config(files="gone.py"))


INADMISSIBLE = """\
from sklearn.base import BaseEstimator
from benchmark.system.tags import Tags
from chi2 import ChiSquared

def function(x, y):
    return x @ y.T

class NoTransform(BaseEstimator):
    def fit(self, X, y=None):
        return self

class Anything(ChiSquared):
    def __init__(self, **given):
        pass

class Untagged(ChiSquared):
    tags = {"normalization": "l1"}

class Misnormalized(ChiSquared):
    tags = Tags(normalization="l3")

class Unwritable(ChiSquared):
    def __init__(self, gamma=object()):
        self.gamma = gamma

class Endless(ChiSquared):
    def __init__(self, gamma=float("inf")):
        self.gamma = gamma

KERNELS = {"function": function, "no-transform": NoTransform, "anything": Anything, "unwritable": Unwritable,
           "endless": Endless, "untagged": Untagged, "misnormalized": Misnormalized}
METRICS = {"function-too": function}
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("function", "each of the kernels must be a class"),
        ("no-transform", "it has no transform"),
        ("anything", r"no \*args"),
        ("unwritable", "the default of gamma"),
        ("endless", "the default of gamma is inf"),
        ("untagged", r"its `tags` are {'normalization': 'l1'}: must be a benchmark.system.tags.Tags"),
        ("misnormalized", "its normalization is 'l3': must be one of none, l1, l2"),
    ],
)
def test_what_can_not_work_is_refused_where_it_is_named_and_stops_nothing_else(
    config: Callable[..., Path], plugin: Callable[..., Path], name: str, words: str
) -> None:
    path = plugin(INADMISSIBLE)
    load_checked(config(files="chi2.py, mine.py", methods="ngd, chi2"))
    found = refused(config(files="mine.py", methods=name))
    assert re.search(rf"{path}:\d+: '{name}' can't be used: .*{words}", found), found
    assert "Metric" in refused(config(files="mine.py", methods="ngd", metrics="[function-too]"))


def test_names_of_plug_ins_are_suggested_and_their_parameters_checked(config: Callable[..., Path]) -> None:
    assert "did you mean 'chi2'?" in refused(config(methods="ch2"))
    assert "did you mean 'gamma'?" in refused(config(methods="{kernel: {name: chi2, gama: 1}}"))
    assert "gamma is 'wide': must be a number" in refused(config(methods="{kernel: {name: chi2, gamma: wide}}"))


def test_they_are_listed(folder: Path) -> None:
    (part,) = list_components("kernels", [folder / "chi2.py"])
    assert {row[0]: row[1] for row in part.rows}["chi2"] == "gamma=1.0"


def test_files_of_an_extended_configuration_are_relative_to_it(config: Callable[..., Path], folder: Path) -> None:
    config(name="below")
    above = folder / "above.yaml"
    above.write_text("extends: below\nname: above\n", encoding="utf-8")
    assert load_checked(above).ids == ("chi2",)


# --- Installed packages ---

PACKAGE = """\
import sys
from pathlib import Path
from benchmark.system.errors import ConfigError
from benchmark.experiment.configuration import load_checked
for name in sys.argv[2:]:
    sys.path.insert(0, sys.argv[1])
    try:
        print(load_checked(Path(name)).ids[0])
    except ConfigError as error:
        print(error)
"""


@pytest.fixture
def site(folder: Path) -> Path:
    """A folder in which a package with entry points is installed."""
    site, info = folder / "site", folder / "site" / "mypackage-1.dist-info"
    (site / "mypackage").mkdir(parents=True)
    (site / "mypackage" / "__init__.py").write_text((folder / "chi2.py").read_text())
    (site / "mypackage" / "kernels.py").write_text("from mypackage import ChiSquared\n")
    (site / "beside.py").write_text((folder / "beside.py").read_text())
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    names = ("packed = mypackage.kernels:ChiSquared", "lost = mypackage.lost:Kernel", "linear = mypackage:Other")
    kernels = "\n".join(["[simplexbench.kernels]", *names, "twice = mypackage:Other"])
    classifiers = "[simplexbench.classifiers]\ntwice = sklearn.naive_bayes:MultinomialNB\n"
    (info / "entry_points.txt").write_text(f"{kernels}\n{classifiers}")
    return site


def test_a_package_names_components_and_what_is_wrong_stops_only_who_names_it(
    config: Callable[..., Path], site: Path
) -> None:
    names = ("packed", "ngd", "lost", "linear", "{classifier: twice}")
    paths = [str(config(files="", methods=name, name=f"c{n}")) for n, name in enumerate(names)]
    code, output, error = Process(str(site), *paths, code=PACKAGE).finish()
    assert not code, error
    packed, ngd, lost, linear, twice = output.splitlines()
    assert (packed, ngd) == ("packed", "ngd")
    assert "No module named 'mypackage.lost'" in lost
    assert "euclidean.py" in linear
    assert "mypackage 1.0" in linear
    assert "two components are named 'twice': " in twice
