"""Classifiers of points: naive Bayes and its relatives, and linear models without a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.components import is_library_class, takes_seed
from benchmark.evaluation.predictions import SettingPredictions
from benchmark.methods.fitted import FittedPoints, trained_state
from benchmark.methods.multilabel import learned_classes, multilabel_predictions
from benchmark.methods.plugin_outputs import (
    checked_classifier,
    predicted_codes,
    scores_of_all_classes,
    value_of_class,
    with_other_labels_told,
)
from benchmark.methods.split_data import SplitData
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.training_warnings import changes_when_trained_again, collect_warnings
from benchmark.methods.weighted_counts import depends_on_split, split_weighting, weighted_points
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, library_threads, map_in_order
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
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


@dataclass(frozen=True)
class PointClassifierMethod:
    """Classifier of points, trained on each split.

    It predicts the class with the largest score; ties go to the first of its `classes_`. Where documents may have
    several classes, a binary classifier is trained for each class against the rest, and the class is predicted if its
    score is larger than that of the rest.

    Parameters
    ----------
    spec : MethodSpec
        Specification without a kernel.
    aggregate : str
        How the information gains of a term are aggregated over the classes, where terms are selected.
    batched : bool
        True if the splits of a setting are stored as one entry.
    """

    spec: MethodSpec
    aggregate: str = "sum"
    batched: bool = False

    @property
    def uses_seed(self) -> bool:
        """True if the classifier of a library draws random numbers and the configuration doesn't give their seed."""
        return takes_seed(self.spec.classifier)

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the splits in parallel and predict, see `Method.solve`."""
        representation = self.spec.representation
        for_each = tags_of(self.spec.classifier.cls).selects_terms
        if terms is not None:
            for split in splits:
                bench.rankings(problem, split)  # before the threads start: they share the rankings
        whole = terms is None or for_each
        shared = [self._shared(problem, splits) if whole and not depends_on_split(representation) else None]

        def one(split: Split) -> SettingPredictions:
            """Train on one split and predict its test documents."""
            watch = Stopwatch()
            work = SplitData(problem, split, splits, terms, self.aggregate, bench)
            # A single split pops the points, so that their memory is free while it trains on its rows.
            points = self._points(work, shared[0] if len(splits) > 1 else shared.pop())
            watch.lap("extraction")
            decide = self._several if problem.multilabel else self._single
            found = decide(problem, split, points, watch)
            return replace(found, warnings=self._changes(problem, split, points)) if split is splits[0] else found

        ours = is_builtin(self.spec.classifier.cls)
        # A library's threads share the cores of a single split; several splits take a core each.
        threads = blas_threads(1) if ours else library_threads(1 if len(splits) > 1 else bench.jobs)
        with collect_warnings(library=not ours) as said, threads:
            found = list(map_in_order(one, splits, bench.jobs))
        found = [replace(each, warnings=(*each.warnings, *said)) for each in found] if said else found
        return found if ours else with_other_labels_told(found)

    def _shared(self, problem: Problem, splits: Sequence[Split]) -> Any:
        """Return the points of all documents, which all splits share."""
        matrix, representation = problem.counts.matrix, self.spec.representation
        return weighted_points(matrix, representation, split_weighting(problem, matrix, representation, splits[0]))

    def _changes(self, problem: Problem, split: Split, points: _SplitPoints) -> tuple[str, ...]:
        """Return the warning that a library's classifier is not deterministic, once for each task and classifier."""
        classifier, members = self.spec.classifier, problem.members[split.train]
        if not is_library_class(classifier.cls):
            return ()
        key = f"{problem.key} {classifier.resolved}"
        if key not in _CHANGES:
            columns, _ = learned_classes(members, problem.documents.classes)
            labels = (
                members[:, columns[0]].astype(np.int32) if problem.multilabel else problem.documents.labels[split.train]
            )

            def train(X: sp.csr_array, y: NDArray[np.int32]) -> Any:
                return self._fitted(replace(points, train=X), y, None)

            _CHANGES[key] = changes_when_trained_again(train, points.train, labels)
        return tuple(filter(None, (_CHANGES[key],)))

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedPoints:
        """Train on a split and return the trained method, see `Method.fit`."""
        work = SplitData(problem, split, [split], terms, self.aggregate, bench)
        with blas_threads(1):
            points, learned = self._points(work, None), trained_state(self._for_all_classes(work), self.spec)
            targets = [(problem.documents.labels[split.train], points.rankings)]
            if problem.multilabel:
                targets = list(_one_vs_rest(work.members, learned.columns, points.rankings))
            models = tuple(self._fitted(points, *target) for target in targets)
            return FittedPoints(learned, models)

    def _for_all_classes(self, work: SplitData) -> SplitData:
        """Return the work with the number of terms selected for all classes: None where the classifier selects."""
        return replace(work, terms=None) if tags_of(self.spec.classifier.cls).selects_terms else work

    def _points(self, work: SplitData, shared: sp.csr_array | None) -> _SplitPoints:
        """Return the points of a split, as rows of `shared` where the splits have the same points."""
        whole, split = self._for_all_classes(work), work.split
        points = whole.points(self.spec.representation) if shared is None else shared
        for_each = work.terms if whole.terms is None else None
        rankings = None if for_each is None else work.bench.rankings(work.problem, split).of_each()
        classes = () if work.problem.multilabel else work.problem.documents.classes
        parts = points[split.train], points[split.test]
        return _SplitPoints(*parts, for_each, rankings, work.problem.seed, classes)

    def _single(self, problem: Problem, split: Split, points: _SplitPoints, watch: Stopwatch) -> SettingPredictions:
        """Train and predict where each document has exactly one class."""
        model = self._fitted(points, problem.documents.labels[split.train], points.rankings)
        watch.lap("training")
        codes, tied, scores = predicted_codes(model, points.test)
        watch.lap("testing")
        values = None if scores is None else scores_of_all_classes(problem, model.classes_, scores)
        return SettingPredictions.of_split(codes, tied, watch.seconds(), values)

    def _several(self, problem: Problem, split: Split, points: _SplitPoints, watch: Stopwatch) -> SettingPredictions:
        """Train and predict where documents may have several classes."""
        members = problem.members[split.train]
        columns, _ = learned_classes(members, problem.documents.classes)
        values = np.empty((len(split.test), len(columns)))
        for position, (labels, rankings) in enumerate(_one_vs_rest(members, columns, points.rankings)):
            model = self._fitted(points, labels, rankings)
            watch.lap("training")
            values[:, position] = value_of_class(model, points.test)
            watch.lap("testing")
        return multilabel_predictions(members, columns, values, watch.seconds())

    def _fitted(self, points: _SplitPoints, labels: NDArray[np.int32], rankings: NDArray[np.intp] | None) -> Any:
        """Train a classifier on the training points and labels."""
        classifier = self.spec.classifier
        if points.terms is None:
            seed = {"random_state": points.seed} if takes_seed(classifier) else {}
            return checked_classifier(classifier.build(**seed), points.classes).fit(points.train, labels)
        made = classifier.build(n_terms=points.terms)
        return checked_classifier(made, points.classes).fit(points.train, labels, rankings)


def _one_vs_rest(
    members: NDArray[np.bool_], columns: NDArray[np.intp], rankings: NDArray[np.intp] | None
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.intp] | None]]:
    """Yield the binary labels of each learned class against the rest, and the rankings for both."""
    for column in columns:
        # A term's information gain is the same for a class and for the rest.
        yield members[:, column].astype(np.int32), None if rankings is None else rankings[[column, column]]
