"""Blocks of rows on threads."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmark.system.row_blocks import (
    BLOCK_VALUES,
    blas_threads,
    map_in_order,
    rows_per_block,
    run_blocks,
)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_blocks_cover_every_row_once(jobs: int) -> None:
    for n in (0, 3, 4, 9):
        seen: list[tuple[int, int]] = []
        run_blocks(lambda start, stop, seen=seen: seen.append((start, stop)), n, 4, jobs)
        assert [row for start, stop in sorted(seen) for row in range(start, stop)] == list(range(n))
        assert all(stop - start <= 4 for start, stop in seen)
    with pytest.raises(ZeroDivisionError):
        run_blocks(lambda start, _: divmod(1, 4 - start), 9, 4, jobs)
    for n_columns in (0, 1, 3, 1000, BLOCK_VALUES // 3, BLOCK_VALUES, 10 * BLOCK_VALUES):
        rows = rows_per_block(n_columns)
        assert rows % 2 == 0
        assert rows == 2 or rows * n_columns <= BLOCK_VALUES
        assert (rows + 2) * max(n_columns, 1) > BLOCK_VALUES


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_items_are_worked_on_in_order_and_few_at_a_time(jobs: int) -> None:
    """One more than there are threads, so that each of these always has work; an error comes in its place."""
    taken, threads = list[int](), set[int]()

    def items():
        for number in range(21):
            taken.append(number)
            yield number

    def divide(number: int) -> int:
        threads.add(threading.get_ident())
        return 100 // (20 - number)

    found = map_in_order(divide, items(), jobs)
    for number in range(20, 0, -1):
        assert next(found) == 100 // number
        assert len(taken) <= 20 - number + jobs + (jobs > 1)
    with pytest.raises(ZeroDivisionError):
        next(found)
    assert (threads == {threading.get_ident()}) == (jobs == 1)
    assert list(map_in_order(str, [], jobs)) == []


def test_libraries_have_as_many_threads_as_they_are_given() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    with threadpool_limits(2):
        assert threads() == {2}
        with blas_threads(1):
            assert threads() == {1}
        assert threads() == {2}
