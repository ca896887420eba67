"""Code that isn't this package's: a plug-in's file is run from the text that keys name its results by.

Modules beside the file, and packages, are imported by their bare names, as of a script; another folder's plug-ins never
meet them. What goes wrong in such code is told with its file and line.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from benchmark.code import add_modules
from benchmark.errors import ConfigError, in_a_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_NUMBERS = itertools.count(1)
#: What was loaded last of each file.
_LOADED: dict[Path, Loaded] = {}
#: Files and folders whose lines errors are told with.
_TOLD: set[Path] = set()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A plug-in's file.

    Parameters
    ----------
    module : module
    texts : dict of Path to bytes
        Of the file, and of those beside it that it imports.
    """

    module: ModuleType
    texts: dict[Path, bytes]

    @property
    def digest(self) -> str:
        """The sha256 of the files' names and contents."""
        each = (hashlib.sha256(text).hexdigest() + path.name for path, text in sorted(self.texts.items()))
        return hashlib.sha256("\0".join(each).encode()).hexdigest()


class _Beside(MetaPathFinder, Loader):
    """Finds a plug-in and what stands beside it, by names that no other plug-in's modules have."""

    def __init__(self, folder: Path, package: str) -> None:
        self.folder, self.package = folder, package
        self.texts: dict[Path, bytes] = {}
        self.bare: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of this name in the folder, by its full name or by its bare one."""
        del path, target
        name = fullname.removeprefix(f"{self.package}.")
        stem = self.folder.joinpath(*name.split("."))
        for file in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
            if file.is_file():
                return ModuleSpec(fullname, self, origin=str(file), is_package=file.stem == "__init__")
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Of a bare name, the module of the full one."""
        if spec.name.startswith(f"{self.package}."):
            return None
        self.bare.add(spec.name)
        return import_module(f"{self.package}.{spec.name}")

    def exec_module(self, module: ModuleType) -> None:
        """Run the file; its text is kept."""
        spec = module.__spec__
        if spec is None or spec.origin is None or not spec.name.startswith(f"{self.package}."):
            return
        file = Path(spec.origin)
        self.texts[file] = file.read_bytes()
        _TOLD.add(file)
        module.__file__ = str(file)
        exec(compile(self.texts[file], str(file), "exec", dont_inherit=True), vars(module))  # noqa: S102 - named by its user


def loaded(path: Path) -> Loaded:
    """Run a plug-in's file, unless it was before and is as it was.

    Raises
    ------
    ConfigError
        If it can't be read, or an error stops it; with its line.
    """
    path = path.resolve()
    known = _LOADED.get(path)
    if known is not None and all(_text(file) == text for file, text in known.texts.items()):
        return known
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ConfigError(f"{path}: a plug-in is a Python file, such as mykernels.py")
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; a plug-in's path is relative to the configuration")
    package = f"plugin{next(_NUMBERS)}"
    finder = _Beside(path.parent, package)
    sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = []
    sys.meta_path.insert(0, finder)
    try:
        module = import_module(f"{package}.{path.stem}")
    except (Exception, SystemExit) as error:
        raise ConfigError(blamed(error, path)) from error
    finally:
        sys.meta_path.remove(finder)
        for name in finder.bare:
            sys.modules.pop(name, None)
    texts = {file: text for file, text in finder.texts.items() if file.is_relative_to(path.parent)}
    add_modules({_name(file, path.parent): text.decode("utf-8") for file, text in texts.items()}, package)
    _LOADED[path] = Loaded(module, texts)
    return _LOADED[path]


def texts_of(paths: Iterable[Path]) -> dict[str, tuple[str, dict[str, bytes]]]:
    """What was loaded of some files, to be loaded again in another process: by package, the file and all texts."""
    found = {}
    for path in paths:
        known = _LOADED[path]
        texts = {str(file.relative_to(path.parent)): text for file, text in known.texts.items()}
        found[known.module.__name__.partition(".")[0]] = path.name, texts
    return found


def loaded_again(texts: Mapping[str, tuple[str, dict[str, bytes]]], folder: Path) -> dict[str, str]:
    """Load such files from a folder that they are written to; by package, that which it is here."""
    found = {}
    for package, (name, each) in texts.items():
        for file, text in each.items():
            (folder / package / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / package / file).write_bytes(text)
        found[package] = loaded(folder / package / name).module.__name__.partition(".")[0]
    return found


def _text(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _name(file: Path, folder: Path) -> str:
    words = file.relative_to(folder).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def tell_lines_of(places: Iterable[Path]) -> None:
    """Tell errors with their lines in these files or folders."""
    _TOLD.update(places)


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
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return in_a_line(f"{place}: {type(error).__name__}: {said}".rstrip(": ")) if place else ""


def place_of(component: Any, *, short: bool = False) -> str:
    """File and line of a class or function, or the module that it is of; `short` as of `blamed`."""
    import inspect  # noqa: PLC0415 - only where something is wrong, or told

    component = inspect.unwrap(component) if callable(component) else component
    try:
        file = Path(str(inspect.getsourcefile(component)))
        return f"{file.name if short else file}:{inspect.getsourcelines(component)[1]}"
    except (OSError, TypeError):
        return str(getattr(component, "__module__", ""))
