"""Components that a configuration can name, with parameters: from the registries and the docstrings of classes."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import metric_name
from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import REQUIRED_PARAMETER, component_parameters
from benchmark.corpora import registry as corpora
from benchmark.diagnostics import DIAGNOSTICS
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.papers import published
from benchmark.papers.load import load_published, published_papers
from benchmark.plugins.discovery import registries_with_plugins
from benchmark.representation import NORMALIZATIONS, WEIGHTINGS
from benchmark.representation.features import FEATURE_MAPS
from benchmark.system.errors import ConfigError, unknown_name
from benchmark.system.shipped_files import shipped_files
from benchmark.text.lexer import DIGIT_RULES
from benchmark.text.stoplist import STOPLISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmark.config.registries import Registries
    from benchmark.corpora.card import DatasetCard
    from benchmark.evaluation.metrics import DiagnosticMetric, Metric

    #: Name, parameters, description.
    Row = tuple[str, str, str]

#: Registries of classes, by kind; the constructors have the parameters.
COMPONENT_REGISTRIES: dict[str, Mapping[str, type[Any]]] = {
    "kernels": KERNELS,
    "classifiers": CLASSIFIERS,
    "protocols": PROTOCOLS,
    "diagnostics": DIAGNOSTICS,
    "weightings": WEIGHTINGS,
    "features": FEATURE_MAPS,
    "thresholds": THRESHOLDS,
}
_NORMALIZATIONS = {
    "none": "weights unchanged",
    "l1": "scaled to sum 1: points of the simplex",
    "l2": "scaled to length 1",
}
_CLOCK = "Wall-clock seconds, for figures and claims; tables omit the metric."


@dataclass(frozen=True)
class ComponentParameter:
    """Parameter of a component.

    Parameters
    ----------
    name : str
    annotation : Any
        Type of the parameter.
    default : Any
        Default value, or `REQUIRED_PARAMETER`.
    choices : tuple of str
        Allowed strings; () for any.
    text : str
        Description, from the docstring.
    """

    name: str
    annotation: Any
    default: Any
    choices: tuple[str, ...]
    text: str


def parameters_of(cls: type[Any]) -> list[ComponentParameter]:
    """Return the parameters of a component that a configuration can set."""
    documented: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):  # a class documents only the parameters that its bases lack
        documented |= _documented(inspect.cleandoc(vars(base).get("__doc__") or ""))
    return [
        ComponentParameter(
            name, annotation, default, tuple(re.findall(r'"([^"]+)"', kind) if kind[:1] == "{" else ()), text
        )
        for name, (annotation, default) in component_parameters(cls).items()
        for kind, text in [documented.get(name, ("", ""))]
    ]


def _documented(doc: str) -> dict[str, tuple[str, str]]:
    """Parse the "Parameters" section of a numpydoc docstring: type and text by name of the parameter."""
    _, _, section = doc.partition("Parameters\n----------\n")
    section = re.split(r"\n\n?\w[\w ]*\n-{3,}\n", section)[0]
    documented: dict[str, tuple[str, str]] = {}
    for head, body in re.findall(r"^(\S.*)\n?((?:[ ]+.*\n?|\n)*)", section, re.MULTILINE):
        names, _, kind = head.partition(" : ")
        text = " ".join(body.split())
        documented |= dict.fromkeys(re.split(r", *", names), (kind, text))
    return documented


def first_paragraph(doc: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def component_names(files: Iterable[Path] = ()) -> dict[str, list[str]]:
    """Return the names that configurations can use, by kind, those of plug-in files among them."""
    known = registries_with_plugins(files)
    metrics = [*known.metrics, *TIME_METRICS, *known.quantities]
    return {
        "datasets": corpora.corpus_names(),
        **{kind: [*each, *each.broken] for kind, each in known.each() if kind in COMPONENT_REGISTRIES},
        "metrics": metrics,
        "normalizations": list(NORMALIZATIONS),
        "digits": list(DIGIT_RULES),
        "stoplists": list(STOPLISTS),
        "papers": published_papers(),
    }


def list_components(what: str, files: Iterable[Path] = ()) -> list[Table]:
    """List the components that configurations can name, with those of plug-in files: all kinds, or one.

    Raises
    ------
    ConfigError
        If the kind is unknown.
    """
    rows = _rows(registries_with_plugins(files))
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
    kind = "diagnostics" if len(names) > 1 else "diagnostic"
    clock = f" {_CLOCK}" if quantity.on_clock else ""
    return f"Metric of the {kind} {', '.join(names)}: {text}.{clock}"


def _subsets(card: DatasetCard) -> str:
    return f"subset: {', '.join(card.subset_names)}" if card.subsets else ""


def _signature(cls: type[Any]) -> str:
    return ", ".join(
        f"{each.name}: {_type(each.annotation)}"
        if each.default is REQUIRED_PARAMETER
        else f"{each.name}={each.default!r}"
        for each in parameters_of(cls)
    )


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("collections.abc.", "")
