"""What a machine may do to the command line: streams that are closed or know few letters, no memory, no room."""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from benchmark.environment import memory_limit
from benchmark.errors import BenchError, ConfigError
from benchmark.report.escapes import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Address space that the smallest run takes on two processors, and some to spare: libraries, stacks, and heaps of 64 MB
#: for threads. With less no error is sure: the interpreter or a library may hang, or kill the process.
LEAST_BYTES = 1_400_000_000
_NO_MEMORY = re.compile(r"can't start new thread|failed to map segment|(?i:cannot allocate|unable to allocate)")
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def prepare() -> None:
    """Make the standard streams take any text."""
    # A file that is opened later must not stand in the place of a stream that was closed.
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        else:
            with suppress(OSError):  # of a stream that leads elsewhere since it was opened
                stream.reconfigure(errors="backslashreplace")


def say(text: object, *, err: bool = False) -> None:
    """Print a line; what standard error can't take is lost."""
    if not err:
        print(printable(str(text)), flush=True)  # noqa: T201
        return
    with suppress(OSError):
        print(printable(str(text)), file=sys.stderr, flush=True)  # noqa: T201


def ensure_memory() -> None:
    """Refuse a limit of memory under which nothing can be run."""
    limit = memory_limit()
    if limit < LEAST_BYTES:
        needed = f"the smallest run takes {LEAST_BYTES / 1e6:,.0f} MB"
        allowed = f"ulimit -v allows {limit / 1e6:,.0f} MB"
        raise BenchError(f"not enough memory: {allowed}, and {needed}; `ulimit -v unlimited` lifts it")


@contextmanager
def told() -> Iterator[None]:
    """Turn errors for the person, and those of the machine, into one clear message and an exit code; ours pass."""
    try:
        yield
    except BenchError as error:
        say(f"bench: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt as error:
        say(f"\nbench: {'; '.join(['interrupted', *map(str, error.args)])}", err=True)
        raise SystemExit(130) from None
    except Exception as error:
        said = _of_a_plugin(error)
        code = ConfigError.exit_code if said else 1
        if not said and isinstance(error, OSError | MemoryError | SystemError | RuntimeError | ImportError):
            said = _of_memory(error) or (_of_system(error) if isinstance(error, OSError) else "")
        if not said:
            raise
        say(f"bench: {said}", err=True)
        raise SystemExit(code) from None


def _of_a_plugin(error: Exception) -> str:
    """What is to say of an error that came by a plug-in's code; else nothing."""
    foreign = sys.modules.get("benchmark.foreign")  # where none was asked for there is none
    return foreign.blamed(error) if foreign is not None else ""


def _of_memory(error: BaseException) -> str:
    """What is to say if an error, or one that it came from, is a lack of memory; else nothing."""
    found: BaseException | None = error
    while found is not None:
        # Without memory the interpreter can't even make its error: it then says that there is none.
        short = isinstance(found, MemoryError | SystemError) or getattr(found, "errno", None) == errno.ENOMEM
        if short or _NO_MEMORY.search(str(found)):
            limit = memory_limit()
            limited = f" (ulimit -v allows {limit / 1e6:,.0f} MB)" if limit < float("inf") else ""
            return f"not enough memory{limited}: {str(found).splitlines()[0] if str(found) else type(found).__name__}"
        found = found.__cause__ or found.__context__
    return ""


def _of_system(error: OSError) -> str:
    """What is to say of a file, a stream, or a limit; nothing where a reader has left, which needs no word."""
    if error.errno == errno.EPIPE:
        return ""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno not in _NO_ROOM:
        return reason
    # What is still buffered can't be written either, and Python would say so once more on the way out.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"can't write to standard output: {reason[0].lower()}{reason[1:]}"
