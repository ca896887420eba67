"""Diagnostics: distances between centroids, energies of a gradient flow, errors of feature maps, document counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.measures.centroid_distances import CentroidDistances
from benchmark.measures.centroid_flow import CentroidFlow
from benchmark.measures.document_counts import DocumentCounts
from benchmark.measures.feature_errors import FeatureErrors
from benchmark.measures.points import Coordinates, CoveringNumbers
from benchmark.registries import quantities_of

if TYPE_CHECKING:
    from benchmark.measures.base import Measure

#: The diagnostics that `measures` in a configuration can name.
MEASURES: dict[str, type[Measure]] = {
    "centroid-distances": CentroidDistances,
    "centroid-flow": CentroidFlow,
    "coordinates": Coordinates,
    "covering-numbers": CoveringNumbers,
    "document-counts": DocumentCounts,
    "feature-errors": FeatureErrors,
}
#: The metrics that diagnostics declare, by name.
QUANTITIES = quantities_of(MEASURES.values())
