"""Gradient flow against the exact solution: symmetric KL centroids of all documents by each solver, with seconds."""

from __future__ import annotations

import time
from collections.abc import Sequence  # noqa: TC003 - read by config.components, with the constructor's types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.classifiers.centroids.divergence import class_statistics, mean_skl
from benchmark.classifiers.centroids.exact import skl_centroid
from benchmark.classifiers.centroids.flow import gradient_flow
from benchmark.classifiers.centroids.graphs import WORD_GRAPHS
from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers
from benchmark.diagnostics.centroid_distances import divergence_bayes_of_variant
from benchmark.system.row_blocks import blas_threads
from benchmark.system.string_arrays import join_names, split_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.classifiers.centroids.divergence import ClassStatistics
    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext, DiagnosticResults

EXACT_SOLVER = "exact"
_FINEST = 1e-12


@dataclass(frozen=True)
class CentroidFlow(Diagnostic):
    """Centroids by the gradient flow on several graphs of words, against the closed form.

    Parameters
    ----------
    graphs : sequence of str
        Names of graphs, see `classifiers.centroids.graphs`.
    tolerance : float
        Upper bound of a class's energy above the minimum at which the flow ends, in nats; positive.
    """

    tags: ClassVar[Tags] = Tags(base_only=True)

    graphs: Sequence[str] = tuple(WORD_GRAPHS)
    tolerance: float = 1e-9

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """
        for name in self.graphs:
            if name not in WORD_GRAPHS:
                raise ValueError(f"graphs may be {', '.join(WORD_GRAPHS)}, not {name!r}")
        if not self.graphs or len(set(self.graphs)) != len(self.graphs):
            raise ValueError("graphs must list at least one graph, and none twice")
        if not 0 < self.tolerance < np.inf:
            raise ValueError(f"tolerance = {self.tolerance} must be positive and finite")

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Compute, by the closed form and on each graph, energies (k,), gaps (k,), steps (k,), edges (), seconds (2,).

        Energies are the mean SKL of the documents to the centroid, gaps upper bounds of the energies above the minimum,
        both in nats. Seconds are measured times for the graph and for the centroids. A graph on which the flow fails
        has only its error.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``classes`` (text), and ``<solver>/energies`` etc., the solver being "exact" or a graph. A failed graph has
            ``<graph>/failed`` (text).

        Raises
        ------
        ValueError
            If no method of the variant is the classifier divergence-bayes.
        """
        smoothing = divergence_bayes_of_variant(context.variant).smoothing
        found: Arrays = {"classes": join_names(context.counts.documents.classes)}
        with blas_threads(1):
            for name in (EXACT_SOLVER, *self.graphs):
                content = {"diagnostic": "centroid-flow", "solver": name, "smoothing": smoothing}
                content["tolerance"] = self.tolerance
                try:
                    solved = context.once(content, partial(self._solve, name, context, smoothing))
                except RuntimeError as error:  # the flow didn't converge: failures are not stored
                    solved = {"failed": join_names([str(error)])}
                found |= {f"{name}/{part}": array for part, array in solved.items()}
        return found

    def notes(self, reading: DiagnosticResults) -> Iterable[str]:
        """Report the energies and the number of steps; seconds vary between runs and are in the manifest.

        Parameters
        ----------
        reading : DiagnosticResults

        Returns
        -------
        iterable of str
            One line each.
        """
        for arrays in (each.arrays for each in reading.found):
            exact = arrays.get(f"{EXACT_SOLVER}/energies")
            if exact is None:
                continue
            each = ", ".join(f"{name} {e:.6f}" for name, e in zip(split_names(arrays["classes"]), exact, strict=True))
            yield f"Energy (mean SKL of the documents to the centroid, nats) of the exact centroids: {each}."
            for graph in self.graphs:
                yield self._note(graph, arrays, exact)

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return the seconds of each solver, for its graph and for its centroids.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Timings alone, in seconds.
        """
        arrays = found.arrays
        solved = [name for name in (EXACT_SOLVER, *self.graphs) if f"{name}/seconds" in arrays]
        seconds = (arrays[f"{name}/seconds"].round(4).tolist() for name in solved)
        parts = (dict(zip(("graph", "centroids"), each, strict=True)) for each in seconds)
        return DiagnosticNumbers(timings=dict(zip(solved, parts, strict=True)))

    def _note(self, graph: str, arrays: Arrays, exact: Any) -> str:
        if f"{graph}/energies" not in arrays:
            reason = arrays.get(f"{graph}/failed")
            return f"Flow, {graph}: failed: {'no result' if reason is None else split_names(reason)[0]}."
        # Rounded up to a power of ten: the last digits of an energy differ between machines.
        excess = float(np.abs(arrays[f"{graph}/energies"] - exact).max())
        within = "1e-12" if excess < _FINEST else f"{10.0 ** np.ceil(np.log10(excess)):.0e}"
        steps = int(round(float(arrays[f"{graph}/steps"].mean()), -1))
        return (
            f"Flow, {graph} ({int(arrays[f'{graph}/edges']):,} edges): every energy within {within} of the exact one, "
            f"after about {steps} steps; its bound above the minimum is {self.tolerance:g}."
        )

    def _solve(self, name: str, context: DiagnosticContext, smoothing: float) -> Arrays:
        counts = context.counts
        labels, k = counts.documents.labels, len(counts.documents.classes)
        rows = [(labels == code) & (np.diff(counts.matrix.indptr) > 0) for code in range(k)]
        statistics = [class_statistics(counts.matrix[own], smoothing) for own in rows]
        return _exact(statistics) if name == EXACT_SOLVER else self._flows(name, statistics, context)

    def _flows(self, name: str, statistics: list[ClassStatistics], context: DiagnosticContext) -> Arrays:
        started = time.perf_counter()
        edges = WORD_GRAPHS[name](context.counts.matrix)
        drawn = time.perf_counter()
        with ThreadPoolExecutor(context.jobs) as pool:
            ends = list(pool.map(lambda each: gradient_flow(each, edges, tolerance=self.tolerance), statistics))
        return {
            "energies": np.array([end.energies[-1] for end in ends]),
            "gaps": np.array([end.gap for end in ends]),
            "steps": np.array([len(end.times) - 1 for end in ends], dtype=np.int64),
            "edges": np.array(len(edges)),
            "seconds": np.array([drawn - started, time.perf_counter() - drawn]),
        }


def _exact(statistics: list[ClassStatistics]) -> Arrays:
    started = time.perf_counter()
    centroids = [skl_centroid(each) for each in statistics]
    seconds = time.perf_counter() - started
    k = len(statistics)
    return {
        "energies": np.array([mean_skl(each, q) for each, q in zip(statistics, centroids, strict=True)]),
        "gaps": np.zeros(k),
        "steps": np.zeros(k, dtype=np.int64),
        "edges": np.array(0),
        "seconds": np.array([0.0, seconds]),
    }
