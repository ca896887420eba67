"""Variants, choices and diagnostics to cells, and the pairs that are compared."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, Cell, ComparedPair
from benchmark.config.schema_errors import check_known

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
    diagnostics: Sequence[Component],
    *,
    by_class: bool,
    gain: bool,
) -> tuple[Cell, ...]:
    """Return every row of the scores: for each variant its settings, then its gains, then its diagnostics' rows."""
    cells: list[Cell] = []
    for variant in variants:
        for what in ("point", "gain") if gain else ("point",):
            cells += _scored(variant, choices, what, by_class=by_class)
        for each in diagnostics:
            if variant.name == BASE_VARIANT or not each.tags.base_only:
                rows = each.build().cells(variant.name, variant.collection.classes)
                cells += [replace(cell, diagnostic=each.name) for cell in rows]
    return tuple(cells)


def _scored(variant: Variant, choices: Sequence[str], what: str, *, by_class: bool) -> list[Cell]:
    """Return the cells of settings, or of gains: the score at the largest training size less that at the smallest."""
    found = []
    # The variant's name begins an id, but for the configuration itself.
    begin = ["" if variant.name == BASE_VARIANT else variant.name, "gain" if what == "gain" else ""]
    sizes = (None,) if what == "gain" else variant.sizes
    for choice, task in product(choices, variant.tasks):
        classes = (ALL_CLASSES, *task.classes) if by_class else ("",)
        for of_class, entry, size, terms in product(classes, variant.entries, sizes, variant.numbers):
            words = *begin, task.name, of_class, entry.label, CHOICE_ID_WORDS.get(choice, choice), size, terms
            name = "-".join(str(word) for word in words if word not in ("", None))
            found.append(Cell(name, variant.name, task.name, entry.label, what, of_class, choice, size, terms))
    return found


def list_pairs(cells: Sequence[Cell], family: Sequence[str], node: Node) -> tuple[ComparedPair, ...]:
    """Return the pairs under `compare`: two cells by their ids, or two methods in all cells that otherwise agree."""
    ids, points = {cell.id: cell for cell in cells}, [cell for cell in cells if cell.what == "point"]
    labels = dict.fromkeys(cell.method for cell in points)
    _check_pairs(node, dict.fromkeys([*labels, *ids]), labels)
    twins = {replace(cell, id=""): cell for cell in points}
    found: list[tuple[Cell, Cell]] = []
    for group, (a, b) in product(dict.fromkeys(map(_group, points)), (pair.value for pair in node)):
        of_group = [cell for cell in points if cell.method == a and _group(cell) == group]
        found += [(cell, twins[key]) for cell in of_group if (key := replace(cell, id="", method=b)) in twins]
    found += [(ids[pair.value[0]], ids[pair.value[1]]) for pair in node if pair.value[0] not in labels]
    return tuple(ComparedPair(a.id, b.id, _family(a, b, family)) for a, b in found)


def _group(cell: Cell) -> tuple[str, ...]:
    return (cell.variant, cell.choice, cell.task, cell.of_class)


def _check_pairs(node: Node, names: Collection[str], labels: Collection[str]) -> None:
    """Refuse unknown names, a method compared with a cell, and a pair that is listed twice."""
    seen: set[frozenset[str]] = set()
    for pair in node:
        for each in pair:
            check_known("method or cell", each.value, names, each)
        a, b = pair.value
        if frozenset((a, b)) in seen:  # Holm's correction would count it twice
            raise pair.error(f"{a!r} and {b!r} are compared twice")
        if (a in labels) != (b in labels):
            raise pair.error(f"a comparison names two methods or two cells, not one of each: {pair.value}")
        seen.add(frozenset((a, b)))


def _family(a: Cell, b: Cell, columns: Sequence[str]) -> str:
    values = {"pair": f"{a.method} {b.method}", "class": a.of_class}
    return " ".join(str(values.get(name) or getattr(a, name, "")) for name in columns)
