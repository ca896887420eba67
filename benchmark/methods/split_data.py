"""Views of documents, and what is computed of a split: its weights, points and inner products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.methods.problem import LearnedClasses
from benchmark.methods.vectors import vectors_of
from benchmark.representation import canonical_csr, normalize_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation
    from benchmark.evaluation.splits import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.methods.stopwatch import Stopwatch
    from benchmark.representation import Weighting


def takes_counts(spec: MethodSpec) -> bool:
    """Return whether a method takes points made of counts, not texts or vectors."""
    return spec.vectors is None and not spec.classifier.tags.reads_texts


def inputs_of(spec: MethodSpec, problem: Problem) -> Any:
    """Return what a method takes of all documents of a problem.

    Returns
    -------
    CSR array, shape (n, V); array of str, shape (n,); or array, shape (n, d)
        Counts, texts or vectors.

    Raises
    ------
    ValueError
        If the documents have no texts, a document has no vector, or a column of the vectors is the label.
    DataError
        If the file of vectors can't be read, or was changed since the configuration was.
    """
    if spec.vectors is not None:
        return vectors_of(spec.vectors, spec.representation.normalization, problem.documents)
    if not spec.classifier.tags.reads_texts:
        return problem.counts.matrix
    if problem.texts is None:
        raise ValueError("the documents have no texts here")
    return problem.texts.strings()


def weighting_rows(problem: Problem, representation: Representation, split: Split) -> NDArray[np.intp] | None:
    """Return the rows of the documents that the weighting learns from; None where it learns nothing."""
    if not representation.learns:
        return None
    return np.arange(len(problem.documents)) if representation.idf == "collection" else split.train


def depends_on_split(representation: Representation) -> bool:
    """Return whether a document's weights depend on the training documents of the split."""
    return bool(representation.learns) and representation.idf == "training"


@dataclass(frozen=True, eq=False)
class FittedView:
    """How documents become points, with what was learned of it.

    Parameters
    ----------
    weighting : Weighting or None
        Fitted weighting; None where documents are texts or vectors, which stay as they are.
    normalization : {"none", "l1", "l2"}
    dirichlet : float
        α of the Dirichlet prior of kernels; 0 for none.
    features : transformer or None
        Feature map of normalized points.
    terms : intp array, shape (V,), or None
        Columns of the terms to take from the counts of all terms, the best first; None to take all.
    """

    weighting: Weighting | None
    normalization: str = "none"
    dirichlet: float = 0.0
    features: Any = None
    terms: NDArray[np.intp] | None = None

    def own_terms(self, inputs: Any) -> Any:
        """Take the view's own terms from counts of all terms of its problem; texts and vectors stay as they are."""
        return inputs if self.terms is None else inputs[:, self.terms]

    def weights(self, inputs: Any) -> Any:
        """Return the weights of counts over its own terms, shape (m, V), or texts and vectors as they are."""
        return inputs if self.weighting is None else self.weighting.transform(inputs)

    def points(self, inputs: Any) -> Any:
        """Return the points of documents: weights, normalized over the view's own terms, then mapped to features.

        Parameters
        ----------
        inputs : CSR array, shape (m, V); array of str, shape (m,); or array, shape (m, d)
            Counts over its own terms, texts or vectors.

        Returns
        -------
        CSR array, shape (m, V), or features, CSR or dense, shape (m, D)
            A new array, but for texts and vectors.
        """
        if self.weighting is None:
            return inputs
        points = normalize_rows(self.weights(inputs), self.normalization)
        return points if self.features is None else self.features.fit_transform(points)


@dataclass(frozen=True, eq=False)
class SplitData:
    """Data of one split of a problem.

    Parameters
    ----------
    problem : Problem
    split : Split
    splits : sequence of Split
        The splits that are solved in the same call, including `split`.
    terms : int or None
        Number of terms to select; None for all.
    aggregate : str
        How the information gains of a term are aggregated over the classes.
    matrices : MatrixCache
    """

    problem: Problem
    split: Split
    splits: Sequence[Split]
    terms: int | None
    aggregate: str
    matrices: MatrixCache

    @classmethod
    def of(
        cls,
        problem: Problem,
        split: Split,
        splits: Sequence[Split],
        terms: int | None,
        aggregate: str,
        matrices: MatrixCache,
    ) -> Self:
        """Return the data of a split, over the terms of its training documents if the problem is pruned by split."""
        if problem.pruning is not None:
            problem, splits = problem.over_terms_of(split.train), [split]
        return cls(problem, split, splits, terms, aggregate, matrices)

    def alone_on(self, split: Split) -> Self:
        """Return the data of another split, solved without others."""
        return replace(self, split=split, splits=[split])

    @property
    def learned(self) -> LearnedClasses:
        """The classes that can be learned from the training documents."""
        return LearnedClasses.of(self.problem, self.split.train)

    @property
    def members(self) -> NDArray[np.bool_]:
        """Class indicators of the training documents, shape (n_train, k)."""
        return self.problem.members[self.split.train]

    @cached_property
    def selected_terms(self) -> NDArray[np.intp] | None:
        """Columns of the selected terms, the best first; None for all terms.

        Raises
        ------
        ValueError
            If there are fewer terms than are to be selected.
        """
        if self.terms is None:
            return None
        return self.matrices.rankings(self.problem, self.split).of_all(self.terms, self.aggregate)

    @cached_property
    def selected_counts(self) -> sp.csr_array:
        """Counts of all documents over the selected terms, shape (n, V)."""
        matrix, terms = self.problem.counts.matrix, self.selected_terms
        return matrix if terms is None else canonical_csr(matrix[:, terms])  # now, or each use would do it again

    def view(self, spec: MethodSpec) -> FittedView:
        """Fit the view of a method on the split's documents and terms."""
        return self.counts_view(spec.representation) if takes_counts(spec) else FittedView(None)

    def counts_view(self, representation: Representation) -> FittedView:
        """Fit the view of counts on the split's documents and terms."""
        counts, terms = self.selected_counts, self.selected_terms
        features = None if representation.features is None else representation.features.build()
        rows = weighting_rows(self.problem, representation, self.split)
        weighting = self.problem.weighting(counts, representation, rows, terms)
        return FittedView(weighting, representation.normalization, representation.dirichlet, features, terms)

    def points(self, spec: MethodSpec) -> Any:
        """Return the points of all documents over the selected terms, or their texts or vectors."""
        view = self.view(spec)
        return view.points(inputs_of(spec, self.problem) if view.weighting is None else self.selected_counts)

    def products(
        self,
        spec: MethodSpec,
        exponent: float,
        watch: Stopwatch,
        *,
        by_class: bool = False,
        once: bool = False,
    ) -> InnerProducts:
        """Return the inner products of the split's kernel, with a column for each of its training documents.

        Without selected terms, the splits and all methods with the same representation and exponent share them, unless
        they are needed only `once`. `by_class` as in `MatrixCache.products`.
        """
        representation = spec.representation
        rows = weighting_rows(self.problem, representation, self.split)
        if self.terms is None:
            alone = depends_on_split(representation)
            columns = self.split.train if alone else self._columns()
            how = {"by_class": by_class, "once": by_class and (once or alone)}
            products, seconds = self.matrices.products(self.problem, representation, exponent, columns, rows, **how)
            watch.book("products", seconds)
            return products
        counts, view = self.selected_counts, self.view(spec)
        watch.lap("extraction")
        if view.dirichlet:
            products = self.matrices.smoothed(view.weights(counts), exponent, view.dirichlet)
        else:
            train = self.split.train
            labels = None if self.problem.multilabel else self.problem.documents.labels[train]
            products = self.matrices.of_points(view.points(counts), view.normalization, exponent, train, labels)
        watch.lap("products")
        return products

    def _columns(self) -> NDArray[np.intp]:
        """Return the training rows of all splits of the experiment, or those of `splits` if the former lack any."""
        known, rows = self.problem.trained, training_rows_of(self.splits)
        return rows if known is None or not np.isin(rows, known, assume_unique=True).all() else known


def training_rows_of(splits: Iterable[Split]) -> NDArray[np.intp]:
    """Return the training rows of all splits together, ascending."""
    return np.unique(np.concatenate([split.train for split in splits]))


def products_key(spec: MethodSpec) -> tuple[Any, ...]:
    """Return a key that is equal for methods that can share a matrix of inner products over all terms."""
    representation = spec.representation
    idf = representation.idf if representation.learns else ""
    kernel = spec.kernel.build() if spec.kernel else None
    exponent = kernel.exponent if isinstance(kernel, Kernel) else None
    fields = (representation.normalization, *representation.fields) if representation.fields else ()
    return str(representation.weighting.plain), idf, fields, representation.dirichlet, exponent
