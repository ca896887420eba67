"""A typed door to numba, so that every compiled function is built the same way, and only when it is first called.

numba notices a change in the file of a function, not in the files of functions it calls: compiled functions that call
each other therefore stand in one module. Importing numba and reading machine code from the disk takes half a second,
which a run that finds all of its results in the store need not wait for.
"""

from __future__ import annotations

import atexit
import functools
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import platformdirs

from benchmark.environment import probe
from benchmark.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

F = TypeVar("F", bound="Callable[..., Any]")

#: In compiled functions numba's loop over its threads; as Python it would be a plain loop.
prange = range

_LOADERS: dict[Callable[..., Any], Callable[[], Any]] = {}


def compiled(signature: str, *, parallel: bool = False) -> Callable[[F], F]:
    """Compile for `signature` when first called, and keep the machine code on disk.

    Division by zero gives what numpy gives, so that loops which divide need not ask at each number. With `parallel`,
    `prange` loops share numba's threads; without it the function releases the GIL.
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
            return numba.njit(signature, cache=True, nogil=True, parallel=parallel, error_model="numpy")(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return load()(*arguments)

        _LOADERS[call] = load
        return cast("F", call)

    return decorate


def compile_all(modules: Container[str] | None = None) -> None:
    """Compile every function of some modules, or read its machine code from the disk: before a clock is started.

    Parameters
    ----------
    modules : container of str
        Names; all that have been imported unless given.
    """
    for function, load in list(_LOADERS.items()):
        if modules is None or function.__module__ in modules:
            load()


def ensure_usable(warn: Callable[[str], None]) -> None:
    """See that numba will work: machine code has a folder for as long as this process lives where no other takes it.

    Raises
    ------
    BenchError
        Where there is no place for a temporary folder either, or the environment's number of threads is none.
    """
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not threads.isdecimal() or int(threads) < 1:
        raise BenchError(f"NUMBA_NUM_THREADS is {threads!r}; it must be a number of threads")
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = [*([Path(named)] if named else []), Path(__file__).parent / "__pycache__"]
    problems = []
    for place in [*places, platformdirs.user_cache_path("numba")]:
        try:
            return probe(place)
        except OSError as error:
            problems.append(f"{place}: {error.strerror or error}")
    told = f"machine code can't be kept ({'; '.join(problems)})"
    try:
        folder = tempfile.TemporaryDirectory(prefix="simplexbench-")
    except OSError as error:
        raise BenchError(f"{told}, not even for a while ({error}); NUMBA_CACHE_DIR can name a folder") from None
    atexit.register(folder.cleanup)
    os.environ["NUMBA_CACHE_DIR"] = folder.name
    return warn(f"{told}: each run compiles anew, some seconds; NUMBA_CACHE_DIR can name a folder")


def current_threads() -> int:
    """How many threads parallel functions use now."""
    import numba  # noqa: PLC0415

    return int(numba.get_num_threads())


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
