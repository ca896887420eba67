"""Write and read a run folder: predictions, seconds and memory, and a manifest of the experiment and its data.

All else that a run shows (scores, tests, tables, figures, verdicts) is computed from these files alone. None of them
may be changed by hand: the manifest holds the digest of each, and its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.figures import published_by_cell
from benchmark.analysis.notes import diagnostic_notes
from benchmark.analysis.predictions_file import decode_predictions, encode_predictions
from benchmark.analysis.recorded import decode_estimates, encode_estimates, record_numbers
from benchmark.analysis.scoring import RunPredictions
from benchmark.config.experiment_data import experiment_from_data
from benchmark.config.subset import settings_of_cell
from benchmark.evaluation.predictions import (
    ARCHIVED_FILES,
    ESTIMATES_TABLE,
    RECORDS_ARCHIVE,
    RUN_FILES,
)
from benchmark.papers.load import published_of_experiment
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import BenchError, ConfigError, DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmark.config.model import Experiment

#: The format of a run's folder; others are refused in a line.
RUN_FORMAT = 5
MANIFEST_FILE = "manifest.json"
_AGAIN = "run the configuration again"


def write_run(run: RunPredictions, manifest: dict[str, Any], folder: Path) -> None:
    """Write predictions, times and manifest.

    The manifest names the others by their digests: a run that is stopped between two files leaves some that
    `read_run` refuses, not one run's predictions under another's description.
    """
    published = published_by_cell(published_of_experiment(run.experiment), run.experiment)
    notes = diagnostic_notes(run, published)
    recorded = record_numbers(run.experiment, run.scored, run.diagnostics, notes)
    contents = encode_predictions(run.predictions) | {ESTIMATES_TABLE: encode_estimates(recorded)}
    contents[RECORDS_ARCHIVE] = _archive({name: contents.pop(name) for name in ARCHIVED_FILES})
    for name, content in contents.items():
        write_atomically(folder / name, content)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = {"format": RUN_FORMAT, **manifest, "diagnostic_notes": list(notes), "files": digests}
    manifest["digest"] = digest_without_itself(manifest)
    write_atomically(folder / MANIFEST_FILE, json_bytes(manifest))


def _archive(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of files that are compressed already; equal files give equal bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def check_folder_free(folder: Path, experiment: Experiment) -> None:
    """Refuse a folder with anything but a run of the same experiment; a part may not replace the whole run."""
    names = sorted(path.name for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []
    if set(RUN_FILES).issuperset(names):  # empty, or left by a run that was stopped before its manifest
        return
    held = _held(folder / MANIFEST_FILE)
    if "name" not in held:
        holds = f"files that no run wrote ({', '.join(names[:3])}{', …' * (len(names) > 3)})"
    elif held["name"] != experiment.name:
        holds = f"the run of {quote_value(held['name'])}"
    elif held.get("only", []) != list(experiment.only) and experiment.only:
        cells = held.get("only")
        holds = f"the run of {', '.join(map(str, cells))}" if isinstance(cells, list) else "the whole run"
    else:
        return
    raise ConfigError(f"{folder}: holds {holds}; name another folder with --out, or add --overwrite")


def _held(path: Path) -> dict[str, Any]:
    """Return what a manifest holds, unchecked; {} if it can't be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


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
    contents = {name: _content(folder, name, digest) for name, digest in manifest["files"].items()}
    with zipfile.ZipFile(io.BytesIO(contents.pop(RECORDS_ARCHIVE))) as archive:
        contents |= {name: archive.read(name) for name in ARCHIVED_FILES}
    chosen = {name: np.array(own["chosen"], np.intp) for name, own in manifest["cells"].items() if "chosen" in own}
    recorded = decode_estimates(contents[ESTIMATES_TABLE], chosen, tuple(manifest["diagnostic_notes"]))
    taken = [cell for cell in experiment.cells if cell.id in set(manifest["stored"])]
    stored = {key for cell in taken for key in settings_of_cell(experiment, cell)}
    told = manifest["failures"], manifest["variants"]
    return RunPredictions(experiment, decode_predictions(contents), *told, stored=stored, recorded=recorded)


def _content(folder: Path, name: str, digest: str) -> bytes:
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({name} is missing)") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read ({error}); {_AGAIN}") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise DataError(f"{path}: is damaged, or not what {MANIFEST_FILE} belongs to; {_AGAIN}")
    return content
