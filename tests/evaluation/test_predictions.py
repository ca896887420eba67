"""Predictions of a setting: joined from splits, and divided into them again."""

import numpy as np
import pytest

from benchmark.evaluation.predictions import (
    NO_INNER_FOLDS,
    TIMERS,
    SettingPredictions,
    tallies_from_rows,
)

SIZES = (3, 1, 2)


def parts(*, several=False, values=True):
    """Three splits, of 3, 1 and 2 documents, with their own seconds, counts, versions and warnings."""
    rng = np.random.default_rng(0)
    return [
        SettingPredictions(
            rng.random((n, 2)) < 0.5 if several else rng.integers(4, size=n).astype(np.int16),
            rng.random((n, 2) if several else n) < 0.5,
            (n,),
            rng.random((1, len(TIMERS))),
            rng.random(1),
            rng.integers(9, size=(1, 7)),
            (f"0.{i}",),
            ("always", f"once {i}"),
            rng.random((n, 2)) if values else None,
        )
        for i, n in enumerate(SIZES)
    ]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("values", [False, True])
def test_what_is_joined_is_divided_into_its_parts(several, values):
    each = parts(several=several, values=values)
    whole = SettingPredictions.joined(each)
    assert whole.sizes == SIZES
    assert whole.versions == ("0.0", "0.1", "0.2")
    assert whole.warnings == ("always", "once 0", "once 1", "once 2")
    assert whole.bounds.tolist() == [0, 3, 4, 6]
    for number, part in enumerate(each):
        own = whole.split(number)
        for name in ("predicted", "tied", "seconds", "memory", "inner", "values"):
            np.testing.assert_array_equal(getattr(own, name), getattr(part, name))
        assert (own.sizes, own.versions, own.warnings) == (part.sizes, part.versions, whole.warnings)
        np.testing.assert_array_equal(whole.by_split[number], part.predicted)
        np.testing.assert_array_equal(whole.tied_by_split[number], part.tied)
    assert len(whole.by_split) == len(whole.tied_by_split) == 3
    assert SettingPredictions.joined(each[:1]) is each[0]


@pytest.mark.parametrize(("predicted", "dtype"), [(np.array([2, 0, 1]), np.int16), (np.eye(3, dtype=bool), np.bool_)])
def test_predictions_of_one_split(predicted, dtype):
    tied, seconds, values = np.array([True, False, False]), np.arange(6.0), np.eye(3)
    found = SettingPredictions.of_split(predicted, tied, seconds, values)
    assert found.predicted.dtype == dtype
    np.testing.assert_array_equal(found.predicted, predicted)
    assert (found.sizes, found.versions, found.warnings) == ((3,), ("",), ())
    assert (found.tied.tolist(), found.seconds.tolist()) == (tied.tolist(), [seconds.tolist()])
    assert np.isnan(found.memory).tolist() == [True]
    assert found.inner is NO_INNER_FOLDS
    assert found.values is values


def test_counts_of_inner_folds_are_right_assigned_true_and_documents():
    rows = np.array([[1, 2, 3, 4, 5, 6, 11], [7, 8, 9, 10, 12, 13, 25]])
    for found in (tallies_from_rows(rows), SettingPredictions.joined(parts()).inner_tallies):
        assert found.right.shape == found.assigned.shape == found.true.shape == (len(found.documents), 2)
    found = tallies_from_rows(rows)
    assert (found.right.tolist(), found.assigned.tolist()) == ([[1, 2], [7, 8]], [[3, 4], [9, 10]])
    assert (found.true.tolist(), found.documents.tolist()) == ([[5, 6], [12, 13]], [11, 25])
