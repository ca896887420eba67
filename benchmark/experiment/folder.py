"""Write and read a run folder: predictions, seconds and memory, and a manifest of the experiment and its data.

All else that a run shows (scores, tests, tables, figures, verdicts) is computed from these files alone. None of them
may be changed by hand: the manifest holds the digest of each, and its own.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from benchmark.checks import own_digest
from benchmark.config.data import experiment_of_data
from benchmark.environment import write_whole
from benchmark.errors import BenchError, ConfigError, DataError, quoted
from benchmark.evaluation.predictions import ESTIMATES, PREDICTIONS, RECORD
from benchmark.findings.notes import measure_notes
from benchmark.findings.papers import published_for
from benchmark.findings.predictions_file import decode, decode_record, encode, encode_record
from benchmark.findings.recorded import recorded_of
from benchmark.findings.scoring import Run
from benchmark.findings.summary import printed_numbers
from benchmark.plugins.records import PluginRecord  # noqa: TC001 - pydantic asks for it

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.config.model import Experiment

#: The format of a run's folder. 1: predictions.npz and timings.csv, of version 0.1. 2: Parquet files.
FORMAT = 2
_OF_FORMAT_1 = frozenset({"predictions.npz", "timings.csv"})
MANIFEST = "manifest.json"
DAMAGED = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile)
_AGAIN = "run the configuration again"


class _ReadAgain(BaseModel):
    """The fields of a manifest that the program reads; the others are for people."""

    model_config = ConfigDict(strict=True)
    config: dict[str, Any]
    experiment: dict[str, Any]
    cells: dict[str, dict[str, Any]]
    measures: list[str]
    only: list[str] = []
    failures: dict[str, str]
    variants: dict[str, dict[str, Any]]
    rows: str
    files: dict[Literal[*RECORD], str]  # type: ignore[valid-type]
    digest: str
    plugins: list[PluginRecord] = []


def write_results(findings: Run, manifest: dict[str, Any], folder: Path) -> None:
    """Write predictions, times and manifest.

    The manifest names the others by their digests: a run that is stopped between two files leaves some that
    `read_results` refuses, not one run's predictions under another's description.
    """
    study, printed = findings.study, printed_numbers(published_for(findings.study), findings.study)
    notes = measure_notes(findings, printed)
    recorded = recorded_of(study, findings.predictions, findings.scored, notes)
    contents = encode(findings.predictions) | {ESTIMATES: encode_record(recorded)}
    for name, content in contents.items():
        write_whole(folder / name, content)
    for name in _OF_FORMAT_1 - contents.keys():
        (folder / name).unlink(missing_ok=True)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = {"format": FORMAT, **manifest, "measures": list(notes), "rows": _rows_digest(findings), "files": digests}
    manifest["digest"] = own_digest(manifest)
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def ensure_free(folder: Path, study: Experiment) -> None:
    """Refuse a folder with anything but a run of the same experiment; a part may not replace the whole run."""
    names = sorted(path.name for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []
    if _OF_FORMAT_1.union(RECORD).issuperset(names):  # empty, or left by a run that was stopped before its manifest
        return
    held = _held(folder / MANIFEST) if MANIFEST in names else {}
    if held is None and PREDICTIONS in names:
        return
    if not held or "name" not in held:
        holds = f"files that no run wrote ({', '.join(names[:3])}{', …' * (len(names) > 3)})"
    elif held["name"] != study.name:
        holds = f"the run of {quoted(held['name'])}"
    elif held.get("only", []) != list(study.only) and study.only:
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
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({MANIFEST} is missing)") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: can't be read ({error}); {_AGAIN}") from None
    _check_format(path, manifest)
    try:
        _ReadAgain.model_validate(manifest)
    except ValidationError:
        raise DataError(f"{path}: is not a manifest of this program; {_AGAIN}") from None
    if manifest["digest"] != own_digest(manifest):
        raise DataError(f"{path}: was changed after the run; {_AGAIN}")
    return dict(manifest)


def _check_format(path: Path, manifest: Any) -> None:
    """Raise DataError for the manifest of a version that wrote another format."""
    if not isinstance(manifest, dict):
        return
    kind = manifest.get("format", 1 if {"config", "files", "digest"} <= manifest.keys() else FORMAT)
    if kind == FORMAT:
        return
    versions = manifest.get("versions")
    writer = versions.get("simplexbench", "another version") if isinstance(versions, dict) else "another version"
    does = _AGAIN if isinstance(kind, int) and kind < FORMAT else f"read it with {writer} or later, or {_AGAIN}"
    raise DataError(f"{path}: is of format {kind!r}, of simplexbench {writer}; this version reads {FORMAT}: {does}")


def read_results(folder: Path) -> Run:
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
        study = experiment_of_data(manifest["experiment"], manifest["config"])
    except ValueError as error:
        raise DataError(f"{folder / MANIFEST}: its experiment can't be read ({error}); {_AGAIN}") from None
    contents = {name: _content(folder, name, digest) for name, digest in manifest["files"].items()}
    try:
        predictions = decode(contents)
        chosen = {name: np.array(own["chosen"], np.intp) for name, own in manifest["cells"].items() if "chosen" in own}
        recorded = decode_record(contents[ESTIMATES], chosen, tuple(manifest["measures"]))
        findings = Run(study, predictions, manifest["failures"], manifest["variants"], recorded=recorded)
    except DAMAGED as error:
        raise DataError(f"{folder}: its predictions can't be read ({error}); {_AGAIN}") from None
    if _rows_digest(findings) != manifest["rows"]:
        raise DataError(f"{folder}: its predictions aren't of the documents and cells that {MANIFEST} names; {_AGAIN}")
    return findings


def _rows_digest(findings: Run) -> str:
    """Return the sha256 of the names of all settings and, split by split, of the test documents and their labels."""
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


@contextmanager
def computed_from(folder: Path) -> Iterator[None]:
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
        raise DataError(f"{path}: is damaged, or not what {MANIFEST} belongs to; {_AGAIN}")
    return content
