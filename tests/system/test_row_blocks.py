"""Blocks of rows on threads, and their largest magnitude."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from threadpoolctl import threadpool_info

from benchmark.system.row_blocks import (
    BLOCK_VALUES,
    blas_threads,
    largest_magnitude,
    library_threads,
    map_in_order,
    rows_per_block,
    run_blocks,
    submatrix,
)


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize(("n", "size"), [(0, 4), (3, 4), (4, 4), (9, 4)])
def test_blocks_cover_every_row_once(n: int, size: int, jobs: int) -> None:
    seen: list[tuple[int, int]] = []
    run_blocks(lambda start, stop: seen.append((start, stop)), n, size, jobs)
    assert [row for start, stop in sorted(seen) for row in range(start, stop)] == list(range(n))
    assert all(stop - start <= size for start, stop in seen)
    if n > size:
        with pytest.raises(ZeroDivisionError):
            run_blocks(lambda start, _: divmod(1, size - start), n, size, jobs)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, min_side=0, max_side=40)))
def test_the_largest_magnitude_is_numpy_s_and_finite_only_if_all_are(values: np.ndarray) -> None:
    for each in (values, values.T, values[::2]):
        found = largest_magnitude(each)
        if np.isfinite(each).all():
            assert found == np.abs(each).max(initial=0.0)
        else:
            assert not np.isfinite(found)


@pytest.mark.parametrize("n_columns", [0, 1, 2, 3, 1000, BLOCK_VALUES // 3, BLOCK_VALUES, 10 * BLOCK_VALUES])
def test_a_block_has_an_even_number_of_rows_and_as_many_as_fit(n_columns: int) -> None:
    rows = rows_per_block(n_columns)
    assert rows % 2 == 0
    assert rows >= 2
    assert rows == 2 or rows * n_columns <= BLOCK_VALUES or n_columns == 0
    assert (rows + 2) * max(n_columns, 1) > BLOCK_VALUES


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_items_are_worked_on_in_order_and_few_at_a_time(jobs: int) -> None:
    """One more than there are threads, so that each of these always has work."""
    taken, threads = list[int](), set[int]()

    def items():
        for number in range(20):
            taken.append(number)
            yield number

    def square(number: int) -> int:
        threads.add(threading.get_ident())
        return number * number

    found = []
    for done, value in enumerate(map_in_order(square, items(), jobs)):
        found.append(value)
        assert len(taken) <= done + jobs + (jobs > 1)
    assert found == [number * number for number in range(20)]
    assert len(taken) == 20
    assert (threads == {threading.get_ident()}) == (jobs == 1)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_error_of_an_item_comes_in_its_place(jobs: int) -> None:
    assert list(map_in_order(str, [], jobs)) == []
    found = map_in_order(lambda number: 1 // (3 - number), range(4), jobs)
    assert [next(found) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(found)


@pytest.mark.parametrize(
    ("rows", "columns", "shares"),
    [
        ([1, 2, 3], [0, 1], True),
        ([0, 2], [1, 2], False),
        ([3, 2, 1], [0, 1, 2], False),
        ([0, 2, 1, 3], [0, 1], False),
        ([1, 1], [0, 1], False),
        ([], [0, 1], False),
    ],
)
def test_some_rows_and_columns_are_a_view_where_both_are_consecutive(
    rows: list[int], columns: list[int], shares: bool
) -> None:
    matrix = np.arange(16.0).reshape(4, 4)
    found = submatrix(matrix, np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp))
    np.testing.assert_array_equal(found, matrix[rows][:, columns].reshape(len(rows), len(columns)))
    assert np.shares_memory(found, matrix) is shares


def test_libraries_have_as_many_threads_as_they_are_given() -> None:
    def threads(kind: str) -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == kind}

    with library_threads(2):
        assert threads("blas") == {2}
        with blas_threads(1):
            assert threads("blas") == {1}
        assert threads("blas") == {2}
