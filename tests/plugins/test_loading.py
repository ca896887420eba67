"""Files and packages to names: what is loaded, what is refused, and in which words; nothing of one reaches another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.plugins.discovery import registries_for
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import Node
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.components import Registries


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_checked(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def registries_of(*files: Path) -> Registries:
    return registries_for(Node.of_data({"plugins": [str(each) for each in files]}, "test.yaml"))


def test_a_file_is_run_once_until_it_is_changed(folder: Path, plugin: Callable[..., Path]) -> None:
    line = f"with open({str(folder / 'runs')!r}, 'a') as file:\n    file.write('.')\n"
    path = plugin(f"from chi2 import Other\n{line}KERNELS = {{'c': Other}}\n")
    for runs, change in ((".", ""), (".", "# changed\n"), ("..", "")):
        registries_of(path, path)
        assert (folder / "runs").read_text() == runs
        path.write_text(path.read_text() + change)


def test_modules_beside_a_file_are_those_of_its_own_folder(tmp_path: Path) -> None:
    for word in ("one", "two"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "beside.py").write_text(f"WORD = {word!r}\n")
        metric = "METRICS = {beside.WORD: Metric(accuracy)}\n"
        (folder / "mine.py").write_text(
            f"import beside\nfrom benchmark.evaluation.metrics import Metric, accuracy\n{metric}"
        )
        assert word in registries_of(folder / "mine.py").metrics


CHI2_AGAIN = "from chi2 import ChiSquared\nKERNELS = {'NAME': ChiSquared}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\ndef f(:\n", "{yaml}:2: {path}:2: SyntaxError: invalid syntax"),
        ("import os\n\nint('x')\n", "{yaml}:2: {path}:3: ValueError: invalid literal"),
        ("import nothing_of_it\n", "{yaml}:2: {path}:1: ModuleNotFoundError: No module named 'nothing_of_it'"),
        ("import sys\nsys.exit(3)\n", "{yaml}:2: {path}:2: SystemExit: 3"),
        (
            "from benchmark.system.tags import Tags\nTags(normalizations=('l1', 'max'))\n",
            "{path}:2: ValueError: normalization must be one of none, l1, l2, not 'max'",
        ),
        (None, "mine.py: no such file"),
        ("from benchmark.kernels import KERNELS\n", "names no component, such as KERNELS = "),
        ("KERNELS = [1]\n", "KERNELS must be a mapping of names to components"),
        (CHI2_AGAIN.replace("NAME", "linear"), r"'linear' is taken, by benchmark\.kernels\.euclidean\.Linear"),
        (CHI2_AGAIN.replace("NAME", "mnb"), r"'mnb' is taken, by benchmark\.classifiers\.naive_bayes\."),
        ("class Mine:\n    pass\n\nKERNELS = {'chi2': Mine}\n", "{path}:1: the name 'chi2' is taken, by .*chi2.py:5"),
    ],
)
def test_a_file_that_can_not_be_used_is_told_in_a_line(
    config: Callable[..., Path], plugin: Callable[..., Path], folder: Path, text: str | None, words: str
) -> None:
    if text is not None:
        plugin(text)
    yaml = config(files="chi2.py, mine.py", methods="ngd")
    expected = words.replace("{yaml}", str(yaml)).replace("{path}", str(folder / "mine.py"))
    assert re.search(expected, refused(yaml))


INADMISSIBLE = """\
from sklearn.base import BaseEstimator
from chi2 import ChiSquared

def function(x, y):
    return x @ y.T

class NoTransform(BaseEstimator):
    def fit(self, X, y=None):
        return self

class Untagged(ChiSquared):
    tags = {"normalization": "l1"}

KERNELS = {"function": function, "no-transform": NoTransform, "untagged": Untagged}
METRICS = {"function-too": function}
"""


def test_what_can_not_work_is_refused_where_it_is_named_and_stops_nothing_else(
    config: Callable[..., Path], plugin: Callable[..., Path]
) -> None:
    path = plugin(INADMISSIBLE)
    load_checked(config(files="chi2.py, mine.py", methods="ngd, chi2"))
    for name, words in {
        "function": "each of the kernels must be a subclass of",
        "no-transform": "it has no transform",
        "untagged": r"its `tags` are {'normalization': 'l1'}: must be a benchmark.system.tags.Tags",
    }.items():
        found = refused(config(files="mine.py", methods=name))
        assert re.search(rf"{path}:\d+: '{name}' can't be used: .*{words}", found), found
    assert "Metric" in refused(config(files="mine.py", methods="ngd", metrics="[function-too]"))


def test_names_of_plug_ins_are_suggested_and_their_parameters_checked(config: Callable[..., Path]) -> None:
    assert "did you mean 'chi2'?" in refused(config(methods="ch2"))
    assert "did you mean 'gamma'?" in refused(config(methods="{kernel: {name: chi2, gama: 1}}"))
    assert "gamma is 'wide': must be a valid number" in refused(config(methods="{kernel: {name: chi2, gamma: wide}}"))


def test_files_of_an_extended_configuration_are_relative_to_it(config: Callable[..., Path], folder: Path) -> None:
    config(name="below")
    (folder / "above.yaml").write_text("extends: below\nname: above\n", encoding="utf-8")
    assert load_checked(folder / "above.yaml").ids == ("chi2",)


# --- Installed packages ---

PACKAGE = """\
import sys
from pathlib import Path
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import Node
from benchmark.experiment.configuration import load_checked
from benchmark.plugins.discovery import registries_for
for name in sys.argv[2:]:
    sys.path.insert(0, sys.argv[1])
    try:
        print(load_checked(Path(name)).ids[0])
    except ConfigError as error:
        print(error)
"""


def test_a_package_names_components_and_what_is_wrong_stops_only_who_names_it(
    config: Callable[..., Path], folder: Path
) -> None:
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
    names = ("packed", "ngd", "lost", "linear", "{classifier: twice}")
    paths = [str(config(files="", methods=name, name=f"c{n}")) for n, name in enumerate(names)]
    code, output, error = Process(str(site), *paths, code=PACKAGE).finish()
    assert not code, error
    packed, ngd, lost, linear, twice = output.splitlines()
    assert (packed, ngd) == ("packed", "ngd")
    assert "No module named 'mypackage.lost'" in lost
    assert "benchmark.kernels.euclidean.Linear" in linear
    assert "mypackage 1.0" in linear
    assert "mypackage 1.0 (sklearn.naive_bayes:MultinomialNB): the name 'twice' is taken, by " in twice
