"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.components import is_library_class, seed_parameters
from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import (
    changes_when_trained_again,
    checked_classifier,
    collect_warnings,
    warned_of_other_labels,
)
from benchmark.methods.fitted import FittedPoints
from benchmark.methods.split_data import FittedView, SplitData, depends_on_split, takes_counts
from benchmark.methods.stopwatch import Stopwatch
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, library_threads, map_in_order
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


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

    @property
    def _selects(self) -> bool:
        """Whether the classifier selects terms itself, for each class."""
        return tags_of(self.spec.classifier.cls).selects_terms

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the splits in parallel and predict, see `Method.solve`; one by one where each has its own terms."""
        if problem.pruning is not None:
            pruned_splits = ((problem.over_terms_of(split.train), split) for split in splits)
            return [each for pruned, split in pruned_splits for each in self.solve(pruned, [split], terms, matrices)]
        ours, spec = is_builtin(self.spec.classifier.cls), self.spec
        if terms is not None:
            if not takes_counts(spec):
                raise ValueError("texts and vectors have no terms that could be selected")
            for split in splits:
                matrices.rankings(problem, split)  # before the threads start: they share the rankings
        of_split = depends_on_split(spec.representation) or not (terms is None or self._selects)
        separate = takes_counts(spec) and of_split
        whole = SplitData(problem, splits[0], splits, None, self.aggregate, matrices)
        # Points of a single split are made below, and dropped before it trains on its rows.
        shared = None if separate or len(splits) == 1 else whole.points(spec)

        def one(split: Split) -> SettingPredictions:
            """Train on one split and predict its test documents."""
            watch, work = Stopwatch(), SplitData(problem, split, splits, terms, self.aggregate, matrices)
            points = self._over_all_classes(work).points(spec) if shared is None else shared
            train, test = points[split.train], points[split.test]
            del points
            watch.lap("extraction")
            models = self._models(work, train)
            watch.lap("training")
            decisions = FittedPoints(FittedView(None), work.learned, models).decide_points(test)
            watch.lap("testing")
            predictions = decisions.timed(watch.seconds())
            return replace(predictions, warnings=self._changes(work, train)) if split is splits[0] else predictions

        # A library's threads share the cores of a single split; several splits take a core each.
        threads = blas_threads(1) if ours else library_threads(1 if len(splits) > 1 else matrices.jobs)
        with collect_warnings(library=not ours) as warned, threads:
            predictions = list(map_in_order(one, splits, matrices.jobs))
        predictions = predictions if ours else warned_of_other_labels(predictions)
        return [replace(each, warnings=(*each.warnings, *warned)) for each in predictions] if warned else predictions

    def fit_split(self, work: SplitData) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        with blas_threads(1):
            whole = self._over_all_classes(work)
            models = self._models(work, whole.points(self.spec)[work.split.train])
        for model in models:
            for name in getattr(model, "training_only", ()):
                vars(model).pop(name, None)
        return FittedPoints(whole.view(self.spec), work.learned, models)

    def _over_all_classes(self, work: SplitData) -> SplitData:
        """Return the work with the number of terms selected for all classes: None where the classifier selects."""
        return replace(work, terms=None) if self._selects else work

    def _changes(self, work: SplitData, train: Any) -> tuple[str, ...]:
        """Return a warning if a library's classifier isn't deterministic, tried on the first split of a task."""
        if work.split.number != 1 or not is_library_class(self.spec.classifier.cls):
            return ()
        columns, labels = work.learned.columns, work.problem.documents.labels[work.split.train]
        if work.problem.multilabel:
            labels = work.members[:, columns[0]].astype(np.int32)
        return changes_when_trained_again(lambda X, y: self._trained(work, X, y), train, labels)

    def _models(self, work: SplitData, train: Any) -> tuple[Any, ...]:
        """Train a classifier of all classes, or one of each learned class against the rest, on points."""
        columns = work.learned.columns if work.problem.multilabel else [None]
        rankings = None
        if self._selects and work.terms is not None:
            rankings = work.matrices.rankings(work.problem, work.split).of_each()

        def one(column: int | None) -> Any:
            """Train on the labels, or on 1 and 0 for a class and the rest, of which a term has the same gain."""
            if column is None:
                labels = work.problem.documents.labels[work.split.train]
                return self._trained(work, train, labels, *([] if rankings is None else [rankings]))
            labels = work.members[:, column].astype(np.int32)
            return self._trained(work, train, labels, *([] if rankings is None else [rankings[[column, column]]]))

        return tuple(map(one, columns))

    def _trained(self, work: SplitData, train: Any, y: NDArray[np.int32], *rankings: NDArray[np.intp]) -> Any:
        """Train a classifier on points and labels, and for selected terms on their rankings, shape (k, V)."""
        classifier, problem = self.spec.classifier, work.problem
        parameters: dict[str, Any] = dict.fromkeys(seed_parameters(classifier), problem.seed)
        if rankings:
            parameters = {"n_terms": work.terms}
        classes = () if problem.multilabel else problem.documents.classes
        return checked_classifier(classifier.build(**parameters), classes).fit(train, y, *rankings)
