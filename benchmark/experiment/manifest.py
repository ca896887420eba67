"""The manifest of a run: all that is needed to run it again and to see why two runs differ."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.config.experiment_data import experiment_to_data
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.predictions import TIMINGS_TABLE
from benchmark.plugins.records import plugin_records
from benchmark.system.shipped_files import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import MethodSpec

_LIBRARIES = ("simplexbench", "numpy", "scipy", "scikit-learn", "libsvm-official", "numba", "pandas")


def manifest_of(run: RunPredictions, *, jobs: int, seconds: float) -> dict[str, Any]:
    """Describe a run as plain data; the only place of a run's folder that holds times, paths and versions."""
    experiment = run.experiment
    return {
        "name": experiment.name,
        "config": experiment.raw,
        **({"only": list(experiment.only)} if experiment.only else {}),
        **_described(run),
        "variants": run.facts,
        "failures": run.failures,
        "experiment": experiment_to_data(experiment),
        "versions": library_versions(),
        "machine": {"system": platform.platform(), "processors": os.cpu_count(), "threads": jobs},
        **_code_origin(),
        "command": [os.path.basename(sys.argv[0]), *sys.argv[1:]],  # noqa: PTH119 - text, not a file
        "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),  # noqa: UP017
        "seconds": round(seconds, 2),
    }


def _described(run: RunPredictions) -> dict[str, Any]:
    """Return the manifest's methods, splits, chosen candidates, ties, and seconds of diagnostics."""
    experiment, predictions, scored = run.experiment, run.predictions, run.scored
    whole = scored.frame[scored.frame["fold"] == ALL_SPLITS]
    cells: dict[str, dict[str, Any]] = {
        name: {"ties": int(ties)} for name, ties in zip(whole["cell"], whole["ties"], strict=True)
    }
    for cell in experiment.cells:
        if cell.choice and cell.id in scored.chosen:
            cells[cell.id]["chosen"] = [int(index) for index in scored.chosen[cell.id]]
    return {
        "methods": {
            name: {entry.label: [_method(spec) for spec in entry.candidates] for entry in variant.entries}
            for name, variant in experiment.variants.items()
        },
        **({"plugins": plugins} if (plugins := plugin_records(experiment)) else {}),
        "protocol": {name: variant.protocol.resolved for name, variant in experiment.variants.items()},
        "splits": {
            _joined(place): {s.name: {"train": int(s.trained.sum()), "test": len(s.test)} for s in splits}
            for place, splits in predictions.splits.items()
        },
        "cells": cells,
        "stored": list(run.stored_cells),
        "seeds": {"experiment": experiment.seed},
        "timings": {_joined((variant, name)): each.timings for name, variant, each in run.diagnostics if each.timings},
    }


def _joined(place: Iterable[str | int | None]) -> str:
    return "-".join(str(word) for word in place if word not in ("", None))


def _method(spec: MethodSpec) -> dict[str, Any]:
    parts = {"kernel": spec.kernel, "classifier": spec.classifier}
    resolved: dict[str, Any] = {name: None if part is None else part.resolved for name, part in parts.items()}
    resolved |= {"threshold": spec.threshold.plain} if spec.threshold else {}
    return {**({"text": spec.text.flat} if spec.text else {}), **spec.representation.resolved, **resolved}


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


def configuration_of_run(manifest: Mapping[str, Any]) -> str:
    """Return the configuration of a run as its command named it, or else the name of the experiment."""
    name, words = str(manifest["name"]), [str(word) for word in manifest.get("command", [])]
    files = [word for word in words if word.endswith(".yaml")]
    return next((word for word in files if word.endswith(f"{name}.yaml")), files[0] if len(files) == 1 else name)


def manifest_differences(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return (dotted key, value in a, value in b) where two manifests differ, except in times and commands."""
    ignored = ("finished", "seconds", "timings", "stored", "command", "name", "digest", "experiment")
    flat_a, flat_b = _flat(a), _flat(b)
    both = dict.fromkeys([*flat_a, *flat_b])
    keys = [key for key in both if key.split(".")[0] not in ignored and key != f"files.{TIMINGS_TABLE}"]
    return [(key, flat_a.get(key), flat_b.get(key)) for key in keys if flat_a.get(key) != flat_b.get(key)]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = value[0] if len(value) == 1 else dict(enumerate(value))
    if not isinstance(value, dict):
        return {prefix: value}
    found: dict[str, Any] = {}
    for key, item in value.items():
        found |= _flat(item, f"{prefix}.{key}" if prefix else str(key))
    return found


def _code_origin() -> dict[str, Any]:
    """Return the commit of the checkout and whether it has uncommitted changes, as `git`.

    Without a checkout of this project `git` is empty, whatever repository surrounds the package, and `direct_url` is
    what the installer recorded of the package's origin (PEP 610), if it did.
    """
    try:
        if CHECKOUT is not None and Path(_git_says(CHECKOUT, "rev-parse", "--show-toplevel")).resolve() == CHECKOUT:
            changed = bool(_git_says(CHECKOUT, "status", "--porcelain", "--untracked-files=no"))
            return {"git": {"commit": _git_says(CHECKOUT, "rev-parse", "HEAD"), "changed": changed}}
    except (OSError, subprocess.SubprocessError):
        pass
    recorded = distribution("simplexbench").read_text("direct_url.json")
    return {"git": {}, **({"direct_url": json.loads(recorded)} if recorded else {})}


def _git_says(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()
