"""The JSON Schema of configurations: sections from their models, components from their constructors and docstrings."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.check import CHOICES, VARYING
from benchmark.config.components import REQUIRED
from benchmark.config.entries import ALLOWED, CALL, OWN, PARTS, WORDS
from benchmark.config.load import LONGEST_NAME
from benchmark.config.schema import ExperimentSection
from benchmark.corpora.registry import CORPORA
from benchmark.evaluation.metrics import CLOCK, METRICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.measures import MEASURES
from benchmark.reference.registries import first_sentence, parameters_of
from benchmark.representation.selection import AGGREGATES, RANKS
from benchmark.text.lexer import DIGIT_RULES
from benchmark.text.stoplist import STOPLISTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmark.reference.registries import Parameter

    Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_EXTENDS = "The configuration beside this one of which it says what is otherwise; null takes a key away."


def json_schema() -> Schema:
    """Return the schema of a configuration.

    It says what names, types and ranges can be; `bench validate` also knows which of them go together.
    """
    defs: dict[str, Schema] = {}
    whole = _configuration(defs)
    return {"$schema": _DIALECT, "title": "A configuration of simplexbench", **whole, "$defs": defs}


def component_schema(name: str, cls: type[Any], *, lists: bool = True) -> Schema:
    """A component as a mapping of its name and parameters; with `lists`, a list stands for each of its items."""
    own = {key: _of_lists(value) if lists else value for key, value in _parameters(cls).items()}
    required = ["name", *(each.name for each in parameters_of(cls) if each.default is REQUIRED)]
    told = first_sentence(cls.__doc__)
    return _mapping({"name": {"const": name}, **own}, description=told) | {"required": required}


def parameter_schema(parameter: Parameter) -> Schema:
    """Type, default and description of a parameter."""
    found: Schema = TypeAdapter(parameter.annotation).json_schema()
    if parameter.choices and found.get("type") == "string":
        found["enum"] = list(parameter.choices)
    if parameter.default is not REQUIRED:
        found["default"] = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    return found | ({"description": parameter.text} if parameter.text else {})


def _configuration(defs: dict[str, Schema]) -> Schema:
    """Return the schema of a configuration: whole; or extending another, where mappings may lack what that has."""
    whole = ExperimentSection.model_json_schema(ref_template="#/$defs/{model}")
    defs |= whole.pop("$defs", {})
    _experiment(whole, defs)
    over = copy.deepcopy(whole)
    over["required"] = ["extends", "name"]
    over["properties"] |= {"extends": {"type": "string", "maxLength": LONGEST_NAME, "description": _EXTENDS}}
    for key, value in over["properties"].items():
        if key not in ("name", "extends"):
            over["properties"][key] = {"anyOf": [_loosened(value, defs), {"type": "null"}]}
    return {"anyOf": [whole, over]}


def _loosened(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    """A mapping's schema with nothing required and any key taken away by null; another's as it is."""
    if "$ref" in schema:
        schema = schema | defs[schema["$ref"].rpartition("/")[2]]
    inner = [_loosened(each, defs) for each in schema.get("anyOf", ())]
    found = {key: value for key, value in schema.items() if key not in ("required", "$ref")}
    if inner:
        found["anyOf"] = inner
    if "properties" in found:
        found["properties"] = {key: {"anyOf": [each, {"type": "null"}]} for key, each in found["properties"].items()}
    return found if schema.get("type") == "object" or inner else schema


def _experiment(whole: Schema, defs: dict[str, Schema]) -> None:
    """Say what the keys of an experiment can name that its model leaves open."""
    properties, everyone = whole["properties"], {**KERNELS, **CLASSIFIERS}
    unnamed = {key: _of_lists(value) for cls in CLASSIFIERS.values() for key, value in _parameters(cls).items()}
    defs["Kernel"] = _names_or(KERNELS, _components(KERNELS))
    defs["Classifier"] = _names_or(CLASSIFIERS, [*_components(CLASSIFIERS), _mapping(unnamed)])
    words: dict[str, Schema] = {key: {"enum": list(allowed)} for key, allowed in ALLOWED.items()}
    words |= {"dirichlet": {"type": "number", "minimum": 0, "description": "α of a prior on documents, for kernels."}}
    weight = {"type": "number", "minimum": 1e-9, "maximum": 1e9}
    words |= {"fields": {"type": "object", "additionalProperties": weight, "description": "Blocks and their weights."}}
    for key, registry in OWN.items():
        defs[key.title()] = _names_or(registry, _components(registry))
    words |= {key: {"$ref": f"#/$defs/{key.title()}"} for key in PARTS}
    own = {
        name: _mapping(_parameters(cls) | {key: words[key] for key in (*ALLOWED, *OWN)})
        for name, cls in everyone.items()
    }
    # Parameters of one name may be of several types.
    shared: dict[str, Schema] = {each: {} for cls in everyone.values() for each in _parameters(cls)}
    properties["defaults"] |= _mapping(shared | own | words)
    properties["protocol"] |= _names_or(PROTOCOLS, map(_with_sizes, _components(PROTOCOLS, lists=False)))
    properties["measures"]["items"] = _names_or(MEASURES, _components(MEASURES, lists=False))
    next(each for each in properties["metrics"]["anyOf"] if "items" in each)["items"] = {"enum": [*METRICS, *CLOCK]}
    text, terms, corpus = (defs[f"{name}Section"]["properties"] for name in ("Text", "Terms", "Corpus"))
    text["digits"]["enum"], text["stoplist"]["enum"] = list(DIGIT_RULES), list(STOPLISTS)
    said = {key: _of_lists(value) for key, value in text.items()}
    own = _loosened(_mapping(said), defs) | {"minProperties": 1}
    entry = {"text": _of_lists(own)} | {key: _of_lists(words[key]) for key in WORDS}
    entry |= {CALL: {"type": "string", "description": "What its cells are called in place of all that it says."}}
    defs["Method"] = _names_or(everyone, [_mapping(entry) | {"minProperties": 1}])
    terms["rank"]["enum"], terms["over_classes"]["enum"] = list(RANKS), list(AGGREGATES)
    corpus["name"]["enum"] = list(CORPORA)
    for cls in CORPORA.values():
        corpus |= {key: value for key, value in _parameters(cls).items() if key not in corpus}
    _open(properties["methods"], {"$ref": "#/$defs/Method"})
    _open(terms["number"], {"type": "integer", "minimum": 1})
    _open(defs["ChooseSection"]["properties"]["by"], {"enum": list(CHOICES)})
    varied = {key: _loosened(properties[key], defs) for key in VARYING}
    properties["variants"]["additionalProperties"] = _mapping(varied)


def _open(place: Schema, item: Schema) -> None:
    """Let a list be one item, too."""
    for key in ("type", "items", "minItems"):
        del place[key]
    place |= _of_lists(item)


def _components(registry: Mapping[str, type[Any]], *, lists: bool = True) -> list[Schema]:
    return [component_schema(name, cls, lists=lists) for name, cls in registry.items()]


def _parameters(cls: type[Any]) -> dict[str, Schema]:
    return {each.name: parameter_schema(each) for each in parameters_of(cls)}


def _names_or(names: Iterable[str], others: Iterable[Schema]) -> Schema:
    return {"anyOf": [{"enum": list(names)}, *others]}


def _of_lists(schema: Schema) -> Schema:
    """A value, or a list that stands for each of its items."""
    told = {key: schema[key] for key in ("description", "default") if key in schema}
    own = {key: value for key, value in schema.items() if key not in told}
    return told | {"anyOf": [own, {"type": "array", "items": own, "minItems": 1}]}


def _with_sizes(schema: Schema) -> Schema:
    """A protocol's schema, whose training sizes may be a list: the axis of curves."""
    properties = schema["properties"]
    sizes = {"train_size": _of_lists(properties["train_size"])} if "train_size" in properties else {}
    return schema | {"properties": properties | sizes}


def _mapping(properties: Mapping[str, Schema], **more: Any) -> Schema:
    return {"type": "object", **more, "properties": dict(properties), "additionalProperties": False}
