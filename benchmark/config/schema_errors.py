"""Mappings with known keys, and pydantic's validation errors in terms of YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from benchmark.system.checks import is_number
from benchmark.system.errors import combine_errors, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from benchmark.system.errors import ConfigError
    from benchmark.system.yaml_source import Location, YamlSource

AnySection = TypeVar("AnySection", bound=BaseModel)


class ConfigSection(BaseModel):
    """Mapping with known keys only, whose values have the declared types."""

    model_config = ConfigDict(extra="forbid", strict=True)


#: Required types by pydantic's kinds of errors, in terms of YAML.
_MUST = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "list_type": "a list",
    "sequence_str": "a list",
    "is_instance_of": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}


def type_requirement(problem: ErrorDetails) -> str:
    """Explain what type a value must have, in terms of YAML, and how to correct it."""
    kind, value = problem["type"], problem["input"]
    if kind == "too_short":
        return "must not be empty"
    if kind not in _MUST:
        return problem["msg"][0].lower() + problem["msg"][1:]
    hint = ""
    if kind == "string_type" and isinstance(value, bool):
        hint = "; YAML reads yes, no, on and off as true and false: put it in quotes"
    elif kind == "string_type" and not isinstance(value, list | dict | None):
        hint = ": put it in quotes"
    elif kind in ("int_type", "float_type") and isinstance(value, str) and is_number(value):
        hint = "; YAML reads a number in quotes, and one such as 1e3, as text: write 1000 or 1.0e+3"
    return f"must be {_MUST[kind]}{hint}"


def format_input(value: Any) -> str:
    """Format a value for an error message."""
    return "empty" if value is None else quote_value(value)


def validate_section(
    schema: type[AnySection],
    source: YamlSource,
    *,
    homes: Mapping[str, str] | None = None,
) -> AnySection:
    """Validate plain data as a section, or raise ConfigError with all problems.

    Parameters
    ----------
    schema : type
    source : YamlSource
    homes : mapping of str to str, optional
        The section that has a key which this one doesn't have, for the message where the key stands here.
    """
    try:
        return schema.model_validate(source.data)
    except ValidationError as error:
        raise _explained(error, schema, source, homes or {}) from None


def _explained(
    error: ValidationError, schema: type[BaseModel], source: YamlSource, homes: Mapping[str, str]
) -> ConfigError:
    """Combine all of pydantic's errors in one ConfigError, in terms of YAML."""
    line_of: dict[str, int] = {}
    for problem in error.errors():
        location = _within(tuple(problem["loc"]), source, missing=problem["type"] == "missing")
        key = location[-1] if location else ""
        if problem["type"] == "extra_forbidden":
            message = unknown_name("key", key, _keys_at(schema, location[:-1]))
            if len(location) == 1 and key in homes:
                message = f"the key {key!r} belongs under `{homes[str(key)]}`, not beside it"
        elif problem["type"] == "value_error":
            message = f"{'.'.join(map(str, location)) or 'the file'}: {problem['ctx']['error']}"
        elif problem["type"] == "missing":
            message = f"the key {key!r} is missing"
        elif problem["type"] == "invalid_key" or problem["loc"][-1] == "[key]":
            location = (*location[:-1], str(key))
            message = f"the key {quote_value(key)} must be text: put it in quotes"
        elif problem["type"] == "string_pattern_mismatch":
            must = "must begin with a letter or digit, and continue with letters, digits, '.', '_' or '-'"
            message = f"{key} is {format_input(problem['input'])}: {must}"
        else:
            what = ".".join(map(str, location)) or "the configuration"
            message = f"{what} is {format_input(problem['input'])}: {type_requirement(problem)}"
            if problem["type"] == "model_type":
                message += f", such as {', '.join(_keys_at(schema, location)[:3])}"
        line_of.setdefault(str(source.error(location, message)), source.line(location))
    return combine_errors([text for _, text in sorted((line, text) for text, line in line_of.items())])


def _within(location: Location, source: YamlSource, *, missing: bool) -> Location:
    """Return a location without the names of union members that pydantic adds; its last key may be missing."""
    data, location_in_file = source.data, list[Any]()
    for part in location:
        inside = isinstance(data, dict) and part in data
        if inside or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
            location_in_file.append(part)
    return (*location_in_file, location[-1]) if missing else tuple(location_in_file)


def _keys_at(schema: type[BaseModel], location: Location) -> list[str]:
    """Return the keys that a schema allows at a location."""
    for part in location:
        field = schema.model_fields.get(str(part))
        inner = None if field is None else _section_in(field.annotation)
        schema = schema if inner is None else inner  # the index of a list, or the key of a mapping of sections
    return list(schema.model_fields)


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """Find the section in a field's type, also within a list, mapping or union; return None without one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((section for part in get_args(annotation) if (section := _section_in(part))), None)
