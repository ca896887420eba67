"""Experiments with predictions that are made up, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.analysis.scoring import RunPredictions
from tests.analysis.made import CENTROIDS, drawn_study, predicted
from tests.builders import small_experiment

if TYPE_CHECKING:
    from benchmark.config.model import Experiment
    from benchmark.evaluation.predictions import Predictions
    from benchmark.evaluation.score_table import ScoreTable

    Made = tuple[Experiment, Predictions, ScoreTable]


@pytest.fixture(scope="session")
def drawn() -> Made:
    experiment = drawn_study()
    predictions = predicted(experiment)
    return experiment, predictions, RunPredictions(experiment, predictions, {}, {}).scored


@pytest.fixture(scope="session")
def centroids() -> Made:
    experiment = small_experiment(name="centroids", **CENTROIDS)
    predictions = predicted(experiment)
    return experiment, predictions, RunPredictions(experiment, predictions, {}, {}).scored
