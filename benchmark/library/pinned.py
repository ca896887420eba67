"""Our own numbers, guarded: a run's main scores against `results/pinned/<config>.csv`, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.corpora.card import REPOSITORY
from benchmark.environment import write_whole
from benchmark.errors import BenchError
from benchmark.experiment.session import all_checked
from benchmark.report.contents import HEADLINE
from benchmark.report.escapes import csv_original
from benchmark.report.grids import main_metric
from benchmark.report.numbers import is_missing
from benchmark.report.tables import frame_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Experiment
    from benchmark.report.contents import Summary

PINNED = REPOSITORY / "results" / "pinned"
SCORES = ("cell", "fold", "metric", "value", "n", "ties")
VERDICTS = ("cell", "metric", "reading", "published", "verdict")
_NUMBERS = ("value", "n", "ties")
#: Of a table of what `shown` gives.
COLUMNS = ("cell", "fold or metric", "pinned", "found", "allowed")
#: Scores are written with 12 digits.
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Deviation:
    """A number that is not what it was.

    Parameters
    ----------
    cell, fold : str
    pinned, found : str
        As text: a score, a verdict, or "missing".
    allowed : float
        What ties and rounding may move a score by.
    """

    cell: str
    fold: str
    pinned: str
    found: str
    allowed: float = 0.0


def pinned_configs(folder: Path | None = None) -> list[str]:
    """Names of the configurations that are guarded."""
    folder = folder or PINNED
    return sorted(path.stem for path in folder.glob("*.csv") if not path.stem.endswith("-verdicts"))


def guarded(paths: Sequence[Path] | None, *, pinning: bool) -> list[Experiment]:
    """The configurations to check, all that are pinned unless told; refused before any work where none is pinned.

    Raises
    ------
    BenchError
        If there is none, or numbers are missing that no one is about to pin.
    """
    names = pinned_configs()
    studies = all_checked(paths or [Path("configs") / f"{name}.yaml" for name in names])
    unpinned = [] if pinning else [study.name for study in studies if study.name not in names]
    if unpinned or not studies:
        problem = f"nothing is pinned{' for ' if unpinned else ''}{', '.join(unpinned)}"
        raise BenchError(f"{problem}; `bench check CONFIG --pin` pins what a configuration gives now")
    return studies


def pin(summary: Summary, folder: Path | None = None) -> list[Path]:
    """Write a run's main scores and verdicts as the numbers to guard; BenchError where cells failed."""
    if summary.failures:
        raise BenchError(f"{summary.name}: is not pinned, since cells failed: {', '.join(summary.failures)}")
    scores = summary.scores[summary.scores["metric"] == main_metric(summary)]
    folder = folder or PINNED
    paths = [folder / f"{summary.name}.csv", folder / f"{summary.name}-verdicts.csv"]
    write_whole(paths[0], frame_csv(scores, SCORES).encode())
    write_whole(paths[1], frame_csv(summary.verdicts, VERDICTS).encode())
    return paths


def deviations(summary: Summary, folder: Path | None = None) -> list[Deviation]:
    """Compare a run with what is pinned; empty where every number is what it was.

    A score may move by what its ties can (each tied document changes one fold's accuracy by 1/n) and by rounding; a
    better score is a change, too. A verdict may not move.

    Raises
    ------
    BenchError
        If nothing is pinned for this configuration.
    """
    folder = folder or PINNED
    return _score_deviations(summary, folder) + _verdict_deviations(summary, folder)


def in_a_line(summary: Summary, found: Sequence[Deviation]) -> str:
    """What a check comes to: whether the numbers are as pinned, and how many verdicts of each kind there are."""
    counts = summary.verdicts["verdict"].value_counts().sort_index()
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "nothing published"
    state = "differs from what is pinned" if found else "as pinned"
    return f"{summary.name}: {state}; against the paper: {verdicts}"


def shown(deviation: Deviation) -> tuple[str, ...]:
    """A row under `COLUMNS`."""
    return deviation.cell, deviation.fold, deviation.pinned, deviation.found, f"{deviation.allowed:.6f}"


def _score_deviations(summary: Summary, folder: Path) -> list[Deviation]:
    pinned = _read(folder / f"{summary.name}.csv", summary.name, SCORES).set_index(["cell", "fold"])
    scores = summary.scores[summary.scores["metric"] == main_metric(summary)].set_index(["cell", "fold"])
    found = []
    for cell, fold in dict.fromkeys([*pinned.index, *scores.index]):
        if (cell, fold) not in pinned.index:
            found.append(Deviation(cell, fold, "missing", f"{scores.loc[(cell, fold), 'value']:.6f}"))
        elif (cell, fold) not in scores.index:
            found.append(Deviation(cell, fold, f"{float(pinned.loc[(cell, fold), 'value']):.6f}", "missing"))
        else:
            allowed = _allowed(pinned, cell, fold)
            was, now = float(pinned.loc[(cell, fold), "value"]), float(scores.loc[(cell, fold), "value"])
            same_documents = int(pinned.loc[(cell, fold), "n"]) == int(scores.loc[(cell, fold), "n"])
            if not abs(was - now) <= allowed or not same_documents:  # a number that is missing isn't one that holds
                found.append(Deviation(cell, fold, f"{was:.6f}", f"{now:.6f}", allowed))
    return found


def _allowed(pinned: pd.DataFrame, cell: str, fold: str) -> float:
    own = pinned.loc[[cell]]
    folds = own.drop(index=HEADLINE, level="fold") if fold == HEADLINE else own.loc[[(cell, fold)]]
    return float((folds["ties"] / folds["n"]).mean()) + _ROUNDING


def _verdict_deviations(summary: Summary, folder: Path) -> list[Deviation]:
    pinned = _read(folder / f"{summary.name}-verdicts.csv", summary.name, VERDICTS)
    was, now = _verdicts(pinned), _verdicts(summary.verdicts)
    found = []
    for key in dict.fromkeys([*was, *now]):
        cell, metric, reading = key
        if was.get(key) != now.get(key):
            what = f"{metric}, {reading} reading" if reading else metric
            found.append(Deviation(cell, what, was.get(key, "missing"), now.get(key, "missing")))
    return found


def _verdicts(table: pd.DataFrame) -> dict[tuple[str, str, str], str]:
    """By cell, metric and reading: a number may be judged as it is printed, and once more in another reading."""
    readings = ("" if is_missing(reading) else str(reading) for reading in table["reading"])
    rows = zip(table["cell"], table["metric"], readings, table["verdict"], strict=True)
    return {(str(cell), str(metric), reading): str(verdict) for cell, metric, reading, verdict in rows}


def _read(path: Path, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
    try:
        gaps = {name: [""] for name in columns if name in _NUMBERS}
        # A class may be named "NA", or by digits.
        names = {name: csv_original for name in columns if name not in _NUMBERS}
        return pd.read_csv(path, usecols=list(columns), converters=names, na_values=gaps, keep_default_na=False)
    except FileNotFoundError:
        problem = f"nothing is pinned for {name!r}: {path.name} is missing; `bench check --pin` writes it"
        raise BenchError(problem) from None
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: can't be read: {error}") from None
