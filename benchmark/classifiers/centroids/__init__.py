"""Centroids of classes of documents under the symmetric KL divergence: statistics of a class in, a distribution out."""

from benchmark.classifiers.centroids.divergence import (
    ClassStatistics,
    average_skl_to_others,
    class_statistics,
    kullback_leibler,
    mean_skl,
    mean_skl_gradient,
    symmetric_kl,
)
from benchmark.classifiers.centroids.exact import lagrange_multiplier, skl_centroid
from benchmark.classifiers.centroids.flow import Flow, energy_gap, flow, path_edges, velocity

__all__ = [
    "ClassStatistics",
    "Flow",
    "average_skl_to_others",
    "class_statistics",
    "energy_gap",
    "flow",
    "kullback_leibler",
    "lagrange_multiplier",
    "mean_skl",
    "mean_skl_gradient",
    "path_edges",
    "skl_centroid",
    "symmetric_kl",
    "velocity",
]
