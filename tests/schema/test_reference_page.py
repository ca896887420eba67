"""Rows of the reference: the type of a value in words, its default, and whether it is required."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.schema.json_schema import json_schema
from benchmark.schema.reference_page import _cell, _sections, _table, _words, reference_page
from benchmark.schema.registries import _CLOCK, _declared, list_components

DEFS: dict[str, Any] = {
    "TextSection": {"type": "object", "properties": {"digits": {}}},
    "Kernel": {"anyOf": [{"enum": ["a"]}]},
}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, "whole number"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "object"}, "mapping"),
        ({"type": "number"}, "number"),
        ({}, "name or mapping"),
        ({"type": "number", "minimum": 0, "maximum": 2.5}, "number ≥ 0 ≤ 2.5"),
        ({"type": "integer", "exclusiveMinimum": 1}, "whole number > 1"),
        ({"type": "string", "enum": ["a", "b"]}, "`a`, `b`"),
        ({"const": "a"}, "`a`"),
        ({"type": "array", "items": {"type": "integer", "minimum": 2}}, "list of whole number ≥ 2"),
        ({"type": "array"}, "list of name or mapping"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "text or list of text"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "text"),
        ({"$ref": "#/$defs/TextSection"}, "section"),
        ({"$ref": "#/$defs/Kernel"}, "kernel"),
        ({"anyOf": [{"$ref": "#/$defs/Kernel"}, {"type": "null"}]}, "kernel"),
    ],
)
def test_types_are_in_words(schema: dict[str, Any], words: str) -> None:
    assert _words(schema, DEFS) == words


@pytest.mark.parametrize(
    ("schema", "required", "shown"),
    [
        ({"type": "string"}, False, ""),
        ({"type": "string"}, True, "required"),
        ({"type": "string", "default": "a"}, False, '`"a"`'),
        ({"type": "string", "default": "a"}, True, "required"),
        ({"type": "integer", "default": 0}, False, "`0`"),
        ({"type": "boolean", "default": False}, False, "`false`"),
        ({"type": "array", "items": {}, "default": [1, 2]}, False, "`[1, 2]`"),
        *(({"type": "string", "default": empty}, False, "") for empty in (None, "", [])),
        ({"$ref": "#/$defs/TextSection", "default": {"digits": "drop"}}, False, ""),
        ({"$ref": "#/$defs/Kernel", "default": "a"}, False, '`"a"`'),
    ],
)
def test_a_row_has_its_default_or_says_that_it_is_required(schema: Any, required: bool, shown: str) -> None:
    section = {"properties": {"k": schema | {"description": "What it is."}}, "required": ["k"] if required else ["x"]}
    row = _table(section, DEFS)[2]
    assert row == f"| `k` | {_words(schema, DEFS)} | {shown} | What it is. |"


def test_a_table_has_a_row_for_each_key_and_ends_with_an_empty_line() -> None:
    lines = _table({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}, DEFS)
    assert [line.split("|")[1].strip() for line in lines[:-1]] == ["key", "---", "`a`", "`b`"]
    assert lines[-1] == ""


def test_no_text_ends_its_cell() -> None:
    assert _cell("a | b ``c``") == "a \\| b `c`"


def test_every_section_is_found_under_its_key() -> None:
    reference = {"$ref": "#/$defs/ASection"}
    both = {"anyOf": [reference, {"type": "array", "items": {"$ref": "#/$defs/BSection"}}]}
    properties = {"one": reference, "two": both, "variants": both, "none": {"$ref": "#/$defs/Kernel"}}
    assert list(_sections(properties)) == [("one", "ASection"), ("two", "ASection"), ("two", "BSection")]


def test_the_page_has_every_key_component_and_word() -> None:
    page, schema = reference_page(), json_schema()
    for key in schema["anyOf"][0]["properties"]:
        assert f"| `{key}` |" in page
    tables = list_components("")
    for table in tables:
        assert f"## {table.title.capitalize()}\n" in page
        for name, *_ in table.rows:
            assert f"### {name}\n" in page or f"| `{name}` |" in page, name
    for card in next(table for table in tables if table.title == "datasets").rows:
        assert f"| `{card[0]}` | {'; '.join(filter(None, card[1:]))} |" in page


@pytest.mark.parametrize(
    ("unit", "label", "clock", "names", "said"),
    [
        ("one", "", False, ["d"], "diagnostic d: m."),
        ("nats", "mean gap", False, ["d", "e"], "diagnostics d, e: mean gap, in nats."),
        ("words", "length in words", False, ["d", "e", "f"], "diagnostics d, e, f: length in words."),
        ("seconds", "", True, ["d"], f"diagnostic d: m, in seconds. {_CLOCK}"),
    ],
)
def test_a_declared_metric_names_its_diagnostics_and_its_unit(
    unit: str, label: str, clock: bool, names: list[str], said: str
) -> None:
    metric = DiagnosticMetric("m", unit, label, on_clock=clock)
    other = DiagnosticMetric("n", unit)
    known: Any = SimpleNamespace(
        diagnostics={name: SimpleNamespace(metrics=(other, metric)) for name in names}
        | {"x": SimpleNamespace(metrics=(other,))}
    )
    assert _declared(metric, known) == f"Metric of the {said}"
