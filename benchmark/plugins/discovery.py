"""Registries of a configuration: the shipped components, and those of plug-in files and installed packages.

A plug-in is a Python file whose top level names components by kind, ``KERNELS = {"chi2": ChiSquared}``, or a package
with entry points of the groups ``simplexbench.kernels``, ``simplexbench.classifiers`` and so on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial, wraps
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import Registries, Registry, component_parameters
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.registry import CORPORA
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.diagnostics.base import Diagnostic
from benchmark.evaluation.metrics import METRICS, PAIR_METRICS, TIME_METRICS, Metric, function_of
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.plugins.import_paths import imported_class
from benchmark.plugins.loader import load_plugin
from benchmark.plugins.pipelines import find_pipeline
from benchmark.plugins.user_process import UserProcess, in_process
from benchmark.representation import WEIGHTINGS, Weighting
from benchmark.representation.features import FEATURE_MAPS, FeatureMap
from benchmark.system.errors import ConfigError
from benchmark.system.tags import DEFAULT_TAGS, Tags
from benchmark.system.user_classes import (
    Plugin,
    is_builtin,
    register_plugin_class,
    runs_user_code_here,
    source_location,
    user_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
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
    """

    shipped: dict[str, Any]
    methods: tuple[str, ...] = ()
    base: type[Any] = object
    remote: tuple[str, ...] = ()


_OF_DIAGNOSTICS = "compute", "cells", "kinds", "rows"
_OF_CORPORA = "classes", "parts", "multilabel", "outline", "read"
_KINDS = {
    "kernels": _Kind(KERNELS, ("fit", "transform", "get_params")),
    "classifiers": _Kind(CLASSIFIERS, ("fit", "predict")),
    "protocols": _Kind(PROTOCOLS, ("splits",), remote=("splits",)),
    "diagnostics": _Kind(DIAGNOSTICS, base=Diagnostic, remote=_OF_DIAGNOSTICS),
    "metrics": _Kind(METRICS),
    "corpora": _Kind(CORPORA, base=CorpusReader, remote=_OF_CORPORA),
    "weightings": _Kind(WEIGHTINGS, base=Weighting),
    "features": _Kind(FEATURE_MAPS, base=FeatureMap),
    "thresholds": _Kind(THRESHOLDS, ("fit",)),
}
#: The components that a configuration without plug-ins can name.
BUILTIN_REGISTRIES = Registries(
    **{name: Registry(kind.shipped) for name, kind in _KINDS.items()}
    | {"classifiers": Registry(CLASSIFIERS, lambda named: imported_class(named.value))},
    pipelines=Registry({}, find_pipeline),
)


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
        Files of pipelines by their names, see `find_pipeline`.

    Raises
    ------
    ConfigError
        At a plug-in that can't be loaded, names no component or one whose name is taken, or isn't trusted. A component
        with another error, and any error of an installed package, is refused only where a configuration names it.
    """
    files_of_node = dict.fromkeys(Path(each.file) for each in node.walk())
    received = received or [each for each in files_of_node if (each.parent / "manifest.json").is_file()]
    found = replace(BUILTIN_REGISTRIES.copied(), calls=UserProcess())
    for entry in _entries():
        _add_installed(entry, found)
    for each in node["plugins"]:
        if isinstance(each.value, str):
            try:
                _add_file(each.folder / Path(each.value).expanduser(), found)
            except ConfigError as error:
                raise each.error(str(error)) from error
    found.classifiers.find = lambda named: imported_class(named.value, received)
    found.pipelines.find = partial(find_pipeline, received=received, files=pipelines, found=found.pipelines)
    return found


def _add_file(path: Path, found: Registries) -> None:
    """Add the components of a plug-in file to the registries, once."""
    plugin = load_plugin(path)
    if any(plugin in registry.origins.values() for _, registry in found.each()):
        return
    named = {kind: getattr(plugin.module, kind.upper(), None) for kind in _KINDS}
    # A plug-in may import the mappings of this package.
    named = {kind: each for kind, each in named.items() if each is not None and each is not _KINDS[kind].shipped}
    if not named:
        kinds = ", ".join(map(str.upper, _KINDS))
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
    try:
        _check_usable(kind, name, component, found)
    except ConfigError as error:
        registry.broken[name] = f"{location}: {name!r} can't be used: {error}"
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


def _check_usable(kind: str, name: str, component: Any, known: Registries) -> None:
    """Raise ConfigError, in a line, if a component can't be used beside those that are known."""
    if kind == "metrics":
        if not isinstance(component, Metric):
            raise ConfigError("a metric is a benchmark.evaluation.metrics.Metric")
        _check_metric_name(name, known.quantities)
        return
    base, methods = _KINDS[kind].base, _KINDS[kind].methods
    if not isinstance(component, type) or not issubclass(component, base):
        rule = f"each of the {kind} must be a subclass of {base.__module__}.{base.__name__}"
        raise ConfigError(f"{rule}, not {component!r}")
    if missing := [method for method in methods if not callable(getattr(component, method, None))]:
        raise ConfigError(f"it has no {' and no '.join(missing)}; scikit-learn's BaseEstimator provides get_params")
    if not isinstance(tags := getattr(component, "tags", DEFAULT_TAGS), Tags):
        rule = f"must be a {Tags.__module__}.Tags, such as Tags(normalization='l1')"
        raise ConfigError(f"its `tags` are {tags!r}: {rule}")
    if kind == "corpora" and (called := getattr(component, "name", None)) != name:
        raise ConfigError(f"its `name` is {called!r}: must be its name in CORPORA")
    try:
        component_parameters(component)
        declared = [each.name for each in component.metrics] if issubclass(component, Diagnostic) else []
    except (ValueError, TypeError, NameError, AttributeError) as error:
        raise ConfigError(f"its attributes or its constructor's parameters can't be read ({error})") from error
    for each in declared:
        _check_metric_name(each, known.metrics)


def _check_metric_name(name: str, others: Iterable[str]) -> None:
    if name in (*TIME_METRICS, *PAIR_METRICS, *others):
        raise ConfigError(f"a metric named {name!r} exists: choose another name")


# --- Installed packages ---


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """Return the entry points of all kinds; cached, because to scan all packages takes some hundredths of a second."""
    installed = entry_points()
    return tuple(each for kind in _KINDS for each in installed.select(group=_GROUP + kind))


def _add_installed(entry: EntryPoint, found: Registries) -> None:
    assert entry.dist is not None  # noqa: S101 - it was found in a distribution
    plugin = Plugin(f"{entry.dist.name} {entry.dist.version}", entry.dist.version)
    kind, location = entry.group.removeprefix(_GROUP), f"{plugin.name} ({entry.value})"
    try:
        with user_code(ConfigError, location):
            component = entry.load()
        _add(kind, entry.name, component, location, plugin, found)
    except ConfigError as error:
        registry: Registry = getattr(found, kind)
        registry.pop(entry.name, None)
        registry.origins[entry.name] = plugin
        registry.broken[entry.name] = str(error)
