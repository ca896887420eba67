"""Classifiers by their import paths: any class of an installed library that has `fit` and `predict`."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

from benchmark.system.errors import ConfigError, one_line, unknown_name

_METHODS = ("fit", "predict")


@cache
def imported_estimator(path: str) -> type[Any]:
    """Return the class of an import path such as ``sklearn.ensemble.RandomForestClassifier``.

    Raises
    ------
    ConfigError
        If the module can't be imported, has no such class, or the class lacks `fit` or `predict`.
    """
    module_name, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # noqa: BLE001 - a library may raise anything while it is imported
        raise ConfigError(one_line(f"{path}: {module_name} can't be imported: {error}")) from None
    known = [key for key, value in vars(module).items() if isinstance(value, type) and not key.startswith("_")]
    found = getattr(module, name, None)
    if found is None:
        raise ConfigError(unknown_name(f"class of {module_name}:", name, known))
    if not isinstance(found, type) or inspect.isabstract(found):
        raise ConfigError(f"{path} is no class that can be built")
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        raise ConfigError(f"{path} has no {' and no '.join(missing)}: a classifier has both")
    return found
