"""What the tags of each classifier say of it, and the defaults of solvers where a classifier has the same."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.batch_svm import batch_decision_values
from benchmark.classifiers.centroids.graphs import NEIGHBOURS, WORD_GRAPHS, co_occurrence_graph
from benchmark.classifiers.divergence_bayes import CENTROID_KINDS, LENGTH_RULES, PRIOR_KINDS
from benchmark.classifiers.gzip_neighbours import GzipNeighbours
from benchmark.classifiers.linear_models import LIBLINEAR_LOSSES, LINEAR_SVM_SCHEMES
from benchmark.classifiers.one_vs_one import SvmProblem, train_class_pairs
from benchmark.classifiers.placeholders import FUSION, MADE_ELSEWHERE, Fusion, MadeElsewhere
from benchmark.classifiers.svm import COST_SCALES, KERNEL_SVM_SCHEMES, train_multiclass, train_multiclass_together
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.system.tags import DEFAULT_TAGS, tags_of

COUNTS = {"normalization": "none", "takes_features": False, "sums_words": True}
#: What differs from a plain classifier of any points.
TAGS: dict[str, dict[str, Any]] = {
    "svm": {"needs_kernel": True, "takes_features": False, "set_by_run": ("jobs",), "labels": {"svm": "SVM"}},
    "mnb": {**COUNTS, "labels": {"mnb": "MNB"}},
    "complement-nb": {**COUNTS, "labels": {"complement-nb": "Complement NB"}},
    "twcnb": {**COUNTS, "labels": {"twcnb": "TWCNB"}},
    "ppt": {**COUNTS, "labels": {"ppt": "PPT"}, "selects_terms": True},
    "eef": {**COUNTS, "labels": {"eef": "EEF"}, "selects_terms": True},
    "divergence-bayes": {**COUNTS, "first_trained_wins": True},
    "born": {**COUNTS, "labels": {"born": "Born"}},
    "nb-svm": COUNTS,
    **{name: {"sums_words": True} for name in ("linear-svm", "streamed-svm", "logistic")},
}
POINTS = [name for name in TAGS if name != "svm"]


def changed(component: Any) -> dict[str, Any]:
    plain = asdict(DEFAULT_TAGS)
    return {key: value for key, value in asdict(tags_of(component)).items() if value != plain[key]}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_tags_of_each_classifier(name: str) -> None:
    assert changed(CLASSIFIERS[name]) == TAGS[name]
    assert changed(CLASSIFIERS[name]()) == TAGS[name]


@pytest.mark.parametrize("cls", [MadeElsewhere, Fusion])
def test_what_decides_elsewhere_takes_nothing_and_cannot_be_trained(cls: type[MadeElsewhere]) -> None:
    assert changed(cls) == {"normalization": "none", "takes_features": False}
    for action in (cls().fit, lambda X, _: cls().predict(X)):
        with pytest.raises(NotImplementedError):
            action([[1.0]], [0])
    assert (MADE_ELSEWHERE, FUSION) == ("made elsewhere", "fusion")


def test_names_that_a_parameter_may_have() -> None:
    assert KERNEL_SVM_SCHEMES == ("one-vs-one", "one-vs-rest")
    assert COST_SCALES == ("one", "mean-self-product")
    assert LINEAR_SVM_SCHEMES == ("one-vs-rest", "one-vs-one", "crammer-singer")
    assert list(LIBLINEAR_LOSSES.items()) == [("hinge", ("hinge", True)), ("squared-hinge", ("squared_hinge", False))]
    assert CENTROID_KINDS == ("mean", "skl", "pooled")
    assert PRIOR_KINDS == ("empirical", "uniform")
    assert LENGTH_RULES == ("ignored", "counted")
    assert list(THRESHOLDS) == ["zero", "at-least-one", "cross-validated"]
    assert list(WORD_GRAPHS) == ["path", "path-by-frequency", "co-occurrence-tree", "co-occurrence"]


def defaults(made: Any) -> dict[str, Any]:
    parameters = inspect.signature(made).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


@pytest.mark.parametrize("made", [SvmProblem, train_multiclass, batch_decision_values])
def test_a_solver_has_the_defaults_of_the_classifier(made: Any) -> None:
    own, classifier = defaults(made), defaults(CLASSIFIERS["svm"])
    own.pop("nodes", None)
    assert own == {name: classifier[name] for name in own}
    assert {"C", "epsilon"} <= set(own)


def test_problems_are_trained_together_with_the_defaults_of_pairs_of_classes() -> None:
    assert defaults(train_multiclass_together) == defaults(train_class_pairs)
    assert defaults(train_class_pairs) == {"jobs": 1, "nodes": None, "budget": 4_000_000_000, "clock": None}
    assert defaults(GzipNeighbours) == {"k": 2, "ties": "nearest"}
    assert defaults(co_occurrence_graph) == {"neighbours": NEIGHBOURS} == {"neighbours": 2}


@pytest.mark.parametrize("name", POINTS)
def test_scores_of_documents_without_a_common_word_add_up_where_words_are_summed(name: str) -> None:
    """Up to the score of no word at all; for the rule that divides by the length, of documents of one length."""
    rng = np.random.default_rng(3)
    terms = rng.dirichlet(np.full(12, 0.5), size=3)
    y = np.arange(45) % 3
    X = np.array([rng.multinomial(9, terms[label]) for label in y])
    model = CLASSIFIERS[name](**({"length": "counted"} if name == "divergence-bayes" else {})).fit(X, y)
    left, right = X[:9].copy(), X[9:18].copy()
    left[:, 6:] = right[:, :6] = 0
    whole, one, other, nothing = (
        model.checked_scores(points) for points in (left + right, left, right, np.zeros((9, 12)))
    )
    # Differences of classes: a document's own entropy, and its length, are the same for all.
    both, parts = (values - values[:, :1] for values in (whole + nothing, one + other))
    np.testing.assert_allclose(both, parts, rtol=1e-9, atol=1e-9)
    assert np.ptp(both) > 1e-3


@pytest.mark.parametrize("name", POINTS)
def test_after_an_error_the_classifier_is_trained_as_if_there_had_been_none(name: str) -> None:
    X, y = np.array([[3, 1, 0, 2], [0, 1, 1, 1], [2, 2, 1, 0], [0, 0, 4, 1]]), np.array([0, 1, 0, 1])
    once, expected = CLASSIFIERS[name](), CLASSIFIERS[name]().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        once.fit(np.full((2, 3), np.nan), [0, 1])
    np.testing.assert_array_equal(once.fit(X, y).decision_function(X), expected.decision_function(X))
    with pytest.raises(ValueError, match="3 features"):
        once.predict(X[:, 1:])
    np.testing.assert_array_equal(once.predict(X), expected.predict(X))
