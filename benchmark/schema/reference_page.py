"""Reference page of configurations: every key, and every component with its parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmark.schema.json_schema import json_schema, parameter_schema
from benchmark.schema.registries import COMPONENT_REGISTRIES, first_paragraph, list_components, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Schema = Mapping[str, Any]

_HEAD = """# Every key of a configuration

The JSON Schema of `bench schema` as a page, written by `bench schema --markdown`. A configuration can also have the key
`extends: other`, and then only the keys that differ. In `methods`, a list stands for each of its items in turn.
"""


def reference_page() -> str:
    """Return the page, in Markdown."""
    schema = json_schema()
    lines = [_HEAD]
    whole = schema["anyOf"][0]
    lines += ["## An experiment\n", *_table(whole, schema["$defs"])]
    for key, name in _sections(whole["properties"]):
        section = schema["$defs"][name]
        lines += [f"### {key}\n", f"{first_paragraph(section['description'])}\n", *_table(section, schema["$defs"])]
    for kind, registry in COMPONENT_REGISTRIES.items():
        lines.append(f"## {kind.capitalize()}\n")
        for name, cls in registry.items():
            lines += [f"### {name}\n", f"{first_paragraph(cls.__doc__)}\n"]
            properties = {each.name: parameter_schema(each) for each in parameters_of(cls)}
            lines += _table({"properties": properties}, schema["$defs"]) if properties else []
    for part in list_components(""):
        if part.title not in COMPONENT_REGISTRIES:
            lines += [f"## {part.title.capitalize()}\n", "| name | description |", "|---|---|"]
            lines += [f"| `{name}` | {_cell('; '.join(filter(None, words)))} |" for name, *words in part.rows]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _sections(properties: Schema) -> Iterator[tuple[str, str]]:
    """Yield the keys of sections, each with the name of its definition."""
    for key, schema in properties.items():
        names = [name for name in _references(schema) if name.endswith("Section")]
        yield from ((key, name) for name in names if key != "variants")


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _table(section: Schema, defs: Schema) -> list[str]:
    rows = ["| key | type | default | description |", "|---|---|---|---|"]
    for key, schema in section["properties"].items():
        default = (
            ""
            if schema.get("default") in (None, "", []) or "properties" in _at(schema, defs)
            else f"`{json.dumps(schema['default'])}`"
        )
        default = "required" if key in section.get("required", ()) else default
        rows.append(f"| `{key}` | {_cell(_words(schema, defs))} | {default} | {_cell(schema.get('description', ''))} |")
    return [*rows, ""]


def _at(schema: Schema, defs: Schema) -> Schema:
    resolved: Schema = defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return resolved


def _words(schema: Schema, defs: Schema) -> str:
    """Return the type of a value, in words."""
    if "$ref" in schema:
        return "section" if schema["$ref"].endswith("Section") else schema["$ref"].rpartition("/")[2].lower()
    if "anyOf" in schema:
        types = dict.fromkeys(_words(one, defs) for one in schema["anyOf"] if one.get("type") != "null")
        return " or ".join(types)
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", "name or mapping"))
    if kind == "array":
        return f"list of {_words(schema.get('items', {}), defs)}"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "mapping"}
    ends = [(sign, schema[name]) for name, sign in _ENDS.items() if name in schema]
    return " ".join([words.get(kind, kind), *(f"{sign} {end:g}" for sign, end in ends)])


_ENDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")
