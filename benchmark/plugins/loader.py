"""Load plug-ins' files, here and in other processes."""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn import config_context

from benchmark.plugins.import_paths import module_file
from benchmark.plugins.trust import check_trusted, code_digest_of_folder, importable_files
from benchmark.system.errors import ConfigError
from benchmark.system.user_classes import Plugin, is_user_file, runs_user_code_here, user_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NUMBERS = itertools.count(1)
#: The latest version of each loaded file.
_LOADED: dict[str, Plugin] = {}
#: Names of the modules that files have imported from their folders, which the next file imports anew.
_BESIDE: set[str] = set()


def load_plugin(path: Path, *, trusted: bool = False) -> Plugin:
    """Import a plug-in's file as Python runs a script; an earlier import serves if no Python file was changed.

    Parameters
    ----------
    path : Path
    trusted : bool
        True if a person trusts the file already, as part of a whole that has its digest.

    Raises
    ------
    ConfigError
        If the file can't be read, or raises an error; the message has its line.
    """
    path = path.resolve()
    if path.suffix != ".py" or not path.is_file():
        problem = "no such file, or none of Python; a plug-in's path is relative to the configuration"
        raise ConfigError(f"{path}: {problem}")
    if not trusted:
        check_trusted(path, "is code, and would be run with the Python files of its folder", with_folder=True)
    digest, known = code_digest_of_folder(path), _LOADED.get(str(path))
    if known is None or known.digest != digest:
        taken = path.stem in sys.stdlib_module_names or module_file(path.stem) not in (None, path)
        name = f"_plugin{next(_NUMBERS)}_{path.stem}" if taken else path.stem
        spec = spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - of a Python file
        if not runs_user_code_here():
            faulthandler.enable(2)  # a crash in this process, of an import or of `bench fit`, is told with its lines
        module = module_from_spec(spec)
        with _script_folder(path.parent), user_code(ConfigError, path):
            sys.modules[name] = module
            spec.loader.exec_module(module)
        known = _LOADED[str(path)] = Plugin(str(path), digest, sys.modules.get(name, module))
    return known


@contextlib.contextmanager
def _script_folder(folder: Path) -> Iterator[None]:
    """Put a script's folder first on the path, where it is imported; afterwards it is the last one.

    Settings of libraries are those of before, except in the process of users' code.
    """
    earlier = {name: sys.modules.pop(name) for name in _BESIDE if name in sys.modules}
    before, flag = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # bytecode is out of date where a file is edited twice in a second
    with contextlib.ExitStack() as stack:
        if not runs_user_code_here():
            for settings in (warnings.catch_warnings(), np.errstate(), config_context()):
                stack.enter_context(settings)
        try:
            yield
        finally:
            sys.dont_write_bytecode = flag
            sys.path.remove(str(folder))
            sys.path.append(str(folder))
            for name in set(sys.modules) - before:
                file = Path(getattr(sys.modules[name], "__file__", None) or "")
                if is_user_file(file) and file.is_relative_to(folder):
                    _BESIDE.add(name)
            sys.modules.update({name: module for name, module in earlier.items() if name not in sys.modules})


def plugin_files(plugin: Plugin) -> dict[str, bytes]:
    """Return the files of a plug-in by relative path: Python files of its folder, and those that it names in `reads`.

    Raises
    ------
    ConfigError
        If one lies outside the folder.
    """
    if plugin.file is None:
        return {}
    for name in sorted(plugin.reads):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ConfigError(f"{plugin.name} reads {name}: a model, or another machine, has only files of its folder")
    folder = plugin.file.parent
    names = {each.relative_to(folder).as_posix() for each in importable_files(plugin.file)} | plugin.reads
    return {name: (folder / name).read_bytes() for name in sorted(names)}


def write_plugin_files(files: Mapping[str, Mapping[str, bytes]], folder: Path) -> dict[str, Path]:
    """Write plug-ins' files (see `plugin_files`) to a folder; return the paths by the original names."""
    paths = {}
    for number, (name, contents) in enumerate(files.items()):
        for file, content in contents.items():
            (folder / str(number) / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / str(number) / file).write_bytes(content)
        paths[name] = folder / str(number) / Path(name).name
    return paths
