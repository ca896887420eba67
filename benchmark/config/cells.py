"""Variants, choices and metrics to cells; and the pairs and figures that are views of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmark.config.components import component_parameters
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, Cell, ComparedPair, FigureView
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.system.errors import quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Variant
    from benchmark.config.registries import Registries
    from benchmark.config.schema import ExperimentSection, FigureSection
    from benchmark.system.yaml_source import Location, YamlSource

#: Words for ways to choose in the ids of cells.
CHOICE_ID_WORDS = {"cross-validation": "cv"}
FIGURE_COLUMNS = ("choice", "task", "variant", "class", "method", "kernel", "size", "terms")
_COLUMN = {"class": "of_class"}


def list_cells(
    variants: Iterable[Variant],
    choices: Sequence[str],
    diagnostics: Iterable[Component],
    *,
    by_class: bool,
    gain: bool,
) -> tuple[Cell, ...]:
    """Return every row of the scores: for each variant its settings, then its gains, then its diagnostics' rows."""
    diagnostics, cells = tuple(diagnostics), list[Cell]()
    for variant in variants:
        cells += _points(variant, choices, by_class=by_class)
        cells += _gains(variant, choices, by_class=by_class) if gain else []
        cells += [
            replace(cell, diagnostic=name)
            for name, own in _own(diagnostics, variant)
            for cell in own.cells(variant.name, variant.collection.classes)
        ]
    return tuple(cells)


def _own(diagnostics: Iterable[Component], variant: Variant) -> list[tuple[str, Any]]:
    """Return the diagnostics of a variant, by name."""
    return [
        (each.name, each.build()) for each in diagnostics if variant.name == BASE_VARIANT or not each.tags.base_only
    ]


def _prefix(variant: str) -> list[str]:
    """Return the prefix of the ids of a variant's cells: its name, or nothing for the configuration itself."""
    return [] if variant == BASE_VARIANT else [variant]


def _id(*words: str | int | None) -> str:
    return "-".join(str(word) for word in words if word not in ("", None))


def _classes(variant: Variant, index: int, *, by_class: bool) -> tuple[str, ...]:
    return (ALL_CLASSES, *variant.tasks[index].classes) if by_class else ("",)


def _points(variant: Variant, choices: Sequence[str], *, by_class: bool) -> list[Cell]:
    found = []
    for choice, (index, task) in product(choices, enumerate(variant.tasks)):
        axes = list(product(variant.sizes, variant.numbers))
        for of_class, entry in product(_classes(variant, index, by_class=by_class), variant.entries):
            for size, terms in axes:
                words = task.name, of_class, entry.label, CHOICE_ID_WORDS.get(choice, choice), size, terms
                name = _id(*_prefix(variant.name), *words)
                found.append(Cell(name, variant.name, task.name, entry.label, "point", of_class, choice, size, terms))
    return found


def _gains(variant: Variant, choices: Sequence[str], *, by_class: bool) -> list[Cell]:
    """Return the cells whose score is that of the largest training size less that of the smallest."""
    found = []
    for choice, (index, task) in product(choices, enumerate(variant.tasks)):
        for of_class, entry, terms in product(
            _classes(variant, index, by_class=by_class), variant.entries, variant.numbers
        ):
            words = "gain", task.name, of_class, entry.label, CHOICE_ID_WORDS.get(choice, choice), terms
            name = _id(*_prefix(variant.name), *words)
            found.append(Cell(name, variant.name, task.name, entry.label, "gain", of_class, choice, None, terms))
    return found


def list_pairs(
    given: list[list[str]], cells: Sequence[Cell], family: Sequence[str], source: YamlSource
) -> tuple[ComparedPair, ...]:
    """Return the pairs under `compare`: two cells by their ids, or two methods in all cells that otherwise agree."""
    ids = {cell.id: cell for cell in cells}
    points = [cell for cell in cells if cell.what == "point"]
    labels = dict.fromkeys(cell.method for cell in points)
    place_of = {_place(cell): cell for cell in points}
    where = dict.fromkeys((c.variant, c.choice, c.task, c.of_class) for c in points)
    axes = list(dict.fromkeys((c.size, c.terms) for c in points))
    for index, (a, b) in enumerate(check_pairs(given, labels | ids, source)):
        if (a in labels) != (b in labels):
            raise source.error(
                ("compare", index), f"a comparison names two methods or two cells, not one of each: {[a, b]}"
            )
    found: list[ComparedPair] = []
    for w in where:
        for a, b in given:
            if a in labels:
                both = [(place_of.get((*w, a, *axis)), place_of.get((*w, b, *axis))) for axis in axes]
                found += [
                    ComparedPair(x.id, y.id, _family(x, y, family)) for x, y in both if x is not None and y is not None
                ]
    found += [ComparedPair(a, b, _family(ids[a], ids[b], family)) for a, b in given if a not in labels]
    return tuple(found)


def _place(cell: Cell) -> tuple[Any, ...]:
    return (cell.variant, cell.choice, cell.task, cell.of_class, cell.method, cell.size, cell.terms)


def _family(a: Cell, b: Cell, columns: Sequence[str]) -> str:
    values = {"pair": f"{a.method} {b.method}"}
    return " ".join(str(values.get(name) or getattr(a, _COLUMN.get(name, name), "")) for name in columns)


def check_pairs(
    given: list[list[str]], names: Collection[str], source: YamlSource, what: str = "method or cell"
) -> list[tuple[str, str]]:
    """Return the pairs as tuples; refuse unknown names, a name paired with itself, and a pair that is listed twice."""
    pairs: dict[tuple[str, str], None] = {}
    for index, pair in enumerate(given):
        if len(pair) != 2 or pair[0] == pair[1]:
            raise source.error(("compare", index), f"a comparison needs two different names, not {quote_value(pair)}")
        for position, name in enumerate(pair):
            if name not in names:
                raise source.error(("compare", index, position), unknown_name(what, name, list(names)))
        a, b = pair
        if (a, b) in pairs or (b, a) in pairs:  # Holm's correction would count it twice
            raise source.error(("compare", index), f"{a!r} and {b!r} are compared twice")
        pairs[a, b] = None
    return list(pairs)


def list_figures(
    config: ExperimentSection,
    variants: Sequence[Variant],
    metrics: Sequence[str],
    diagnostics: Sequence[Component],
    source: YamlSource,
    known: Registries,
) -> tuple[FigureView, ...]:
    """Return the figures that are listed, or one of the main metric if there is an axis; one figure per variant."""
    axis = _axis(variants[0])
    found: list[FigureView] = []
    for index, section in enumerate(config.figures):
        place: Location = ("figures", index)
        if section.regions:
            figure = _regions(section, variants, diagnostics, source, place)
        else:
            figure = _figure(section, axis, metrics, source, place)
            _check_shown(figure, _axes(variants[0], diagnostics, known.quantities), variants[0], source, place, known)
        if any(figure.name == other.name for other in found):
            raise source.error((*place, "name"), f"two figures are named {figure.name!r}")
        found.append(figure)
    if not config.figures and axis:
        bars = "interval"
        found.append(FigureView("figure", (metrics[0],), x=axis, bars=bars, log_x=axis == "terms"))
    return tuple(each for figure in found for each in _by_variant(figure, variants))


def _regions(
    section: FigureSection,
    variants: Sequence[Variant],
    diagnostics: Iterable[Component],
    source: YamlSource,
    place: Location,
) -> FigureView:
    """Return a figure of decision regions."""
    if others := section.model_fields_set - {"name", "title", "regions"}:
        raise source.error((*place, min(others)), f"a figure of regions has no {min(others)}")
    if "coordinates" not in {each.name for each in diagnostics}:
        raise source.error(
            (*place, "regions"), "regions are drawn from coordinates: add `coordinates` to `diagnostics`"
        )
    names = [variant.name for variant in variants]
    for index, name in enumerate(section.regions):
        if name not in names:
            raise source.error((*place, "regions", index), unknown_name("variant", name, names))
    return FigureView(section.name, (), title=section.title, x="", regions=tuple(section.regions))


def _axis(variant: Variant) -> str:
    if variant.sizes != (None,):
        return "size"
    return "terms" if variant.terms else ""


def _figure(
    section: FigureSection, axis: str, metrics: Sequence[str], source: YamlSource, place: Location
) -> FigureView:
    y, relation = section.y, tuple[str, ...]()
    if isinstance(y, dict):
        ((how, pair),) = y.items() if len(y) == 1 else [("ratio", [])]
        if len(pair) != 2:
            raise source.error((*place, "y"), f"a {how} needs two methods, not {pair}")
        y, relation = [metrics[0]], (how, *pair)
    panel = ["choice", "task"] if section.panel is None else section.panel
    columns = tuple([panel] if isinstance(panel, str) else panel)
    for key, names in (("panel", columns), ("line", (section.line,)), ("where", tuple(section.where))):
        for name in names:
            if name not in FIGURE_COLUMNS:
                raise source.error((*place, key), unknown_name("column", name, FIGURE_COLUMNS))
    x = section.x or axis
    if not x:
        raise source.error(
            (*place, "x"), "there is no x axis: the protocol has one training size, and no terms are selected"
        )
    return FigureView(
        section.name,
        tuple([metrics[0]] if y is None else [y] if isinstance(y, str) else y),
        relation,
        {"train_size": "size"}.get(x, x),
        _COLUMN.get(section.line, section.line),
        tuple(_COLUMN.get(name, name) for name in columns),
        {_COLUMN.get(name, name): value for name, value in section.where.items()},
        section.bars,
        section.log_x,
        section.log_y,
        section.title,
    )


def _check_shown(
    figure: FigureView, axes: Sequence[str], variant: Variant, source: YamlSource, place: Location, known: Registries
) -> None:
    """Refuse an unknown axis or metric, and a ratio or difference of unknown methods."""
    numbers = [*known.metrics, *TIME_METRICS, *known.quantities]
    labels = [entry.label for entry in variant.entries]
    if figure.x not in axes:
        raise source.error((*place, "x"), unknown_name("axis", figure.x, axes))
    for metric in figure.y:
        if metric not in numbers:
            problem = known.metrics.broken.get(metric) or unknown_name("metric", metric, numbers)
            raise source.error((*place, "y"), problem)
    for label in figure.relation[1:]:
        if label not in labels:
            raise source.error((*place, "y"), unknown_name("method", label, labels))


def _axes(variant: Variant, diagnostics: Iterable[Component], quantities: Iterable[str]) -> list[str]:
    """Return the possible x axes: training sizes and terms if there are several, parameters, times and diagnostics."""
    specs = [spec for entry in variant.entries for spec in entry.candidates]
    parts = [each for spec in specs for each in (spec.kernel, spec.classifier, spec.representation.features)]
    parts += diagnostics
    named = [name for each in parts if each is not None for name in component_parameters(each.cls)]
    sizes = ["size"] if variant.sizes != (None,) else []
    return list(dict.fromkeys([*sizes, *(["terms"] if variant.terms else []), *named, *TIME_METRICS, *quantities]))


def _by_variant(figure: FigureView, variants: Sequence[Variant]) -> list[FigureView]:
    """Return one figure per variant, named after it, or one for all where variants are its lines, panels or x."""
    if figure.regions:
        return [figure]
    across = "variant" in (figure.line, *figure.panel) or figure.x not in ("size", "terms")
    if across or "variant" in figure.where:
        return [figure]
    found = []
    for variant in variants:
        base = variant.name == BASE_VARIANT
        name = figure.name if base else f"{figure.name}-{variant.name}"
        where = {**figure.where, "variant": variant.name} if len(variants) > 1 else figure.where
        found.append(replace(figure, name=name, where=where))
    return found
