"""Cells of variants, choices and diagnostics, the pairs that are compared, and an experiment of some of its cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, CHOOSE_ORACLE, Cell, ComparedPair, method_of
from benchmark.config.schema import check_known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Experiment, Variant
    from benchmark.evaluation.predictions import SettingKey
    from benchmark.system.yaml_source import Node

#: Words for ways to choose in the ids of cells.
CHOICE_ID_WORDS = {"cross-validation": "cv"}
_NOTE = "Only {patterns}: {n:,} of {of:,} cells. Holm's correction covers only comparisons among them."


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


def subset_experiment(experiment: Experiment, ids: Collection[str], patterns: Sequence[str]) -> Experiment:
    """Return the experiment with only these cells and those that they are computed from.

    Comparisons, verdicts and figures need all their cells to be present. The others are dropped.

    Parameters
    ----------
    experiment : Experiment
    ids : collection of str
        Ids of the selected cells.
    patterns : sequence of str
        Patterns that selected the cells.
    """
    gains = [_curve(cell) for cell in experiment.cells if cell.id in ids and cell.what == "gain"]
    ends = {(*curve, size) for curve in gains for size in _ends(experiment.variants[curve[0]])}
    cells = tuple(c for c in experiment.cells if c.id in ids or (c.what == "point" and (*_curve(c), c.size) in ends))
    kept = frozenset(cell.id for cell in cells)
    shown_variants = dict.fromkeys(cell.variant for cell in cells)
    variants = {name: each for name, each in experiment.variants.items() if name in shown_variants}
    first = next(iter(experiment.variants.values()))
    if any(_orders(each) != _orders(first) for each in variants.values()):
        variants = experiment.variants  # the first variant with a class or group fixes its position
    elif not any(cell.what == "diagnostic" for cell in cells):  # diagnostics may read all methods
        variants = {name: _narrowed(each, cells) for name, each in variants.items()}
    shown, having_cells = ({cell.diagnostic for cell in some} for some in (cells, experiment.cells))
    diagnostics = tuple(d for d in experiment.diagnostics if d.name in shown or d.name not in having_cells)
    return replace(
        experiment,
        notes=(*experiment.notes, _NOTE.format(patterns=", ".join(patterns), n=len(cells), of=len(experiment.cells))),
        compare=tuple(pair for pair in experiment.compare if {pair.a, pair.b} <= kept),
        variants=variants,
        cells=cells,
        diagnostics=diagnostics,
        tuned_cells={cell: choice for cell, choice in experiment.tuned_cells.items() if cell in kept},
        only=tuple(patterns),
        left_out=frozenset(experiment.ids) - kept,
    )


def settings_of_cell(experiment: Experiment, cell: Cell) -> Iterator[SettingKey]:
    """Yield the settings that a cell is scored from; nothing for a diagnostic.

    A candidate that is selected on test documents is selected for the whole curve.
    """
    if cell.what == "diagnostic":
        return
    variant, n_candidates = experiment.variants[cell.variant], len(method_of(experiment, cell).candidates)
    sizes = _ends(variant) if cell.what == "gain" else (cell.size,)
    for size in variant.sizes if cell.choice == CHOOSE_ORACLE and n_candidates > 1 else sizes:
        for index in range(n_candidates):
            yield cell.setting(index, size)


def _curve(cell: Cell) -> tuple[str, str, str, str, str, int | None]:
    return (cell.variant, cell.task, cell.method, cell.of_class, cell.choice, cell.terms)


def _ends(variant: Variant) -> tuple[int | None, ...]:
    return (variant.sizes[0], variant.sizes[-1])


def _orders(variant: Variant) -> tuple[object, ...]:
    """Return the settings that decide how classes and splits are numbered, by which variants are paired."""
    return (variant.protocol, variant.collection.corpus, variant.collection.classes)


def _narrowed(variant: Variant, cells: Sequence[Cell]) -> Variant:
    """Return a variant with the tasks and methods of some cells."""
    of_variant = [cell for cell in cells if cell.variant == variant.name]
    tasks = tuple(task for task in variant.tasks if any(cell.task == task.name for cell in of_variant))
    methods = {cell.method for cell in of_variant}
    entries = tuple(entry for entry in variant.entries if entry.label in methods)
    return replace(variant, tasks=tasks, entries=entries)
