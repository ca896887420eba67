"""Classes by their import paths: what a path may name, and whether its code may run, before anything is imported.

Installed distributions are found without importing anything.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.plugins.trust import check_trusted
from benchmark.system.errors import ConfigError, one_line, unknown_name
from benchmark.system.user_classes import PACKAGE, is_installed

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
        If its code isn't trusted, the module can't be imported or has no such class, or the class lacks `fit` or
        `predict`.
    """
    top = path.partition(".")[0]
    if (location := module_file(path)) is None:
        raise ConfigError(f"{path}: no package {top!r} is installed")
    if top != PACKAGE:
        for file in received:
            check_trusted(file, f"came with a run and names classes by import paths, such as {path}, that would be run")
        if not is_installed(location):
            what = f"has the code of {path}, which is of no installed package and would be run"
            check_trusted(location, what, with_folder=True)
    module_name, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # noqa: BLE001 - a library may raise anything while it is imported
        raise ConfigError(one_line(f"{path}: {module_name} can't be imported: {error}")) from None
    found: Any = getattr(module, name, None)
    if not isinstance(found, type):
        public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
        known = [key for key, value in public.items() if isinstance(value, type) and hasattr(value, "predict")]
        raise ConfigError(unknown_name(f"class of {module_name}:", name, known))
    check_methods(found, f"{path}: a classifier")
    return found


def check_methods(found: Any, what: str) -> None:
    """Raise ConfigError unless a classifier or pipeline has `fit` and `predict`."""
    missing = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
    if missing:
        raise ConfigError(f"{what} has fit and predict, and this has no {' and no '.join(missing)}")


# --- Installed distributions ---


def module_file(path: str) -> Path | None:
    """Return the file of a path's first package, or its folder."""
    try:
        spec = find_spec(path.partition(".")[0])
    except ValueError:  # of a module that was made by hand
        return None
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    file = folders[0] if folders else spec.origin if spec is not None and spec.has_location else None
    return None if file is None else Path(file)


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
