"""What a cell took, from the seconds and bytes that its splits were measured by."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.analysis.scoring import time_metrics
from benchmark.evaluation.predictions import TIMERS
from tests.analysis.made import drawn_study
from tests.builders import setting_of

#: By `TIMERS`, of four binary classifiers: extraction, products, kernel, training, testing, and training one by one.
SECONDS = np.array([[10.0, 1.0, 4.0, 2.0, 50.0, 8.0], [20.0, 2.0, 8.0, 4.0, 60.0, 0.0]])


@pytest.mark.parametrize(("method", "matrices"), [("linear", 1), ("hp-top", 4)])
def test_seconds_are_of_one_machine_which_has_a_matrix_of_its_own_or_shares_one(method, matrices):
    experiment = drawn_study(choose=None, methods=[method], compare=[])
    none = tuple(np.zeros(1, dtype=np.int32) for _ in SECONDS)
    found = time_metrics(experiment, experiment.cells[0], setting_of(none, seconds=SECONDS), 4)
    assert len(TIMERS) == SECONDS.shape[1]
    one = [1 + 4 / matrices + 8 / 4, 2 + 8 / matrices + 4 / 4]
    np.testing.assert_allclose(found["seconds"], one)
    np.testing.assert_allclose(found["seconds-with-features"], np.add(one, [10, 20]))
    np.testing.assert_allclose(found["seconds-in-all"], [10 + 1 + 4 + 2, 20 + 2 + 8 + 4])
