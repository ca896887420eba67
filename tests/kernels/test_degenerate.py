"""Parameters that make kernel values degenerate, and their neighbours that don't."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from benchmark.kernels import (
    CpdLogarithm,
    Diffusion,
    ExponentialGeodesicDistance,
    Heat,
    Kernel,
    Linear,
    NegativeGeodesicDistance,
    Polynomial,
    ProbabilityProduct,
    RadialBasisFunction,
    Sigmoid,
)
from benchmark.kernels.degenerate import degenerate_reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

EQUAL = "makes the kernel values of all pairs of different documents equal, up to rounding"
LARGE = "makes kernel values larger than 1e+150"


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (NegativeGeodesicDistance(shift=1e10), ""),
        (NegativeGeodesicDistance(shift=-1e10), ""),
        (NegativeGeodesicDistance(shift=1e12), EQUAL),
        (NegativeGeodesicDistance(shift=-1e12), EQUAL),
        (ExponentialGeodesicDistance(t=1e-3), ""),
        (ExponentialGeodesicDistance(t=1e-5), EQUAL),  # exp(-14000) between all but a document and itself
        (ExponentialGeodesicDistance(t=1e9), ""),
        (ExponentialGeodesicDistance(t=1e13), EQUAL),
        (Diffusion(t=1e-3), ""),
        (Diffusion(t=1e-6), EQUAL),
        (Diffusion(t=1e13), EQUAL),
        (CpdLogarithm(), ""),
        (ProbabilityProduct(rho=1e-3), ""),
        (Linear(), ""),
        (Polynomial(degree=9), ""),
        (Polynomial(degree=19), ""),  # (1e8)^19 > 1e150, but not of unit vectors
        (Polynomial(c=1e200), LARGE),
        (Polynomial(degree=2, c=1e30), EQUAL),
        (RadialBasisFunction(sigma=1e3), ""),  # vectors may be long
        (RadialBasisFunction(sigma=1e-3), ""),  # or short
        (RadialBasisFunction(sigma=1e30), EQUAL),
        (RadialBasisFunction(sigma=1e-30), EQUAL),
        (Sigmoid(kappa=1e-3), ""),
        (Sigmoid(kappa=1e3), ""),
        (Sigmoid(theta=50.0), EQUAL),
        (Heat(), ""),  # without values until it is fitted
    ],
    ids=repr,
)
def test_a_kernel_is_degenerate_where_it_is_so_at_every_length_of_documents(kernel: Kernel, reason: str) -> None:
    assert degenerate_reason(kernel) == reason


class Given(Kernel):
    """Its values are what a function of products and squared length gives."""

    def __init__(self, values: object, power: float = 1.0) -> None:
        self.values = values
        self.power = power

    @property
    def exponent(self) -> float:
        """Power of the coordinates."""
        return self.power

    def from_products(
        self, products: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Check the tile and compute its values."""
        assert products.shape == (1, len(right))
        assert left.shape == (1,)
        np.testing.assert_array_equal(right, np.full(len(right), left[0]))
        assert products[0, -1] == left[0]
        return np.asarray(self.values(products, float(left[0])))  # type: ignore[operator]


def test_lengths_of_counts_and_shares_are_tried_but_for_points_whose_power_is_of_unit_length() -> None:
    seen: list[float] = []
    for power, expected in ((1.0, [1e-8, 1e-4, 1e-2, 1.0, 1e4, 1e8]), (0.5, [1.0])):
        seen.clear()
        assert degenerate_reason(Given(lambda products, square: (seen.append(square), products)[1], power)) == ""
        assert seen == expected


def test_the_reason_is_that_of_unit_vectors() -> None:
    assert degenerate_reason(Given(lambda products, square: products * 0 if square == 1 else products * 1e200)) == EQUAL
    assert degenerate_reason(Given(lambda products, square: products * (1e200 if square == 1 else 0.0))) == LARGE


@pytest.mark.parametrize("length", [1e-8, 1e8])
def test_one_length_at_which_values_differ_is_enough(length: float) -> None:
    assert degenerate_reason(Given(lambda products, square: products * (square == length))) == ""


def test_values_that_cannot_be_computed_or_are_no_numbers_are_degenerate() -> None:
    def fails(products: NDArray[np.float64], _: float) -> NDArray[np.float64]:
        raise OverflowError("too long a way")

    def unfitted(products: NDArray[np.float64], _: float) -> NDArray[np.float64]:
        raise NotFittedError

    assert degenerate_reason(Given(fails)) == "makes kernel values that can't be computed (too long a way)"
    assert degenerate_reason(Given(unfitted)) == ""
    assert degenerate_reason(Given(lambda products, _: products * np.nan)) == LARGE
    assert degenerate_reason(Given(lambda products, square: -1e151 * products / square)) == LARGE


@pytest.mark.parametrize(("scale", "reason"), [(1e-98, ""), (1e-101, EQUAL), (1e149, ""), (2e150, LARGE)])
def test_products_of_two_values_must_not_leave_the_numbers(scale: float, reason: str) -> None:
    assert degenerate_reason(Given(lambda products, square: products / square * scale)) == reason


def test_a_document_and_itself_do_not_count() -> None:
    assert degenerate_reason(Given(lambda products, square: (products == square) * 1.0)) == EQUAL
    assert degenerate_reason(Given(lambda products, square: 1 + 1e-10 * products / square)) == ""
    assert degenerate_reason(Given(lambda products, square: 1 + 1e-12 * products / square)) == EQUAL
