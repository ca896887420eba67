"""JSON Schema of configurations: what pydantic makes of the models, with the names of components."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from benchmark.config.components import component_model
from benchmark.config.schema import ExperimentSection, VariantKey
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.schema.registries import COMPONENT_REGISTRIES

if TYPE_CHECKING:
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

    It covers keys, names of components, types and ranges; `bench validate` also checks the components' parameters,
    combinations, and that no key is missing.
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
    defs |= {kind: _component({"enum": list(registry)}) for kind, registry in COMPONENT_REGISTRIES.items()}
    defs |= {
        "classifiers": _component({"enum": list(BUILTIN_REGISTRIES.classifiers)}, _IMPORT_PATH),
        "pipelines": _component(_OF_FILE, _IMPORT_PATH),
        "method-texts": {"type": "object", "propertyNames": {"enum": list(defs["TextSection"]["properties"])}},
        "method-names": {"anyOf": [{"enum": list(BUILTIN_REGISTRIES.methods)}, _IMPORT_PATH]},
        "corpora": {"enum": list(BUILTIN_REGISTRIES.corpora)},
        "metrics": {"enum": [*METRICS, *TIME_METRICS]},
    }
    varied = {key: properties[key] for key in get_args(VariantKey)}
    defs["variants"] = {"type": ["object", "null"], "additionalProperties": False, "properties": varied}
    corpus = defs["CorpusSection"]
    for cls in BUILTIN_REGISTRIES.corpora.values():
        for key, each in _schema_of(component_model(cls))["properties"].items():
            corpus["properties"].setdefault(key, each)
    corpus["additionalProperties"] = False
    return whole


def _schema_of(model: type[BaseModel]) -> Schema:
    """Return the schema of a model, with references in place of its marks of components."""
    text = json.dumps(model.model_json_schema())
    found: Schema = json.loads(re.sub(r'"component": "([\w-]+)"', r'"$ref": "#/$defs/\1"', text))
    return found


def _component(*names: Schema) -> Schema:
    """Return the schema of a component: its name, or a mapping that may have one, and any parameters."""
    name = {"anyOf": list(names)}
    return {"anyOf": [name, {"type": "object", "properties": {"name": name}}]}
