"""Views of documents, and what is computed of a split: its weights, points and inner products, and their seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.one_vs_one import class_blocks
from benchmark.evaluation.predictions import TIMERS
from benchmark.kernels.base import Kernel
from benchmark.methods.method_files import vectors_of
from benchmark.methods.problem import LearnedClasses, Problem, term_gains
from benchmark.representation.selection import GAIN_AGGREGATES, checked_n_terms, rank_terms
from benchmark.representation.weighting import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation
    from benchmark.evaluation.splits import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.representation import Weighting
    from benchmark.system.arrays import Array, Bools, Indices


#: Inner products that are used only once may take this fraction of the budget: computing them by tiles takes no longer
#: than allocating memory for all of them.
SINGLE_USE_FRACTION = 8


class Stopwatch:
    """Timer of the parts that `TIMERS` names."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(TIMERS, 0.0)
        self._last = time.perf_counter()

    def lap(self, part: str, seconds: float | None = None) -> None:
        """Add the time since the last lap to `part`, or else seconds that were measured elsewhere."""
        now = time.perf_counter()
        self._seconds[part] += now - self._last if seconds is None else seconds
        self._last = now

    def seconds(self) -> Array:
        """Return the seconds of each of `TIMERS`, shape (6,)."""
        return np.array(list(self._seconds.values()))


def takes_counts(spec: MethodSpec) -> bool:
    """Return whether a method takes points made of counts, not texts or vectors."""
    return spec.vectors is None and not spec.classifier.tags.reads_texts


def weighting_rows(problem: Problem, representation: Representation, split: Split) -> Indices | None:
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
    features : transformer or None
        Feature map of normalized points.
    """

    weighting: Weighting | None
    normalization: str = "none"
    features: Any = None

    def points(self, inputs: Any) -> Any:
        """Return the points of documents: weights, normalized, then mapped to features.

        Parameters
        ----------
        inputs : CSR array, shape (m, V); array of str, shape (m,); or array, shape (m, d)
            Counts, texts or vectors.

        Returns
        -------
        CSR array, shape (m, V), or features, CSR or dense, shape (m, D)
            A new array, but for texts and vectors.
        """
        if self.weighting is None:
            return inputs
        points = normalize_rows(self.weighting.transform(inputs), self.normalization)
        return points if self.features is None else self.features.fit_transform(points)


@dataclass(frozen=True, eq=False)
class SplitData:
    """Data of one split of a problem.

    Parameters
    ----------
    whole : Problem
        The documents over all terms that the split's pruning keeps.
    split : Split
    terms : int or None
        Number of terms to select; None for all.
    aggregate : str
        How the information gains of a term are aggregated over the classes.
    matrices : MatrixCache

    Attributes
    ----------
    watch : Stopwatch
        Times the work on the split.
    """

    whole: Problem
    split: Split
    terms: int | None
    aggregate: str
    matrices: MatrixCache
    watch: Stopwatch = field(default_factory=Stopwatch, init=False)

    @property
    def learned(self) -> LearnedClasses:
        """The classes that can be learned from the training documents."""
        return LearnedClasses.of(self.whole, self.split.train)

    @property
    def members(self) -> Bools:
        """Class indicators of the training documents, shape (n_train, k)."""
        return self.whole.members[self.split.train]

    def gains(self) -> Array:
        """Return the `term_gains` of the training documents, computed once."""
        whole, train = self.whole, self.split.train
        return self.matrices.remembered("gains", whole.key, train.tobytes(), lambda: term_gains(whole, train))

    @cached_property
    def problem(self) -> Problem:
        """The documents over the selected terms, the best first.

        Raises
        ------
        ValueError
            If there are fewer terms than are to be selected.
        """
        if self.terms is None:
            return self.whole
        gains = self.gains()
        checked_n_terms(self.terms, gains.shape[1])
        ranked = rank_terms(GAIN_AGGREGATES[self.aggregate](gains, self.members.mean(axis=0)))
        return self.whole.over_terms(ranked[: self.terms])

    def problem_of(self, spec: MethodSpec) -> Problem:
        """Return the documents as a method takes them: over all terms if its classifier selects terms by class."""
        return self.whole if spec.classifier.tags.selects_terms else self.problem

    def inputs(self, spec: MethodSpec, rows: Indices | slice = slice(None)) -> Any:
        """Return what a method takes of documents, by default of all.

        Returns
        -------
        CSR array, shape (m, V); array of str, shape (m,); or array, shape (m, d)
            Counts, texts or vectors.

        Raises
        ------
        ValueError
            If the documents have no texts, a document has no vector, or a column of the vectors is the label.
        DataError
            If the file of vectors can't be read, or was changed since the configuration was.
        """
        problem = self.problem_of(spec)
        if spec.vectors is not None:
            return vectors_of(spec.vectors, spec.representation.normalization, problem.documents)[rows]
        if not spec.classifier.tags.reads_texts:
            return problem.counts.matrix[rows]
        if problem.texts is None:
            raise ValueError("the documents have no texts here")
        return problem.texts.take(np.arange(len(problem.documents))[rows]).strings()

    def view(self, spec: MethodSpec) -> FittedView:
        """Fit the view of a method on the split's documents and terms."""
        if not takes_counts(spec):
            return FittedView(None)
        points = spec.representation
        features = None if points.features is None else points.features.build()
        weighting = self.problem_of(spec).weighting(points, weighting_rows(self.whole, points, self.split))
        return FittedView(weighting, points.normalization, features)

    def points(self, spec: MethodSpec) -> Any:
        """Return the points of all documents."""
        return self.view(spec).points(self.inputs(spec))

    def products(
        self, spec: MethodSpec, exponent: float, *, by_class: bool = False, once: bool = False
    ) -> InnerProducts:
        """Return the inner products of the split's kernel, with a column for each of its training documents.

        Splits and methods with the same representation and exponent share them, unless they are needed only `once`.
        `by_class` is True if the columns will be read class by class.
        """
        points, matrices, problem, columns = spec.representation, self.matrices, self.problem, self.split.train
        alone, known = depends_on_split(points), self.problem.trained
        if not alone and known is not None and np.isin(columns, known, assume_unique=True).all():
            columns = known  # of all splits of the experiment
        budget = matrices.budget // (SINGLE_USE_FRACTION if by_class and (once or alone) else 1)
        options: dict[str, Any] = {"dirichlet": points.dirichlet, "budget": budget if self.terms is None else 0}
        learned = weighting_rows(self.whole, points, self.split)

        def make() -> tuple[InnerProducts, float]:
            """Compute the inner products, and the seconds that every method adds to its own."""
            started = time.perf_counter()
            weights = problem.weighting(points, learned).transform(problem.counts.matrix)
            groups = _groups(problem.documents.labels[columns]) if by_class else None
            made = matrices.products(weights, exponent, columns, groups=groups, **options)
            return made, time.perf_counter() - started

        rows = [None if part is None else part.tobytes() for part in (learned, columns)]
        key = problem.key, weights_key(points), exponent, *rows, options["budget"]
        products, seconds = matrices.shared("products", key, make)
        self.watch.lap("products", seconds)
        return products


def training_rows_of(splits: Iterable[Split]) -> Indices:
    """Return the training rows of all splits together, ascending."""
    return np.unique(np.concatenate([split.train for split in splits]))


def products_key(spec: MethodSpec) -> tuple[Any, ...]:
    """Return a key that is equal for methods that can share a matrix of inner products over all terms."""
    idf = spec.representation.idf if spec.representation.learns else ""
    kernel = spec.kernel.build() if spec.kernel else None
    return weights_key(spec.representation), idf, kernel.exponent if isinstance(kernel, Kernel) else None


def weights_key(representation: Representation) -> tuple[Any, ...]:
    """Return what decides weights, of which inner products are made: blocks of terms are normalized in them."""
    blocks = (representation.normalization, *representation.fields) if representation.fields else ()
    return str(representation.weighting.plain), representation.dirichlet, blocks


def _groups(labels: NDArray[np.int32]) -> list[Indices]:
    """Return the columns sorted by class, in the groups that one-vs-one machines read."""
    by_class = [np.flatnonzero(labels == code) for code in np.unique(labels)]
    return [np.concatenate([by_class[code] for code in run]) for run in class_blocks(np.array([*map(len, by_class)]))]
