"""Plug-ins of a kept model: their files lie in the model's folder, with digests, and run once a person trusts them."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.plugins.loader import load_plugin, plugin_files
from benchmark.plugins.trust import check_trusted
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import DataError
from benchmark.system.user_classes import is_user_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.system.user_classes import Plugin

#: The folders of plug-ins' files, numbered from 1.
PLUGIN_FOLDER = "plugin-{}"


def write_plugins(plugins: Iterable[Plugin], modules: Iterable[str], folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Write plug-ins' files into a model's folder; return their descriptions and the size in bytes.

    Files are needed only where an object of the model is of one of their `modules`: a pipeline that a file makes of
    libraries' classes alone needs no file.
    """
    loaded = [getattr(sys.modules.get(each), "__file__", None) for each in modules]
    needed = plugins if any(file is not None and is_user_file(Path(file)) for file in loaded) else ()
    described, n_bytes = [], 0
    for old in folder.glob(PLUGIN_FOLDER.format("*")):
        if old.name.removeprefix(PLUGIN_FOLDER.format("")).isdigit():
            shutil.rmtree(old)
    contents = {plugin: files for plugin in needed if (files := plugin_files(plugin))}
    for number, (plugin, files) in enumerate(contents.items(), start=1):
        own = folder / PLUGIN_FOLDER.format(number)
        for name, content in files.items():
            write_atomically(own / name, content)
            n_bytes += len(content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        module = "" if plugin.module is None else plugin.module.__name__
        described.append({"file": Path(plugin.name).name, "module": module, "files": digests})
    return described, n_bytes


def read_plugins(folder: Path, description: Path, plugins: Sequence[Mapping[str, Any]]) -> tuple[Plugin, ...]:
    """Load the plug-ins of a model; `description` is the file that has their digests.

    Raises
    ------
    DataError
        If a file is missing or was changed, or there are others.
    ConfigError
        If they aren't trusted, or can't be loaded.
    """
    for number, each in enumerate(plugins, start=1):
        _check_files(folder / PLUGIN_FOLDER.format(number), each)
    if plugins:
        names = ", ".join(each["file"] for each in plugins)
        check_trusted(description, f"has the code of {names}, which would be run")
    return tuple(
        load_plugin(folder / PLUGIN_FOLDER.format(number) / each["file"], trusted=True)
        for number, each in enumerate(plugins, start=1)
    )


def _check_files(folder: Path, described: Mapping[str, Any]) -> None:
    found = {each.relative_to(folder).as_posix(): each for each in folder.rglob("*") if each.is_file()}
    found = {name: each for name, each in found.items() if "__pycache__" not in name}
    for name in sorted(found.keys() | described["files"].keys() | {described["file"]}):
        known = name in found and name in described["files"]
        if not known or hashlib.sha256(found[name].read_bytes()).hexdigest() != described["files"][name]:
            problem = "was changed" if known else "is missing" if name not in found else "is no file of the model"
            raise DataError(f"{folder / name}: {problem}; fit it again")


@contextlib.contextmanager
def named_modules(plugins: Iterable[Plugin], names: Iterable[str]) -> Iterator[None]:
    """Let plug-ins' modules be imported by the names that they had where the model was trained."""
    named = {name: each.module for name, each in zip(names, plugins, strict=True) if name and each.module}
    before = {name: sys.modules[name] for name in named if name in sys.modules}
    sys.modules.update(named)
    try:
        yield
    finally:
        for name in named:
            del sys.modules[name]
        sys.modules.update(before)
