"""Report errors of plug-ins (users' code) with the plug-in's file and line."""

from __future__ import annotations

import contextlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import BenchError, one_line
from benchmark.system.user_code.interrupts import interruptible
from benchmark.system.user_code.replacements import PatchedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Files and folders whose lines are reported with errors.
_REPORTED: set[Path] = set()


def report_lines_of(places: Iterable[Path]) -> None:
    """Report errors with their lines in these files or folders."""
    _REPORTED.update(places)


@contextlib.contextmanager
def convert_plugin_errors(kind: type[Exception], otherwise: object, *, short: bool = False) -> Iterator[None]:
    """Convert any exception of a plug-in into an error whose one-line message has the plug-in's file and line.

    Ctrl-C passes; a KeyboardInterrupt or SystemExit that the plug-in itself raises is converted.

    Parameters
    ----------
    kind : type
        Type of the error that is raised.
    otherwise : object
        Replaces file and line where they are unknown.
    short : bool
        As in `locate_error`.
    """
    with interruptible(str(otherwise)) as pressed:
        try:
            yield
        except MemoryError:
            raise
        except BaseException as error:
            if pressed:
                raise KeyboardInterrupt from error
            ours = isinstance(error, kind | FloatingPointError | BenchError)
            if ours and not locate_error(error):  # raised by this package
                raise
            raise kind(locate_error(error, otherwise, short=short)) from error
        else:
            if pressed:  # the plug-in caught it
                raise KeyboardInterrupt


def locate_error(error: BaseException, otherwise: object = "", *, short: bool = False) -> str:
    """Format a plug-in's error in one line, with the plug-in's last line in its traceback; "" if there is none.

    Parameters
    ----------
    error : BaseException
    otherwise : object
        Replaces file and line where they are unknown.
    short : bool
        Whether to print the file's name without its folder, so that results are the same in every folder.
    """
    place, step = "", error.__traceback__
    while step is not None:
        file = Path(step.tb_frame.f_code.co_filename)
        if file in _REPORTED or any(folder in _REPORTED for folder in file.parents):
            place = f"{file.name if short else file}:{step.tb_lineno}"
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename) in _REPORTED:
        place = f"{error.filename}:{error.lineno}"
    place = place or str(otherwise)
    name = "" if isinstance(error, PatchedError) else f"{type(error).__name__}: "
    return one_line(f"{place}: {name}{_message(error)}".rstrip(": ")) if place else ""


def _message(error: BaseException) -> str:
    try:
        return error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001 - `__str__` of a plug-in's error may raise
        return "its message can't be read"


def source_location(component: Any, *, short: bool = False) -> str:
    """Return file and line of a class or function, or its module if unknown; `short` as in `locate_error`."""
    component = inspect.unwrap(component) if callable(component) else component
    try:
        file = Path(str(inspect.getsourcefile(component)))
        return f"{file.name if short else file}:{inspect.getsourcelines(component)[1]}"
    except (OSError, TypeError):
        return str(getattr(component, "__module__", ""))
