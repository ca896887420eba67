"""JSON Schema of configurations: what pydantic makes of the models, with components from the registries."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic.json_schema import GenerateJsonSchema

from benchmark.config.components import component_model
from benchmark.config.method_schema import NamedDefaultsSection
from benchmark.config.schema import ExperimentSection, VariantKey
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.schema.registries import COMPONENT_REGISTRIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: Sections that are merged key by key, so that a file which extends another may leave out any key.
_MERGED = ("CorpusSection", "TermsSection", "ChooseSection")
_EXTENDS = "A configuration in the same folder; this one has only the differences, and null removes a key."
#: An import path of a class, and a function or class of a file.
_IMPORT_PATH = {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"}
_OF_FILE = {"type": "string", "pattern": r"^.*\.py:\w+$"}


def json_schema() -> Schema:
    """Return the schema of a configuration, which may extend another and omit keys: null removes a key of the other.

    It covers names, types and ranges; `bench validate` also checks combinations, and that no key is missing.
    """
    whole = whole_schema()
    for merged in _MERGED:
        del whole["$defs"][merged]["required"]
    whole["properties"]["extends"] = {"type": "string", "description": _EXTENDS}
    return {"$schema": _DIALECT, **whole, "title": "A configuration of simplexbench", "required": ["name"]}


def whole_schema() -> Schema:
    """Return the schema of a configuration that extends no other, with its definitions."""
    whole = _schema_of(ExperimentSection)
    defs, properties = whole["$defs"], whole["properties"]
    defs |= {kind: _named(kind, registry) for kind, registry in COMPONENT_REGISTRIES.items()}
    classifiers = _parameters(defs["classifiers"])
    of_name = _parameters(defs["kernels"]) | classifiers
    unnamed = {key: each for parameters in classifiers.values() for key, each in parameters.items()}
    of_library = _mapping({"name": _IMPORT_PATH}, additionalProperties=True, required=["name"])
    defs["classifiers"]["anyOf"] += [_mapping(unnamed), _IMPORT_PATH, of_library]
    name = {"anyOf": [_OF_FILE, _IMPORT_PATH]}
    texts = {key: _or_list(each) for key, each in defs["TextSection"]["properties"].items()}
    defs |= {
        "pipelines": {"anyOf": [name, _mapping({"name": name}, additionalProperties=True, required=["name"])]},
        "method-texts": _mapping(texts, minProperties=1),
        "method-names": {"anyOf": [{"enum": list(BUILTIN_REGISTRIES.methods)}, _IMPORT_PATH]},
        "corpora": {"enum": list(BUILTIN_REGISTRIES.corpora)},
        "metrics": {"enum": [*METRICS, *TIME_METRICS]},
    }
    corpus, defaults = defs["CorpusSection"], defs["DefaultsSection"]
    for cls in BUILTIN_REGISTRIES.corpora.values():
        for key, each in _schema_of(component_model(cls))["properties"].items():
            corpus["properties"].setdefault(key, each)
    common = {key: defaults["properties"][key] for key in NamedDefaultsSection.model_fields}
    shared: Schema = {key: {} for parameters in of_name.values() for key in parameters}  # of several types
    by_name = {key: _mapping(parameters | common) for key, parameters in of_name.items()}
    defaults["properties"] = shared | by_name | defaults["properties"]
    corpus["additionalProperties"] = defaults["additionalProperties"] = False
    defs["variants"] = {"anyOf": [_mapping({key: properties[key] for key in get_args(VariantKey)}), {"type": "null"}]}
    return whole


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Return that keys have no titles: they would repeat their names."""
        return False


def _schema_of(model: type[BaseModel]) -> Schema:
    """Return the schema of a model, with references in place of its marks of components."""
    text = json.dumps(model.model_json_schema(schema_generator=_Untitled))
    found: Schema = json.loads(re.sub(r'"component": "([\w-]+)"', r'"$ref": "#/$defs/\1"', text))
    return found


def _named(kind: str, registry: Mapping[str, type[Any]]) -> Schema:
    """Return the schema of a component, a name or a mapping; of methods, lists of parameters stand for their items."""
    options = []
    for name, cls in registry.items():
        model = _schema_of(component_model(cls, kind.removesuffix("s")))
        listed = {"protocols": {"train_size"}, "diagnostics": set()}.get(kind, model["properties"].keys())
        parameters = {key: _or_list(each) if key in listed else each for key, each in model["properties"].items()}
        required = [] if kind == "protocols" else ["name"]  # one that is merged may only say what is otherwise
        options.append({**model, "properties": {"name": {"const": name}, **parameters}, "required": required})
    return {"anyOf": [{"enum": list(registry)}, *options]}


def _parameters(component: Schema) -> dict[str, Schema]:
    """Return the schemas of the parameters of each component of a kind."""
    options = [each["properties"] for each in component["anyOf"][1:]]
    return {each["name"]["const"]: {key: value for key, value in each.items() if key != "name"} for each in options}


def _or_list(schema: Schema) -> Schema:
    """Return the schema of a value or a non-empty list of values."""
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    item = {key: value for key, value in schema.items() if key not in outer}
    return outer | {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _mapping(properties: Mapping[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": False, **more, "properties": dict(properties)}
