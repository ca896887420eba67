"""Classes of documents to take centroids of."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def draw_documents(n: int, v: int, *, seed: int = 0, length: int = 40) -> sp.csr_array:
    """Draw term counts of n documents over V words whose frequencies fall like 1/rank, in no order; some unseen."""
    rng = np.random.default_rng([seed, n, v])
    frequencies = 1 / np.arange(1, v + 1)
    rng.shuffle(frequencies)
    topic = 5 * frequencies / frequencies.min() / v
    counts = [rng.multinomial(rng.integers(length // 2, 2 * length), rng.dirichlet(topic)) for _ in range(n)]
    return sp.csr_array(np.array(counts))
