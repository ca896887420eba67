"""Small parts of training: warnings, seconds, terms, rankings, folds, and what weights are learned from."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from benchmark.methods.multilabel import learned_classes, positive_classes
from benchmark.methods.weighted_counts import depends_on_split, weighting_rows
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import ExtraTreeClassifier

from benchmark.config.components import Component
from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.splits import Split
from benchmark.methods import point_classifiers, stopwatch
from benchmark.methods.degenerate import degenerate_predictions_reason
from benchmark.methods.fusion import FusedMethod
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.out_of_fold import INNER_FOLDS, inner_folds, out_of_fold_values
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.rankings import Rankings
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.training_warnings import changes_when_trained_again, collect_warnings
from benchmark.representation.selection import aggregate_gains, information_gain, rank_terms
from benchmark.text.pruning import Pruning
from tests.toy_data import toy_problem

from .conftest import represented, spec_of

ALL = np.arange(60)
SPLIT = Split("all", ALL[ALL % 4 > 0], ALL[ALL % 4 == 0])


def warned(*, library: bool) -> tuple[list[str], list[str]]:
    """Return the texts that are collected, and those that are warned of again."""
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        with collect_warnings(library=library) as texts:
            for _ in range(2):
                warnings.warn("not\nyet", ConvergenceWarning, stacklevel=1)
            warnings.warn("odd", UserWarning, stacklevel=1)
            warnings.warn("x" * 300, UserWarning, stacklevel=1)
            for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
                warnings.warn("soon", category, stacklevel=1)
            assert texts == []
    return texts, [str(each.message) for each in again]


def test_warnings_of_a_library_are_collected_and_of_ours_only_missing_convergence() -> None:
    long = f"UserWarning: {'x' * 186}…"
    texts, again = warned(library=True)
    assert texts == ["ConvergenceWarning: not\\nyet", "UserWarning: odd", long]
    assert len(long) == 200
    assert again == []
    texts, again = warned(library=False)
    assert texts == ["ConvergenceWarning: not\\nyet"]
    assert again == ["odd", "x" * 300, "soon", "soon", "soon"]


def test_a_classifier_is_trained_again_on_at_most_200_documents() -> None:
    seen = list[int]()

    def train(X: Any, y: Any) -> Any:
        assert X.shape[0] == len(y)
        seen.append(len(y))
        return SimpleNamespace(predict=lambda whole: np.full(whole.shape[0], len(seen) if y[0] else 0))

    for n, used in ((500, 200), (200, 200), (7, 7)):
        seen.clear()
        points = sp.csr_array(np.ones((n, 2)))
        assert changes_when_trained_again(train, points, np.zeros(n)) == ""
        assert seen == [used, used]
        assert changes_when_trained_again(train, points, np.ones(n)).startswith("not deterministic: trained again")


def test_a_classifier_that_knows_what_it_was_trained_on_may_guess_the_rest() -> None:
    """Both trainings answer alike on their own 200 of 400 documents, and otherwise on the others."""
    trained = list[set[int]]()

    def train(X: Any, _: Any) -> Any:
        trained.append(set(X.toarray()[:, 0].tolist()))
        number, own = len(trained), trained[-1]
        return SimpleNamespace(
            predict=lambda whole: np.array([0 if row in own else number for row in whole.toarray()[:, 0].tolist()])
        )

    points = sp.csr_array(np.arange(1.0, 401.0)[:, None])
    assert changes_when_trained_again(train, points, np.zeros(400)).startswith("not deterministic: trained again")
    assert trained[0] == trained[1]
    assert changes_when_trained_again(train, points[:200], np.zeros(200)) == ""


def test_seconds_are_booked_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    watch = Stopwatch()
    for part, until in (("extraction", 11.0), ("training", 13.0), ("training", 16.0)):
        now[0] = until
        watch.lap(part)
    now[0] = 20.0
    watch.book("testing", 0.5)
    now[0] = 21.0
    watch.lap("testing")
    found = dict(zip(TIMERS, watch.seconds(), strict=True))
    assert found == {**dict.fromkeys(TIMERS, 0.0), "extraction": 1.0, "training": 5.0, "testing": 1.5}
    assert watch.seconds("training").sum() == 5.0
    assert watch.seconds("training", "testing").sum() == 6.5


def test_terms_of_a_split_are_those_that_its_training_documents_keep() -> None:
    problem = replace(toy_problem(multilabel=False), pruning=Pruning(min_occurrences=30, min_documents=12))
    counts = problem.counts.matrix.toarray()[SPLIT.train]
    kept = np.flatnonzero((counts.sum(axis=0) >= 30) & ((counts > 0).sum(axis=0) >= 12))
    assert 0 < len(kept) < 40
    np.testing.assert_array_equal(problem.training_terms(SPLIT.train), kept)
    own = problem.over_terms_of(SPLIT.train)
    np.testing.assert_array_equal(own.counts.matrix.toarray(), problem.counts.matrix.toarray()[:, kept])
    assert own.counts.vocabulary == tuple(f"term-{term}" for term in kept)
    assert own.key != problem.over_terms_of(SPLIT.test).key != problem.key
    assert own.seed == problem.seed
    whole = toy_problem(multilabel=False)
    assert whole.over_terms_of(SPLIT.train) is whole
    np.testing.assert_array_equal(whole.training_terms(SPLIT.train), np.arange(40))


@pytest.mark.parametrize("multilabel", [False, True])
def test_rankings_are_of_the_training_documents(multilabel: bool) -> None:
    problem = toy_problem(multilabel=multilabel)
    found = Rankings.learn(problem, SPLIT.train)
    members = problem.members[SPLIT.train]
    np.testing.assert_allclose(found.shares, members.mean(axis=0))
    classes = members if multilabel else problem.documents.labels[SPLIT.train]
    gains = information_gain(problem.counts.matrix[SPLIT.train], classes, problem.documents.classes)
    np.testing.assert_array_equal(found.gains, gains)
    for own, row in zip(gains, found.of_each(), strict=True):
        assert (np.diff(own[row]) <= 0).all()
        assert sorted(row) == list(range(40))
    best = found.of_all(5, "sum")
    assert set(best) == set(np.argsort(-gains.sum(axis=0), kind="stable")[:5])
    with pytest.raises(ValueError, match="41"):
        found.of_all(41, "sum")


@pytest.mark.parametrize(
    ("learns", "idf", "rows", "depends"),
    [("", "training", None, False), ("documents", "collection", ALL, False), ("labels", "training", SPLIT.train, True)],
)
def test_weights_are_learned_from_all_documents_or_those_of_training(
    learns: str, idf: str, rows: Any, depends: bool
) -> None:
    representation: Any = SimpleNamespace(learns=learns, idf=idf)
    found = weighting_rows(toy_problem(multilabel=False), representation, SPLIT)
    assert (found is None) == (rows is None)
    if found is not None:
        np.testing.assert_array_equal(found, rows)
    assert depends_on_split(representation) == depends


@pytest.mark.parametrize(("scale", "n_trained"), [("hold-out", 2), ("out-of-fold", 1 + INNER_FOLDS)])
def test_scales_of_a_sum_are_measured_on_one_fold_or_all(scale: str, n_trained: int) -> None:
    trained = list[Any]()

    def fit(_problem: Any, split: Split, *_: Any) -> Any:
        trained.append(split)
        return SimpleNamespace(values_of_rows=lambda rows: np.tile([0.0, 2.0, 4.0], (rows.shape[0], 1)))

    parts = {"kernel": 1, "classifier": SimpleNamespace(cls=int)}
    representation = SimpleNamespace(weighting=None, features=None)
    method: Any = SimpleNamespace(fit=fit, spec=SimpleNamespace(**parts, representation=representation))
    fused = SimpleNamespace(names=("one",), weights=(1.0,), scale=scale)
    problem, spec = toy_problem(multilabel=False), SimpleNamespace(fused=fused)
    found = FusedMethod(spec, (method,), (problem,)).train(problem, SPLIT, None, MatrixCache(1))  # type: ignore[arg-type]
    assert len(trained) == n_trained
    assert found.rule.scales == pytest.approx([np.std([-2.0, 0.0, 2.0])])
    assert np.isnan(found.outside).any() == (scale == "hold-out")


def test_one_document_alone_is_never_degenerate() -> None:
    spec: Any = SimpleNamespace(kernel=None)
    for n, said in ((1, ""), (2, "every prediction is a tie: no class scores higher than all others")):
        work: Any = SimpleNamespace(split=SimpleNamespace(test=np.arange(n)))
        decided: Any = SimpleNamespace(predicted=np.ones(n, dtype=int), tied=np.ones(n, dtype=bool))
        assert degenerate_predictions_reason(spec, work, decided) == said


@pytest.mark.parametrize("n_folds", [1, 3, INNER_FOLDS])
def test_each_training_document_is_scored_by_a_method_that_did_not_see_it(n_folds: int) -> None:
    problem = toy_problem(multilabel=False)
    trained = list[Any]()

    def fit(fold: Split) -> Any:
        trained.append(fold)
        assert not set(fold.train) & set(fold.test)
        assert {*fold.train, *fold.test} == {*SPLIT.train}
        return SimpleNamespace(values_of_rows=lambda rows: np.full((rows.shape[0], 3), float(fold.number)))

    values = out_of_fold_values(problem, SPLIT, fit, n_folds)
    assert values.shape == (len(SPLIT.train), 3)
    assert len(trained) == n_folds
    folds = inner_folds(problem, SPLIT)
    assert len(folds) == INNER_FOLDS == 5
    expected = np.full(60, np.nan)
    for fold in folds[:n_folds]:
        expected[fold.test] = fold.number
    np.testing.assert_array_equal(values[:, 0], expected[SPLIT.train])
    assert np.isnan(values).any() == (n_folds < INNER_FOLDS)


def test_a_vocabulary_of_other_training_documents_is_another_problem() -> None:
    problem = replace(toy_problem(multilabel=False), pruning=Pruning(min_occurrences=1, min_documents=1))
    keys = {problem.over_terms_of(rows).key for rows in (ALL[:30], ALL[30:], ALL[:29], ALL)}
    assert len(keys) == 4
    assert all(key.startswith(f"{problem.key}, terms of ") for key in keys)
    assert problem.over_terms_of(ALL).pruning is None


def test_occurrences_and_documents_are_counted_each_by_itself() -> None:
    problem = toy_problem(multilabel=False)
    counts = problem.counts.matrix.toarray()[SPLIT.train]
    occurrences, documents = counts.sum(axis=0), (counts > 0).sum(axis=0)
    for least, few in ((30, 1), (1, 20), (25, 15)):
        own = replace(problem, pruning=Pruning(min_occurrences=least, min_documents=few))
        kept = np.flatnonzero((occurrences >= least) & (documents >= few))
        assert 0 < len(kept) < 40
        np.testing.assert_array_equal(own.training_terms(SPLIT.train), kept)


@pytest.mark.parametrize("aggregate", ["sum", "average", "maximum"])
def test_gains_are_aggregated_over_classes_by_their_shares_of_the_training_documents(aggregate: str) -> None:
    problem = toy_problem(multilabel=True)
    found = Rankings.learn(problem, SPLIT.train)
    shares = problem.members[SPLIT.train].mean(axis=0)
    np.testing.assert_allclose(found.shares, shares)
    expected = rank_terms(aggregate_gains(found.gains, shares, aggregate))
    np.testing.assert_array_equal(found.of_all(40, aggregate), expected)


def test_the_columns_and_names_of_classes_that_can_be_learned() -> None:
    members = np.array([[1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]], dtype=bool)
    columns, names = learned_classes(members, ("a", "b", "c", "d"))
    assert (columns.tolist(), names) == ([2, 3], ("c", "d"))


def test_only_values_above_0_are_predicted_and_those_of_0_are_ties() -> None:
    everywhere, columns = np.array([False, False, True]), np.array([1])
    values = np.array([[0.0], [5e-324], [-0.0], [-1.0]])
    predicted = positive_classes(everywhere, columns, values)
    assert predicted.tolist() == [[False, False, True], [False, True, True], [False, False, True], [False, False, True]]
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(FloatingPointError, match="not a finite number"):
            positive_classes(everywhere, columns, np.array([[1.0], [wrong]]))


def test_the_points_that_splits_share_are_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library's classifier is trained again on the first split alone, and once for each task and classifier."""
    asked: list[int] = []

    def changes(_: Any, X: Any, y: Any) -> str:
        assert len(y) == X.shape[0]
        asked.append(X.shape[0])
        return f"changes {len(asked)}"

    monkeypatch.setattr(point_classifiers, "_CHANGES", {})
    monkeypatch.setattr(point_classifiers, "changes_when_trained_again", changes)
    problem = toy_problem(multilabel=False)
    parts = [Split("one", ALL[:40], ALL[40:], 1), Split("two", ALL[20:], ALL[:20], 2)]
    forest = Component.of("forest", ExtraTreeClassifier, {"max_depth": 2})
    other = Component.of("forest", ExtraTreeClassifier, {"max_depth": 3})
    spec = spec_of("mnb", represented("tf", "none", "collection"))
    said = []
    for own, component in ((problem, forest), (problem, forest), (replace(problem, key="b"), forest), (problem, other)):
        method = PointClassifierMethod(replace(spec, classifier=component))
        said.append([each.warnings for each in method.solve(own, parts, None, MatrixCache())])
    assert asked == [40, 40, 40]
    assert said == [[(f"changes {n}",), ()] for n in (1, 1, 2, 3)]


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("stated", [False, True])
def test_a_librarys_classifier_has_the_seed_of_the_experiment_unless_it_states_its_own(seed: int, stated: bool) -> None:
    component = Component.of("tree", ExtraTreeClassifier, {"random_state": 3} if stated else {})
    spec = replace(spec_of("mnb", represented("tf", "none", "collection")), classifier=component)
    method, problem = PointClassifierMethod(spec), replace(toy_problem(multilabel=False), seed=seed)
    assert method.uses_seed == (not stated)
    (found,) = method.solve(problem, [SPLIT], None, MatrixCache())
    tree = ExtraTreeClassifier(random_state=3 if stated else seed)
    counts = problem.counts.matrix.astype(float)
    expected = tree.fit(counts[SPLIT.train], problem.documents.labels[SPLIT.train]).predict(counts[SPLIT.test])
    np.testing.assert_array_equal(found.predicted, expected)
    fitted = method.fit(problem, SPLIT, None, MatrixCache())
    assert fitted.models[0].classifier.random_state == (3 if stated else seed)


def test_some_ties_are_no_reason_and_neither_are_predictions_that_differ() -> None:
    spec: Any = SimpleNamespace(kernel=None)
    work: Any = SimpleNamespace(split=SimpleNamespace(test=np.arange(3)))
    for predicted, tied, degenerate in (
        ([1, 1, 1], [True, True, False], False),
        ([1, 1, 1], [True, True, True], True),
        ([1, 1, 0], [True, True, True], False),
        ([1, 1, 1], [False, False, False], False),
    ):
        decided: Any = SimpleNamespace(predicted=np.array(predicted), tied=np.array(tied))
        assert bool(degenerate_predictions_reason(spec, work, decided)) == degenerate


def test_warnings_of_training_come_after_those_of_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loud(ExtraTreeClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            warnings.warn("odd", UserWarning, stacklevel=1)
            return super().fit(X, y)

    monkeypatch.setattr(point_classifiers.PointClassifierMethod, "_changes", lambda *_: ("changes",))
    loud = Component.of("loud", Loud, {})
    method = PointClassifierMethod(replace(spec_of("mnb", represented("tf", "none", "collection")), classifier=loud))
    parts = [Split("one", ALL[:40], ALL[40:], 1), Split("two", ALL[20:], ALL[:20], 2)]
    found = method.solve(toy_problem(multilabel=False), parts, None, MatrixCache())
    assert [each.warnings for each in found] == [("changes", "UserWarning: odd"), ("UserWarning: odd",)]
