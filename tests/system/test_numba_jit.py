"""Parallel functions have as many threads as they are given, and no more than there are."""

from __future__ import annotations

import numpy as np

from benchmark.system.numba_jit import compile_lazily


@compile_lazily("float64(float64, float64)")
def quotient(a: float, b: float) -> float:
    return a / b


def test_a_compiled_function_divides_by_zero_as_numpy_does() -> None:
    assert (quotient(1.0, 4.0), quotient(1.0, 0.0)) == (0.25, np.inf)
    assert np.isnan(quotient(0.0, 0.0))
