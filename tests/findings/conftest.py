"""Experiments with predictions that are made up, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.findings.scoring import score
from tests.builders import small_experiment
from tests.findings.made import CENTROIDS, drawn_study, predicted

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.scored import Scored

    Made = tuple[Experiment, Predictions, Scored]


@pytest.fixture(scope="session")
def drawn() -> Made:
    study = drawn_study()
    predictions = predicted(study)
    return study, predictions, score(study, predictions)


@pytest.fixture(scope="session")
def centroids() -> Made:
    study = small_experiment(name="centroids", **CENTROIDS)
    predictions = predicted(study)
    return study, predictions, score(study, predictions)
