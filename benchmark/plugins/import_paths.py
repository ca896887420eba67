"""Classes by their import paths: what a path may name, and whether its code may run, before anything is imported.

Installed distributions are found without importing anything.
"""

from __future__ import annotations

import importlib
import site
import sys
import sysconfig
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmark.plugins.trust import check_trusted
from benchmark.system.errors import ConfigError, one_line, quote_value, unknown_name
from benchmark.system.user_classes import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Distributions by the packages that have another name: to look through all that are installed takes 0.3 seconds.
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "libsvm": "libsvm-official", "yaml": "pyyaml", "Stemmer": "PyStemmer"}


def imported_class(path: str, received: Sequence[Path] = ()) -> type[Any]:
    """Return the class of an import path such as ``sklearn.ensemble.RandomForestClassifier``.

    A class of an installed package runs without a question where the user's own configuration names it. A class from
    anywhere else is trusted like a plug-in's file. Classes of this package need no trust.

    Parameters
    ----------
    path : str
    received : sequence of Path
        Files that came with a run and name classes, which wait for trust wherever these are from.

    Raises
    ------
    ConfigError
        If it is no import path, its code isn't trusted, the module can't be imported or has no such class, or the class
        lacks `fit` or `predict`.
    """
    words = path.split(".")
    if not all(word.isidentifier() and not iskeyword(word) for word in words):
        raise ConfigError(one_line(f"{quote_value(path)} is no import path, such as package.module.Class"))
    if words[0] in sys.stdlib_module_names:
        raise ConfigError(f"{path}: {words[0]} is a module of Python itself, which has no classifier")
    if (location := module_file(path)) is None:
        raise ConfigError(f"{path}: no package {words[0]!r} is installed")
    if path.partition(".")[0] != PACKAGE:
        for file in received:
            check_trusted(file, f"came with a run and names classes by import paths, such as {path}, that would be run")
        if not has_distribution(path):
            what = f"has the code of {path}, which is of no installed package and would be run"
            check_trusted(location, what, with_folder=True)
    module_name, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # noqa: BLE001 - a library may raise anything while it is imported
        raise ConfigError(one_line(f"{path}: {module_name} can't be imported: {error}")) from None
    known = [key for key, value in vars(module).items() if not key.startswith("_") and not _why_not(value)]
    found: Any = getattr(module, name, None)
    if found is None:
        raise ConfigError(unknown_name(f"class of {module_name}:", name, known))
    if problem := _why_not(found):
        raise ConfigError(f"{path} {problem}")
    return cast("type[Any]", found)


def _why_not(found: Any) -> str:
    """Return why an object is no class of classifiers, or ""."""
    if not isinstance(found, type):
        return "is no class"
    return missing_methods(found, "classifier")


def missing_methods(found: Any, what: str) -> str:
    """Return which of `fit` and `predict` a classifier or pipeline lacks, or ""."""
    missing = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
    return f"has no {' and no '.join(missing)}: a {what} has both" if missing else ""


# --- Installed distributions ---


def module_file(path: str) -> Path | None:
    """Return the file of a path's first package, or its folder."""
    try:
        spec = find_spec(path.partition(".")[0])
    except ValueError:  # of a module that was made by hand
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.origin is not None and spec.has_location else None


@cache
def has_distribution(path: str) -> bool:
    """Return whether a module lies with installed packages, unlike an editable one, and is of a distribution."""
    top, file = path.partition(".")[0], module_file(path)
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()}
    if file is None or not any(file.is_relative_to(folder) for folder in (*folders, *site.getsitepackages())):
        return False
    return bool(distributions_of(top))


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
