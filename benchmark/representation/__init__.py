"""Weighting, normalization and power transform of counts into points, and term selection."""

from benchmark.representation.weighting import (
    IDF_SOURCES,
    canonical,
    embed,
    in_blocks,
    inverse_document_frequency,
    normalized,
    norms,
    weight_terms,
)
from benchmark.representation.weightings import WEIGHTINGS, TermWeighting, Weighting
from benchmark.tags import NORMALIZATIONS

__all__ = [
    "IDF_SOURCES",
    "NORMALIZATIONS",
    "WEIGHTINGS",
    "TermWeighting",
    "Weighting",
    "canonical",
    "embed",
    "in_blocks",
    "inverse_document_frequency",
    "normalized",
    "norms",
    "weight_terms",
]
