"""Diagnostics of one's own: under which variants they are computed, in a part of an experiment, and where they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.experiment.configuration import select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment

DIAGNOSTICS = """\
import numpy as np
from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.tags import Tags

class Each(Diagnostic):
    metrics = (DiagnosticMetric("size", "documents"),)
    def compute(self, context):
        return {"n": np.array([len(context.counts.vocabulary)])}
    def numbers(self, found):
        n = float(found.arrays["n"][0])
        given = Estimate(n, n, n, 1, "count")
        return DiagnosticNumbers(tuple(DiagnosticRow(method, "size", given) for method in ("mnb", "complement-nb")))
    def notes(self, found):
        return []

class Once(Each):
    tags = Tags(base_only=True)

class Failing(Each):
    def numbers(self, found):
        n = float(found.arrays["n"][0])
        undeclared = DiagnosticRow("mnb", "weight", Estimate(n, n, n, 1, "count"))
        return super().numbers(found) if n > 300 else DiagnosticNumbers((undeclared,))

DIAGNOSTICS = {"each": Each, "once": Once, "failing": Failing}
"""


def test_they_are_computed_under_each_variant_or_once(
    studied: Callable[..., Experiment], plugin: Callable[..., Path], tmp_path: Path
) -> None:
    plugin(DIAGNOSTICS)
    experiment = studied(
        files="mine.py",
        methods="mnb, complement-nb",
        diagnostics="[each, once, failing]",
        text="{stoplist: none, min_occurrences: 50}",
        variants="{few: {text: {min_occurrences: 400}}}",
    )
    run = run_experiment(experiment, RunContext(Store(tmp_path / "store")))
    computed = [("each", "base"), ("each", "few"), ("once", "base"), ("failing", "base")]
    assert sorted(run.predictions.diagnostics) == sorted(computed)
    assert run.failures.keys() == {"few-failing"}
    assert "weight" in run.failures["few-failing"]
    sizes = [int(run.predictions.diagnostics["each", name]["n"][0]) for name in ("base", "few")]
    assert sizes[0] > 300 > sizes[1]
    part = select_cells(experiment, ["mnb"])
    assert part.only == ("mnb",)
    run = run_experiment(part, RunContext(Store(tmp_path / "store")))
    assert run.failures == {}, "numbers of methods that are left out are no error"
    assert ("each", "base") in run.predictions.diagnostics
