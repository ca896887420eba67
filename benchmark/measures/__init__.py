"""Diagnostics: distances between centroids, energies of a gradient flow, errors of feature maps, document counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.measures.centroid_distances import CentroidDistances
from benchmark.measures.centroid_flow import CentroidFlow
from benchmark.measures.document_counts import DocumentCounts
from benchmark.measures.feature_errors import FeatureErrors
from benchmark.measures.points import Coordinates, CoveringNumbers
from benchmark.registries import declared_metrics

if TYPE_CHECKING:
    from benchmark.measures.base import Diagnostic

#: The diagnostics that `measures` in a configuration can name.
DIAGNOSTICS: dict[str, type[Diagnostic]] = {
    "centroid-distances": CentroidDistances,
    "centroid-flow": CentroidFlow,
    "coordinates": Coordinates,
    "covering-numbers": CoveringNumbers,
    "document-counts": DocumentCounts,
    "feature-errors": FeatureErrors,
}
#: The metrics that diagnostics declare, by name.
DIAGNOSTIC_METRICS = declared_metrics(DIAGNOSTICS.values())
