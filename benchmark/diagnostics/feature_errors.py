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
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Representation
    from benchmark.diagnostics.base import Arrays, DiagnosticArrays, DiagnosticContext
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

    def compute(self, context: DiagnosticContext) -> Arrays:
        """Compute, for each method with features and one candidate, errors (3,), sizes (3,), documents (), seconds ().

        Errors are <φ(x), φ(y)> - k(x, y), in units of k: their root mean square over the pairs, their largest
        magnitude, and the largest magnitude for the pairs' first documents with themselves. Sizes are the number of
        features, bytes, and bytes per document. Weightings learn from all documents. Seconds are the measured time to
        map a thousand documents.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        dict of str to array
            ``<method>/errors``, ``<method>/sizes``, ``<method>/documents`` and ``<method>/seconds``.

        Raises
        ------
        ValueError
            If there is only one document.
        """
        found: Arrays = {}
        for label, spec in context.methods():
            features = spec.representation.features
            if features is not None:
                content: dict[str, Any] = {"diagnostic": "feature-errors", "sample": [context.seed, self.pairs]}
                content["representation"] = spec.representation.resolved
                arrays = context.once(content, partial(self._measured, spec.representation, features, context))
                found |= {f"{label}/{name}": array for name, array in arrays.items()}
        return found

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        """Return the numbers of each method, without intervals; seconds appear in figures and in the manifest.

        Parameters
        ----------
        found : DiagnosticArrays
            From `compute`.

        Returns
        -------
        DiagnosticNumbers
            Rows named by method, in the units of `metrics`, and seconds by method.
        """
        rows, timings = list[DiagnosticRow](), {}
        for name, arrays in _by_method(found.arrays):
            n = int(arrays["documents"])
            values = [*arrays["errors"][:2], *arrays["sizes"], arrays["seconds"]]
            for metric, value, of in zip(self.metrics, values, [self.pairs] * 2 + [n] * 4, strict=True):
                rows.append(DiagnosticRow.without_interval(name, metric.name, value, of))
            timings[name] = {"map a thousand": round(float(arrays["seconds"]), 4)}
        return DiagnosticNumbers(tuple(rows), timings=timings)

    def notes(self, found: Sequence[DiagnosticArrays]) -> Iterable[str]:
        """Explain the errors, and report those of k(x, x).

        Parameters
        ----------
        found : sequence of DiagnosticArrays

        Returns
        -------
        iterable of str
            One line each.
        """
        by_method = [(name, arrays["errors"][2]) for each in found for name, arrays in _by_method(each.arrays)]
        if not by_method:
            return
        yield (
            f"kernel error, largest error: root mean square and largest magnitude of <φ(x), φ(y)> - k(x, y) over "
            f"{self.pairs:,} pairs of different documents, in units of the kernel k that features approximate. k(x, x) "
            "is 1, or π/2 for arcsine. features and bytes are of all documents in memory: sparse features "
            "take 12 bytes per nonzero value, dense features 8 per value. Seconds are in the manifest and in figures."
        )
        if listed := ", ".join(f"{name} {error:.3f}" for name, error in by_method if error >= _SEEN):
            yield f"Largest error of k(x, x), where it isn't 0.000: {listed}."

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


def _by_method(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """Yield the label and the arrays of each method."""
    for label in dict.fromkeys(name.rpartition("/")[0] for name in arrays):
        yield (
            label,
            {name.rpartition("/")[2]: array for name, array in arrays.items() if name.rpartition("/")[0] == label},
        )
