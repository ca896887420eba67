"""A typed wrapper of numba: every function is compiled with the same options, when it is first called.

numba notices a change in the file of a function, but not in the files of functions that it calls: compiled functions
that call each other are therefore in one module. Importing numba and reading machine code from disk takes half a
second, which a run saves if all of its results are in the store.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

F = TypeVar("F", bound="Callable[..., Any]")

#: A plain loop in Python; in compiled functions, numba's parallel loop.
prange = range

_LOADERS: dict[Callable[..., Any], Callable[[], Any]] = {}


def compile_lazily(signature: str, *, parallel: bool = False) -> Callable[[F], F]:
    """Compile for `signature` when first called, and cache the machine code on disk.

    Division by zero returns what numpy returns, so that loops need no check at each division. With `parallel`, `prange`
    loops share numba's threads; without it the function releases the GIL.
    """

    def decorate(function: F) -> F:
        @functools.cache
        def load() -> Any:
            import numba  # noqa: PLC0415 - see above

            # Globals that the function uses must be numba's when it is compiled: the loop, other compiled functions.
            names = function.__globals__
            for name in function.__code__.co_names:
                if names.get(name) is prange:
                    names[name] = numba.prange
                elif isinstance(names.get(name), FunctionType) and names[name] in _LOADERS:
                    names[name] = _LOADERS[names[name]]()
            return numba.njit(signature, cache=True, nogil=True, parallel=parallel, error_model="numpy")(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return load()(*arguments)

        _LOADERS[call] = load
        return cast("F", call)

    return decorate


def compile_all(modules: Container[str] | None = None) -> None:
    """Compile every function of some modules, or read its machine code from disk, before times are measured.

    Parameters
    ----------
    modules : container of str
        Names of modules; by default all that have been imported.
    """
    for function, load in list(_LOADERS.items()):
        if modules is None or function.__module__ in modules:
            load()


@contextmanager
def numba_threads(jobs: int) -> Iterator[None]:
    """Limit parallel functions to `jobs` threads; on a busy machine, waiting for more threads is slow."""
    import numba  # noqa: PLC0415

    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(jobs, before)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
