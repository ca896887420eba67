"""Subsets of an experiment: some of its cells, the settings that they need, and the results that need no others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.config.model import CHOOSE_ORACLE, method_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from benchmark.config.model import Cell, Experiment, Variant
    from benchmark.evaluation.predictions import SettingKey

_NOTE = "Only {patterns}: {n:,} of {of:,} cells. Holm's correction covers only comparisons among them."


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
    measured = any(cell.what == "diagnostic" for cell in cells)
    variants = {name: each for name, each in experiment.variants.items() if any(cell.variant == name for cell in cells)}
    first = next(iter(experiment.variants.values()))
    if any(_orders(each) != _orders(first) for each in variants.values()):
        variants = experiment.variants  # the first variant with a class or group fixes its position
    else:
        variants = {name: _narrowed(each, cells, measured=measured) for name, each in variants.items()}
    shown, having_cells = ({cell.diagnostic for cell in some} for some in (cells, experiment.cells))
    diagnostics = tuple(d for d in experiment.diagnostics if d.name in shown or d.name not in having_cells)
    declared = {quantity.name for diagnostic in diagnostics for quantity in diagnostic.cls.metrics}
    return replace(
        experiment,
        notes=(*experiment.notes, _NOTE.format(patterns=", ".join(patterns), n=len(cells), of=len(experiment.cells))),
        compare=tuple(pair for pair in experiment.compare if {pair.a, pair.b} <= kept),
        variants=variants,
        cells=cells,
        diagnostics=diagnostics,
        quantities={name: each for name, each in experiment.quantities.items() if name in declared},
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


def _narrowed(variant: Variant, cells: Sequence[Cell], *, measured: bool) -> Variant:
    """Return a variant with the tasks and methods of some cells; whole if diagnostics may read all methods."""
    of_variant = [cell for cell in cells if cell.variant == variant.name]
    tasks = tuple(task for task in variant.tasks if any(cell.task == task.name for cell in of_variant))
    methods = {cell.method for cell in of_variant}
    entries = tuple(entry for entry in variant.entries if entry.label in methods)
    return variant if measured else replace(variant, tasks=tasks, entries=entries)
