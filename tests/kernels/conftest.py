"""Every kernel, and counts to try it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from benchmark.system.tags import tags_of
from tests.kernels.cases import CASES, CONDITIONALLY_POSITIVE, INDEFINITE, KERNELS, VARIANTS, VOCABULARY, Case

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    """Each kernel × parameters × normalization."""
    return cast("Case", request.param)


@pytest.fixture(params=[case for case in CASES if case.name in CONDITIONALLY_POSITIVE], ids=str)
def cpd_case(request: pytest.FixtureRequest) -> Case:
    """The cases that promise to be conditionally positive definite."""
    return cast("Case", request.param)


@pytest.fixture(
    params=[case for case in CASES if case.name not in CONDITIONALLY_POSITIVE and case.name not in INDEFINITE], ids=str
)
def pd_case(request: pytest.FixtureRequest) -> Case:
    """The cases that promise to be positive definite."""
    return cast("Case", request.param)


@pytest.fixture(params=[case for case in CASES if tags_of(case.build()).normalizations == ("l1",)], ids=str)
def simplex_case(request: pytest.FixtureRequest) -> Case:
    """The cases that are defined for points on the simplex only."""
    return cast("Case", request.param)


@pytest.fixture(params=list(KERNELS))
def registered(request: pytest.FixtureRequest) -> Case:
    """Each kernel once, at the first of its parameters and its first normalization."""
    params = VARIANTS.get(request.param, [{}])[0]
    return Case(request.param, params, tags_of(KERNELS[request.param](**params)).normalizations[0])


@pytest.fixture(scope="session")
def counts() -> NDArray[np.int64]:
    """Term counts of 30 documents, shape (30, 12): two are equal, two proportional, one is empty, one has one term."""
    rng = np.random.default_rng(2005)
    counts = rng.poisson(0.8, size=(30, VOCABULARY))
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[7] = counts[3]
    counts[11] = 3 * counts[5]
    counts[19] = 0
    counts[20] = 0
    counts[20, 4] = 2
    return counts
