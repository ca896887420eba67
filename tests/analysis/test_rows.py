"""Rows of scores, costs and labels from predictions made by hand: of the cells that they belong to, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmark.analysis.agreement import pair_summary
from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from tests.analysis.made import predicted, table_study


def run_of(experiment: Any, **changes: Any) -> RunPredictions:
    return RunPredictions(experiment, changes.pop("predictions", None) or predicted(experiment), {}, {}, **changes)


def test_a_plug_ins_metric_may_be_better_where_it_is_less() -> None:
    """The accuracy as a metric of a plug-in, of which less is better, beside metrics of this package."""
    experiment = table_study(metrics=["accuracy", "error", "macro-f1"])
    mine = replace(experiment.scorers["accuracy"], more_is_better=False)
    own = replace(experiment, metrics=("mine", "error", "macro-f1"), scorers={**experiment.scorers, "mine": mine})
    (a, b, *_), made = own.ids, predicted(experiment)
    for found in (summarize(run_of(own, predictions=made)), pair_summary(run_of(own, predictions=made), a, b)):
        assert not found.more_is_better("mine")
        assert not found.more_is_better("error")
        assert found.more_is_better("macro-f1")
