"""Counts to points: weighting, normalization, embedding, and the selection of terms."""

from benchmark.representation.weighting import (
    IDF_SOURCES,
    NORMALIZATIONS,
    WEIGHTINGS,
    TermWeighting,
    canonical,
    embed,
    inverse_document_frequency,
    norms,
    weight_terms,
)

__all__ = [
    "IDF_SOURCES",
    "NORMALIZATIONS",
    "WEIGHTINGS",
    "TermWeighting",
    "canonical",
    "embed",
    "inverse_document_frequency",
    "norms",
    "weight_terms",
]
