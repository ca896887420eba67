"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.components import is_library_class, seed_parameters
from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import checked_classifier, collect_warnings, warned_of_other_labels
from benchmark.methods.fitted import FittedPoints
from benchmark.methods.split_data import FittedView, SplitData, Stopwatch, depends_on_split, takes_counts
from benchmark.representation.selection import rank_terms
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, library_threads, map_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

#: Documents that a library's classifier is trained on twice.
_TRAINED_TWICE = 200


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
        spec, ours = self.spec, is_builtin(self.spec.classifier.cls)
        if terms is not None:
            if not takes_counts(spec):
                raise ValueError("texts and vectors have no terms that could be selected")
            if problem.pruning is None:
                for split in splits:
                    matrices.gains(problem, split.train)  # before the threads start: they share the gains
        jobs = 1 if problem.pruning else matrices.jobs
        own_terms = problem.pruning or not (terms is None or spec.classifier.tags.selects_terms)
        separate = takes_counts(spec) and (own_terms or depends_on_split(spec.representation))
        whole = SplitData(problem, splits[0], None, self.aggregate, matrices)
        # Points of a single split are made below, and dropped before it trains on its rows.
        shared = None if separate or len(splits) == 1 else whole.points(spec)

        def one(split: Split) -> SettingPredictions:
            """Train on one split and predict its test documents."""
            watch, work = Stopwatch(), self.data_of(problem, split, terms, matrices)
            points = work.points(spec) if shared is None else shared
            train, test = points[split.train], points[split.test]
            del points
            watch.lap("extraction")
            models = tuple(self._models(work, train))
            watch.lap("training")
            decisions = FittedPoints(FittedView(None), work.learned, models).decide_points(test)
            watch.lap("testing")
            return replace(decisions.timed(watch.seconds()), warnings=self._changes(work, train))

        # A library's threads share the cores of a single split; several splits take a core each.
        threads = blas_threads(1) if ours else library_threads(1 if len(splits) > 1 and jobs > 1 else matrices.jobs)
        with collect_warnings(library=not ours) as warned, threads:
            predictions = list(map_in_order(one, splits, jobs))
        predictions = predictions if ours else warned_of_other_labels(predictions)
        return [replace(each, warnings=(*each.warnings, *warned)) for each in predictions] if warned else predictions

    def fit(self, work: SplitData) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        with blas_threads(1):
            models = tuple(self._models(work, work.points(self.spec)[work.split.train]))
        for model in models:
            for name in getattr(model, "training_only", ()):
                vars(model).pop(name, None)
        return FittedPoints(work.view(self.spec), work.learned, models)

    def _models(self, work: SplitData, train: Any) -> Iterator[Any]:
        """Yield a trained classifier of all classes, or one of each learned class against the rest."""
        component, problem = self.spec.classifier, work.whole
        parameters: dict[str, Any] = dict.fromkeys(seed_parameters(component), problem.seed)
        rankings = None
        if component.tags.selects_terms and work.terms is not None:
            gains, _ = work.matrices.gains(problem, work.split.train)
            rankings, parameters = rank_terms(gains), {"n_terms": work.terms}

        def trained(y: NDArray[np.int32], classes: Sequence[str], rows: Any) -> Any:
            """Train on labels, and for selected terms on the rankings of the classes at some rows."""
            classifier = checked_classifier(component.build(**parameters), classes)
            return classifier.fit(train, y, *([] if rankings is None else [rankings[rows]]))

        if not problem.multilabel:
            labels = problem.documents.labels[work.split.train]
            yield trained(labels, problem.documents.classes, slice(None))
            return
        # Labels are 1 and 0 for a class and the rest, of which a term has the same gain.
        members = work.members.astype(np.int32)
        for column in work.learned.columns:
            yield trained(members[:, column], (), [column, column])

    def _changes(self, work: SplitData, train: Any) -> tuple[str, ...]:
        """Return a warning if a library's classifier, trained twice on 200 documents of the first split, changes."""
        if work.split.number != 1 or not is_library_class(self.spec.classifier.cls):
            return ()
        rows = np.linspace(0, train.shape[0] - 1, min(_TRAINED_TWICE, train.shape[0])).astype(np.intp)
        few = replace(work, split=replace(work.split, train=work.split.train[rows]))
        try:
            once, again = (next(self._models(few, train[rows])).predict(train[rows]) for _ in range(2))
        except ValueError:  # the few may all have the class, or lack one that it needs
            return ()
        if np.array_equal(once, again):
            return ()
        return ("not deterministic: trained again on the same documents, it predicts otherwise; so will another run",)
