"""Handle errors of users and of the machine, and streams that are closed or not UTF-8."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from benchmark.report.escapes import escape_controls
from benchmark.system.errors import MAX_MESSAGE_LENGTH, BenchError, ConfigError, shorten
from benchmark.system.user_classes import locate_error

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def prepare_streams() -> None:
    """Make the standard streams take any text."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def echo(text: object, *, err: bool = False) -> None:
    """Print a line; on standard error, lines are shortened, and output that it can't take is dropped."""
    if not err:
        print(escape_controls(str(text)), flush=True)  # noqa: T201
        return
    with suppress(OSError):
        lines = (shorten(line, MAX_MESSAGE_LENGTH) for line in escape_controls(str(text)).split("\n"))
        print("\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn user errors and machine errors into one message and an exit code; bugs keep their traceback."""
    try:
        yield
    except BenchError as error:
        echo(f"bench: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt as error:
        echo(f"\nbench: {'; '.join(['interrupted', *map(str, error.args)])}", err=True)
        raise SystemExit(130) from None
    except Exception as error:
        message = locate_error(error)
        code = ConfigError.exit_code if message else 1
        if isinstance(error, MemoryError):
            message = f"not enough memory: {error}".rstrip(": ")
        elif isinstance(error, OSError):
            message = message or _system_message(error)
        if not message:
            raise
        echo(f"bench: {message}", err=True)
        raise SystemExit(code) from None


def _system_message(error: OSError) -> str:
    """Return the message of an error of a file, stream or limit; "" where the reader of a pipe has closed it."""
    if error.errno == errno.EPIPE:
        return ""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno not in _NO_ROOM:
        return reason
    # The buffered rest can't be written either, and Python would report that again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"can't write to standard output: {reason[0].lower()}{reason[1:]}"
