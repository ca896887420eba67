"""Regression check: compare a run's main scores with `results/pinned/<config>.csv`, in both directions.

A run on a public test set is compared with `results/predictions/<test set>.parquet`, too, document by document.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from benchmark.analysis.agreement import agreement, predicted_classes
from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.evaluation.public_test_sets import (
    DOCUMENT_COLUMNS,
    PREDICTIONS_FOLDER,
    ShippedPredictions,
    encode_shipped,
    load_shipped,
    public_set_of_configuration,
)
from benchmark.experiment.configuration import load_all_checked
from benchmark.report.escapes import csv_unescape
from benchmark.report.writers import frame_csv
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError
from benchmark.system.shipped_files import SHIPPED, find_configuration, find_shipped, path_to_write, shipped_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment

PINNED = SHIPPED / "results" / "pinned"
PINNED_SCORE_COLUMNS = ("cell", "fold", "metric", "value", "n", "ties")
PINNED_VERDICT_COLUMNS = ("cell", "metric", "reading", "published", "verdict")
_NUMBERS = ("value", "n", "ties")
#: Names of the columns of deviations.
DEVIATION_COLUMNS = ("cell", "fold or metric", "pinned", "found", "allowed")
#: Scores are written with 12 digits.
_ROUNDING = 1e-11


class Deviation(NamedTuple):
    """Number that differs from the pinned one.

    Parameters
    ----------
    cell, fold : str
        Cell and fold of a score, or cell and metric of a verdict.
    pinned, found : str
        Pinned and current value as text: a score, a verdict, or "missing".
    allowed : str
        Largest difference that ties and rounding can cause.
    """

    cell: str
    fold: str
    pinned: str
    found: str
    allowed: str = "0.000000"


def pinned_configs(folder: Path | None = None) -> list[str]:
    """Return the names of the configurations with pinned numbers."""
    folder = folder or PINNED
    return [path.stem for path in shipped_files(folder, "*.csv") if not path.stem.endswith("-verdicts")]


def experiments_to_check(paths: Sequence[Path] | None, *, pinning: bool) -> list[Experiment]:
    """Return the configurations to check: those at `paths`, by default all with pinned numbers.

    Raises
    ------
    BenchError
        If there is none, or one has no pinned numbers and `pinning` is false.
    """
    names = pinned_configs()
    experiments = load_all_checked(paths or [find_configuration(Path(name)) for name in names])
    unpinned = [] if pinning else [experiment.name for experiment in experiments if experiment.name not in names]
    if unpinned or not experiments:
        problem = f"nothing is pinned{' for ' if unpinned else ''}{', '.join(unpinned)}"
        raise BenchError(f"{problem}; `bench check CONFIG --update` pins the current scores of a configuration")
    return experiments


def pin(summary: Summary, folder: Path | None = None) -> list[Path]:
    """Write a run's main scores and verdicts as pinned numbers and return the files; BenchError if cells failed."""
    if summary.failures:
        raise BenchError(f"{summary.name}: is not pinned, since cells failed: {', '.join(summary.failures)}")
    scores = summary.scores[summary.scores["metric"] == summary.main_metric]
    folder = folder or PINNED
    paths = [path_to_write(folder, f"{summary.name}{part}.csv") for part in ("", "-verdicts")]
    write_atomically(paths[0], frame_csv(scores, PINNED_SCORE_COLUMNS).encode())
    write_atomically(paths[1], frame_csv(summary.verdicts, PINNED_VERDICT_COLUMNS).encode())
    return paths


def pin_predictions(run: RunPredictions, version: str, folder: Path | None = None) -> Path | None:
    """Write the labels that a run predicts on a public test set beside those of its other configurations.

    Parameters
    ----------
    run : RunPredictions
    version : str
        Version that computed them.
    folder : Path, optional
        Folder of the files; by default `PREDICTIONS_FOLDER`.

    Returns
    -------
    Path or None
        The file of the test set; None for a configuration whose predictions aren't shipped.

    Raises
    ------
    BenchError
        If cells have no predictions, or the other configurations tested other documents.
    """
    name, folder = run.experiment.name, folder or PREDICTIONS_FOLDER
    test_set = public_set_of_configuration(name)
    if test_set is None:
        return None
    new = label_frame(run)
    if run.failures or run.experiment.only or not len(new):
        raise BenchError(f"{name}: its predictions aren't written, since cells are missing")
    path = path_to_write(folder, f"{test_set.name}.parquet")
    task, facts = next(iter(run.predictions.tasks.values())), next(iter(run.facts.values()))
    known = load_shipped(test_set.name, folder) if find_shipped(folder, path.name).exists() else None
    cells, versions = dict[str, str](), dict[str, str]()
    if known is not None:
        kept = [cell for cell, of in known.cells.items() if of != name]
        new = new.rename(columns={cell: f"{name}-{cell}" for cell in new if cell in kept})
        others = known.frame[[*DOCUMENT_COLUMNS, *kept]]
        frame = others.merge(new, on=list(DOCUMENT_COLUMNS), validate="one_to_one")
        if not len(frame) == len(others) == len(new) or known.classes != task.classes:
            raise BenchError(f"{name}: its documents or classes don't go with those of {path}; remove that file")
        cells, versions, new = {cell: known.cells[cell] for cell in kept}, dict(known.versions), frame
    cells |= {cell: name for cell in new.columns if cell not in (*DOCUMENT_COLUMNS, *cells)}
    versions[name] = version
    cells = {cell: of for each in test_set.configurations for cell, of in cells.items() if of == each}
    shipped = ShippedPredictions(
        test_set, new[[*DOCUMENT_COLUMNS, *cells]], task.classes, facts["content_digest"], cells, versions
    )
    write_atomically(path, encode_shipped(shipped))
    return path


def prediction_deviations(run: RunPredictions, folder: Path | None = None) -> list[Deviation]:
    """Return the cells of a run whose labels differ from the shipped ones; nothing where none are shipped.

    A document whose prediction was a tie may differ.
    """
    test_set = public_set_of_configuration(run.experiment.name)
    if test_set is None:
        return []
    shipped, found = load_shipped(test_set.name, folder), list[Deviation]()
    for cell in run.experiment.cells:
        column = shipped.column(run.experiment.name, cell.id)
        if column is None:
            found.append(Deviation(cell.id, "labels", "missing", "predicted"))
            continue
        pinned = shipped.predicted(shipped.frame[column])
        predicted = predicted_classes(run, cell, ties=False)
        agreed = agreement(pinned, predicted)
        if changed := len(agreed.differing) + len(predicted) - agreed.shared:
            found.append(Deviation(cell.id, "labels", f"{len(pinned):,} documents", f"{changed:,} otherwise"))
    return found


def deviations(summary: Summary, folder: Path | None = None) -> list[Deviation]:
    """Return the differences of a run from its pinned numbers, empty if there are none.

    A score may differ by what ties can change (each tied document changes one fold's accuracy by 1/n) and by rounding.
    A better score is a difference, too. A verdict may not differ.

    Raises
    ------
    BenchError
        If nothing is pinned for this configuration.
    """
    folder = folder or PINNED
    pinned = _read(find_shipped(folder, f"{summary.name}.csv"), summary.name, PINNED_SCORE_COLUMNS)
    scores = summary.scores[summary.scores["metric"] == summary.main_metric]
    was, now = ({(r["cell"], r["fold"]): r for r in table.to_dict("records")} for table in (pinned, scores))
    ties, found = {key: row["ties"] / row["n"] for key, row in was.items()}, list[Deviation]()
    for cell, fold in dict.fromkeys([*was, *now]):
        before, after = was.get((cell, fold)), now.get((cell, fold))
        allowed = 0.0
        if before and after:
            of_folds = [share for key, share in ties.items() if key[0] == cell and key[1] != HEADLINE_FOLD]
            allowed = (fmean(of_folds) if fold == HEADLINE_FOLD else ties[cell, fold]) + _ROUNDING
            if abs(before["value"] - after["value"]) <= allowed and before["n"] == after["n"]:
                continue  # NaN counts as a difference
        old, new = ("missing" if row is None else f"{row['value']:.6f}" for row in (before, after))
        found.append(Deviation(cell, fold, old, new, f"{allowed:.6f}"))
    path = find_shipped(folder, f"{summary.name}-verdicts.csv")
    tables = _read(path, summary.name, PINNED_VERDICT_COLUMNS), summary.verdicts
    rows = (table[["cell", "metric", "reading", "verdict"]].fillna("").astype(str).to_numpy() for table in tables)
    verdicts = [{(cell, metric, reading): verdict for cell, metric, reading, verdict in each} for each in rows]
    for of in dict.fromkeys([*verdicts[0], *verdicts[1]]):
        before, after = (each.get(of, "missing") for each in verdicts)
        cell, metric, reading = of  # a published value may also have a verdict for another reading
        what = f"{metric}, {reading} reading" if reading else metric
        found += [Deviation(cell, what, before, after)] if before != after else []
    return found


def check_line(summary: Summary, found: Sequence[Deviation]) -> str:
    """Return a line that says whether the numbers are as pinned, and the number of verdicts of each kind."""
    counts = summary.verdicts["verdict"].value_counts().sort_index()
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "nothing published"
    state = "differs from what is pinned" if found else "as pinned"
    return f"{summary.name}: {state}; against the paper: {verdicts}"


def _read(path: Path, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Read a table of pinned numbers; BenchError if it is missing or damaged."""
    try:
        gaps = {name: [""] for name in columns if name in _NUMBERS}
        # The name of a class may be "NA" or a number.
        names = {name: csv_unescape for name in columns if name not in _NUMBERS}
        return pd.read_csv(path, usecols=list(columns), converters=names, na_values=gaps, keep_default_na=False)
    except FileNotFoundError:
        problem = f"nothing is pinned for {name!r}: {path.name} is missing; `bench check --update` writes it"
        raise BenchError(problem) from None
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: can't be read: {error}") from None
