"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


#: The warning of each library's classifier on each task, or "", see `changes_when_trained_again`.
_CHANGES: dict[str, str] = {}


@dataclass(frozen=True, eq=False)
class _Target:
    """Labels of the training documents, shape (n,), and for selected terms their rankings, shape (k, V), or None."""

    labels: NDArray[np.int32]
    rankings: NDArray[np.intp] | None


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
            models = [self._trained(work, train, target) for target in self._targets(work)]
            watch.lap("training")
            decisions = FittedPoints(FittedView(None), work.learned, tuple(models)).decide_points(test)
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
            models = tuple(self._trained(work, train, target) for target in self._targets(work))
            return FittedPoints(self._over_all_classes(work).view(self.spec), work.learned, models)

    def _over_all_classes(self, work: SplitData) -> SplitData:
        """Return the work with the number of terms selected for all classes: None where the classifier selects."""
        return replace(work, terms=None) if self._selects else work

    def _targets(self, work: SplitData) -> list[_Target]:
        """Return the target of all classes, or one of each learned class against the rest."""
        problem, rankings = work.problem, None
        if self._selects and work.terms is not None:
            rankings = work.matrices.rankings(problem, work.split).of_each()
        if not problem.multilabel:
            return [_Target(problem.documents.labels[work.split.train], rankings)]
        # A term's information gain is the same for a class and for the rest.
        return [
            _Target(work.members[:, c].astype(np.int32), None if rankings is None else rankings[[c, c]])
            for c in work.learned.columns
        ]

    def _trained(self, work: SplitData, train: Any, target: _Target) -> Any:
        """Train a classifier on points and labels."""
        classifier, problem = self.spec.classifier, work.problem
        if target.rankings is None:
            parameters: dict[str, Any] = dict.fromkeys(seed_parameters(classifier), problem.seed)
        else:
            parameters = {"n_terms": work.terms}
        classes = () if problem.multilabel else problem.documents.classes
        made = checked_classifier(classifier.build(**parameters), classes)
        return made.fit(train, target.labels, *([] if target.rankings is None else [target.rankings]))

    def _changes(self, work: SplitData, train: Any) -> tuple[str, ...]:
        """Return the warning that a library's classifier is not deterministic, once for each task and classifier."""
        classifier, targets = self.spec.classifier, self._targets(work)
        if not is_library_class(classifier.cls) or not targets:
            return ()
        key = f"{work.problem.key} {classifier.resolved}"
        if key not in _CHANGES:
            _CHANGES[key] = changes_when_trained_again(
                lambda X, y: self._trained(work, X, _Target(y, None)), train, targets[0].labels
            )
        return tuple(filter(None, (_CHANGES[key],)))
