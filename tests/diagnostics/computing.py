"""Numbers of a diagnostic on documents with given counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.corpus import Documents
from benchmark.diagnostics.base import DiagnosticContext
from benchmark.text.counts import Counts
from tests.builders import small_experiment

if TYPE_CHECKING:
    from benchmark.diagnostics.base import Diagnostic, DiagnosticNumbers


def counts_of(matrix: Any, labels: Any = None, classes: tuple[str, ...] = ("a", "b", "c"), **more: Any) -> Counts:
    """Make counts of documents of one part; `more` has topics, parts and part_names."""
    n = len(matrix)
    labels = np.zeros(n) if labels is None else np.array(labels)
    parts = np.array(more.get("parts", np.zeros(n)), dtype=np.int32)
    ids, names = tuple(f"d{i}" for i in range(n)), more.get("part_names", ("all",))
    documents = Documents(ids, labels.astype(np.int32), parts, classes, names, more.get("topics"))
    words = tuple(f"w{i}" for i in range(len(matrix[0])))
    return Counts(documents, sp.csr_array(np.asarray(matrix, dtype=np.int32)), words)


def computed(
    diagnostic: Diagnostic, counts: Any, once: Any = None, seed: int = 0, variant: str = "base", **changes: Any
) -> DiagnosticNumbers:
    """Compute a diagnostic under a variant of a configuration with these changes; without `once`, nothing is stored."""
    described = small_experiment(**changes).variants[variant]
    return diagnostic.compute(DiagnosticContext(counts, described, seed, 1, once or (lambda _, compute: compute())))


def values_of(found: DiagnosticNumbers) -> dict[tuple[str, str], float]:
    """Return the value of each row and metric."""
    return {(row.cell, row.metric): row.estimate.value for row in found.rows}
