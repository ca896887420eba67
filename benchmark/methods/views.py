"""Views of documents: what a method takes of them, and the points that are made of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.methods.vectors import vectors_of
from benchmark.representation import normalize_rows
from benchmark.representation.weightings import FROM_LABELS

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.problem import Problem
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


def fitted_weighting(
    problem: Problem,
    counts: sp.csr_array,
    representation: Representation,
    rows: NDArray[np.intp] | None,
    terms: NDArray[np.intp] | None = None,
) -> Weighting:
    """Return the representation's weighting, fitted on the documents at `rows`.

    Parameters
    ----------
    problem : Problem
    counts : CSR array, shape (n, V)
        Counts of all documents of the problem, over the columns `terms`.
    representation : Representation
    rows : intp array or None
        Documents to learn from; None for a weighting that learns nothing.
    terms : intp array, shape (V,), or None
        Columns of the problem's counts; None for all.
    """
    built: Weighting = representation.weighting.build()
    if representation.fields:
        (block_of, names), weights = (problem.counts.block_of, problem.counts.blocks), dict(representation.fields)
        by_block = np.array([weights.get(name, 0.0) for name in names])
        chosen = block_of if terms is None else block_of[terms]
        built.of_blocks(chosen, by_block, representation.normalization, names)
    if rows is None:
        return built.fit(counts)
    return built.fit(counts[rows], problem.members[rows] if representation.learns == FROM_LABELS else None)


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
