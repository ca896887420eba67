"""Gradient flow against the exact solution: symmetric KL centroids of all documents by both, with seconds."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.centroid_flow import gradient_flow
from benchmark.classifiers.centroids import class_statistics, mean_skl, skl_centroid
from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers
from benchmark.diagnostics.centroid_distances import divergence_bayes_of_variant
from benchmark.system.row_blocks import blas_threads
from benchmark.system.string_arrays import join_names, split_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext

#: Upper bound of a class's energy above the minimum at which the flow ends, in nats.
TOLERANCE = 1e-9
#: An energy of the flow is not said to be nearer to the exact one than this.
_FINEST = 1e-12


@dataclass(frozen=True)
class CentroidFlow(Diagnostic):
    """Centroids by the gradient flow on the path of all words, against the closed form."""

    tags: ClassVar[Tags] = Tags(base_only=True)

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Compute the energies (k,) of both solutions, the flow's steps (k,), and the seconds (2,) of both.

        Energies are the mean SKL of the documents to the centroid, in nats.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``classes`` (text), ``exact``, ``energies``, ``steps`` and ``seconds``.

        Raises
        ------
        ValueError
            If no method of the variant is the classifier divergence-bayes.
        FloatingPointError
            If the flow doesn't converge.
        """
        smoothing = divergence_bayes_of_variant(context.variant).smoothing
        content = {"diagnostic": "centroid-flow", "smoothing": smoothing, "tolerance": TOLERANCE}
        with blas_threads(1):
            solved = context.once(content, partial(self._solve, context, smoothing))
        return {"classes": join_names(context.counts.documents.classes), **solved}

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:
        """Report the energies and the number of steps; seconds vary between runs and are in the manifest.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line each.
        """
        for arrays in (each.arrays for each in found):
            names, exact = split_names(arrays["classes"]), arrays["exact"]
            each = ", ".join(f"{name} {e:.6f}" for name, e in zip(names, exact, strict=True))
            yield f"Energy (mean SKL of the documents to the centroid, nats) of the exact centroids: {each}."
            # Rounded up to a power of ten: the last digits of an energy differ between machines.
            excess = float(np.abs(arrays["energies"] - exact).max())
            within = "1e-12" if excess < _FINEST else f"{10.0 ** np.ceil(np.log10(excess)):.0e}"
            steps = int(round(float(arrays["steps"].mean()), -1))
            yield (
                f"Flow, path: every energy within {within} of the exact one, after about {steps} steps; its bound "
                f"above the minimum is {TOLERANCE:g}."
            )

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return the seconds of both solutions.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Timings alone, in seconds.
        """
        seconds = found.arrays["seconds"].round(4).tolist()
        return DiagnosticNumbers(timings={"centroids": dict(zip(("exact", "path"), seconds, strict=True))})

    def _solve(self, context: DiagnosticContext, smoothing: float) -> Arrays:
        counts, labels = context.counts, context.counts.documents.labels
        rows = [(labels == c) & (np.diff(counts.matrix.indptr) > 0) for c in range(len(counts.documents.classes))]
        statistics = [class_statistics(counts.matrix[members], smoothing) for members in rows]
        started = time.perf_counter()
        exact = [mean_skl(each, skl_centroid(each)) for each in statistics]
        solved = time.perf_counter()
        with ThreadPoolExecutor(context.jobs) as pool:
            ends = list(pool.map(lambda each: gradient_flow(each, TOLERANCE), statistics))
        return {
            "exact": np.array(exact),
            "energies": np.array([end.energies[-1] for end in ends]),
            "steps": np.array([len(end.times) - 1 for end in ends], dtype=np.int64),
            "seconds": np.array([solved - started, time.perf_counter() - solved]),
        }
