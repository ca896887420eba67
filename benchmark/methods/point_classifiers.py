"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.components import is_library_class, seed_parameters
from benchmark.evaluation.predictions import SettingPredictions
from benchmark.methods.base import Method
from benchmark.methods.fitted import FittedPoints
from benchmark.methods.plugin_outputs import (
    checked_classifier,
    predicted_codes,
    value_of_class,
    with_other_labels_told,
)
from benchmark.methods.split_data import SplitData
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.training_warnings import changes_when_trained_again, collect_warnings
from benchmark.methods.vectors import surplus_warnings
from benchmark.methods.views import depends_on_split, takes_counts
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, library_threads, map_in_order
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.evaluation.protocols import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


#: The warning of each library's classifier on each task, or "", see `changes_when_trained_again`.
_CHANGES: dict[str, str] = {}


@dataclass(frozen=True, eq=False)
class _SplitPoints:
    """Training and test points of one split.

    Parameters
    ----------
    train, test : CSR arrays, shapes (n_train, V) and (m, V)
    terms : int or None
        How many terms the classifier selects for each class; None where it uses all V terms.
    rankings : intp array, shape (k, V), or None
        Terms of each class, the best first.
    seed : int
        The experiment's seed.
    classes : tuple of str
        Names of the classes by the codes of the labels; () where the labels are of one class against the rest.
    """

    train: sp.csr_array
    test: sp.csr_array
    terms: int | None
    rankings: NDArray[np.intp] | None
    seed: int
    classes: tuple[str, ...]


class PointClassifierMethod(Method):
    """Classifier of points made of counts, of texts or of vectors, trained on each split.

    It predicts the class with the largest score; ties go to the first of its `classes_`. Where documents may have
    several classes, a binary classifier is trained for each class against the rest, and the class is predicted if its
    score is larger than that of the rest.
    """

    @property
    def uses_seed(self) -> bool:
        """True if the classifier draws random numbers and the configuration doesn't give their seed."""
        return bool(seed_parameters(self.spec.classifier))

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the splits in parallel and predict, see `Method.solve`."""
        ours = is_builtin(self.spec.classifier.cls)
        if terms is not None:
            if not takes_counts(self.spec):
                raise ValueError("texts and vectors have no terms that could be selected")
            for split in splits:
                bench.rankings(problem, split)  # before the threads start: they share the rankings
        shared = [self._shared(problem, splits, terms, bench)]

        def one(split: Split) -> SettingPredictions:
            """Train on one split and predict its test documents."""
            watch = Stopwatch()
            work = SplitData(problem, split, splits, terms, self.aggregate, bench)
            # A single split pops the points, so that their memory is free while it trains on its rows.
            points = self._points(work, shared[0] if len(splits) > 1 else shared.pop())
            watch.lap("extraction")
            found = self._predictions(work, points, watch)
            return replace(found, warnings=self._changes(work, points)) if split is splits[0] else found

        # A library's threads share the cores of a single split; several splits take a core each.
        threads = blas_threads(1) if ours else library_threads(1 if len(splits) > 1 else bench.jobs)
        with collect_warnings(library=not ours) as said, threads:
            found = list(map_in_order(one, splits, bench.jobs))
        said += [] if self.spec.vectors is None else surplus_warnings(self.spec.vectors, problem.documents)
        found = [replace(each, warnings=(*each.warnings, *said)) for each in found] if said else found
        return found if ours else with_other_labels_told(found)

    def _shared(self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache) -> Any:
        """Return the points of all documents where all splits have the same; None where they don't."""
        for_each = tags_of(self.spec.classifier.cls).selects_terms
        if takes_counts(self.spec) and (
            (terms is not None and not for_each) or depends_on_split(self.spec.representation)
        ):
            return None
        return SplitData(problem, splits[0], splits, None, self.aggregate, bench).points(self.spec)

    def _changes(self, work: SplitData, points: _SplitPoints) -> tuple[str, ...]:
        """Return the warning that a library's classifier is not deterministic, once for each task and classifier."""
        classifier, problem, train = self.spec.classifier, work.problem, work.split.train
        if not is_library_class(classifier.cls):
            return ()
        key = f"{problem.key} {classifier.resolved}"
        if key not in _CHANGES:
            first = work.learned.columns[0] if problem.multilabel else 0
            labels = work.members[:, first].astype(np.int32) if problem.multilabel else problem.documents.labels[train]

            def again(X: sp.csr_array, y: NDArray[np.int32]) -> Any:
                return self._fitted(replace(points, train=X), y, None)

            _CHANGES[key] = changes_when_trained_again(again, points.train, labels)
        return tuple(filter(None, (_CHANGES[key],)))

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        work = SplitData(problem, split, [split], terms, self.aggregate, bench)
        with blas_threads(1):
            points = self._points(work, None)
            models = tuple(self._fitted(points, *target) for target in self._targets(work, points))
            return FittedPoints(self._for_all_classes(work).view(self.spec), work.learned, models)

    def _for_all_classes(self, work: SplitData) -> SplitData:
        """Return the work with the number of terms selected for all classes: None where the classifier selects."""
        return replace(work, terms=None) if tags_of(self.spec.classifier.cls).selects_terms else work

    def _points(self, work: SplitData, shared: Any) -> _SplitPoints:
        """Return the points of a split, as rows of `shared` where the splits have the same points."""
        whole, split = self._for_all_classes(work), work.split
        points = whole.points(self.spec) if shared is None else shared
        for_each = work.terms if whole.terms is None else None
        rankings = None if for_each is None else work.bench.rankings(work.problem, split).of_each()
        classes = () if work.problem.multilabel else work.problem.documents.classes
        parts = points[split.train], points[split.test]
        return _SplitPoints(*parts, for_each, rankings, work.problem.seed, classes)

    def _targets(
        self, work: SplitData, points: _SplitPoints
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.intp] | None]]:
        """Yield labels and rankings: of all classes, or of each learned class against the rest."""
        if not work.problem.multilabel:
            yield work.problem.documents.labels[work.split.train], points.rankings
            return
        for column in work.learned.columns:
            # A term's information gain is the same for a class and for the rest.
            rankings = None if points.rankings is None else points.rankings[[column, column]]
            yield work.members[:, column].astype(np.int32), rankings

    def _predictions(self, work: SplitData, points: _SplitPoints, watch: Stopwatch) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        learned, targets = work.learned, self._targets(work, points)
        if not work.problem.multilabel:
            model = self._fitted(points, *next(targets))
            watch.lap("training")
            codes, tied, scores = predicted_codes(model, points.test)
            watch.lap("testing")
            values = None if scores is None else learned.class_values(scores)
            return SettingPredictions.of_split(codes, tied, watch.seconds(), values)
        values = np.empty((len(work.split.test), len(learned.columns)))
        for position, target in enumerate(targets):
            model = self._fitted(points, *target)
            watch.lap("training")
            values[:, position] = value_of_class(model, points.test)
            watch.lap("testing")
        return learned.predictions(values, watch.seconds())

    def _fitted(self, points: _SplitPoints, labels: NDArray[np.int32], rankings: NDArray[np.intp] | None) -> Any:
        """Train a classifier on the training points and labels."""
        classifier = self.spec.classifier
        if points.terms is None:
            made = classifier.build(**dict.fromkeys(seed_parameters(classifier), points.seed))
            return checked_classifier(made, points.classes).fit(points.train, labels)
        made = classifier.build(n_terms=points.terms)
        return checked_classifier(made, points.classes).fit(points.train, labels, rankings)
