"""What the tests of PLSI share, and what those of the TOP kernel do: collections drawn from a model, models of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.kernels.models.densities import DENSITIES
from benchmark.kernels.models.hp_top import HyperplaneTop
from benchmark.kernels.models.plsi import PLSI, Fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@pytest.fixture(scope="session")
def draw_counts() -> Callable[..., NDArray[np.int64]]:
    """Counts of 30 words in documents with one or two topics each; row 5 is empty, the last word never occurs."""
    n_words, n_topics = 30, 4

    def draw(n: int, seed: int) -> NDArray[np.int64]:
        rng = np.random.default_rng([2004, seed])
        topics = np.random.default_rng(0).dirichlet(np.full(n_words, 0.2), size=n_topics)
        counts = np.array(
            [rng.multinomial(rng.integers(5, 60), rng.dirichlet(np.full(n_topics, 0.2)) @ topics) for _ in range(n)]
        )
        counts[5] = 0
        counts[:, -1] = 0
        return counts

    return draw


@pytest.fixture(scope="module")
def counts(draw_counts: Callable[..., NDArray[np.int64]]) -> NDArray[np.int64]:
    return draw_counts(40, seed=1)


@pytest.fixture(scope="module")
def fitted(counts: NDArray[np.int64]) -> Fitted:
    return PLSI(n_classes=3).fit(counts)


@pytest.fixture(scope="session")
def objective() -> Callable[..., float]:
    """The objective of EM in nats per word, from dense arrays."""

    def of(counts: NDArray[Any], theta: Array, phi: Array, beta: float = 1.0) -> float:
        s = theta**beta @ (phi**beta).T
        return float((counts[counts > 0] * np.log(s[counts > 0])).sum() / counts.sum() / beta)

    return of


@pytest.fixture(scope="session")
def draw_points() -> Callable[[np.random.Generator, int], tuple[sp.csr_array, NDArray[np.bool_]]]:
    """Documents of unit length with one or two of 4 categories; each category has its words, of 25."""
    n_words, n_categories = 25, 4

    def draw(rng: np.random.Generator, n: int) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        members = np.eye(n_categories, dtype=bool)[np.arange(n) % n_categories]
        members[(np.arange(n) % 9) == 2, 1] = True
        rates = 0.3 + members @ (rng.random((n_categories, n_words)) < 0.25) * 1.5
        counts = rng.poisson(rates)
        counts[counts.sum(axis=1) == 0, 0] = 1
        return sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True)), members

    return draw


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2004)


@pytest.fixture
def corpus(
    draw_points: Callable[[np.random.Generator, int], tuple[sp.csr_array, NDArray[np.bool_]]],
    rng: np.random.Generator,
) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    return draw_points(rng, 60)


@pytest.fixture(params=list(DENSITIES))
def component(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def top(corpus: tuple[sp.csr_array, NDArray[np.bool_]], component: str) -> HyperplaneTop:
    return HyperplaneTop(component=component, target=1).fit(*corpus)
