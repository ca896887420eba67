"""Centroids of the classes: average symmetric KL divergences to the others, and a gradient flow to the exact ones."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - read by config.components, with the constructor's types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.base import clone

from benchmark.classifiers import divergence_bayes as bayes
from benchmark.classifiers.centroid_flow import gradient_flow
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow, class_row_id
from benchmark.evaluation.intervals import CONFIDENCE_LEVEL
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.evaluation.outcomes import Estimate
from benchmark.system.checks import POSITIVE, Range
from benchmark.system.row_blocks import blas_threads
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import Variant
    from benchmark.diagnostics.base import Arrays, DiagnosticContext
    from benchmark.text.counts import Counts

    Array = NDArray[np.float64]

_AVERAGE_SKL = "average-skl"
#: Upper bound of a class's energy above the minimum at which the flow ends, in nats.
TOLERANCE = 1e-9
#: An energy of the flow is not said to be nearer to the exact one than this.
_FINEST = 1e-12


@dataclass(frozen=True)
class CentroidDistances(Diagnostic):
    """Average symmetric KL divergence of each class's centroid to those of the others, on all documents.

    Parameters
    ----------
    centroids : sequence of str
        Kinds of centroid, see `classifiers.divergence_bayes`.
    resamples : int
        Number of bootstrap resamples of each class's documents for the intervals, 2 or more.
    smoothing : sequence of float
        Values of the classifier's smoothing at which the base variant is measured again, positive and ascending.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (DiagnosticMetric(_AVERAGE_SKL, "nats", label="average SKL"),)
    tags: ClassVar[Tags] = Tags(
        labels={"mean": "mean (naive Bayes)", "skl": "symmetric KL", "pooled": "pooled counts (multinomial)"}
    )

    allowed: ClassVar = {
        "centroids": bayes.CENTROID_KINDS,
        "resamples": Range(2, whole=True),
        "smoothing": POSITIVE,
    }

    centroids: Sequence[str] = bayes.CENTROID_KINDS
    resamples: int = 200
    smoothing: Sequence[float] = ()

    @property
    def kinds(self) -> Sequence[str]:
        """Kinds of centroid, each with a row per class."""
        return self.centroids

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Compute each distance with the spread of its resamples as interval, and the base's again by smoothing.

        Resamples repeat some documents and lack others, so their centroids lie farther apart, as centroids of fewer
        documents do. A published value is on about as many documents as ours, not on resamples: the interval is the
        quantiles of the resamples, moved so that the resamples' mean is our value.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            A row per kind and class, and a point per kind, class and smoothing, in nats.

        Raises
        ------
        ValueError
            If no method of the variant is the classifier divergence-bayes.
        """
        documents, grid = context.counts.documents, self._grid(context)
        sizes, rows, points = np.bincount(documents.labels, minlength=len(documents.classes)), [], []
        for centroid in self.centroids:
            classifier = divergence_bayes_of_variant(context.variant)
            classifier.centroid = centroid
            content = {
                "diagnostic": "centroid-distances",
                "classifier": classifier.get_params(),
                "grid": [context.seed, self.resamples, list(grid)],
            }
            arrays = context.once(content, partial(self._distances, classifier, context))
            for c, name in enumerate(documents.classes):
                value, resampled = float(arrays["values"][c]), arrays["resampled"][:, c]
                low, high = value + np.quantile(
                    resampled - resampled.mean(), [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
                )
                estimate = Estimate(value, float(low), float(high), int(sizes[c]), "bootstrap")
                rows.append(DiagnosticRow(class_row_id(context.variant.name, centroid, name), _AVERAGE_SKL, estimate))
                for x, swept in zip(grid, arrays["by_smoothing"][:, c], strict=True):
                    points.append(CurvePoint("smoothing", float(x), centroid, name, _AVERAGE_SKL, float(swept)))
        note = (
            "table-…: average symmetric KL divergence of a class's centroid to those of the others, in nats, on all "
            f"documents. The interval is a bootstrap's over each class's documents ({self.resamples} resamples), moved "
            "so that its mean is our value: resamples repeat documents, which moves their centroids apart."
        )
        return DiagnosticNumbers(tuple(rows), tuple(points), (note,))

    def _grid(self, context: DiagnosticContext) -> tuple[float, ...]:
        return tuple(self.smoothing) if context.variant.name == BASE_VARIANT else ()

    def _distances(self, classifier: bayes.DivergenceBayes, context: DiagnosticContext) -> Arrays:
        counts, grid = context.counts, self._grid(context)
        everything = np.arange(len(counts.documents))
        seeds = [[context.seed, number] for number in range(self.resamples)]
        with blas_threads(1), ThreadPoolExecutor(context.jobs) as pool:
            resampled = list(pool.map(lambda seed: _measure(classifier, counts, _resample(counts, seed)), seeds))
            swept = list(pool.map(lambda s: _measure(classifier, counts, everything, s), grid))
        values = _measure(classifier, counts, everything)
        by_smoothing = np.array(swept).reshape(len(grid), len(values))
        return {"values": values, "resampled": np.array(resampled), "by_smoothing": by_smoothing}


def _resample(counts: Counts, seed: list[int]) -> NDArray[np.intp]:
    """Draw as many documents from each class as it has, with replacement."""
    rng, documents = np.random.default_rng(seed), counts.documents
    of_classes = [np.flatnonzero(documents.labels == code) for code in range(len(documents.classes))]
    return np.concatenate([rng.choice(rows, len(rows)) for rows in of_classes])


def _measure(
    classifier: bayes.DivergenceBayes, counts: Counts, rows: NDArray[np.intp], smoothing: float | None = None
) -> Array:
    """Compute each class's average SKL to the others, in nats, shape (k,), in the order of the classes."""
    built = clone(classifier).set_params(**({} if smoothing is None else {"smoothing": smoothing}))
    built.fit(counts.matrix[rows], counts.documents.labels[rows])
    return np.asarray(bayes.average_skl_to_others(built.centroids_)[np.argsort(built.classes_)])


def divergence_bayes_of_variant(variant: Variant) -> bayes.DivergenceBayes:
    """Return the variant's naive Bayes in KL form, untrained; the diagnostic uses its smoothing, prior and length.

    Raises
    ------
    ValueError
        If no method of the variant is of this kind.
    """
    for entry in variant.entries:
        classifier = entry.candidates[0].classifier
        if classifier.cls is bayes.DivergenceBayes:
            built: bayes.DivergenceBayes = classifier.build()
            return built
    raise ValueError("centroids are computed by the classifier divergence-bayes: add it to `methods`")


@dataclass(frozen=True)
class CentroidFlow(Diagnostic):
    """Centroids by the gradient flow on the path of all words, against the closed form."""

    tags: ClassVar[Tags] = Tags(base_only=True)

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Compare the energies of both solutions, the mean SKL of the documents to the centroid, in nats.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Notes alone: the energies, and the flow's steps.

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
            solved = context.once(content, partial(_solve, context, smoothing))
        exact = solved["exact"]
        energies = ", ".join(f"{name} {e:.6f}" for name, e in zip(context.counts.documents.classes, exact, strict=True))
        # Rounded up to a power of ten: the last digits of an energy differ between machines.
        excess = float(np.abs(solved["energies"] - exact).max())
        within = "1e-12" if excess < _FINEST else f"{10.0 ** np.ceil(np.log10(excess)):.0e}"
        steps = int(round(float(solved["steps"].mean()), -1))
        of_exact = f"Energy (mean SKL of the documents to the centroid, nats) of the exact centroids: {energies}."
        reached = f"Flow, path: every energy within {within} of the exact one, after about {steps} steps"
        return DiagnosticNumbers(notes=(of_exact, f"{reached}; its bound above the minimum is {TOLERANCE:g}."))


def _solve(context: DiagnosticContext, smoothing: float) -> Arrays:
    """Compute the energies (k,) of both solutions, and the flow's steps (k,)."""
    counts, labels = context.counts, context.counts.documents.labels
    rows = [(labels == c) & (np.diff(counts.matrix.indptr) > 0) for c in range(len(counts.documents.classes))]
    statistics = [bayes.class_statistics(counts.matrix[members], smoothing) for members in rows]
    exact = [bayes.mean_skl(each, bayes.skl_centroid(each)) for each in statistics]
    with ThreadPoolExecutor(context.jobs) as pool:
        ends = list(pool.map(lambda each: gradient_flow(each, TOLERANCE), statistics))
    return {
        "exact": np.array(exact),
        "energies": np.array([end.energies[-1] for end in ends]),
        "steps": np.array([len(end.times) - 1 for end in ends], dtype=np.int64),
    }
