"""Regression check: compare a run's main scores with its pinned ones, in both directions.

Those of a shipped configuration are `results/pinned/<config>.csv`, those of any other lie in `pinned/` beside it.
A run on a public test set is compared with `results/predictions/<config>.parquet`, too, document by document.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.analysis.agreement import agreements
from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.formatting.table import Table
from benchmark.analysis.summary import HEADLINE_FOLD
from benchmark.evaluation.public_test_sets import (
    PREDICTIONS_FOLDER,
    encode_labels,
    public_set_of_configuration,
    read_labels,
)
from benchmark.experiment.configuration import load_all_checked
from benchmark.report.escapes import csv_unescape
from benchmark.report.writers import frame_csv
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.shipped_files import (
    CONFIGS_FOLDER,
    SHIPPED,
    find_configuration,
    find_shipped,
    path_to_write,
    shipped_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.experiment.run import RunResult

PINNED = SHIPPED / "results" / "pinned"
PINNED_SCORE_COLUMNS = ("cell", "fold", "metric", "value", "n", "ties")
PINNED_VERDICT_COLUMNS = ("cell", "metric", "reading", "published", "verdict")
_NUMBERS = ("value", "n", "ties")
#: Columns of deviations: a cell and its split, or its metric; the pinned and the present value as text, and the largest
#: difference that ties and rounding can cause.
DEVIATION_COLUMNS = ("cell", "fold or metric", "pinned", "found", "allowed")
#: Scores are written with 12 digits.
_ROUNDING = 1e-11
_MISSING = "missing"


def pinned_configs() -> list[str]:
    """Return the names of the configurations with pinned numbers."""
    return [path.stem for path in shipped_files(PINNED, "*.csv") if not path.stem.endswith("-verdicts")]


def experiments_to_check(paths: Sequence[Path] | None, *, pinning: bool) -> dict[str, tuple[Experiment, Path]]:
    """Return the configurations to check, by name, with the folder of their pinned numbers.

    They are those at `paths`, by default all that are shipped with pinned numbers. The numbers of a user's
    configuration are in the folder `pinned` beside it.

    Raises
    ------
    ConfigError
        If one has no pinned numbers, and `pinning` is false.
    """
    paths = paths or [find_configuration(Path(name)) for name in pinned_configs()]
    shipped = CONFIGS_FOLDER.resolve()
    folders = [PINNED if path.resolve().parent == shipped else path.parent / "pinned" for path in paths]
    found = {each.name: (each, at) for each, at in zip(load_all_checked(paths), folders, strict=True)}
    unpinned = [name for name, (_, at) in found.items() if not find_shipped(at, f"{name}.csv").exists()]
    if unpinned and not pinning:
        remedy = "`bench check CONFIG --update` pins the current scores of a configuration"
        raise ConfigError(f"nothing is pinned for {', '.join(unpinned)}; {remedy}")
    return found


def pin(summary: Summary, folder: Path | None = None) -> None:
    """Write a run's main scores and verdicts as pinned numbers; BenchError if cells failed."""
    if summary.failures:
        raise BenchError(f"{summary.name}: is not pinned, since cells failed: {', '.join(summary.failures)}")
    scores = frame_csv(_main_scores(summary), PINNED_SCORE_COLUMNS)
    verdicts = frame_csv(summary.verdicts, PINNED_VERDICT_COLUMNS)
    for ending, text in (("", scores), ("-verdicts", verdicts)):
        write_atomically(path_to_write(folder or PINNED, f"{summary.name}{ending}.csv"), text.encode())


def pin_predictions(run: RunPredictions, version: str, folder: Path | None = None) -> Path | None:
    """Write the labels that a run predicts on a public test set.

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
        The file; None for a configuration whose predictions aren't shipped.
    """
    name = run.experiment.name
    if public_set_of_configuration(name) is None:
        return None
    path = path_to_write(folder or PREDICTIONS_FOLDER, f"{name}.parquet")
    task, facts = next(iter(run.predictions.tasks.values())), next(iter(run.facts.values()))
    write_atomically(path, encode_labels(label_frame(run), task.classes, facts["content_digest"], version))
    return path


def deviations(done: RunResult, folder: Path | None = None) -> Table:
    """Return the differences of a run from its pinned numbers and shipped labels, without rows if there are none.

    A score may differ by what ties can change (each tied document changes one fold's accuracy by 1/n) and by rounding.
    A better score is a difference, too. A verdict may not differ, nor a label that no tie decided.

    Raises
    ------
    BenchError
        If nothing is pinned for this configuration.
    """
    folder, summary = folder or PINNED, done.summary
    pinned = _read(find_shipped(folder, f"{summary.name}.csv"), PINNED_SCORE_COLUMNS)
    verdicts = _read(find_shipped(folder, f"{summary.name}-verdicts.csv"), PINNED_VERDICT_COLUMNS)
    rows = [*_score_deviations(pinned, _main_scores(summary)), *_verdict_deviations(verdicts, summary.verdicts)]
    return Table.of("", DEVIATION_COLUMNS, [*rows, *label_deviations(done.results)])


def _main_scores(summary: Summary) -> pd.DataFrame:
    return summary.scores[summary.scores["metric"] == summary.main_metric]


def _score_deviations(pinned: pd.DataFrame, scores: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the scores that differ by more than ties and rounding can change."""
    share, whole = pinned["ties"] / pinned["n"], pinned["fold"] == HEADLINE_FOLD
    of_folds = share[~whole].groupby(pinned["cell"]).mean()
    pinned = pinned.assign(allowed=share.where(~whole, pinned["cell"].map(of_folds)) + _ROUNDING)
    both = pinned.merge(scores, "outer", on=["cell", "fold"], suffixes=("", "_now"))
    # NaN counts as a difference.
    same = ((both["value"] - both["value_now"]).abs() <= both["allowed"]) & (both["n"] == both["n_now"])
    for row in both[~same].to_dict("records"):
        old, new = (
            _MISSING if pd.isna(row[n]) else f"{row[name]:.6f}" for n, name in (("n", "value"), ("n_now", "value_now"))
        )
        allowed = 0.0 if _MISSING in (old, new) else row["allowed"]
        yield row["cell"], row["fold"], old, new, f"{allowed:.6f}"


def _verdict_deviations(pinned: pd.DataFrame, verdicts: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the verdicts that differ; a published value may also have one for another reading of the paper."""
    key = ["cell", "metric", "reading"]
    tables = (each[[*key, "verdict"]].fillna("").astype(str) for each in (pinned, verdicts))
    was, now = (each.drop_duplicates(key, keep="last").set_index(key)["verdict"] for each in tables)
    both = pd.DataFrame({"was": was, "now": now}).fillna(_MISSING).reset_index()
    for row in both[both["was"] != both["now"]].to_dict("records"):
        what = f"{row['metric']}, {row['reading']} reading" if row["reading"] else row["metric"]
        yield row["cell"], what, row["was"], row["now"], f"{0:.6f}"


def label_deviations(run: RunPredictions, folder: Path | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a run whose labels differ from the shipped ones; nothing where none are shipped.

    A document whose prediction was a tie may differ.
    """
    if public_set_of_configuration(run.experiment.name) is None:
        return
    labels = read_labels(run.experiment.name, folder)
    for cell, row in agreements(labels, label_frame(run, ties=False)).iterrows():
        if changed := row["different"] + row["second"]:
            yield str(cell), "labels", f"{len(labels):,} documents", f"{changed:,} otherwise", f"{0:.6f}"


def check_line(summary: Summary, table: Table, pinned_to: Path | None = None) -> str:
    """Return a line that says whether or where the numbers are pinned, and the number of verdicts of each kind."""
    counts = summary.verdicts["verdict"].value_counts().sort_index()
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "nothing published"
    state = "differs from what is pinned" if table.rows else "as pinned"
    if pinned_to is not None:
        state = f"pinned in {pinned_to}"
    return f"{summary.name}: {state}; against the paper: {verdicts}"


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """Read a table of pinned numbers; BenchError if it is missing or damaged."""
    try:
        gaps = {name: [""] for name in columns if name in _NUMBERS}
        # The name of a class may be "NA" or a number.
        names = {name: csv_unescape for name in columns if name not in _NUMBERS}
        return pd.read_csv(path, usecols=list(columns), converters=names, na_values=gaps, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: can't be read: {error}") from None
