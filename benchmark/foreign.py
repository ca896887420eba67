"""Plug-ins: code that isn't this package's, loaded and run so that its results can be named by all that made them.

A plug-in's file is run as Python runs a script: its folder comes first on the path, and modules and packages beside it
are imported by their bare names, also later, inside its methods. Each plug-in has its own copies of such modules; they
are in `sys.modules` only while its code runs. What goes wrong in such code is told with its file and line.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import itertools
import signal
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from benchmark.errors import BenchError, ConfigError, in_a_line
from benchmark.isolation import PatchedError, isolated
from benchmark.observation import importing, observed, wrapped
from benchmark.reads import Reads, is_current, is_installed, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_NUMBERS = itertools.count(1)
#: The plug-ins that were loaded last, by file or distribution.
_LOADED: dict[str, Plugin] = {}
#: The plug-in that a class is named by, the kind of component and its name.
_OWNERS: WeakKeyDictionary[type, tuple[Plugin, str, str]] = WeakKeyDictionary()
#: Files and folders whose lines errors are told with.
_TOLD: set[Path] = set()
#: One plug-in runs at a time, in threads of its own: it has the process's modules and settings.
_ALONE = threading.RLock()
_RUNNING: list[Plugin] = []


class Plugin:
    """A plug-in's file, or the installed package of an entry point, with the modules that it has imported.

    Parameters
    ----------
    name : str
        The file's whole path, or the distribution with its version.
    folder : Path
        What it reads is named relative to it.

    Attributes
    ----------
    imported : Reads
        What it read while it was imported.
    worked : Reads
        What it has read since, in this process: it may have kept any of it, so that every result depends on all.
    reported : set of str
        Reasons that were said of its results.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.imported, self.worked = Reads(folder), Reads(folder)
        self.reported: set[str] = set()
        self.module: ModuleType | None = None
        self.modules: dict[str, ModuleType] = {}
        self.path: list[str] = []

    @property
    def digest(self) -> str:
        """The sha256 over all that it read while it was imported; an installed package counts by its version."""
        version = "" if Path(self.name).is_absolute() else self.name
        return hashlib.sha256(f"{version}\n{self.imported.digest}".encode()).hexdigest()

    def why_not(self) -> str:
        """Return why no result of it can be stored now; "" where one can."""
        return self.imported.why_not() or self.worked.why_not()

    def is_current(self, reads: Iterable[list[str]] | None = None) -> bool:
        """Whether all that it read is as it was: while it was imported, or what an entry of the store holds."""
        listed = self.imported.listed if reads is None else reads
        return is_current(listed, self.folder, [*self.path, *sys.path])


class _SourceLoader(SourceFileLoader):
    """Runs a module from its source, never from what was compiled of an older one."""

    def get_code(self, fullname: str) -> Any:
        """Compile the source."""
        path = self.get_filename(fullname)
        _TOLD.add(Path(path))
        return self.source_to_code(self.get_data(path), path)


class _Finder:
    """Finds modules as Python does, remembers where, and has those that aren't installed run from their source."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module; None where Python finds none on the path."""
        spec = PathFinder.find_spec(fullname, path, target)
        place = None if spec is None else spec.origin
        with importing(self._reads) as by_plugin:
            if place is not None and is_installed(place):
                return spec
            if by_plugin and path is None:
                self._reads.look_for(fullname, place)
            for folder in path or () if by_plugin and spec is None else ():
                self._reads.read("folder", folder)
        if spec is not None and place is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _SourceLoader(fullname, place)
        return spec


def plugin_of(component: Any) -> Plugin | None:
    """Return the plug-in that a class is of; None for one of this package."""
    owner = _OWNERS.get(component) if isinstance(component, type) else None
    return owner[0] if owner else None


def named_by(component: Any) -> tuple[str, str, str] | None:
    """Return how a plug-in's class is named: the plug-in, the kind of component, its name."""
    owner = _OWNERS.get(component) if isinstance(component, type) else None
    return (owner[0].name, owner[1], owner[2]) if owner else None


def own(plugin: Plugin, kind: str, name: str, component: Any) -> None:
    """Remember that a class is a plug-in's, under a kind and a name; this package's own classes count by themselves."""
    if isinstance(component, type) and not component.__module__.startswith(f"{__package__}."):
        _OWNERS[component] = plugin, kind, name


@contextlib.contextmanager
def running(plugin: Plugin | None, reads: Reads | None = None) -> Iterator[None]:
    """Let a plug-in's code run: with its modules, observed, and with all that it changes put back.

    Parameters
    ----------
    plugin : Plugin or None
        None for code of this package, which just runs.
    reads : Reads, optional
        What is written into; the plug-in's `worked` by default.

    Raises
    ------
    PatchedError
        If it replaced what others use.
    """
    if plugin is None or plugin in _RUNNING[-1:]:  # in this thread, or in one that this plug-in is solved by
        yield
        return
    with _ALONE:
        into = plugin.worked if reads is None else reads
        entry = sys._getframe(1)  # noqa: SLF001 - of the caller, below contextlib's frames and those of this module
        while entry.f_back is not None and entry.f_code.co_filename in (contextlib.__file__, __file__):
            entry = entry.f_back
        with isolated(), wrapped(), _modules_of(plugin, into), observed(into, entry):
            _RUNNING.append(plugin)
            try:
                yield
            finally:
                _RUNNING.pop()


@contextlib.contextmanager
def guarded(component: Any, kind: type[Exception] = ValueError, *, short: bool = True) -> Iterator[None]:
    """Let a component's code run as `running` does, and blame what goes wrong on it; nothing of this is for our own.

    Parameters
    ----------
    component : class
    kind : type
        The error that is raised in a line, see `blaming`.
    short : bool
        As of `blamed`.
    """
    plugin = plugin_of(component)
    if plugin is None:
        yield
        return
    with blaming(kind, place_of(component, short=short), short=short), running(plugin):
        yield


def guard_methods(component: type, names: Iterable[str]) -> None:
    """Let methods and properties of a plug-in's class run guarded, whoever calls them; errors for the person pass."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                with guarded(component, ConfigError, short=False):
                    found = function(*args, **kwargs)
                    return list(found) if isinstance(found, Iterator) else found
            except ConfigError as error:
                raise error.__cause__ if isinstance(error.__cause__, BenchError) else error from None

        call.guarded = True  # type: ignore[attr-defined]
        return call

    for name in names:
        found = inspect.getattr_static(component, name, None)
        function = getattr(found, "fget", None) or getattr(found, "func", None) or found
        if not inspect.isfunction(function) or hasattr(function, "guarded"):
            continue
        if isinstance(found, property):
            setattr(component, name, property(wrap(function)))
        elif isinstance(found, functools.cached_property):
            cached = functools.cached_property(wrap(function))
            cached.__set_name__(component, name)
            setattr(component, name, cached)
        else:
            setattr(component, name, wrap(function))


@contextlib.contextmanager
def _modules_of(plugin: Plugin, reads: Reads) -> Iterator[None]:
    """Let a plug-in's modules stand in `sys.modules`, and no other that isn't installed."""
    hidden = _not_installed()
    for name in hidden:
        del sys.modules[name]
    sys.modules.update(plugin.modules)
    before = list(sys.path)
    sys.path[:0] = plugin.path
    finder = _Finder(reads)
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        reads.path = list(sys.path)
        plugin.path = [each for each in sys.path if each not in before]
        plugin.modules = _not_installed()
        for name in plugin.modules:
            del sys.modules[name]
        sys.modules.update(hidden)
        if plugin.module is not None:  # its classes say that they are of it, wherever they are looked at
            sys.modules[plugin.module.__name__] = plugin.module


def _not_installed() -> dict[str, ModuleType]:
    """Return the imported modules that are neither installed nor this package's, nor the program itself."""
    found = {}
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", None) or ()), None)
        if isinstance(place, str) and name != "__main__" and origin(place) == "plug-in":
            found[name] = module
    return found


def loaded(path: Path) -> Plugin:
    """Run a plug-in's file, unless it was before and all that it read then is as it was.

    Raises
    ------
    ConfigError
        If it can't be read, or an error stops it; with its line.
    """
    path = path.resolve()
    known = _LOADED.get(str(path))
    if known is not None and not known.why_not():
        return known
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ConfigError(f"{path}: a plug-in is a Python file, such as mykernels.py")
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; a plug-in's path is relative to the configuration")
    plugin = Plugin(str(path), path.parent)
    name = f"_plugin{next(_NUMBERS)}_{path.stem}"
    spec = spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - the loader was given
    module = module_from_spec(spec)
    names = [name] if _is_taken(path.stem) else [name, path.stem]  # other files beside it may import it
    plugin.modules = dict.fromkeys(names, module)
    plugin.path = [str(path.parent)]
    with blaming(ConfigError, path), running(plugin, plugin.imported):
        spec.loader.exec_module(module)
    plugin.module = sys.modules[name] = module
    _LOADED[str(path)] = plugin
    return plugin


def _is_taken(name: str) -> bool:
    return name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None


def installed(name: str, folder: Path) -> Plugin:
    """Return the plug-in that a distribution is; the same until a file of it, where it is editable, has changed."""
    known = _LOADED.get(name)
    if known is None or known.why_not():
        known = _LOADED[name] = Plugin(name, folder)
    return known


def files_of(names: Iterable[str]) -> dict[str, dict[str, bytes]]:
    """Return the files that plug-ins read when they were imported, to be loaded again in another process.

    Returns
    -------
    dict of str to dict of str to bytes
        Contents by relative path, by the plug-in's name.
    """
    found = {}
    for name in names:
        plugin = _LOADED[name]
        relative = [each for kind, each in plugin.imported.reads if kind == "file"]
        inside = [each for each in relative if not each.startswith("..") and (plugin.folder / each).is_file()]
        found[name] = {each: (plugin.folder / each).read_bytes() for each in inside}
    return found


def loaded_again(files: Mapping[str, Mapping[str, bytes]], folder: Path) -> dict[str, Plugin]:
    """Load such plug-ins from a folder that their files are written to; by the names that they have elsewhere."""
    found = {}
    for number, (name, each) in enumerate(files.items()):
        for file, content in each.items():
            (folder / str(number) / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / str(number) / file).write_bytes(content)
        found[name] = loaded(folder / str(number) / Path(name).name)
    return found


def tell_lines_of(places: Iterable[Path]) -> None:
    """Tell errors with their lines in these files or folders."""
    _TOLD.update(places)


@contextlib.contextmanager
def blaming(kind: type[Exception], otherwise: object, *, short: bool = False) -> Iterator[None]:
    """Turn whatever goes wrong in a plug-in into an error in a line, with the plug-in's file and line.

    Ctrl-C stays what it is; a KeyboardInterrupt that the plug-in raises by itself is blamed on it, as is SystemExit.

    Parameters
    ----------
    kind : type
        The error that is raised.
    otherwise : object
        What stands for the line where none is known.
    short : bool
        As of `blamed`.
    """
    pressed: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None

    def interrupt(number: int, frame: Any) -> None:
        pressed.append(number)
        if callable(before):
            before(number, frame)

    if main and callable(before):
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except MemoryError:
        raise
    except BaseException as error:
        if pressed and isinstance(error, KeyboardInterrupt):
            raise
        if isinstance(error, kind | FloatingPointError) and not blamed(error):  # of this package, in its own words
            raise
        raise kind(blamed(error, otherwise, short=short)) from error
    finally:
        if main and callable(before):
            signal.signal(signal.SIGINT, before)


def blamed(error: BaseException, otherwise: object = "", *, short: bool = False) -> str:
    """An error of a plug-in in a line, with the last line of the plug-in that it came by; "" if it came by none.

    Parameters
    ----------
    error : BaseException
    otherwise : object
        What stands for the line where none is known.
    short : bool
        Whether the file is called by its name alone, as results must be that are the same in every place.
    """
    place, step = "", error.__traceback__
    while step is not None:
        file = Path(step.tb_frame.f_code.co_filename)
        if file in _TOLD or any(folder in _TOLD for folder in file.parents):
            place = f"{file.name if short else file}:{step.tb_lineno}"
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename) in _TOLD:
        place = f"{error.filename}:{error.lineno}"
    place = place or str(otherwise)
    name = "" if isinstance(error, PatchedError) else f"{type(error).__name__}: "
    return in_a_line(f"{place}: {name}{_message(error)}".rstrip(": ")) if place else ""


def _message(error: BaseException) -> str:
    try:
        return error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001 - an error of a plug-in may be unable to say what it is
        return "its message can't be read"


def place_of(component: Any, *, short: bool = False) -> str:
    """File and line of a class or function, or the module that it is of; `short` as of `blamed`."""
    component = inspect.unwrap(component) if callable(component) else component
    try:
        file = Path(str(inspect.getsourcefile(component)))
        return f"{file.name if short else file}:{inspect.getsourcelines(component)[1]}"
    except (OSError, TypeError):
        return str(getattr(component, "__module__", ""))
