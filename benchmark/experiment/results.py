"""The predictions of a table: one row a cell, fold and test document; to a file's content, and back."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.evaluation.metrics import Outcome
from benchmark.experiment.runner import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config import Experiment
    from benchmark.observer import Observer
    from benchmark.experiment.runner import VariantRun
    from benchmark.experiment.store import Store

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


def run_table(
    experiment: Experiment,
    store: Store,
    *,
    jobs: int = 1,
    observer: Observer | None = None,
    download: bool = True,
) -> Results:
    """Compute every cell of a table and gather the predictions."""
    return gather(experiment, run(experiment, store, jobs=jobs, observer=observer, download=download))


def encode(results: Results) -> bytes:
    """The predictions as gzipped CSV; the bytes depend on nothing but the predictions."""
    # Names are quoted always: WebKB has some that end in a carriage return.
    text = results.predictions.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0, compresslevel=6) as file:
        file.write(text.encode())
    return packed.getvalue()


def decode(experiment: Experiment, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> Results:
    """The predictions back from a file's content.

    Raises
    ------
    OSError, EOFError, ValueError, KeyError, zlib.error
        If the content is damaged.
    """
    table = pd.read_csv(io.BytesIO(gzip.decompress(content)), dtype=str, keep_default_na=False)
    table["tie"] = table["tie"].astype(np.int64)
    if list(table.columns) != COLUMNS:
        raise ValueError(f"has the columns {', '.join(table.columns)}, not {', '.join(COLUMNS)}")
    return Results(experiment, table, failures, facts)


def described(results: Results) -> dict[str, Any]:
    """What the manifest says of a table: its cells with their ties, and its protocol."""
    experiment, ties = results.experiment, results.ties()
    return {
        "cells": {
            cell.id: {
                "variant": cell.variant,
                "weighting": cell.weighting,
                "normalization": cell.normalization,
                "kernel": cell.kernel.resolved,
                "classifier": cell.classifier.resolved,
                "ties": {fold: n for (name, fold), n in ties.items() if name == cell.id},
            }
            for cell in experiment.cells
        },
        "protocol": experiment.protocol.resolved,
        "seeds": {"bootstrap": experiment.seed},
    }
