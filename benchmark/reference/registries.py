"""Everything that a configuration can name, with parameters: from the registries, and the docstrings of classes."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import REQUIRED, parameters
from benchmark.corpora import registry as corpora
from benchmark.errors import ConfigError, unknown
from benchmark.evaluation import published as papers
from benchmark.evaluation.metrics import CLOCK
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.findings.papers import load_published
from benchmark.kernels import KERNELS
from benchmark.measures import MEASURES
from benchmark.plugins.gathering import with_plugins
from benchmark.report.part import Part
from benchmark.representation import NORMALIZATIONS, WEIGHTINGS
from benchmark.representation.features import FEATURES
from benchmark.text.lexer import DIGIT_RULES
from benchmark.text.stoplist import STOPLISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmark.corpora.card import DatasetCard
    from benchmark.evaluation.metrics import MeasuredQuantity
    from benchmark.registries import Registries

    #: Name, parameters, what it is.
    Row = tuple[str, str, str]

#: Classes, whose constructors have the parameters.
COMPONENTS: dict[str, Mapping[str, type[Any]]] = {
    "kernels": KERNELS,
    "classifiers": CLASSIFIERS,
    "protocols": PROTOCOLS,
    "measures": MEASURES,
    "weightings": WEIGHTINGS,
    "features": FEATURES,
}
_NORMALIZATIONS = {"none": "weights as they are", "l1": "to sum 1: points of the simplex", "l2": "to length 1"}
_CLOCK = "Seconds on the clock: in figures and claims, in no table."


@dataclass(frozen=True)
class Parameter:
    """A parameter of a component.

    Parameters
    ----------
    name : str
    annotation : Any
        Its type.
    default : Any
        `REQUIRED` where there is none.
    choices : tuple of str
        What text it can be; () for any.
    text : str
        What it is, from the docstring.
    """

    name: str
    annotation: Any
    default: Any
    choices: tuple[str, ...]
    text: str


def parameters_of(cls: type[Any]) -> list[Parameter]:
    """What a configuration can say of a component."""
    found = _documented(inspect.getdoc(cls) or "")
    return [
        Parameter(name, annotation, default, tuple(re.findall(r'"([^"]+)"', kind) if kind[:1] == "{" else ()), text)
        for name, (annotation, default) in parameters(cls).items()
        for kind, text in [found.get(name, ("", ""))]
    ]


def _documented(doc: str) -> dict[str, tuple[str, str]]:
    """Type and text of each parameter in the section "Parameters" of a docstring as numpydoc has it."""
    _, _, section = doc.partition("Parameters\n----------\n")
    section = re.split(r"\n\n?\w[\w ]*\n-{3,}\n", section)[0]
    found: dict[str, tuple[str, str]] = {}
    for head, body in re.findall(r"^(\S.*)\n?((?:[ ]+.*\n?|\n)*)", section, re.MULTILINE):
        names, _, kind = head.partition(" : ")
        text = " ".join(body.split())
        found |= dict.fromkeys(re.split(r", *", names), (kind, text))
    return found


def first_sentence(doc: str | None) -> str:
    """The first paragraph of a docstring, in a line."""
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def registered(what: str, files: Iterable[Path] = ()) -> list[Part]:
    """What configurations can name, those with these plug-ins too: all of it, or one kind.

    Raises
    ------
    ConfigError
        For a kind that there isn't.
    """
    rows = _rows(with_plugins(files))
    if what and what not in rows:
        raise ConfigError(unknown("list", what, list(rows)))
    return [Part(kind, ("name", "parameters", "what it is"), each) for kind, each in rows.items() if what in ("", kind)]


def _rows(known: Registries) -> dict[str, list[Row]]:
    cards = [corpora.card(name) for name in corpora.registered()]
    rows: dict[str, list[Row]] = {"datasets": [(card.name, _subsets(card), card.title) for card in cards]}
    for kind, registry in known.each():
        if kind in COMPONENTS:
            rows[kind] = [(name, _signature(cls), first_sentence(cls.__doc__)) for name, cls in registry.items()]
            rows[kind] += [(name, "", problem) for name, problem in registry.broken.items()]
    rows |= {
        kind: [(name, _signature(cls), first_sentence(cls.__doc__)) for name, cls in COMPONENTS[kind].items()]
        for kind in ("weightings", "features")
    }
    rows["metrics"] = [(name, "", first_sentence(metric.of.__doc__)) for name, metric in known.metrics.items()]
    rows["metrics"] += [(name, "", _CLOCK) for name in CLOCK]
    rows["metrics"] += [(each.name, "", _declared(each, known)) for each in known.quantities.values()]
    rows["normalizations"] = [(name, "", _NORMALIZATIONS[name]) for name in NORMALIZATIONS]
    rows["digits"] = [(name, "", text) for name, text in DIGIT_RULES.items()]
    rows["stoplists"] = [(name, "", f"{len(stop_words(name))} words") for name in STOPLISTS]
    found = (load_published(path) for path in sorted(papers.FOLDER.glob("*.yaml")))
    rows["papers"] = [(each.paper, "", f"{each.title}. {each.reference}") for each in found]
    return rows


def _declared(quantity: MeasuredQuantity, known: Registries) -> str:
    """Return what a metric is that a measure declares."""
    names = [name for name, measure in known.measures.items() if quantity in measure.metrics]
    text = quantity.label or quantity.name
    text += f", in {quantity.unit}" if quantity.unit != "one" and quantity.unit not in text.split() else ""
    kind = "measures" if len(names) > 1 else "measure"
    clock = f" {_CLOCK}" if quantity.on_clock else ""
    return f"Of the {kind} {', '.join(names)}: {text}.{clock}"


def _subsets(card: DatasetCard) -> str:
    return f"subset: {', '.join(card.subset_names)}" if card.subsets else ""


def _signature(cls: type[Any]) -> str:
    return ", ".join(
        f"{each.name}: {_type(each.annotation)}" if each.default is REQUIRED else f"{each.name}={each.default!r}"
        for each in parameters_of(cls)
    )


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("collections.abc.", "")
