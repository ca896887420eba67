"""Leaks: tested documents that training knows, as near-duplicates or by their group, and scores without them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.outcomes import fold_scores, score_over_splits
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS

if TYPE_CHECKING:
    from benchmark.analysis.scoring import RunPredictions

#: Share of the tested documents above which near-duplicates are a leak.
LEAST_SHARE = 0.01
LEAKS = (NEAR_DUPLICATES, SHARED_GROUPS)


def leak_rows(run: RunPredictions) -> list[list[Any]]:
    """Return a row for each leak and cell: tested documents, those that leak, the score, and the score without them."""
    experiment, scored, metric = run.experiment, run.scored, run.experiment.metrics[0]
    whole = scored.frame[(scored.frame["fold"] == ALL_SPLITS) & (scored.frame["metric"] == metric)]
    values, rows = dict(zip(whole["cell"], whole["value"], strict=True)), []
    for cell in experiment.cells:
        scores = scored.cells.get(cell.id)
        if scores is None or scores.outcome is None or cell.id not in values:
            continue
        splits = run.predictions.splits[cell.of_splits]
        for leak in LEAKS:
            if any(leak not in split.leaks for split in splits):
                continue
            known = np.concatenate([np.isin(split.test, split.leaks[leak]) for split in splits])
            if known.sum() <= (LEAST_SHARE * len(known) if leak == NEAR_DUPLICATES else 0):
                continue
            without = math.nan
            if scores.can_score(metric) and not known.all():
                rest = scores.outcome.take(np.flatnonzero(~known))
                replicated = experiment.variants[cell.variant].protocol.tags.replicated
                without = float(fold_scores(rest, metric).mean()) if replicated else score_over_splits(rest, metric)
            rows.append([leak, cell.id, metric, len(known), int(known.sum()), values[cell.id], without])
    return rows
