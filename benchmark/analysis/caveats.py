"""Caveats: leaks and choices of a configuration that bias its scores, or that its intervals don't cover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.prose.sentences import sentences
from benchmark.config.model import ALL_CLASSES
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.metrics import more_is_better
from benchmark.evaluation.outcomes import fold_scores, score_over_splits
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Experiment

#: Share of the tested documents above which near-duplicates are a leak.
LEAST_SHARE = 0.01
#: What documents of a group share, in corpora whose groups are not a column of a user's file.
_SHARED = {"20ng": "author"}


def caveats_of_choices(
    experiment: Experiment, effects: Callable[[dict[str, Any]], Iterable[str]] = lambda _: ()
) -> list[str]:
    """Return the caveats of a configuration's choices, those that can do most harm first.

    They are those of its first variant; other variants' names state their changes.

    Parameters
    ----------
    experiment : Experiment
    effects : callable
        Takes the settings of a variant that is honest in one choice, and returns clauses on how its scores differ.
    """
    first, tuned = next(iter(experiment.variants.values())), dict[str, list[str]]()
    for cell, choice in experiment.tuned_cells.items():
        tuned.setdefault(choice, []).append(cell)
    entries = [entry for variant in experiment.variants.values() for entry in variant.entries]
    elsewhere = {
        what: list(dict.fromkeys(entry.label for entry in entries if getattr(entry.candidates[0], part)))
        for what, part in (("Predictions", "predictions"), ("The vectors", "vectors"))
    }
    pruned, others = list[tuple[list[str], dict[str, Any]]](), list[str]()
    for text, label in first.texts.items():
        least = {name: 1 for name in ("min_occurrences", "min_documents") if getattr(text.pruning, name) > 1}
        if least and not text.pruning.group and text == first.collection.text:
            pruned.append(([], {"text": least}))
        elif least and not text.pruning.group:
            others.append(label)
    points = [spec.representation for entry in first.entries for spec in entry.candidates]
    return sentences(
        "caveats.j2",
        experiment=experiment,
        first=first,
        effects=effects,
        elsewhere=elsewhere,
        tuned=tuned,
        largest=any("largest" in task for task in experiment.raw.get("tasks", ()) if isinstance(task, dict)),
        pruned=[*pruned, (list(dict.fromkeys(others)), {})] if others else pruned,
        idf_of_all=any(each.learns and each.idf == "collection" for each in points),
    )


def caveats_of_leaks(run: RunPredictions, leaks: pd.DataFrame) -> list[str]:
    """Return a caveat for each leak (see `leak_rows`), with the best score and the one without what leaks."""
    experiment, metric = run.experiment, run.experiment.metrics[0]
    whole = {cell.id for cell in experiment.cells if cell.of_class in ("", ALL_CLASSES)}
    sign = 1 if more_is_better(metric, experiment.scorers) else -1
    near = [each for facts in run.facts.values() for each in facts.get("near_duplicates", ())]
    pair = next((pair[:2] for each in near for pair in each["such_as"]), ())
    collection = next(iter(experiment.variants.values())).collection
    column = collection.given.get("group")
    shared = _SHARED.get(collection.corpus, "group") if column is None else repr(column)
    found = [
        (max(rows.to_dict("records"), key=lambda row: sign * row["score"]), pair, shared, column)
        for _, rows in leaks[leaks["cell"].isin(whole)].groupby("leak")
    ]
    name, unit = metric_name(metric, experiment.quantities), display_unit(metric, experiment.quantities)
    return sentences("leaks.j2", leaks=found, metric=name, unit=unit)


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
        for leak in (NEAR_DUPLICATES, SHARED_GROUPS):
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
