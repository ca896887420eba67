"""Blocks of rows on threads, and transposes by squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.blocks import run_blocks, transposed


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


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_transpose_is_numpy_s(m: int, n: int) -> None:
    matrix = np.arange(m * n, dtype=np.float64).reshape(m, n)
    found = transposed(matrix)
    np.testing.assert_array_equal(found, matrix.T)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(
        transposed(matrix[:, : n // 2]), matrix[:, : n // 2].T
    )  # no row begins where one ends
