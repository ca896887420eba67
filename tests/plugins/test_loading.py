"""Files and packages to names: what is loaded, what is refused, and in which words; nothing of one reaches another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.plugins.discovery import registries_with_plugins
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_checked(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_is_run_once_until_it_is_changed(folder: Path, plugin: Callable[..., Path]) -> None:
    line = f"with open({str(folder / 'runs')!r}, 'a') as file:\n    file.write('.')\n"
    path = plugin(f"from chi2 import Other\n{line}KERNELS = {{'c': Other}}\n")
    for runs, change in ((".", ""), (".", "# changed\n"), ("..", "")):
        registries_with_plugins([path, path])
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
        assert word in registries_with_plugins([folder / "mine.py"]).metrics


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
        (CHI2_AGAIN.replace("NAME", "linear"), r"'linear' is taken, by .*euclidean\.py:\d+"),
        (CHI2_AGAIN.replace("NAME", "mnb"), r"'mnb' is taken, by .*multinomial_bayes\.py:\d+"),
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

class Anything(ChiSquared):
    def __init__(self, **given):
        pass

class Untagged(ChiSquared):
    tags = {"normalization": "l1"}

class Unwritable(ChiSquared):
    def __init__(self, gamma=object()):
        self.gamma = gamma

"""


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("KERNELS = {'mine': function}", "each of the kernels must be a subclass of"),
        ("KERNELS = {'mine': NoTransform}", "it has no transform"),
        ("KERNELS = {'mine': Anything}", r"no \*args"),
        ("KERNELS = {'mine': Unwritable}", "the default of gamma"),
        (
            "KERNELS = {'mine': Untagged}",
            "its `tags` are {'normalization': 'l1'}: must be a benchmark",
        ),
        ("METRICS = {'mine': function}", "a metric is a benchmark.evaluation.metrics.Metric"),
    ],
)
def test_what_can_not_work_is_refused_with_its_line(
    config: Callable[..., Path], plugin: Callable[..., Path], named: str, words: str
) -> None:
    path = plugin(f"{INADMISSIBLE}\n{named}\n")
    found = refused(config(files="mine.py", methods="ngd"))
    assert re.search(rf"{path}:\d+: 'mine' can't be used: .*{words}", found), found


def test_names_of_plug_ins_are_suggested_and_their_parameters_checked(config: Callable[..., Path]) -> None:
    assert "did you mean 'chi2'?" in refused(config(methods="ch2"))
    assert "did you mean 'gamma'?" in refused(config(methods="{kernel: {name: chi2, gama: 1}}"))
    assert "gamma is 'wide': must be a valid number" in refused(config(methods="{kernel: {name: chi2, gamma: wide}}"))


def test_files_of_an_extended_configuration_are_relative_to_it(config: Callable[..., Path], folder: Path) -> None:
    config(name="below")
    (folder / "above.yaml").write_text("extends: below\nname: above\n", encoding="utf-8")
    assert load_checked(folder / "above.yaml").ids == ("chi2",)
