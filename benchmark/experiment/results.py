"""Predictions are the result: one row a cell, fold and test document, written to disk and read back.

Everything else a run shows (scores, tests, tables, figures, verdicts) is computed from a `Results` alone.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.config import Experiment, config_from_mapping
from benchmark.errors import BenchError, DataError
from benchmark.evaluation.metrics import Outcome
from benchmark.report.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.experiment.runner import VariantRun

PREDICTIONS = "predictions.csv.gz"
MANIFEST = "manifest.json"
COLUMNS = ["cell", "fold", "document", "truth", "predicted", "tie"]


@dataclass(frozen=True, eq=False)
class Results:
    """What a run found out.

    Parameters
    ----------
    experiment : Experiment
    predictions : DataFrame
        Columns `COLUMNS`: names of cell, fold, document and classes; `tie` is 1 where the first place was shared.
    failures : dict of str to str
        Reason by cell id.
    facts : dict of str to dict
        Of each variant: documents, vocabulary, folds, classes.
    """

    experiment: Experiment
    predictions: pd.DataFrame
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]

    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of every cell that didn't fail; the same code stands for the same document and class in all."""
        table = self.predictions
        documents = pd.factorize(table["document"])[0]
        variants = self.experiment.variants.values()
        classes = list(dict.fromkeys(name for variant in variants for name in variant.classes))
        truth = pd.Categorical(table["truth"], categories=classes).codes.astype(np.intp)
        predicted = pd.Categorical(table["predicted"], categories=classes).codes.astype(np.intp)
        folds = pd.factorize(table["fold"])[0]
        rows_of = table.groupby("cell", sort=False, observed=True).indices
        found = {}
        for cell in self.experiment.cells:
            if cell.id in rows_of:
                rows: NDArray[np.intp] = np.sort(rows_of[cell.id])
                found[cell.id] = Outcome(
                    cell.id, documents[rows], folds[rows], truth[rows], predicted[rows], len(classes)
                )
        return found

    def fold_names(self) -> list[str]:
        """Names of the folds, in the order of an outcome's fold numbers."""
        return [str(name) for name in pd.factorize(self.predictions["fold"])[1]]

    def ties(self) -> dict[tuple[str, str], int]:
        """How many documents shared the first place, by cell and fold."""
        grouped = self.predictions.groupby(["cell", "fold"], sort=False, observed=True)["tie"].sum()
        return {(str(key[0]), str(key[1])): int(n) for key, n in zip(grouped.index, grouped, strict=True)}


def gather(experiment: Experiment, runs: dict[str, VariantRun]) -> Results:
    """Put the predictions of all cells into one table, in the order of the configuration."""
    pieces = []
    failures = {cell: reason for run in runs.values() for cell, reason in run.failures.items()}
    for cell in experiment.cells:
        run = runs[cell.variant]
        if cell.id in failures or cell.id not in run.predictions:
            continue
        ids, classes = np.array(run.documents.ids, dtype=object), np.array(run.documents.classes, dtype=object)
        for split in run.splits:
            fold = run.predictions[cell.id][split.name]
            columns = {
                "cell": cell.id,
                "fold": split.name,
                "document": ids[split.test],
                "truth": classes[run.documents.labels[split.test]],
                "predicted": classes[fold.predicted],
                "tie": fold.tied.astype(np.int64),
            }
            pieces.append(pd.DataFrame(columns))
    table = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=COLUMNS)
    return Results(experiment, table, failures, {name: run.facts for name, run in runs.items()})


def write_results(results: Results, manifest: dict[str, Any], folder: Path) -> None:
    """Write predictions and manifest; the predictions' bytes depend on nothing but the predictions.

    The manifest names the predictions by their digest: a run that is stopped between the two files leaves a pair that
    `read_results` refuses, not one run's predictions under another's description.
    """
    # Names are quoted always: WebKB has some that end in a carriage return.
    text = results.predictions.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0, compresslevel=6) as file:
        file.write(text.encode())
    write_whole(folder / PREDICTIONS, packed.getvalue())
    manifest = {**manifest, "predictions": hashlib.sha256(packed.getvalue()).hexdigest()}
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


def read_results(folder: Path) -> Results:
    """Read a finished run back.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    DataError
        If its files are damaged.
    """
    manifest = read_manifest(folder)
    path = folder / PREDICTIONS
    try:
        packed = path.read_bytes()
        table = pd.read_csv(io.BytesIO(gzip.decompress(packed)), dtype=str, keep_default_na=False)
        table["tie"] = table["tie"].astype(np.int64)
    except FileNotFoundError:
        raise BenchError(f"{folder}: is not the folder of a finished run ({PREDICTIONS} is missing)") from None
    except (OSError, EOFError, ValueError, KeyError, zlib.error) as error:
        raise DataError(f"{path}: can't be read ({error}); run the configuration again") from None
    if hashlib.sha256(packed).hexdigest() != manifest["predictions"]:
        raise DataError(f"{path}: are not the predictions that {MANIFEST} belongs to; run the configuration again")
    if list(table.columns) != COLUMNS:
        raise DataError(f"{path}: has the columns {', '.join(table.columns)}, not {', '.join(COLUMNS)}")
    experiment = config_from_mapping(manifest["config"], f"{folder.name}/{MANIFEST}")
    return Results(experiment, table, dict(manifest["failures"]), dict(manifest["variants"]))
