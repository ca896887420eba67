"""What is done with the predictions of an experiment on text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.evaluation.predictions import PARTS
from benchmark.evaluation.scored import WHOLE
from benchmark.findings import predictions_file
from benchmark.findings.comparing import compare_cells, compare_runs
from benchmark.findings.scoring import Run
from benchmark.findings.summary import summarized
from benchmark.measures.base import told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.config.model import Experiment, MethodSpec

__all__ = ["compare_cells", "compare_runs", "decode", "described", "encode", "summarized"]


def encode(findings: Run) -> bytes:
    """The predictions as a file's content."""
    return predictions_file.encode(findings.predictions)


def decode(study: Experiment, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> Run:
    """The findings back from a file's content."""
    return Run(study, predictions_file.decode(content), failures, facts)


def described(findings: Run) -> dict[str, Any]:
    """What the manifest says of the methods, the splits, what was chosen, ties and seconds."""
    study, predictions, scored = findings.study, findings.predictions, findings.scored
    whole = scored.frame[scored.frame["fold"] == WHOLE]
    cells: dict[str, dict[str, Any]] = {
        name: {"ties": int(ties)} for name, ties in zip(whole["cell"], whole["ties"], strict=True)
    }
    for cell in study.cells:
        if cell.choice and cell.id in scored.chosen:
            cells[cell.id]["chosen"] = [int(index) for index in scored.chosen[cell.id]]
    return {
        "methods": {
            name: {entry.label: [_method(spec) for spec in entry.candidates] for entry in variant.entries}
            for name, variant in study.variants.items()
        },
        "protocol": {name: variant.protocol.resolved for name, variant in study.variants.items()},
        "splits": {
            _words(place): {s.name: {"train": int(s.trained.sum()), "test": len(s.test)} for s in splits}
            for place, splits in predictions.splits.items()
        },
        "cells": cells,
        "seeds": {"experiment": study.seed},
        "timings": {
            _words(place): dict(zip(PARTS, each.seconds.sum(axis=0).round(4).tolist(), strict=True))
            for place, each in predictions.points.items()
        }
        | {
            _words((variant, name)): each.timings
            for name, variant, each in told(study.measures, predictions)
            if each.timings
        },
    }


def _words(place: Iterable[str | int | None]) -> str:
    return "-".join(str(word) for word in place if word not in ("", None))


def _method(spec: MethodSpec) -> dict[str, Any]:
    parts = {"kernel": spec.kernel, "classifier": spec.classifier}
    resolved = {name: None if part is None else part.resolved for name, part in parts.items()}
    return {**vars(spec.representation), **resolved}
