"""Machines on generated points: trained, tested, and their decisions over the whole space kept for the picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.boundaries.regions import as_arrays, boundary, from_arrays
from benchmark.boundaries.samples import draw
from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import difference, estimate
from benchmark.evaluation.metrics import Outcome
from benchmark.evaluation.significance import compare_all
from benchmark.observer import Silent
from benchmark.report.parts import Part
from benchmark.kernels.heat import log_covering_bound
from benchmark.report import summary as layout
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.regions import region_picture
from benchmark.report.summary import CellInfo, Summary, frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.boundaries.regions import Boundary
    from benchmark.config.boundaries import Boundaries, BoundaryCell
    from benchmark.evaluation.published import Claim, Comparison, Evidence
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store

NOTE = "One t in two geometries: a narrower Gaussian separates these generated classes as well (see the table)."
EPSILONS = np.logspace(-6, -0.5, 12)


@dataclass(frozen=True, eq=False)
class BoundaryResults:
    """What every machine decided, by cell."""

    experiment: Boundaries
    boundaries: dict[str, Boundary]
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]


def run_boundaries(
    study: Boundaries, store: Store, *, jobs: int = 1, observer: Observer | None = None, download: bool = True
) -> BoundaryResults:
    """Train every machine: half a second in all, so that nothing is kept in the store."""
    del store, jobs, download
    observer = observer or Silent()
    observer.plan(len(study.cells))
    samples = {space: draw(space, study.n_points, study.n_test, study.seed) for space in _spaces(study)}
    found = {}
    for cell in study.cells:
        found[cell.id] = boundary(
            samples[cell.space],
            cell.kernel,
            t=cell.t,
            sigma=cell.sigma,
            C=study.C,
            geometry=study.geometry,
            resolution=study.resolution,
        )
        observer.step(cell.id)
    facts = {space: {"training points": study.n_points, "test points": study.n_test} for space in samples}
    return BoundaryResults(study, found, {}, facts)


def plan_boundaries(
    study: Boundaries,
    store: Store,  # noqa: ARG001
    observer: Observer,  # noqa: ARG001
    *,
    download: bool = True,  # noqa: ARG001
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Every machine is trained each time."""
    return [(cell.id, 1, 0, "not needed") for cell in study.cells], 0


def encode(results: BoundaryResults) -> bytes:
    """The decisions as a NumPy archive."""
    arrays = {f"{cell}/{name}": a for cell, each in results.boundaries.items() for name, a in as_arrays(each).items()}
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(study: Boundaries, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> BoundaryResults:
    """The decisions back from their archive."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    found = {}
    for cell in study.cells:
        own = {name.split("/")[1]: array for name, array in arrays.items() if name.split("/")[0] == cell.id}
        found[cell.id] = from_arrays(own)
    return BoundaryResults(study, found, failures, facts)


def described(results: BoundaryResults) -> dict[str, Any]:
    """What the manifest says of the machines."""
    study = results.experiment
    return {
        "cells": {
            cell.id: {
                "space": cell.space,
                "kernel": cell.kernel,
                "t": results.boundaries[cell.id].t,
                "n_support": results.boundaries[cell.id].n_support,
            }
            for cell in study.cells
        },
        "protocol": {"points": study.n_points, "test_points": study.n_test, "C": study.C, "geometry": study.geometry},
        "seeds": {"points": study.seed},
    }


def summarize_boundaries(results: BoundaryResults) -> Summary:
    """Accuracies on the test points, the picture of the panels, and theorem 4's bound."""
    study, outcomes = results.experiment, _outcomes(results)
    scores = []
    for cell, outcome in outcomes.items():
        found = estimate(outcome)
        row = [found.value, found.low, found.high, found.n, 0]
        scores += [[cell, "test", "accuracy", *row], [cell, layout.HEADLINE, "accuracy", *row]]
    pairs = [(outcomes[a], outcomes[b]) for a, b in study.compare]
    gaps = [(a.cell, b.cell, difference(a, b)) for a, b in pairs]
    drawn = [results.boundaries[cell.id] for cell in study.cells if cell.drawn]
    return Summary(
        name=study.name,
        title=study.title,
        paper=study.paper,
        cells=tuple(CellInfo(cell.id, _columns(cell, results)) for cell in study.cells),
        scores=frame(layout.SCORES, scores),
        significance=frame(layout.SIGNIFICANCE, _tests(study, outcomes)),
        differences=frame(layout.DIFFERENCES, [[a, b, gap.value, gap.low, gap.high, gap.n] for a, b, gap in gaps]),
        confusions=frame(layout.CONFUSIONS, _confusions(outcomes)),
        regions=(region_picture("figure", study.title, drawn, NOTE),),
        charts=(_covering(study),) if study.covering_dimensions else (),
        notes=(*study.notes, *_notes(study)),
    )


def boundary_evidence(claim: Claim, results: BoundaryResults) -> dict[Comparison, Evidence]:
    """No claim of a paper is about generated points."""
    del claim, results
    return {}


def compare_boundary_cells(results: BoundaryResults, a: str, b: str) -> list[Part]:
    """Two machines of a run; they must be of one space, that is, tested on the same points."""
    cells = {cell.id: cell for cell in results.experiment.cells}
    if cells[a].space != cells[b].space:
        raise ConfigError(f"{a} and {b} were tested on points of different spaces: there is nothing to pair")
    outcomes = _outcomes(results)
    gap, both = difference(outcomes[a], outcomes[b]), [outcomes[a], outcomes[b]]
    values = [f"{100 * estimate(each).value:.2f}" for each in both]
    ends = f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}"
    rows: list[tuple[Any, ...]] = [("accuracy", *values, f"{100 * gap.value:+.2f}", ends)]
    return [Part("Scores, %", ("metric", a, b, "difference", "95% interval"), rows)]


def compare_boundary_runs(one: BoundaryResults, two: BoundaryResults, names: tuple[str, str]) -> Part:
    """The accuracies of the machines that both runs have."""
    rows: list[tuple[Any, ...]] = []
    for cell, mine in one.boundaries.items():
        if cell in two.boundaries:
            theirs = two.boundaries[cell].accuracy
            values = (f"{100 * mine.accuracy:.2f}", f"{100 * theirs:.2f}", f"{100 * (theirs - mine.accuracy):+.2f}")
            rows.append((cell, *values))
    header = ("cell", f"{names[0]} %", f"{names[1]} %", "difference")
    return Part("Accuracy", header, rows, "the runs have no cell in common")


def _spaces(study: Boundaries) -> list[str]:
    return list(dict.fromkeys(cell.space for cell in study.cells))


def _outcomes(results: BoundaryResults) -> dict[str, Outcome]:
    """Test points of one space are numbered alike for all its machines."""
    first = {space: i * results.experiment.n_test for i, space in enumerate(_spaces(results.experiment))}
    found = {}
    for cell in results.experiment.cells:
        each = results.boundaries[cell.id]
        rows = np.arange(len(each.test_labels))
        zeros = np.zeros(len(rows), dtype=np.intp)
        truth, predicted = (codes.astype(np.intp) for codes in (each.test_labels, each.test_predictions))
        found[cell.id] = Outcome(cell.id, rows + first[cell.space], zeros, truth, predicted, 2)
    return found


def _columns(cell: BoundaryCell, results: BoundaryResults) -> dict[str, str]:
    each = results.boundaries[cell.id]
    width = f"σ {each.sigma:.3g}" if cell.kernel == "gaussian" else f"t {cell.t:g}"
    support = f"{each.n_support} of {len(each.labels)}"
    return {"space": cell.space, "kernel": cell.kernel, "parameter": width, "support vectors": support}


def _tests(study: Boundaries, outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    results = [r for r in compare_all(list(study.compare), outcomes) if r.test != "wilcoxon"]  # there is one test set
    return [[r.a, r.b, r.test, r.n, r.statistic, r.p_value, r.p_holm, r.note] for r in results]


def _confusions(outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for cell, outcome in outcomes.items():
        pairs, counts = np.unique(np.stack([outcome.truth, outcome.predicted]), axis=1, return_counts=True)
        rows += [[cell, f"class {a + 1}", f"class {b + 1}", int(n)] for (a, b), n in zip(pairs.T, counts, strict=True)]
    return rows


def _covering(study: Boundaries) -> Chart:
    """Theorem 4 for each dimension, a line a time."""
    panels = []
    for n in study.covering_dimensions:
        lines = []
        for t in study.covering_times:
            bound = log_covering_bound(EPSILONS, n, t) / np.log(10)
            lines.append(Line(f"t = {t:g}", tuple(map(float, EPSILONS)), tuple(map(float, bound))))
        panels.append(Panel(f"n = {n:,}", tuple(lines)))
    return Chart(
        name="covering",
        title="Theorem 4: how the bound on log N(ε) grows, up to a constant that depends on n",
        x_label="Radius ε of the cover",
        y_label="log₁₀ of the bound on log N(ε)",
        panels=tuple(panels),
        columns=min(2, len(panels)),
        log_x=True,
    )


def _notes(study: Boundaries) -> list[str]:
    points = (
        f"Points are generated (seed {study.seed}): {study.n_points} to train on and {study.n_test:,} to test on in "
        "each space; the best boundary possible is known and drawn."
    )
    cost = (
        f"C = {study.C:g}: the paper names none. At C = 1 nearly every point is a support vector of three of the four "
        "machines; at 100 the Gaussian on the simplex bends as well."
    )
    width = (
        "Flat space's heat kernel of time t is a Gaussian of σ² = 2t: that is the Gaussian of the panels. What the "
        "figure shows is one t in two geometries, not that one kernel is better."
    )
    curvature = f"Half plane: {study.geometry}; the Fisher metric's curvature is -1/2 there: a factor of 2 in t."
    return [points, cost, width, curvature]
