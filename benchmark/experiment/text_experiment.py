"""The experiment on text: from a checked configuration to predictions, and from these to everything a run shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.evaluation.predictions import PARTS
from benchmark.evaluation.scored import WHOLE
from benchmark.experiment.runner import Run, plan, run
from benchmark.findings import archive
from benchmark.findings.comparing import compare_cells, compare_runs
from benchmark.findings.scoring import score
from benchmark.findings.summary import summarize

if TYPE_CHECKING:
    from benchmark.config.components import Component
    from benchmark.config.model import Experiment, MethodSpec
    from benchmark.experiment.store import Store
    from benchmark.observer import Observer
    from benchmark.report.contents import Summary
    from benchmark.report.parts import Part


class TextExperiment:
    """What is done with configurations of this kind."""

    def run(self, study: Experiment, store: Store, *, jobs: int, observer: Observer, download: bool) -> Run:
        """Compute every point that the store doesn't have yet."""
        return run(study, store, jobs=jobs, observer=observer, download=download)

    def plan(
        self, study: Experiment, store: Store, observer: Observer, *, download: bool
    ) -> list[tuple[str, int, int]]:
        """Each curve or cell with its entries, and how many of them the store has."""
        return plan(study, store, observer, download=download)

    def encode(self, findings: Run) -> bytes:
        """The predictions as a file's content."""
        return archive.encode(findings.predictions)

    def decode(self, study: Experiment, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> Run:
        """The findings back from a file's content."""
        return Run(study, archive.decode(content), failures, facts)

    def summarize(self, findings: Run) -> Summary:
        """Scores, tests, verdicts, figures and notes, from the predictions."""
        return summarize(findings.study, findings.predictions, findings.failures, findings.facts)

    def described(self, findings: Run) -> dict[str, Any]:
        """What the manifest says of the methods, the splits, what was chosen, ties and seconds."""
        study, predictions = findings.study, findings.predictions
        scored = score(study, predictions)
        whole = scored.frame[scored.frame["fold"] == WHOLE]
        cells: dict[str, dict[str, Any]] = {
            name: {"ties": int(ties)} for name, ties in zip(whole["cell"], whole["ties"], strict=True)
        }
        for cell in study.cells:
            if cell.choice and cell.id in scored.chosen:
                cells[cell.id]["chosen"] = [int(index) for index in scored.chosen[cell.id]]
        seconds = {
            "-".join(str(word) for word in place if word not in ("", None)): {
                part: round(float(total), 4) for part, total in zip(PARTS, each.seconds.sum(axis=0), strict=True)
            }
            for place, each in predictions.points.items()
        }
        return {
            "methods": {
                name: {entry.label: [_method(spec) for spec in entry.candidates] for entry in variant.entries}
                for name, variant in study.variants.items()
            },
            "protocol": {name: variant.protocol.resolved for name, variant in study.variants.items()},
            "splits": {
                "-".join(str(word) for word in place if word not in ("", None)): {
                    split.name: {"train": int(split.trained.sum()), "test": len(split.test)} for split in splits
                }
                for place, splits in predictions.splits.items()
            },
            "cells": cells,
            "seeds": {"experiment": study.seed},
            "timings": seconds,
        }

    def compare_cells(self, findings: Run, a: str, b: str) -> list[Part]:
        """Two cells of a run."""
        return compare_cells(findings.study, findings.predictions, findings.failures, a, b)

    def compare_runs(self, one: Run, two: Run, names: tuple[str, str]) -> list[Part]:
        """The cells that two runs have in common."""
        return compare_runs((one.study, one.predictions), (two.study, two.predictions), names)


TEXT_EXPERIMENT = TextExperiment()


def _method(spec: MethodSpec) -> dict[str, Any]:
    representation = spec.representation
    return {
        "weighting": representation.weighting,
        "normalization": representation.normalization,
        "idf": representation.idf,
        "dirichlet": representation.dirichlet,
        "kernel": _resolved(spec.kernel),
        "classifier": _resolved(spec.classifier),
    }


def _resolved(component: Component | None) -> dict[str, Any] | None:
    return None if component is None else component.resolved
