"""Parallel functions have as many threads as they are given, and no more than there are."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from benchmark.system.numba_jit import compile_lazily, numba_thread_count, numba_threads


@compile_lazily("float64(float64, float64)")
def quotient(a: float, b: float) -> float:
    return a / b


def test_a_compiled_function_divides_by_zero_as_numpy_does() -> None:
    assert (quotient(1.0, 4.0), quotient(1.0, 0.0)) == (0.25, np.inf)
    assert np.isnan(quotient(0.0, 0.0))


@pytest.mark.parametrize("jobs", [0, 1, 2, 1000])
def test_threads_are_limited_for_a_while(every_numba_thread: int, jobs: int) -> None:
    with numba_threads(jobs):
        assert numba_thread_count() == numba.get_num_threads() == max(1, min(jobs, every_numba_thread))
        with numba_threads(1000):  # as many as before at most
            assert numba_thread_count() == max(1, min(jobs, every_numba_thread))
    assert numba_thread_count() == every_numba_thread
    with pytest.raises(RuntimeError), numba_threads(1):
        raise RuntimeError
    assert numba_thread_count() == every_numba_thread
