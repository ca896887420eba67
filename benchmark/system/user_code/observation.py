"""Observe what a plug-in's code reads while it runs: its results are stored under what it read, or not at all.

The interpreter's audit hook reports files, folders, processes and the network. `os.stat` and similar functions, the
environment and the command line report nothing, and are wrapped while a plug-in runs. Reads of compiled code are never
reported: results of packages with compiled code aren't stored, unless it is known to read through Python.
"""

from __future__ import annotations

import _thread
import builtins
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from benchmark.system.user_code.reads import code_origin, is_installed

try:
    import _posixsubprocess
except ImportError:  # of another system
    _posixsubprocess = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from benchmark.system.user_code.reads import ReadRecord

#: Folders with facts of the machine; a plug-in's code that reads them depends on the machine.
_MACHINE = ("/proc/", "/sys/", "/dev/")
#: Files of Python's search for installed packages, and of its search for modules.
_PACKAGE_SEARCH = (os.path.dirname(importlib.metadata.__file__),)  # noqa: PTH120
_SEARCH = ("<frozen importlib", "<frozen zipimport", *_PACKAGE_SEARCH)
#: Files that load and observe plug-ins; their frames are skipped.
_WATCHING = (__file__, str(Path(__file__).parents[1] / "plugin_code.py"))
_PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
_NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind")
_PROCESS = "starts a process"
#: Events after which a result can't be stored, with the reason.
_REASONS = {
    **dict.fromkeys([*_PROCESSES, "pty.spawn"], _PROCESS),
    **dict.fromkeys(_NETWORK, "uses the network"),
    "socket.gethostname": "reads the name of the machine",
    "sqlite3.connect": "opens a database",
    "builtins.input": "reads standard input",
}


# --- Observed threads: those of a plug-in, and those that they start ---

#: Threads in which this module itself is reading.
_READING: set[int] = set()
_ACTIVE: dict[int, ReadRecord] = {}
#: Threads that plug-ins started; they may continue, and work for plug-ins that run later.
_STARTED: WeakSet[threading.Thread] = WeakSet()


@contextlib.contextmanager
def record_reads(record: ReadRecord, entry: FrameType) -> Iterator[None]:
    """Record what this thread, and threads that it starts, read from here on.

    Parameters
    ----------
    record : ReadRecord
    entry : frame
        Frame below which no code on the stack is the plug-in's.
    """
    _install()
    ident, outer = threading.get_ident(), record.entry
    before = _ACTIVE.get(ident)
    _ACTIVE[ident], record.entry = record, entry
    try:
        yield
    finally:
        record.entry = outer
        if before is None:
            del _ACTIVE[ident]
        else:
            _ACTIVE[ident] = before


def _current() -> ReadRecord | None:
    record = _ACTIVE.get(threading.get_ident())
    if record is None and threading.current_thread() in _STARTED:  # one plug-in runs at a time
        record = next(reversed(_ACTIVE.values()), None)
    return record


@contextlib.contextmanager
def _asked() -> Iterator[ReadRecord | None]:
    """Yield the record of this thread, if it has one; None while this module itself is reading."""
    ident = threading.get_ident()
    if not _ACTIVE or ident in _READING:
        yield None
        return
    _READING.add(ident)
    try:
        yield _current()
    finally:
        _READING.discard(ident)


def _origin_of(frame: FrameType) -> str:
    name = frame.f_code.co_filename
    if name.startswith("<") and not name.startswith("<frozen"):  # compiled from text: its globals name the file
        name = frame.f_globals.get("__file__") or "<frozen>"
    return code_origin(name)


def _callers(record: ReadRecord) -> Iterator[str]:
    """Yield the origin of the code of this module's callers, from the nearest on (see `code_origin`).

    Code that a library runs while it is imported has the origin "importing": it runs once per process, whichever code
    imports it first.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - there is no other way to find callers
    while frame is not None and frame is not record.entry:
        if frame.f_code.co_filename not in _WATCHING:
            of_frame = _origin_of(frame)
            yield "importing" if of_frame != "plug-in" and frame.f_code.co_name == "<module>" else of_frame
        frame = frame.f_back


def _is_search(places: tuple[str, ...] = _SEARCH) -> bool:
    """Test whether Python is searching for modules or installed packages; modules are recorded by name instead."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None and (frame.f_code.co_filename in _WATCHING or _origin_of(frame) == "standard"):
        if frame.f_code.co_filename.startswith(places):
            return True
        if frame.f_code.co_filename.startswith("<frozen importlib"):  # a module is being imported, by whatever code
            return False
        frame = frame.f_back
    return False


def _nearest_is_plugin(record: ReadRecord) -> bool:
    """Test whether a plug-in's code calls, directly or through the standard library."""
    return next((origin for origin in _callers(record) if origin != "standard"), "") == "plug-in"


def _plugin_asks(record: ReadRecord) -> bool:
    """Test whether a plug-in's code calls, through any libraries; this package's own reads don't count."""
    origins = [origin for origin in _callers(record) if origin != "standard"]
    return "importing" not in origins and ("plug-in" in origins or "package" not in origins)


@contextlib.contextmanager
def unobserved_import(record: ReadRecord) -> Iterator[bool]:
    """Look for a module unobserved; yield whether a plug-in's code imports it."""
    with _asked() as current:
        yield current is record and _nearest_is_plugin(record)


@functools.cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    handle = _HANDLERS.get(event)
    if handle is not None and _ACTIVE:
        with _asked() as record:
            if record is not None:
                handle(record, event, args)


def _opened(record: ReadRecord, _: str, args: tuple[Any, ...]) -> None:
    path, mode, flags = args
    if isinstance(path, int) or _is_search(_PACKAGE_SEARCH) or not _plugin_asks(record):
        return
    name = os.fsdecode(path)
    if is_installed(name):
        return
    if os.path.realpath(name).startswith(_MACHINE):
        if _nearest_is_plugin(record):
            record.reasons[f"reads {name}"] = None
        return
    if isinstance(mode, str):
        reads, makes = "r" in mode or "+" in mode, "w" in mode or "x" in mode
    else:
        access = flags & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
        reads, makes = access != os.O_WRONLY, bool(flags & (os.O_TRUNC | os.O_EXCL))
    if makes:
        record.make(name)
    elif reads:
        if name.endswith(".pyc") and os.path.basename(os.path.dirname(name)) == "__pycache__":  # noqa: PTH119, PTH120
            _read(record, "file", importlib.util.source_from_cache(name))
        if not name.endswith((".nbi", ".nbc")):  # numba's caches, compiled from sources that are recorded
            _read(record, "file", name)


def _read(record: ReadRecord, kind: str, name: str) -> None:
    if not os.path.isabs(name):  # noqa: PTH117
        record.reasons[f"reads {name!r}, which is relative to the current folder"] = None
    record.read(kind, name)


def _listed(record: ReadRecord, _: str, args: tuple[Any, ...]) -> None:
    path = args[0]
    if isinstance(path, int) or _is_search() or not _plugin_asks(record):
        return
    name = os.fsdecode(path or ".")
    if not is_installed(name):
        _read(record, "folder", name)


def _made(record: ReadRecord, event: str, args: tuple[Any, ...]) -> None:
    record.make(os.fsdecode(args[1 if event == "os.rename" else 0]))


def _imported(record: ReadRecord, _: str, args: tuple[Any, ...]) -> None:
    filename = args[1]
    if (
        filename
        and str(filename).endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
        and not is_installed(filename)
    ):
        record.reasons[f"loads {Path(filename).name}, compiled code whose reads can't be seen"] = None
        record.read("file", filename)


def _loaded(record: ReadRecord, _: str, args: tuple[Any, ...]) -> None:
    if args[0] and _nearest_is_plugin(record):
        record.reasons[f"loads {Path(os.fsdecode(args[0])).name}, compiled code whose reads can't be seen"] = None


def _said(record: ReadRecord, event: str, _: tuple[Any, ...]) -> None:
    if _plugin_asks(record):
        record.reasons[_REASONS[event]] = None


_HANDLERS: dict[str, Callable[[ReadRecord, str, tuple[Any, ...]], None]] = {
    **dict.fromkeys(_REASONS, _said),
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.mkdir": _made,
    "os.rename": _made,
    "import": _imported,
    "ctypes.dlopen": _loaded,
}


# --- Reads that no event reports ---


def _note_state(path: Any) -> None:
    if isinstance(path, int):
        return
    with _asked() as record:
        if record is not None and not _is_search() and _plugin_asks(record):
            name = os.fsdecode(path)
            if not is_installed(name) and not os.path.realpath(name).startswith(_MACHINE):
                _read(record, "state", name)


def _note_reason(reason: str, asks: Callable[[ReadRecord], bool] = _nearest_is_plugin) -> None:
    with _asked() as record:
        if record is not None and asks(record):
            record.reasons[reason] = None


def _note_import(name: str, level: int = 0) -> None:
    """Record modules that a plug-in's code imports, and that libraries import when it calls them (pandas: pyarrow)."""
    with _asked() as record:
        if record is None or level:
            return
        if _plugin_asks(record) or _nearest_is_plugin(record):
            record.imports.add(name.partition(".")[0])


def _of_state(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(path: Any, *args: Any, **kwargs: Any) -> Any:
        _note_state(path)
        return function(path, *args, **kwargs)

    return call


def _of_reason(
    function: Callable[..., Any], reason: str, asks: Callable[[ReadRecord], bool] = _nearest_is_plugin
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _note_reason(reason, asks)
        return function(*args, **kwargs)

    return call


def _of_import(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(name: str, *args: Any, **kwargs: Any) -> Any:
        _note_import(name, args[3] if len(args) > 3 else kwargs.get("level", 0))
        return function(name, *args, **kwargs)

    return call


_START = threading.Thread.start


def _start(thread: threading.Thread) -> None:
    with _asked() as record:
        if record is not None:
            _STARTED.add(thread)
            if _nearest_is_plugin(record):
                thread.daemon = True  # the process doesn't wait for it in the end
    _START(thread)


_THREADS = "starts threads that can't be observed"
_FORKS = () if _posixsubprocess is None else ("fork_exec",)
#: Replacements besides functions of `os`: object, name of its attribute, and replacement.
_REPLACED: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (builtins, "__import__", _of_import(builtins.__import__)),
    (importlib, "import_module", _of_import(importlib.import_module)),
    (threading.Thread, "start", _start),
    (_thread, "start_new_thread", _of_reason(_thread.start_new_thread, _THREADS)),
    # multiprocessing and joblib start their workers by this function; no event reports it.
    *((_posixsubprocess, name, _of_reason(getattr(_posixsubprocess, name), _PROCESS, _plugin_asks)) for name in _FORKS),
)
_WRAPPED = {
    **{name: _of_state(getattr(os, name)) for name in ("stat", "lstat", "access", "readlink") if hasattr(os, name)},
    **{name: _of_reason(getattr(os, name), "reads the current folder") for name in ("getcwd", "getcwdb")},
    **{
        name: _of_reason(getattr(os, name), "reads the name of the machine") for name in ("uname",) if hasattr(os, name)
    },
}


for _supported in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks, os.supports_effective_ids):
    _supported.update(each for name, each in _WRAPPED.items() if getattr(os, name) in _supported)


class _ObservedEnviron(os._Environ):  # type: ignore[type-arg]  # noqa: SLF001 - the class of `os.environ`
    def __getitem__(self, key: Any) -> Any:
        _note_reason("reads the environment")
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        _note_reason("reads the environment")
        return super().__iter__()

    def __len__(self) -> int:
        _note_reason("reads the environment")
        return super().__len__()


class _ObservedArguments(list[str]):
    """Arguments of the command line that report when they are read."""


def _observe_list(name: str) -> None:
    function = getattr(list, name)

    def call(self: Any, *args: Any) -> Any:
        _note_reason("reads the command line")
        return function(self, *args)

    setattr(_ObservedArguments, name, functools.wraps(function)(call))


for _name in ("__getitem__", "__iter__", "__contains__", "__len__", "__eq__", "__repr__", "index", "count", "copy"):
    _observe_list(_name)


@contextlib.contextmanager
def wrap_unaudited_functions() -> Iterator[None]:
    """Report reads that have no event, in all observed threads."""
    with contextlib.ExitStack() as stack:
        for place, name, function in (*((os, name, each) for name, each in _WRAPPED.items()), *_REPLACED):
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, function)
        for environ in (os.environ, getattr(os, "environb", os.environ)):
            stack.callback(setattr, environ, "__class__", type(environ))
            environ.__class__ = _ObservedEnviron
        for name in ("argv", "orig_argv"):
            stack.callback(setattr, sys, name, getattr(sys, name))
            setattr(sys, name, _ObservedArguments(getattr(sys, name)))
        yield
