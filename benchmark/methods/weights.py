"""A problem's counts to the weights, points and inner products that a method asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.representation import inverse_document_frequency, norms, weight_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import Representation
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.base import Problem, Stopwatch
    from benchmark.methods.workbench import Workbench


@dataclass(frozen=True, eq=False)
class Work:
    """One split to be solved, and all that it is solved with.

    Parameters
    ----------
    problem : Problem
    split : Split
    splits : sequence of Split
        Those that are solved with it, itself included.
    terms : int or None
        How many terms are selected; None for all.
    over_classes : str
        How they are ranked for all classes.
    bench : Workbench
    """

    problem: Problem
    split: Split
    splits: Sequence[Split]
    terms: int | None
    over_classes: str
    bench: Workbench

    @property
    def members(self) -> NDArray[np.bool_]:
        """Which classes each training document has, shape (n_train, k)."""
        return self.problem.members[self.split.train]

    def selected_counts(self) -> sp.csr_array:
        """Counts of all documents, shape (n, V), or of the selected terms alone, the best first.

        Raises
        ------
        ValueError
            If there are not so many terms.
        """
        matrix = self.problem.counts.matrix
        if self.terms is None:
            return matrix
        return matrix[:, self.bench.rankings(self.problem, self.split).of_all(self.terms, self.over_classes)]

    def points(self, representation: Representation) -> sp.csr_array:
        """All documents over the selected terms, weighted and normalized, shape (n, V)."""
        return points_of(self.selected_counts(), representation, idf_rows(self.problem, representation, self.split))

    def products(self, representation: Representation, exponent: float, watch: Stopwatch) -> InnerProducts:
        """The inner products that the split's kernel values are made of, with columns for all that it trains on.

        Without selected terms they are shared by the splits, and by all methods that have the same.
        """
        rows = idf_rows(self.problem, representation, self.split)
        if self.terms is None:
            alone = differs_by_split(representation)
            columns = self.split.train if alone else self.bench.columns(self.problem, self.splits)
            held = self.bench.products(self.problem, representation, exponent, columns, rows)
            watch.book("products", held.seconds)
            return held.products
        counts = self.selected_counts()
        watch.lap("extraction")
        if representation.dirichlet:
            weights = weights_of(counts, representation, rows)
            products = self.bench.smoothed(weights, exponent, representation.dirichlet)
        else:
            points = points_of(counts, representation, rows)
            products = self.bench.of_points(points, representation.normalization, exponent, self.split.train)
        watch.lap("products")
        return products


def idf_rows(problem: Problem, representation: Representation, split: Split) -> NDArray[np.intp] | None:
    """Documents the inverse document frequency is counted over; None for weightings without."""
    if representation.weighting != "tfidf":
        return None
    return np.arange(len(problem.documents)) if representation.idf == "collection" else split.train


def differs_by_split(representation: Representation) -> bool:
    """Whether a document's weights depend on which documents are trained on."""
    return representation.weighting == "tfidf" and representation.idf == "training"


def weights_of(counts: sp.csr_array, representation: Representation, rows: NDArray[np.intp] | None) -> sp.csr_array:
    """TF, binary or TF×IDF weights, the idf counted over `rows`; a fresh array, shape (n, V)."""
    idf = None if rows is None else inverse_document_frequency(counts[rows])
    return weight_terms(counts, idf, binary=representation.weighting == "binary")


def points_of(counts: sp.csr_array, representation: Representation, rows: NDArray[np.intp] | None) -> sp.csr_array:
    """Normalized weights: each row divided by its norm over the terms of `counts`; a fresh array, shape (n, V)."""
    weights = weights_of(counts, representation, rows)
    weights.data /= np.repeat(norms(weights, representation.normalization), np.diff(weights.indptr))
    return weights
