"""Users' classes: the file or package that each comes from, and errors of their code with file and line.

Methods with such classes run in a process of their own (see `plugins.user_process`). A configuration is checked with
the classes themselves, so that their files are imported here, too.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from benchmark.system.errors import BenchError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

PACKAGE = __name__.partition(".")[0]
#: Names of the folders of installed packages, and the folders of this package and of Python itself.
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = Path(__file__).parents[1], Path(sysconfig.get_path("stdlib"))


@dataclass(frozen=True, eq=False)
class Plugin:
    """A user's Python file, or the installed package of an entry point.

    Parameters
    ----------
    name : str
        The file's absolute path, or the distribution with its version.
    digest : str
        The sha256 of the Python files that it may import, or the version.
    module : module
        Its module, once it is loaded.
    """

    name: str
    digest: str
    module: ModuleType | None = field(default=None, repr=False)

    @property
    def file(self) -> Path | None:
        """The file; None of an installed package."""
        return Path(self.name) if Path(self.name).is_absolute() else None

    @property
    def reads(self) -> set[str]:
        """The files that its classes and functions name in `reads`, relative to its folder."""
        named = [] if self.module is None else list(vars(self.module).values())
        named += [each for value in named if isinstance(value, dict) for each in value.values()]
        return {str(name) for each in named if callable(each) for name in getattr(each, "reads", ())}


#: Plug-in, kind of component and name of each class that a plug-in names.
_OWNERS: WeakKeyDictionary[type, tuple[Plugin, str, str]] = WeakKeyDictionary()
#: Whether users' code runs in this process, once for each reason.
_HERE: list[bool] = []


def register_plugin_class(plugin: Plugin, kind: str, name: str, component: Any) -> None:
    """Register a class as a plug-in's component of a kind and name; classes of this package are ignored."""
    if isinstance(component, type) and not is_builtin(component):
        _OWNERS[component] = plugin, kind, name


def registered_as(component: Any) -> tuple[Plugin, str, str] | None:
    """Return the plug-in, the kind of component and the name of a plug-in's class; None for other classes."""
    return _OWNERS.get(component) if isinstance(component, type) else None


def plugin_of(component: Any) -> Plugin | None:
    """Return the plug-in that names a class; None for other classes."""
    return (registered_as(component) or (None,))[0]


def is_builtin(component: Any) -> bool:
    """Return whether a class or function belongs to this package."""
    return str(component.__module__).partition(".")[0] == PACKAGE


@contextlib.contextmanager
def running_user_code_here() -> Iterator[None]:
    """Run users' code in this process, as `--debug` does, and the processes that are started for it."""
    _HERE.append(True)
    try:
        yield
    finally:
        _HERE.pop()


def runs_user_code_here() -> bool:
    """Return whether users' code runs in this process."""
    return bool(_HERE)


@contextlib.contextmanager
def user_code(kind: type[Exception], otherwise: object, *, short: bool = False) -> Iterator[None]:
    """Run a user's code: its errors become one line with its file and line; what it prints goes to standard error.

    Parameters
    ----------
    kind : type
        Type of the error that is raised.
    otherwise : object
        Replaces file and line where they are unknown.
    short : bool
        As in `locate_error`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, kind | BenchError) and not locate_error(error):  # raised by this package
            raise
        raise kind(locate_error(error, otherwise, short=short)) from error


def is_installed(file: Path) -> bool:
    """Return whether a file belongs to an installed package (but no editable one), to this package, or to Python."""
    return bool(_INSTALLED & set(file.parts)) or any(file.is_relative_to(each) for each in _OURS)


def is_user_file(file: Path) -> bool:
    """Return whether a file is Python code of a user."""
    return file.suffix == ".py" and not is_installed(file)


def locate_error(error: BaseException, otherwise: object = "", *, short: bool = False) -> str:
    """Format an error of a user's code in one line, with that code's last line in its traceback; "" if there is none.

    Parameters
    ----------
    error : BaseException
    otherwise : object
        Replaces file and line where they are unknown.
    short : bool
        Whether to print the file's name without its folder, so that results are the same in every folder.
    """
    lines = [(Path(frame.f_code.co_filename), line) for frame, line in walk_tb(error.__traceback__)]
    message: object = error
    if isinstance(error, SyntaxError):
        message = error.msg
        lines.append((Path(error.filename or ""), error.lineno or 0))
    users = [f"{file.name if short else file}:{line}" for file, line in lines if is_user_file(file)]
    location = users[-1] if users else str(otherwise)
    return one_line(f"{location}: {type(error).__name__}: {message}".rstrip(": ")) if location else ""


def source_location(component: Any, *, short: bool = False) -> str:
    """Return file and line of a user's class or function, or the import path of an installed one; `short` as above."""
    component = inspect.unwrap(getattr(component, "make", component))  # what makes a pipeline
    try:
        file = Path(str(inspect.getsourcefile(component)))
        if is_user_file(file):
            return f"{file.name if short else file}:{inspect.getsourcelines(component)[1]}"
    except (OSError, TypeError):  # it has no source
        pass
    return f"{component.__module__}.{component.__qualname__}" if hasattr(component, "__qualname__") else ""


def guarded(
    classes: Sequence[type[Any]], kind: type[Exception], *, short: bool = False
) -> AbstractContextManager[None]:
    """Return `user_code` of the users' classes among these, the last of which is blamed."""
    users = [each for each in classes if not is_builtin(each)]
    return user_code(kind, source_location(users[-1], short=short), short=short) if users else contextlib.nullcontext()
