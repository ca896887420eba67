"""Sums of a kernel over blocks of terms: by hand, and what they have in common with the kernel of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from benchmark.kernels import Bhattacharyya, Linear, NegativeGeodesicDistance, SumOverFields
from benchmark.kernels.block_sum import BLOCK_KERNELS
from benchmark.representation import TermWeighting
from benchmark.representation.weightings import TermFrequency

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_OF = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
WEIGHTS = np.array([1.0, 0.5, 0.25])


@pytest.fixture
def counts() -> NDArray[np.int64]:
    """Of documents with terms of every block."""
    return np.random.default_rng(5).integers(1, 9, size=(14, 10))


def side_by_side(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points as a run has them."""
    points = TermFrequency().fit(counts).of_blocks(BLOCK_OF, weights, "l1").transform(counts).toarray()
    return np.asarray(points / points.sum(axis=1, keepdims=True))


def summed(of: str, points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return SumOverFields(of, BLOCK_OF, weights).fit(points).transform(points)


def test_it_is_the_weighted_mean_of_the_geodesic_distances(counts: NDArray[np.int64]) -> None:
    expected = np.zeros((14, 14))
    for block, weight in enumerate(WEIGHTS):
        own = counts[:, np.equal(BLOCK_OF, block)]
        p = own / own.sum(axis=1, keepdims=True)
        expected += weight * -2 * np.arccos(np.clip(np.sqrt(p) @ np.sqrt(p).T, 0, 1))
    np.testing.assert_allclose(summed("ngd", side_by_side(counts, WEIGHTS), WEIGHTS), expected / 1.75, atol=1e-6)


def test_of_affinities_it_is_the_kernel_of_the_whole(counts: NDArray[np.int64]) -> None:
    points = side_by_side(counts, WEIGHTS)
    whole = Bhattacharyya().fit(points).transform(points)
    np.testing.assert_allclose(summed("bhattacharyya", points, WEIGHTS), whole, rtol=1e-12)


def test_of_inner_products_under_equal_weights_too_but_for_a_factor(counts: NDArray[np.int64]) -> None:
    points = side_by_side(counts, np.ones(3))
    whole = Linear().fit(points).transform(points)
    np.testing.assert_allclose(summed("linear", points, np.ones(3)) / 3, whole, rtol=1e-12)


def test_of_distances_it_is_another_than_the_kernel_of_the_whole(counts: NDArray[np.int64]) -> None:
    points = side_by_side(counts, WEIGHTS)
    whole = NegativeGeodesicDistance().fit(points).transform(points)
    assert np.abs(summed("ngd", points, WEIGHTS) - whole).max() > 0.01


@pytest.mark.parametrize("of", BLOCK_KERNELS)
def test_of_one_block_it_is_the_kernel(of: str, counts: NDArray[np.int64]) -> None:
    points = TermWeighting(normalization="l1").fit_transform(counts)
    np.testing.assert_allclose(
        SumOverFields(of).fit(points).transform(points), BLOCK_KERNELS[of]().fit(points).transform(points), atol=1e-7
    )


@pytest.mark.parametrize("of", BLOCK_KERNELS)
def test_it_is_conditionally_positive_definite_also_where_a_block_is_missing(
    of: str, counts: NDArray[np.int64]
) -> None:
    counts[:5, BLOCK_OF == 1] = 0
    gram = summed(of, side_by_side(counts, WEIGHTS), WEIGHTS)
    np.testing.assert_allclose(gram, gram.T, atol=1e-9)
    centring = np.eye(14) - 1 / 14
    assert np.linalg.eigvalsh(centring @ gram @ centring)[0] > -1e-6


def test_a_block_of_weight_0_has_no_say(counts: NDArray[np.int64]) -> None:
    weights = np.array([1.0, 0.0, 0.5])
    other = counts.copy()
    other[:, BLOCK_OF == 1] = other[::-1, BLOCK_OF == 1]
    one, two = (summed("ngd", side_by_side(each, np.ones(3)), weights) for each in (counts, other))
    np.testing.assert_allclose(one, two, rtol=1e-12)


def test_another_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="of"):
        SumOverFields("rbf").check()


@pytest.mark.parametrize("weights", [[1.0, 0.5, 0.25], [3.0, 0.0, 0.5], [0.0, 0.0, 2.0], [0.1, 0.1, 0.1]])
@pytest.mark.parametrize("of", BLOCK_KERNELS)
def test_the_shares_of_the_blocks_sum_to_one(of: str, weights: list[float], counts: NDArray[np.int64]) -> None:
    points, given = side_by_side(counts, np.ones(3)), np.array(weights)
    kernel = SumOverFields(of, BLOCK_OF, given).fit(points[:9])
    blocks = [block for block in range(3) if weights[block]]
    np.testing.assert_allclose(kernel.shares_, given[blocks] / sum(weights))
    assert [columns.tolist() for columns in kernel.columns_] == [np.flatnonzero(b == BLOCK_OF).tolist() for b in blocks]
    expected = np.zeros((5, 9))
    for block in blocks:
        own = points[:, np.equal(BLOCK_OF, block)]
        own = own / own.sum(axis=1, keepdims=True)
        expected += weights[block] / sum(weights) * BLOCK_KERNELS[of]().fit(own[:9]).transform(own[9:])
    np.testing.assert_allclose(kernel.transform(points[9:]), expected, atol=1e-7)


def test_negative_coordinates_are_refused_where_the_kernel_of_the_blocks_refuses_them() -> None:
    points = np.array([[1.5, -0.5, 1.0], [0.5, 0.5, 2.0]])
    for of, negative in (("linear", False), ("ned", False), ("ngd", True), ("bhattacharyya", True)):
        kernel = SumOverFields(of, np.array([0, 0, 1]), np.ones(2))
        assert kernel.non_negative == negative
        if negative:
            with pytest.raises(ValueError, match="Negative values"):
                kernel.fit(points)
        else:
            assert np.isfinite(kernel.fit(points).transform(points)).all()


def test_points_are_asked_for_after_the_training_points_and_of_their_width(counts: NDArray[np.int64]) -> None:
    with pytest.raises(NotFittedError):
        SumOverFields().transform(counts)
    kernel = SumOverFields("linear", BLOCK_OF, WEIGHTS).fit(counts)
    with pytest.raises(ValueError, match="X has 9 features, but SumOverFields is expecting 10"):
        kernel.transform(counts[:, 1:])
