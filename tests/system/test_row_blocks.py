"""Blocks of rows on threads, and their largest magnitude."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from benchmark.system.row_blocks import largest_magnitude, run_blocks


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize(("n", "size"), [(0, 4), (3, 4), (4, 4), (9, 4)])
def test_blocks_cover_every_row_once(n: int, size: int, jobs: int) -> None:
    seen: list[tuple[int, int]] = []
    run_blocks(lambda start, stop: seen.append((start, stop)), n, size, jobs)
    assert [row for start, stop in sorted(seen) for row in range(start, stop)] == list(range(n))
    assert all(stop - start <= size for start, stop in seen)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_in_a_block_is_raised(jobs: int) -> None:
    def work(start: int, _: int) -> None:
        if start == 4:
            raise FloatingPointError("in the second block")

    with pytest.raises(FloatingPointError, match="second block"):
        run_blocks(work, 12, 4, jobs)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, min_side=0, max_side=40)))
def test_the_largest_magnitude_is_numpy_s_and_finite_only_if_all_are(values: np.ndarray) -> None:
    for each in (values, values.T, values[::2]):
        found = largest_magnitude(each)
        if np.isfinite(each).all():
            assert found == np.abs(each).max(initial=0.0)
        else:
            assert not np.isfinite(found)


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 7, 99])
def test_one_value_that_is_not_finite_is_seen_wherever_it_stands(value: float, place: int) -> None:
    values = np.full(100, -1e308)
    values[place] = value
    assert not np.isfinite(largest_magnitude(values))
