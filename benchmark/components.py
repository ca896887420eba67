"""What a configuration names (kernels, classifiers, protocols): checked against the constructor it stands for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmark.errors import ConfigError
from benchmark.yaml_source import unknown

#: The default of a parameter that has none.
REQUIRED = inspect.Parameter.empty


class ComponentError(Exception):
    """What is wrong with a component, and at which of its keys ("" for the component itself)."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class Component:
    """A named class with checked parameters, ready to be built.

    Parameters
    ----------
    name : str
        Its name in the registry.
    cls : type
    given : dict
        The parameters that were given; the others have the constructor's defaults.
    """

    name: str
    cls: type[Any]
    given: dict[str, Any]

    def build(self, **more: Any) -> Any:
        """A new instance."""
        return self.cls(**self.given, **more)

    @property
    def resolved(self) -> dict[str, Any]:
        """Name and every parameter, defaults included: what a result is keyed by."""
        defaults = {name: default for name, (_, default) in parameters(self.cls).items() if default is not REQUIRED}
        return {"name": self.name, **defaults, **self.given}


def parameters(cls: type[Any]) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of each constructor parameter that a configuration may set.

    `jobs` is left out: it says how to compute, not what.
    """
    signature = inspect.signature(cls, eval_str=True, locals={"Sequence": Sequence})
    return {
        name: (parameter.annotation, parameter.default)
        for name, parameter in signature.parameters.items()
        if name != "jobs"
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
    if name not in registry:
        raise ComponentError("name", unknown(what, name, list(registry)))
    cls, allowed = registry[name], parameters(registry[name])
    values = {key: value for key, value in spec.items() if key != "name"}
    for key, value in values.items():
        if key not in allowed:
            known = list(allowed) or ["no parameters"]
            raise ComponentError(key, unknown(f"parameter of the {what} {name!r}:", key, known))
        values[key] = _typed(key, value, allowed[key][0])
    for key, (_, default) in allowed.items():
        if default is REQUIRED and key not in values:
            raise ComponentError("", f"the {what} {name!r} needs the parameter {key!r}")
    try:
        instance = cls(**values)
        if hasattr(instance, "check"):
            instance.check()
    except (ValueError, ConfigError) as error:
        raise ComponentError(_named_in(str(error), values), str(error)) from None
    return Component(name, cls, values)


def _typed(key: str, value: Any, annotation: Any) -> Any:
    try:
        adapter = TypeAdapter(annotation, config=ConfigDict(strict=True))
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"][0].lower() + error.errors()[0]["msg"][1:]
        hint = ""
        if isinstance(value, str) and _is_number(value):
            hint = "; YAML reads it as text, since a number such as 1e-3 needs a decimal point: 1.0e-3"
        raise ComponentError(key, f"{key} is {value!r}: {problem}{hint}") from None


def _named_in(message: str, values: Mapping[str, Any]) -> str:
    """The parameter that a message from a constructor speaks of, so that the error can point at its line."""
    return next((key for key in values if key in message.split()), "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
