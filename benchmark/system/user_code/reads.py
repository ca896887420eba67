"""Record what a plug-in's code read: files, folders, states of paths and modules, with digests.

Names are relative to the plug-in's folder. The standard library, installed packages and this package are identified by
their versions, and aren't recorded.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import os
import site
import stat
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from types import FrameType

_PACKAGE = str(Path(__file__).resolve().parents[2])
_PATHS = sysconfig.get_paths()
_STANDARD = tuple({os.path.realpath(_PATHS[name]) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(
    {
        os.path.realpath(path) + os.sep
        for path in (_PATHS["purelib"], _PATHS["platlib"], site.getusersitepackages(), *site.getsitepackages())
    }
)
#: Installed packages whose compiled code opens files only through Python, or opens none.
READS_BY_PYTHON = frozenset(
    ["numpy", "scipy", "sklearn", "pandas", "numba", "llvmlite", "libsvm", "yaml", "statsmodels"]
)
_STAT = os.stat  # the original: it is replaced while a plug-in is observed
#: Digest of a file that doesn't exist.
_MISSING = ""


def is_installed(path: str) -> bool:
    """Test whether a file belongs to the standard library, an installed package or this package."""
    real = os.path.realpath(path)
    return real.startswith((*_STANDARD, *_INSTALLED, _PACKAGE + os.sep))


@functools.cache
def code_origin(filename: str) -> str:
    """Return whose code a file is: "standard" library, "installed" package, this "package", or "plug-in"."""
    if filename.startswith("<frozen"):
        return "standard"
    real = os.path.realpath(filename)
    if real.startswith(_PACKAGE + os.sep):
        return "package"
    if real.startswith(_INSTALLED):
        return "installed"
    return "standard" if real.startswith(_STANDARD) else "plug-in"


class ReadRecord:
    """Record of what a plug-in's code has read, and of reasons why its results can't be stored.

    Parameters
    ----------
    folder : Path
        Folder of the plug-in; names are relative to it, so that a plug-in can be moved.

    Attributes
    ----------
    reads : dict of (kind, name) to str
        Digest of each file, folder, state of a path, and module that was looked for.
    reasons : dict of str to None
        Reasons why results can't be stored, in the order in which they occurred.
    imports : set of str
        Top-level names of the modules that the code imports.
    path : list of str
        Search path of modules, once the code has run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reads: dict[tuple[str, str], str] = {}
        self.reasons: dict[str, None] = {}
        self.entry: FrameType | None = None
        self.imports: set[str] = set()
        self.path: list[str] = []
        self._created: set[str] = set()

    @property
    def digest(self) -> str:
        """The sha256 over all reads."""
        text = "\n".join(f"{kind} {name} {digest}" for (kind, name), digest in sorted(self.reads.items()))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def listed(self) -> list[list[str]]:
        """All reads, as an entry of the store contains them."""
        return [[kind, name, digest] for (kind, name), digest in sorted(self.reads.items())]

    def why_not(self) -> str:
        """Return why no result can be stored, such as a read file that has changed; "" if results can be stored."""
        unseen = sorted(_compiled(self.imports - READS_BY_PYTHON))
        reasons = [*self.reasons, *(f"uses {name}, whose compiled code may read files unseen" for name in unseen)]
        if not reasons and (changed := _changed(self.listed, self.folder, self.path or sys.path)):
            return f"reads {changed}, which changed meanwhile"
        return next(iter(reasons), "")

    def read(self, kind: str, path: str) -> None:
        """Record a path in its present state, unless the code itself created it."""
        path = os.path.abspath(path)  # noqa: PTH100
        if kind == "state" and f"{self.folder}{os.sep}".startswith(f"{path.rstrip(os.sep)}{os.sep}"):
            return  # the plug-in's folder and those above it may have any names
        if not any(path == created or path.startswith(created + os.sep) for created in self._created):
            name = os.path.relpath(path, self.folder)
            self.reads.setdefault((kind, name), _digest(kind, path))

    def make(self, path: str) -> None:
        """Record that the code itself creates a file or folder, which then isn't an input."""
        path = os.path.abspath(path)  # noqa: PTH100
        if ("file", os.path.relpath(path, self.folder)) not in self.reads:
            self._created.add(path)

    def look_for(self, module: str, origin: str | None) -> None:
        """Record where a module was found, or that it wasn't found."""
        self.reads.setdefault(("module", module), "" if origin is None else os.path.relpath(origin, self.folder))


def reads_unchanged(listed: Iterable[list[str]], folder: Path, path: list[str]) -> bool:
    """Test whether everything that was read is unchanged; modules are searched on `path`."""
    return not _changed(listed, folder, path)


def _changed(listed: Iterable[list[str]], folder: Path, path: list[str]) -> str:
    for kind, name, digest in listed:
        if kind == "module":
            spec = _spec_of(name, path)
            now = "" if spec is None or spec.origin is None else os.path.relpath(spec.origin, folder)
        else:
            now = _digest(kind, os.path.join(folder, name))  # noqa: PTH118
        if now != digest:
            return name
    return ""


def _spec_of(module: str, path: list[str]) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.machinery.PathFinder.find_spec(module, path)
    except (ImportError, ValueError):
        return None


def _digest(kind: str, path: str) -> str:
    """Return a digest of a file's bytes, of a folder's names, or of a path's type and size."""
    try:
        status = _STAT(path)
        if kind == "state":
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            return f"{stat.S_IFMT(status.st_mode)} {size}"
        if kind == "folder" or stat.S_ISDIR(status.st_mode):
            with os.scandir(path) as entries:
                others = (entry for entry in entries if entry.name != "__pycache__")
                names = sorted(f"{entry.name}{'/' * entry.is_dir()}" for entry in others)
            return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            return "no file"
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return _MISSING


def _compiled(packages: Container[str]) -> set[str]:
    """Return those of some installed packages that have loaded compiled code."""
    suffixes, found = tuple(importlib.machinery.EXTENSION_SUFFIXES), set[str]()
    for name, module in list(sys.modules.items()):
        if (top := name.partition(".")[0]) in packages and top not in found:
            file = getattr(module, "__file__", None) or ""
            if file.endswith(suffixes) and code_origin(file) == "installed":
                found.add(top)
    return found
