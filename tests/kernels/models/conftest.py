"""What the tests of PLSI share, and what those of the TOP kernel do: collections drawn from a model, models of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.kernels.hp_top import HyperplaneTop
from benchmark.kernels.plsi import PLSI, FittedPLSI
from tests.kernels.models.drawn import draw_counts, draw_points

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def counts() -> NDArray[np.int64]:
    return draw_counts(40, seed=1)


@pytest.fixture(scope="module")
def fitted(counts: NDArray[np.int64]) -> FittedPLSI:
    return PLSI(n_classes=3).fit(counts)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2004)


@pytest.fixture
def corpus(rng: np.random.Generator) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    return draw_points(rng, 60)


@pytest.fixture
def top(corpus: tuple[sp.csr_array, NDArray[np.bool_]]) -> HyperplaneTop:
    return HyperplaneTop(target=1).fit(*corpus)
