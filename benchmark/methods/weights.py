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

    def selected_terms(self) -> NDArray[np.intp] | None:
        """Columns of the selected terms, the best first; None where all are taken.

        Raises
        ------
        ValueError
            If there are not so many terms.
        """
        if self.terms is None:
            return None
        return self.bench.rankings(self.problem, self.split).of_all(self.terms, self.over_classes)

    def selected_counts(self) -> sp.csr_array:
        """Counts of all documents, shape (n, V), or of the `selected_terms` alone."""
        matrix, terms = self.problem.counts.matrix, self.selected_terms()
        return matrix if terms is None else matrix[:, terms]

    def points(self, representation: Representation) -> sp.csr_array:
        """All documents over the selected terms, weighted and normalized, shape (n, V)."""
        counts = self.selected_counts()
        return points_of(counts, representation, self.idf(counts, representation))

    def idf(self, counts: sp.csr_array, representation: Representation) -> NDArray[np.float64] | None:
        """The inverse document frequency of the terms of `counts`, of which it has all documents; None without."""
        return idf_of(counts, idf_rows(self.problem, representation, self.split))

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
            weights = weights_of(counts, representation, idf_of(counts, rows))
            products = self.bench.smoothed(weights, exponent, representation.dirichlet)
        else:
            points = points_of(counts, representation, idf_of(counts, rows))
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


def idf_of(counts: sp.csr_array, rows: NDArray[np.intp] | None) -> NDArray[np.float64] | None:
    """The inverse document frequency over the documents at `rows`, shape (V,); None without them."""
    return None if rows is None else inverse_document_frequency(counts[rows])


def weights_of(counts: sp.csr_array, representation: Representation, idf: NDArray[np.float64] | None) -> sp.csr_array:
    """TF, binary or TF×IDF weights of any documents; a fresh array, shape (n, V)."""
    return weight_terms(counts, idf, binary=representation.weighting == "binary")


def points_of(counts: sp.csr_array, representation: Representation, idf: NDArray[np.float64] | None) -> sp.csr_array:
    """Normalized weights: each row divided by its norm over the terms of `counts`; a fresh array, shape (n, V)."""
    weights = weights_of(counts, representation, idf)
    weights.data /= np.repeat(norms(weights, representation.normalization), np.diff(weights.indptr))
    return weights
