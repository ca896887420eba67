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
from benchmark.methods.vectors import surplus_warnings
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


#: The warning of each library's classifier on each task, or "", see `changes_when_trained_again`.
_CHANGES: dict[str, str] = {}


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
        """Train on the splits in parallel and predict, see `Method.solve`."""
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
        warned += [] if spec.vectors is None else surplus_warnings(spec.vectors, problem.documents)
        if warned:
            predictions = [replace(each, warnings=(*each.warnings, *warned)) for each in predictions]
        return predictions if ours else warned_of_other_labels(predictions)

    def fit_split(self, work: SplitData) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        with blas_threads(1):
            train = self._over_all_classes(work).points(self.spec)[work.split.train]
            return FittedPoints(self._over_all_classes(work).view(self.spec), work.learned, self._models(work, train))

    def _over_all_classes(self, work: SplitData) -> SplitData:
        """Return the work with the number of terms selected for all classes: None where the classifier selects."""
        return replace(work, terms=None) if self._selects else work

    def _models(self, work: SplitData, train: Any) -> tuple[Any, ...]:
        """Train a classifier of all classes, or one of each learned class against the rest, on points."""
        labels = self._labels(work)
        if not (self._selects and work.terms is not None):
            return tuple(self._trained(work, train, each) for each in labels)
        rankings = work.matrices.rankings(work.problem, work.split).of_each()
        if work.problem.multilabel:  # a term's information gain is the same for a class and for the rest
            of_labels = [rankings[[column, column]] for column in work.learned.columns]
        else:
            of_labels = [rankings]
        return tuple(self._trained(work, train, *each) for each in zip(labels, of_labels, strict=True))

    def _labels(self, work: SplitData) -> list[NDArray[np.int32]]:
        """Return the labels of the training documents, or 1 and 0 for each learned class and the rest."""
        if not work.problem.multilabel:
            return [work.problem.documents.labels[work.split.train]]
        return [work.members[:, column].astype(np.int32) for column in work.learned.columns]

    def _trained(self, work: SplitData, train: Any, y: NDArray[np.int32], *rankings: NDArray[np.intp]) -> Any:
        """Train a classifier on points and labels, and for selected terms on their rankings, shape (k, V)."""
        classifier, problem = self.spec.classifier, work.problem
        parameters: dict[str, Any] = dict.fromkeys(seed_parameters(classifier), problem.seed)
        if rankings:
            parameters = {"n_terms": work.terms}
        classes = () if problem.multilabel else problem.documents.classes
        return checked_classifier(classifier.build(**parameters), classes).fit(train, y, *rankings)

    def _changes(self, work: SplitData, train: Any) -> tuple[str, ...]:
        """Return the warning that a library's classifier is not deterministic, once for each task and classifier."""
        classifier, labels = self.spec.classifier, self._labels(work)
        if not is_library_class(classifier.cls) or not labels:
            return ()
        key = f"{work.problem.key} {classifier.resolved}"
        if key not in _CHANGES:
            _CHANGES[key] = changes_when_trained_again(lambda X, y: self._trained(work, X, y), train, labels[0])
        return tuple(filter(None, (_CHANGES[key],)))
