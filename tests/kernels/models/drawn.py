"""Collections drawn from a model, and the objective of PLSI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def draw_counts(n: int, seed: int) -> NDArray[np.int64]:
    """Draw counts of 30 words in documents with one or two topics; row 5 is empty, the last word never occurs."""
    n_words, n_topics = 30, 4
    rng = np.random.default_rng([2004, seed])
    topics = np.random.default_rng(0).dirichlet(np.full(n_words, 0.2), size=n_topics)
    counts = np.array(
        [rng.multinomial(rng.integers(5, 60), rng.dirichlet(np.full(n_topics, 0.2)) @ topics) for _ in range(n)]
    )
    counts[5] = 0
    counts[:, -1] = 0
    return counts


def objective(counts: NDArray[Any], theta: Array, phi: Array) -> float:
    """Compute the objective of EM in nats per word, from dense arrays."""
    s = theta @ phi.T
    return float((counts[counts > 0] * np.log(s[counts > 0])).sum() / counts.sum())


def draw_points(rng: np.random.Generator, n: int) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    """Draw documents of unit length with one or two of 4 categories; each category has its words, of 25."""
    n_words, n_categories = 25, 4
    members = np.eye(n_categories, dtype=bool)[np.arange(n) % n_categories]
    members[(np.arange(n) % 9) == 2, 1] = True
    rates = 0.3 + members @ (rng.random((n_categories, n_words)) < 0.25) * 1.5
    counts = rng.poisson(rates)
    counts[counts.sum(axis=1) == 0, 0] = 1
    return sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True)), members
