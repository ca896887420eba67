"""Mappings with known keys, and pydantic's validation errors in terms of YAML."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from benchmark.system.checks import is_number
from benchmark.system.errors import combine_errors, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema, ErrorDetails

    from benchmark.system.errors import ConfigError
    from benchmark.system.yaml_source import Node

AnySection = TypeVar("AnySection", bound=BaseModel)


class ConfigSection(BaseModel):
    """Mapping with known keys only, whose values have the declared types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema, with the texts of the docstring."""
        found = handler(core)
        section = handler.resolve_ref_schema(found)
        section["description"] = first_paragraph(cls.__doc__)
        for key, (_, text) in documented_parameters(cls).items():
            section["properties"][key]["description"] = text
        return found


def documented_parameters(cls: type[Any]) -> dict[str, tuple[str, str]]:
    """Return type and text of each documented parameter; a class may leave out those of its bases."""
    documented: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        _, _, section = inspect.cleandoc(vars(base).get("__doc__") or "").partition("Parameters\n----------\n")
        section = re.split(r"\n\n?\w[\w ]*\n-{3,}\n", section)[0]
        for head, body in re.findall(r"^(\S.*)\n?((?:[ ]+.*\n?|\n)*)", section, re.MULTILINE):
            names, _, kind = head.partition(" : ")
            documented |= dict.fromkeys(re.split(r", *", names), (kind, " ".join(body.split())))
    return documented


def first_paragraph(doc: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((doc or "").strip().split("\n\n")[0].split())


#: What a value must do or be, by pydantic's kinds of errors, in terms of YAML.
_MUST = {
    "bool_type": "be true or false",
    "int_type": "be a whole number",
    "int_from_float": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "greater_than": "be greater than {gt:g}",
    "greater_than_equal": "be at least {ge:g}",
    "less_than_equal": "be at most {le:g}",
    "string_type": "be text",
    "string_too_short": "not be empty",
    "string_too_long": "have at most {max_length} characters",
    "too_short": "have at least {min_length} items",
    "too_long": "have at most {max_length} items",
    "list_type": "be a list",
    "sequence_str": "be a list",
    "is_instance_of": "be a list",
    "dict_type": "be a mapping of keys to values",
    "model_type": "be a mapping of keys to values",
}
RUN_NAME, CELL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$", r"^[a-z0-9][a-z0-9.-]*$"
FIELD_NAME, HAS_LETTER = r"^[^:\x00-\x1f]+$", r"[A-Za-z0-9]"
#: What text must be, by its pattern.
_PATTERNS = {
    RUN_NAME: "must begin with a letter or digit, and continue with letters, digits, '.', '_' or '-'",
    CELL_NAME: "must be made of a-z, 0-9, '.' and '-', and begin with a letter or digit",
    FIELD_NAME: "must not be empty, or have a colon or control character",
    HAS_LETTER: "must have a letter or digit: it names cells",
}
_QUOTES = "; YAML reads yes, no, on and off as true and false: put it in quotes"
_NUMBER = "; YAML reads a number in quotes, and one such as 1e3, as text: write 1000 or 1.0e+3"


def validate_section(
    schema: type[AnySection],
    node: Node,
    hint: Callable[[Node, tuple[Any, ...], str], str] | None = None,
    what: str = "key",
) -> AnySection:
    """Validate a node as a section, or raise ConfigError with all problems.

    Parameters
    ----------
    schema : type
    node : Node
    hint : callable, optional
        Returns what to write in place of an unknown key, by its mapping, the keys above, and the key; or "".
    what : str, optional
        What a key is called in errors.
    """
    try:
        return schema.model_validate(node.value)
    except ValidationError as error:
        raise _explained(error, schema, node, hint, what) from None


def _explained(
    error: ValidationError,
    schema: type[BaseModel],
    node: Node,
    hint: Callable[[Node, tuple[Any, ...], str], str] | None,
    what: str,
) -> ConfigError:
    """Combine pydantic's errors in one ConfigError, in the order of the lines: of each value the first."""
    problems: dict[tuple[int, int], tuple[int, str]] = {}
    for number, problem in enumerate(error.errors()):
        loc, kind = tuple(problem["loc"]), problem["type"]
        keys = _keys_of(loc, node)
        at, key = node.at(keys), str(loc[-1]) if loc else ""
        own = number if kind in ("missing", "extra_forbidden") else 0  # several types may refuse the same value
        if kind == "extra_forbidden":
            allowed = _allowed(schema, loc[:-1])
            more = hint(node.at(keys[:-1]), keys[:-1], key) if hint else ""
            message = more or unknown_name(what, key, allowed or ["none"])
        elif kind == "missing":
            message = f"the {what} {key!r} is missing"
        elif kind == "invalid_key" or (key == "[key]" and kind == "string_type"):
            message = f"the key {quote_value(loc[-2] if key == '[key]' else loc[-1])} must be text: put it in quotes"
        else:
            message = _value_message(problem, keys, schema, loc)
        problems.setdefault((id(at), own), (at.line, str(at.error(message))))
    return combine_errors([text for _, text in sorted(problems.values(), key=lambda each: each[0])])


def _value_message(problem: ErrorDetails, keys: tuple[Any, ...], schema: type[BaseModel], loc: tuple[Any, ...]) -> str:
    """Return what is wrong with a value, and how to correct it."""
    kind, value = problem["type"], problem["input"]
    path = ".".join(map(str, keys)) or "the configuration"
    if kind == "value_error":
        return f"{path}: {problem['ctx']['error']}"
    if kind == "literal_error":
        what = "key" if loc[-1] == "[key]" else f"value of {path}:"
        return unknown_name(what, value, re.findall(r"'([^']*)'", problem["ctx"]["expected"]))
    context = problem.get("ctx", {})
    if kind == "too_short" and context["min_length"] == 1:
        text = "must not be empty"
    elif kind == "string_pattern_mismatch":
        text = _PATTERNS.get(context["pattern"], problem["msg"])
    else:
        text = "must " + _MUST.get(kind, problem["msg"].removeprefix("Input should ")).format(**context)
    if kind == "string_type" and isinstance(value, bool):
        text += _QUOTES
    elif kind == "string_type" and not isinstance(value, list | dict | None):
        text += ": put it in quotes"
    elif kind in ("int_type", "float_type") and isinstance(value, str) and is_number(value):
        text += _NUMBER
    elif kind == "model_type":
        text += f", such as {', '.join(_allowed(schema, loc)[:3])}"
    return f"{path} is {'empty' if value is None else quote_value(value)}: {text}"


def _keys_of(loc: tuple[Any, ...], node: Node) -> tuple[Any, ...]:
    """Return the keys of a location that exist in the file: without the names of types that pydantic adds."""
    keys: list[Any] = []
    for part in loc:
        if part in node:
            node = node[part]
            keys.append(part)
    return tuple(keys)


def _allowed(schema: Any, loc: tuple[Any, ...]) -> list[str]:
    """Return the keys that a schema allows at a location."""
    annotation: Any = schema
    for part in loc:
        for section in _sections(annotation):
            if part == section.__name__:
                annotation = section
            elif part in (fields := {each.alias or name: each for name, each in section.model_fields.items()}):
                annotation = fields[part].annotation
            else:
                continue
            break
    return [each.alias or name for section in _sections(annotation)[:1] for name, each in section.model_fields.items()]


def _sections(annotation: Any) -> list[type[BaseModel]]:
    """Return the sections in a type, also within a list, mapping or union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [section for part in get_args(annotation) for section in _sections(part)]
