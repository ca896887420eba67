"""Smallest eigenvalues of kernels on drawn documents, which show whether a kernel can be positive definite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import eigvalsh

from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.kernels import is_elementwise_kernel
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Representation
    from benchmark.diagnostics.base import Arrays, DiagnosticContext

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

    documents: int = 1000
    part: str = ""

    def check(self) -> None:
        """Refuse a number of documents outside its range.

        Raises
        ------
        ValueError
            If it is less than 2 or more than 10,000.
        """
        if not 2 <= self.documents <= 10_000:
            raise ValueError(f"documents must lie between 2 and 10000, not {self.documents}")

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
        rows = tuple(
            DiagnosticRow.without_interval(name, metric.name, value, len(drawn))
            for name, pair in (values | {_ROUNDING: [_BOUND, _BOUND]}).items()
            for metric, value in zip(self.metrics, pair, strict=True)
        )
        note = (
            f"smallest eigenvalue: of the Gram matrix of {len(drawn):,} drawn documents, no two with the same counts. "
            "A kernel with a negative one isn't positive definite. The centred one is over coefficients that sum to "
            "zero; if it is negative, the kernel isn't conditionally positive definite. Rounding moves either by less "
            f"than {_BOUND:g}."
        )
        return DiagnosticNumbers(rows, notes=(note,))

    def _drawn(self, context: DiagnosticContext) -> NDArray[np.intp]:
        """Return the rows of the drawn documents, ascending."""
        matrix, documents = context.counts.matrix, context.counts.documents
        if self.part and self.part not in documents.part_names:
            raise ValueError(f"the corpus has no part {self.part!r}, but {', '.join(documents.part_names)}")
        inside = (
            documents.parts == documents.part_names.index(self.part) if self.part else np.ones(len(documents), bool)
        )
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
