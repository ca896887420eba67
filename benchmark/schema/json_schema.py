"""JSON Schema of configurations: what pydantic makes of the models, with components from the registries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import component_model
from benchmark.config.experiment import VARIANT_KEYS
from benchmark.config.extends import MAX_NAME_LENGTH
from benchmark.config.method_schema import NamedDefaultsSection
from benchmark.config.schema import ExperimentSection
from benchmark.corpora.registry import CORPORA
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.kernels import KERNELS
from benchmark.schema.registries import COMPONENT_REGISTRIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = dict[str, Any]

_NULL = {"type": "null"}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_EXTENDS = "A configuration in the same folder; this one has only the differences, and null removes a key."
#: An import path of a class, and a function or class of a file.
_IMPORT_PATH = {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"}
_OF_FILE = {"type": "string", "pattern": r"^.*\.py:\w+$"}


def json_schema() -> Schema:
    """Return the schema of a configuration: a whole one, or one that extends another and may omit keys.

    It covers names, types and ranges; `bench validate` also checks combinations.
    """
    whole = whole_schema()
    defs = whole.pop("$defs")
    over = _changes(whole, defs)
    extends = {"type": "string", "maxLength": MAX_NAME_LENGTH, "description": _EXTENDS}
    over |= {
        "required": ["extends", "name"],
        "properties": {**over["properties"], "extends": extends, "name": whole["properties"]["name"]},
    }
    return {
        "$schema": _DIALECT,
        "title": "A configuration of simplexbench",
        "anyOf": [whole, over],
        "$defs": defs,
    }


def whole_schema() -> Schema:
    """Return the schema of a configuration that extends no other, with its definitions."""
    whole: Schema = _with_references(ExperimentSection.model_json_schema(ref_template="#/$defs/{model}"))
    defs, properties = whole["$defs"], whole["properties"]
    defs |= {_definition(kind): schema for kind, schema in _components(defs).items()}
    corpus, defaults = defs["CorpusSection"], defs["DefaultsSection"]
    for cls in CORPORA.values():
        parameters = _with_references(component_model(cls).model_json_schema()["properties"])
        corpus["properties"] |= {key: each for key, each in parameters.items() if key not in corpus["properties"]}
    defaults["properties"] = _defaults(defs) | defaults["properties"]
    corpus["additionalProperties"] = defaults["additionalProperties"] = False
    over = _changes({"properties": {key: properties[key] for key in VARIANT_KEYS}}, defs)
    variants = properties["variants"]["patternProperties"]
    variants |= dict.fromkeys(variants, _mapping(over["properties"]))
    return whole


def _components(defs: Schema) -> Schema:
    """Return the definitions of components and of names, by the marks that the models have for them."""
    found = {kind: _named(kind, registry) for kind, registry in COMPONENT_REGISTRIES.items()}
    of_library = _mapping({"name": _IMPORT_PATH}, additionalProperties=True) | {"required": ["name"]}
    unnamed = {key: each for option in found["classifiers"]["anyOf"] for key, each in _parameters(option).items()}
    found["classifiers"]["anyOf"] += [_mapping(unnamed), _IMPORT_PATH, of_library]
    name = {"anyOf": [_OF_FILE, _IMPORT_PATH]}
    pipeline = _mapping({"name": name}, additionalProperties=True) | {"required": ["name"]}
    texts = {key: {"anyOf": [_or_list(each), _NULL]} for key, each in defs["TextSection"]["properties"].items()}
    return found | {
        "pipelines": {"anyOf": [name, pipeline]},
        "method texts": _mapping(texts) | {"minProperties": 1},
        "method names": {"anyOf": [{"enum": [*KERNELS, *CLASSIFIERS]}, _IMPORT_PATH]},
        "corpora": {"enum": list(CORPORA)},
        "metrics": {"enum": [*METRICS, *TIME_METRICS]},
    }


def _definition(kind: str) -> str:
    """Return the name of the definition of a mark: "Kernel" of "kernels"."""
    return kind.title().replace(" ", "").removesuffix("s")


def _defaults(defs: Schema) -> Schema:
    """Return the parameters of kernels and classifiers, and these with theirs, as keys of `defaults`."""
    common = {key: defs["DefaultsSection"]["properties"][key] for key in NamedDefaultsSection.model_fields}
    options = [option for kind in ("Kernel", "Classifier") for option in defs[kind]["anyOf"]]
    named = {
        option["properties"]["name"]["const"]: _parameters(option) for option in options if "description" in option
    }
    shared: Schema = {key: {} for parameters in named.values() for key in parameters}  # of the same name, several types
    return shared | {name: _mapping(parameters | common) for name, parameters in named.items()}


def _named(kind: str, registry: Mapping[str, type[Any]]) -> Schema:
    """Return the schema of a component, a name or a mapping; of methods, lists of parameters stand for their items."""
    options = []
    for name, cls in registry.items():
        model = _with_references(component_model(cls, kind.removesuffix("s")).model_json_schema())
        listed = {"protocols": {"train_size"}, "diagnostics": set()}.get(kind, model["properties"].keys())
        parameters = {key: _or_list(each) if key in listed else each for key, each in model["properties"].items()}
        required = ["name", *model.get("required", [])]
        options.append({**model, "properties": {"name": {"const": name}, **parameters}, "required": required})
    return {"anyOf": [{"enum": list(registry)}, *options]}


def _parameters(option: Schema) -> Schema:
    """Return the schemas of a component's parameters."""
    return {key: each for key, each in option.get("properties", {}).items() if key != "name"}


def _with_references(schema: Any) -> Any:
    """Replace the marks of components by references to their definitions, and leave out pydantic's titles."""
    if isinstance(schema, list):
        return [_with_references(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _with_references(each) for key, each in schema.items() if key != "title" or isinstance(each, dict)}
    kind = found.get("component")
    if isinstance(kind, str):
        found["$ref"] = f"#/$defs/{_definition(found.pop('component'))}"
    return found


def _changes(schema: Schema, defs: Schema) -> Schema:
    """Return the schema of what is merged over such a value: mappings need no key, and null removes one.

    Definitions of merged mappings are added.
    """
    found = dict(schema)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        found["$ref"] = f"#/$defs/{name}Changes"
        if f"{name}Changes" not in defs:
            defs[f"{name}Changes"] = {}  # it may refer to itself
            defs[f"{name}Changes"] = _changes(defs[name], defs)
    if "anyOf" in schema:
        found["anyOf"] = [_changes(each, defs) for each in schema["anyOf"]]
    for key in ("properties", "patternProperties"):
        if key in schema:
            pairs = schema[key].items()
            found[key] = {name: {"anyOf": [_changes(each, defs), _NULL]} for name, each in pairs}
            found.pop("required", None)
    return found


def _or_list(schema: Schema) -> Schema:
    """Return the schema of a value or a non-empty list of values."""
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    item = {key: value for key, value in schema.items() if key not in outer}
    return outer | {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _mapping(properties: Mapping[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": False, **more, "properties": dict(properties)}
