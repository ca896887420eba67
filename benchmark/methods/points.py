"""Classifiers that take points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.blocks import blas_threads
from benchmark.evaluation.predictions import SettingPredictions
from benchmark.methods.answers import with_checks
from benchmark.methods.base import Stopwatch
from benchmark.methods.fitted import FittedPoints, inside_and_outside, learned_of
from benchmark.methods.learned import check_finite, decided_by_class, learned_classes
from benchmark.methods.weights import Work, differs_by_split, learned_weighting, points_of
from benchmark.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.base import Problem
    from benchmark.methods.workbench import Workbench


@dataclass(frozen=True, eq=False)
class _Given:
    """What one split's classifiers are trained on and asked about.

    Parameters
    ----------
    train, test : CSR arrays, shapes (n_train, V) and (m, V)
    terms : int or None
        How many terms a classifier selects for each class; None where it takes those it is given.
    rankings : intp array, shape (k, V), or None
        Terms of each class, the best first.
    """

    train: sp.csr_array
    test: sp.csr_array
    terms: int | None
    rankings: NDArray[np.intp] | None


@dataclass(frozen=True)
class PointClassifier:
    """A classifier of points, trained on each split: the largest score wins, ties go to the first of its `classes_`.

    Of documents with several classes, there is a classifier for each class against the others; a document is given
    the class if the score of being in it is larger than that of being outside.

    Parameters
    ----------
    spec : MethodSpec
        Without a kernel.
    over_classes : str
        How terms are ranked for all classes, where they are selected.
    batched : bool
        Whether the splits of a point are kept together.
    """

    spec: MethodSpec
    over_classes: str = "sum"
    batched: bool = False
    uses_seed: ClassVar[bool] = False

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: Workbench
    ) -> list[SettingPredictions]:
        """Train on each split and decide, side by side; see `Method.solve`."""
        representation = self.spec.representation
        for_each = tags_of(self.spec.classifier.cls).selects_terms
        if terms is not None:
            for split in splits:
                bench.rankings(problem, split)  # before there are threads: they share what is learned here
        alike = [None]
        if not differs_by_split(representation) and (terms is None or for_each):
            matrix = problem.counts.matrix
            alike = [points_of(matrix, representation, learned_weighting(problem, matrix, representation, splits[0]))]

        def one(split: Split) -> SettingPredictions:
            watch = Stopwatch()
            work = Work(problem, split, splits, terms, self.over_classes, bench)
            # Nobody else needs the points of a split that is alone: they aren't held while its rows are trained on.
            given = self._given(work, alike[0] if len(splits) > 1 else alike.pop())
            watch.lap("extraction")
            decide = self._several if problem.several else self._single
            return decide(problem, split, given, watch)

        with blas_threads(1), ThreadPoolExecutor(bench.jobs) as pool:
            return list(pool.map(one, splits))

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: Workbench) -> FittedPoints:
        """Train on a split, see `Method.fit`."""
        work = Work(problem, split, [split], terms, self.over_classes, bench)
        with blas_threads(1):
            given, learned = self._given(work, None), learned_of(self._own(work), self.spec)
            problems = [(problem.documents.labels[split.train], given.rankings)]
            if problem.several:
                problems = list(_each(work.members, learned.columns, given.rankings))
            return FittedPoints(learned, tuple(self._fitted(given, *each) for each in problems))

    def _own(self, work: Work) -> Work:
        """With the terms that are selected for all classes."""
        return replace(work, terms=None) if tags_of(self.spec.classifier.cls).selects_terms else work

    def _given(self, work: Work, alike: sp.csr_array | None) -> _Given:
        """Points of all documents, or `alike` where they are those of every split, to what is trained on and asked."""
        own, split = self._own(work), work.split
        points = own.points(self.spec.representation) if alike is None else alike
        for_each = work.terms if own.terms is None else None
        rankings = None if for_each is None else work.bench.rankings(work.problem, split).of_each()
        return _Given(points[split.train], points[split.test], for_each, rankings)

    def _single(self, problem: Problem, split: Split, given: _Given, watch: Stopwatch) -> SettingPredictions:
        model = self._fitted(given, problem.documents.labels[split.train], given.rankings)
        watch.lap("training")
        scores = check_finite(model.class_scores(given.test))
        codes = model.classes_[scores.argmax(axis=1)].astype(np.int32)
        tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
        watch.lap("testing")
        return SettingPredictions.of_split(codes, tied, watch.seconds())

    def _several(self, problem: Problem, split: Split, given: _Given, watch: Stopwatch) -> SettingPredictions:
        members = problem.members[split.train]
        columns, _ = learned_classes(members, problem.documents.classes)
        values = np.empty((len(split.test), len(columns)))
        for position, (inside, rankings) in enumerate(_each(members, columns, given.rankings)):
            model = self._fitted(given, inside, rankings)
            watch.lap("training")
            own, other = inside_and_outside(model, given.test)
            # Compared, not subtracted: the difference of two scores that differ may be 0.
            values[:, position] = (own > other).astype(np.float64) - (own < other)
            watch.lap("testing")
        return decided_by_class(members, columns, values, watch.seconds())

    def _fitted(self, given: _Given, labels: NDArray[np.int32], rankings: NDArray[np.intp] | None) -> Any:
        if given.terms is None:
            return with_checks(self.spec.classifier.build()).fit(given.train, labels)
        return with_checks(self.spec.classifier.build(n_terms=given.terms)).fit(given.train, labels, rankings)


def _each(
    members: NDArray[np.bool_], columns: NDArray[np.intp], rankings: NDArray[np.intp] | None
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.intp] | None]]:
    """Each class to be learned against the rest: which documents it has, and the terms of either side."""
    for column in columns:
        # What a term tells about a class it tells about the documents outside.
        yield members[:, column].astype(np.int32), None if rankings is None else rankings[[column, column]]
