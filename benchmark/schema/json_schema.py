"""JSON Schema of configurations: sections from their models, components from their constructors and docstrings."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import REQUIRED_PARAMETER
from benchmark.config.experiment import CHOICE_METHODS, VARIANT_KEYS
from benchmark.config.extends import MAX_NAME_LENGTH
from benchmark.config.methods import (
    ALLOWED_VALUES,
    COMPONENT_KEYS,
    LABEL_ORDER,
    PIPELINE_KEY,
    PREDICTIONS_KEY,
    VECTORS_KEY,
)
from benchmark.config.model import FUSION_SCALES
from benchmark.config.other_methods import FUSE_KEY, MAX_WEIGHT, NAME_KEY, SCALE_KEY, VECTOR_KEYS, WEIGHTS_KEY
from benchmark.config.schema import ExperimentSection
from benchmark.corpora.registry import CORPORA
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.representation import WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.representation.selection import GAIN_AGGREGATES, TERM_RANKINGS
from benchmark.schema.registries import first_paragraph, parameters_of
from benchmark.text.lexer import DIGIT_RULES, WITHIN
from benchmark.text.stoplist import STOPLISTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.schema.registries import ComponentParameter

    Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FUSE = "Methods of this configuration whose standardized decision values are added."
_EXTENDS = "A configuration in the same folder; this one has only the differences, and null removes a key."


def json_schema() -> Schema:
    """Return the schema of a configuration.

    It covers names, types and ranges; `bench validate` also checks combinations.
    """
    defs: dict[str, Schema] = {}
    whole = _configuration(defs)
    return {"$schema": _DIALECT, "title": "A configuration of simplexbench", **whole, "$defs": defs}


def component_schema(name: str, cls: type[Any], *, lists: bool = True) -> Schema:
    """Return a component's schema, a mapping of name and parameters; `lists` allows lists of parameter values."""
    properties = {key: _of_lists(value) if lists else value for key, value in _parameters(cls).items()}
    required = ["name", *(each.name for each in parameters_of(cls) if each.default is REQUIRED_PARAMETER)]
    description = first_paragraph(cls.__doc__)
    return _mapping({"name": {"const": name}, **properties}, description=description) | {"required": required}


def parameter_schema(parameter: ComponentParameter) -> Schema:
    """Return the schema of a parameter: type, default and description."""
    schema: Schema = TypeAdapter(parameter.annotation).json_schema()
    if parameter.choices and schema.get("type") == "string":
        schema["enum"] = list(parameter.choices)
    if parameter.default is not REQUIRED_PARAMETER:
        schema["default"] = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    return schema | ({"description": parameter.text} if parameter.text else {})


def _configuration(defs: dict[str, Schema]) -> Schema:
    """Return the schema of a configuration: a whole one, or one that extends another and may omit keys."""
    whole = ExperimentSection.model_json_schema(ref_template="#/$defs/{model}")
    defs |= whole.pop("$defs", {})
    _experiment(whole, defs)
    over = copy.deepcopy(whole)
    over["required"] = ["extends", "name"]
    over["properties"] |= {"extends": {"type": "string", "maxLength": MAX_NAME_LENGTH, "description": _EXTENDS}}
    for key, value in over["properties"].items():
        if key not in ("name", "extends"):
            over["properties"][key] = {"anyOf": [_loosened(value, defs), {"type": "null"}]}
    return {"anyOf": [whole, over]}


def _loosened(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    """Return the schema of a mapping with all keys optional and nullable; return other schemas unchanged."""
    if "$ref" in schema:
        schema = schema | defs[schema["$ref"].rpartition("/")[2]]
    inner = [_loosened(each, defs) for each in schema.get("anyOf", ())]
    optional = {key: value for key, value in schema.items() if key not in ("required", "$ref")}
    if inner:
        optional["anyOf"] = inner
    if "properties" in optional:
        properties = optional["properties"].items()
        optional["properties"] = {key: {"anyOf": [value, {"type": "null"}]} for key, value in properties}
    if isinstance(
        named := optional.get("additionalProperties"), dict
    ):  # null removes what has a name, such as a variant
        optional["additionalProperties"] = {"anyOf": [named, {"type": "null"}]}
    return optional if schema.get("type") == "object" or inner else schema


def _experiment(whole: Schema, defs: dict[str, Schema]) -> None:
    """Add the names of components to the keys that the model of an experiment leaves open."""
    properties, everyone = whole["properties"], {**KERNELS, **CLASSIFIERS}
    unnamed = {key: _of_lists(value) for cls in CLASSIFIERS.values() for key, value in _parameters(cls).items()}
    defs["Kernel"] = _names_or(KERNELS, _components(KERNELS))
    defs["ImportPath"] = {
        "type": "string",
        "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$",
        "description": "A class with `fit` and `predict`, such as sklearn.ensemble.RandomForestClassifier.",
    }
    path: Schema = {"$ref": "#/$defs/ImportPath"}
    of_library = {"type": "object", "properties": {"name": path}, "required": ["name"]}
    defs["Classifier"] = _names_or(CLASSIFIERS, [*_components(CLASSIFIERS), _mapping(unnamed), path, of_library])
    words: dict[str, Schema] = {key: {"enum": list(allowed)} for key, allowed in ALLOWED_VALUES.items()}
    words |= {
        "dirichlet": {
            "type": "number",
            "minimum": 0,
            "description": "α of a Dirichlet prior on documents, for kernels.",
        }
    }
    weight = {"type": "number", "minimum": 1e-9, "maximum": 1e9}
    words |= {
        "fields": {"type": "object", "additionalProperties": weight, "description": "Weights of blocks, by name."}
    }
    of_points = {"weighting": WEIGHTINGS, "features": FEATURE_MAPS, "threshold": THRESHOLDS}
    for key, registry in of_points.items():
        defs[key.title()] = _names_or(registry, _components(registry))
    words |= {key: {"$ref": f"#/$defs/{key.title()}"} for key in COMPONENT_KEYS}
    by_component = {
        name: _mapping(_parameters(cls) | {key: words[key] for key in (*ALLOWED_VALUES, *of_points)})
        for name, cls in everyone.items()
    }
    # Parameters with the same name may have several types.
    shared: dict[str, Schema] = {each: {} for cls in everyone.values() for each in _parameters(cls)}
    properties["defaults"] |= _mapping(shared | by_component | words)
    properties["protocol"] |= _names_or(PROTOCOLS, map(_with_sizes, _components(PROTOCOLS, lists=False)))
    properties["diagnostics"]["items"] = _names_or(DIAGNOSTICS, _components(DIAGNOSTICS, lists=False))
    next(each for each in properties["metrics"]["anyOf"] if "items" in each)["items"] = {
        "enum": [*METRICS, *TIME_METRICS]
    }
    text, terms, corpus = (defs[f"{name}Section"]["properties"] for name in ("Text", "Terms", "Corpus"))
    text["digits"]["enum"], text["within"]["enum"] = list(DIGIT_RULES), list(WITHIN)
    text["stoplist"] |= {"anyOf": [{"enum": list(STOPLISTS)}, {"type": "string", "pattern": r"\.txt$"}]}
    for key in ("fields", "ngrams", "characters"):
        text[key] = _or_one(text[key])
    listed = {key: _of_lists(value) for key, value in text.items()}
    method_text = _loosened(_mapping(listed), defs) | {"minProperties": 1}
    entry = {"text": _of_lists(method_text)} | {key: _of_lists(words[key]) for key in LABEL_ORDER}
    entry |= {
        NAME_KEY: {"type": "string", "description": "Name of its cells, instead of a name made from its settings."}
    }
    file = {"type": "string", "description": "A file with the predictions of a method that was run elsewhere."}
    keys = {key: {"type": "string"} for key in VECTOR_KEYS}
    named = {"type": "string", "description": "A file with vectors of the documents that were made elsewhere."}
    vectors = {"anyOf": [named, _mapping(keys) | {"required": ["file"]}]}
    entry |= {PREDICTIONS_KEY: _of_lists(file), VECTORS_KEY: _of_lists(vectors), PIPELINE_KEY: _of_lists(_pipeline())}
    names = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    fusion: dict[str, Schema] = {
        FUSE_KEY: {"anyOf": [names, {"type": "array", "items": names, "minItems": 1}], "description": _FUSE},
        WEIGHTS_KEY: {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_WEIGHT}},
        SCALE_KEY: {"enum": list(FUSION_SCALES)},
        NAME_KEY: entry[NAME_KEY],
    }
    fused = _mapping(fusion) | {"required": [FUSE_KEY, NAME_KEY]}
    defs["Method"] = _names_or(everyone, [path, fused, _mapping(entry) | {"minProperties": 1}])
    terms["rank"]["enum"], terms["aggregate"]["enum"] = list(TERM_RANKINGS), list(GAIN_AGGREGATES)
    corpus["name"]["enum"] = list(CORPORA)
    for cls in CORPORA.values():
        corpus |= {key: value for key, value in _parameters(cls).items() if key not in corpus}
    _open(properties["methods"], {"$ref": "#/$defs/Method"})
    _open(terms["number"], {"type": "integer", "minimum": 1})
    _open(defs["ChooseSection"]["properties"]["by"], {"enum": list(CHOICE_METHODS)})
    varied = {key: _loosened(properties[key], defs) for key in VARIANT_KEYS}
    properties["variants"]["additionalProperties"] = _mapping(varied)


def _pipeline() -> Schema:
    """Return the schema of an estimator that reads texts: a name, or a mapping with any parameters."""
    said = "An estimator that reads texts: a function or class of a file, mymodels.py:make, or an import path."
    name = {"type": "string", "pattern": r"^(.*\.py:\w+|\w+(\.\w+)+)$"}
    mapping = {"type": "object", "required": ["name"], "properties": {"name": name}}
    return {"anyOf": [name, mapping], "description": said}


def _open(place: Schema, item: Schema) -> None:
    """Allow a single item in place of a list."""
    for key in ("type", "items", "minItems"):
        del place[key]
    place |= _of_lists(item)


def _or_one(schema: Schema) -> Schema:
    """Return the schema of a list or a single item of it."""
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    return outer | {"anyOf": [schema["items"], {key: value for key, value in schema.items() if key not in outer}]}


def _components(registry: Mapping[str, type[Any]], *, lists: bool = True) -> list[Schema]:
    return [component_schema(name, cls, lists=lists) for name, cls in registry.items()]


def _parameters(cls: type[Any]) -> dict[str, Schema]:
    return {each.name: parameter_schema(each) for each in parameters_of(cls)}


def _names_or(names: Iterable[str], others: Iterable[Schema]) -> Schema:
    return {"anyOf": [{"enum": list(names)}, *others]}


def _of_lists(schema: Schema) -> Schema:
    """Return the schema of a value or a non-empty list of values."""
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    item = {key: value for key, value in schema.items() if key not in outer}
    return outer | {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _with_sizes(schema: Schema) -> Schema:
    """Return a protocol's schema with training sizes that may be a list: the axis of curves."""
    properties = schema["properties"]
    sizes = {"train_size": _of_lists(properties["train_size"])} if "train_size" in properties else {}
    return schema | {"properties": properties | sizes}


def _mapping(properties: Mapping[str, Schema], **more: Any) -> Schema:
    return {"type": "object", **more, "properties": dict(properties), "additionalProperties": False}
