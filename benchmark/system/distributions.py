"""Installed distributions of modules, found without importing anything."""

from __future__ import annotations

import json
import site
import sys
import sysconfig
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

#: Distributions by the packages that have another name.
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "libsvm": "libsvm-official", "yaml": "pyyaml"}


def module_file(path: str) -> Path | None:
    """Return the first file of a path's packages; a namespace has none, so that those in it are looked at."""
    words = path.split(".")[:-1]
    spec = _spec_of(words[0])
    for n in range(2, len(words) + 1):
        if spec is None or spec.origin is not None:
            break
        spec = PathFinder.find_spec(".".join(words[:n]), spec.submodule_search_locations)
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    file = Path(spec.origin)
    return file.parent if file.stem == "__init__" else file


def _spec_of(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except ValueError:  # of a module that was made by hand
        return None


@cache
def has_distribution(path: str) -> bool:
    """Return whether a module is of an installed distribution that isn't editable, and not Python's own."""
    top, place = path.partition(".")[0], module_file(path)
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()}
    if place is None or not any(place.is_relative_to(folder) for folder in (*folders, *site.getsitepackages())):
        return False
    return any(not _is_editable(name) for name in distributions_of(top))


@cache
def distributions_of(top: str) -> tuple[str, ...]:
    """Return the installed distributions that have a package; none for the standard library."""
    if top in sys.stdlib_module_names:
        return ()
    known = _DISTRIBUTIONS.get(top, top)
    try:
        metadata.version(known)
    except metadata.PackageNotFoundError:
        return tuple(metadata.packages_distributions().get(top, ()))
    return (known,)


def _is_editable(distribution: str) -> bool:
    recorded = json.loads(metadata.distribution(distribution).read_text("direct_url.json") or "{}")
    return bool(recorded.get("dir_info", {}).get("editable"))
