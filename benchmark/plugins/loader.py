"""Load plug-ins' files, here and in other processes."""

from __future__ import annotations

import itertools
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.plugins.trust import check_trusted
from benchmark.system.errors import ConfigError
from benchmark.system.plugin_code import Plugin, SourceLoader, run_plugin_code
from benchmark.system.plugin_errors import convert_plugin_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NUMBERS = itertools.count(1)
#: The latest version of each loaded plug-in, by file or distribution.
_LOADED: dict[str, Plugin] = {}


def load_plugin(path: Path, *, trusted: bool = False) -> Plugin:
    """Load a plug-in's file; an earlier load is reused if everything that it read is unchanged.

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
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ConfigError(f"{path}: a plug-in is a Python file, such as mykernels.py")
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; a plug-in's path is relative to the configuration")
    if not trusted:
        check_trusted(path, "is code, and would be run with the Python files of its folder", with_folder=True)
    known = _LOADED.get(str(path))
    if known is not None and not known.why_not():
        return known
    plugin = Plugin(str(path), path.parent)
    name = f"_plugin{next(_NUMBERS)}_{path.stem}"
    spec = spec_from_file_location(name, path, loader=SourceLoader(name, str(path)))
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - the loader is passed above
    module = module_from_spec(spec)
    names = [name] if _is_taken(path.stem) else [name, path.stem]  # other files beside it may import it
    plugin.modules = dict.fromkeys(names, module)
    plugin.path = [str(path.parent)]
    with convert_plugin_errors(ConfigError, path), run_plugin_code(plugin, plugin.imported):
        spec.loader.exec_module(module)
    plugin.module = sys.modules[name] = module
    _LOADED[str(path)] = plugin
    return plugin


def _is_taken(name: str) -> bool:
    return name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None


def installed_plugin(name: str, folder: Path) -> Plugin:
    """Return the plug-in of a distribution; a new one if a file of an editable installation has changed."""
    known = _LOADED.get(name)
    if known is None or known.why_not():
        known = _LOADED[name] = Plugin(name, folder)
    return known


def plugin_files(names: Iterable[str]) -> dict[str, dict[str, bytes]]:
    """Return the files that plug-ins read when they were imported, to load them again in another process.

    Returns
    -------
    dict of str to dict of str to bytes
        Contents by relative path, by the plug-in's name.
    """
    contents = {}
    for name in names:
        plugin = _LOADED[name]
        relative = [file for kind, file in plugin.imported.reads if kind == "file"]
        inside = [file for file in relative if not file.startswith("..") and (plugin.folder / file).is_file()]
        contents[name] = {file: (plugin.folder / file).read_bytes() for file in inside}
    return contents


def reload_plugins(files: Mapping[str, Mapping[str, bytes]], folder: Path) -> dict[str, Plugin]:
    """Write plug-ins' files (see `plugin_files`) to a folder and load them; return them by their original names."""
    plugins = {}
    for number, (name, contents) in enumerate(files.items()):
        for file, content in contents.items():
            (folder / str(number) / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / str(number) / file).write_bytes(content)
        plugins[name] = load_plugin(folder / str(number) / Path(name).name, trusted=True)
    return plugins
