"""Components that a configuration can name (kernels, protocols), by kind, and checked against their constructors."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from benchmark.classifiers import PARAMETER_LIMITS
from benchmark.config.schema import documented_parameters, first_paragraph, validate_section
from benchmark.system.errors import ConfigError, did_you_mean, quote_value, unknown_name
from benchmark.system.tags import Tags, tags_of
from benchmark.system.user_classes import guarded, is_builtin, plugin_of
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmark.evaluation.metrics import DiagnosticMetric

#: Types that modules import for the type checker alone; a configuration can't set functions and paths.
_TYPES = {"Sequence": Sequence, "Callable": Callable, "ClassStatistics": Any, "Array": Any, "Path": Any}
#: Stands for the default of a required parameter.
REQUIRED_PARAMETER = inspect.Parameter.empty
#: Kinds of parameters that have no names of their own: ``*args`` and ``**kwargs``.
_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Component:
    """A component by name, with its parameters and tags as data.

    Parameters
    ----------
    name : str
        Its name in the registry.
    given : dict
        The parameters that the configuration states.
    defaults : dict
        The constructor's default of every parameter that has one.
    tags : Tags
    cls : type
        The class; None in an experiment that is read from a run folder.
    """

    name: str
    given: dict[str, Any]
    defaults: dict[str, Any]
    tags: Tags
    cls: Any = field(default=None, compare=False, repr=False, metadata={"data": False})

    @staticmethod
    def of(name: str, cls: Any, given: dict[str, Any]) -> Component:
        """Describe a class with the parameters that a configuration states."""
        parameters = component_parameters(cls).items()
        defaults = {key: default for key, (_, default) in parameters if default is not REQUIRED_PARAMETER}
        return Component(name, given, defaults, tags_of(cls), cls)

    def build(self, **more: Any) -> Any:
        """Return a new instance."""
        return self.cls(**self.given, **more)

    @property
    def resolved(self) -> dict[str, Any]:
        """Name and every parameter, defaults included, as results are keyed."""
        return {"name": self.name, **self.defaults, **self.given}

    @property
    def plain(self) -> str | dict[str, Any]:
        """Its name if it has no parameters, or else all of `resolved`."""
        return self.resolved if self.defaults or self.given else self.name


@cache
def component_parameters(cls: Any) -> dict[str, tuple[Any, Any]]:
    """Return the annotation and default of each constructor parameter that a configuration may set.

    Parameters in the tag `set_by_run` are left out: the run sets them.
    """
    library, set_by_run = is_library_class(cls), tags_of(cls).set_by_run
    found: dict[str, tuple[Any, Any]] = {}
    for key, each in inspect.signature(cls, eval_str=not library, locals=_TYPES).parameters.items():
        if key in set_by_run or each.kind in _NAMELESS:
            continue
        untyped = library or each.annotation is REQUIRED_PARAMETER  # a library checks its parameters itself
        found[key] = Any if untyped else each.annotation, plain_default(each.default)
    return found


def plain_default(default: Any) -> Any:
    """Return a default of a parameter as it is if JSON can hold it, else its name or type."""
    if default is REQUIRED_PARAMETER:
        return default
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError):
        return str(getattr(default, "__qualname__", default if isinstance(default, float) else type(default).__name__))
    return default


def is_library_class(cls: type[Any]) -> bool:
    """Return whether a class is a library's, named by its import path: neither of this package nor of a plug-in."""
    return not is_builtin(cls) and plugin_of(cls) is None


def seed_parameters(component: Component) -> list[str]:
    """Return the parameters that are seeds and that the configuration leaves to the experiment's seed.

    They are the random state of a library's class, and those of a pipeline's steps that have none by default.
    """
    free = {key: value for key, value in component.defaults.items() if key not in component.given}
    if component.tags.reads_texts:
        return [key for key, value in free.items() if value is None and key.rpartition("__")[2] == "random_state"]
    return [key for key in free if key == "random_state"] if is_library_class(component.cls) else []


def lists_by_nature(cls: Any) -> set[str]:
    """Return the parameters whose values are lists: by annotation, or by a library's defaults."""
    return {
        name
        for name, (annotation, default) in component_parameters(cls).items()
        if get_origin(annotation) in (list, tuple, Sequence)
        or (is_library_class(cls) and isinstance(default, list | tuple))
    }


def check_component(
    what: str,
    registry: Mapping[str, type[Any]],
    named: Node | str | dict[str, Any],
    defaults: Mapping[str, Node] | None = None,
) -> Component:
    """Check ``name`` or ``{name: …, parameter: value, …}``, a node or plain data, against a registry.

    Parameters
    ----------
    what : str
        Kind of component, for errors.
    registry : mapping of str to class
    named : Node, str or dict
    defaults : mapping of str to Node, optional
        Parameters that the component gets where it has them and states no other value.

    Raises
    ------
    ConfigError
        For an unknown name or parameter, a value of the wrong type, or one outside its range.
    """
    node = named if isinstance(named, Node) else Node.of_data(named, what)
    at = node["name"] if isinstance(node.value, dict) else node
    name = at.value
    if not isinstance(node.value, str) and "name" not in node:
        raise node.error(f"must be a name, or a mapping with a name and parameters, not {quote_value(node.value)}")
    cls = (registry if isinstance(registry, Registry) else Registry(registry)).component(what, at)
    stated = node.without("name").children if node is not at else {}
    taken = {key: each for key, each in (defaults or {}).items() if key in component_parameters(cls)}
    parameters = node.with_children({**taken, **stated})
    model = component_model(cls, what)
    found = validate_section(model, parameters, what=f"{name} parameter")
    for key in found.model_extra or ():
        if near := did_you_mean(key, component_parameters(cls)):
            raise parameters[key].error(f"unknown {name} parameter {key!r}{near}")
    checked = found.model_dump(by_alias=True, exclude_unset=True)
    values = {key: checked[key] for key in parameters.value}
    try:
        _check_range(cls, values)
    except (ValueError, ConfigError) as error:
        cause = error.__cause__ if isinstance(error.__cause__, ValueError | ConfigError) else error
        raise mentioned(parameters, str(cause)).error(str(cause)) from None
    return Component.of(name, cls, values)


def _check_range(cls: Any, values: Mapping[str, Any]) -> None:
    """Refuse parameters that a class rejects, and a plug-in that raises any other error."""
    with guarded([cls], ConfigError):
        instance = cls(**values)
        if hasattr(instance, "check"):
            instance.check()
        elif is_library_class(cls) and hasattr(cls, "_parameter_constraints"):
            instance._validate_params()


@cache
def component_model(cls: Any, what: str = "") -> type[BaseModel]:
    """Return the model of a component's parameters: types, ranges, defaults and texts."""
    documented = documented_parameters(cls)
    limits = PARAMETER_LIMITS if what == "classifier" else {}
    fields: dict[str, Any] = {}
    for number, (key, (annotation, default)) in enumerate(component_parameters(cls).items()):
        low, high = limits.get(key, (None, None))
        kind, text = documented.get(key, ("", ""))
        usual = ... if default is REQUIRED_PARAMETER else default
        told = Field(usual, alias=key, ge=low, le=high, description=text or None, json_schema_extra={"$comment": kind})
        fields[f"parameter_{number}"] = annotation, told
    kinds = {each.kind for each in inspect.signature(cls).parameters.values()}
    extra: Literal["allow", "forbid"] = "allow" if _NAMELESS[1] in kinds else "forbid"
    config = ConfigDict(extra=extra, strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
    return create_model(cls.__name__, __config__=config, __doc__=first_paragraph(cls.__doc__), **fields)


def mentioned(node: Node, message: str) -> Node:
    """Return the value whose key a message mentions, and in a list the item that it quotes first; else the mapping."""
    words = [word.strip(":,;'") for word in message.split()]
    found = next((node[key] for key in node.children if key in words), node)
    quoted = [each for each in found.each() if repr(each.value) in message] if found is not node else []
    return min(quoted, key=lambda each: message.index(repr(each.value)), default=found)


class Registry(dict[str, Any]):
    """Components of one kind by name: those of this package, and those of plug-ins.

    Parameters
    ----------
    named : mapping of str to component
    find : callable, optional
        Returns the component of a node that names an import path, or anything else with a dot; raises ConfigError if
        there is none.

    Attributes
    ----------
    origins : dict of str to Plugin
        Files and installed packages of plug-ins' components, by name.
    broken : dict of str to str
        Problems of plug-ins' components that can't be used, by name.
    """

    def __init__(self, named: Mapping[str, Any], find: Callable[[Node], Any] | None = None) -> None:
        super().__init__(named)
        self.find = find
        self.origins: dict[str, Any] = {}
        self.broken: dict[str, str] = {}

    def component(self, what: str, node: Node) -> Any:
        """Return the component that a node names, of a kind that errors call `what`; raise ConfigError at the node."""
        name = node.value
        if isinstance(name, str) and name in self:
            return self[name]
        if isinstance(name, str) and name in self.broken:
            raise node.error(self.broken[name])
        if self.find is None or not isinstance(name, str) or "." not in name:
            raise node.error(unknown_name(what, name, list(self)))
        try:
            return self.find(node)
        except ConfigError as error:
            raise node.error(str(error)) from None


@dataclass(frozen=True)
class Registries:
    """All registries, by kind of component; `pipelines` has those of import paths and of functions in files alone.

    `calls` calls the users' components among them that run in a process of their own.
    """

    kernels: Registry
    classifiers: Registry
    protocols: Registry
    diagnostics: Registry
    metrics: Registry
    corpora: Registry
    weightings: Registry
    features: Registry
    thresholds: Registry
    pipelines: Registry = field(default_factory=lambda: Registry({}))
    calls: Any = None

    def each(self) -> Iterator[tuple[str, Registry]]:
        """Iterate over the kinds of components and their registries."""
        return ((kind.name, getattr(self, kind.name)) for kind in fields(self) if kind.name != "calls")

    @property
    def methods(self) -> Registry:
        """Kernels and classifiers, whose names don't overlap."""
        methods = Registry({**self.kernels, **self.classifiers}, self.classifiers.find)
        methods.broken = self.kernels.broken | self.classifiers.broken
        return methods

    @property
    def quantities(self) -> dict[str, DiagnosticMetric]:
        """Metrics that the diagnostics declare, by name."""
        return declared_metrics(self.diagnostics.values())

    def close(self) -> None:
        """End the process of `calls`; its next call starts another."""
        if self.calls is not None:
            self.calls.close()

    def copied(self) -> Registries:
        """Return copies of the registries, to which components can be added."""
        return replace(self, **{kind: Registry(registry, registry.find) for kind, registry in self.each()})


def declared_metrics(diagnostics: Iterable[Any]) -> dict[str, DiagnosticMetric]:
    """Return the metrics that diagnostics declare, by name."""
    return {each.name: each for diagnostic in diagnostics for each in diagnostic.metrics}
