"""What a run of an experiment found out: predictions, and the scores that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from benchmark.findings.scoring import score

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.scored import Scored


@dataclass(frozen=True, eq=False)
class Run:
    """What a run found out.

    Parameters
    ----------
    study : Experiment
    predictions : Predictions
    failures : dict of str to str
        Reason by point, as `Cell` ids have it, or by measure.
    facts : dict of str to dict
        What was run on, by variant.
    """

    study: Experiment
    predictions: Predictions
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]

    @cached_property
    def scored(self) -> Scored:
        """The scores, computed once."""
        return score(self.study, self.predictions)
