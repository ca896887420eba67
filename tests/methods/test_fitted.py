"""What is kept of a method decides as the run does: every kernel and classifier, on every kind of problem."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.libsvm import BinarySvm
from benchmark.classifiers.svm import MulticlassSvm, SupportVectorClassifier, svm_class_scores
from benchmark.config.model import MethodFile, TermSelection, VectorFile
from benchmark.corpora.corpus import Documents
from benchmark.kernels import KERNELS, Kernel
from benchmark.methods.fitted import FittedMachines, trained_state
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.problem import Problem
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData
from benchmark.model.persistence import described_state, read_state
from benchmark.representation import NORMALIZATIONS, WEIGHTINGS
from benchmark.system.tags import tags_of
from benchmark.text.counts import Counts
from tests.toy_data import check_decisions, toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.splits import Split
    from benchmark.methods.fitted import FittedMethod

NAMES = [*KERNELS, *(name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel)]
#: They learn a model of the documents.
NOT_KEPT = {name for name, cls in KERNELS.items() if not issubclass(cls, Kernel)}
SELECTED = TermSelection((20,), "information-gain", "sum")
#: Classes, terms, and whether training documents are drawn: every two of the three in every way. In each half, both
#: numbers of classes and both kinds of terms.
CASES = [(2, None, False), (3, SELECTED, False), (2, SELECTED, True), (3, None, True)]


def specs(name: str) -> Iterator[MethodSpec]:
    pairs = [*itertools.product(("tf", "tfidf"), NORMALIZATIONS)]
    if name in ("ngd", "linear-svm"):  # how points are weighted is all one to what takes them
        pairs += [(weighting, "l1") for weighting in WEIGHTINGS]
    for weighting, normalization in pairs:
        spec = spec_of(name, represented(weighting, normalization, "training"))
        if spec.kernel is None or normalization in tags_of(spec.kernel.build()).normalizations:
            yield spec


def kept_again(fitted: FittedMethod) -> FittedMethod:
    """By way of the file of a kept model."""
    return read_state(described_state({"fitted": fitted.over_own_terms()}))["fitted"]


def asked(fitted: FittedMethod, counts: sp.csr_array) -> sp.csr_array:
    return fitted.learned.view.own_terms(counts)


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_KEPT])
def test_it_decides_as_the_run_does(name: str, multilabel: bool, bench: MatrixCache) -> None:
    problems = {n: toy_problem(multilabel=multilabel, n_classes=n, key=str(n)) for n in (2, 3)}
    # Those that a method has many of are shared out: with one label and with several, both weightings and each
    # normalization. A representation has another half of the cases than the one before.
    every = [*specs(name)]
    for nth, spec in enumerate(every[int(multilabel) :: 2] if len(every) == 6 else every):
        half = (nth + multilabel) % 2
        for n_classes, terms, replicated in CASES[2 * half : 2 * half + 2]:
            problem, matrix = problems[n_classes], problems[n_classes].counts.matrix
            number = None if terms is None else 20
            splits = toy_replicates(problem) if replicated else toy_group_splits(problem)
            method = build_method(spec, problem, terms, replicated=replicated)
            run = method.solve(problem, splits, number, bench)
            for split, decisions in zip(splits, run, strict=True):
                check_decisions(problem, len(split.test), decisions)
            turn = (nth // 2 + multilabel) % 2  # of the two splits, which were solved together
            split, decisions = splits[turn], run[turn]
            fitted = method.fit(problem, split, number, bench)
            tested = asked(fitted, matrix[split.test])
            values, again = fitted.values(tested), kept_again(fitted).values(tested)
            np.testing.assert_array_equal(values, again, strict=True)
            np.testing.assert_array_equal(fitted.predict_from(values), decisions.predicted)
            of_classes = fitted.class_values(values)
            np.testing.assert_array_equal(fitted.values_of_rows(matrix[split.test]), of_classes)
            if decisions.values is not None:
                np.testing.assert_allclose(of_classes, decisions.values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_KEPT])
def test_the_largest_value_is_of_the_class_that_is_given(name: str, multilabel: bool, bench: MatrixCache) -> None:
    """Where none is shared; of documents with several classes, those with a positive value."""
    problem = toy_problem(multilabel=multilabel)
    split = toy_group_splits(problem)[0]
    spec = spec_of(name, represented("tf", tags_of(KERNELS.get(name) or CLASSIFIERS[name]).normalization, "collection"))
    method = build_method(spec, problem, None, replicated=False)
    fitted, (decisions,) = method.fit(problem, split, None, bench), method.solve(problem, [split], None, bench)
    values = fitted.class_values(fitted.values(problem.counts.matrix[split.test]))
    assert values.shape == (len(split.test), 3)
    if multilabel:
        np.testing.assert_array_equal(values > 0, decisions.predicted)
    else:
        clear = ~decisions.tied
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(values.argmax(axis=1)[clear], decisions.predicted[clear])


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", ["ngd", "mnb", "logistic"])
def test_it_decides_on_documents_without_words(name: str, multilabel: bool, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=multilabel)
    split = toy_group_splits(problem)[0]
    spec = spec_of(name, represented("tf", "l1", "training"))
    fitted = build_method(spec, problem, None, replicated=False).fit(problem, split, None, bench)
    nothing = sp.csr_array((2, problem.counts.matrix.shape[1]), dtype=np.int32)
    one, other = fitted.predict_from(fitted.values(nothing))
    np.testing.assert_array_equal(one, other)


def test_only_support_vectors_are_kept(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    spec = spec_of("linear", represented("tf", "l2", "training"), C=100.0)
    fitted = build_method(spec, problem, None, replicated=False).fit(problem, split, None, bench)
    n = fitted.counts.shape[0]  # type: ignore[attr-defined]
    assert 0 < n < len(split.train)
    machines = fitted.machines.machines  # type: ignore[attr-defined]
    assert set(np.concatenate([each.support for each in machines])) == set(range(n))


def test_rows_that_support_no_machine_are_left_out_and_the_others_keep_their_order() -> None:
    """The first and the last, and all of a class."""
    binary = [BinarySvm(np.array(rows), np.arange(1.0, 1 + len(rows)), 0.5, 9.0) for rows in ([3, 1], [6, 3], [6, 1])]
    counts = sp.csr_array(np.arange(16).reshape(8, 2))
    machines = MulticlassSvm("one-vs-one", np.array([0, 3, 5, 8]), tuple(binary))
    found = FittedMachines.of(None, counts, machines, None)  # type: ignore[arg-type]
    assert found.counts.toarray().tolist() == [[2, 3], [6, 7], [12, 13]]
    assert found.machines.class_bounds.tolist() == [0, 1, 2, 3]
    assert [each.support.tolist() for each in found.machines.machines] == [[1, 0], [2, 1], [2, 0]]
    assert [(each.coefficients.tolist(), each.rho, each.seconds) for each in found.machines.machines] == [
        ([1.0, 2.0], 0.5, 0.0)
    ] * 3


@pytest.mark.parametrize("name", ["linear", "ngd"])
def test_a_dirichlet_prior_is_kept(name: str, bench: MatrixCache) -> None:
    for multilabel, terms in itertools.product((False, True), (None, SELECTED)):
        problem = toy_problem(multilabel=multilabel)
        spec = spec_of(name, represented("tf", "l1", "collection", 0.5))
        method = build_method(spec, problem, terms, replicated=False)
        for split in toy_group_splits(problem):
            number = None if terms is None else 20
            (decisions,) = method.solve(problem, [split], number, bench)
            fitted = method.fit(problem, split, number, bench)
            values = fitted.values(asked(fitted, problem.counts.matrix[split.test]))
            np.testing.assert_array_equal(fitted.predict_from(values), decisions.predicted)


def test_a_cost_in_the_unit_of_the_kernel_is_kept(bench: MatrixCache) -> None:
    for n_classes, replicated in itertools.product((2, 3), (False, True)):
        problem = toy_problem(multilabel=False, n_classes=n_classes, key=str(n_classes))
        spec = spec_of("linear", represented("tf", "none", "collection"), scale_C="mean-self-product", C=0.5)
        method = build_method(spec, problem, None, replicated=replicated)
        for split in toy_replicates(problem):
            (decisions,) = method.solve(problem, [split], None, bench)
            fitted = method.fit(problem, split, None, bench)
            values = fitted.values(problem.counts.matrix[split.test])
            np.testing.assert_array_equal(fitted.predict_from(values), decisions.predicted)


@pytest.mark.parametrize("n_members", [0, 60])
@pytest.mark.parametrize("name", ["linear", "ngd", "mnb"])
def test_a_class_of_no_or_every_training_document_is_given_to_none_or_all(
    name: str, n_members: int, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    topics = problem.members.copy()
    topics[split.train, 2] = np.arange(len(split.train)) < n_members
    given = problem.documents
    documents = Documents(given.ids, given.labels, given.parts, given.classes, given.part_names, topics)
    other = Problem(Counts(documents, problem.counts.matrix, problem.counts.vocabulary), "other", 7)
    spec = spec_of(name, represented("tf", "l1", "collection"))
    fitted = build_method(spec, other, None, replicated=False).fit(other, split, None, bench)
    values = fitted.values(other.counts.matrix[split.test])
    assert fitted.predict_from(values)[:, 2].tolist() == [n_members > 0] * len(split.test)
    assert set(fitted.class_values(values)[:, 2]) == {np.inf if n_members else -np.inf}


@pytest.mark.parametrize("name", sorted(NOT_KEPT))
def test_what_can_not_be_kept_is_refused(name: str, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=True)
    spec = spec_of(name, represented("tf", tags_of(KERNELS[name]).normalization, "collection"))
    with pytest.raises(ValueError, match=f"a model with the kernel '{name}' can't be saved"):
        build_method(spec, problem, None, replicated=False).fit(problem, toy_group_splits(problem)[0], None, bench)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_values_of_classes_are_those_of_scikit_learn(n_classes: int) -> None:
    rng = np.random.default_rng(7)
    points = rng.normal(size=(80, 3)) + 2 * np.eye(4)[np.arange(80) % n_classes, :3]
    labels = np.arange(80) % n_classes
    gram: Any = points @ points.T
    ours = SupportVectorClassifier(epsilon=1e-6).fit(gram, labels)
    theirs = SVC(kernel="precomputed", tol=1e-6, decision_function_shape="ovr").fit(gram, labels)
    values, expected = svm_class_scores(ours.machines_, ours.decision_function(gram)), theirs.decision_function(gram)
    if n_classes == 2:
        expected = np.stack([-expected, expected], axis=1)
    np.testing.assert_allclose(values, expected, atol=1e-4)


def only(code: int, *, multilabel: bool) -> tuple[Problem, Split]:
    """A problem in which every training document of a split has one class and no other."""
    problem = toy_problem(multilabel=multilabel)
    split = toy_group_splits(problem)[0]
    documents = problem.documents
    if multilabel:
        members = problem.members.copy()
        members[split.train] = np.arange(3) == code
        documents = replace(documents, topics=members)
    else:
        labels = documents.labels.copy()
        labels[split.train] = code
        documents = replace(documents, labels=labels)
    return replace(problem, counts=replace(problem.counts, documents=documents), key=f"only {code}"), split


@pytest.mark.parametrize("name", ["mnb", "linear-svm", "linear", "ngd"])
def test_where_no_class_can_be_learned_all_documents_have_that_of_all(name: str, bench: MatrixCache) -> None:
    problem, split = only(1, multilabel=True)
    spec = spec_of(name, represented("tf", "l1", "collection"))
    fitted = build_method(spec, problem, None, replicated=False).fit(problem, split, None, bench)
    assert fitted.learned.columns.size == 0
    assert fitted.learned.everywhere.tolist() == [False, True, False]
    for each in (fitted, kept_again(fitted)):
        values = each.values(problem.counts.matrix[split.test])
        assert values.shape == (len(split.test), 0)
        assert each.predict_from(values).tolist() == [[False, True, False]] * len(split.test)
        assert each.class_values(values).tolist() == [[-np.inf, np.inf, -np.inf]] * len(split.test)


def test_the_state_that_methods_have_in_common() -> None:
    spec = spec_of("mnb", represented("tfidf", "l1", "training"))
    for multilabel in (False, True):
        problem, split = only(2, multilabel=multilabel)
        work = SplitData(problem, split, [split], None, "sum", MatrixCache())
        state = trained_state(work, spec)
        assert state.multilabel == multilabel
        assert state.everywhere.tolist() == [False, False, multilabel]
        assert state.columns.tolist() == ([] if multilabel else [0, 1, 2])
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    state = trained_state(SplitData(problem, split, [split], None, "sum", MatrixCache()), spec)
    assert (state.everywhere.tolist(), state.columns.tolist()) == ([False] * 3, [0, 1, 2])
    file = VectorFile(MethodFile("v.parquet", "0", None))
    texts = replace(spec, classifier=replace(spec.classifier, tags=replace(spec.classifier.tags, reads_texts=True)))
    for each in (replace(spec, vectors=file), texts):  # they have no counts that weights could be learned from
        state = trained_state(SplitData(problem, split, [split], 7, "sum", MatrixCache()), each)
        assert (state.view.terms, state.view.weighting) == (None, None)
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    for number in (None, 7):
        work = SplitData(problem, split, [split], number, "sum", MatrixCache())
        state = trained_state(work, spec)
        terms = work.selected_terms()
        assert (state.view.terms is None) == (number is None)
        if number:
            np.testing.assert_array_equal(state.view.terms, terms)
        counts = problem.counts.matrix if terms is None else problem.counts.matrix[:, terms]
        expected = spec.representation.weighting.build().fit(counts[split.train]).transform(counts)
        np.testing.assert_array_equal(state.view.weights(counts).toarray(), expected.toarray())


@pytest.mark.parametrize("name", ["divergence-bayes", "mnb", "logistic"])
def test_classes_keep_their_places_where_a_classifier_orders_them_otherwise(name: str, bench: MatrixCache) -> None:
    """The first training document is of the last class."""
    problem = toy_problem(multilabel=False)
    labels = 2 - problem.documents.labels
    problem = replace(
        problem, counts=replace(problem.counts, documents=replace(problem.documents, labels=labels)), key="turned"
    )
    split = toy_group_splits(problem)[0]
    method = build_method(spec_of(name, represented("tf", "none", "collection")), problem, None, replicated=False)
    fitted, (decided,) = method.fit(problem, split, None, bench), method.solve(problem, [split], None, bench)
    (model,) = fitted.models  # type: ignore[attr-defined]
    assert model.classes_.tolist() == ([2, 1, 0] if name == "divergence-bayes" else [0, 1, 2])
    for each in (fitted, kept_again(fitted)):
        values = each.values_of_rows(problem.counts.matrix[split.test])
        np.testing.assert_array_equal(values.argmax(axis=1), decided.predicted)
        np.testing.assert_array_equal(values, decided.values)
        assert name == "logistic" or type(each.models[0].n_features_in_) is int  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("scheme", "multilabel"), [("one-vs-one", False), ("one-vs-rest", False), ("one-vs-one", True)]
)
def test_machines_keep_their_scheme_and_bounds(scheme: str, multilabel: bool, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=multilabel)
    split = toy_group_splits(problem)[0]
    spec = spec_of("ngd", represented("tf", "l1", "collection"), scheme=scheme)
    fitted = build_method(spec, problem, None, replicated=False).fit(problem, split, None, bench)
    again, machines = kept_again(fitted).machines, fitted.machines  # type: ignore[attr-defined]
    assert again.scheme == machines.scheme == ("one-vs-rest" if multilabel else scheme)
    np.testing.assert_array_equal(again.class_bounds, machines.class_bounds)
    assert machines.class_bounds[-1] == fitted.counts.shape[0]  # type: ignore[attr-defined]
    if not multilabel:  # support vectors are sorted by class
        kept = fitted.counts.toarray()  # type: ignore[attr-defined]
        for code in range(3):
            own = problem.counts.matrix[split.train[problem.documents.labels[split.train] == code]].toarray()
            start, stop = machines.class_bounds[code : code + 2]
            assert {tuple(row) for row in kept[start:stop]} <= {tuple(row) for row in own}
    for one, other in zip(machines.machines, again.machines, strict=True):
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        assert (one.rho, one.seconds, other.seconds) == (other.rho, 0.0, 0.0)


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("dirichlet", [0.0, 0.5])
@pytest.mark.parametrize("name", ["linear", "ngd", "ned"])
def test_values_are_those_of_the_run_one_document_at_a_time(
    name: str, dirichlet: float, terms: int | None, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    spec = spec_of(name, represented("tf", "l1", "collection", dirichlet))
    method = build_method(spec, problem, None if terms is None else SELECTED, replicated=False)
    (decided,) = method.solve(problem, [split], terms, bench)
    fitted = method.fit(problem, split, terms, bench)
    assert decided.values is not None
    for row, expected in zip(split.test[:4], decided.values[:4], strict=True):
        found = fitted.values_of_rows(problem.counts.matrix[[row]])
        np.testing.assert_allclose(found, [expected], rtol=1e-7, atol=1e-9)
