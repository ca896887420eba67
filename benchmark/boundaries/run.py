"""Machines on generated points: trained, tested, and their decisions over the whole space kept for the picture."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.boundaries.machines import as_arrays, boundary, from_arrays
from benchmark.boundaries.picture import COLUMNS, NAME, region_picture, region_rows
from benchmark.boundaries.samples import draw
from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import difference, estimate
from benchmark.evaluation.outcomes import Outcome
from benchmark.evaluation.scored import SCORES
from benchmark.evaluation.significance import document_test, holm
from benchmark.kernels.heat.covering import log_covering_bound
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.contents import CONFUSIONS, DIFFERENCES, HEADLINE, SIGNIFICANCE, CellInfo, Summary, frame
from benchmark.report.part import Part
from benchmark.report.quantities import UNITS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from benchmark.boundaries.config import Boundaries, PlaneMachine
    from benchmark.boundaries.machines import Boundary
    from benchmark.observer import Observer

METRIC = "accuracy"
#: The file of a run's folder that holds the grids of decisions.
DECIDED = "predictions.npz"
EPSILONS = np.logspace(-6, -0.5, 12)


@dataclass(frozen=True, eq=False)
class BoundaryResults:
    """What every machine decided, by cell."""

    study: Boundaries
    boundaries: dict[str, Boundary]
    failures: dict[str, str] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def from_store(self) -> tuple[int, int]:
        """None of the machines is kept; and how many there are."""
        return 0, len(self.boundaries)

    @property
    def tested(self) -> frozenset[tuple[str, ...]]:
        """The spaces whose points were tested."""
        return frozenset(("points", cell.space) for cell in self.study.machines)


class DecisionBoundaries:
    """What is done with configurations of this kind, from the run to its tables."""

    def run(self, study: Boundaries, *, jobs: int, observer: Observer) -> BoundaryResults:
        """Train every machine: half a second in all, so that nothing is kept in the store."""
        observer.plan(len(study.machines))
        samples = {space: draw(space, study.n_points, study.n_test, study.seed) for space in _spaces(study)}
        train = partial(boundary, C=study.C, geometry=study.geometry, resolution=study.resolution, jobs=jobs)
        found = {}
        for cell in study.machines:
            found[cell.id] = train(samples[cell.space], cell.kernel, t=cell.t)
            observer.step(cell.id)
        facts = {space: {"training points": study.n_points, "test points": study.n_test} for space in samples}
        return BoundaryResults(study, found, facts=facts)

    def part_of(self, study: Boundaries, ids: Collection[str], patterns: Sequence[str]) -> Boundaries:
        """The study with these machines alone; of the picture, the rows of which all panels are here."""
        panels = [cell.id for cell in study.machines if cell.drawn]
        rows = (panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS))
        drawn = {cell for row in rows if set(row).issubset(ids) for cell in row}
        machines = tuple(replace(cell, drawn=cell.id in drawn) for cell in study.machines if cell.id in ids)
        compare = tuple(pair for pair in study.compare if pair.a in ids and pair.b in ids)
        left_out = frozenset(study.ids).difference(ids)
        return replace(study, machines=machines, compare=compare, only=tuple(patterns), left_out=left_out)

    def plan(self, study: Boundaries) -> list[tuple[str, int, int]]:
        """Every machine is trained each time: rows (cell, steps, steps in the store)."""
        return [(cell.id, 1, 0) for cell in study.machines]

    def encode(self, results: BoundaryResults) -> dict[str, bytes]:
        """The decisions as a NumPy archive, by the name of its file."""
        found = results.boundaries
        arrays = {f"{cell}/{name}": array for cell, each in found.items() for name, array in as_arrays(each).items()}
        file = io.BytesIO()
        np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
        return {DECIDED: file.getvalue()}

    def decode(
        self, study: Boundaries, contents: Mapping[str, bytes], failures: dict[str, str], facts: dict[str, Any]
    ) -> BoundaryResults:
        """The decisions back from their archive."""
        with np.load(io.BytesIO(contents[DECIDED]), allow_pickle=False) as archive:
            arrays = dict(archive)
        own: dict[str, dict[str, Any]] = {cell.id: {} for cell in study.machines}
        for place, array in arrays.items():
            cell, name = place.split("/")
            own[cell][name] = array
        found = {cell: from_arrays(each) for cell, each in own.items()}
        return BoundaryResults(study, found, failures, facts)

    def rows_digest(self, results: BoundaryResults) -> str:
        """The sha256 over the machines and how many points each decided on."""
        rows = sorted((cell, len(each.test_labels)) for cell, each in results.boundaries.items())
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def described(self, results: BoundaryResults) -> dict[str, Any]:
        """What the manifest says of the machines."""
        study, found = results.study, results.boundaries
        cells = {
            cell.id: {"space": cell.space, "kernel": cell.kernel, "t": cell.t, "n_support": found[cell.id].n_support}
            for cell in study.machines
        }
        protocol = {"points": study.n_points, "test_points": study.n_test, "C": study.C, "geometry": study.geometry}
        return {"cells": cells, "protocol": protocol, "seeds": {"points": study.seed}}

    def summarized(self, results: BoundaryResults) -> Summary:
        """Accuracies on the test points, the picture of the panels, and theorem 4's bound."""
        study, outcomes = results.study, _outcomes(results)
        pairs = [(outcomes[pair.a], outcomes[pair.b]) for pair in study.compare]
        gaps = [(a.cell, b.cell, difference(a, b)) for a, b in pairs]
        drawn = [results.boundaries[cell.id] for cell in study.machines if cell.drawn]
        note = "One t in two geometries: other kernels and widths stand in the table." * (len(drawn) < len(outcomes))
        return Summary(
            name=study.name,
            title=study.title,
            paper=study.paper,
            cells=tuple(CellInfo(cell.id, _columns(cell, results), method=cell.id) for cell in study.machines),
            scores=frame(SCORES, _scores(outcomes)),
            significance=frame(SIGNIFICANCE, _tests(study, outcomes)),
            differences=frame(DIFFERENCES, [[a, b, gap.value, gap.low, gap.high, gap.n] for a, b, gap in gaps]),
            confusions=frame(CONFUSIONS, _confusions(outcomes)),
            pictures={NAME: partial(region_picture, study.title, region_rows(drawn), note)} if drawn else {},
            charts=(_covering(study),) if study.covering_dimensions else (),
            notes=(*study.notes, *_notes(study)),
            brief=tuple(_notes(study)),
        )

    def compare_cells(self, results: BoundaryResults, a: str, b: str) -> list[Part]:
        """Two machines of a run; they must be of one space, that is, tested on the same points."""
        spaces = {cell.id: cell.space for cell in results.study.machines}
        if spaces[a] != spaces[b]:
            raise ConfigError(f"{a} and {b} were tested on points of different spaces: there is nothing to pair")
        outcomes, text = _outcomes(results), UNITS["percent"].text
        gap = difference(outcomes[a], outcomes[b])
        values = [text(estimate(outcomes[name]).value) for name in (a, b)]
        row = (METRIC, *values, text(gap.value, "+"), f"{text(gap.low, '+')} to {text(gap.high, '+')}")
        return [Part("Scores, %", ("metric", a, b, "difference", "95% interval"), [row])]

    def compare_runs(self, one: BoundaryResults, two: BoundaryResults, names: tuple[str, str]) -> list[Part]:
        """The accuracies of the machines that both runs have."""
        text, both = UNITS["percent"].text, [cell for cell in one.boundaries if cell in two.boundaries]
        shares = {cell: (one.boundaries[cell].accuracy, two.boundaries[cell].accuracy) for cell in both}
        rows: list[tuple[Any, ...]] = [(cell, text(a), text(b), text(b - a, "+")) for cell, (a, b) in shares.items()]
        header = ("cell", f"{names[0]} %", f"{names[1]} %", "difference")
        return [Part("Accuracy", header, rows, "the runs have no cell in common")]


BOUNDARIES = DecisionBoundaries()


def _spaces(study: Boundaries) -> list[str]:
    return list(dict.fromkeys(cell.space for cell in study.machines))


def _outcomes(results: BoundaryResults) -> dict[str, Outcome]:
    """Test points of one space are numbered alike for all its machines."""
    first = {space: i * results.study.n_test for i, space in enumerate(_spaces(results.study))}
    found = {}
    for cell in results.study.machines:
        each = results.boundaries[cell.id]
        rows = np.arange(len(each.test_labels))
        zeros = np.zeros(len(rows), dtype=np.intp)
        truth, predicted = (codes.astype(np.intp) for codes in (each.test_labels, each.test_predictions))
        found[cell.id] = Outcome(cell.id, rows + first[cell.space], zeros, truth, predicted, 2)
    return found


def _columns(cell: PlaneMachine, results: BoundaryResults) -> dict[str, str]:
    each = results.boundaries[cell.id]
    width = f"σ {each.sigma:.3g}" if cell.kernel == "gaussian" else f"t {cell.t:g}"
    support = f"{each.n_support} of {len(each.labels)}"
    return {"space": cell.space, "kernel": cell.kernel, "parameter": width, "support vectors": support}


def _scores(outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    """The one test set stands for the cell."""
    found = {cell: estimate(outcome) for cell, outcome in outcomes.items()}
    return [
        [cell, fold, METRIC, each.value, each.low, each.high, each.n, 0]
        for cell, each in found.items()
        for fold in ("test", HEADLINE)
    ]


def _tests(study: Boundaries, outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    """Both tests of each pair, corrected test by test; there is one test set, and so no test over splits."""
    pairs = [(outcomes[pair.a], outcomes[pair.b]) for pair in study.compare]
    results = [result for test in ("sign", "mcnemar") for result in holm(document_test(test, a, b) for a, b in pairs)]
    return [[r.a, r.b, r.test, r.n, r.statistic, r.p_value, r.p_holm, len(pairs), r.note] for r in results]


def _confusions(outcomes: Mapping[str, Outcome]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for cell, outcome in outcomes.items():
        pairs, counts = np.unique(np.stack([outcome.truth, outcome.predicted]), axis=1, return_counts=True)
        rows += [[cell, f"class {a + 1}", f"class {b + 1}", int(n)] for (a, b), n in zip(pairs.T, counts, strict=True)]
    return rows


def _covering(study: Boundaries) -> Chart:
    """Theorem 4 for each dimension, a line a time."""
    panels = []
    x = tuple(map(float, EPSILONS))
    for n in study.covering_dimensions:
        bounds = {t: log_covering_bound(EPSILONS, n, t) / np.log(10) for t in study.covering_times}
        lines = (Line(f"t = {t:g}", x, tuple(map(float, bound))) for t, bound in bounds.items())
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
    return [
        points,
        "Flat space's heat kernel of time t is a Gaussian of σ² = 2t: such are the Gaussians without a σ of their own.",
        f"Half plane: {study.geometry}; the Fisher metric's curvature is -1/2 there: a factor of 2 in t.",
    ]
