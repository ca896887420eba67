"""Diagnostics: distances between centroids, energies of a gradient flow, errors of features, eigenvalues, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.config.components import declared_metrics
from benchmark.diagnostics.centroids import CentroidDistances, CentroidFlow
from benchmark.diagnostics.documents import Coordinates, DocumentCounts
from benchmark.diagnostics.kernels import FeatureErrors, SmallestEigenvalues
from benchmark.diagnostics.theory import CoveringGrowth, CoveringNumbers, TwoWordDifferences

if TYPE_CHECKING:
    from benchmark.diagnostics.base import Diagnostic

#: The diagnostics that `diagnostics` in a configuration can name.
DIAGNOSTICS: dict[str, type[Diagnostic]] = {
    "centroid-distances": CentroidDistances,
    "centroid-flow": CentroidFlow,
    "coordinates": Coordinates,
    "covering-growth": CoveringGrowth,
    "covering-numbers": CoveringNumbers,
    "document-counts": DocumentCounts,
    "feature-errors": FeatureErrors,
    "smallest-eigenvalues": SmallestEigenvalues,
    "two-word-differences": TwoWordDifferences,
}
#: The metrics that diagnostics declare, by name.
DIAGNOSTIC_METRICS = declared_metrics(DIAGNOSTICS.values())
