"""Diagnostics of the methods' kernels: smallest eigenvalues on drawn documents, and errors of feature maps.

Eigenvalues show whether a kernel can be positive definite. Errors of features are against the kernels that they
approximate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.kernels import is_elementwise_kernel
from benchmark.representation.features import rowwise_products
from benchmark.system.checks import Range
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Representation
    from benchmark.diagnostics.base import Arrays, DiagnosticContext
    from benchmark.representation.features import FeatureMap


_PLAIN, _CENTRED = "smallest-eigenvalue", "smallest-centred-eigenvalue"
_ROUNDING = "rounding"
#: How far rounding moves an eigenvalue at most, where kernel values are about 1. On the diagonal s is 1 up to 1e-13 and
#: arccos s is 0 up to the root of twice that; elsewhere errors are some 1e-16.
_BOUND = 1e-6


@dataclass(frozen=True)
class SmallestEigenvalues(Diagnostic):
    """Smallest eigenvalues of the methods' Gram matrices on drawn documents, plain and centred.

    A kernel with a negative eigenvalue isn't positive definite. The centred one is that of all coefficients that sum to
    zero: if it is negative, the kernel isn't conditionally positive definite either. An eigenvalue that isn't negative
    shows this of the drawn documents alone.

    Parameters
    ----------
    documents : int
        Number of documents, drawn without those that are empty or have the counts of another; from 2 to 10,000.
    part : str
        Part of the corpus to draw from, such as train; by default all of it.
    """

    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = (
        DiagnosticMetric(_PLAIN, "one", "smallest eigenvalue", "neither", 6),
        DiagnosticMetric(_CENTRED, "one", "smallest centred eigenvalue", "neither", 6),
    )

    allowed: ClassVar = {"documents": Range(2, 10_000, whole=True)}

    documents: int = 1000
    part: str = ""

    @property
    def rows(self) -> tuple[str, ...]:
        """The bound of rounding, with which eigenvalues are compared."""
        return (_ROUNDING,)

    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Compute both eigenvalues for each method with an elementwise kernel and one candidate.

        Weightings learn from all documents.

        Parameters
        ----------
        context : DiagnosticContext

        Returns
        -------
        DiagnosticNumbers
            Two rows per method, named by it, and two named rounding, which has the bound of rounding.

        Raises
        ------
        ValueError
            If the part isn't there, or has fewer than two different documents.
        """
        drawn, values = self._drawn(context), dict[str, list[float]]()
        for label, spec in context.methods():
            plain = spec.representation.features is None and not spec.representation.dirichlet
            if spec.kernel is not None and is_elementwise_kernel(spec.kernel.cls) and plain:
                content: dict[str, Any] = {
                    "diagnostic": "smallest-eigenvalues",
                    "sample": [context.seed, self.documents, self.part],
                    "representation": spec.representation.resolved,
                    "kernel": spec.kernel.resolved,
                }
                compute = partial(_eigenvalues, spec.kernel, spec.representation, context, drawn)
                values[label] = context.once(content, compute)["eigenvalues"].tolist()
        pairs = (values | {_ROUNDING: [_BOUND, _BOUND]}).items()
        rows = [row for name, pair in pairs for row in DiagnosticRow.exact(name, self.metrics, pair, len(drawn))]
        note = (
            f"smallest eigenvalue: of the Gram matrix of {len(drawn):,} drawn documents, no two with the same counts. "
            "A kernel with a negative one isn't positive definite. The centred one is over coefficients that sum to "
            "zero; if it is negative, the kernel isn't conditionally positive definite. Rounding moves either by less "
            f"than {_BOUND:g}."
        )
        return DiagnosticNumbers(tuple(rows), notes=(note,))

    def _drawn(self, context: DiagnosticContext) -> NDArray[np.intp]:
        """Return the rows of the drawn documents, ascending."""
        matrix, documents = context.counts.matrix, context.counts.documents
        if self.part and self.part not in documents.part_names:
            raise ValueError(f"the corpus has no part {self.part!r}, but {', '.join(documents.part_names)}")
        inside = np.array([not self.part or documents.part_names[code] == self.part for code in documents.parts])
        pool = np.flatnonzero(inside & (np.diff(matrix.indptr) > 0))
        different: dict[bytes, int] = {}
        for row in np.random.default_rng(context.seed).permutation(pool).tolist():
            terms = slice(*matrix.indptr[row : row + 2])
            different.setdefault(matrix.indices[terms].tobytes() + matrix.data[terms].tobytes(), row)
            if len(different) == self.documents:
                break
        if len(different) < 2:
            raise ValueError("eigenvalues need two different documents")
        return np.array(sorted(different.values()), dtype=np.intp)


def _eigenvalues(
    component: Component, representation: Representation, context: DiagnosticContext, drawn: NDArray[np.intp]
) -> Arrays:
    """Compute the smallest eigenvalue of a Gram matrix, plain and centred."""
    points = context.points(representation, drawn)
    gram = component.build().fit(points).transform(points)
    gram = (gram + gram.T) / 2
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    # The vector of ones has the eigenvalue 0 whatever the kernel. Give it the mean of the others, which isn't below
    # their smallest.
    centred += np.trace(centred) / (len(gram) - 1) / len(gram)
    with blas_threads(1):
        smallest = [eigvalsh(each, subset_by_index=[0, 0])[0] for each in (gram, centred)]
    return {"eigenvalues": np.array(smallest)}


#: Errors are in units of the kernel.
_ERRORS = (
    DiagnosticMetric("kernel-error", "one", "kernel error", "smaller", 5),
    DiagnosticMetric("largest-kernel-error", "one", "largest error", "smaller", 5),
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

    allowed: ClassVar = {"pairs": Range(1, 1_000_000, whole=True)}

    pairs: int = 10_000

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
            rows += DiagnosticRow.exact(label, _ERRORS, of_pairs, self.pairs)
            sizes = *found["sizes"], found["seconds"]
            rows += DiagnosticRow.exact(label, (*_SIZES, _SECONDS), sizes, int(found["documents"]))
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
        stored = (mapped.data, mapped.indices, mapped.indptr) if sp.issparse(mapped) else (mapped,)
        size = sum(part.nbytes for part in stored)
        return {
            "errors": np.array([np.sqrt(np.mean(errors**2)), np.abs(errors).max(), np.abs(of_itself).max()]),
            "sizes": np.array([mapped.shape[1], size, size / n]),
            "documents": np.array(n),
            "seconds": np.array(1000 * seconds / n),
        }


def _errors(
    built: FeatureMap, points: sp.csr_array, features: Any, first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Compute <φ(x), φ(y)> - k(x, y) for each pair of rows."""
    found = []
    for start in range(0, len(first), _AT_ONCE):
        a, b = first[start : start + _AT_ONCE], second[start : start + _AT_ONCE]
        found.append(rowwise_products(features[a], features[b]) - built.exact(points[a], points[b]))
    return np.concatenate(found)
