"""Points made of counts: term weightings by their names in a configuration.

Weights are not normalized in a weighting. They are nonnegative, so that they can be normalized to the simplex.
"""

from __future__ import annotations

from benchmark.representation.learnt_weighting import LearnedAitchison
from benchmark.representation.weighting import inverse_document_frequency
from benchmark.representation.weightings import (
    Aitchison,
    Binary,
    Bm25,
    InverseClassFrequency,
    InverseClassSpaceDensity,
    LogEntropy,
    LogTermFrequency,
    LogTfIdf,
    RelevanceFrequency,
    TermFrequency,
    TfIdf,
    Weighting,
)

__all__ = ["WEIGHTINGS", "Weighting", "inverse_document_frequency"]

WEIGHTINGS: dict[str, type[Weighting]] = {
    "tf": TermFrequency,
    "tfidf": TfIdf,
    "binary": Binary,
    "log-tf": LogTermFrequency,
    "log-tfidf": LogTfIdf,
    "log-entropy": LogEntropy,
    "bm25": Bm25,
    "tf-rf": RelevanceFrequency,
    "tf-icf": InverseClassFrequency,
    "tf-idf-icsdf": InverseClassSpaceDensity,
    "aitchison": Aitchison,
    "aitchison-learnt": LearnedAitchison,
}
