"""Registries of a configuration: the shipped components, and those of plug-in files and installed packages.

A plug-in is a Python file whose top level names components by kind, ``KERNELS = {"chi2": ChiSquared}``, or a package
with entry points of the groups ``simplexbench.kernels``, ``simplexbench.classifiers`` and so on.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from functools import cache, partial, wraps
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import REQUIRED_PARAMETER, Registries, Registry, component_parameters
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.registry import CORPORA
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.diagnostics.base import Diagnostic
from benchmark.evaluation.metrics import METRICS, PAIR_METRICS, TIME_METRICS, Metric, function_of
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.plugins.import_paths import imported_class, module_file
from benchmark.plugins.loader import load_plugin
from benchmark.plugins.pipelines import add_pipelines, imported_pipeline
from benchmark.plugins.user_process import UserProcess, in_process
from benchmark.representation import WEIGHTINGS, Weighting
from benchmark.representation.features import FEATURE_MAPS, FeatureMap
from benchmark.system.errors import ConfigError
from benchmark.system.tags import DEFAULT_TAGS, Tags
from benchmark.system.user_classes import (
    Plugin,
    is_builtin,
    register_plugin_class,
    report_lines_below,
    runs_user_code_here,
    source_location,
    user_code,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from benchmark.plugins.user_process import ClassName
    from benchmark.system.yaml_source import Node

_GROUP = "simplexbench."


class _Kind(NamedTuple):
    """A kind of components.

    Parameters
    ----------
    shipped : dict of str to component
        Those of this package.
    methods : tuple of str
        Methods that each must have.
    base : type
        The base class of each.
    remote : tuple of str
        Methods and properties of a user's that run in a process of their own, wherever they are called.
    find : callable, optional
        Returns the component of an import path.
    """

    shipped: dict[str, Any]
    methods: tuple[str, ...] = ()
    base: type[Any] = object
    remote: tuple[str, ...] = ()
    find: Callable[[str], Any] | None = None


_OF_DIAGNOSTICS = "compute", "cells", "kinds", "rows"
_OF_CORPORA = "classes", "parts", "multilabel", "outline", "read"
_KINDS = {
    "kernels": _Kind(KERNELS, ("fit", "transform", "get_params")),
    "classifiers": _Kind(CLASSIFIERS, ("fit", "predict"), find=imported_class),
    "protocols": _Kind(PROTOCOLS, ("splits",), remote=("splits",)),
    "diagnostics": _Kind(DIAGNOSTICS, base=Diagnostic, remote=_OF_DIAGNOSTICS),
    "metrics": _Kind(METRICS),
    "corpora": _Kind(CORPORA, base=CorpusReader, remote=_OF_CORPORA),
    "weightings": _Kind(WEIGHTINGS, base=Weighting),
    "features": _Kind(FEATURE_MAPS, base=FeatureMap),
    "thresholds": _Kind(THRESHOLDS, ("fit",)),
    "pipelines": _Kind({}, find=imported_pipeline),
}
#: The components that a configuration without plug-ins can name.
BUILTIN_REGISTRIES = Registries(**{name: Registry(kind.shipped, kind.find) for name, kind in _KINDS.items()})


def registries_for(
    node: Node, received: Sequence[Path] = (), pipelines: Mapping[str, Path] = MappingProxyType({})
) -> Registries:
    """Return the components that a configuration can name.

    Parameters
    ----------
    node : Node
    received : sequence of Path
        Files that came with a run and have the configuration; by default those of the node in a run's folder.
    pipelines : mapping of str to Path
        Files of pipelines by their names, see `add_pipelines`.

    Raises
    ------
    ConfigError
        At a plug-in that can't be loaded, or code that isn't trusted.
    """
    files_of_node = dict.fromkeys(Path(each.file) for each in node.walk())
    received = received or [each for each in files_of_node if (each.parent / "manifest.json").is_file()]
    found = registries_with_plugins()
    for each in node["plugins"]:
        if isinstance(each.value, str):
            try:
                _add_file(each.folder / Path(each.value).expanduser(), found)
            except ConfigError as error:
                raise each.error(str(error)) from error
    found.classifiers.find = partial(imported_class, received=received)
    found.pipelines.find = partial(imported_pipeline, received=received)
    add_pipelines(node, found, pipelines)
    return found


def registries_with_plugins(files: Iterable[Path] = ()) -> Registries:
    """Return the shipped components, those of installed packages, and those of plug-in files.

    Raises
    ------
    ConfigError
        If a file can't be loaded, defines no component, or uses a name that is taken. A component with another error,
        and any error of an installed package, is refused only where a configuration names the component.
    """
    found = replace(BUILTIN_REGISTRIES.copied(), calls=UserProcess())
    for entry in _entries():
        _add_installed(entry, found)
    for path in files:
        _add_file(path, found)
    return found


def _add_file(path: Path, found: Registries) -> None:
    """Add the components of a plug-in file to the registries, once."""
    plugin = load_plugin(path)
    if any(plugin in registry.origins.values() for _, registry in found.each()):
        return
    named = {kind: getattr(plugin.module, kind.upper(), None) for kind, _ in found.each()}
    # A plug-in may import the mappings of this package.
    named = {kind: each for kind, each in named.items() if each is not None and each is not _KINDS[kind].shipped}
    if not named:
        kinds = ", ".join(kind.upper() for kind, _ in found.each())
        raise ConfigError(f"{path}: names no component, such as KERNELS = {{'mine': MyKernel}}; kinds are {kinds}")
    for kind, components in named.items():
        if not isinstance(components, dict) or not all(isinstance(name, str) and name for name in components):
            raise ConfigError(f"{path}: {kind.upper()} must be a mapping of names to components")
        for name, component in components.items():
            _add(kind, name, component, source_location(function_of(component)) or str(path), plugin, found)


def _add(kind: str, name: str, component: Any, location: str, plugin: Plugin, found: Registries) -> None:
    """Add a component to its registry, or its problem; raise ConfigError if its name is taken.

    Kernels and classifiers share one namespace.
    """
    for other in ("kernels", "classifiers") if kind in ("kernels", "classifiers") else (kind,):
        others: Registry = getattr(found, other)
        if name in others or name in others.origins:
            by = source_location(function_of(others[name])) if name in others else others.origins[name].name
            raise ConfigError(f"{location}: the name {name!r} is taken, by {by}")
    registry: Registry = getattr(found, kind)
    registry.origins[name] = plugin
    register_plugin_class(plugin, kind, name, component)
    if wrong := _problem(kind, name, component, found):
        registry.broken[name] = f"{location}: {name!r} can't be used: {wrong}"
        return
    if kind == "metrics":
        component = _checked_metric(component, (plugin.name, kind, name), location, found.calls)
    elif _KINDS[kind].remote and not is_builtin(component) and not runs_user_code_here():
        component = in_process(component, _KINDS[kind].remote, found.calls, location)
        register_plugin_class(plugin, kind, name, component)
    registry[name] = component


def _checked_metric(metric: Metric, named: ClassName, location: str, calls: UserProcess) -> Metric:
    """Return the metric, computed and checked in the process of `calls`."""
    function: Any = metric.ranking or metric.scores
    ranks = metric.ranking is not None

    @wraps(function)
    def call(counted: Any, *args: Any) -> Any:
        if not runs_user_code_here():
            return calls.call(named, ((), {}), "", (counted, *args), {}, location)
        with user_code(ConfigError, location):
            values = np.asarray(function(counted, *args), dtype=np.float64)
        expected = () if ranks else counted.documents.shape
        if values.shape != expected or not np.isfinite(values).all():
            problem = f"must return finite scores of shape {expected}; it returned shape {values.shape}, or not finite"
            raise ConfigError(f"{location}: the metric {named[2]!r} {problem}")
        return float(values) if ranks else values

    return replace(metric, ranking=call) if ranks else replace(metric, of=call)


def _problem(kind: str, name: str, component: Any, known: Registries) -> str:
    """Return why a component can't be used beside those that are known, in a line, or ""."""
    if kind == "metrics":
        wrong = "" if isinstance(component, Metric) else "a metric is a benchmark.evaluation.metrics.Metric"
        return wrong or _taken_metric(name, known.quantities)
    base, methods = _KINDS[kind].base, _KINDS[kind].methods
    if not isinstance(component, type) or not issubclass(component, base):
        return f"each of the {kind} must be a subclass of {base.__module__}.{base.__name__}, not {component!r}"
    if missing := [method for method in methods if not callable(getattr(component, method, None))]:
        return f"it has no {' and no '.join(missing)}; scikit-learn's BaseEstimator provides get_params"
    try:
        if kind == "corpora" and (called := getattr(component, "name", None)) != name:
            return f"its `name` is {called!r}: must be its name in CORPORA"
        declared = [each.name for each in component.metrics] if issubclass(component, Diagnostic) else []
        return _of_parameters(component) or "".join(_taken_metric(each, known.metrics) for each in declared)
    except (ValueError, TypeError, NameError, AttributeError) as error:
        return f"its attributes or its constructor's parameters can't be read ({error})"


def _taken_metric(name: str, others: Iterable[str]) -> str:
    taken = name in (*TIME_METRICS, *PAIR_METRICS, *others)
    return f"a metric named {name!r} exists: choose another name" if taken else ""


def _of_parameters(component: Any) -> str:
    """Return why tags or parameters can't be read, or "": no names, unknown types, defaults not data."""
    if not isinstance(tags := getattr(component, "tags", DEFAULT_TAGS), Tags):
        return f"its `tags` are {tags!r}: must be a {Tags.__module__}.Tags, such as Tags(normalization='l1')"
    kinds = {each.kind for each in inspect.signature(component).parameters.values()}
    if kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        return "every parameter of its constructor must have a name: no *args, no **kwargs"
    for name, (_, default) in component_parameters(component).items():
        try:
            json.dumps(None if default is REQUIRED_PARAMETER else default, allow_nan=False)
        except (TypeError, ValueError):
            return f"the default of {name} is {default!r}: must be a number, text, a list, or what else YAML can hold"
    return ""


# --- Installed packages ---


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """Return the entry points of all kinds; cached, because to scan all packages takes some hundredths of a second."""
    installed = entry_points()
    return tuple(each for kind, _ in BUILTIN_REGISTRIES.each() for each in installed.select(group=_GROUP + kind))


def _add_installed(entry: EntryPoint, found: Registries) -> None:
    assert entry.dist is not None  # noqa: S101 - it was found in a distribution
    plugin = Plugin(f"{entry.dist.name} {entry.dist.version}", entry.dist.version)
    kind, location = entry.group.removeprefix(_GROUP), f"{plugin.name} ({entry.value})"
    try:
        with user_code(ConfigError, location):
            component = entry.load()
        if (folder := module_file(entry.module)) is not None:
            report_lines_below(folder)
        _add(kind, entry.name, component, location, plugin, found)
    except ConfigError as error:
        registry: Registry = getattr(found, kind)
        registry.pop(entry.name, None)
        registry.origins[entry.name] = plugin
        registry.broken[entry.name] = str(error)
