"""A run that is computed again from its folder alone, and a receipt of what was equal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import main_metric
from benchmark.analysis.formatting.terminal_table import TerminalTable
from benchmark.analysis.formatting.units import display_unit, metric_with_unit
from benchmark.analysis.run_comparisons import CellAgreement, cell_agreements
from benchmark.commands.compare import manifest_table
from benchmark.experiment.configuration import experiment_of_manifest, select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.manifest import manifest_differences
from benchmark.experiment.run import RUNS_FOLDER, run_and_write, run_folders
from benchmark.experiment.run_folder import MANIFEST_FILE, read_manifest, read_run, report_damage
from benchmark.experiment.store import Store
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.threads import n_processors

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.system.observer import Observer

RECEIPT_FILE, RECEIPT_FORMAT = "receipt.json", 1
#: What a receipt repeats of both manifests.
_ENVIRONMENT = ("finished", "seconds", "versions", "machine", "git", "direct_url", "digest")


@dataclass(frozen=True, eq=False)
class Receipt:
    """What was equal and what differed when a run was computed again.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Folder of the second run.
    cells : tuple of CellAgreement
        Agreement of the predictions and scores of each cell.
    manifests : tuple of (dict, dict)
        Manifests of the first and the second run.
    """

    experiment: Experiment
    folder: Path
    cells: tuple[CellAgreement, ...]
    manifests: tuple[dict[str, Any], dict[str, Any]]

    @property
    def equal(self) -> bool:
        """Whether no prediction differs, and neither run has one that the other lacks."""
        return not any(each.other_predictions for each in self.cells)

    @property
    def data(self) -> dict[str, Any]:
        """The receipt as JSON has it."""
        first, second = ({key: own[key] for key in _ENVIRONMENT if key in own} for own in self.manifests)
        differences = manifest_differences(*self.manifests)
        return {
            "format": RECEIPT_FORMAT,
            "name": self.experiment.name,
            "predictions_equal": self.equal,
            "numbers_equal": not any(each.other_numbers for each in self.cells),
            "run": first,
            "rerun": second,
            "cells": [asdict(each) for each in self.cells],
            "manifest_differences": [{"key": key, "run": a, "rerun": b} for key, a, b in differences],
        }

    @property
    def tables(self) -> list[TerminalTable]:
        """The differences of the manifests, and the agreement of each cell."""
        metric, declared = main_metric(self.experiment), self.experiment.quantities
        unit = display_unit(metric, declared)
        score = metric_with_unit(metric, unit, declared)
        header = ("cell", "predictions", "differ", "numbers", "unequal", f"{score} then", "now")
        rows = [
            (
                *(each.cell, f"{each.predictions:,}", f"{each.other_predictions:,}"),
                *(f"{each.numbers:,}", f"{each.other_numbers:,}", *map(unit.text, each.values)),
            )
            for each in self.cells
        ]
        return [manifest_table(*self.manifests, ("then", "now")), TerminalTable("Cells", header, rows, "none")]

    @property
    def sentence(self) -> str:
        """The receipt in one sentence."""
        counts = [
            _count(
                "prediction",
                sum(each.predictions for each in self.cells),
                [each.other_predictions for each in self.cells],
            ),
            _count("number", sum(each.numbers for each in self.cells), [each.other_numbers for each in self.cells]),
        ]
        return f"{self.experiment.name}, computed again: {', '.join(counts)}; receipt in {self.folder / RECEIPT_FILE}"


def _count(what: str, of: int, differ: list[int]) -> str:
    """Return how many of the predictions or numbers differ, and in how many cells."""
    cells = sum(bool(each) for each in differ)
    where = f" in {cells} cell{'s' * (cells != 1)}" if cells else ""
    return f"{sum(differ):,} of {of:,} {what}s differ{where}" if cells else f"all {of:,} {what}s equal"


def rerun_folder(
    folder: Path,
    out: Path | None,
    observer: Observer,
    *,
    overwrite: bool = False,
    jobs: int = 0,
    download: bool = True,
) -> Receipt:
    """Compute a run again from its folder alone, write the new run with a receipt, and return the receipt.

    Nothing is taken from the store, whose results could be those of the first run. Workers that the configuration
    names are not used.

    Parameters
    ----------
    folder : Path
        Folder of a finished run.
    out : Path or None
        Folder of the new run; by default `results/runs/<folder>-rerun`.
    observer : Observer
    overwrite : bool
        Whether to write to a folder that holds anything but an earlier rerun of the same run.
    jobs : int
        Number of threads; 0 uses all processors.
    download : bool
        Whether to download a corpus that isn't there.

    Raises
    ------
    BenchError
        If the folder holds no finished run.
    ConfigError
        If this version refuses the configuration, a plug-in has gone, or the new folder holds something else.
    DataError
        If the folder is damaged or of another format, or the corpus has gone or fails its checks.
    """
    first = read_run(folder)
    manifest = read_manifest(folder)
    experiment = select_cells(experiment_of_manifest(manifest, folder), manifest.get("only", ()))
    # The paths of plug-ins are absolute here, and would be a difference; other processes have another store.
    experiment = replace(experiment, raw=manifest["config"], parallel=None)
    target = out or RUNS_FOLDER / f"{folder.resolve().name}-rerun"
    _check_target(target, folder, overwrite=overwrite)
    run_folders([experiment], target, overwrite=overwrite)
    ensure_numba_cache(observer.note)
    observer.expect([len(experiment.ids)])
    observer.begin(experiment.name)
    with TemporaryDirectory(prefix="bench-rerun-") as empty:
        store = Store(empty, warn=observer.note)
        run_and_write(experiment, RunContext(store, observer, jobs or n_processors(), download), target)
    observer.now("comparing both runs")
    with report_damage(folder):
        cells = tuple(cell_agreements(first, read_run(target)))
    receipt = Receipt(experiment, target, cells, (manifest, read_manifest(target)))
    text = json.dumps(receipt.data, indent=2, ensure_ascii=False) + "\n"
    write_atomically(target / RECEIPT_FILE, text.encode())
    return receipt


def _check_target(target: Path, folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder with a run that isn't a rerun: it may be the only copy of what is to be compared."""
    if target.resolve() == folder.resolve():
        raise ConfigError(f"{target}: holds the run that would be computed again; name another folder with --out")
    if (target / MANIFEST_FILE).exists() and not (target / RECEIPT_FILE).exists() and not overwrite:
        raise ConfigError(f"{target}: holds a run; name another folder with --out, or add --overwrite")
