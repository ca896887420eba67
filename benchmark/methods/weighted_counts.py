"""Fit a weighting to the counts of a problem, and turn counts into points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.representation import normalize_rows
from benchmark.representation.weightings import FROM_LABELS

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import Representation
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.problem import Problem
    from benchmark.representation import Weighting


def weighting_rows(problem: Problem, representation: Representation, split: Split) -> NDArray[np.intp] | None:
    """Return the rows of the documents that the weighting learns from; None where it learns nothing."""
    if not representation.learns:
        return None
    return np.arange(len(problem.documents)) if representation.idf == "collection" else split.train


def depends_on_split(representation: Representation) -> bool:
    """Return whether a document's weights depend on the training documents of the split."""
    return bool(representation.learns) and representation.idf == "training"


def fitted_weighting(
    problem: Problem,
    counts: sp.csr_array,
    representation: Representation,
    rows: NDArray[np.intp] | None,
    terms: NDArray[np.intp] | None = None,
) -> Weighting:
    """Return the representation's weighting, fitted on the documents at `rows`.

    Parameters
    ----------
    problem : Problem
    counts : CSR array, shape (n, V)
        Counts of all documents of the problem, over the columns `terms`.
    representation : Representation
    rows : intp array or None
        Documents to learn from; None for a weighting that learns nothing.
    terms : intp array, shape (V,), or None
        Columns of the problem's counts; None for all.
    """
    built: Weighting = representation.weighting.build()
    if representation.fields:
        (block_of, names), weights = (problem.counts.block_of, problem.counts.blocks), dict(representation.fields)
        by_block = np.array([weights.get(name, 0.0) for name in names])
        chosen = block_of if terms is None else block_of[terms]
        built.of_blocks(chosen, by_block, representation.normalization, names)
    if rows is None:
        return built.fit(counts)
    return built.fit(counts[rows], problem.members[rows] if representation.learns == FROM_LABELS else None)


def split_weighting(
    problem: Problem,
    counts: sp.csr_array,
    representation: Representation,
    split: Split,
    terms: NDArray[np.intp] | None = None,
) -> Weighting:
    """Return the weighting fitted on the documents that the representation names, see `fitted_weighting`."""
    return fitted_weighting(problem, counts, representation, weighting_rows(problem, representation, split), terms)


def weighted_points(counts: sp.csr_array, representation: Representation, weighting: Weighting) -> Any:
    """Compute the points of documents: weights, normalized over the terms of `counts`, then mapped to features.

    Returns
    -------
    CSR array, shape (n, V); or features, CSR or dense, shape (n, D)
        Always a new array.
    """
    features = None if representation.features is None else representation.features.build()
    return normalized_points(weighting.transform(counts), representation.normalization, features)


def normalized_points(weights: sp.csr_array, normalization: str, features: Any) -> Any:
    """Normalize weights, shape (n, V), and map them to `features`, unless these are None."""
    points = normalize_rows(weights, normalization)
    return points if features is None else features.fit_transform(points)
