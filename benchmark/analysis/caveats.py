"""Caveats: leaks and choices of a configuration that bias its scores, or that its intervals don't cover."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.units import display_unit, metric_name
from benchmark.analysis.prose.sentences import sentence
from benchmark.config.model import ALL_CLASSES, CHOOSE_ORACLE
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.metrics import more_is_better
from benchmark.evaluation.outcomes import fold_scores, score_over_splits
from benchmark.evaluation.predictions import NEAR_DUPLICATES, SHARED_GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Variant

#: Share of the tested documents above which near-duplicates are a leak.
LEAST_SHARE = 0.01
#: What documents of a group share, in corpora whose groups are not a column of a user's file.
_SHARED = {"20ng": "author"}


@dataclass(frozen=True)
class Caveat:
    """Limitation that a reader has to know before relying on the scores.

    Parameters
    ----------
    name : str
        Macro of `caveats.j2` that writes it.
    facts : dict
        What its sentence states.
    honest : dict or None
        Settings of a variant that differs only in this choice; None where no variant can.
    """

    name: str
    facts: dict[str, Any] = field(default_factory=dict)
    honest: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The caveat as a sentence without its capital and full stop."""
        return sentence("caveats.j2", self.name, **self.facts)


def find_caveats(run: RunPredictions, leaks: pd.DataFrame) -> list[Caveat]:
    """Return the caveats of a run with these `leaks` (see `leak_rows`), those that can do most harm first.

    The choices of a configuration are those of its first variant; other variants' names state their changes.
    """
    experiment = run.experiment
    entries = [entry for variant in experiment.variants.values() for entry in variant.entries]
    elsewhere = {
        name: list(dict.fromkeys(each.label for each in entries if getattr(each.candidates[0], part)))
        for name, part in (("made elsewhere", "predictions"), ("vectors", "vectors"))
    }
    tuned: dict[str, list[str]] = {}
    for cell, choice in experiment.tuned_cells.items():
        tuned.setdefault(choice, []).append(cell)
    largest = any("largest" in task for task in experiment.raw.get("tasks", ()) if isinstance(task, dict))
    return [
        *_leaks(run, leaks),
        *([Caveat("chosen on the test")] if CHOOSE_ORACLE in experiment.choices else []),
        *(Caveat(name, {"methods": methods}) for name, methods in elsewhere.items() if methods),
        *(Caveat("tuned", {"choice": choice, "cells": cells}) for choice, cells in tuned.items()),
        *([Caveat("panels")] if largest else []),
        *_of_variant(next(iter(experiment.variants.values()))),
    ]


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


def _leaks(run: RunPredictions, leaks: pd.DataFrame) -> Iterator[Caveat]:
    """Yield a caveat for each leak, with the score of the best cell and its score without the documents that leak."""
    experiment = run.experiment
    whole = {cell.id for cell in experiment.cells if cell.of_class in ("", ALL_CLASSES)}
    for leak, rows in leaks[leaks["cell"].isin(whole)].groupby("leak"):
        metric, records = str(rows["metric"].iloc[0]), rows.to_dict("records")
        sign = 1 if more_is_better(metric, experiment.scorers) else -1
        best = max(records, key=lambda row: sign * row["score"])
        facts = {
            "best": best,
            "metric": metric_name(metric, experiment.quantities),
            "unit": display_unit(metric, experiment.quantities),
        }
        if leak == NEAR_DUPLICATES:
            near = [each for facts in run.facts.values() for each in facts.get("near_duplicates", ())]
            pairs = [pair for each in near for pair in each["such_as"]]
            yield Caveat(NEAR_DUPLICATES, facts | {"pair": pairs[0][:2] if pairs else ()})
        else:
            collection = next(iter(experiment.variants.values())).collection
            column = collection.given.get("group")
            what = _SHARED.get(collection.corpus, "group") if column is None else repr(column)
            yield Caveat(SHARED_GROUPS, facts | {"what": what, "column": column})


def _of_variant(variant: Variant) -> Iterator[Caveat]:
    protocol, others = variant.protocol, list[str]()
    if protocol.tags.replicated:
        if protocol.resolved.get("stratified") and not protocol.resolved.get("test"):
            yield Caveat("strata")
        yield Caveat("replicates")
    if protocol.tags.leaves_groups_out:
        yield Caveat("groups")
    for text, label in variant.texts.items():
        least = {name: 1 for name in ("min_occurrences", "min_documents") if getattr(text.pruning, name) > 1}
        if least and not text.pruning.group and text == variant.collection.text:
            yield Caveat("pruning", {"methods": []}, {"text": least})
        elif least and not text.pruning.group:
            others.append(label)
    if others:
        yield Caveat("pruning", {"methods": list(dict.fromkeys(others))})
    specs = [spec.representation for entry in variant.entries for spec in entry.candidates]
    if any(spec.learns and spec.idf == "collection" for spec in specs):
        yield Caveat("idf", honest={"defaults": {"idf": "training"}})
