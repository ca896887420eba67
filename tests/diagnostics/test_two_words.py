"""Measures of two distributions of two words: those of SciPy, and speeds whose mean is that of a straight line."""

from __future__ import annotations

import pytest
from scipy.spatial import distance
from scipy.stats import entropy

from benchmark.diagnostics import DIAGNOSTICS
from benchmark.diagnostics.base import DiagnosticArrays


def test_the_three_measures_are_those_of_scipy_and_speeds_are_of_halves() -> None:
    x, q = (0.01, 0.2, 0.5, 0.99), (0.01, 0.99)
    built = DIAGNOSTICS["two-word-differences"](x=x)
    built.check()
    found = built.numbers(DiagnosticArrays("base", built.compute(None)))
    curves = {(point.method, point.x): point.value for point in found.points}
    for p in ((each, 1 - each) for each in x):
        assert curves["symmetric-kl", p[0]] == pytest.approx(entropy(p, q) + entropy(q, p), abs=1e-12)
        assert curves["cosine-similarity", p[0]] == pytest.approx(1 - distance.cosine(p, q), abs=1e-12)
        assert curves["euclidean-distance", p[0]] == pytest.approx(distance.euclidean(p, q), abs=1e-12)
    speeds = {(row.cell, row.metric): row.estimate.value for row in found.rows}
    for name in built.rows:
        first, middle, last = (curves[name, each] for each in (0.01, 0.5, 0.99))
        assert speeds[name, "speed-near"] == pytest.approx(2 * (middle - first) / (last - first), abs=1e-12)
        assert speeds[name, "speed-near"] + speeds[name, "speed-far"] == pytest.approx(2, abs=1e-12)
    assert speeds["euclidean-distance", "speed-far"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("x", [(0.5,), (0.0, 0.5), (0.5, 1.0), (0.5, 0.2)])
def test_shares_without_a_divergence_or_a_way_between_are_refused(x: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        DIAGNOSTICS["two-word-differences"](x=x).check()
