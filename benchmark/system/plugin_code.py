"""Run plug-ins (users' code) so that their results are stored under everything that they depend on.

A plug-in's file is run as Python runs a script: its folder comes first on the path, and modules and packages beside it
are imported by their bare names, also later, inside its methods. Each plug-in has separate copies of such modules,
which are in `sys.modules` only while its code runs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.plugin_errors import convert_plugin_errors, report_lines_of, source_location
from benchmark.system.registries import is_builtin
from benchmark.system.user_code.isolation import restore_process_state
from benchmark.system.user_code.observation import record_reads, unobserved_import, wrap_unaudited_functions
from benchmark.system.user_code.reads import ReadRecord, code_origin, is_installed, reads_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: Plug-in, kind of component and name of each class of a plug-in.
_OWNERS: WeakKeyDictionary[type, tuple[Plugin, str, str]] = WeakKeyDictionary()
#: One plug-in runs at a time, because it uses the process's modules and settings.
_LOCK = threading.RLock()
_RUNNING: list[Plugin] = []


class Plugin:
    """Plug-in: a file, or the installed package of an entry point, with the modules that it has imported.

    Parameters
    ----------
    name : str
        The file's absolute path, or the distribution with its version.
    folder : Path
        Folder that names of read files are relative to.

    Attributes
    ----------
    imported : Reads
        Reads while the plug-in was imported.
    worked : Reads
        Reads since then, in this process. The plug-in may remember any of them, so that every result depends on all.
    reported : set of str
        Reasons, already reported, why its results aren't stored.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.imported, self.worked = ReadRecord(folder), ReadRecord(folder)
        self.reported: set[str] = set()
        self.module: ModuleType | None = None
        self.modules: dict[str, ModuleType] = {}
        self.path: list[str] = []

    @property
    def digest(self) -> str:
        """The sha256 over its reads while it was imported, and over the version of an installed package."""
        version = "" if Path(self.name).is_absolute() else self.name
        return hashlib.sha256(f"{version}\n{self.imported.digest}".encode()).hexdigest()

    def why_not(self) -> str:
        """Return why its results can't be stored now; "" if they can."""
        return self.imported.why_not() or self.worked.why_not()

    def is_current(self, reads: Iterable[list[str]] | None = None) -> bool:
        """Test whether its reads are unchanged: those while it was imported, or `reads` of an entry of the store."""
        listed = self.imported.listed if reads is None else reads
        return reads_unchanged(listed, self.folder, [*self.path, *sys.path])


class SourceLoader(SourceFileLoader):
    """Loader of modules from their source, never from bytecode that may be older."""

    def get_code(self, fullname: str) -> Any:
        """Compile the source."""
        path = self.get_filename(fullname)
        report_lines_of([Path(path)])
        return self.source_to_code(self.get_data(path), path)


class _Finder:
    """Finder of modules as Python's, which records their places and loads uninstalled modules from their source."""

    def __init__(self, reads: ReadRecord) -> None:
        self._reads = reads

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module; return None where Python finds none on the path."""
        spec = PathFinder.find_spec(fullname, path, target)
        place = None if spec is None else spec.origin
        with unobserved_import(self._reads) as by_plugin:
            if place is not None and is_installed(place):
                return spec
            if by_plugin and path is None:
                self._reads.look_for(fullname, place)
            for folder in path or () if by_plugin and spec is None else ():
                self._reads.read("folder", folder)
        if spec is not None and place is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = SourceLoader(fullname, place)
        return spec


def plugin_of(component: Any) -> Plugin | None:
    """Return the plug-in that a class belongs to; None for a class of this package."""
    owner = _OWNERS.get(component) if isinstance(component, type) else None
    return owner[0] if owner else None


def plugin_name_of(component: Any) -> tuple[str, str, str] | None:
    """Return the plug-in, the kind of component and the name of a plug-in's class; None for other classes."""
    owner = _OWNERS.get(component) if isinstance(component, type) else None
    return (owner[0].name, owner[1], owner[2]) if owner else None


def register_plugin_class(plugin: Plugin, kind: str, name: str, component: Any) -> None:
    """Register a class as a plug-in's component of a kind and name; classes of this package are ignored."""
    if isinstance(component, type) and not is_builtin(component):
        _OWNERS[component] = plugin, kind, name


@contextlib.contextmanager
def run_plugin_code(plugin: Plugin | None, reads: ReadRecord | None = None) -> Iterator[None]:
    """Run a plug-in's code with its modules, observe its reads, and restore what it changes.

    Parameters
    ----------
    plugin : Plugin or None
        None for code of this package, which runs as usual.
    reads : ReadRecord, optional
        Record of the reads; by default the plug-in's `worked`.

    Raises
    ------
    PatchedError
        If it replaced a function or class of a shared module.
    """
    if plugin is None or plugin in _RUNNING:  # in this thread, or in one that works for this plug-in
        yield
        return
    with _LOCK:
        record = plugin.worked if reads is None else reads
        entry = sys._getframe(1)  # noqa: SLF001 - of the caller, below contextlib's frames and those of this module
        while entry.f_back is not None and entry.f_code.co_filename in (contextlib.__file__, __file__):
            entry = entry.f_back
        with (
            restore_process_state(),
            wrap_unaudited_functions(),
            _modules_of(plugin, record),
            record_reads(record, entry),
        ):
            _RUNNING.append(plugin)
            try:
                yield
            finally:
                _RUNNING.pop()


def plugin_parts(components: Iterable[Any]) -> tuple[Any, ...]:
    """Return the first class of each plug-in among classes; () if all are of this package or of libraries."""
    return tuple({plugin: each for each in reversed([*components]) if (plugin := plugin_of(each))}.values())[::-1]


@contextlib.contextmanager
def run_guarded(*components: Any, kind: type[Exception] = ValueError, short: bool = True) -> Iterator[None]:
    """Run components' code as `run_plugin_code` does, and report its errors as the plug-in's, or its library's.

    Parameters
    ----------
    *components : class
        Classes of this package, libraries and plug-ins; the last one is blamed where the line of an error is unknown.
    kind : type
        Type of the error that is raised, see `convert_plugin_errors`.
    short : bool
        As in `locate_error`.
    """
    with contextlib.ExitStack() as stack:
        for each in components:
            plugin = plugin_of(each)
            if plugin is None and is_builtin(each):
                continue
            place = source_location(each, short=short) if plugin else f"{each.__module__}.{each.__qualname__}"
            stack.enter_context(convert_plugin_errors(kind, place, short=short))
            stack.enter_context(run_plugin_code(plugin) if plugin else restore_process_state())
        yield


@contextlib.contextmanager
def running_plugins(plugins: Iterable[Plugin]) -> Iterator[None]:
    """Run plug-ins' code as a run does; their errors become a ConfigError with file and line."""
    with contextlib.ExitStack() as stack:
        for plugin in plugins:
            stack.enter_context(convert_plugin_errors(ConfigError, plugin.name))
            stack.enter_context(run_plugin_code(plugin))
        yield


def guard_methods(
    component: type, names: Iterable[str], kind: type[Exception] = ConfigError, *, short: bool = False
) -> None:
    """Wrap methods and properties of a plug-in's class in `run_guarded`; errors for the user (BenchError) pass."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                with run_guarded(component, kind=kind, short=short):
                    result = function(*args, **kwargs)
                    return list(result) if isinstance(result, Iterator) else result
            except kind as error:
                raise error.__cause__ if isinstance(error.__cause__, BenchError) else error from None

        call.guarded = True  # type: ignore[attr-defined]
        return call

    for name in names:
        attribute = inspect.getattr_static(component, name, None)
        function = getattr(attribute, "fget", None) or getattr(attribute, "func", None) or attribute
        if not inspect.isfunction(function) or hasattr(function, "guarded"):
            continue
        if isinstance(attribute, property):
            setattr(component, name, property(wrap(function)))
        elif isinstance(attribute, functools.cached_property):
            cached = functools.cached_property(wrap(function))
            cached.__set_name__(component, name)
            setattr(component, name, cached)
        else:
            setattr(component, name, wrap(function))


@contextlib.contextmanager
def _modules_of(plugin: Plugin, reads: ReadRecord) -> Iterator[None]:
    """Put a plug-in's modules in `sys.modules`, and hide others that aren't installed until the state is restored."""
    for name in _not_installed():
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
        plugin.path = [folder for folder in sys.path if folder not in before]
        plugin.modules = _not_installed()
        for name in plugin.modules:
            del sys.modules[name]
        if plugin.module is not None:  # its classes name this module, which other code may look up
            sys.modules[plugin.module.__name__] = plugin.module


def _not_installed() -> dict[str, ModuleType]:
    """Return the imported modules that aren't installed, of this package, or `__main__`."""
    found = {}
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", None) or ()), None)
        if isinstance(place, str) and name != "__main__" and code_origin(place) == "plug-in":
            found[name] = module
    return found
