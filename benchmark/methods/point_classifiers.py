"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.config.components import is_library_class, seed_parameters
from benchmark.methods.base import FittedMethod, Method
from benchmark.methods.checked_classifiers import (
    checked_classifier,
    collect_warnings,
    predicted_codes,
    value_of_class,
    warned_of_other_labels,
)
from benchmark.methods.problem import Decisions, Problem
from benchmark.methods.split_data import FittedView, SplitData, takes_counts
from benchmark.representation.selection import rank_terms
from benchmark.system.row_blocks import blas_threads, map_in_order
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.matrix_cache import MatrixCache

#: Documents that a library's classifier is trained on twice.
_TRAINED_TWICE = 200


@dataclass(frozen=True, eq=False)
class FittedPoints(FittedMethod):
    """Classifier of points, or one binary classifier for each learned class where documents may have several.

    Parameters
    ----------
    view : FittedView
    models : tuple of classifier
    """

    view: FittedView
    models: tuple[Any, ...]

    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions on documents, see `FittedMethod`.

        A user's classifier has the last word on the class; of ties, one of this package predicts the first of
        `classes_`. Of several classes, each against the rest, those with positive values are predicted.
        """
        points = self.view.points(inputs)
        if self.learned.multilabel:
            values = [value_of_class(model, points) for model in self.models]
            return self.learned.decide(np.array(values).reshape(-1, points.shape[0]).T)
        codes, tied, scores = predicted_codes(self.models[0], points)
        return Decisions(codes, tied, None if scores is None else self.learned.class_values(scores))


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
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the splits in parallel and predict, see `Method.solve`; one by one where each has its own words."""
        if terms is not None:
            if not takes_counts(self.spec):
                raise ValueError("texts and vectors have no terms that could be selected")
            for split in splits if problem.pruning is None else ():  # before the threads start: they share the gains
                self.data_of(problem, split, terms, matrices).gains()

        def one(split: Split) -> SettingPredictions:
            """Train on one split and predict its test documents."""
            work = self.data_of(problem, split, terms, matrices)
            return replace(self.solve_split(work), warnings=self._changes(work))

        ours, jobs = is_builtin(self.spec.classifier.cls), 1 if problem.pruning else matrices.jobs
        # A library's threads share the cores of a single split; several splits take a core each.
        threads = blas_threads(1) if ours else threadpool_limits(1 if len(splits) > 1 and jobs > 1 else matrices.jobs)
        with collect_warnings() as warned, threads:
            predictions = list(map_in_order(one, splits, jobs))
        predictions = predictions if ours else warned_of_other_labels(predictions)
        return [replace(each, warnings=(*each.warnings, *warned)) for each in predictions] if warned else predictions

    def fit(self, work: SplitData) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        view = work.view(self.spec)
        points = view.points(self.inputs(work, work.split.train))
        work.watch.lap("extraction")
        with blas_threads(1):
            models = tuple(self._models(work, points))
        for model in models:
            for name in getattr(model, "training_only", ()):
                vars(model).pop(name, None)
        return FittedPoints(work.learned, view, models)

    def _models(self, work: SplitData, train: Any) -> Iterator[Any]:
        """Yield a trained classifier of all classes, or one of each learned class against the rest."""
        component, problem = self.spec.classifier, work.whole
        parameters: dict[str, Any] = dict.fromkeys(seed_parameters(component), problem.seed)
        rankings = None
        if component.tags.selects_terms and work.terms is not None:
            rankings = rank_terms(work.gains())
            parameters = {"n_terms": work.terms}

        labels, members = problem.documents.labels[work.split.train], work.members.astype(np.int32)
        targets: list[tuple[Any, Sequence[str], Any]] = [(labels, problem.documents.classes, slice(None))]
        if problem.multilabel:  # labels are 1 and 0 for a class and the rest, of which a term has the same gain
            targets = [(members[:, column], (), [column, column]) for column in work.learned.columns]
        for y, classes, ranked in targets:
            classifier = checked_classifier(component.build(**parameters), classes)
            yield classifier.fit(train, y, *([] if rankings is None else [rankings[ranked]]))

    def _changes(self, work: SplitData) -> tuple[str, ...]:
        """Return a warning if a library's classifier, trained twice on 200 documents of the first split, changes."""
        if work.split.number != 1 or not is_library_class(self.spec.classifier.cls):
            return ()
        train = work.split.train
        rows = train[np.linspace(0, len(train) - 1, min(_TRAINED_TWICE, len(train))).astype(np.intp)]
        few = replace(work, split=replace(work.split, train=rows))
        points = work.view(self.spec).points(self.inputs(work, rows))
        try:
            once, again = (next(self._models(few, points)).predict(points) for _ in range(2))
        except ValueError:  # the few may all have the class, or lack one that it needs
            return ()
        if np.array_equal(once, again):
            return ()
        return ("not deterministic: trained again on the same documents, it predicts otherwise; so will another run",)
