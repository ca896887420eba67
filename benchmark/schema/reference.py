"""Reference of configurations: lists of components, the JSON Schema that pydantic makes of the models, and a page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import metric_name
from benchmark.analysis.prose.sentences import environment_of
from benchmark.config.components import REQUIRED_PARAMETER, component_model, component_parameters
from benchmark.config.experiment import ExperimentSection, VariantKey
from benchmark.config.schema import first_paragraph, sections_in
from benchmark.corpora import registry as corpora
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.papers import published
from benchmark.papers.load import load_published
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files
from benchmark.text.lexer import DIGIT_RULES, STEMMERS, STOPLISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

    from benchmark.corpora.card import DatasetCard
    from benchmark.evaluation.metrics import DiagnosticMetric, Metric

    Schema = dict[str, Any]
    #: Name, parameters, description.
    Row = tuple[str, str, str]

#: Registries of classes whose constructors have the parameters, by kind.
COMPONENT_REGISTRIES = {
    kind: each for kind, each in BUILTIN_REGISTRIES.each() if kind not in ("metrics", "corpora", "pipelines")
}
_NORMALIZATIONS = {
    "none": "weights unchanged",
    "l1": "scaled to sum 1: points of the simplex",
    "l2": "scaled to length 1",
}
_CLOCK = "Wall-clock seconds, for figures and claims; tables omit the metric."
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: Sections that are merged key by key, so that a file which extends another may leave out any key.
_MERGED = ("CorpusSection", "TermsSection", "ChooseSection")
_EXTENDS = "A configuration in the same folder; this one has only the differences, and null removes a key."
#: An import path of a class, and a function or class of a file.
_IMPORT_PATH = {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"}
_OF_FILE = {"type": "string", "pattern": r"^.*\.py:\w+$"}
#: Words of the page for the types that docstrings name.
_TYPES = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "dict": "mapping"}


# --- Lists of components ---


def list_components(what: str) -> list[Table]:
    """List the components that configurations can name: all kinds, or one.

    Raises
    ------
    ConfigError
        If the kind is unknown.
    """
    rows = _rows()
    if what and what not in rows:
        raise ConfigError(unknown_name("list", what, list(rows)))
    header = ("name", "parameters", "description")
    return [Table.of(kind, header, each) for kind, each in rows.items() if what in ("", kind)]


def _rows() -> dict[str, list[Row]]:
    known = BUILTIN_REGISTRIES
    cards = [corpora.dataset_card(name) for name in corpora.corpus_names()]
    rows: dict[str, list[Row]] = {"datasets": [(card.name, _subsets(card), card.title) for card in cards]}
    for kind, registry in COMPONENT_REGISTRIES.items():
        rows[kind] = [(name, _signature(cls), first_paragraph(cls.__doc__)) for name, cls in registry.items()]
    rows["metrics"] = [(name, "", _metric(name, metric)) for name, metric in known.metrics.items()]
    rows["metrics"] += [(name, "", _CLOCK) for name in TIME_METRICS]
    rows["metrics"] += [(each.name, "", _declared(each)) for each in known.quantities.values()]
    papers = (load_published(path) for path in shipped_files(published.PUBLISHED_FOLDER, "*.yaml"))
    words = {
        "normalizations": _NORMALIZATIONS,
        "digits": DIGIT_RULES,
        "stemmers": STEMMERS,
        "stoplists": {name: f"{len(stop_words(name))} words" for name in STOPLISTS},
        "papers": {each.paper: f"{each.title}. {each.reference}" for each in papers},
    }
    return rows | {kind: [(name, "", text) for name, text in each.items()] for kind, each in words.items()}


def _subsets(card: DatasetCard) -> str:
    return f"subset: {', '.join(card.subset_names)}" if card.subsets else ""


def _signature(cls: Any) -> str:
    parameters = component_parameters(cls).items()
    return ", ".join(name if value is REQUIRED_PARAMETER else f"{name}={value!r}" for name, (_, value) in parameters)


def _metric(name: str, metric: Metric) -> str:
    """Return the description of a metric; several are computed alike and differ in what they are of."""
    if not metric.whole:
        return f"Compute the {metric_name(name, {})} of one class."
    text = first_paragraph(metric.function.__doc__)
    return f"{text.removesuffix('.')}, split by split, and its mean." if name.endswith("-mean-of-splits") else text


def _declared(quantity: DiagnosticMetric) -> str:
    """Return the description of a metric that a diagnostic declares."""
    names = [name for name, each in BUILTIN_REGISTRIES.diagnostics.items() if quantity in each.metrics]
    text = quantity.label or quantity.name
    text += f", in {quantity.unit}" if quantity.unit != "one" and quantity.unit not in text.split() else ""
    return f"Metric of {', '.join(names)}: {text}."


# --- JSON Schema ---


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


# --- The page ---


def reference_page() -> str:
    """Return the page of every key, and of every component with its parameters, in Markdown."""
    environment = environment_of("benchmark.schema")
    environment.filters["cell"] = lambda text: text.replace("|", "\\|").replace("``", "`")
    page = environment.get_template("reference.md.j2").render(parts=list(_parts()))
    return re.sub(r"\n{3,}", "\n\n", page).rstrip() + "\n"


def _parts() -> Iterator[dict[str, Any]]:
    """Yield heading, text, keys and names of each part of the page."""
    whole = whole_schema()
    yield {"heading": "## An experiment", "rows": _keys(whole, whole["$defs"])}
    for key, field in ExperimentSection.model_fields.items():
        for section in sections_in(field.annotation):
            rows = _keys(whole["$defs"][section.__name__], whole["$defs"])
            yield {"heading": f"### {key}", "text": first_paragraph(section.__doc__), "rows": rows}
    for table in list_components(""):
        registry: Mapping[str, Any] = COMPONENT_REGISTRIES.get(table.title, {})
        yield {"heading": f"## {table.title.capitalize()}", "names": () if registry else table.rows}
        for name, cls in registry.items():
            rows = _keys(_schema_of(component_model(cls, table.title.removesuffix("s"))), {})
            yield {"heading": f"### {name}", "text": first_paragraph(cls.__doc__), "rows": rows}


def _keys(section: Schema, defs: Schema) -> list[tuple[str, str, str, str]]:
    """Return name, type, default and description of each key of a section."""
    found = []
    for key, schema in section["properties"].items():
        default = schema.get("default")
        shown = "" if default in (None, "", []) or isinstance(default, dict) else f"`{json.dumps(default)}`"
        shown = "required" if key in section.get("required", ()) else shown
        kind = re.sub(r"\w+Section", "section", re.sub(r" or None|, optional", "", schema.get("$comment", "")))
        kind = re.sub(r"\w+", lambda word: _TYPES.get(word[0], word[0]), kind)
        choices = _words(schema, defs) or re.findall(r'"([^"]+)"', kind)
        words = ", ".join(f"`{word}`" for word in choices)
        kind = words if kind.startswith("{") else ": ".join(filter(None, (kind, words)))
        found.append((key, kind, shown, schema.get("description", "")))
    return found


def _words(schema: Schema, defs: Schema) -> list[Any]:
    """Return the words that a value may be, each once."""
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *filter(None, [schema.get("items")])]
    inner += [defs[name] for name in [schema.get("$ref", "").rpartition("/")[2]] if "enum" in defs.get(name, ())]
    own = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return list(dict.fromkeys([*own, *(word for each in inner for word in _words(each, defs))]))
