"""`figures` to views of the score frame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from benchmark.config.components import component_parameters
from benchmark.config.model import BASE_VARIANT, FigureView
from benchmark.config.schema import CellName, ConfigSection, Listed, Pair, check_known, mapping_or_other
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.system.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.config.components import Component, Registries
    from benchmark.config.model import Variant
    from benchmark.system.yaml_source import Node

#: Columns of the frame whose names in configurations are others.
_COLUMNS = {"class": "of_class", "train_size": "size"}
FigureColumn = Literal["choice", "task", "variant", "class", "method", "kernel", "size", "terms"]
Relation = Literal["ratio", "difference"]
AnyY = Annotated[
    Annotated[Listed[str], Tag("other")]
    | Annotated[dict[Relation, Pair], Field(min_length=1, max_length=1), Tag("mapping")],
    Discriminator(mapping_or_other),
]


class FigureSection(ConfigSection):
    """An item of `figures`: a view of the scores.

    Parameters
    ----------
    name : str
        Stem of the figure's files.
    title : str
        Title above the figure.
    y : str or list of str or dict or None
        Metrics, a panel each, or the ratio or difference of two methods; by default the first metric.
    x : str or None
        The x axis: train_size, terms, or a parameter or number of the methods.
    line : str
        The column whose values are lines.
    panel : str or list of str
        Columns whose values are panels.
    where : dict
        Columns with the only value to show.
    bars : str
        Error bars.
    log_x : bool
        Whether x is logarithmic.
    log_y : bool
        Whether y is logarithmic.
    regions : list of str
        Variants whose methods' decision regions are drawn, a row each, in place of curves.
    """

    name: CellName
    title: str = ""
    y: AnyY | None = None
    x: str | None = None
    line: FigureColumn = "method"
    panel: Listed[FigureColumn] = Field(["choice", "task"])
    where: dict[FigureColumn, str] = Field({})
    bars: Literal["interval", "2 standard deviations", "range", "none"] = "interval"
    log_x: bool = False
    log_y: bool = False
    regions: list[str] = Field([])


def list_figures(
    figures: Sequence[FigureSection],
    variants: Sequence[Variant],
    metrics: Sequence[str],
    diagnostics: Sequence[Component],
    node: Node,
    known: Registries,
) -> tuple[FigureView, ...]:
    """Return the figures that are listed, or one of the main metric if there is an axis; one figure per variant."""
    first = variants[0]
    axis = "size" if first.sizes != (None,) else "terms" if first.terms else ""
    found: dict[str, FigureView] = {}
    for section, at in zip(figures, node, strict=True):
        if section.name in found:
            raise at["name"].error(f"two figures are named {section.name!r}")
        drawn = section.model_dump(include={"name", "bars", "log_x", "log_y", "title"})
        if section.regions:
            _check_regions(at["regions"], [variant.name for variant in variants], [each.name for each in diagnostics])
            found[section.name] = FigureView(y=(), x="", regions=tuple(section.regions), **drawn)
        else:
            found[section.name] = FigureView(**_shown(section, axis, metrics, at), **drawn)
            _check_shown(found[section.name], _axes(first, diagnostics, known.quantities), first, at, known)
    if not figures and axis:
        found["figure"] = FigureView("figure", (metrics[0],), x=axis, log_x=axis == "terms")
    return tuple(each for figure in found.values() for each in _by_variant(figure, variants))


def _check_regions(node: Node, variants: Sequence[str], diagnostics: Sequence[str]) -> None:
    """Refuse decision regions without coordinates, or of unknown variants."""
    if "coordinates" not in diagnostics:
        raise node.error("regions are drawn from coordinates: add `coordinates` to `diagnostics`")
    for each in node:
        check_known("variant", each.value, variants, each)


def _shown(section: FigureSection, axis: str, metrics: Sequence[str], node: Node) -> dict[str, Any]:
    """Return what a figure shows, by columns of the frame."""
    y = section.y if isinstance(section.y, list) else [metrics[0]]
    relations = [(how, *pair) for how, pair in section.y.items()] if isinstance(section.y, dict) else [()]
    if not (x := section.x or axis):
        raise node["x"].error("there is no x axis: the protocol has one training size, and no terms are selected")
    x, line, *panel = (_COLUMNS.get(name, name) for name in (x, section.line, *section.panel))
    where = {_COLUMNS.get(name, name): value for name, value in section.where.items()}
    return {"y": tuple(y), "relation": relations[0], "x": x, "line": line, "panel": tuple(panel), "where": where}


def _check_shown(figure: FigureView, axes: Sequence[str], variant: Variant, node: Node, known: Registries) -> None:
    """Refuse an unknown axis or metric, and a ratio or difference of unknown methods."""
    numbers = [*known.metrics, *TIME_METRICS, *known.quantities]
    labels = [entry.label for entry in variant.entries]
    check_known("axis", figure.x, axes, node["x"])
    for metric in figure.y:
        if metric not in numbers:
            raise node["y"].error(known.metrics.broken.get(metric) or unknown_name("metric", metric, numbers))
    for label in figure.relation[1:]:
        check_known("method", label, labels, node["y"])


def _axes(variant: Variant, diagnostics: Iterable[Component], quantities: Iterable[str]) -> list[str]:
    """Return the possible x axes: training sizes and terms if there are several, parameters, times and diagnostics."""
    specs = [spec for entry in variant.entries for spec in entry.candidates]
    parts = [each for spec in specs for each in (spec.kernel, spec.classifier, spec.representation.features)]
    named = [name for each in (*parts, *diagnostics) if each is not None for name in component_parameters(each.cls)]
    sizes = ["size"] if variant.sizes != (None,) else []
    return list(dict.fromkeys([*sizes, *(["terms"] if variant.terms else []), *named, *TIME_METRICS, *quantities]))


def _by_variant(figure: FigureView, variants: Sequence[Variant]) -> list[FigureView]:
    """Return one figure per variant, named after it, or one for all where variants are its lines, panels or x."""
    across = "variant" in (figure.line, *figure.panel, *figure.where) or figure.x not in ("size", "terms")
    if figure.regions or across:
        return [figure]
    found = []
    for each in variants:
        name = figure.name if each.name == BASE_VARIANT else f"{figure.name}-{each.name}"
        where = {**figure.where, "variant": each.name} if len(variants) > 1 else figure.where
        found.append(replace(figure, name=name, where=where))
    return found
