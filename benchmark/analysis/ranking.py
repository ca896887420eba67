"""Order of cells by their main score, how each compares with another, and mean ranks of methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import main_metric, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.evaluation.metrics import more_is_better

if TYPE_CHECKING:
    from benchmark.analysis.comparisons import PlannedComparison
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

#: Minimal number of samples and of methods that have mean ranks; fewer are compared in pairs.
MIN_SAMPLES_AND_METHODS = 3
#: What a cell is that others are compared with, and the term for a comparison that decides nothing.
BASELINE, NOT_SHOWN = "baseline", "no clear difference"


def ranked_cells(summary: Summary) -> tuple[str, ...]:
    """Return the ids of the cells, the best of each setting first."""
    sign = -1 if summary.more_is_better(summary.main_metric) else 1

    def key(cell: str) -> tuple[bool, float]:
        value = summary.headlines.get((cell, summary.main_metric), {}).get("value", math.nan)
        return is_missing(value), 0.0 if is_missing(value) else sign * value

    settings: dict[tuple[object, ...], list[str]] = {}
    for cell in summary.cells:  # scores of one setting can be put in one order
        where = (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, cell.columns.get("what"))
        settings.setdefault(where, []).append(cell.id)
    return tuple(cell for cells in settings.values() for cell in sorted(cells, key=key))


def first_comparisons(summary: Summary) -> dict[str, PlannedComparison]:
    """Return the first planned comparison of each cell that is compared with another, by its id."""
    return {pair.a.id: pair for pair in reversed(planned_comparisons(summary))}


def shown_outcomes(summary: Summary) -> dict[str, str]:
    """Return what each cell is to the one that it is first compared with: an outcome, `BASELINE`, or "" without one."""
    first = first_comparisons(summary)
    bases = {pair.b.id for pair in first.values()}
    return {
        cell.id: first[cell.id].outcome_for(cell.id) if cell.id in first else BASELINE if cell.id in bases else ""
        for cell in summary.cells
    }


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
