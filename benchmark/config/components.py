"""Components that a configuration names (kernels, classifiers, protocols), checked against their constructors."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, cast, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmark.classifiers import PARAMETER_LIMITS
from benchmark.config.schema import as_list
from benchmark.config.schema_errors import format_input, type_requirement
from benchmark.system.errors import BenchError, ConfigError, did_you_mean, unknown_name
from benchmark.system.registries import is_builtin, unknown_component_message
from benchmark.system.tags import Tags, tags_of
from benchmark.system.user_classes import guarded, plugin_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Types that modules import for the type checker alone; a configuration can't set functions and paths.
_TYPES = {"Sequence": Sequence, "Callable": Callable, "ClassStatistics": Any, "Array": Any, "Path": Any}
#: Stands for the default of a required parameter.
REQUIRED_PARAMETER = inspect.Parameter.empty


class ComponentError(Exception):
    """An error in a component, with the key where it is ("" for the component itself)."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


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
    loaded : type or None
        The class. An experiment that is read from a run folder has none: its reports ask for no class.
    """

    name: str
    given: dict[str, Any]
    defaults: dict[str, Any]
    tags: Tags
    loaded: type[Any] | None = field(default=None, compare=False, repr=False, metadata={"data": False})

    @classmethod
    def of(cls, name: str, component: type[Any], given: dict[str, Any]) -> Component:
        """Describe a class with the parameters that a configuration states."""
        defaults = {
            key: default
            for key, (_, default) in component_parameters(component).items()
            if default is not REQUIRED_PARAMETER
        }
        return cls(name, given, defaults, tags_of(component), component)

    @property
    def cls(self) -> type[Any]:
        """The class of the component.

        Raises
        ------
        BenchError
            If the experiment was read from a run folder.
        """
        if self.loaded is None:
            raise BenchError(f"{self.name!r} of a finished run is only described here: run the configuration again")
        return self.loaded

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


def component_parameters(cls: type[Any]) -> dict[str, tuple[Any, Any]]:
    """Return the annotation and default of each constructor parameter that a configuration may set.

    Parameters in the tag `set_by_run` are left out: the run sets them.
    """
    return _parameters(cast("Hashable", cls))


@cache
def _parameters(cls: Any) -> dict[str, tuple[Any, Any]]:
    if is_library_class(cls):
        try:
            return _library_parameters(cls, inspect.signature(cls, eval_str=True, locals=_TYPES))
        except (NameError, AttributeError, SyntaxError, TypeError):  # annotations for the type checker alone
            return _library_parameters(cls, inspect.signature(cls))
    signature = inspect.signature(cls, eval_str=True, locals=_TYPES)
    set_by_run = tags_of(cls).set_by_run
    return {
        name: (Any if parameter.annotation is REQUIRED_PARAMETER else parameter.annotation, parameter.default)
        for name, parameter in signature.parameters.items()
        if name not in set_by_run
    }


def _library_parameters(cls: Any, signature: inspect.Signature) -> dict[str, tuple[Any, Any]]:
    """Return the parameters of a library's class with defaults as data, and with plain annotations alone."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    set_by_run = tags_of(cls).set_by_run
    return {
        key: (each.annotation if _is_plain(each.annotation) else Any, plain_default(each.default))
        for key, each in signature.parameters.items()
        if each.kind in named and key not in set_by_run
    }


def _is_plain(annotation: Any) -> bool:
    """Return whether an annotation is a number, text, a list of them, or None."""
    if annotation in (int, float, str, bool, NoneType):
        return True
    return get_origin(annotation) in (list, Sequence, Union, UnionType) and all(map(_is_plain, get_args(annotation)))


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


@cache
def _takes_any(cls: Any) -> bool:
    """Return whether a library's class hands on keyword arguments that its constructor doesn't name."""
    kinds = {each.kind for each in inspect.signature(cls).parameters.values()}
    return is_library_class(cls) and inspect.Parameter.VAR_KEYWORD in kinds


def seed_parameters(component: Component) -> list[str]:
    """Return the parameters that are seeds and that the configuration leaves to the experiment's seed.

    They are the random state of a library's class, and those of a pipeline's steps that have none by default.
    """
    free = {key: value for key, value in component.defaults.items() if key not in component.given}
    if component.tags.reads_texts:
        return [key for key, value in free.items() if value is None and key.rpartition("__")[2] == "random_state"]
    return [key for key in free if key == "random_state"] if is_library_class(component.cls) else []


def lists_by_nature(cls: type[Any]) -> set[str]:
    """Return the parameters whose values are lists: by annotation, or by a library's defaults and constraints."""
    found = {
        name
        for name, (annotation, _) in component_parameters(cls).items()
        if get_origin(annotation) in (list, tuple, Sequence)
    }
    if not is_library_class(cls):
        return found
    constraints = getattr(cls, "_parameter_constraints", {})
    return found | {
        name
        for name, (_, default) in component_parameters(cls).items()
        if isinstance(default, list | tuple)
        or any(each == "array-like" or each in (list, tuple) for each in as_list(constraints.get(name, [])))
    }


def check_component(what: str, registry: Mapping[str, type[Any]], given: Any) -> Component:
    """Check ``name`` or ``{name: …, parameter: value, …}`` against a registry.

    Raises
    ------
    ComponentError
        For an unknown name or parameter, a value of the wrong type, or one outside its range.
    """
    spec = {"name": given} if isinstance(given, str) else given
    if not isinstance(spec, dict) or "name" not in spec:
        raise ComponentError("", f"a {what} is a name, or a mapping with a name and parameters, not {given!r}")
    name = spec["name"]
    if not isinstance(name, str) or name not in registry:
        raise ComponentError("name", unknown_component_message(what, name, registry))
    cls, allowed = registry[name], component_parameters(registry[name])
    values = {key: value for key, value in spec.items() if key != "name"}
    for key, value in values.items():
        if key not in allowed and _takes_any(cast("Hashable", cls)) and not did_you_mean(key, allowed):
            continue
        if key not in allowed:
            known = list(allowed) or ["no parameters"]
            raise ComponentError(key, unknown_name(f"parameter of the {what} {name!r}:", key, known))
        values[key] = _typed(key, value, allowed[key][0])
    for key, (_, default) in allowed.items():
        if default is REQUIRED_PARAMETER and key not in values:
            raise ComponentError("", f"the {what} {name!r} needs the parameter {key!r}")
    _check_range(cls, values)
    _refuse_extremes(what, values)
    return Component.of(name, cls, values)


def _check_range(cls: type[Any], values: Mapping[str, Any]) -> None:
    """Refuse parameters that a class rejects, and a plug-in that raises any other error."""
    try:
        with guarded([] if is_builtin(cls) else [cls], ConfigError):
            instance = cls(**values)
            if hasattr(instance, "check"):
                instance.check()
            elif is_library_class(cls) and hasattr(cls, "_parameter_constraints"):
                instance._validate_params()
    except (ValueError, ConfigError) as error:
        cause = error.__cause__ if isinstance(error.__cause__, ValueError | ConfigError) else error
        raise ComponentError(parameter_in_message(str(cause), values), str(cause)) from None


def _refuse_extremes(what: str, values: dict[str, Any]) -> None:
    """Refuse parameter values that are valid but make a classifier numerically degenerate."""
    limits = PARAMETER_LIMITS if what == "classifier" else {}
    for key in filter(limits.__contains__, values):
        low, high, why = limits[key]
        if not low <= values[key] <= high:
            raise ComponentError(key, f"{key} must lie between {low:g} and {high:g}, not {values[key]!r}: {why}")


def parameter_in_message(message: str, values: Mapping[str, Any]) -> str:
    """Return the parameter that a component's message mentions, so that the error can point at its line."""
    words = [word.strip(":,;'") for word in message.split()]
    return next((key for key in values if key in words), "")


def _typed(key: str, value: Any, annotation: Any) -> Any:
    try:
        return _adapter(annotation).validate_python(value)
    except ValidationError as error:
        raise ComponentError(key, f"{key} is {format_input(value)}: {type_requirement(error.errors()[0])}") from None


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))
