"""What can be shown without training: plans, comparisons of finished runs, registries, statistics of a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.components import REQUIRED, parameters
from benchmark.corpora import registry as corpora
from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import difference, estimate
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.evaluation.significance import compare_all
from benchmark.experiment.manifest import differing
from benchmark.experiment.plan import bases
from benchmark.experiment.results import read_manifest, read_results
from benchmark.experiment.runner import read_counts
from benchmark.kernels import KERNELS
from benchmark.yaml_source import unknown

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.config import Experiment
    from benchmark.evaluation.metrics import Outcome
    from benchmark.experiment.runner import Observer
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts

_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Part:
    """A table to show, or what to say if it has no rows."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: str = "none"


def plan_rows(
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


def compare_cells(folder: Path, a: str, b: str) -> list[Part]:
    """Two cells of a run: their scores, and every test of one against the other."""
    results = read_results(folder)
    if a == b:
        raise ConfigError(f"a comparison names two different cells, not {a!r} twice")
    first, second = results.experiment.cell(a), results.experiment.cell(b)
    outcomes = results.outcomes()
    for cell in (first, second):
        if cell.id not in outcomes:
            raise ConfigError(f"the cell {cell.id!r} failed: {results.failures.get(cell.id, 'it has no predictions')}")
    return _compared(outcomes[first.id], outcomes[second.id], results.experiment)


def compare_runs(folder: Path, other: Path) -> list[Part]:
    """Two runs: where their manifests differ, then the scores of the cells that both have."""
    manifest = read_manifest(folder)
    if str(other) in manifest.get("cells", {}):
        raise ConfigError(f"{str(other)!r} is a cell of {folder}; name another one to compare it with")
    differences = [(key, _short(a), _short(b)) for key, a, b in differing(manifest, read_manifest(other))]
    parts = [Part("Where the manifests differ", ("key", folder.name, other.name), differences, "nowhere")]
    one, two = read_results(folder), read_results(other)
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
    header = ("cell", f"{folder.name} %", f"{other.name} %", "difference", "documents in both", "predicted otherwise")
    return [*parts, Part("Accuracy", header, rows, "the runs have no cell in common")]


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


def registered(what: str) -> list[Part]:
    """What configurations can name: all of it, or one kind."""
    kinds = {"datasets": None, "kernels": KERNELS, "classifiers": CLASSIFIERS, "protocols": PROTOCOLS}
    if what and what not in kinds:
        raise ConfigError(unknown("list", what, list(kinds)))
    parts = []
    for kind, registry in kinds.items():
        if what in ("", kind):
            if registry is None:
                rows: list[tuple[Any, ...]] = [(name, "", corpora.card(name).title) for name in corpora.registered()]
            else:
                rows = [(name, _signature(cls), _first_sentence(cls)) for name, cls in registry.items()]
            parts.append(Part(kind, ("name", "parameters", "what it is"), rows))
    return parts


def dataset_rows() -> list[tuple[Any, ...]]:
    """Each corpus with its size and where it was found."""
    rows = []
    for name in corpora.registered():
        card, source = corpora.card(name), corpora.find(name)
        where = str(source) if source else "not here: bench data fetch " + name
        rows.append((name, card.total, len(card.classes), ", ".join(card.groups), where))
    return rows


def statistics(counts: Counts) -> list[Part]:
    """Documents by class and group, and the sizes of documents and vocabulary."""
    documents = counts.documents
    table = np.zeros((len(documents.classes), len(documents.group_names)), dtype=np.int64)
    np.add.at(table, (documents.labels, documents.groups), 1)
    rows = [(name, *map(int, row), int(row.sum())) for name, row in zip(documents.classes, table, strict=True)]
    lengths, distinct = counts.matrix.sum(axis=1), np.diff(counts.matrix.indptr)
    sizes = [
        ("words in a document", *(f"{value:,.0f}" for value in _five_numbers(lengths))),
        ("different words in a document", *(f"{value:,.0f}" for value in _five_numbers(distinct))),
    ]
    totals = [
        ("documents", len(documents)),
        ("documents without words", int((lengths == 0).sum())),
        ("vocabulary", len(counts.vocabulary)),
        ("words", int(lengths.sum())),
    ]
    return [
        Part("Documents", ("class", *documents.group_names, "total"), rows),
        Part("Sizes", ("", "least", "quartile", "median", "quartile", "most"), sizes),
        Part("Totals", ("", "number"), totals),
    ]


def _five_numbers(values: Any) -> list[float]:
    return [float(value) for value in np.percentile(values, [0, 25, 50, 75, 100])]


def _signature(cls: type[Any]) -> str:
    found = []
    for name, (annotation, default) in parameters(cls).items():
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("collections.abc.", "")
        found.append(f"{name}: {text}" if default is REQUIRED else f"{name}={default!r}")
    return ", ".join(found)


def _first_sentence(cls: type[Any]) -> str:
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").strip()


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
