"""`bench plugin test`: shipped components are what it asks for, and it finds what is wrong with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.plugin_test import is_a_function, is_symmetric, keeps_parameters
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.tags import tags_of
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: They learn a model, or take points of two coordinates, or kernels, or counts of words.
OTHERS = {"hp-top", "plsi-fisher", "hyperbolic", "heat", "svm", "gzip"}
SHIPPED = {
    name: component
    for kind, registry in BUILTIN_REGISTRIES.each()
    for name, component in registry.items()
    if kind in ("kernels", "classifiers", "weightings", "features") and name not in OTHERS
    if not tags_of(component).selects_terms
}


@pytest.mark.parametrize("name", mostly_slow(sorted(SHIPPED), 12))
def test_a_shipped_component_is_a_function_of_a_document(name: str) -> None:
    keeps_parameters(SHIPPED[name])
    is_a_function(SHIPPED[name])
    if name in BUILTIN_REGISTRIES.kernels:
        is_symmetric(SHIPPED[name])


FAULTY = """\
import numpy as np
from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.splits import Split
from benchmark.representation.features import FeatureMap
from chi2 import ChiSquared
from sklearn.naive_bayes import MultinomialNB

class Raises(ChiSquared):
    def transform(self, X):
        return 1 / 0  # line 10

class Chatty(ChiSquared):
    def __init__(self, gamma=1.0):
        self.gamma = 2 * gamma

class Asymmetric(ChiSquared):
    def transform(self, X):
        return super().transform(X) * (1 + np.arange(self.points_.shape[0]))

class OfTheBatch(ChiSquared):
    def transform(self, X):
        gram = super().transform(X)
        return gram / gram.max()

class ByChance(ChiSquared):
    def transform(self, X):
        return super().transform(X) + np.random.default_rng().random()

class Stranger(MultinomialNB):
    def predict(self, X):
        return super().predict(X) + 7

class Learns(FeatureMap):
    def map(self, points):
        return points * float(points.max())

class Unseeded:
    def splits(self, documents):
        tested = np.random.default_rng().random(len(documents)) < 0.5
        return [Split("some", np.flatnonzero(~tested), np.flatnonzero(tested))]

KERNELS = {"raises": Raises, "chatty": Chatty, "asymmetric": Asymmetric, "of-the-batch": OfTheBatch,
           "by-chance": ByChance}
CLASSIFIERS = {"stranger": Stranger}
FEATURES = {"learns": Learns}
PROTOCOLS = {"unseeded": Unseeded}
METRICS = {"many": Metric(lambda tallies: tallies.right.sum(axis=-1))}
"""
FAULTS = {
    "kernel raises: runs on documents of two classes": "mine.py:10: ZeroDivisionError: division by zero",
    "kernel chatty: keeps its parameters": "gamma",
    "kernel asymmetric: is symmetric": "k(x, y) and k(y, x) differ by ",
    "kernel of-the-batch: is the same for a document alone and again": "transform of a document alone and among others",
    "kernel by-chance: is the same for a document alone and again": "transform of two that were fitted alike differ by",
    "classifier stranger: runs on documents of two classes": "but the training classes are [0, 1]",
    "feature learns: is the same for a document alone and again": "transform of a document alone and among others",
    "protocol unseeded: returns the same splits again": "has other documents when it is called again",
    "metric many: runs on documents of four classes": "not between 0 and 1",
}


def test_each_fault_is_found_and_no_other(folder: Path, plugin: Callable[..., Path]) -> None:
    done = CliRunner().invoke(app, ["plugin", "test", str(plugin(FAULTY)), str(folder / "chi2.py")])
    assert done.exit_code == 1
    lines = dict(line.rsplit(": FAILED: ", 1) if "FAILED" in line else (line, "") for line in done.stdout.splitlines())
    for check, words in FAULTS.items():
        assert words in lines.pop(check), check
    named = {check.partition(":")[0] for check in FAULTS}
    others = {check: problem for check, problem in lines.items() if check.partition(":")[0] not in named}
    assert len(others) == 12, "of the two kernels beside it"
    assert not any(others.values())
