"""Distances of each class's centroid to those of the others: average symmetric KL divergences, in nats."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - read by config.components, with the constructor's types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.base import clone

from benchmark.classifiers.centroids import average_skl_to_others
from benchmark.classifiers.divergence_bayes import CENTROID_KINDS, DivergenceBayes
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow, class_row_id
from benchmark.evaluation.intervals import CONFIDENCE_LEVEL, Estimate
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.system.row_blocks import blas_threads
from benchmark.system.string_arrays import join_names, split_names
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from benchmark.config.model import Variant
    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext
    from benchmark.text.counts import Counts

    Array = NDArray[np.float64]

AVERAGE_SKL = "average-skl"


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

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (DiagnosticMetric(AVERAGE_SKL, "nats", label="average SKL"),)
    tags: ClassVar[Tags] = Tags(
        labels={"mean": "mean (naive Bayes)", "skl": "symmetric KL", "pooled": "pooled counts (multinomial)"}
    )

    centroids: Sequence[str] = CENTROID_KINDS
    resamples: int = 200
    smoothing: Sequence[float] = ()

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """
        for name in self.centroids:
            if name not in CENTROID_KINDS:
                raise ValueError(f"centroids may be {', '.join(CENTROID_KINDS)}, not {name!r}")
        if self.resamples < 2:
            raise ValueError(f"resamples = {self.resamples} is too small: it must be at least 2")
        if not all(0 < s < np.inf for s in self.smoothing):
            raise ValueError(f"smoothing must be positive, not {list(self.smoothing)}")

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Compute, for each kind of centroid, the distances on all documents, on resamples, and by smoothing.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``classes`` (text), ``documents`` (k,), their numbers by class, ``smoothing`` (s,), and in nats for each
            kind ``<kind>/values`` (k,), ``<kind>/resampled`` (resamples, k), ``<kind>/by_smoothing`` (s, k).

        Raises
        ------
        ValueError
            If no method of the variant is the classifier divergence-bayes.
        """
        documents = context.counts.documents
        found: Arrays = {
            "classes": join_names(documents.classes),
            "documents": np.bincount(documents.labels, minlength=len(documents.classes)),
            "smoothing": np.array(self._grid(context), dtype=np.float64),
        }
        for centroid in self.centroids:
            classifier = divergence_bayes_of_variant(context.variant)
            classifier.centroid = centroid
            content = {
                "diagnostic": "centroid-distances",
                "classifier": classifier.get_params(),
                "grid": [context.seed, self.resamples, list(self._grid(context))],
            }
            arrays = context.once(content, partial(self._distances, classifier, context))
            found |= {f"{centroid}/{name}": array for name, array in arrays.items()}
        return found

    @property
    def kinds(self) -> Sequence[str]:
        """Kinds of centroid, each with a row per class."""
        return self.centroids

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return each distance with the spread of its resamples as interval, and points of distance against smoothing.

        Resamples repeat some documents and lack others, so their centroids lie farther apart, as centroids of fewer
        documents do. A published value is on about as many documents as ours, not on resamples: the interval is the
        quantiles of the resamples, moved so that the resamples' mean is our value.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            A row per kind and class, in nats.
        """
        rows, points, arrays = [], [], found.arrays
        for centroid, (c, name) in product(self.centroids, enumerate(split_names(arrays["classes"]))):
            value, resampled = float(arrays[f"{centroid}/values"][c]), arrays[f"{centroid}/resampled"][:, c]
            low, high = value + np.quantile(
                resampled - resampled.mean(), [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
            )
            estimate = Estimate(value, float(low), float(high), int(arrays["documents"][c]), "bootstrap")
            rows.append(DiagnosticRow(class_row_id(found.variant, centroid, name), AVERAGE_SKL, estimate))
            for x, swept in zip(arrays["smoothing"], arrays[f"{centroid}/by_smoothing"][:, c], strict=True):
                points.append(CurvePoint("smoothing", float(x), centroid, name, AVERAGE_SKL, float(swept)))
        return DiagnosticNumbers(tuple(rows), tuple(points))

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:  # noqa: ARG002
        """Explain the intervals.

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line.
        """
        yield (
            "table-…: average symmetric KL divergence of a class's centroid to those of the others, in nats, on all "
            f"documents. The interval is a bootstrap's over each class's documents ({self.resamples} resamples), moved "
            "so that its mean is our value: resamples repeat documents, which moves their centroids apart."
        )

    def _grid(self, context: DiagnosticContext) -> tuple[float, ...]:
        return tuple(self.smoothing) if context.variant.name == BASE_VARIANT else ()

    def _distances(self, classifier: DivergenceBayes, context: DiagnosticContext) -> Arrays:
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
    classifier: DivergenceBayes, counts: Counts, rows: NDArray[np.intp], smoothing: float | None = None
) -> Array:
    """Compute each class's average SKL to the others, in nats, shape (k,), in the order of the classes."""
    built = clone(classifier).set_params(**({} if smoothing is None else {"smoothing": smoothing}))
    built.fit(counts.matrix[rows], counts.documents.labels[rows])
    return np.asarray(average_skl_to_others(built.centroids_)[np.argsort(built.classes_)])


def divergence_bayes_of_variant(variant: Variant) -> DivergenceBayes:
    """Return the variant's naive Bayes in KL form, untrained; the diagnostic uses its smoothing, prior and length.

    Raises
    ------
    ValueError
        If no method of the variant is of this kind.
    """
    for entry in variant.entries:
        classifier = entry.candidates[0].classifier
        if classifier.cls is DivergenceBayes:
            built: DivergenceBayes = classifier.build()
            return built
    raise ValueError("centroids are computed by the classifier divergence-bayes: add it to `methods`")
