"""Classifiers by their import paths: any class of an installed library that has `fit` and `predict`."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

from sklearn.base import ClusterMixin, RegressorMixin

from benchmark.system.errors import ConfigError, one_line, unknown_name
from benchmark.system.user_code.isolation import restore_process_state

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
    module = imported_module(path)
    known = [key for key, value in vars(module).items() if not key.startswith("_") and not _why_not(value)]
    found = getattr(module, name, None)
    if found is None:
        raise ConfigError(unknown_name(f"class of {module_name}:", name, known))
    if problem := _why_not(found):
        raise ConfigError(f"{path} {problem}")
    classifier: type[Any] = found
    return classifier


def imported_module(path: str) -> Any:
    """Return the module of an import path, without its last word; ConfigError if it can't be imported."""
    name = path.rpartition(".")[0]
    try:
        with restore_process_state():
            return importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - a library may raise anything while it is imported
        raise ConfigError(one_line(f"{path}: {name} can't be imported: {error}")) from None


def _why_not(found: Any) -> str:
    """Return why an object is no class of classifiers, or ""."""
    if not isinstance(found, type) or inspect.isabstract(found):
        return "is no class that can be built"
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        return f"has no {' and no '.join(missing)}: a classifier has both"
    return "predicts numbers, not classes" if issubclass(found, RegressorMixin | ClusterMixin) else ""
