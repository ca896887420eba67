"""Order of cells by their main score, how each compares with the baseline, and mean ranks of methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import main_metric, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.evaluation.metrics import more_is_better

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.analysis.summary import CellInfo, Summary
    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

#: Minimal number of samples and of methods that have mean ranks; fewer are compared in pairs.
MIN_SAMPLES_AND_METHODS = 3
#: What a row is to the baseline of its cells, if it isn't one of the outcomes "better" and "worse".
BASELINE, NOT_SHOWN, NOT_COMPARED = "baseline", "no clear difference", "not compared with it"


@dataclass(frozen=True)
class Ranking:
    """Order of the cells by their main score, and how each compares with a baseline.

    Scores are put in one order only where the cells have the same variant, task, class, choice, size and terms.

    Parameters
    ----------
    order : tuple of str
        Ids of the cells, the best of each setting first.
    baselines : mapping of str to str
        Baseline by cell, for cells of settings that have one: the cell that planned comparisons are made with.
    outcomes : mapping of str to str
        "better", "worse", `BASELINE`, `NOT_SHOWN` or `NOT_COMPARED` by cell, for the same cells.
    """

    order: tuple[str, ...]
    baselines: Mapping[str, str]
    outcomes: Mapping[str, str]


def ranked_cells(summary: Summary) -> tuple[str, ...]:
    """Return the ids of the cells, the best of each setting first."""
    sign = -1 if summary.more_is_better(summary.main_metric) else 1

    def key(cell: str) -> tuple[bool, float]:
        value = summary.headlines.get((cell, summary.main_metric), {}).get("value", math.nan)
        return is_missing(value), 0.0 if is_missing(value) else sign * value

    return tuple(cell for cells in _settings(summary).values() for cell in sorted(cells, key=key))


def ranking(summary: Summary) -> Ranking:
    """Return the ranking of the cells of a summary."""
    settings = _settings(summary)
    baselines, outcomes = dict[str, str](), dict[str, str]()
    first: dict[tuple[object, ...], str] = {}
    pairs = [pair for pair in planned_comparisons(summary) if _setting(pair.a) == _setting(pair.b)]
    for pair in pairs:
        first.setdefault(_setting(pair.a), pair.b.id)
    for setting, base in first.items():
        baselines |= dict.fromkeys(settings[setting], base)
        outcomes |= dict.fromkeys(settings[setting], NOT_COMPARED) | {base: BASELINE}
    for pair in pairs:
        base = first[_setting(pair.a)]
        if base in (pair.a.id, pair.b.id):
            other = pair.a.id if base == pair.b.id else pair.b.id
            outcomes[other] = NOT_SHOWN if pair.better is None else pair.outcome_for(other)
    return Ranking(ranked_cells(summary), baselines, outcomes)


def _settings(summary: Summary) -> dict[tuple[object, ...], list[str]]:
    """Return the ids of the cells by what their scores can be ordered by."""
    settings: dict[tuple[object, ...], list[str]] = {}
    for cell in summary.cells:
        settings.setdefault(_setting(cell), []).append(cell.id)
    return settings


def _setting(cell: CellInfo) -> tuple[object, ...]:
    """Return what cells have in common whose scores can be put in one order."""
    what = cell.columns.get("what", "")
    return (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, what)


def mean_rank_rows(experiment: Experiment, scored: ScoreTable) -> list[list[Any]]:
    """Return the rows of the frame of ranks, best first, for methods with a score on every split of every task.

    The tasks of a split share documents: their ranks are averaged. Curves, whose points are compared one by one, and
    fewer than three samples or methods have no ranks.
    """
    metric, table = main_metric(experiment), scored.frame
    points = table[(table["metric"] == metric) & (table["fold"] != ALL_SPLITS) & (table["what"] == "point")]
    points = points[points["size"].isna() & points["terms"].isna() & points["of_class"].isin(("", ALL_CLASSES))]
    if points.empty:
        return []
    parts = points[["variant", "method", "choice"]].replace(BASE_VARIANT, "").astype(str)
    named = parts.apply(lambda row: "-".join(filter(None, row)), axis=1)
    scores = points.assign(named=named).pivot_table("value", ["task", "fold"], "named", sort=False).dropna(axis=1)
    folds = [fold for _, fold in scores.index]
    if min(len(set(folds)), scores.shape[1]) < MIN_SAMPLES_AND_METHODS:
        return []
    sign = 1 if more_is_better(metric, experiment.scorers) else -1
    ranking = rank_methods(list(scores.columns), sign * scores.to_numpy(), folds)
    statistics = ranking.problems, ranking.critical, ranking.p_value
    return [[name, rank, *statistics] for name, rank in zip(ranking.methods, ranking.ranks, strict=True)]
