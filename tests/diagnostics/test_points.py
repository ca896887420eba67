"""Coordinates of points and theorem 4's bound: what they are of, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.corpora.archive import CorpusSource
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.diagnostics.base import DiagnosticArrays
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels.heat.covering import log_covering_bound
from benchmark.system.string_arrays import split_names
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

POINTS: dict[str, Any] = {
    "corpus": {"name": "curved-points", "space": "half-plane", "train": 20, "test": 30, "resolution": 10},
    "text": {"stoplist": "none"},
    "protocol": "fixed-split",
    "methods": [{"weighting": "tf", "normalization": "none", "kernel": "rbf"}],
}


def test_coordinates_are_those_of_the_points(tmp_path: Path) -> None:
    experiment = small_experiment(**POINTS, diagnostics=["coordinates"])
    found = run_experiment(experiment, RunContext(Store(tmp_path))).predictions.diagnostics["coordinates", "base"]
    reader = experiment.variants["base"].collection.reader
    np.testing.assert_array_equal(found["points"], reader.load(CorpusSource(None)).matrix.toarray())
    assert split_names(found["names"]) == ("mean μ", "standard deviation σ")
    assert [split_names(found["part_names"])[each] for each in found["parts"][[0, 20, 50]]] == [
        "train",
        "test",
        "grid",
    ]


def test_the_bound_is_theorem_fours() -> None:
    built = DIAGNOSTICS["covering-numbers"](dimension=[2, 10], t=[0.5, 4.0], radius=[1e-6, 1e-3, 0.1])
    told = built.numbers(DiagnosticArrays("base", built.compute(None)))
    assert [row.cell for row in told.rows] == list(built.rows)
    for n, t in ((2, 0.5), (2, 4.0), (10, 0.5), (10, 4.0)):
        name = f"covering-n{n}-t{t:g}"
        expected = log_covering_bound(np.array([1e-6, 1e-3, 0.1]), n, t) / np.log(10)
        line = [point for point in told.points if point.method == name]
        np.testing.assert_allclose([point.value for point in line], expected)
        assert [point.x for point in line] == [1e-6, 1e-3, 0.1]
        assert next(row.estimate.value for row in told.rows if row.cell == name) == pytest.approx(expected[0])


def test_growth_is_that_of_the_theorem_beside_what_is_measured() -> None:
    built = DIAGNOSTICS["covering-growth"](dimension=[1, 3])
    found = built.numbers(DiagnosticArrays("base", built.compute(None)))
    told = {(row.cell, row.metric.rpartition("-")[2]): row.estimate.value for row in found.rows}
    assert {cell for cell, _ in told} == set(built.rows)
    assert [told["theorem-n3", name] for name in ("epsilon", "time")] == [2.5, -1.5]
    assert told["torus-n1", "epsilon"] == pytest.approx(1.5, rel=0.01)  # whole numbers, without a second term
    for dimension in ([], [0], [2.0]):
        with pytest.raises(ValueError, match="positive whole numbers"):
            DIAGNOSTICS["covering-growth"](dimension=dimension).check()
