"""Centroid curves to their summary: one row a point, growth or number of Table I; tests over draws and documents."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmark.config.centroid_curves import ALL, TABLE, table_id
from benchmark.config.schema import BASE
from benchmark.evaluation.draws import mean_estimate
from benchmark.evaluation.significance import holm
from benchmark.experiment.centroid_charts import centroid_charts
from benchmark.experiment.centroid_scores import ACCURACY, DISTANCE, document_test, scores_of
from benchmark.experiment.centroid_solvers import EXACT
from benchmark.experiment.draw_summary import compare_draw_runs, compare_draws, draw_evidence, summarize_draws
from benchmark.report.parts import Part
from benchmark.experiment.published_values import published_for
from benchmark.experiment.summary import significance_row
from benchmark.report import summary as layout
from benchmark.report.summary import CellInfo, frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.centroid_curves import CentroidCell, CentroidCurves
    from benchmark.evaluation.draws import DrawScores
    from benchmark.evaluation.published import Claim, Comparison, Evidence, Published
    from benchmark.experiment.centroid_curves import CentroidResults
    from benchmark.report.summary import Summary


def summarize_centroid_curves(results: CentroidResults) -> Summary:
    """Compute everything a run shows from its predictions."""
    study = results.experiment
    scored, published = scores_of(results), published_for(study)
    printed = _printed(published, study)
    families = {cell.id: f"{cell.setting} {cell.topic}" for cell in study.cells}
    summary = summarize_draws(
        study,
        scored,
        published,
        cells=tuple(CellInfo(cell.id, _columns(cell, study)) for cell in study.cells),
        metrics=(ACCURACY, DISTANCE),
        family_of=families.__getitem__,
        settings=["" if setting.name == BASE else setting.name for setting in study.settings],
        charts=centroid_charts(results, scored, printed),
        notes=_notes(results, printed),
        failures=_failures(results, scored),
    )
    tests = defaultdict(list)
    for a, b in study.compare:
        test = document_test(results, a, b)
        if test is not None:
            tests[families[a]].append(test)
    rows = [significance_row(each) for family in tests.values() for each in holm(family)]
    both = [each for each in (summary.significance, frame(layout.SIGNIFICANCE, rows)) if len(each)]
    return replace(summary, significance=pd.concat(both, ignore_index=True)) if both else summary


def centroid_evidence(claim: Claim, results: CentroidResults) -> dict[Comparison, Evidence]:
    """What a run says of a claim's comparisons."""
    return draw_evidence(claim, results.experiment, scores_of(results))


def compare_centroid_cells(results: CentroidResults, a: str, b: str) -> list[Part]:
    """Two points of a run, tested against each other over the draws and over the documents."""
    scored = scores_of(results)
    both = [set(scored[name].scores) for name in (a, b) if name in scored]
    metrics = tuple(m for m in (ACCURACY, DISTANCE) if all(m in own for own in both))
    if not metrics:
        return [Part("Mean scores, %", (), [], f"{a} and {b} have no score in common")]
    if DISTANCE in metrics:
        values = [f"{mean_estimate(scored[name], DISTANCE).value:.4f}" for name in (a, b)]
        return [Part("Average SKL, nats", ("metric", a, b), [(DISTANCE, *values)])]
    parts = compare_draws(scored, metrics, a, b)
    test = document_test(results, a, b)
    if test is not None:
        row = (test.n, f"{test.statistic:.2f}", f"{test.p_value:.3g}", test.favours or "neither")
        parts.append(Part("McNemar's test over the documents", ("discordant", "statistic", "p", "favours"), [row]))
    return parts


def compare_centroid_runs(one: CentroidResults, two: CentroidResults, names: tuple[str, str]) -> Part:
    """The points that two runs have in common."""
    accuracies = [
        {name: each for name, each in scores_of(results).items() if ACCURACY in each.scores} for results in (one, two)
    ]
    return compare_draw_runs(accuracies[0], accuracies[1], ACCURACY, names)


def _columns(cell: CentroidCell, study: CentroidCurves) -> dict[str, str]:
    columns = {"setting": cell.setting} if len(study.settings) > 1 else {}
    return columns | {
        "what": cell.what,
        "topic": cell.topic,
        "centroid": cell.centroid,
        "size": str(cell.size) if cell.size else "",
    }


def _failures(results: CentroidResults, scored: Mapping[str, DrawScores]) -> dict[str, str]:
    """The reason of a curve's failure, for each of its points."""
    found = {}
    for cell in results.experiment.cells:
        if cell.id not in scored:
            words = [] if cell.setting == BASE else [cell.setting]
            words += [TABLE] if cell.what == TABLE else []
            found[cell.id] = results.failures.get("-".join([*words, cell.centroid]), "no predictions")
    return found


# --- Notes ---


def _notes(results: CentroidResults, printed: Mapping[str, float]) -> list[str]:
    study = results.experiment
    notes = []
    for setting in study.settings:
        facts, pruning = results.facts[setting.name], setting.documents.pruning
        label = f"{setting.name}: " if len(study.settings) > 1 else ""
        tested = f"tested on the group {setting.test!r}" if setting.test else "tested on all others"
        notes.append(
            f"{label}{facts['documents']:,} documents, {facts['vocabulary']:,} words that occur at least "
            f"{pruning.min_occurrences} times; stoplist: {setting.documents.lexing.stoplist}; smoothing "
            f"{setting.smoothing:g}; prior: {setting.prior}; length of documents: {setting.length}; {tested}."
        )
    notes.append(
        f"Each size, of training documents in all: {study.replicates} stratified draws. The paper says neither how its "
        "sizes are counted nor what it tests on. Draws share the collection: the interval over the draws and "
        "Wilcoxon's test (paired by draw) speak of this collection only. McNemar's test counts each document once, "
        "for the centroid that was right on it in more of the draws."
    )
    notes.append(
        f"Accuracy of a topic: the share of its test documents that are given to it; {ALL!r} is the mean over the "
        f"topics. growth-…: the accuracy of a draw of {study.sizes[-1]:,} less that of the draw of "
        f"{study.sizes[0]:,} with the same number."
    )
    notes.append(
        f"table-…: Table I, on all documents; its interval is the bootstrap's over the documents of the classes "
        f"({study.resamples} resamples), moved so that its mean is our number: resamples repeat documents, which sets "
        "centroids apart. The print stands beside every kind of centroid."
    )
    return [*notes, *_table_notes(results, printed), *_flow_notes(results)]


def _printed(published: Published | None, study: CentroidCurves) -> dict[str, float]:
    """The numbers of Table I by topic; they are the same for every kind of centroid."""
    found = {}
    for value in published.values if published else ():  # noqa: PD011 - not a frame's
        for topic in study.classes:
            ids = [table_id(BASE, topic, centroid) for centroid in study.table_centroids]
            if value.metric == DISTANCE and value.config == (study.explains or study.name) and value.cell in ids:
                found[topic] = float(value.value)
    return found


def _table_notes(results: CentroidResults, printed: Mapping[str, float]) -> list[str]:
    """How near Table I comes to the print in level and order, under every setting, and at the best smoothing."""
    study = results.experiment
    if set(printed) != set(study.classes):
        return []
    target = np.array([printed[topic] for topic in study.classes])
    notes = []
    for setting in study.settings:
        table = results.settings[setting.name].table
        words = "; ".join(f"{name} {_nearness(row.values, target)}" for name, row in table.items())
        label = f"{setting.name}: " if len(study.settings) > 1 else ""
        notes.append(f"{label}Table I, root mean square of the differences from the print: {words}.")
    for name, row in results.settings[BASE].table.items():
        if len(row.by_smoothing):
            best = int(((row.by_smoothing - target) ** 2).sum(axis=1).argmin())
            same = [s for s, v in zip(study.table_smoothing, row.by_smoothing, strict=True) if _same_order(v, target)]
            found = ", ".join(f"{s:g}" for s in same) or "no smoothing"
            notes.append(
                f"Table I, {name}: nearest to the print at smoothing {study.table_smoothing[best]:g}, "
                f"{_nearness(row.by_smoothing[best], target)}; in the printed order at {found}."
            )
    return notes


def _nearness(values: NDArray[np.float64], target: NDArray[np.float64]) -> str:
    order = "in the printed order" if _same_order(values, target) else "in another order"
    return f"{float(np.sqrt(((values - target) ** 2).mean())):.2f} nats, {order}"


def _same_order(values: NDArray[np.float64], target: NDArray[np.float64]) -> bool:
    return bool((np.argsort(values) == np.argsort(target)).all())


def _flow_notes(results: CentroidResults) -> list[str]:
    """What the flow reached and in how many steps; seconds stand in the manifest, as they differ from run to run."""
    study, exact = results.experiment, results.solved.get(EXACT)
    if exact is None:
        return []
    energies = ", ".join(f"{name} {e:.6f}" for name, e in zip(study.classes, exact.energies, strict=True))
    notes = [f"Energy (mean SKL of the documents to the centroid, nats) of the exact centroids: {energies}."]
    for graph in study.graphs:
        if graph not in results.solved:
            notes.append(f"Flow, {graph}: failed: {results.failures.get(f'flow-{graph}', 'no result')}.")
            continue
        solved = results.solved[graph]
        # Rounded up to a power of ten: the last digits of an energy differ between machines.
        excess = float(np.abs(solved.energies - exact.energies).max())
        within = "1e-12" if excess < 1e-12 else f"{10.0 ** np.ceil(np.log10(excess)):.0e}"
        notes.append(
            f"Flow, {graph} ({int(solved.edges):,} edges): every energy within {within} of the exact one, after about "
            f"{int(round(float(solved.steps.mean()), -1))} steps; known to be within {study.tolerance:g} of the least."
        )
    return notes
