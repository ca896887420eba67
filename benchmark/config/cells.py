"""Variants, choices and diagnostics to cells, and the pairs that are compared."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, Cell, ComparedPair
from benchmark.system.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Variant
    from benchmark.system.yaml_source import Node

#: Words for ways to choose in the ids of cells.
CHOICE_ID_WORDS = {"cross-validation": "cv"}


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


def list_pairs(cells: Sequence[Cell], family: Sequence[str], node: Node) -> tuple[ComparedPair, ...]:
    """Return the pairs under `compare`: two cells by their ids, or two methods in all cells that otherwise agree."""
    ids = {cell.id: cell for cell in cells}
    points = [cell for cell in cells if cell.what == "point"]
    labels = dict.fromkeys(cell.method for cell in points)
    by_setting = {_setting(cell): cell for cell in points}
    groups = dict.fromkeys((c.variant, c.choice, c.task, c.of_class) for c in points)
    axes = list(dict.fromkeys((c.size, c.terms) for c in points))
    _check_pairs(node, labels | ids, labels)
    found: list[ComparedPair] = []
    for group, (a, b) in product(groups, (pair.value for pair in node)):
        if a in labels:
            both = [(by_setting.get((*group, a, *axis)), by_setting.get((*group, b, *axis))) for axis in axes]
            found += [
                ComparedPair(x.id, y.id, _family(x, y, family)) for x, y in both if x is not None and y is not None
            ]
    named = [pair.value for pair in node if pair.value[0] not in labels]
    return (*found, *(ComparedPair(a, b, _family(ids[a], ids[b], family)) for a, b in named))


def _check_pairs(node: Node, names: Collection[str], labels: Collection[str]) -> None:
    """Refuse unknown names, a method compared with a cell, and a pair that is listed twice."""
    seen: set[frozenset[str]] = set()
    for pair in node:
        for each in pair:
            if each.value not in names:
                raise each.error(unknown_name("method or cell", each.value, list(names)))
        a, b = pair.value
        if frozenset((a, b)) in seen:  # Holm's correction would count it twice
            raise pair.error(f"{a!r} and {b!r} are compared twice")
        if (a in labels) != (b in labels):
            raise pair.error(f"a comparison names two methods or two cells, not one of each: {pair.value}")
        seen.add(frozenset((a, b)))


def _setting(cell: Cell) -> tuple[Any, ...]:
    return (cell.variant, cell.choice, cell.task, cell.of_class, cell.method, cell.size, cell.terms)


def _family(a: Cell, b: Cell, columns: Sequence[str]) -> str:
    values = {"pair": f"{a.method} {b.method}", "class": a.of_class}
    return " ".join(str(values.get(name) or getattr(a, name, "")) for name in columns)
