"""Reference page of configurations: every key, and every component with its parameters."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmark.analysis.prose.sentences import environment_of
from benchmark.config.components import component_model
from benchmark.config.schema_errors import first_paragraph
from benchmark.schema.json_schema import whole_schema
from benchmark.schema.registries import COMPONENT_REGISTRIES, list_components

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Schema = Mapping[str, Any]

_TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "mapping"}
_ENDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}


def reference_page() -> str:
    """Return the page, in Markdown."""
    environment = environment_of("benchmark.schema")
    environment.filters["cell"] = lambda text: text.replace("|", "\\|").replace("``", "`")
    page = environment.get_template("reference.md.j2").render(parts=list(_parts()))
    return re.sub(r"\n{3,}", "\n\n", page).rstrip() + "\n"


def _parts() -> Iterator[dict[str, Any]]:
    """Yield heading, text, keys and names of each part of the page."""
    whole = whole_schema()
    defs = whole["$defs"]
    yield {"heading": "## An experiment", "rows": _keys(whole, defs)}
    for key, schema in whole["properties"].items():
        sections = [name for name in _references(schema) if name.endswith("Section") and key != "variants"]
        for name in sections:
            which = "" if len(sections) == 1 else f": {name.removesuffix('Section').lower()}"
            text = first_paragraph(defs[name]["description"])
            yield {"heading": f"### {key}{which}", "text": text, "rows": _keys(defs[name], defs)}
    for table in list_components(""):
        registry: Mapping[str, Any] = COMPONENT_REGISTRIES.get(table.title, {})
        yield {"heading": f"## {table.title.capitalize()}", "names": () if registry else table.rows}
        for name, cls in registry.items():
            model = component_model(cls, table.title.removesuffix("s")).model_json_schema()
            yield {"heading": f"### {name}", "text": first_paragraph(cls.__doc__), "rows": _keys(model, defs)}


def _keys(section: Schema, defs: Schema) -> list[tuple[str, str, str, str]]:
    """Return name, type, default and description of each key of a section."""
    found = []
    for key, schema in section["properties"].items():
        default = schema.get("default")
        shown = "" if default in (None, "", []) or isinstance(default, dict) else f"`{json.dumps(default)}`"
        shown = "required" if key in section.get("required", ()) else shown
        found.append((key, _type(schema, defs), shown, schema.get("description", "")))
    return found


def _references(schema: Any) -> Iterator[str]:
    """Yield the names of definitions that a schema refers to, each once."""
    if isinstance(schema, dict) and "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    yield from dict.fromkeys(name for value in inner for name in _references(value))


def _type(schema: Schema, defs: Schema) -> str:
    """Return the type of a value, in words."""
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name.endswith("Section"):
            return "section"
        others = {"method-names": "name", "method-texts": "mapping", "variants": "mapping"}
        return _type(defs[name], defs) if "enum" in defs[name] else others.get(name, name.removesuffix("s"))
    if options:
        return " or ".join(dict.fromkeys(_type(each, defs) for each in options if each.get("type") != "null"))
    if words := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{value}`" for value in words)
    kind = str(schema.get("type", "any value"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), defs)}"
    ends = [f"{sign} {schema[end]:g}" for end, sign in _ENDS.items() if end in schema]
    return " ".join([_TYPES.get(kind, kind), *ends])
