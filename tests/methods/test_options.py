"""Each option of a method decides what it says, in a run and in what is kept: against scikit-learn and the classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmark.classifiers import CLASSIFIERS
from benchmark.kernels import HyperplaneTop, PLSIFisher
from benchmark.methods.base import solve_batch
from benchmark.methods.learned_kernels import FisherMethod, TopMethod, plsi_seed
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.svm_method import HyperplaneMethod, SharedMatrixSvm, SvmMethod
from benchmark.methods.wrappers import build_method
from benchmark.representation.selection import GAIN_AGGREGATES, information_gain, rank_terms
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import SELECTED, represented, spec_of, trained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.splits import Split
    from benchmark.methods.problem import Problem

    Array = NDArray[np.float64]


def selected(problem: Problem, split: Split, terms: int | None, aggregate: str = "maximum") -> Array:
    """Counts of all documents over the terms that the training documents rank highest, from the definitions."""
    counts = problem.counts.matrix.toarray().astype(float)
    if terms is None:
        return counts
    members = problem.members[split.train]
    gains = information_gain(counts[split.train], members if problem.multilabel else members.argmax(axis=1))
    return np.asarray(counts[:, rank_terms(GAIN_AGGREGATES[aggregate](gains, members.mean(axis=0)))[:terms]])


def points_by_hand(
    spec: MethodSpec, problem: Problem, split: Split, terms: int | None, aggregate: str = "maximum"
) -> Array:
    """Weighted and normalized points of all documents, over the selected terms."""
    points, counts = spec.representation, selected(problem, split, terms, aggregate)
    if points.dirichlet:
        counts = counts + points.dirichlet
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    rows = slice(None) if points.idf == "collection" else split.train
    labels = problem.members[rows] if points.learns == "labels" else None
    weighting = points.weighting.build().fit(sp.csr_array(counts[rows]), labels)
    weights = weighting.transform(sp.csr_array(counts)).toarray()
    order = {"none": None, "l1": 1, "l2": 2}[points.normalization]
    return weights if order is None else weights / np.linalg.norm(weights, ord=order, axis=1, keepdims=True)


# Support vector machines

#: Kernel, scheme, whether documents may have several classes, number of classes, whether training sets are drawn, and
#: the class that solves it.
MACHINES: list[tuple[str, str, bool, int, bool, type[Any]]] = [
    ("ngd", "one-vs-one", False, 3, False, SvmMethod),
    ("linear", "one-vs-one", False, 3, True, SvmMethod),
    ("linear", "one-vs-rest", False, 3, False, SvmMethod),
    ("linear", "one-vs-rest", False, 2, True, SvmMethod),
    ("linear", "one-vs-one", False, 2, True, SharedMatrixSvm),
    ("ngd", "one-vs-one", False, 2, True, SharedMatrixSvm),
    ("ngd", "one-vs-one", True, 3, False, SvmMethod),
    ("linear", "one-vs-one", True, 3, False, HyperplaneMethod),
    ("gram-rows", "one-vs-one", False, 3, False, SvmMethod),
    ("gram-rows", "one-vs-rest", False, 3, False, SvmMethod),
    ("gram-rows", "one-vs-one", True, 3, False, SvmMethod),
]
OPTIONS: list[dict[str, Any]] = [
    {"C": 0.1},
    {"C": 30.0},
    {"ridge": 0.5},
    {"scale_C": "mean-self-product"},
    {"ridge": 0.5, "scale_C": "mean-self-product"},
]
#: Weighting, idf, Dirichlet prior and terms.
POINTS = [("tf", "collection", 0.0, None), ("tfidf", "training", 0.0, None), ("tf", "collection", 0.5, None),
          ("tf", "collection", 0.0, 20), ("tfidf", "collection", 0.0, 20), ("tf", "collection", 0.5, 20)]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "scheme", "multilabel", "n_classes", "replicated", "kind", "options"),
    [(*each, options) for each in MACHINES for options in OPTIONS if each[0] == "linear" or "scale_C" not in options],
)
def test_an_svm_is_that_of_scikit_learn(
    kernel: str, scheme: str, multilabel: bool, n_classes: int, replicated: bool, kind: type[Any], options: Any
) -> None:
    """The unit of C is the mean of k(x, x) over all documents of the task, those that are tested included."""
    problem, bench = toy_problem(multilabel=multilabel, n_classes=n_classes), MatrixCache()
    split = (toy_replicates(problem) if replicated else toy_group_splits(problem))[0]
    of_one_norm = kernel != "linear"  # NGD and Bhattacharyya take points of the simplex
    for weighting, idf, dirichlet, terms in POINTS:
        if dirichlet and kernel == "gram-rows":
            continue
        points = represented(weighting, "l1" if of_one_norm or dirichlet else "none", idf, dirichlet)
        spec = spec_of(kernel, points, epsilon=1e-7, scheme=scheme, **options)
        method = build_method(spec, problem, None if terms is None else SELECTED, replicated=replicated)
        plain = terms is None and not dirichlet and idf == "collection"
        assert not plain or type(method) is kind
        (found,) = method.solve(problem, [split], terms, bench)
        documents = points_by_hand(spec, problem, split, terms)
        gram = spec.build_kernel().fit_transform(documents)
        C = options.get("C", 1.0) / (np.diagonal(gram).mean() if "scale_C" in options else 1.0)
        train = gram[np.ix_(split.train, split.train)] + options.get("ridge", 0.0) * np.eye(len(split.train))
        tested, machine = gram[np.ix_(split.test, split.train)], SVC(C=C, kernel="precomputed", tol=1e-7)
        targets, each = problem.members[split.train], np.arange(n_classes)
        if n_classes == 2 and not multilabel:
            expected = machine.fit(train, ~targets[:, 0]).decision_function(tested)[:, None] * [-1, 1]
        elif scheme == "one-vs-rest" or multilabel:
            columns = [machine.fit(train, targets[:, code]).decision_function(tested) for code in each]
            expected = np.stack(columns, axis=1)
        else:
            assert found.values is None
            labels = problem.documents.labels[split.train]
            clear = machine.set_params(decision_function_shape="ovo").fit(train, labels)
            sure = (np.abs(clear.decision_function(tested)) > 1e-4).all(axis=1)
            assert sure.mean() > 0.9
            np.testing.assert_array_equal(found.predicted[sure], clear.predict(tested)[sure])
            expected = machine.set_params(decision_function_shape="ovr").fit(train, labels).decision_function(tested)
        scale = max(1.0, np.abs(expected).max())
        if found.values is not None:
            np.testing.assert_allclose(found.values, expected, atol=1e-4 * scale)
        if kernel != "gram-rows" and not dirichlet:
            fitted, inputs = trained(method, problem, split, terms, bench)
            kept = fitted.class_values(inputs[split.test])
            np.testing.assert_allclose(kept, expected, atol=1e-4 * scale)


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("once", [False, True])
def test_machines_that_are_joined_decide_as_each_alone(once: bool, terms: int | None) -> None:
    """Whatever splits each asks for; one that can't be trained has its error as its result, and the others theirs."""
    problem, points = toy_problem(multilabel=False), represented("tf", "l2", "collection")
    specs = [
        spec_of("linear", points),
        spec_of("ned", points, C=0.1),
        spec_of("linear", points, C=5.0, epsilon=0.5),
        spec_of("rbf", points, ridge=0.5),
        spec_of("ned", points, scale_C="mean-self-product"),  # whose mean is 0
        spec_of("linear", points if terms else represented("tf", "none", "collection")),
    ]
    methods = [build_method(spec, problem, terms and SELECTED, replicated=False) for spec in specs]
    assert len({repr(each.joins(problem, terms)) for each in methods}) == 1
    splits = toy_group_splits(problem)
    asked = [(method, splits if number % 2 else splits[1:]) for number, method in enumerate(methods)]
    found = solve_batch(asked, problem, terms, MatrixCache(jobs=2), once=once)
    assert isinstance(found[4], ValueError)
    with pytest.raises(ValueError, match="C can't be divided"):
        methods[4].solve(problem, splits, terms, MatrixCache())
    for (method, own), joint in zip(asked, found, strict=True):
        if isinstance(joint, Exception):
            continue
        for one, other in zip(joint, method.solve(problem, own, terms, MatrixCache()), strict=True):
            np.testing.assert_array_equal(one.predicted, other.predicted)
            np.testing.assert_array_equal(one.tied, other.tied)


# Kernels that learn a model


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_hp_top_decides_as_its_class_does(multilabel: bool, terms: int | None, bench: MatrixCache) -> None:
    """Documents without a class are one more in its mixture."""
    problem = toy_problem(multilabel=multilabel)
    spec = spec_of("hp-top", represented("tf", "l2", "collection"), C=3.0)
    method = build_method(spec, problem, terms and SELECTED, replicated=False)
    assert type(method) is TopMethod
    for split, found in zip(
        toy_group_splits(problem), method.solve(problem, toy_group_splits(problem), terms, bench), strict=True
    ):
        points = sp.csr_array(points_by_hand(spec, problem, split, terms))
        mixture = problem.members[split.train]
        if multilabel:
            mixture = np.hstack([mixture, ~mixture.any(axis=1, keepdims=True)])
        values = HyperplaneTop(C=3.0).fit(points[split.train], mixture).solve_targets(range(3), points[split.test])
        np.testing.assert_array_equal(found.predicted, values > 0 if multilabel else values.argmax(axis=1))
        np.testing.assert_allclose(found.values, values, atol=1e-6)


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_the_fisher_kernel_is_that_of_its_class(multilabel: bool, terms: int | None, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=multilabel)
    options = {"C": 3.0, "ridge": 2.0, "epsilon": 1e-7}
    spec = spec_of("plsi-fisher", represented("tf", "none", "collection"), **options)
    method = build_method(spec, problem, terms and SELECTED, replicated=False)
    assert type(method) is FisherMethod
    assert method.uses_seed
    split = toy_group_splits(problem)[1]
    (found,) = method.solve(problem, [split], terms, bench)
    counts = sp.csr_array(selected(problem, split, terms).astype(np.int32))
    kernel = PLSIFisher(n_classes=[2], tolerance=1e-2, seed=plsi_seed(problem, split))
    gram = kernel.fit_transform(counts[split.train])
    tested, machine = kernel.transform(counts[split.test]), SVC(C=3.0, kernel="precomputed", tol=1e-7)
    gram = gram + 2.0 * np.eye(len(gram))
    targets = problem.members[split.train].T
    expected = np.stack([machine.fit(gram, each).decision_function(tested) for each in targets], axis=1)
    np.testing.assert_allclose(found.values, expected, atol=1e-4 * max(1.0, np.abs(expected).max()))


# Classifiers of points


@pytest.mark.parametrize(("terms", "aggregate"), [(None, ""), (20, "sum"), (20, "average"), (20, "maximum")])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize(
    ("name", "parameters", "weighting", "normalization"),
    [
        ("mnb", {"smoothing": 0.1}, "tf", "none"),
        ("linear-svm", {"C": 3.0}, "tfidf", "l2"),
        ("logistic", {"C": 0.3}, "tf", "l1"),
        ("ppt", {"smoothing": 0.5}, "tf", "none"),
        ("eef", {}, "tf", "none"),
    ],
)
def test_a_classifier_is_that_of_its_class(
    name: str, parameters: Any, weighting: str, normalization: str, multilabel: bool, terms: int | None, aggregate: str
) -> None:
    """On terms for all classes, or on terms of its own choice for each."""
    problem, cls, bench = toy_problem(multilabel=multilabel), CLASSIFIERS[name], MatrixCache()
    spec = spec_of(name, represented(weighting, normalization, "training"), **parameters)
    method = build_method(spec, problem, terms and replace(SELECTED, aggregate=aggregate), replicated=False)
    chooses = name in ("ppt", "eef")
    for split, found in zip(
        toy_group_splits(problem), method.solve(problem, toy_group_splits(problem), terms, bench), strict=True
    ):
        points = sp.csr_array(points_by_hand(spec, problem, split, None if chooses else terms, aggregate))
        own = {**parameters, **({"n_terms": terms} if chooses and terms else {})}
        members, tested = problem.members[split.train], points[split.test]
        if multilabel:
            models = [cls(**own).fit(points[split.train], members[:, code].astype(int)) for code in range(3)]
            expected = np.stack([model.predict(tested) for model in models], axis=1).astype(bool)
        else:
            expected = cls(**own).fit(points[split.train], members.argmax(axis=1)).predict(tested)
        np.testing.assert_array_equal(found.predicted, expected)
        kept, inputs = trained(method, problem, split, terms, bench)
        np.testing.assert_array_equal(kept.decide(inputs[split.test]).predicted, expected)
