"""Points of counts, as a run makes them: weighted, then normalized."""

from __future__ import annotations

from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmark.representation import WEIGHTINGS
from benchmark.representation.weighting import normalize_rows


def points_pipeline(weighting: str = "tf", normalization: str = "none") -> Pipeline:
    """Return a transformer of counts to points."""
    normalize = FunctionTransformer(normalize_rows, kw_args={"normalization": normalization})
    return make_pipeline(WEIGHTINGS[weighting](), normalize)
