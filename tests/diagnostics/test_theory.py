"""Numbers of papers that depend on no document: those of SciPy, and of the theorem."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.spatial import distance
from scipy.stats import entropy

from benchmark.diagnostics import DIAGNOSTICS
from tests.diagnostics.computing import values_of

NO_DOCUMENTS: Any = None


def test_the_three_measures_are_those_of_scipy_and_speeds_are_of_halves() -> None:
    x, q = (0.01, 0.2, 0.5, 0.99), (0.01, 0.99)
    built = DIAGNOSTICS["two-word-differences"](x=x)
    built.check()
    found = built.compute(NO_DOCUMENTS)
    curves = {(point.method, point.x): point.value for point in found.points}
    for p in ((each, 1 - each) for each in x):
        assert curves["symmetric-kl", p[0]] == pytest.approx(entropy(p, q) + entropy(q, p), abs=1e-12)
        assert curves["cosine-similarity", p[0]] == pytest.approx(1 - distance.cosine(p, q), abs=1e-12)
        assert curves["euclidean-distance", p[0]] == pytest.approx(distance.euclidean(p, q), abs=1e-12)
    speeds = values_of(found)
    for name in built.rows:
        first, middle, last = (curves[name, each] for each in (0.01, 0.5, 0.99))
        assert speeds[name, "speed-near"] == pytest.approx(2 * (middle - first) / (last - first), abs=1e-12)
        assert speeds[name, "speed-near"] + speeds[name, "speed-far"] == pytest.approx(2, abs=1e-12)
    assert speeds["euclidean-distance", "speed-far"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("x", [(0.5,), (0.0, 0.5), (0.5, 1.0), (0.5, 0.2)])
def test_shares_without_a_divergence_or_a_way_between_are_refused(x: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        DIAGNOSTICS["two-word-differences"](x=x).check()


def test_growth_is_that_of_the_theorem_beside_what_is_measured() -> None:
    built = DIAGNOSTICS["covering-growth"](dimension=[1, 3])
    found = {
        (cell, metric.rpartition("-")[2]): value
        for (cell, metric), value in values_of(built.compute(NO_DOCUMENTS)).items()
    }
    assert {cell for cell, _ in found} == set(built.rows)
    assert [found["theorem-n3", name] for name in ("epsilon", "time")] == [2.5, -1.5]
    assert found["torus-n1", "epsilon"] == pytest.approx(1.5, rel=0.01)  # whole numbers, without a second term
