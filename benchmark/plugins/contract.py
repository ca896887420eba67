"""Checks of every component on small data, which `bench plugin test` and the tests share.

A check is a function of the component that raises where the check fails. Its docstring reads "Check that the <kind> …";
the words after the kind are printed as its name.
"""

from __future__ import annotations

import copy
import itertools
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from benchmark.classifiers.class_scores import score_method, score_of_each
from benchmark.classifiers.thresholds import gives_a_class
from benchmark.config.components import REQUIRED_PARAMETER, Component, component_parameters
from benchmark.config.experiment import check_experiment
from benchmark.config.model import BASE_VARIANT, MethodSpec, Representation
from benchmark.diagnostics.base import (
    DiagnosticArrays,
    DiagnosticContext,
    DiagnosticResults,
    allowed_rows,
    diagnostic_problem,
)
from benchmark.evaluation.metrics import Metric, function_of, stack_tallies, tally_predictions
from benchmark.evaluation.ranking_metrics import DecisionRanking
from benchmark.evaluation.splits import check_split_promises
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.registry import build_method
from benchmark.plugins.discovery import BUILTIN_REGISTRIES, registries_with_plugins
from benchmark.plugins.representation_checks import (
    gives_features,
    gives_thresholds,
    gives_weights,
    holds,
    maps_alone,
    near,
    toy_points,
    weighs_alone,
)
from benchmark.plugins.toy_data import toy_group_splits, toy_problem, toy_replicates
from benchmark.representation import WEIGHTINGS, Weighting
from benchmark.representation.features import FeatureMap
from benchmark.system.errors import BenchError
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import locate_error, running_user_code_here, source_location
from benchmark.system.yaml_source import YamlSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchmark.diagnostics.base import Diagnostic
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.problem import Problem

    Check = Callable[[str, Any], None]


@dataclass(frozen=True)
class CheckResult:
    """Result of a check of a component.

    Parameters
    ----------
    component : str
        Kind and name: "kernel chi2".
    check : str
        The claim that is checked: "is symmetric".
    problem : str
        The reason why the check fails, or "".
    """

    component: str
    check: str
    problem: str


def check_file(path: Path) -> Iterator[CheckResult]:
    """Check every component that a plug-in file names; raise ConfigError if the file can't be loaded."""
    with running_user_code_here():
        known, file = registries_with_plugins([path]), str(path.resolve())
    for kind, registry in known.each():
        for name, origin in registry.origins.items():
            if origin.file == file:
                called = f"{kind.rstrip('s') if kind != 'corpora' else 'corpus'} {name}"
                broken = registry.broken.get(name, "")
                yield CheckResult(called, "can be used", broken)
                yield from () if broken else check_one_component(kind, name, registry[name], called)


def check_one_component(kind: str, name: str, component: Any, called: str) -> Iterator[CheckResult]:
    """Run all checks on one component."""
    needed = (
        ()
        if kind == "metrics"
        else [key for key, (_, each) in component_parameters(component).items() if each is REQUIRED_PARAMETER]
    )
    if needed and COMPONENT_CHECKS.get(kind):
        problem = f"give {', '.join(needed)} a default, or it can't be checked"
        yield CheckResult(called, "is built without parameters", problem)
        return
    for check in COMPONENT_CHECKS.get(kind, ()):
        problem = ""
        try:
            with running_user_code_here(), redirect_stdout(sys.stderr):
                check(name, component)
        except BenchError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - whatever its author wrote
            told = isinstance(error, ValueError) and error.__cause__ is not None  # as a run reports it
            problem = str(error) if told else locate_error(error, source_location(function_of(component)))
        *_, claim = (check.__doc__ or "").strip().rstrip(".").split(maxsplit=4)  # after "Check that the <kind>"
        yield CheckResult(called, claim, problem)


# --- Estimators ---


def keeps_parameters(_: str, component: Any) -> None:
    """Check that the component keeps its parameters unchanged, and can be cloned."""
    built = component()
    given = built.get_params(deep=False)
    for key, (_annotation, default) in component_parameters(component).items():
        holds(key in given, f"get_params lacks {key!r}; derive from sklearn.base.BaseEstimator")
        holds(given[key] is default, f"{key} is {given[key]!r} once it is built with {default!r}")
    holds(repr(clone(built)) == repr(built), "its clone has other parameters")


def leaves_arguments(_: str, component: Any) -> None:
    """Check that the component leaves its arguments unchanged."""
    points, labels = toy_points(component), toy_problem(multilabel=False).documents.labels
    points = toy_problem(multilabel=False).counts.matrix if issubclass(component, Weighting) else points
    before = points.copy(), labels.copy()
    fitted = component().fit(points, labels)
    (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(points)
    holds((points != before[0]).nnz == 0 and (labels == before[1]).all(), "points or labels have changed")


def decides(name: str, component: Any) -> None:
    """Check that the component predicts every test document, with one class or several, for two classes or more."""
    normalization = tags_of(component).normalization
    for multilabel, many, n_classes in itertools.product((False, True), (False, True), (2, 3)):
        if multilabel and gives_a_class(component):  # some of the small collection's documents have none
            continue
        problem = toy_problem(multilabel=multilabel, n_classes=n_classes)
        spec = _spec(name, component, normalization)
        splits = toy_replicates(problem) if many else toy_group_splits(problem)
        decided = build_method(spec, problem, None, replicated=many).solve(problem, splits, None, MatrixCache(1))
        for split, decisions in zip(splits, decided, strict=True):
            check_decisions(problem, len(split.test), decisions)


def _spec(name: str, component: Any, normalization: str) -> MethodSpec:
    part, weighting = Component.of(name, component, {}), Component.of("tf", WEIGHTINGS["tf"], {})
    representation = Representation(weighting, normalization, "training", learns="")
    linear = Component.of("linear-svm", BUILTIN_REGISTRIES.classifiers["linear-svm"], {})
    if issubclass(component, Weighting):
        learns = component().learns
        return MethodSpec(replace(representation, weighting=part, learns=learns), None, linear)
    if issubclass(component, FeatureMap):
        return MethodSpec(replace(representation, features=part), None, linear)
    if not hasattr(component, "predict") and not hasattr(component, "transform"):
        return MethodSpec(representation, None, linear, threshold=part)
    if hasattr(component, "transform") and not hasattr(component, "predict"):
        return MethodSpec(representation, part, Component.of("svm", BUILTIN_REGISTRIES.classifiers["svm"], {}))
    return MethodSpec(representation, None, part)


def check_decisions(problem: Problem, n_tested: int, decisions: SettingPredictions) -> None:
    """Refuse predictions that aren't one per test document, or, with several classes, one per document and class."""
    given, tied, k = decisions.predicted, decisions.tied, len(problem.documents.classes)
    shape = (n_tested, k) if problem.multilabel else (n_tested,)
    holds(given.shape == tied.shape == shape, f"predictions have the shapes {given.shape}, {tied.shape}, not {shape}")
    holds(tied.dtype == np.bool_, f"ties are {tied.dtype}")
    holds(given.dtype == (np.bool_ if problem.multilabel else np.int16), f"predictions are {given.dtype}")
    if not problem.multilabel:
        holds(given.min() >= 0 and given.max() < k, f"classes range over [{given.min()}, {given.max()}]")
    seconds = decisions.seconds
    holds(seconds.shape == (1, 6) and np.isfinite(seconds).all() and (seconds >= 0).all(), f"seconds are {seconds}")


# --- Kernels ---


def gives_gram_rows(_: str, component: Any) -> None:
    """Check that the kernel returns finite values of the shape (points, training points) that are not all equal."""
    points, kernel = toy_points(component), component()
    holds(kernel.fit(points[:40]) is kernel, "fit must return the kernel itself")
    rows = np.asarray(kernel.transform(points))
    holds(rows.shape == (60, 40), f"Gram rows of 60 points against 40 training points have the shape {rows.shape}")
    holds(np.issubdtype(rows.dtype, np.floating), f"the values are {rows.dtype}")
    holds(np.isfinite(rows).all(), "values are not finite numbers")
    holds(rows.min() < rows.max(), f"every value is {rows.flat[0]:g}")


def is_symmetric(_: str, component: Any) -> None:
    """Check that the kernel is symmetric."""
    points = toy_points(component)
    gram = np.asarray(component().fit(points).transform(points))
    near(gram, gram.T, "k(x, y) and k(y, x)")


def is_the_same_in_blocks(_: str, component: Any) -> None:
    """Check that the kernel returns the same values for a row alone and among others."""
    points = toy_points(component)
    kernel = component().fit(points[:40])
    whole = np.asarray(kernel.transform(points))
    blocks = np.vstack([kernel.transform(points[start : start + 7]) for start in range(0, 60, 7)])
    near(whole, blocks, "the values of a row alone and in a block")


def is_the_same_again(_: str, component: Any) -> None:
    """Check that the kernel returns the same values when it is fitted again."""
    points = toy_points(component)
    once, again = (np.asarray(component().fit(points[:40]).transform(points)) for _ in range(2))
    holds(np.array_equal(once, again), "two kernels that were fitted alike differ")


# --- Classifiers ---


def predicts(_: str, component: Any) -> None:
    """Check that the classifier predicts training classes, and has a finite score for each if it has scores."""
    for n_classes in (2, 3):
        points = toy_points(component)
        labels = toy_problem(multilabel=False, n_classes=n_classes).documents.labels
        classifier = component()
        holds(classifier.fit(points, labels) is classifier, "fit must return the classifier itself")
        classes = np.asarray(classifier.classes_)
        holds(sorted(classes) == list(range(n_classes)), f"classes_ is {classes}, trained on 0 to {n_classes - 1}")
        predicted, method = np.asarray(classifier.predict(points)), score_method(classifier)
        holds(predicted.shape == (60,), f"predictions of 60 points have the shape {predicted.shape}")
        holds(np.isin(predicted, classes).all(), "it predicts a class that it wasn't trained on")
        if method:
            values = np.asarray(getattr(classifier, method)(points))
            scores = score_of_each(values) if n_classes == 2 else values
            shape = (60, n_classes)
            holds(scores.shape == shape, f"its {method} has the shape {values.shape}, for scores of {shape}")
            holds(np.isfinite(scores).all(), "scores are not finite numbers")


def predicts_the_same_again(_: str, component: Any) -> None:
    """Check that the classifier predicts the same for a point alone, among others, and when trained again."""
    points, labels = toy_points(component), toy_problem(multilabel=False).documents.labels
    classifier, again = (component().fit(points, labels) for _ in range(2))
    for method in (each for each in ("predict", "decision_function", "predict_proba") if hasattr(classifier, each)):
        whole = np.asarray(getattr(classifier, method)(points))
        holds(np.array_equal(whole, getattr(again, method)(points)), "two classifiers that were trained alike differ")
        parts = [getattr(classifier, method)(points[start : start + 7]) for start in range(0, 60, 7)]
        near(whole, np.concatenate(parts), f"{method} of a point alone and in a block")


# --- Protocols and metrics ---


def keeps_promises(_: str, component: Any) -> None:
    """Check that the protocol returns ascending rows, disjoint in training and test, with every class in training."""
    for problem in (toy_problem(multilabel=False), toy_problem(multilabel=False, n_classes=2)):
        splits, again = (component().splits(problem.documents) for _ in range(2))
        check_split_promises(splits, problem.documents, repeated=tags_of(component).replicated)
        for split, other in zip(splits, again, strict=True):
            same = np.array_equal(split.train, other.train) and np.array_equal(split.test, other.test)
            holds(same, "a second call returns other splits")


def is_a_share(_: str, metric: Metric) -> None:
    """Check that the metric is a share, and the same for counts in a stack and alone, or weights and repetitions."""
    rng = np.random.default_rng(3)
    if metric.ranking is not None:
        ranking = DecisionRanking(rng.random((40, 4)) < 0.4, rng.normal(size=(40, 4)).round(1))
        value = metric.ranking(ranking)
        holds(0 <= value <= 1, f"a score is {value}, not between 0 and 1")
        near(value, metric.ranking(ranking, np.ones(40)), "scores without weights, and with weights of 1,")
        twice = DecisionRanking(np.repeat(ranking.truth, 2, axis=0), np.repeat(ranking.values, 2, axis=0))
        near(
            metric.ranking(twice),
            metric.ranking(ranking, np.full(40, 2.0)),
            "scores of repeated and of weighted documents",
        )
        return
    # Tallies of documents, since not every three counts of a class are possible: a specificity would leave [0, 1].
    truth, predicted = rng.integers(0, 4, (2, 50, 30))
    alone = [tally_predictions(a, b, 4) for a, b in zip(truth, predicted, strict=True)]
    stack = stack_tallies(alone)
    values = np.asarray(metric.scores(stack))
    holds(values.shape == (50,), f"scores of 50 counts of 4 classes have the shape {values.shape}")
    holds(np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1, "a score isn't between 0 and 1")
    near(values, np.array([metric.scores(each) for each in alone]), "scores of counts in a stack and alone")


# --- Measures ---


def measures_what_it_declares(_: str, component: Any) -> None:
    """Check that the diagnostic returns finite numbers of the metrics that it declares, each in a known row."""
    diagnostic, found = _computed(component)
    for context, arrays in found:
        problem = diagnostic_problem(
            diagnostic, DiagnosticArrays(context.variant.name, arrays), allowed_rows(diagnostic, context.variant)
        )
        holds(not problem, problem)


def measures_the_same_again(_: str, component: Any) -> None:
    """Check that the diagnostic returns the same numbers when it is computed twice."""
    one, other = (list(_numbers(*_computed(component))) for _ in range(2))
    for (what, number), (_, again) in zip(one, other, strict=False):
        holds(number == again, f"{what} is {number} and then {again}")
    holds(len(one) == len(other), f"it returns {len(one)} numbers, and then {len(other)}")


def leaves_counts(_: str, component: Any) -> None:
    """Check that the diagnostic leaves the counts unchanged."""
    for context, matrix in ((each, each.counts.matrix.copy()) for each in _contexts()):
        with suppress(*_UNDEFINED):
            component().compute(context)
        holds((context.counts.matrix != matrix).nnz == 0, "the counts have changed")


def gives_notes(_: str, component: Any) -> None:
    """Check that the diagnostic returns its notes as lines of text."""
    diagnostic, found = _computed(component)
    for context, arrays in found:
        for note in diagnostic.notes(DiagnosticResults([DiagnosticArrays(context.variant.name, arrays)], {})):
            holds(isinstance(note, str), f"a note is {note!r}")


#: Errors of a diagnostic that is not defined for the documents.
_UNDEFINED = (ValueError, FloatingPointError)


def _computed(component: Any) -> tuple[Diagnostic, list[tuple[DiagnosticContext, Any]]]:
    """Compute a diagnostic on the small collections that it is defined for; raise if it is defined for none."""
    diagnostic, found, problems = component(), list[tuple[DiagnosticContext, Any]](), list[Exception]()
    for context in _contexts():
        try:
            found.append((context, diagnostic.compute(context)))
        except _UNDEFINED as error:
            problems.append(error)
    if not found:
        raise problems[0]
    return diagnostic, found


def _numbers(diagnostic: Diagnostic, found: list[tuple[DiagnosticContext, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the description and the value of each number of a diagnostic, except measured times."""
    clock = {quantity.name for quantity in diagnostic.metrics if quantity.on_clock}
    for context, arrays in found:
        numbers = diagnostic.numbers(DiagnosticArrays(context.variant.name, arrays))
        for row in numbers.rows:
            if row.metric not in clock:
                ours = row.estimate
                yield f"{row.metric} of {row.cell}", f"{ours.value} ({ours.low} to {ours.high}, n = {ours.n})"
        for point in numbers.points:
            if point.metric not in clock:
                yield f"{point.metric} of {point.method} {point.of_class}", f"{point.value} at {point.x}"


def _contexts() -> list[DiagnosticContext]:
    """Return contexts of small collections, with one class per document and with several, under several methods."""
    base = check_experiment(YamlSource("small.yaml", copy.deepcopy(_SMALL)), BUILTIN_REGISTRIES).variants[BASE_VARIANT]
    found = []
    for problem in (toy_problem(multilabel=False), toy_problem(multilabel=True)):
        collection = replace(base.collection, classes=problem.documents.classes)
        variant = replace(base, collection=collection)
        found.append(DiagnosticContext(problem.counts, variant, problem.seed, 1, lambda _, compute: compute()))
    return found


#: The configuration in which diagnostics are checked; its documents are the small collections.
_SMALL = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell"]},
    "methods": ["ngd", "divergence-bayes", {"features": "hellinger", "classifier": "linear-svm"}],
}

COMPONENT_CHECKS: Mapping[str, tuple[Check, ...]] = {
    "kernels": (
        *(keeps_parameters, gives_gram_rows, is_symmetric, is_the_same_in_blocks, is_the_same_again),
        *(leaves_arguments, decides),
    ),
    "classifiers": (keeps_parameters, predicts, predicts_the_same_again, leaves_arguments, decides),
    "protocols": (keeps_promises,),
    "diagnostics": (measures_what_it_declares, measures_the_same_again, leaves_counts, gives_notes),
    "metrics": (is_a_share,),
    "weightings": (keeps_parameters, gives_weights, weighs_alone, leaves_arguments, decides),
    "features": (keeps_parameters, gives_features, maps_alone, leaves_arguments, decides),
    "thresholds": (keeps_parameters, gives_thresholds, decides),
}
