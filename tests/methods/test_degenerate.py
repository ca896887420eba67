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
TINY = {"kernel": {"name": "diffusion", "t": 1e-4}}  # between the most similar documents here it is 0


@pytest.fixture
def done(tmp_path):
    return lambda **changes: run_experiment(
        small_experiment(**{**ONE, **changes}), RunContext(Store(tmp_path / "store"))
    )


@pytest.mark.parametrize(
    ("method", "label", "said"),
    [
        (TINY, "diffusion-t0.0001", EQUAL),
        ({"kernel": {"name": "heat", "t": 1e-9}}, "heat-t1e-09", EQUAL),
        ({"classifier": {"name": "logistic", "C": 1e-12}}, "logistic-c1e-12", None),
    ],
)
def test_of_one_class_a_document(done, method, label, said):
    found = done(methods=[method, "ngd"])
    points = {place[2] for place in found.predictions.settings}
    assert points == ({"ngd"} if said else {"ngd", label})
    for reason in found.failures.values():
        assert re.match(said, reason)
    assert set(found.failures) == ({label} if said else set())


def test_a_poor_candidate_is_only_not_chosen(done):
    grid = {"kernel": {"name": "diffusion", "t": [1e-4, 0.5]}}
    found = done(methods=[grid], choose={"by": "cross-validation", "folds": 2})
    assert found.failures == {}
    assert [np.unique(chosen).tolist() for chosen in found.scored.chosen.values()] == [[1]]
