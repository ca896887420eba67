"""Write and read a run folder: predictions, seconds and memory, and a manifest of the experiment and its data.

All else that a run shows (scores, tests, tables, figures, verdicts) is computed from these files alone. None of them
may be changed by hand: the manifest holds the digest of each, and its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis import predictions_file
from benchmark.analysis.notes import diagnostic_notes
from benchmark.analysis.scoring import RunPredictions
from benchmark.config.cells import settings_of_cell
from benchmark.config.experiment_data import experiment_from_data, experiment_to_data
from benchmark.diagnostics.base import DiagnosticNumbers
from benchmark.evaluation.outcomes import ALL_SPLITS
from benchmark.evaluation.predictions import ARCHIVED_FILES, ESTIMATES_TABLE, RECORDS_ARCHIVE, RUN_FILES
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import BenchError, ConfigError, DataError, quote_value
from benchmark.system.shipped_files import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmark.config.model import Experiment

#: The format of a run's folder; others are refused in a line.
RUN_FORMAT = 6
MANIFEST_FILE = "manifest.json"
_AGAIN = "run the configuration again"
_LIBRARIES = ("simplexbench", "numpy", "scipy", "scikit-learn", "libsvm-official", "numba", "pandas")


def write_run(run: RunPredictions, manifest: dict[str, Any], folder: Path) -> None:
    """Write predictions, times and manifest.

    The manifest names the others by their digests: a run that is stopped between two files leaves some that
    `read_run` refuses, not one run's predictions under another's description.
    """
    contents = predictions_file.encode_predictions(run.predictions)
    contents[ESTIMATES_TABLE] = predictions_file.encode_estimates(
        predictions_file.plugin_estimates(run.experiment, run.scored), run.diagnostics
    )
    records = io.BytesIO()
    with zipfile.ZipFile(records, "w") as archive:  # of files that are compressed already; equal files give equal bytes
        for name in ARCHIVED_FILES:
            archive.writestr(zipfile.ZipInfo(name), contents.pop(name))
    contents[RECORDS_ARCHIVE] = records.getvalue()
    for name, content in contents.items():
        write_atomically(folder / name, content)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = {"format": RUN_FORMAT, **manifest, "diagnostic_notes": list(diagnostic_notes(run)), "files": digests}
    manifest["digest"] = digest_without_itself(manifest)
    write_atomically(folder / MANIFEST_FILE, json_bytes(manifest))


def check_folder_free(folder: Path, experiment: Experiment) -> None:
    """Refuse a folder with anything but a run of the same experiment; a part may not replace the whole run."""
    names = sorted(path.name for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []
    try:
        found = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        name, cells = found["name"], found.get("only", [])
        if name == experiment.name and (not experiment.only or cells == list(experiment.only)):
            return
        holds = f"the run of {quote_value(name)} ({', '.join(map(str, cells)) or 'all cells'})"
    except (OSError, ValueError, LookupError, TypeError):
        if set(RUN_FILES).issuperset(names):  # empty, or left by a run that was stopped before its manifest
            return
        holds = f"files that no run wrote ({', '.join(names[:3])})"
    raise ConfigError(f"{folder}: holds {holds}; name another folder with --out, or add --overwrite")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If the manifest is damaged or was changed, or is of another format.
    """
    path = folder / MANIFEST_FILE
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({MANIFEST_FILE} is missing)") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: can't be read ({error}); {_AGAIN}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != RUN_FORMAT:
        raise DataError(f"{path}: is no manifest of format {RUN_FORMAT}, which this version reads; {_AGAIN}")
    if manifest.get("digest") != digest_without_itself(manifest):
        raise DataError(f"{path}: was changed after the run; {_AGAIN}")
    return manifest


def read_run(folder: Path) -> RunPredictions:
    """Read a finished run.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If its files are damaged or were replaced.
    """
    manifest = read_manifest(folder)
    experiment = experiment_from_data(manifest["experiment"], manifest["config"])
    contents = {name: _content(folder / name, digest) for name, digest in manifest["files"].items()}
    with zipfile.ZipFile(io.BytesIO(contents.pop(RECORDS_ARCHIVE))) as archive:
        contents |= {name: archive.read(name) for name in ARCHIVED_FILES}
    cells, taken = manifest["cells"].items(), set(manifest["stored"])
    chosen = {name: np.array(facts["chosen"], np.intp) for name, facts in cells if "chosen" in facts}
    estimates, measured = predictions_file.decode_estimates(contents[ESTIMATES_TABLE])
    notes = DiagnosticNumbers(notes=tuple(manifest["diagnostic_notes"]))  # of all diagnostics together
    diagnostics = (*measured, ("", "", notes))
    stored = {key for cell in experiment.cells if cell.id in taken for key in settings_of_cell(experiment, cell)}
    predictions, failures, facts = (
        predictions_file.decode_predictions(contents),
        manifest["failures"],
        manifest["variants"],
    )
    return RunPredictions(experiment, predictions, failures, facts, 1, stored, diagnostics, chosen, estimates)


def _content(path: Path, digest: str) -> bytes:
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise DataError(f"{path}: is damaged, missing, or not what {MANIFEST_FILE} belongs to; {_AGAIN}")
    return content


# --- The manifest ---


def manifest_of(run: RunPredictions, *, jobs: int, seconds: float) -> dict[str, Any]:
    """Describe a run as plain data; the only place of a run's folder that holds times, paths and versions."""
    experiment, known = run.experiment, run.experiment.registries
    plugins = [
        {"kind": kind, "name": name, "file": str(plugin.file or ""), "digest": plugin.digest}
        for kind, registry in known.each()
        for name, plugin in registry.origins.items()
    ]
    return {
        "name": experiment.name,
        "config": experiment.raw,
        **({"only": list(experiment.only)} if experiment.only else {}),
        **({"plugins": plugins} if plugins else {}),
        "cells": _cells(run),
        "stored": list(run.stored_cells),
        "variants": run.facts,
        "failures": run.failures,
        "experiment": experiment_to_data(experiment),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "machine": {"system": platform.platform(), "processors": os.cpu_count(), "threads": jobs},
        "git": _git(),
        "command": [os.path.basename(sys.argv[0]), *sys.argv[1:]],  # noqa: PTH119 - text, not a file
        "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),  # noqa: UP017
        "seconds": round(seconds, 2),
    }


def _cells(run: RunPredictions) -> dict[str, dict[str, Any]]:
    """Return the ties of each cell, and the candidate that it chose on each split."""
    whole = run.scored.frame[run.scored.frame["fold"] == ALL_SPLITS]
    cells = {name: {"ties": int(n)} for name, n in zip(whole["cell"], whole["ties"], strict=True)}
    chosen = {cell.id: run.scored.chosen.get(cell.id) for cell in run.experiment.cells if cell.choice}
    return cells | {name: {**cells[name], "chosen": each.tolist()} for name, each in chosen.items() if each is not None}


def configuration_of_run(manifest: Mapping[str, Any]) -> str:
    """Return the configuration of a run as its command named it, or else the name of the experiment."""
    name, words = str(manifest["name"]), [str(word) for word in manifest.get("command", [])]
    files = [word for word in words if word.endswith(".yaml")]
    return next((word for word in files if word.endswith(f"{name}.yaml")), files[0] if len(files) == 1 else name)


def manifest_differences(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return (dotted key, value in a, value in b) where two manifests differ, except in times and commands."""
    ignored = ("finished", "seconds", "stored", "command", "name", "digest", "experiment", "files")
    flat_a, flat_b = _flat(a), _flat(b)
    both = dict.fromkeys([*flat_a, *flat_b])
    keys = [key for key in both if key.split(".")[0] not in ignored]
    return [(key, flat_a.get(key), flat_b.get(key)) for key in keys if flat_a.get(key) != flat_b.get(key)]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {prefix: value}
    parts = [_flat(item, f"{prefix}.{key}" if prefix else str(key)) for key, item in value.items()]
    return {key: item for part in parts for key, item in part.items()}


def _git() -> dict[str, Any]:
    """Return the commit of this project's checkout and whether files have changed since; {} without a checkout."""
    if CHECKOUT is None or not (CHECKOUT / ".git").exists():
        return {}
    command = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"commit": said.removesuffix("-dirty"), "changed": said.endswith("-dirty")}
