"""Sections of a configuration: mappings with known keys, the types of their values, and pydantic's errors by line."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidationError,
)
from pydantic_core import core_schema

from benchmark.system.checks import as_list, is_number
from benchmark.system.errors import combine_errors, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema, ErrorDetails

    from benchmark.system.errors import ConfigError
    from benchmark.system.yaml_source import Node

AnySection = TypeVar("AnySection", bound=BaseModel)
Item = TypeVar("Item")


def one_of(allowed: Iterable[str]) -> GetPydanticSchema:
    """Return the type of a word out of several."""
    return GetPydanticSchema(lambda _source, _handler: core_schema.literal_schema(list(allowed)))


class OrOne:
    """Let a single item stand for a list of it, in the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        """Return the schema of an item or a list."""
        listed = handler(core)
        return {"anyOf": [listed["items"], listed]}


def distinct(values: list[Any]) -> list[Any]:
    """Return a list unchanged; raise ValueError if it has a value twice."""
    if len(set(values)) < len(values):
        raise ValueError(f"lists a value twice: {quote_value(values)}")
    return values


Listed = Annotated[list[Item], BeforeValidator(as_list), OrOne()]
OneOrMore = Annotated[list[Item], BeforeValidator(as_list), Field(min_length=1), OrOne()]
Distinct = Annotated[list[Item], AfterValidator(distinct)]
#: A component, whose name and parameters `check_component` checks.
AnyComponent = str | dict[str, Any]
#: Two different names.
Pair = Annotated[Distinct[str], Field(min_length=2, max_length=2)]
#: A name of cells or files, and a name in tables, whose letters and digits name cells.
CellName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=100)]
TitleName = Annotated[str, Field(pattern=r"[A-Za-z0-9]", max_length=100)]


class ConfigSection(BaseModel):
    """Mapping with known keys only, whose values have the declared types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema, with the texts of the docstring; null removes a key of a file that is extended."""
        found = handler(core)
        section = handler.resolve_ref_schema(found)
        section["description"] = first_paragraph(cls.__doc__)
        for key, (kind, text) in documented_parameters(cls).items():
            value = section["properties"][key]
            default = {"default": value.pop("default")} if "default" in value else {}
            told = {"description": text, "$comment": kind}
            section["properties"][key] = {"anyOf": [value, {"type": "null"}], **told, **default}
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


def id_of_title(title: str) -> str:
    """Return the words of a name in tables as they name cells: "A large model" is a-large-model."""
    return re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-")


def check_known(what: str, value: object, allowed: Collection[Any], node: Node) -> None:
    """Refuse a value that isn't allowed, with the nearest that is."""
    if value not in allowed:
        raise node.error(unknown_name(what, value, list(allowed)))


def validate_section(schema: type[AnySection], node: Node, what: str = "key") -> AnySection:
    """Validate a node as a section, or raise ConfigError with all problems.

    Parameters
    ----------
    schema : type
    node : Node
    what : str, optional
        What a key is called in errors.
    """
    try:
        return schema.model_validate(node.value)
    except ValidationError as error:
        raise _explained(error, schema, node, what) from None


def _explained(error: ValidationError, schema: type[BaseModel], node: Node, what: str) -> ConfigError:
    """Combine pydantic's errors in one ConfigError, by their lines; missing keys, perhaps misspelt, come last."""
    errors = [(problem, _keys_of(problem["loc"], node)) for problem in error.errors()]
    problems: dict[tuple[int, int], tuple[tuple[bool, int], str]] = {}
    for number, (problem, keys) in enumerate(errors):
        loc, kind, at = problem["loc"], problem["type"], node.at(keys)
        of_key = kind in ("missing", "extra_forbidden")
        if not of_key and any(_fits_better(other, other_keys, kind, keys) for other, other_keys in errors):
            continue
        if kind == "extra_forbidden":
            message = unknown_name(what, str(loc[-1]), _allowed(schema, loc[:-1]) or ["none"])
        elif kind == "missing":
            message = f"the {what} {str(loc[-1])!r} is missing"
        else:
            message = _value_message(problem, ".".join(map(str, keys)) or "this value")
        # Of one value the first: several types may refuse it.
        problems.setdefault((id(at), number if of_key else -1), ((kind == "missing", at.line), str(at.error(message))))
    return combine_errors([text for _, text in sorted(problems.values(), key=lambda each: each[0])])


def _fits_better(other: ErrorDetails, other_keys: tuple[Any, ...], kind: str, keys: tuple[Any, ...]) -> bool:
    """Return whether a value fits another of its types so far: that error is deeper, or not of the type itself."""
    of_type = kind.endswith("_type") and not other["type"].endswith("_type")
    return other_keys[: len(keys)] == keys and (len(other_keys) > len(keys) or of_type)


def _value_message(problem: ErrorDetails, path: str) -> str:
    """Return what is wrong with a value, mostly in pydantic's words."""
    kind, value = problem["type"], problem["input"]
    if kind == "value_error":
        return f"{path}: {problem['ctx']['error']}"
    if kind == "literal_error":
        what = "key" if problem["loc"][-1] == "[key]" else f"value of {path}:"
        allowed = re.findall(r"'([^']*)'|(\d+)", problem["ctx"]["expected"])
        return unknown_name(what, value, [a or b for a, b in allowed])
    text = problem["msg"].replace("Input should", "must")
    if kind in ("model_type", "dict_type"):
        text = "must be a mapping of keys to values"
    elif kind == "string_type" and isinstance(value, bool | int | float):
        text += ": put it in quotes"
    elif kind in ("int_type", "float_type") and isinstance(value, str) and is_number(value):
        text += "; YAML reads 1e3 as text: write 1.0e+3"
    return f"{path} is {'empty' if value is None else quote_value(value)}: {text}"


def _keys_of(loc: tuple[Any, ...], node: Node) -> tuple[Any, ...]:
    """Return the keys of a location that exist in the file: without the names of types that pydantic adds."""
    keys: list[Any] = []
    for part in loc:
        if part in node:
            node = node[part]
            keys.append(part)
    return tuple(keys)


def _allowed(schema: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """Return the keys that a schema allows at a location."""
    fields = _fields([schema])
    for part in loc:
        if part in fields:
            fields = _fields(sections_in(fields[part]))
    return list(fields)


def _fields(sections: list[type[BaseModel]]) -> dict[str, Any]:
    """Return the types of the fields of the first of some sections, by key."""
    return {each.alias or name: each.annotation for name, each in sections[0].model_fields.items()} if sections else {}


def sections_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the sections in a type, also within a list, mapping or union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [section for part in get_args(annotation) for section in sections_in(part)]
