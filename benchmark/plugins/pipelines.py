"""Pipelines on raw texts: estimators that a function or class makes, of a user's file or of a library."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.config.components import REQUIRED_PARAMETER, plain_default
from benchmark.plugins.import_paths import check_methods, imported_class
from benchmark.plugins.loader import load_plugin
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.tags import Tags
from benchmark.system.user_classes import Plugin, register_plugin_class, user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmark.config.components import Registry
    from benchmark.system.yaml_source import Node


class TextPipeline:
    """Class of a pipeline for a registry; its instances are what `make` returns, with parameters set.

    Attributes
    ----------
    make : callable
        Returns an object with `fit(texts, labels)` and `predict(texts)`.
    path : str
        Its import path, or file and name.
    defaults : mapping of str to Any
        The arguments of `make`, and the parameters of what it returns and of its steps that YAML can hold.
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, reads_texts=True)
    make: ClassVar[Callable[..., Any]]
    path: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]]

    def __new__(cls, **parameters: Any) -> Any:
        """Return the object that `make` returns: its arguments by their names, other parameters by `set_params`."""
        arguments = _arguments(cls.make)
        tuples = {key for key, each in cls.defaults.items() if isinstance(each, tuple)}  # YAML has lists alone
        values = {key: tuple(each) if key in tuples else each for key, each in parameters.items()}
        made = cls.make(**{key: value for key, value in values.items() if key in arguments})
        rest = {key: value for key, value in values.items() if key not in arguments}
        if rest:
            made.set_params(**rest)
        for part in [made, *(made.get_params().values() if rest else ())]:
            if hasattr(part, "_parameter_constraints"):
                part._validate_params()  # noqa: SLF001 - scikit-learn's check, which it makes in fit
        return made


def imported_pipeline(path: str, received: Sequence[Path] = ()) -> type[Any]:
    """Return the pipeline that a class makes, such as ``mypackage.models.Pipeline``; parameters as `imported_class`."""
    make: Any = imported_class(path, received)
    return _pipeline(make, path, path)


def find_pipeline(
    named: Node, received: Sequence[Path] = (), files: Mapping[str, Path] | None = None, found: Registry | None = None
) -> type[Any]:
    """Return the pipeline that a node names: of a file's function (``mymodels.py:make``), or of an import path.

    Parameters
    ----------
    named : Node
    received : sequence of Path
        As of `imported_class`.
    files : mapping of str to Path, optional
        Files by the names of pipelines, where they aren't those that the names say.
    found : Registry, optional
        Remembers the file.

    Raises
    ------
    ConfigError
        If the file can't be loaded or has no such function, or as `imported_class` does.
    """
    name: str = named.value
    file, _, _ = name.rpartition(":")
    if not file:
        return imported_pipeline(name, received)
    plugin = load_plugin((files or {}).get(name, named.folder / Path(file).expanduser()))
    if found is not None:
        found.origins[name] = plugin
    return pipeline_of_file(plugin, name)


def pipeline_of_file(plugin: Plugin, name: str) -> type[Any]:
    """Return the pipeline that a function or class of a loaded file makes; `name` ends with a colon and its name."""
    function, callables = name.rpartition(":")[2], {k: v for k, v in vars(plugin.module).items() if callable(v)}
    if function not in callables:
        raise ConfigError(f"{plugin.name}: {unknown_name('function or class:', function, list(callables))}")
    component = _pipeline(callables[function], name, plugin.name)
    register_plugin_class(plugin, "pipelines", name, component)
    return component


@cache
def _pipeline(make: Any, name: str, location: str) -> type[Any]:
    """Return the class of a pipeline, whose signature has the parameters of `make` and of what that returns."""
    defaults = _arguments(make)
    if REQUIRED_PARAMETER not in defaults.values():
        with user_code(ConfigError, location):
            made = make()
            steps = made.get_params() if hasattr(made, "get_params") else {}
        check_methods(made, f"{name}: a pipeline")
        defaults = {key: each for key, each in steps.items() if key.isidentifier() and _is_data(each)} | defaults
    parameters = [_parameter(key, default) for key, default in sorted(defaults.items())]
    content = {
        "__module__": make.__module__,
        "__doc__": make.__doc__,
        "__signature__": inspect.Signature(parameters),
        "make": staticmethod(make),
        "path": name,
        "tags": replace(TextPipeline.tags, stored=bool(getattr(make, "stored", False))),
        "reads": tuple(getattr(make, "reads", ())),
        "defaults": defaults,
    }
    return type(getattr(make, "__name__", "pipeline"), (TextPipeline,), content)


def _arguments(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of a function or class that have names, with their defaults."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {key: each.default for key, each in inspect.signature(make).parameters.items() if each.kind in kinds}


def _is_data(value: Any) -> bool:
    """Return whether YAML can hold a parameter's value: not an estimator, nor a list of them."""
    items = value if isinstance(value, list | tuple) else [value]
    return all(each is None or isinstance(each, int | float | str) for each in items)


def _parameter(key: str, default: Any) -> inspect.Parameter:
    several = isinstance(default, list | tuple)
    shown = plain_default(list(default) if several else default)
    annotation = list[Any] if several else Any
    return inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=annotation)
