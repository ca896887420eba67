"""Comparisons of finished runs, which need no training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.agreement import compare_two_cells, compare_two_runs, pair_summary
from benchmark.analysis.formatting.table import Table
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.experiment.run_folder import manifest_differences, read_manifest, read_run
from benchmark.papers.settings import setting_text
from benchmark.system.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell

#: Parts of a manifest that follow from the settings, or are numbers of the run.
_OF_RUNS = ("cells", "rows", "files", "diagnostic_notes")


def known_cell(run: RunPredictions, name: str, *, predicted: bool = False) -> Cell:
    """Return a cell of a run; ConfigError if there is none of this name, or, if `predicted`, it has no predictions."""
    cell = next((each for each in run.experiment.cells if each.id == name), None)
    if cell is None:
        raise ConfigError(unknown_name("cell", name, run.experiment.ids))
    if predicted and name not in run.scored.chosen:
        why = run.failures.get(name, "it is computed from other cells")
        raise ConfigError(f"the cell {name!r} has no predictions: {why}")
    return cell


def compare_cells_of_folder(folder: Path, a: str, b: str) -> tuple[str, list[Table]]:
    """Compare two cells of a run: return the finding, and their scores and all valid tests of the difference."""
    results = read_run(folder)
    if a == b:
        raise ConfigError(f"a comparison names two different cells, not {a!r} twice")
    for name in (a, b):
        known_cell(results, name)
    tables = compare_two_cells(results, a, b)
    finding = main_finding(pair_summary(results, a, b))
    return " ".join([f"{finding.headline}.", *finding.details]), tables


def compare_run_folders(folder: Path, other: Path, names: tuple[str, str] = ("", "")) -> tuple[str, list[Table], bool]:
    """Compare two runs, by the names of their folders unless given.

    Returns
    -------
    sentence : str
        How far they agree.
    tables : list of Table
        The scores of the cells that both have, and the settings that differ.
    equal : bool
        Whether no prediction differs, and neither run has one that the other lacks.
    """
    manifests = read_manifest(folder), read_manifest(other)
    names = names[0] or folder.name, names[1] or other.name
    sentence, scores, equal = compare_two_runs(read_run(folder), read_run(other), names)
    return sentence, [scores, _settings_table(*manifests, names)], equal


def _settings_table(one: dict[str, Any], two: dict[str, Any], names: tuple[str, str]) -> Table:
    """Return the settings that differ, the first 60 characters of each, without the numbers of the runs."""
    rows = [
        (key, *("absent" if value is None else f"{setting_text(value):.60}" for value in values))
        for key, *values in manifest_differences(one, two)
        if key.split(".")[0] not in _OF_RUNS and ".near_duplicates." not in key
    ]
    return Table.of("Settings that differ", ("setting", *names), rows)
