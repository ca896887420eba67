"""Checks of weightings, feature maps and threshold rules on small data, see `benchmark.plugins.contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.plugins.toy_data import toy_problem
from benchmark.representation import TermWeighting
from benchmark.system.errors import BenchError
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The largest relative difference of sums in another order.
_ROUNDING = 1e-9


class FailedCheckError(BenchError):
    """A component fails a check."""


def holds(condition: Any, otherwise: str) -> None:
    """Raise FailedCheckError with the text unless the condition is true."""
    if not condition:
        raise FailedCheckError(otherwise)


def near(a: Any, b: Any, what: str) -> None:
    """Raise FailedCheckError unless two arrays are equal but for the rounding of sums."""
    reach = _ROUNDING * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    holds(np.shape(a) == np.shape(b), f"{what} have the shapes {np.shape(a)} and {np.shape(b)}")
    worst = np.abs(a - b).max(initial=0.0)
    holds(worst <= reach, f"{what} differ by {worst:.3g}")


def toy_points(component: Any) -> sp.csr_array:
    """Return the points of a small collection, as a configuration without further settings would make them."""
    normalization = tags_of(component).normalization
    return TermWeighting(normalization=normalization).fit_transform(toy_problem(multilabel=False).counts.matrix)


def gives_weights(_: str, component: Any) -> None:
    """Check that the weighting returns one finite weight, not negative, for each count, and none for a zero."""
    counts, labels = toy_problem(multilabel=False).counts.matrix, toy_problem(multilabel=False).documents.labels
    weighting = component()
    holds(weighting.fit(counts[:40], labels[:40]) is weighting, "fit must return the weighting itself")
    weights = weighting.transform(counts)
    holds(weights.shape == counts.shape, f"weights have the shape {weights.shape}, not {counts.shape}")
    holds(np.isfinite(weights.data).all() and (weights.data >= 0).all(), "a weight is negative or not finite")
    holds((weights.toarray()[counts.toarray() == 0] == 0).all(), "a term that a document lacks has a weight")


def weighs_alone(_: str, component: Any) -> None:
    """Check that the weighting returns the same weights for a document alone and among others."""
    counts, labels = toy_problem(multilabel=False).counts.matrix, toy_problem(multilabel=False).documents.labels
    weighting = component().fit(counts[:40], labels[:40])
    blocks = np.vstack([weighting.transform(counts[start : start + 7]).toarray() for start in range(0, 60, 7)])
    near(weighting.transform(counts).toarray(), blocks, "the weights of a document alone and in a block")


def gives_features(_: str, component: Any) -> None:
    """Check that the map returns a row of finite numbers for each point, with as many columns as `width` says."""
    points, feature = toy_points(component), component()
    holds(feature.fit(points[:40]) is feature, "fit must return the feature map itself")
    mapped = feature.transform(points)
    shape = (60, feature.width(points.shape[1]))
    holds(mapped.shape == shape, f"features have the shape {mapped.shape}, not {shape}")
    holds(np.isfinite(_dense(mapped)).all(), "features are not finite numbers")


def maps_alone(_: str, component: Any) -> None:
    """Check that the map returns the same features for a point alone, among others, and when fitted to others."""
    points = toy_points(component)
    whole = _dense(component().fit(points).transform(points))
    blocks = [_dense(component().fit(points[a : a + 7]).transform(points[a : a + 7])) for a in range(0, 60, 7)]
    near(whole, np.vstack(blocks), "the features of a point alone and in a block")


def _dense(mapped: Any) -> NDArray[np.float64]:
    return np.asarray(mapped.toarray() if sp.issparse(mapped) else mapped, dtype=np.float64)


def gives_thresholds(_: str, component: Any) -> None:
    """Check that the rule learns a finite threshold for each class, and leaves its arguments unchanged."""
    values = np.random.default_rng(7).normal(size=(60, 3)) + 2 * (members := toy_problem(multilabel=True).members) - 1
    given, rule = (values.copy(), members.copy()), component()
    if not hasattr(rule, "fit"):
        return
    rule.fit(*given)
    thresholds = np.asarray(rule.thresholds_)
    holds(thresholds.shape == (3,), f"thresholds_ has the shape {thresholds.shape}, not (3,)")
    holds(np.isfinite(thresholds).all(), f"thresholds are {thresholds}")
    same = np.array_equal(given[0], values) and np.array_equal(given[1], members)
    holds(same, "values or members have changed")
