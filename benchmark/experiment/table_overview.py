"""Tables without training: what a run would do, and comparisons of finished ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import difference, estimate
from benchmark.evaluation.significance import compare_all
from benchmark.report.parts import Part
from benchmark.experiment.plan import bases
from benchmark.experiment.reading import read_counts

if TYPE_CHECKING:
    from benchmark.config import Experiment
    from benchmark.evaluation.metrics import Outcome
    from benchmark.observer import Observer
    from benchmark.experiment.results import Results
    from benchmark.experiment.store import Store


def plan_table(
    experiment: Experiment, store: Store, observer: Observer, *, download: bool = True
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Each cell with its folds, how many of them the store has, and the state of its inner products.

    Returns
    -------
    rows : list of (cell, folds, folds in the store, "stored", "to build" or "not needed")
    to_build : int
        Bytes of inner products that a run would have to build.
    """
    rows: dict[str, list[Any]] = {}
    to_build = 0
    for name in dict.fromkeys(cell.variant for cell in experiment.cells):
        variant = experiment.variants[name]
        counts, _, key = read_counts(variant, store, observer, download=download)
        splits = experiment.protocol.build().splits(counts.documents)
        for base in bases(experiment, variant, counts, key, splits):
            missing = [task for task in base.tasks if not store.has(task.key)]
            state = "stored" if store.has(base.key) else "to build" if missing else "not needed"
            to_build += base.n_bytes if state == "to build" else 0
            for task in base.tasks:
                row = rows.setdefault(task.cell.id, [task.cell.id, 0, 0, state])
                row[1] += 1
                row[2] += task not in missing
    ordered = [rows[cell.id] for cell in experiment.cells]
    return [(row[0], row[1], row[2], row[3]) for row in ordered], to_build


def compare_table_cells(results: Results, a: str, b: str) -> list[Part]:
    """Two cells of a run: their scores, and every test of one against the other."""
    first, second = results.experiment.cell(a), results.experiment.cell(b)
    outcomes = results.outcomes()
    for cell in (first, second):
        if cell.id not in outcomes:
            raise ConfigError(f"the cell {cell.id!r} failed: {results.failures.get(cell.id, 'it has no predictions')}")
    return _compared(outcomes[first.id], outcomes[second.id], results.experiment)


def compare_table_runs(one: Results, two: Results, names: tuple[str, str]) -> Part:
    """The scores of the cells that both runs have, and how many documents they predict otherwise."""
    outcomes, others = one.outcomes(), two.outcomes()
    rows = []
    for cell in outcomes:
        if cell in others:
            mine, theirs = estimate(outcomes[cell]), estimate(others[cell])
            merged = one.predictions[one.predictions["cell"] == cell].merge(
                two.predictions[two.predictions["cell"] == cell], on=["fold", "document"], suffixes=("", "_other")
            )
            changed = int((merged["predicted"] != merged["predicted_other"]).sum())
            gap = 100 * (theirs.value - mine.value)
            rows.append(
                (cell, f"{100 * mine.value:.2f}", f"{100 * theirs.value:.2f}", f"{gap:+.2f}", len(merged), changed)
            )
    header = ("cell", f"{names[0]} %", f"{names[1]} %", "difference", "documents in both", "predicted otherwise")
    return Part("Accuracy", header, rows, "the runs have no cell in common")


def _compared(a: Outcome, b: Outcome, experiment: Experiment) -> list[Part]:
    scores: list[tuple[Any, ...]] = []
    for metric in experiment.metrics:
        gap = difference(a, b, metric, seed=experiment.seed)
        values = (estimate(each, metric, seed=experiment.seed).value for each in (a, b))
        shown = [f"{100 * value:.2f}" for value in values]
        scores.append((metric, *shown, f"{100 * gap.value:+.2f}", f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}"))
    tests: list[tuple[Any, ...]] = [
        (
            test.test,
            test.n,
            f"{test.statistic:.4f}",
            test.note if test.p_value is None else f"{test.p_value:.3g}",
            test.favours or "neither",
        )
        for test in compare_all([(a.cell, b.cell)], {a.cell: a, b.cell: b})
    ]
    return [
        Part("Scores, %", ("metric", a.cell, b.cell, "difference", "95% interval"), scores),
        Part("Tests", ("test", "n", "statistic", "p", "favours"), tests),
    ]
