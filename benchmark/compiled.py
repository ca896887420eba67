"""A typed door to numba, so that every compiled function is built the same way.

numba notices a change in the file of a function, not in the files of functions it calls:
compiled functions that call each other therefore stand in one module.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")


def compiled(signature: str, *, parallel: bool = False) -> Callable[[F], F]:
    """Compile for `signature` when the module is first imported, and keep the machine code on disk.

    With `parallel`, `numba.prange` loops share numba's threads; without it the function releases the GIL.
    """

    def decorate(function: F) -> F:
        return cast("F", numba.njit(signature, cache=True, nogil=True, parallel=parallel)(function))

    return decorate


@contextmanager
def numba_threads(jobs: int) -> Iterator[None]:
    """Let parallel functions use `jobs` threads at most; their waiting for each other costs much on a busy machine."""
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(jobs, before)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
