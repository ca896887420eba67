"""Errors of feature maps against the kernels that they approximate, with their sizes and seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.representation.features import rowwise_products
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Representation
    from benchmark.diagnostics.base import Arrays, DiagnosticContext
    from benchmark.representation.features import FeatureMap

#: Errors are in units of the kernel.
_ERROR = partial(DiagnosticMetric, unit="one", better="smaller", decimals=5)
_ERRORS = (
    _ERROR("kernel-error", label="kernel error"),
    _ERROR("largest-kernel-error", label="largest error"),
)
_SIZES = (
    DiagnosticMetric("features", "features", decimals=0),
    DiagnosticMetric("bytes", "bytes", better="smaller", decimals=0),
    DiagnosticMetric("bytes-per-document", "bytes", "bytes a document", "smaller", 0),
)
_SECONDS = DiagnosticMetric(
    "seconds-to-map", "seconds", "seconds to map a thousand documents", "smaller", on_clock=True
)
#: A thousand rows of 4,096 dense features are 33 MB.
_AT_ONCE = 1000
#: The least that three decimals show.
_SEEN = 5e-4


@dataclass(frozen=True)
class FeatureErrors(Diagnostic):
    """Errors of the methods' features on pairs of different documents, their number, bytes, and seconds to map.

    Parameters
    ----------
    pairs : int
        Number of pairs, drawn from all documents with replacement; from 1 to 1,000,000.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (*_ERRORS, *_SIZES, _SECONDS)

    pairs: int = 10_000

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """
        if not 1 <= self.pairs <= 1_000_000:
            raise ValueError(f"pairs must lie between 1 and 1000000, not {self.pairs}")

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Compute errors, sizes and seconds for each method with features and one candidate.

        Errors are <φ(x), φ(y)> - k(x, y), in units of k. Weightings learn from all documents.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Rows named by method, without intervals: the root mean square of the errors over the pairs, their largest
            magnitude, the number of features, bytes, bytes per document, and the measured seconds to map a thousand
            documents, which figures alone show. Notes tell the largest error of a document with itself.

        Raises
        ------
        ValueError
            If there is only one document.
        """
        rows, of_itself = list[DiagnosticRow](), dict[str, float]()
        for label, spec in context.methods():
            features = spec.representation.features
            if features is None:
                continue
            content: dict[str, Any] = {"diagnostic": "feature-errors", "sample": [context.seed, self.pairs]}
            content["representation"] = spec.representation.resolved
            found = context.once(content, partial(self._measured, spec.representation, features, context))
            *of_pairs, of_itself[label] = found["errors"].tolist()
            n = int(found["documents"])
            values = (*of_pairs, *found["sizes"], found["seconds"])
            for metric, value, of in zip(self.metrics, values, [self.pairs] * 2 + [n] * 4, strict=True):
                rows.append(DiagnosticRow.without_interval(label, metric.name, value, of))
        note = (
            f"kernel error, largest error: root mean square and largest magnitude of <φ(x), φ(y)> - k(x, y) over "
            f"{self.pairs:,} pairs of different documents, in units of the kernel k that features approximate. k(x, x) "
            "is 1, or π/2 for arcsine. features and bytes are of all documents in memory: sparse features "
            "take 12 bytes per nonzero value, dense features 8 per value. Seconds are in figures."
        )
        listed = ", ".join(f"{name} {error:.3f}" for name, error in of_itself.items() if error >= _SEEN)
        notes = (note, f"Largest error of k(x, x), where it isn't 0.000: {listed}.") if listed else (note,)
        return DiagnosticNumbers(tuple(rows), notes=notes if rows else ())

    def _measured(self, representation: Representation, features: Component, context: DiagnosticContext) -> Arrays:
        points, n = context.points(representation), len(context.counts.documents)
        built: FeatureMap = features.build()
        with blas_threads(1):
            started = time.perf_counter()
            mapped = built.fit_transform(points)
            seconds = time.perf_counter() - started
            rng = np.random.default_rng(context.seed)
            first = rng.integers(n, size=self.pairs)
            second = (first + 1 + rng.integers(n - 1, size=self.pairs)) % n
            each = np.unique(first)
            errors, of_itself = (_errors(built, points, mapped, *pair) for pair in ((first, second), (each, each)))
        size = feature_bytes(mapped)
        return {
            "errors": np.array([np.sqrt(np.mean(errors**2)), np.abs(errors).max(), np.abs(of_itself).max()]),
            "sizes": np.array([mapped.shape[1], size, size / n]),
            "documents": np.array(n),
            "seconds": np.array(1000 * seconds / n),
        }


def feature_bytes(features: Any) -> int:
    """Return the bytes of the arrays that store features: a dense array, or data, indices and pointers of CSR."""
    parts = (features.data, features.indices, features.indptr) if sp.issparse(features) else (features,)
    return sum(part.nbytes for part in parts)


def _errors(
    built: FeatureMap, points: sp.csr_array, features: Any, first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Compute <φ(x), φ(y)> - k(x, y) for each pair of rows."""
    found = []
    for start in range(0, len(first), _AT_ONCE):
        a, b = first[start : start + _AT_ONCE], second[start : start + _AT_ONCE]
        found.append(rowwise_products(features[a], features[b]) - built.exact(points[a], points[b]))
    return np.concatenate(found)
