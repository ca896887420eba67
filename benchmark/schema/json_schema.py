"""JSON Schema of configurations: what pydantic makes of the models, with components from the registries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from benchmark.config.components import component_model
from benchmark.config.extends import MAX_NAME_LENGTH
from benchmark.config.method_schema import NamedDefaultsSection
from benchmark.config.schema import ExperimentSection, VariantKey
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.schema.registries import COMPONENT_REGISTRIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = dict[str, Any]

_NULL = {"type": "null"}
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
    name, defs = whole["properties"].pop("name"), whole["$defs"]
    for merged in (whole, *(defs[each] for each in _MERGED), *defs["Protocol"]["anyOf"]):
        merged.pop("required", None)
    whole = _nullable(whole)
    extends = {"type": "string", "maxLength": MAX_NAME_LENGTH, "description": _EXTENDS}
    whole["properties"] = {"name": name, "extends": extends, **whole["properties"]}
    return {"$schema": _DIALECT, "title": "A configuration of simplexbench", **whole, "required": ["name"]}


def _nullable(schema: Any) -> Any:
    """Let every key of mappings be null."""
    if isinstance(schema, list):
        return [_nullable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _nullable(each) for key, each in schema.items()}
    for key in ("properties", "patternProperties"):
        if isinstance(schema.get("type"), str) and key in schema:
            found[key] = {name: {"anyOf": [each, _NULL]} for name, each in found[key].items()}
    return found


def whole_schema() -> Schema:
    """Return the schema of a configuration that extends no other, with its definitions."""
    whole: Schema = _with_references(ExperimentSection.model_json_schema(ref_template="#/$defs/{model}"))
    defs, properties = whole["$defs"], whole["properties"]
    defs |= {_definition(kind): schema for kind, schema in _components(defs).items()}
    corpus, defaults = defs["CorpusSection"], defs["DefaultsSection"]
    for cls in BUILTIN_REGISTRIES.corpora.values():
        parameters = _with_references(component_model(cls).model_json_schema()["properties"])
        corpus["properties"] |= {key: each for key, each in parameters.items() if key not in corpus["properties"]}
    defaults["properties"] = _defaults(defs) | defaults["properties"]
    corpus["additionalProperties"] = defaults["additionalProperties"] = False
    varied = _mapping({key: properties[key] for key in get_args(VariantKey)})
    properties["variants"]["patternProperties"] = dict.fromkeys(properties["variants"]["patternProperties"], varied)
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
        "method names": {"anyOf": [{"enum": list(BUILTIN_REGISTRIES.methods)}, _IMPORT_PATH]},
        "corpora": {"enum": list(BUILTIN_REGISTRIES.corpora)},
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


def _or_list(schema: Schema) -> Schema:
    """Return the schema of a value or a non-empty list of values."""
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    item = {key: value for key, value in schema.items() if key not in outer}
    return outer | {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _mapping(properties: Mapping[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": False, **more, "properties": dict(properties)}
