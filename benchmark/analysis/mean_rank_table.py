"""Mean ranks of methods over tasks and splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import main_metric
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.evaluation.metrics import more_is_better

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

#: Minimal number of samples and of methods; fewer are compared in pairs.
MIN_SAMPLES_AND_METHODS = 3


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
