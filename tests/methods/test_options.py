"""Each option of a method reaches what it is for, by whatever way the method is solved or kept."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmark.methods.kernel_machines import KernelSvm, PrecomputedKernelSvm, SharedMatrixSvm, solve_jointly
from benchmark.methods.one_vs_rest import (
    FisherKernelMethod,
    HyperplaneTopMethod,
    KernelOneVsRest,
    LinearOneVsRest,
    PrecomputedKernelOneVsRest,
    _top_seconds,
    plsi_seed,
)
from sklearn.linear_model import SGDClassifier

from benchmark.classifiers import SupportVectorClassifier, libsvm, one_vs_one
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import check_component
from benchmark.config.model import TermSelection
from benchmark.evaluation.predictions import METHOD_TIMERS, TIMERS
from benchmark.kernels import is_elementwise_kernel
from benchmark.kernels.products import StreamedProducts
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.rankings import Rankings
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData, cache_entry, products_key
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.thresholds import ThresholdedMethod
from benchmark.methods.training_vocabulary import TrainingVocabularyMethod
from benchmark.representation import WEIGHTINGS
from benchmark.text.pruning import TRAINING, Pruning
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import MethodSpec
    from benchmark.methods.base import Method
    from benchmark.methods.problem import Problem

SELECTED = TermSelection((20,), "information-gain", "maximum")

#: Kernel, scheme, whether documents may have several classes, whether training sets are drawn, and the method.
MACHINES = [
    ("ngd", "one-vs-one", False, False, KernelSvm),
    ("linear", "one-vs-rest", False, False, KernelSvm),
    ("ned", "one-vs-one", False, True, SharedMatrixSvm),
    ("ngd", "one-vs-one", True, False, KernelOneVsRest),
    ("linear", "one-vs-one", True, False, LinearOneVsRest),
    ("hp-top", "one-vs-one", True, False, HyperplaneTopMethod),
    ("hp-top", "one-vs-one", False, False, HyperplaneTopMethod),
    ("plsi-fisher", "one-vs-one", True, False, FisherKernelMethod),
    ("plsi-fisher", "one-vs-one", False, False, FisherKernelMethod),
    ("gram-rows", "one-vs-one", False, False, PrecomputedKernelSvm),
    ("gram-rows", "one-vs-one", True, False, PrecomputedKernelOneVsRest),
]


def problem_of(*, multilabel: bool, n_classes: int = 3) -> Problem:
    return toy_problem(multilabel=multilabel, n_classes=n_classes)


def machine_spec(kernel: str, scheme: str, **more: Any) -> MethodSpec:
    normalization = "none" if kernel == "plsi-fisher" else "l1"
    representation = represented("tf", normalization, "collection")
    return spec_of(kernel, representation, scheme=scheme, **more)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, ...]]:
    """C, epsilon and cache of every set of parameters that LIBSVM gets."""
    found: list[tuple[float, ...]] = []
    for module in (libsvm, one_vs_one):
        made = module.svm_parameter
        monkeypatch.setattr(module, "svm_parameter", lambda *given, made=made: found.append(given) or made(*given))
    return found


@pytest.fixture
def ridges(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is added to a diagonal in LIBSVM's layout."""
    found: list[float] = []
    add = libsvm.NodeMatrix.add_to_diagonal
    monkeypatch.setattr(
        libsvm.NodeMatrix, "add_to_diagonal", lambda self, ridge, *rows: found.append(ridge) or add(self, ridge, *rows)
    )
    return found


def solved_and_kept(spec: MethodSpec, method: Method, problem: Problem, terms: int | None) -> Iterator[str]:
    """Solve, then fit where that is possible; yield which was done."""
    splits = toy_replicates(problem) if method.batched else toy_group_splits(problem)
    method.solve(problem, splits[:1], terms, MatrixCache())
    yield "solve"
    if spec.kernel is None or is_elementwise_kernel(spec.kernel.cls):
        method.fit(problem, splits[0], terms, MatrixCache())
        yield "fit"
    else:
        with pytest.raises(ValueError, match=f"a model with the kernel '{spec.kernel.name}' can't be saved"):
            method.fit(problem, splits[0], terms, MatrixCache())


@pytest.mark.parametrize(("kernel", "scheme", "multilabel", "replicated", "kind"), MACHINES)
def test_machines_have_the_parameters_of_the_classifier(
    kernel: str,
    scheme: str,
    multilabel: bool,
    replicated: bool,
    kind: type[Any],
    asked: list[tuple[float, ...]],
    ridges: list[float],
) -> None:
    ridge = 0.0 if kernel == "hp-top" else 0.25
    problem = problem_of(multilabel=multilabel, n_classes=2 if replicated else 3)
    spec = machine_spec(kernel, scheme, C=3.0, epsilon=0.02, cache_mb=7.0, ridge=ridge)
    method = build_method(spec, problem, None, replicated=replicated)
    assert type(method) is kind
    for done in solved_and_kept(spec, method, problem, None):
        cache = 20.0 if replicated and done == "solve" else 7.0  # small problems have one of their own
        assert set(asked) == {(3.0, 0.02, cache)}
        asked.clear()
        if kind is not SharedMatrixSvm:
            assert set(ridges) == ({0.0, ridge} if kernel == "hp-top" else {ridge})
        ridges.clear()


@pytest.mark.parametrize("kernel", ["ngd", "linear"])
def test_a_ridge_changes_what_a_shared_matrix_decides_and_is_kept(kernel: str) -> None:
    problem = problem_of(multilabel=False, n_classes=2)
    splits, bench, values = toy_replicates(problem), MatrixCache(), {}
    for ridge in (0.0, 0.5, 0.0, 5.0):
        spec = machine_spec(kernel, "one-vs-one", ridge=ridge, epsilon=1e-9)
        shared, single = (build_method(spec, problem, None, replicated=each) for each in (True, False))
        found = [each.values for each in shared.solve(problem, splits, None, bench)]
        for split, one, other in zip(splits, found, single.solve(problem, splits, None, MatrixCache()), strict=True):
            np.testing.assert_allclose(one, other.values, atol=1e-6)
            kept = shared.fit(problem, split, None, bench)
            again = kept.class_values(kept.values(problem.counts.matrix[split.test]))
            np.testing.assert_allclose(again, one, atol=1e-6)
        values[ridge] = found[0]
    assert np.abs(values[0.0] - values[0.5]).max() > 1e-3
    assert np.abs(values[5.0] - values[0.5]).max() > 1e-3


@pytest.mark.parametrize("kernel", ["linear", "ned", "rbf"])
@pytest.mark.parametrize("replicated", [False, True])
def test_a_cost_scaled_by_the_mean_of_the_kernel_is_that_cost(kernel: str, replicated: bool) -> None:
    """k(x, x) of unnormalized counts; NED's mean is 0, of which there is no inverse."""
    problem, bench = problem_of(multilabel=False, n_classes=2), MatrixCache()
    points = represented("tf", "none", "collection")
    split = toy_replicates(problem)[0]
    counts = problem.counts.matrix.toarray().astype(float)
    spec = spec_of(kernel, points, C=2.0, scale_C="mean-self-product", epsilon=1e-9)
    method = build_method(spec, problem, None, replicated=replicated)
    if kernel == "ned":
        with pytest.raises(ValueError, match=r"C can't be divided by the mean of k\(x, x\), which is -?0"):
            method.solve(problem, [split], None, bench)
        return
    unit = float((counts**2).sum(axis=1).mean()) if kernel == "linear" else 1.0
    plain = build_method(spec_of(kernel, points, C=2.0 / unit, epsilon=1e-9), problem, None, replicated=replicated)
    for one, other in zip(
        method.solve(problem, [split], None, bench), plain.solve(problem, [split], None, bench), strict=True
    ):
        np.testing.assert_allclose(one.values, other.values, atol=1e-5)


#: Kernel, prior, scheme and kind of problem, and the method: C is scaled by each in its own place.
SCALED = [
    ("linear", 0.0, "one-vs-one", True, LinearOneVsRest),
    ("linear", 0.5, "one-vs-one", True, KernelOneVsRest),
    ("linear", 0.0, "one-vs-one", False, KernelSvm),
    ("linear", 0.5, "one-vs-one", False, KernelSvm),
    ("linear", 0.0, "one-vs-rest", False, KernelSvm),
    ("linear", 0.5, "one-vs-rest", False, KernelSvm),
]


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize(("kernel", "dirichlet", "scheme", "multilabel", "kind"), SCALED)
def test_a_cost_is_scaled_by_the_mean_over_all_documents_of_their_terms(
    kernel: str, dirichlet: float, scheme: str, multilabel: bool, kind: type[Any], terms: int | None, asked: list[Any]
) -> None:
    problem, split = problem_of(multilabel=multilabel), toy_group_splits(problem_of(multilabel=multilabel))[0]
    points = represented("tf", "l1" if dirichlet else "none", "collection", dirichlet)
    spec = spec_of(kernel, points, C=2.0, scale_C="mean-self-product", scheme=scheme)
    method = build_method(spec, problem, terms and SELECTED, replicated=False)
    assert type(method) is kind
    counts = problem.counts.matrix.toarray()
    if terms:
        counts = counts[:, Rankings.learn(problem, split.train).of_all(terms, "maximum")]
    own = counts + dirichlet
    own = own / own.sum(axis=1, keepdims=True) if dirichlet else own.astype(float)
    unit = float((own**2).sum(axis=1).mean())
    assert unit < 0.5 or unit > 2
    for _ in solved_and_kept(spec, method, problem, terms):
        assert [C for C, *_ in asked] == pytest.approx([2.0 / unit] * len(asked))
        assert asked
        asked.clear()


#: Method, documents and the part of its way that selects terms.
SELECTING = [
    ("linear", False),
    ("ngd", False),
    ("ngd", True),
    ("linear", True),
    ("hp-top", True),
    ("plsi-fisher", True),
    ("mnb", False),
    ("mnb", True),
    ("linear-svm", True),
]


@pytest.mark.parametrize("wrapped", ["", "threshold", "vocabulary"])
@pytest.mark.parametrize(("name", "multilabel"), SELECTING)
def test_terms_are_selected_by_the_number_and_the_aggregate_that_are_asked_for(
    name: str, multilabel: bool, wrapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrapped == "threshold" and (not multilabel or name in ("hp-top", "plsi-fisher")):
        return
    seen: list[tuple[int, str]] = []
    of_all = Rankings.of_all
    monkeypatch.setattr(Rankings, "of_all", lambda self, *asked: seen.append(asked) or of_all(self, *asked))
    problem = problem_of(multilabel=multilabel)
    points = represented("tf", "none" if name in ("plsi-fisher", "mnb") else "l1", "collection")
    spec = spec_of(name, points)
    if wrapped == "threshold":
        spec = replace(spec, threshold=check_component("threshold", THRESHOLDS, "cross-validated"))
    if wrapped == "vocabulary":
        problem = replace(problem, pruning=Pruning(min_occurrences=1, min_documents=1, group=TRAINING))
    method = build_method(spec, problem, SELECTED, replicated=False)
    for _ in solved_and_kept(spec, method, problem, 20):
        assert set(seen) == {(20, "maximum")}
        seen.clear()


@pytest.mark.parametrize("name", ["ppt", "eef"])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_terms_of_each_class_are_those_of_its_ranking(name: str, multilabel: bool) -> None:
    problem, bench = problem_of(multilabel=multilabel), MatrixCache()
    split = toy_group_splits(problem)[0]
    spec = spec_of(name, represented("tf", "none", "collection"))
    method = build_method(spec, problem, SELECTED, replicated=False)
    fitted = method.fit(problem, split, 5, bench)
    rankings = bench.rankings(problem, split).of_each()
    assert fitted.learned.view.terms is None
    for number, model in enumerate(fitted.models):
        own = rankings if not multilabel else rankings[[fitted.learned.columns[number]] * 2]
        np.testing.assert_array_equal(model.selected_, own[:, :5])


# What methods share, and what they may not


def entries() -> dict[str, Any]:
    """Entries that differ from the first in one thing that decides a kernel's arrays."""
    problem = problem_of(multilabel=False)
    first, second = toy_group_splits(problem)
    spec = machine_spec("gram-rows", "one-vs-one")
    points, mapped = spec.representation, represented("tf", "l1", "collection", features="hellinger")

    def entry(
        *,
        problem: Problem = problem,
        spec: MethodSpec = spec,
        kind: type = KernelSvm,
        what: str = "Gram matrix",
        split: Any = first,
        terms: tuple[int | None, str] = (20, "sum"),
        **more: Any,
    ) -> Any:
        about, components, content = cache_entry(problem, spec, kind, what, split, terms, **more)
        return about, components, content

    return {
        "first": entry(),
        "problem": entry(problem=replace(problem, key="other")),
        "seed": entry(problem=replace(problem, seed=8)),
        "train": entry(split=replace(first, train=second.train)),
        "test": entry(split=replace(first, test=second.test)),
        "number": entry(split=replace(first, number=9)),
        "all documents": entry(split=None),
        "weighting": entry(spec=replace(spec, representation=represented("tfidf", "l1", "collection"))),
        "idf": entry(spec=replace(spec, representation=represented("tfidf", "l1", "training"))),
        "normalization": entry(spec=replace(spec, representation=replace(points, normalization="l2"))),
        "prior": entry(spec=replace(spec, representation=replace(points, dirichlet=0.5))),
        "fields": entry(spec=replace(spec, representation=replace(points, fields=(("all", 2.0),)))),
        "features": entry(spec=replace(spec, representation=mapped)),
        "kernel": entry(spec=machine_spec("ngd", "one-vs-one")),
        "none": entry(spec=replace(spec, kernel=None)),
        "method": entry(kind=SharedMatrixSvm),
        "what": entry(what="hyperplanes"),
        "terms": entry(terms=(21, "sum")),
        "all terms": entry(terms=(None, "sum")),
        "aggregate": entry(terms=(20, "maximum")),
        "more": entry(C=1.0),
        "other more": entry(C=2.0),
    }


def test_cached_arrays_are_named_by_all_that_decides_them() -> None:
    found = entries()
    names = {name: repr((components, content)) for name, (_, components, content) in found.items()}
    same = [(a, b) for a in names for b in names if a < b and names[a] == names[b]]
    assert same == []


def test_a_classifier_and_the_name_of_a_split_decide_no_cached_arrays() -> None:
    problem = problem_of(multilabel=False)
    split = toy_group_splits(problem)[0]
    plain, other = (machine_spec("ngd", "one-vs-one", C=C) for C in (1.0, 2.0))
    one = cache_entry(problem, plain, KernelSvm, "Gram matrix", split)
    assert one == cache_entry(problem, other, KernelSvm, "Gram matrix", replace(split, name="elsewhere"))
    assert one[0] == f"Gram matrix, {len(split.train)} documents of 3 classes"
    assert cache_entry(problem, plain, KernelSvm, "hyperplanes")[0] == "hyperplanes, 60 documents of 3 classes"
    assert one[1] == [KernelSvm, plain.representation.weighting.cls, plain.kernel.cls]  # type: ignore[union-attr]
    mapped = represented("tf", "l1", "collection", features="hellinger")
    assert mapped.features is not None
    for kernel in (plain.kernel, None):
        spec = replace(plain, representation=mapped, kernel=kernel)
        parts = [mapped.weighting.cls, mapped.features.cls, *([] if kernel is None else [kernel.cls])]
        assert cache_entry(problem, spec, LinearOneVsRest, "hyperplanes")[1] == [LinearOneVsRest, *parts]


def test_products_are_shared_by_methods_of_the_same_points_alone() -> None:
    plain = spec_of("linear", represented("tf", "l1", "collection"))
    tfidf = represented("tfidf", "l1", "training")
    fields = replace(plain.representation, fields=(("all", 1.0), ("title", 2.0)))
    keys = {
        "plain": products_key(plain),
        "root": products_key(spec_of("ngd", plain.representation)),
        "tfidf": products_key(replace(plain, representation=tfidf)),
        "idf": products_key(replace(plain, representation=represented("tfidf", "l1", "collection"))),
        "prior": products_key(replace(plain, representation=replace(plain.representation, dirichlet=0.5))),
        "fields": products_key(replace(plain, representation=fields)),
        "weights": products_key(replace(plain, representation=replace(fields, fields=(("all", 1.0), ("title", 3.0))))),
        "l2 fields": products_key(replace(plain, representation=replace(fields, normalization="l2"))),
        "points": products_key(spec_of("mnb", plain.representation)),
    }
    assert len(set(map(repr, keys.values()))) == len(keys)
    same = [
        spec_of("ned", plain.representation),
        spec_of("rbf", represented("tf", "l2", "collection")),
        spec_of("linear", represented("tf", "none", "training")),  # counts learn nothing
        spec_of("linear", plain.representation, C=2.0),
    ]
    assert {repr(products_key(each)) for each in same} == {repr(keys["plain"])}


def test_machines_join_with_those_of_the_same_products() -> None:
    problem = problem_of(multilabel=False)

    def key(spec: MethodSpec, terms: TermSelection | None = None) -> Any:
        method = build_method(spec, problem, terms, replicated=False)
        assert isinstance(method, KernelSvm)
        return method.joins(None if terms is None else 20)

    l1, l2 = represented("tf", "l1", "collection"), represented("tf", "l2", "collection")
    assert key(spec_of("linear", l1)) == key(spec_of("ned", l2, C=3.0)) is not None
    assert key(spec_of("linear", l1)) != key(spec_of("ngd", l1))
    assert key(spec_of("linear", l1, scheme="one-vs-rest")) is None
    assert key(spec_of("linear", l1), SELECTED) == key(spec_of("ned", l1), SELECTED)
    assert key(spec_of("linear", l1), SELECTED) != key(spec_of("linear", l1))
    assert key(spec_of("linear", l1), SELECTED) != key(spec_of("linear", l2), SELECTED), "points of selected terms"
    assert key(spec_of("linear", l1), SELECTED) != key(spec_of("linear", l1), replace(SELECTED, aggregate="sum"))


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("once", [False, True])
def test_machines_that_are_joined_decide_as_each_alone(once: bool, terms: int | None) -> None:
    problem = problem_of(multilabel=False)
    points = represented("tf", "l2", "collection")
    specs = [
        spec_of("linear", points),
        spec_of("ned", points, C=0.1),
        spec_of("linear", points, C=5.0, epsilon=0.5),
        spec_of("rbf", points, ridge=0.5),
        spec_of("ned", points, scale_C="mean-self-product"),  # whose mean is 0
        spec_of("linear", points if terms else represented("tf", "none", "collection")),
    ]
    selection = None if terms is None else SELECTED
    methods = [build_method(spec, problem, selection, replicated=False) for spec in specs]
    splits = toy_group_splits(problem)
    wanted = [(method, splits if number % 2 else splits[1:]) for number, method in enumerate(methods)]
    found = solve_jointly(wanted, problem, terms, MatrixCache(jobs=2), once=once)  # type: ignore[arg-type]
    assert isinstance(found[4], ValueError)
    for (method, own), joint in zip(wanted, found, strict=True):
        if isinstance(joint, Exception):
            continue
        assert len(joint) == len(own)
        for one, other in zip(joint, method.solve(problem, own, terms, MatrixCache()), strict=True):
            np.testing.assert_array_equal(one.predicted, other.predicted)
            np.testing.assert_array_equal(one.tied, other.tied)


# Methods around methods


def test_wrappers_say_what_the_method_says() -> None:
    problem = problem_of(multilabel=True)
    spec = spec_of("mnb", represented("tf", "none", "collection"))
    for batched in (False, True):
        inner = PointClassifierMethod(spec, batched=batched)
        wrapper = TrainingVocabularyMethod(inner)
        assert (wrapper.batched, wrapper.uses_seed, wrapper.spec) == (batched, False, spec)
        rule = check_component("threshold", THRESHOLDS, "cross-validated")
        high = ThresholdedMethod(replace(inner, spec=replace(spec, threshold=rule)))
        assert (high.batched, high.uses_seed, high.spec.threshold) == (batched, True, rule)
        zero = check_component("threshold", THRESHOLDS, "at-least-one")
        assert not ThresholdedMethod(replace(inner, spec=replace(spec, threshold=zero))).uses_seed
    seeded = PointClassifierMethod(
        replace(spec, classifier=check_component("classifier", {"sgd": SGDClassifier}, "sgd"))
    )
    for method in (seeded, TrainingVocabularyMethod(seeded)):
        assert method.uses_seed
    assert build_method(replace(spec, threshold=rule), problem, None, replicated=False).spec.threshold is rule


def test_the_seed_of_plsi_is_another_for_each_seed_size_and_split() -> None:
    problem = problem_of(multilabel=True)
    first, second = toy_group_splits(problem)
    shorter = replace(first, train=first.train[1:])
    other = replace(problem, seed=8)
    seeds = [plsi_seed(problem, each) for each in (first, second, shorter)] + [plsi_seed(other, first)]
    assert len(set(seeds)) == 4
    assert seeds == [plsi_seed(problem, each) for each in (first, second, shorter)] + [plsi_seed(other, first)]
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_data_of_a_split_are_its_own() -> None:
    problem = problem_of(multilabel=True)
    first, second = toy_group_splits(problem)
    bench = MatrixCache()
    for split in (first, second):
        work = SplitData(problem, split, [first, second], 7, "maximum", bench)
        np.testing.assert_array_equal(work.members, problem.members[split.train])
        terms = Rankings.learn(problem, split.train).of_all(7, "maximum")
        np.testing.assert_array_equal(work.selected_terms(), terms)
        np.testing.assert_array_equal(work.selected_counts().toarray(), problem.counts.matrix.toarray()[:, terms])
        whole = replace(work, terms=None)
        assert whole.selected_terms() is None
        assert whole.selected_counts() is problem.counts.matrix


def test_each_method_is_solved_in_its_own_way() -> None:
    one, two, several = (problem_of(multilabel=m, n_classes=n) for m, n in ((False, 3), (False, 2), (True, 3)))
    l1, learned = represented("tf", "l1", "collection"), represented("tfidf", "l1", "training")
    smoothed, of_all = replace(l1, dirichlet=0.5), represented("tfidf", "l1", "collection")
    cases: list[tuple[MethodSpec, Problem, TermSelection | None, bool, type[Any]]] = [
        (spec_of("linear", l1), one, None, False, KernelSvm),
        (spec_of("linear", l1), two, None, False, KernelSvm),
        (spec_of("linear", l1), two, None, True, SharedMatrixSvm),
        (spec_of("linear", of_all), two, None, True, SharedMatrixSvm),
        (spec_of("linear", learned), two, None, True, KernelSvm),
        (spec_of("linear", l1), two, SELECTED, True, KernelSvm),
        (spec_of("linear", l1), one, None, True, KernelSvm),
        (spec_of("linear", l1, scheme="one-vs-rest"), two, None, True, KernelSvm),
        (spec_of("linear", l1), several, None, False, LinearOneVsRest),
        (spec_of("linear", l1), several, None, True, LinearOneVsRest),
        (spec_of("linear", smoothed), several, None, False, KernelOneVsRest),
        (spec_of("ngd", l1), several, SELECTED, False, KernelOneVsRest),
        (spec_of("mnb", l1), several, SELECTED, True, PointClassifierMethod),
        (machine_spec("gram-rows", "one-vs-one"), one, SELECTED, False, PrecomputedKernelSvm),
        (machine_spec("gram-rows", "one-vs-one"), several, None, True, PrecomputedKernelOneVsRest),
        (machine_spec("plsi-fisher", "one-vs-one"), one, None, True, FisherKernelMethod),
        (machine_spec("hp-top", "one-vs-one"), several, None, True, HyperplaneTopMethod),
    ]
    for spec, problem, terms, replicated, kind in cases:
        method = build_method(spec, problem, terms, replicated=replicated)
        assert type(method) is kind
        assert method.spec is spec
        assert method.batched == (replicated if kind is PointClassifierMethod else kind is SharedMatrixSvm)
        assert method.uses_seed == (kind is FisherKernelMethod)
        if kind is not SharedMatrixSvm:
            assert method.aggregate == ("sum" if terms is None else "maximum")  # type: ignore[attr-defined]


def test_a_prior_changes_what_linear_machines_of_several_classes_decide() -> None:
    problem, bench = problem_of(multilabel=True), MatrixCache()
    split = toy_group_splits(problem)[0]
    values = []
    for dirichlet in (0.0, 2.0):
        spec = spec_of("linear", replace(represented("tf", "l1", "collection"), dirichlet=dirichlet), C=100.0)
        values.append(
            build_method(spec, problem, None, replicated=False).solve(problem, [split], None, bench)[0].values
        )
    counts = problem.counts.matrix.toarray() + 2.0
    points = counts / counts.sum(axis=1, keepdims=True)
    gram = points @ points.T
    for code in range(3):
        inside = problem.members[split.train, code]
        machine = SupportVectorClassifier(C=100.0).fit(gram[np.ix_(split.train, split.train)], np.where(inside, 1, -1))
        expected = machine.decision_function(gram[np.ix_(split.test, split.train)])[:, 0]
        np.testing.assert_allclose(values[1][:, code], expected, atol=0.02 * np.abs(expected).max())
    assert np.abs(values[0] - values[1]).max() > 0.1


def test_the_seconds_of_hp_top_are_its_own_and_those_of_all_linear_machines() -> None:
    own = np.arange(1.0, 1 + len(METHOD_TIMERS))
    linear: Any = SimpleNamespace(seconds=10.0 * np.arange(1, 1 + len(TIMERS)), other_seconds=1000.0)
    found = dict(zip(METHOD_TIMERS, _top_seconds(linear, own), strict=True))
    products, extraction = METHOD_TIMERS.index("products"), METHOD_TIMERS.index("extraction")
    whole = linear.seconds[: len(METHOD_TIMERS)]
    assert found["products"] == own[products] + whole[products]
    assert found["extraction"] == own[extraction] + whole.sum() - whole[products] + 1000.0
    for part in set(METHOD_TIMERS) - {"products", "extraction"}:
        assert found[part] == own[METHOD_TIMERS.index(part)]


@pytest.mark.parametrize("idf", ["collection", "training"])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("once", [False, True])
def test_products_that_no_other_split_needs_are_streamed_where_they_are_large(
    idf: str, by_class: bool, once: bool
) -> None:
    """And only where they are read class by class."""
    problem = problem_of(multilabel=False)
    first, second = toy_group_splits(problem)
    points = represented("tfidf", "l1", idf)
    bench, watch = MatrixCache(budget=60 * 60 * 8), Stopwatch()
    work = SplitData(problem, first, [first, second], None, "sum", bench)
    found = work.products(points, 1.0, watch, by_class=by_class, once=once)
    assert isinstance(found.matrix, StreamedProducts) == (by_class and (once or idf == "training"))
    np.testing.assert_array_equal(found.columns, np.arange(60) if idf == "collection" else first.train)
    assert watch.seconds("products").sum() > 0


@pytest.mark.parametrize(
    ("scheme", "n_classes", "valued"),
    [("one-vs-one", 2, True), ("one-vs-one", 3, False), ("one-vs-one", 4, False), ("one-vs-rest", 3, True)],
)
@pytest.mark.parametrize("kernel", ["ngd", "gram-rows"])
def test_classes_have_values_unless_pairs_of_them_vote(kernel: str, scheme: str, n_classes: int, valued: bool) -> None:
    problem = problem_of(multilabel=False, n_classes=n_classes)
    method = build_method(machine_spec(kernel, scheme), problem, None, replicated=False)
    for split, found in zip(
        toy_group_splits(problem), method.solve(problem, toy_group_splits(problem), None, MatrixCache()), strict=True
    ):
        if valued:
            assert found.values.shape == (len(split.test), n_classes)
            clear = ~found.tied
            np.testing.assert_array_equal(found.values.argmax(axis=1)[clear], found.predicted[clear])
        else:
            assert found.values is None


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("parameters", [{}, {"ridge": 0.3}, {"scale_C": "mean-self-product"},
                                        {"ridge": 0.3, "scale_C": "mean-self-product"}], ids=str)  # fmt: skip
def test_one_matrix_for_all_splits_decides_as_one_for_each(weighting: str, parameters: dict[str, Any]) -> None:
    problem = problem_of(multilabel=False, n_classes=2)
    spec = spec_of("linear", represented(weighting, "none", "collection"), epsilon=1e-9, C=3.0, **parameters)
    splits = toy_replicates(problem)
    kinds, found = [], []
    for replicated in (True, False):
        method = build_method(spec, problem, None, replicated=replicated)
        kinds.append(type(method))
        found.append(method.solve(problem, splits, None, MatrixCache()))
    assert kinds == [SharedMatrixSvm, KernelSvm]
    shared = build_method(spec, problem, None, replicated=True)
    for split, one, other in zip(splits, *found, strict=True):
        np.testing.assert_allclose(one.values, other.values, atol=1e-6)
        kept = shared.fit(problem, split, None, MatrixCache())
        np.testing.assert_allclose(kept.values_of_rows(problem.counts.matrix[split.test]), one.values, atol=1e-6)


@pytest.mark.parametrize("terms", [None, 20])
def test_thresholds_are_learned_from_folds_with_as_many_terms(
    terms: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int | None]] = []
    fit = PointClassifierMethod.fit
    monkeypatch.setattr(
        PointClassifierMethod,
        "fit",
        lambda self, problem, split, *more: (
            seen.append((len(split.train), more[0])) or fit(self, problem, split, *more)
        ),
    )
    problem = problem_of(multilabel=True)
    split = toy_group_splits(problem)[0]
    spec = replace(
        spec_of("linear-svm", represented("tf", "l2", "collection")),
        threshold=check_component("threshold", THRESHOLDS, "cross-validated"),
    )
    build_method(spec, problem, terms and SELECTED, replicated=False).solve(problem, [split], terms, MatrixCache())
    assert [number for _, number in seen] == [terms] * 6
    assert [size for size, _ in seen] == [30] + [24] * 5
