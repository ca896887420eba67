"""A method that tells none of the tested documents apart has no score, but a line that says which and why."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from tests.builders import small_experiment

EQUAL = r"^texas: the kernel .* has the same values for all test documents, so all get the same prediction$"
ONE = {"protocol": {"name": "leave-one-group-out", "held_out": ["texas"]}}
TINY = {"name": "diffusion", "kernel": {"name": "diffusion", "t": 1e-4}}  # 0 between the most similar documents here


@pytest.fixture
def done(tmp_path):
    return lambda **changes: run_experiment(
        small_experiment(**{**ONE, **changes}), RunContext(Store(tmp_path / "store"))
    )


def test_a_kernel_that_is_alike_for_all_test_documents_fails(done):
    found = done(methods=[TINY, {"name": "logistic", "classifier": {"name": "logistic", "C": 1e-12}}, "ngd"])
    assert {place[2] for place in found.predictions.settings} == {"ngd", "logistic"}
    assert list(found.failures) == ["diffusion"]
    assert re.match(EQUAL, found.failures["diffusion"])


def test_a_poor_candidate_is_only_not_chosen(done):
    grid = {"kernel": {"name": "diffusion", "t": [1e-4, 0.5]}}
    found = done(methods=[grid], choose={"by": "cross-validation", "folds": 2})
    assert found.failures == {}
    assert [np.unique(chosen).tolist() for chosen in found.scored.chosen.values()] == [[1]]
