"""`bench plugin test`: every shipped component passes the checks, and each check finds what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import MultinomialNB

from benchmark.cli import main
from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.protocols import Split
from benchmark.kernels import Linear
from benchmark.plugins.contract import COMPONENT_CHECKS, check_one_component
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.tags import tags_of
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Kernels that learn a model are asked for their values by methods of their own.
LEARN = {"hp-top", "plsi-fisher"}
#: It takes points of two coordinates, see `tests/kernels/heat/test_half_plane.py`.
OF_THE_PLANE = {"hyperbolic"}
EVERY = [
    (kind, name)
    for kind, registry in BUILTIN_REGISTRIES.each()
    for name, component in registry.items()
    if kind in COMPONENT_CHECKS and name not in LEARN | OF_THE_PLANE and not tags_of(component).needs_kernel
    if name not in ("fixed-split", "by-date", "k-fold", "random-subsets")  # not of these documents, or need a parameter
]


@pytest.mark.parametrize(("kind", "name"), mostly_slow(EVERY, 9))
def test_every_shipped_component_passes(kind: str, name: str) -> None:
    found = list(check_one_component(kind, name, getattr(BUILTIN_REGISTRIES, kind)[name], name))
    assert len(found) == len(COMPONENT_CHECKS[kind])
    # At its default time the heat of the sphere has spread evenly.
    assert not [each for each in found if each.problem and name != "heat"]


class Chatty(Linear):
    """Forgets a parameter that it is given."""

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = 2 * gamma


class Asymmetric(Linear):
    """Weighs the second point otherwise."""

    def transform(self, X: Any) -> Any:
        return super().transform(X) * (1 + np.arange(self.points_.shape[0]))


class OfTheBatch(Linear):
    """Depends on the rows beside a row."""

    def transform(self, X: Any) -> Any:
        gram = super().transform(X)
        return gram / gram.max()


class ByChance(Linear):
    """Gives other values each time."""

    def transform(self, X: Any) -> Any:
        return super().transform(X) + np.random.default_rng().random()


class Greedy(Linear):
    """Writes over its argument."""

    def fit(self, X: Any, y: Any = None) -> Any:
        X.data *= 2
        return super().fit(X, y)


class Flat(MultinomialNB):
    """Gives one score, whatever the number of classes."""

    def decision_function(self, X: Any) -> Any:
        return self.predict_joint_log_proba(X)[:, 0]


class Stranger(MultinomialNB):
    """Predicts a class that it wasn't trained on."""

    def predict(self, X: Any) -> Any:
        return super().predict(X) + 1


class Twice(BaseEstimator):
    """Tests every document it trains on."""

    def splits(self, documents: Any) -> list[Split]:
        rows = np.arange(len(documents))
        return [Split("all", rows, rows)]


@pytest.mark.parametrize(
    ("kind", "component", "check", "words"),
    [
        ("kernels", Chatty, "keeps its parameters", "gamma is 2.0 once it is built with 1.0"),
        ("kernels", Asymmetric, "is symmetric", "differ by"),
        ("kernels", OfTheBatch, "returns the same values for a row", "differ by"),
        ("kernels", ByChance, "returns the same values when", "were fitted alike differ"),
        ("kernels", Greedy, "leaves its arguments", "have changed"),
        ("classifiers", Flat, "predicts training classes", "has the shape (60,), for scores of (60, 3)"),
        ("classifiers", Stranger, "predicts training classes", "a class that it wasn't trained on"),
        ("protocols", Twice, "returns ascending rows", "tests a document that it trains on"),
        ("metrics", Metric(lambda tallies: tallies.right.sum(axis=-1)), "is a share", "between 0 and 1"),
    ],
)
def test_each_check_finds_what_it_is_for(kind: str, component: Any, check: str, words: str) -> None:
    (problem,) = [
        each.problem for each in check_one_component(kind, "mine", component, "mine") if each.check.startswith(check)
    ]
    assert words in problem


def test_a_component_that_needs_a_parameter_says_so() -> None:
    (only,) = check_one_component("protocols", "k-fold", BUILTIN_REGISTRIES.protocols["k-fold"], "k-fold")
    assert "give k a default" in only.problem


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["bench", *words])
    monkeypatch.setattr("gc.disable", lambda: None)
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_the_command_says_a_line_a_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "plugin", "test", str(folder / "chi2.py")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * (1 + len(COMPONENT_CHECKS["kernels"]))
    assert all(line.endswith(": passed") for line in lines)


def test_the_command_fails_where_a_check_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text(
        "from chi2 import ChiSquared\n\nclass Odd(ChiSquared):\n    def transform(self, X):\n        return 1 / 0\n\n"
        "KERNELS = {'odd': Odd, 'number': 3}\n"
    )
    assert run(monkeypatch, "plugin", "test", str(folder / "mine.py")) == 1
    said = capsys.readouterr().out
    assert f"kernel odd: is symmetric: FAILED: {folder / 'mine.py'}:5: ZeroDivisionError: division by zero" in said
    assert "kernel number: can be used: FAILED" in said
    assert run(monkeypatch, "plugin", "test", str(folder / "gone.py")) == 2


BROKEN = """\
from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.protocols import Split
import numpy as np

class Raises:
    def splits(self, documents):
        return documents.nothing

class Leaks:
    def splits(self, documents):
        rows = np.arange(len(documents))
        return [Split("all", rows, rows[::2])]

PROTOCOLS = {"raises": Raises, "leaks": Leaks}
METRICS = {"nan": Metric(lambda tallies: tallies.documents * np.nan), "zero": Metric(lambda tallies: 1 // 0)}
"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({"protocol": "raises"}, "mine.py:7: AttributeError: 'Documents' object has no attribute 'nothing'"),
        ({"protocol": "leaks"}, "the split 'all' tests a document that it trains on"),
        (
            {"metrics": "[accuracy, nan]"},
            "mine.py:15: the metric 'nan' must return finite scores of shape (1,)",
        ),
        ({"metrics": "[accuracy, zero]"}, "mine.py:15: ZeroDivisionError: integer division or modulo by zero"),
    ],
)
def test_an_error_beside_the_cells_is_a_line(
    config: Callable[..., Path],
    plugin: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: dict[str, str],
    words: str,
) -> None:
    plugin(BROKEN)
    path = config(files="mine.py", methods="mnb", **lines)
    assert run(monkeypatch, "run", str(path), "--out", str(path.with_suffix(""))) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
