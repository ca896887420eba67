"""What is done with the predictions of an experiment on text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.scored import WHOLE
from benchmark.findings import predictions_file
from benchmark.findings.comparing import compare_cells, compare_runs
from benchmark.findings.part import part_of
from benchmark.findings.scoring import Run
from benchmark.findings.summary import summarized
from benchmark.measures.base import told
from benchmark.plugins.recorded import record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.config.model import Experiment, MethodSpec

__all__ = ["compare_cells", "compare_runs", "decode", "described", "encode", "part_of", "rows_digest", "summarized"]


def encode(findings: Run) -> dict[str, bytes]:
    """The predictions, and what they took, as contents of files."""
    return predictions_file.encode(findings.predictions)


def decode(study: Experiment, contents: Mapping[str, bytes], failures: dict[str, str], facts: dict[str, Any]) -> Run:
    """The findings back from the contents of files."""
    return Run(study, predictions_file.decode(contents), failures, facts)


def rows_digest(findings: Run) -> str:
    """The sha256 over the names of all points and, split by split, of the documents that each decided on."""
    predictions, digest = findings.predictions, hashlib.sha256()
    for place in sorted(str(tuple(key)) for key in (*predictions.settings, *predictions.measured)):
        digest.update(f"{place}\n".encode())
    for key, splits in predictions.splits.items():
        documents = predictions.tasks[key.of_task]
        for split in splits:
            digest.update("\0".join(map(str, (*key, split.name))).encode())
            digest.update("\0".join(documents.ids[row] for row in split.test).encode())
            digest.update(np.ascontiguousarray(documents.truth[split.test]).tobytes())
    return digest.hexdigest()


def described(findings: Run) -> dict[str, Any]:
    """What the manifest says of the methods, the splits, what was chosen, ties, and what its measures took."""
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
        **({"plugins": plugins} if (plugins := record_of(study)) else {}),
        "protocol": {name: variant.protocol.resolved for name, variant in study.variants.items()},
        "splits": {
            _words(place): {s.name: {"train": int(s.trained.sum()), "test": len(s.test)} for s in splits}
            for place, splits in predictions.splits.items()
        },
        "cells": cells,
        "seeds": {"experiment": study.seed},
        "timings": {
            _words((variant, name)): each.timings
            for name, variant, each in told(study.measures, predictions)
            if each.timings
        },
    }


def _words(place: Iterable[str | int | None]) -> str:
    return "-".join(str(word) for word in place if word not in ("", None))


def _method(spec: MethodSpec) -> dict[str, Any]:
    parts = {"kernel": spec.kernel, "classifier": spec.classifier}
    resolved: dict[str, Any] = {name: None if part is None else part.resolved for name, part in parts.items()}
    resolved |= {"threshold": spec.threshold} if spec.threshold != "zero" else {}
    return {**({"text": spec.text.flat} if spec.text else {}), **spec.representation.resolved, **resolved}
