"""Pipelines on raw texts: estimators that a function or class makes, of a user's file or of a library."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from benchmark.config.components import REQUIRED_PARAMETER, plain_default
from benchmark.plugins.import_paths import imported_class, missing_methods
from benchmark.plugins.loader import load_plugin
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.tags import Tags
from benchmark.system.user_classes import Plugin, register_plugin_class, user_code

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from benchmark.config.components import Registries
    from benchmark.system.yaml_source import Node

_PIPELINE_KEY = "pipeline"
#: Between the file and the function or class that stands in it, as in ``mymodels.py:make``.
_OF_FILE = ".py:"


class TextPipeline:
    """Class of a pipeline for a registry; its instances are what `make` returns, with parameters set.

    Attributes
    ----------
    make : callable
        Returns an object with `fit(texts, labels)` and `predict(texts)`.
    path : str
        Its import path, or file and name.
    sequences : mapping of str to type
        Type of each parameter that is a list or tuple: YAML has lists alone.
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, reads_texts=True)
    make: ClassVar[Callable[..., Any]]
    path: ClassVar[str]
    sequences: ClassVar[Mapping[str, type]]

    def __new__(cls, **parameters: Any) -> Any:
        """Return the object that `make` returns: its arguments by their names, other parameters by `set_params`."""
        kinds = cls.sequences
        converted = {key: kinds[key](value) if key in kinds else value for key, value in parameters.items()}
        arguments = _arguments(cls.make)
        made = cls.make(**{key: value for key, value in converted.items() if key in arguments})
        rest = {key: value for key, value in converted.items() if key not in arguments}
        if rest:
            made.set_params(**rest)
        for part in [made, *(_deep_parameters(made).values() if rest else ())]:
            if hasattr(part, "_parameter_constraints"):
                part._validate_params()  # noqa: SLF001 - scikit-learn's check, which it makes in fit
        return made


def imported_pipeline(path: str, received: Sequence[Path] = ()) -> type[Any]:
    """Return the pipeline that a class makes, such as ``mypackage.models.Pipeline``; parameters as `imported_class`."""
    return _pipeline(cast("Hashable", imported_class(path, received)), path, path)


def add_pipelines(node: Node, found: Registries, files: Mapping[str, Path]) -> None:
    """Load the files of the pipelines that a configuration names, and add them to the registries.

    Parameters
    ----------
    node : Node
    found : Registries
    files : mapping of str to Path
        Files by the names of pipelines, where they aren't those that the names say.

    Raises
    ------
    ConfigError
        At a pipeline whose file can't be loaded.
    """
    for each in node.walk():
        for named in each[_PIPELINE_KEY].each() if _PIPELINE_KEY in each else ():
            name = named["name"].value if isinstance(named.value, dict) else named.value
            if not isinstance(name, str) or _OF_FILE not in name or name in found.pipelines.origins:
                continue
            try:
                plugin = load_plugin(files.get(name, named.folder / Path(name.rpartition(":")[0]).expanduser()))
                component = pipeline_of_file(plugin, name)
            except ConfigError as error:
                raise named.error(str(error)) from error
            found.pipelines[name] = component
            found.pipelines.origins[name] = plugin


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
    arguments = _arguments(make)
    defaults = {key: each.default for key, each in arguments.items()}
    if REQUIRED_PARAMETER not in defaults.values():
        with user_code(ConfigError, location):
            made = make()
            parameters_of_steps = _deep_parameters(made)
        if problem := missing_methods(made, "pipeline"):
            raise ConfigError(f"{name}: {type(made).__name__} {problem}")
        defaults = {key: each for key, each in parameters_of_steps.items() if _is_data(each)} | defaults
    parameters = [_described(key, default) for key, default in sorted(defaults.items()) if key.isidentifier()]
    content = {
        "__module__": make.__module__,
        "__doc__": make.__doc__,
        "__signature__": inspect.Signature(parameters),
        "make": staticmethod(make),
        "path": name,
        "tags": replace(TextPipeline.tags, stored=bool(getattr(make, "stored", False))),
        "reads": tuple(getattr(make, "reads", ())),
        "sequences": {key: type(each) for key, each in defaults.items() if isinstance(each, list | tuple)},
    }
    return type(getattr(make, "__name__", "pipeline"), (TextPipeline,), content)


def _arguments(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments of a function or class that have names."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {key: each for key, each in inspect.signature(make).parameters.items() if each.kind in kinds}


def _deep_parameters(made: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and of its steps, such as ``svm__C``; none if it isn't scikit-learn's."""
    return dict(made.get_params(deep=True)) if hasattr(made, "get_params") else {}


def _is_data(value: Any) -> bool:
    """Return whether YAML can hold a parameter's value: not an estimator, nor a list of them."""
    items = value if isinstance(value, list | tuple) else [value]
    return all(each is None or isinstance(each, int | float | str) for each in items)


def _described(key: str, default: Any) -> inspect.Parameter:
    several = isinstance(default, list | tuple)
    shown = default if default is REQUIRED_PARAMETER else plain_default(list(default) if several else default)
    annotation = list[Any] if several else Any
    return inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=annotation)
