"""A typed door to numba, so that every compiled function is built the same way, and only when it is first called.

numba notices a change in the file of a function, not in the files of functions it calls: compiled functions that call
each other therefore stand in one module. Importing numba and reading machine code from the disk takes half a second,
which a run that finds all of its results in the store need not wait for.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")

#: In compiled functions numba's loop over its threads; as Python it would be a plain loop.
prange = range

_LOADERS: dict[Callable[..., Any], Callable[[], Any]] = {}


def compiled(signature: str, *, parallel: bool = False) -> Callable[[F], F]:
    """Compile for `signature` when first called, and keep the machine code on disk.

    With `parallel`, `prange` loops share numba's threads; without it the function releases the GIL.
    """

    def decorate(function: F) -> F:
        @functools.cache
        def load() -> Any:
            import numba  # noqa: PLC0415 - see above

            # What the function names must be numba's own when it is compiled: its loop, other compiled functions.
            names = function.__globals__
            for name in function.__code__.co_names:
                if names.get(name) is prange:
                    names[name] = numba.prange
                elif isinstance(names.get(name), FunctionType) and names[name] in _LOADERS:
                    names[name] = _LOADERS[names[name]]()
            return numba.njit(signature, cache=True, nogil=True, parallel=parallel)(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return load()(*arguments)

        _LOADERS[call] = load
        return cast("F", call)

    return decorate


def compile_all() -> None:
    """Compile every function of the modules that have been imported, or read its machine code from the disk."""
    for load in _LOADERS.values():
        load()


@contextmanager
def numba_threads(jobs: int) -> Iterator[None]:
    """Let parallel functions use `jobs` threads at most; their waiting for each other costs much on a busy machine."""
    import numba  # noqa: PLC0415

    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(jobs, before)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
