"""Labels of cells, methods and parameters: the columns of a table of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.model import Cell, method_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Experiment, FusedMethods, MethodEntry, MethodSpec, Representation
    from benchmark.evaluation.score_table import ScoreTable


@dataclass(frozen=True)
class CellInfo(Cell):
    """A cell of an experiment with its labels.

    Parameters
    ----------
    columns : mapping of str to str
        Components of the cell in the order of display: ``{"weighting": "TF", "kernel": "ngd"}``.
    points : str
        Input of the classifier in words: weighting, normalization and kernel. "" if the method's name says it.
    classifier : str
        The classifier with its parameters, in words.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    points: str = ""
    classifier: str = ""


def label_cells(experiment: Experiment, scored: ScoreTable) -> tuple[CellInfo, ...]:
    """Return the labels of all cells of an experiment in table order, failed cells included."""
    return tuple(_info(experiment, cell, scored.chosen.get(cell.id)) for cell in experiment.cells)


def method_labels(experiment: Experiment) -> dict[str, str]:
    """Return the labels of methods in figures and sentences, by name: those of classifiers and diagnostics."""
    specs = (spec for variant in experiment.variants.values() for entry in variant.entries for spec in entry.candidates)
    components = (*(spec.classifier for spec in specs), *experiment.diagnostics)
    return {name: label for component in components for name, label in component.tags.labels.items()}


def component_label(component: Component) -> str:
    """Describe a component with its configured parameters: "svm (C 1, scheme one-vs-one)"."""
    return f"{component.name} ({_parameters(component.given)})" if component.given else component.name


def points_label(spec: MethodSpec) -> str:
    """Describe a classifier's input: weighting, normalization, features and kernel, or a file of predictions."""
    if spec.predictions is not None:
        return f"predictions of {spec.predictions.name}"
    if spec.fused is not None:
        return f"fusion of {_fused(spec.fused)}"
    if spec.vectors is not None:
        return f"vectors of {spec.vectors.file.name}, {spec.representation.normalization}"
    if spec.classifier.tags.reads_texts:
        return "texts"
    representation = spec.representation
    words = [component_label(representation.weighting)]
    words += [representation.normalization] if representation.normalization != "none" else []
    words += [f"Dirichlet({representation.dirichlet:g})"] if representation.dirichlet else []
    words += [f"{weight:g} × {name}" for name, weight in representation.fields]
    words += [component_label(representation.features)] if representation.features else []
    return ", ".join([*words, *([component_label(spec.kernel)] if spec.kernel else [])])


def method_text(entry: MethodEntry) -> str:
    """Describe a method: "eef: eef (smoothing 1) on tf"."""
    spec = entry.candidates[0]
    return f"{entry.label}: {component_label(spec.classifier)} on {points_label(spec)}"


def _fused(fused: FusedMethods) -> str:
    """Describe the methods of a fusion with their weights, if these differ: "words + 0.5 pairs"."""
    named, equal = zip(fused.names, fused.weights, strict=True), len(set(fused.weights)) == 1
    return " + ".join(name if equal else f"{weight:g} {name}" for name, weight in named)


def candidate_label(entry: MethodEntry, index: int) -> str:
    """Describe the parameters that distinguish one candidate of a method from the others: "t 0.5, C 10.0 (largest)".

    The smallest and largest of at least three numbers are marked: a better value may lie beyond them.
    """
    parameters = _given(entry.candidates[index])
    varying = {key: values for key, values in _varying(entry).items() if key in parameters}
    return _parameters({key: f"{parameters[key]}{_edge(parameters[key], values)}" for key, values in varying.items()})


def grid_label(entry: MethodEntry) -> str:
    """Describe the candidates of a method: "t 0.5, 2.0 × C 1.0, 10.0", or each of them if they are not a product."""
    values = _varying(entry)
    if math.prod(map(len, values.values())) != len(entry.candidates):
        return "; ".join(candidate_label(entry, index) for index in range(len(entry.candidates)))
    return " × ".join(f"{key} {', '.join(map(str, listed))}" for key, listed in values.items())


def _varying(entry: MethodEntry) -> dict[str, list[Any]]:
    """Return the parameters that differ between candidates, with their values in the order of the configuration."""
    each = [_given(spec) for spec in entry.candidates]
    keys = dict.fromkeys(key for one in each for key in one)
    values = {key: list({str(one[key]): one[key] for one in each if key in one}.values()) for key in keys}
    return {key: listed for key, listed in values.items() if len(listed) > 1}


def _edge(value: Any, values: list[Any]) -> str:
    """Return a mark for the smallest or largest of at least three numbers; None is no limit, beyond all numbers."""
    numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    if value not in numbers or len(values) < 3 or len(numbers) + values.count(None) < len(values):
        return ""
    if value == min(numbers):
        return " (smallest)"
    return " (largest)" if value == max(numbers) and None not in values else ""


def _info(experiment: Experiment, cell: Cell, chosen: NDArray[np.intp] | None) -> CellInfo:
    """Return the labels of a cell."""
    columns = _columns(experiment, cell)
    if cell.what == "diagnostic":
        return CellInfo(**vars(cell), columns=columns | {"method": cell.method})
    entry = method_of(experiment, cell)
    spec = entry.candidates[0]
    words = {
        "weighting": component_label(spec.representation.weighting),
        "normalization": spec.representation.normalization,
        "kernel": component_label(part) if (part := spec.kernel or spec.representation.features) else "",
        "classifier": component_label(spec.classifier),
    }
    if spec.vectors or spec.predictions or spec.fused or spec.classifier.tags.reads_texts:
        words |= {"weighting": points_label(spec), "normalization": ""}
    columns |= words if cell.size is None and cell.terms is None and cell.what == "point" else {"method": cell.method}
    columns |= {"choice": cell.choice} if cell.choice else {}
    columns |= {name: str(getattr(cell, name)) for name in ("size", "terms") if getattr(cell, name) is not None}
    columns |= {"parameter": _middle(entry, chosen)} if len(entry.candidates) > 1 else {}
    return CellInfo(**vars(cell), columns=columns, points=points_label(spec), classifier=words["classifier"])


def _columns(experiment: Experiment, cell: Cell) -> dict[str, str]:
    """Return the columns that locate a cell, without those that are the same for every cell."""
    titles = {task.name: task.title for task in experiment.variants[cell.variant].tasks}
    columns = {"variant": cell.variant} if len(experiment.variants) > 1 else {}
    columns |= {"task": titles.get(cell.task, cell.task)} if len(titles) > 1 else {}
    columns |= {"what": cell.what} if any(each.what != "point" for each in experiment.cells) else {}
    return columns | ({"class": cell.of_class} if experiment.by_class else {})


def _middle(entry: MethodEntry, chosen: NDArray[np.intp] | None) -> str:
    """Describe the selected candidate: the common one, or the median over the splits."""
    if chosen is None:
        return ""
    order = np.sort(chosen)
    text = candidate_label(entry, int(order[(len(order) - 1) // 2]))
    return text if order[0] == order[-1] else f"{text} (median)"


def _given(spec: MethodSpec) -> dict[str, Any]:
    """Return the parameters of a method by name; those of a fusion's methods have the method's name before theirs."""
    if spec.fused is not None:
        members = zip(spec.fused.names, map(_given, spec.fused.members), strict=True)
        parameters = {f"{name} {key}": value for name, given in members for key, value in given.items()}
        return {"sum of": _fused(spec.fused), **parameters}
    text, points = spec.text.flat if spec.text else {}, _flat(spec.representation)
    threshold = "zero" if spec.threshold is None else component_label(spec.threshold)
    machine = {**(spec.kernel.given if spec.kernel else {}), **spec.classifier.given, "threshold": threshold}
    return {**text, **points, **machine}


def _flat(representation: Representation) -> dict[str, Any]:
    parts = {"weighting": representation.weighting, "features": representation.features}
    parameters = {"weights": ", ".join(f"{weight:g} {name}" for name, weight in representation.fields)}
    parameters |= {f"{name} {key}": value for name, part in parts.items() if part for key, value in part.given.items()}
    # Texts have a key `fields`, too. What a weighting learns from follows from it, and `idf` is ignored without that.
    left_out = ("fields", "learns") if representation.learns else ("fields", "learns", "idf")
    settings = {key: value for key, value in vars(representation).items() if key not in left_out}
    return {**settings, **{name: part and part.name for name, part in parts.items()}, **parameters}


def _parameters(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in parameters.items())
