"""Components that a configuration can name, with parameters: from the registries and the docstrings of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import metric_name
from benchmark.config.components import REQUIRED_PARAMETER, component_parameters
from benchmark.config.schema_errors import first_paragraph
from benchmark.corpora import registry as corpora
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.papers import published
from benchmark.papers.load import load_published
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files
from benchmark.system.tags import NORMALIZATIONS
from benchmark.text.lexer import DIGIT_RULES, STEMMERS, STOPLISTS, stop_words

if TYPE_CHECKING:
    from benchmark.config.registries import Registries
    from benchmark.corpora.card import DatasetCard
    from benchmark.evaluation.metrics import DiagnosticMetric, Metric

    #: Name, parameters, description.
    Row = tuple[str, str, str]

#: Registries of classes whose constructors have the parameters, by kind.
COMPONENT_REGISTRIES = {kind: each for kind, each in BUILTIN_REGISTRIES.each() if kind not in ("metrics", "corpora")}
_NORMALIZATIONS = {
    "none": "weights unchanged",
    "l1": "scaled to sum 1: points of the simplex",
    "l2": "scaled to length 1",
}
_CLOCK = "Wall-clock seconds, for figures and claims; tables omit the metric."


def list_components(what: str) -> list[Table]:
    """List the components that configurations can name: all kinds, or one.

    Raises
    ------
    ConfigError
        If the kind is unknown.
    """
    rows = _rows(BUILTIN_REGISTRIES)
    if what and what not in rows:
        raise ConfigError(unknown_name("list", what, list(rows)))
    header = ("name", "parameters", "description")
    return [Table.of(kind, header, each) for kind, each in rows.items() if what in ("", kind)]


def _rows(known: Registries) -> dict[str, list[Row]]:
    cards = [corpora.dataset_card(name) for name in corpora.corpus_names()]
    rows: dict[str, list[Row]] = {"datasets": [(card.name, _subsets(card), card.title) for card in cards]}
    for kind, registry in known.each():
        if kind in COMPONENT_REGISTRIES:
            rows[kind] = [(name, _signature(cls), first_paragraph(cls.__doc__)) for name, cls in registry.items()]
            rows[kind] += [(name, "", problem) for name, problem in registry.broken.items()]
    rows["metrics"] = [(name, "", _metric(name, metric)) for name, metric in known.metrics.items()]
    rows["metrics"] += [(name, "", _CLOCK) for name in TIME_METRICS]
    rows["metrics"] += [(each.name, "", _declared(each, known)) for each in known.quantities.values()]
    rows["normalizations"] = [(name, "", _NORMALIZATIONS[name]) for name in NORMALIZATIONS]
    rows["digits"] = [(name, "", text) for name, text in DIGIT_RULES.items()]
    rows["stemmers"] = [(name, "", text) for name, text in STEMMERS.items()]
    rows["stoplists"] = [(name, "", f"{len(stop_words(name))} words") for name in STOPLISTS]
    publications = (load_published(path) for path in shipped_files(published.PUBLISHED_FOLDER, "*.yaml"))
    rows["papers"] = [(each.paper, "", f"{each.title}. {each.reference}") for each in publications]
    return rows


def _metric(name: str, metric: Metric) -> str:
    """Return the description of a metric; several are computed alike and differ in what they are of."""
    if not metric.whole:
        return f"Compute the {metric_name(name, {})} of one class."
    text = first_paragraph(metric.function.__doc__)
    return f"{text.removesuffix('.')}, split by split, and its mean." if name.endswith("-mean-of-splits") else text


def _declared(quantity: DiagnosticMetric, known: Registries) -> str:
    """Return the description of a metric that a diagnostic declares."""
    names = [name for name, diagnostic in known.diagnostics.items() if quantity in diagnostic.metrics]
    text = quantity.label or quantity.name
    text += f", in {quantity.unit}" if quantity.unit != "one" and quantity.unit not in text.split() else ""
    return f"Metric of {', '.join(names)}: {text}."


def _subsets(card: DatasetCard) -> str:
    return f"subset: {', '.join(card.subset_names)}" if card.subsets else ""


def _signature(cls: Any) -> str:
    return ", ".join(
        f"{name}: {_type(annotation)}" if default is REQUIRED_PARAMETER else f"{name}={default!r}"
        for name, (annotation, default) in component_parameters(cls).items()
    )


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("collections.abc.", "")
