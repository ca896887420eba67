"""Predictions are the result: a run's folder holds them, and a manifest of what was run on what.

Everything else a run shows (scores, tests, tables, figures, verdicts) is computed from these two files alone.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from benchmark.errors import BenchError, DataError
from benchmark.experiment.kinds import decode, encode, study_from_mapping
from benchmark.report.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.experiment.kinds import Findings

MANIFEST, PREDICTIONS = "manifest.json", "predictions.npz"
DAMAGED = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile)


def write_results(findings: Findings, manifest: dict[str, Any], folder: Path) -> None:
    """Write predictions and manifest.

    The manifest names the predictions by their digest: a run that is stopped between the two files leaves a pair that
    `read_results` refuses, not one run's predictions under another's description.
    """
    content = encode(findings)
    write_whole(folder / PREDICTIONS, content)
    manifest = {**manifest, "predictions": hashlib.sha256(content).hexdigest()}
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run's folder."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({MANIFEST} is missing)") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: can't be read ({error}); run the configuration again") from None
    if not isinstance(manifest, dict) or not manifest.keys() >= {"config", "failures", "variants", "predictions"}:
        raise DataError(f"{path}: is not a manifest of this program; run the configuration again")
    return manifest


def read_results(folder: Path) -> Findings:
    """Read a finished run back.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If its files are damaged.
    """
    manifest = read_manifest(folder)
    study = study_from_mapping(manifest["config"], f"{folder.name}/{MANIFEST}")
    path = folder / PREDICTIONS
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({PREDICTIONS} is missing)") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read ({error}); run the configuration again") from None
    if hashlib.sha256(content).hexdigest() != manifest["predictions"]:
        problem = f"are damaged, or not the predictions that {MANIFEST} belongs to"
        raise DataError(f"{path}: {problem}; run the configuration again")
    try:
        return decode(study, content, dict(manifest["failures"]), dict(manifest["variants"]))
    except DAMAGED as error:
        raise DataError(f"{path}: can't be read ({error}); run the configuration again") from None
