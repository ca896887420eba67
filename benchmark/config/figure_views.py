"""`figures` to views of the score frame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from benchmark.config.components import component_parameters, declared_metrics
from benchmark.config.model import BASE_VARIANT, FigureView
from benchmark.config.schema import CellName, ConfigSection, Listed, Pair, check_known
from benchmark.evaluation.metrics import TIME_METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Component, Registries
    from benchmark.config.model import Variant
    from benchmark.system.yaml_source import Node

#: Columns of the frame whose names in configurations are others.
_COLUMNS = {"class": "of_class", "train_size": "size"}
FigureColumn = Literal["choice", "task", "variant", "class", "method", "kernel", "size", "terms"]
#: Metrics, or the ratio or difference of two methods.
AnyY = Listed[str] | Annotated[dict[Literal["ratio", "difference"], Pair], Field(min_length=1, max_length=1)]


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
    first, names = variants[0], [variant.name for variant in variants]
    axis = "size" if first.sizes != (None,) else "terms" if first.terms else ""
    found: dict[str, FigureView] = {}
    for section, at in zip(figures, node, strict=True):
        if section.name in found:
            raise at["name"].error(f"two figures are named {section.name!r}")
        found[section.name] = view = _view(section, axis, metrics[0])
        if not view.regions:
            _check_view(view, first, diagnostics, at, known)
        elif "coordinates" not in [each.name for each in diagnostics]:
            raise at["regions"].error("regions are drawn from coordinates: add `coordinates` to `diagnostics`")
        for each in at["regions"]:
            check_known("variant", each.value, names, each)
    if not figures and axis:
        found["figure"] = FigureView("figure", (metrics[0],), x=axis, log_x=axis == "terms")
    return tuple(each for figure in found.values() for each in _by_variant(figure, variants))


def _view(section: FigureSection, axis: str, metric: str) -> FigureView:
    """Return what a figure shows, by columns of the frame."""
    drawn = section.model_dump(include={"name", "bars", "log_x", "log_y", "title"})
    if section.regions:
        return FigureView(y=(), x="", regions=tuple(section.regions), **drawn)
    y = [metric] if section.y is None or isinstance(section.y, dict) else section.y
    relations = [(how, *pair) for how, pair in section.y.items()] if isinstance(section.y, dict) else [()]
    x, line, *panel = (_COLUMNS.get(name, name) for name in (section.x or axis, section.line, *section.panel))
    where = {_COLUMNS.get(name, name): value for name, value in section.where.items()}
    return FigureView(y=tuple(y), relation=relations[0], x=x, line=line, panel=tuple(panel), where=where, **drawn)


def _check_view(
    view: FigureView, variant: Variant, diagnostics: Sequence[Component], node: Node, known: Registries
) -> None:
    """Refuse an unknown axis or metric, and a ratio or difference of unknown methods.

    An axis is the training size, or the number of terms, if there are several; a parameter, a time, or a diagnostic.
    """
    if not view.x:
        raise node["x"].error("there is no x axis: the protocol has one training size, and no terms are selected")
    quantities = declared_metrics(each.cls for each in diagnostics)
    specs = [spec for entry in variant.entries for spec in entry.candidates]
    parts = [each for spec in specs for each in (spec.kernel, spec.classifier, spec.representation.features)]
    named = [name for each in (*parts, *diagnostics) if each is not None for name in component_parameters(each.cls)]
    axes = [*(["size"] if variant.sizes != (None,) else []), *(["terms"] if variant.terms else [])]
    check_known("axis", view.x, dict.fromkeys([*axes, *named, *TIME_METRICS, *quantities]), node["x"])
    for metric in view.y:
        check_known("metric", metric, [*known.metrics, *TIME_METRICS, *quantities], node["y"])
    for label in view.relation[1:]:
        check_known("method", label, [entry.label for entry in variant.entries], node["y"])


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
