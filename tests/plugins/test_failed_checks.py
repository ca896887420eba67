"""Each condition of each check of `bench plugin test`: a component that breaks this one alone is told so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import MultinomialNB

from benchmark.diagnostics.base import CurvePoint, Diagnostic, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import DiagnosticMetric, Metric
from benchmark.evaluation.protocols import Split
from benchmark.kernels import Linear
from benchmark.plugins.contract import COMPONENT_CHECKS, check_decisions, check_one_component
from benchmark.plugins.representation_checks import FailedCheckError, near
from benchmark.plugins.toy_data import toy_problem
from benchmark.representation import Weighting
from benchmark.representation.features import FeatureMap

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp


class Counted(Weighting):
    """Weighs counts as they are."""

    def factors(self, presence: Any, members: Any) -> Any:
        return np.ones(presence.shape[1])


class Same(FeatureMap):
    """Maps points to themselves."""

    def map(self, points: sp.csr_array) -> Any:
        return points


class Zero(BaseEstimator):
    """Has the threshold 0 for each class."""

    def fit(self, values: Any, members: Any) -> Any:
        self.thresholds_ = np.zeros(values.shape[1])
        return self


class Bayes(MultinomialNB):
    """Has a score for each class."""

    def decision_function(self, X: Any) -> Any:
        values = self.predict_joint_log_proba(X)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values


class Thirds(BaseEstimator):
    """Tests every third document."""

    def splits(self, documents: Any) -> list[Split]:
        rows = np.arange(len(documents))
        return [Split("all", rows[rows % 7 > 0], rows[rows % 7 == 0])]


class Length(Diagnostic):
    """Counts documents."""

    metrics = (DiagnosticMetric("number", "documents"),)

    @property
    def rows(self) -> list[str]:
        return ["documents"]

    def compute(self, context: Any) -> Any:
        return {"n": np.array([len(context.counts.documents)])}

    def numbers(self, found: Any) -> DiagnosticNumbers:
        n = float(found.arrays["n"][0])
        return DiagnosticNumbers((DiagnosticRow("documents", "number", Estimate(n, n, n, int(n), "count")),))

    def notes(self, found: Any) -> list[str]:
        return [f"Of {each.variant}: {each.arrays['n'][0]}." for each in found.found]


BASES: dict[str, Any] = {
    "kernels": Linear,
    "classifiers": Bayes,
    "weightings": Counted,
    "features": Same,
    "thresholds": Zero,
    "protocols": Thirds,
    "diagnostics": Length,
}
RNG = np.random.default_rng(0)
NUMBERS, CALLS = iter(range(1000)), iter(range(1000))


def after(base: Any, method: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a method that changes what the base's returns."""
    return {method: lambda self, *given: change(getattr(base, method)(self, *given))}


def differing(built: Any) -> Any:
    """Set another number each time."""
    built.shift_ = next(NUMBERS)
    return built


def after_self(base: Any, method: str) -> dict[str, Any]:
    """Return a method that adds this number to what the base's returns."""
    return {method: lambda self, *given: getattr(base, method)(self, *given) + self.shift_}


def forgetful(base: Any) -> dict[str, Any]:
    return after(base, "fit", lambda _: None)


def once(value: Any) -> Any:
    """Return a value of which the last is changed where it is of all documents."""
    changed = np.array(value)
    if len(changed) == 60:
        changed[-1] *= 2
    return changed


def fitted(base: Any, **changes: Any) -> dict[str, Any]:
    """Return a `fit` that sets attributes afterwards, from what the base learned."""

    def fit(self: Any, *given: Any) -> Any:
        base.fit(self, *given)
        for name, change in changes.items():
            setattr(self, name, change(getattr(self, name)))
        return self

    return {"fit": fit}


def spoiling(base: Any, place: int) -> dict[str, Any]:
    """Return a `fit` that writes over one of its arguments."""

    def fit(self: Any, *given: Any) -> Any:
        base.fit(self, *given)
        given[place][:2] = given[place][:2][::-1].copy()
        return self

    return {"fit": fit}


def no_parameters(_: Any) -> dict[str, Any]:
    def init(self: Any, gamma: float = 1.0) -> None:
        self.gamma = gamma

    return {"__init__": init, "get_params": lambda *_, **__: {}}


def other_clone(_: Any) -> dict[str, Any]:
    return {"__repr__": lambda self: f"Mine({id(self)})"}


def of_counts(change: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Return a `compute` that changes the counts of a collection."""

    def compute(self: Any, context: Any) -> Any:
        change(context.counts.matrix)
        return Length.compute(self, context)

    return lambda _: {"compute": compute}


def drawn(self: Any, documents: Any) -> list[Split]:
    rows = np.arange(len(documents))
    tested = np.zeros(len(rows), dtype=bool)
    tested[RNG.choice(len(rows), 5, replace=False)] = True
    return [Split("all", rows[~tested], rows[tested])]


def redrawn(split: Callable[[Any], Split]) -> Callable[[Any], dict[str, Any]]:
    """Return `splits` that make the split of each call anew."""
    return lambda _: {"splits": lambda _, documents: [split(np.arange(len(documents)))]}


def ends(low: float, high: float) -> Callable[[Any], dict[str, Any]]:
    """Return `numbers` whose estimate has another interval."""
    estimate = Estimate(60.0, low, high, 60, "count")
    rows = (DiagnosticRow("documents", "number", estimate),)
    return lambda _: {"numbers": lambda *_: DiagnosticNumbers(rows)}


def mapped(change: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    return lambda base: after(base, "transform", change)


def nan(values: Any) -> Any:
    return values * np.nan


CASES: list[tuple[str, Callable[[Any], dict[str, Any]], str, str]] = [
    ("kernels", no_parameters, "keeps its parameters", "get_params lacks 'gamma'; derive from"),
    ("kernels", other_clone, "keeps its parameters", "its clone has other parameters"),
    ("kernels", forgetful, "returns finite values of the shape", "fit must return the kernel itself"),
    ("kernels", mapped(lambda rows: rows[:, 1:]), "returns finite values of the shape", "have the shape (60, 39)"),
    ("kernels", mapped(lambda rows: rows[1:]), "returns finite values of the shape", "have the shape (59, 40)"),
    ("kernels", mapped(lambda rows: (9 * rows).astype(int)), "returns finite values", "the values are int64"),
    ("kernels", mapped(nan), "returns finite values of the shape", "values are not finite numbers"),
    ("kernels", mapped(lambda rows: 0 * rows + 3), "returns finite values of the shape", "every value is 3"),
    ("kernels", mapped(nan), "is symmetric", "differ by nan"),
    ("classifiers", forgetful, "predicts training classes", "fit must return the classifier itself"),
    (
        "classifiers",
        lambda base: fitted(base, classes_=lambda classes: classes + 1),
        "predicts training classes",
        "classes_ is [1 2], trained on 0 to 1",
    ),
    (
        "classifiers",
        lambda base: after(base, "predict", lambda predicted: predicted[1:]),
        "predicts training classes",
        "predictions of 60 points have the shape (59,)",
    ),
    (
        "classifiers",
        lambda base: after(base, "decision_function", nan),
        "predicts training classes",
        "scores are not finite numbers",
    ),
    (
        "classifiers",
        lambda base: after(base, "decision_function", lambda values: values[1:]),
        "predicts training classes",
        "its decision_function has the shape (59,), for scores of (60, 2)",
    ),
    (
        "classifiers",
        lambda base: after(base, "decision_function", lambda values: values + next(NUMBERS)),
        "predicts the same for a point alone",
        "two classifiers that were trained alike differ",
    ),
    (
        "classifiers",
        lambda base: after(base, "decision_function", once),
        "predicts the same for a point alone",
        "decision_function of a point alone and in a block differ by",
    ),
    (
        "classifiers",
        lambda base: after(base, "predict_proba", once),
        "predicts the same for a point alone",
        "predict_proba of a point alone and in a block differ by",
    ),
    (
        "classifiers",
        lambda base: after(base, "fit", differing) | after_self(base, "decision_function"),
        "predicts the same for a point alone",
        "two classifiers that were trained alike differ",
    ),
    (
        "classifiers",
        lambda base: after(base, "predict", once),
        "predicts the same for a point alone",
        "predict of a point alone and in a block differ by",
    ),
    (
        "kernels",
        lambda base: after(base, "fit", differing) | after_self(base, "transform"),
        "returns the same values when it is fitted again",
        "two kernels that were fitted alike differ",
    ),
    (
        "kernels",
        mapped(once),
        "returns the same values for a row alone",
        "the values of a row alone and in a block differ by",
    ),
    ("kernels", lambda base: spoiling(base, 0), "leaves its arguments", "points or labels have changed"),
    ("features", lambda base: spoiling(base, 0), "leaves its arguments", "points or labels have changed"),
    ("weightings", lambda base: spoiling(base, 0), "leaves its arguments", "points or labels have changed"),
    ("classifiers", lambda base: spoiling(base, 0), "leaves its arguments", "points or labels have changed"),
    (
        "classifiers",
        lambda base: after(base, "predict", lambda predicted: np.where(np.arange(len(predicted)) == 3, 9, predicted)),
        "predicts training classes",
        "it predicts a class that it wasn't trained on",
    ),
    ("weightings", mapped(lambda rows: -rows), "returns one finite weight", "a weight is negative or not finite"),
    ("classifiers", lambda base: spoiling(base, 1), "leaves its arguments", "points or labels have changed"),
    ("protocols", lambda _: {"splits": drawn}, "returns ascending rows", "a second call returns other splits"),
    (
        "protocols",
        redrawn(lambda rows: Split("all", rows[(rows % 7 > 0) & (rows % 5 != next(NUMBERS) % 5)], rows[rows % 7 == 0])),
        "returns ascending rows",
        "a second call returns other splits",
    ),
    (
        "protocols",
        redrawn(lambda rows: Split("all", rows[rows % 7 > 0], rows[rows % 14 == 7 * (next(NUMBERS) % 2)])),
        "returns ascending rows",
        "a second call returns other splits",
    ),
    ("weightings", forgetful, "returns one finite weight", "fit must return the weighting itself"),
    (
        "weightings",
        mapped(lambda rows: rows[:, 1:]),
        "returns one finite weight",
        "have the shape (60, 39), not (60, 40)",
    ),
    ("weightings", mapped(nan), "returns one finite weight", "a weight is negative or not finite"),
    (
        "weightings",
        mapped(lambda rows: rows + 1e-3 * abs(rows[::-1])),
        "returns one finite weight",
        "a term that a document lacks has a weight",
    ),
    ("features", forgetful, "returns a row of finite numbers", "fit must return the feature map itself"),
    (
        "features",
        lambda _: {"width": lambda _, n: n + 1},
        "returns a row of finite numbers",
        "features have the shape (60, 40), not (60, 41)",
    ),
    ("features", mapped(nan), "returns a row of finite numbers", "features are not finite numbers"),
    (
        "thresholds",
        lambda base: fitted(base, thresholds_=nan),
        "learns a finite threshold",
        "thresholds are [nan nan nan]",
    ),
    ("thresholds", lambda base: spoiling(base, 0), "learns a finite threshold", "values or members have changed"),
    ("thresholds", lambda base: spoiling(base, 1), "learns a finite threshold", "values or members have changed"),
    ("diagnostics", of_counts(lambda matrix: matrix.data.__imul__(2)), "leaves the counts", "the counts have changed"),
    (
        "diagnostics",
        lambda base: after(base, "notes", lambda _: [3]),
        "returns its notes as lines of text",
        "a note is 3",
    ),
    (
        "diagnostics",
        lambda _: {"metrics": (DiagnosticMetric("others", "documents"),)},
        "returns finite numbers of the metrics",
        "number",
    ),
    ("diagnostics", ends(-np.inf, 60.0), "returns finite numbers", "-inf to 60.0: the number must be finite"),
    ("diagnostics", ends(60.0, np.inf), "returns finite numbers", "60.0 to inf: the number must be finite"),
    (
        "diagnostics",
        lambda base: after(base, "compute", lambda arrays: {"n": arrays["n"] + next(NUMBERS)}),
        "returns the same numbers",
        "number of documents is ",
    ),
    (
        "diagnostics",
        lambda base: after(base, "numbers", lambda found: DiagnosticNumbers(found.rows * (next(CALLS) % 4 < 2))),
        "returns the same numbers",
        "it returns 2 numbers, and then 0",
    ),
    (
        "diagnostics",
        lambda base: after(base, "numbers", lambda found: DiagnosticNumbers(found.rows * (next(CALLS) % 4 > 1))),
        "returns the same numbers",
        "it returns 0 numbers, and then 2",
    ),
]


@pytest.mark.parametrize(("kind", "change", "check", "words"), CASES)
def test_a_component_that_breaks_one_condition_is_told_so(
    kind: str, change: Callable[[Any], dict[str, Any]], check: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = BASES[kind]
    component = type("Mine", (base,), change(base))
    own = tuple(each for each in COMPONENT_CHECKS[kind] if f" {check}" in str(each.__doc__))
    monkeypatch.setitem(COMPONENT_CHECKS, kind, own)  # type: ignore[arg-type]
    (found,) = check_one_component(kind, "mine", component, "kernel mine")
    assert found.check.startswith(check)
    assert words in found.problem


class Timed(Length):
    """Measures seconds, too, and has a curve."""

    metrics = (*Length.metrics, DiagnosticMetric("waited", "seconds", on_clock=True))
    step = 0.0

    def numbers(self, found: Any) -> DiagnosticNumbers:
        n, seconds = float(found.arrays["n"][0]), float(next(NUMBERS))
        rows = (
            *super().numbers(found).rows,
            DiagnosticRow("documents", "waited", Estimate(*[seconds] * 3, 1, "count")),
        )
        curve = [("number", n + self.step * seconds), ("waited", seconds)]
        points = (CurvePoint("x", 2.0, "documents", "", name, value) for name, value in curve)
        return DiagnosticNumbers(rows, tuple(points))


class Dense(Same):
    """Maps points to dense rows."""

    def map(self, points: sp.csr_array) -> Any:
        return points.toarray()


@pytest.mark.parametrize(("kind", "base"), [*BASES.items(), ("features", Dense), ("diagnostics", Timed)])
def test_a_component_that_breaks_none_passes(kind: str, base: Any) -> None:
    found = list(check_one_component(kind, "mine", type("Mine", (base,), {}), "called"))
    assert [each.problem for each in found] == [""] * len(COMPONENT_CHECKS[kind])
    assert {each.component for each in found} == {"called"}


def test_seconds_may_differ_and_points_of_curves_may_not() -> None:
    for step, words in ((0.0, ""), (1.0, "number of documents  is ")):
        found = check_one_component("diagnostics", "mine", type("Mine", (Timed,), {"step": step}), "m")
        (problem,) = [each.problem for each in found if each.check.startswith("returns the same numbers")]
        assert problem.startswith(words)
        assert bool(problem) == bool(words)
        assert problem.count(" at 2.0") == 2 * bool(words)


def right(tallies: Any) -> Any:
    return tallies.right.sum(axis=-1) / tallies.documents


METRIC_CASES: list[tuple[Metric, str]] = [
    (Metric(lambda tallies: np.atleast_1d(right(tallies))[:1]), "scores of 50 counts of 4 classes have the shape (1,)"),
    (Metric(lambda tallies: right(tallies) * np.nan), "a score isn't between 0 and 1"),
    (Metric(lambda tallies: -right(tallies)), "a score isn't between 0 and 1"),
    (Metric(lambda tallies: 9 * right(tallies)), "a score isn't between 0 and 1"),
    (
        Metric(lambda tallies: right(tallies) / np.max(right(tallies))),
        "scores of counts in a stack and alone differ by",
    ),
    (Metric(ranking=lambda *_: 1.5), "a score is 1.5, not between 0 and 1"),
    (Metric(ranking=lambda *_: -0.5), "a score is -0.5, not between 0 and 1"),
    (Metric(ranking=lambda _, weights=None: 0.5 if weights is None else 0.25), "with weights of 1, differ by 0.25"),
    (
        Metric(ranking=lambda ranked, _=None: 1 / len(ranked.truth)),
        "scores of repeated and of weighted documents differ",
    ),
]


@pytest.mark.parametrize(("metric", "words"), METRIC_CASES)
def test_a_metric_that_breaks_one_condition_is_told_so(metric: Metric, words: str) -> None:
    (found,) = check_one_component("metrics", "mine", metric, "metric mine")
    assert words in found.problem


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_metric_may_reach_its_limits(value: float) -> None:
    for metric in (Metric(lambda tallies: 0 * right(tallies) + value), Metric(ranking=lambda *_: value)):
        assert [each.problem for each in check_one_component("metrics", "mine", metric, "m")] == [""]


def decided(**changes: Any) -> Any:
    """Predictions of four documents, of one class each unless they are changed."""
    given = {"predicted": np.array([0, 1, 2, 0], np.int16), "tied": np.zeros(4, bool), "seconds": np.zeros((1, 6))}
    return SimpleNamespace(**given | changes)


MEMBERS = np.zeros((4, 3), dtype=bool)
DECISIONS: list[tuple[bool, dict[str, Any], str]] = [
    (False, {"predicted": np.array([0, 1, 2], np.int16)}, "predictions have the shapes (3,), (4,), not (4,)"),
    (False, {"tied": np.zeros(3, bool)}, "predictions have the shapes (4,), (3,), not (4,)"),
    (False, {"tied": np.zeros(4, int)}, "ties are int64"),
    (False, {"predicted": np.zeros(4, np.int64)}, "predictions are int64"),
    (False, {"predicted": np.array([0, 1, 3, 0], np.int16)}, "classes range over [0, 3]"),
    (False, {"predicted": np.array([0, 1, -1, 0], np.int16)}, "classes range over [-1, 1]"),
    (False, {"seconds": np.zeros((2, 6))}, "seconds are "),
    (False, {"seconds": np.full((1, 6), np.nan)}, "seconds are "),
    (False, {"seconds": np.full((1, 6), -1.0)}, "seconds are "),
    (True, {}, "predictions have the shapes (4,), (4,), not (4, 3)"),
    (True, {"predicted": MEMBERS.astype(np.int16), "tied": MEMBERS}, "predictions are int16"),
]


@pytest.mark.parametrize(("multilabel", "changes", "words"), DECISIONS)
def test_predictions_of_another_form_are_refused(multilabel: bool, changes: dict[str, Any], words: str) -> None:
    problem = toy_problem(multilabel=multilabel)
    with pytest.raises(FailedCheckError) as caught:
        check_decisions(problem, 4, decided(**changes))
    assert words in str(caught.value)
    good = {"predicted": MEMBERS, "tied": MEMBERS} if multilabel else {}
    check_decisions(problem, 4, decided(**good))


def test_near_is_a_billionth_of_the_largest_value() -> None:
    near(np.array([1e3, 0.0]), np.array([1e3, 0.9e-6]), "values")
    with pytest.raises(FailedCheckError, match=r"values differ by 1\.1e-06"):
        near(np.array([1e3, 0.0]), np.array([1e3, 1.1e-6]), "values")
    with pytest.raises(FailedCheckError, match="values differ by"):
        near(np.array([0.0]), np.array([1e3]), "values")
    with pytest.raises(FailedCheckError, match=r"values have the shapes \(1,\) and \(2,\)"):
        near(np.zeros(1), np.zeros(2), "values")
    near(np.empty(0), np.empty(0), "values")


def test_the_small_collection_is_as_it_is_told() -> None:
    for n_classes in (2, 3):
        one, several = (toy_problem(multilabel=each, n_classes=n_classes) for each in (False, True))
        for problem in (one, several):
            documents = problem.documents
            assert problem.counts.matrix.shape == (60, 40)
            assert problem.counts.matrix.sum(axis=1).tolist() == [25] * 60
            assert np.bincount(documents.parts).tolist() == [30, 30]
            assert documents.classes == tuple(f"class-{i}" for i in range(n_classes))
        assert np.bincount(one.documents.labels).tolist() == [60 // n_classes] * n_classes
        assert set(several.members.sum(axis=1)) >= {0, 1, 2}, "some have no class, some two"


def test_small_collections_are_tried_with_one_class_and_with_several_and_with_two_classes() -> None:
    seen: list[tuple[int, bool]] = []

    class Watching(Length):
        def compute(self, context: Any) -> Any:
            documents = context.counts.documents
            seen.append((len(documents.classes), documents.topics is not None))
            return super().compute(context)

    assert {each.problem for each in check_one_component("diagnostics", "mine", Watching, "m")} == {""}
    assert {*seen} == {(3, False), (3, True)}
    sizes: list[int] = []

    class Counting(Thirds):
        def splits(self, documents: Any) -> list[Split]:
            sizes.append(len(documents.classes))
            return super().splits(documents)

    assert {each.problem for each in check_one_component("protocols", "mine", Counting, "m")} == {""}
    assert sizes == [3, 3, 2, 2]


def test_an_error_is_told_with_its_line_unless_it_is_one_that_a_run_reports() -> None:
    def raising(error: Exception) -> Any:
        def fit(self: Any, *_: Any) -> Any:
            raise error

        return type("Mine", (Counted,), {"fit": fit})

    caused = ValueError("as a run says it")
    caused.__cause__ = KeyError("x")
    for error, said in ((caused, "as a run says it"), (ValueError("alone"), ": ValueError: alone")):
        for found in check_one_component("weightings", "mine", raising(error), "m"):
            if found.check.startswith("returns one finite"):
                assert found.problem == said if error is caused else found.problem.endswith(said)
