"""Weighting, normalization and power transform of counts into points, and term selection."""

from benchmark.representation.weighting import (
    IDF_SOURCES,
    canonical_csr,
    inverse_document_frequency,
    normalize_blocks,
    normalize_rows,
    power_transform,
    row_norms,
    weight_terms,
)
from benchmark.representation.weightings import WEIGHTINGS, TermWeighting, Weighting
from benchmark.system.tags import NORMALIZATIONS

__all__ = [
    "IDF_SOURCES",
    "NORMALIZATIONS",
    "WEIGHTINGS",
    "TermWeighting",
    "Weighting",
    "canonical_csr",
    "inverse_document_frequency",
    "normalize_blocks",
    "normalize_rows",
    "power_transform",
    "row_norms",
    "weight_terms",
]
