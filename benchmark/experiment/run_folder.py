"""Write and read a run folder: predictions, seconds and memory, and a manifest of the experiment and its data.

All else that a run shows (scores, tests, tables, figures, verdicts) is computed from these files alone. None of them
may be changed by hand: the manifest holds the digest of each, and its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from benchmark.analysis.figures import published_by_cell
from benchmark.analysis.notes import diagnostic_notes
from benchmark.analysis.predictions_file import decode_predictions, encode_predictions
from benchmark.analysis.recorded import decode_estimates, encode_estimates, record_numbers
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.config.experiment_data import experiment_from_data
from benchmark.config.subset import settings_of_cell
from benchmark.evaluation.predictions import (
    ARCHIVED_FILES,
    ESTIMATES_TABLE,
    PREDICTIONS_TABLE,
    RECORDS_ARCHIVE,
    RUN_FILES,
)
from benchmark.papers.load import published_of_experiment
from benchmark.plugins.records import PluginRecord  # noqa: TC001 - pydantic asks for it
from benchmark.system.atomic_files import write_atomically
from benchmark.system.checks import digest_without_itself, json_bytes
from benchmark.system.errors import BenchError, ConfigError, DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.config.model import Experiment

#: The format of a run's folder. 1: predictions.npz and timings.csv, of version 0.1. 2: Parquet files. 3: settings
#: have the counts of inner folds, and the warnings of classifiers. 4: an archive has what isn't a prediction or a time.
#: 5: several classes of a document are one text.
RUN_FORMAT = 5
_OF_FORMAT_1 = frozenset({"predictions.npz", "timings.csv"})
#: Files that runs of former formats wrote, and that a run which takes the place of one removes.
_FORMER_FILES = frozenset({*_OF_FORMAT_1, *ARCHIVED_FILES})
_FORMER_FILES |= {f"{name}.csv" for name in SUMMARY_TABLES.keys() - {"scores", "significance", "verdicts"}}
MANIFEST_FILE = "manifest.json"
DAMAGE_ERRORS = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile, pa.ArrowException)
_AGAIN = "run the configuration again"


class _ReadAgain(BaseModel):
    """The fields of a manifest that the program reads; the others are for people."""

    model_config = ConfigDict(strict=True)
    config: dict[str, Any]
    experiment: dict[str, Any]
    cells: dict[str, dict[str, Any]]
    diagnostic_notes: list[str]
    only: list[str] = []
    stored: list[str] = []
    failures: dict[str, str]
    variants: dict[str, dict[str, Any]]
    rows: str
    files: dict[Literal[*RUN_FILES], str]  # type: ignore[valid-type]
    digest: str
    plugins: list[PluginRecord] = []


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
    former = _OF_FORMAT_1 if _format_of(_held(folder / MANIFEST_FILE) or {}) == RUN_FORMAT else _FORMER_FILES
    for name, content in contents.items():
        write_atomically(folder / name, content)
    for name in former:
        (folder / name).unlink(missing_ok=True)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = {
        "format": RUN_FORMAT,
        **manifest,
        "diagnostic_notes": list(notes),
        "rows": _rows_digest(run),
        "files": digests,
    }
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
    if _OF_FORMAT_1.union(RUN_FILES).issuperset(names):  # empty, or left by a run that was stopped before its manifest
        return
    held = _held(folder / MANIFEST_FILE) if MANIFEST_FILE in names else {}
    if held is None and PREDICTIONS_TABLE in names:
        return
    if not held or "name" not in held:
        holds = f"files that no run wrote ({', '.join(names[:3])}{', …' * (len(names) > 3)})"
    elif held["name"] != experiment.name:
        holds = f"the run of {quote_value(held['name'])}"
    elif held.get("only", []) != list(experiment.only) and experiment.only:
        cells = held.get("only")
        holds = f"the run of {', '.join(map(str, cells))}" if isinstance(cells, list) else "the whole run"
    else:
        return
    raise ConfigError(f"{folder}: holds {holds}; name another folder with --out, or add --overwrite")


def _held(path: Path) -> dict[str, Any] | None:
    """Return the JSON mapping of a manifest file, unchecked ({} if it is no mapping); None if it can't be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else {}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If the manifest is damaged or was changed.
    """
    path = folder / MANIFEST_FILE
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({MANIFEST_FILE} is missing)") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: can't be read ({error}); {_AGAIN}") from None
    _check_format(path, manifest)
    try:
        _ReadAgain.model_validate(manifest)
    except ValidationError:
        raise DataError(f"{path}: is not a manifest of this program; {_AGAIN}") from None
    if manifest["digest"] != digest_without_itself(manifest):
        raise DataError(f"{path}: was changed after the run; {_AGAIN}")
    return dict(manifest)


def _format_of(manifest: Mapping[str, Any]) -> Any:
    """Return the format of a manifest, which those of format 1 don't state; the present one of what is no manifest."""
    return manifest.get("format", 1 if {"config", "files", "digest"} <= manifest.keys() else RUN_FORMAT)


def _check_format(path: Path, manifest: Any) -> None:
    """Raise DataError for the manifest of a version that wrote another format."""
    if not isinstance(manifest, dict):
        return
    kind = _format_of(manifest)
    if kind == RUN_FORMAT:
        return
    versions = manifest.get("versions")
    writer = versions.get("simplexbench", "another version") if isinstance(versions, dict) else "another version"
    does = _AGAIN if isinstance(kind, int) and kind < RUN_FORMAT else f"read it with {writer} or later, or {_AGAIN}"
    raise DataError(f"{path}: is of format {kind!r}, of simplexbench {writer}; this version reads {RUN_FORMAT}: {does}")


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
    try:
        experiment = experiment_from_data(manifest["experiment"], manifest["config"])
    except ValueError as error:
        raise DataError(f"{folder / MANIFEST_FILE}: its experiment can't be read ({error}); {_AGAIN}") from None
    contents = {name: _content(folder, name, digest) for name, digest in manifest["files"].items()}
    try:
        with zipfile.ZipFile(io.BytesIO(contents.pop(RECORDS_ARCHIVE))) as archive:
            contents |= {name: archive.read(name) for name in ARCHIVED_FILES}
        predictions = decode_predictions(contents)
        chosen = {name: np.array(own["chosen"], np.intp) for name, own in manifest["cells"].items() if "chosen" in own}
        recorded = decode_estimates(contents[ESTIMATES_TABLE], chosen, tuple(manifest["diagnostic_notes"]))
        taken = [cell for cell in experiment.cells if cell.id in set(manifest.get("stored", ()))]
        stored = {key for cell in taken for key in settings_of_cell(experiment, cell)}
        told = manifest["failures"], manifest["variants"]
        run = RunPredictions(experiment, predictions, *told, stored=stored, recorded=recorded)
    except DAMAGE_ERRORS as error:
        raise DataError(f"{folder}: its predictions can't be read ({error}); {_AGAIN}") from None
    if _rows_digest(run) != manifest["rows"]:
        raise DataError(
            f"{folder}: its predictions aren't of the documents and cells that {MANIFEST_FILE} names; {_AGAIN}"
        )
    return run


def _rows_digest(run: RunPredictions) -> str:
    """Return the sha256 of the names of all settings and, split by split, of the test documents and their labels."""
    predictions, digest = run.predictions, hashlib.sha256()
    for place in sorted(str(tuple(key)) for key in (*predictions.settings, *predictions.diagnostics)):
        digest.update(f"{place}\n".encode())
    for key, splits in predictions.splits.items():
        documents = predictions.tasks[key.of_task]
        for split in splits:
            digest.update("\0".join(map(str, (*key, split.name))).encode())
            digest.update("\0".join(documents.ids[row] for row in split.test).encode())
            digest.update(np.ascontiguousarray(documents.truth[split.test]).tobytes())
    return digest.hexdigest()


@contextmanager
def report_damage(folder: Path) -> Iterator[None]:
    """Report in one line an error from arrays whose digests are right but whose shapes don't fit each other.

    Use it around computations on a folder that was read, never on a run, where our own errors need their traceback.
    """
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        problem = f"its predictions don't fit each other ({type(error).__name__}: {error})"
        raise DataError(f"{folder}: {problem}; {_AGAIN}") from error


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
