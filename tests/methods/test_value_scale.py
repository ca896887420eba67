"""The scale of a fusion: the standard deviation of the values of documents that have one for each class."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.methods.fusion import value_scale


@pytest.mark.parametrize("missing", [np.nan, -np.inf, np.inf])
def test_documents_that_lack_a_value_are_left_out(missing: float) -> None:
    values = np.random.default_rng(0).normal(scale=3.0, size=(40, 3))
    whole = value_scale(values[10:])
    assert whole == pytest.approx(np.std(values[10:]))
    values[:10, 1] = missing
    assert value_scale(values) == whole


def test_without_values_that_differ_it_is_1() -> None:
    assert value_scale(np.full((5, 2), 7.0)) == 1.0
    assert value_scale(np.full((5, 2), np.nan)) == 1.0
