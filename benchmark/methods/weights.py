"""A problem's counts to the weights, points and inner products that a method asks for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.representation import canonical, normalized
from benchmark.representation.weightings import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.base import Problem, Stopwatch
    from benchmark.methods.workbench import Workbench
    from benchmark.representation import Weighting


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
        return matrix if terms is None else canonical(matrix[:, terms])  # once: all that is made of it would ask for it

    def points(self, representation: Representation) -> Any:
        """All documents over the selected terms, see `points_of`."""
        counts = self.selected_counts()
        return points_of(counts, representation, self.weighting(counts, representation))

    def weighting(self, counts: sp.csr_array, representation: Representation) -> Weighting:
        """What the split's documents tell about the terms of `counts`, of which it has all documents."""
        return learned_weighting(self.problem, counts, representation, self.split, self.selected_terms())

    def products(
        self,
        representation: Representation,
        exponent: float,
        watch: Stopwatch,
        *,
        by_class: bool = False,
        once: bool = False,
    ) -> InnerProducts:
        """The inner products that the split's kernel values are made of, with columns for all that it trains on.

        Without selected terms they are shared by the splits, and by all methods that have the same; unless they are
        needed `once`. `by_class` as of `Workbench.products`.
        """
        rows = learned_rows(self.problem, representation, self.split)
        if self.terms is None:
            alone = differs_by_split(representation)
            columns = self.split.train if alone else self._columns()
            how = {"by_class": by_class, "once": by_class and (once or alone)}
            held = self.bench.products(self.problem, representation, exponent, columns, rows, **how)
            watch.book("products", held.seconds)
            return held.products
        counts = self.selected_counts()
        watch.lap("extraction")
        weighting = self.weighting(counts, representation)
        if representation.dirichlet:
            weights = weighting.transform(counts)
            products = self.bench.smoothed(weights, exponent, representation.dirichlet)
        else:
            points = points_of(counts, representation, weighting)
            train = self.split.train
            labels = None if self.problem.several else self.problem.documents.labels[train]
            products = self.bench.of_points(points, representation.normalization, exponent, train, labels)
        watch.lap("products")
        return products

    def _columns(self) -> NDArray[np.intp]:
        """Documents that the splits of the experiment train on, or of these splits where others aren't known."""
        known, splits = self.problem.trained, trained_by(self.splits)
        return splits if known is None or not np.isin(splits, known, assume_unique=True).all() else known


def named(
    problem: Problem,
    spec: MethodSpec,
    method: type,
    what: str,
    split: Split | None = None,
    terms: tuple[int | None, str] = (None, ""),
    **more: Any,
) -> tuple[str, list[type], dict[str, Any]]:
    """Return words, code and content that name arrays which a kernel makes of documents, for `Workbench.cached`.

    Parameters
    ----------
    problem : Problem
    spec : MethodSpec
        Its classifier isn't part of the name.
    method : type
        The class that makes the arrays.
    what : str
        Words for them.
    split : Split, optional
        Whose documents they are made of; all documents unless given.
    terms : (int or None, str)
        How many terms are selected, and how gains are aggregated.
    **more
        What else decides them.
    """
    representation, kernel = spec.representation, spec.kernel
    parts = [part.cls for part in (representation.weighting, representation.features, kernel) if part is not None]
    rows = [] if split is None else [hashlib.sha256(each.tobytes()).hexdigest() for each in (split.train, split.test)]
    content = {
        "what": what,
        "problem": problem.key,
        "rows": rows,
        "representation": representation.resolved,
        "kernel": None if kernel is None else kernel.resolved,
        "terms": list(terms),
        "seed": [problem.seed, None if split is None else split.number],
        **more,
    }
    n = len(problem.documents if split is None else split.train)
    return f"{what}, {n:,} documents of {len(problem.documents.classes)} classes", [method, *parts], content


def trained_by(splits: Iterable[Split]) -> NDArray[np.intp]:
    """Return the rows that any of the splits trains on, ascending."""
    return np.unique(np.concatenate([split.train for split in splits]))


def shared_products(spec: MethodSpec) -> tuple[Any, ...]:
    """The same for methods that share a matrix of inner products, where terms aren't selected."""
    representation = spec.representation
    idf = representation.idf if learns(representation) else ""
    kernel = spec.kernel.build() if spec.kernel else None
    exponent = kernel.exponent if isinstance(kernel, Kernel) else None
    fields = (representation.normalization, *representation.fields) if representation.fields else ()
    return str(representation.weighting.plain), idf, fields, representation.dirichlet, exponent


def learns(representation: Representation) -> str:
    """What its weighting learns from, see `Weighting.learns`."""
    return str(representation.weighting.build().learns)


def learned_rows(problem: Problem, representation: Representation, split: Split) -> NDArray[np.intp] | None:
    """Documents that a weighting learns from; None where it learns nothing."""
    if not learns(representation):
        return None
    return np.arange(len(problem.documents)) if representation.idf == "collection" else split.train


def differs_by_split(representation: Representation) -> bool:
    """Whether a document's weights depend on which documents are trained on."""
    return bool(learns(representation)) and representation.idf == "training"


def fitted_weighting(
    problem: Problem,
    counts: sp.csr_array,
    representation: Representation,
    rows: NDArray[np.intp] | None,
    terms: NDArray[np.intp] | None = None,
) -> Weighting:
    """A weighting that has learned from the documents at `rows`.

    Parameters
    ----------
    problem : Problem
    counts : CSR array, shape (n, V)
        Of all its documents, over all terms or those of its columns that `terms` names.
    representation : Representation
    rows : intp array or None
        None where there is nothing to learn.
    terms : intp array, shape (V,), or None
    """
    built: Weighting = representation.weighting.build()
    if rows is None:
        built.fit(counts)
    else:
        built.fit(counts[rows], problem.members[rows] if learns(representation) == LABELS else None)
    if not representation.fields:
        return built
    block_of, weights = problem.counts.block_of, dict(representation.fields)
    each = np.array([weights.get(name, 0.0) for name in problem.counts.blocks])
    return built.of_blocks(block_of if terms is None else block_of[terms], each, representation.normalization)


def learned_weighting(
    problem: Problem,
    counts: sp.csr_array,
    representation: Representation,
    split: Split,
    terms: NDArray[np.intp] | None = None,
) -> Weighting:
    """As `fitted_weighting`, from the documents that the representation says."""
    return fitted_weighting(problem, counts, representation, learned_rows(problem, representation, split), terms)


def points_of(counts: sp.csr_array, representation: Representation, weighting: Weighting) -> Any:
    """Any documents to points: weights, each row divided by its norm over the terms of `counts`, then features.

    Returns
    -------
    CSR array, shape (n, V); or features, CSR or dense, shape (n, D)
        Always fresh.
    """
    points = normalized(weighting.transform(counts), representation.normalization)
    return points if representation.features is None else representation.features.build().fit_transform(points)
