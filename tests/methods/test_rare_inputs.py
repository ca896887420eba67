"""Inputs that few runs have: files with some columns, classes that no document has, texts at a limit, others' parts."""

from __future__ import annotations

import re
import threading
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from benchmark.methods.elsewhere.pipelines import PipelineMethod
from benchmark.methods.kernel_machines import KernelSvm, solve_jointly
from benchmark.methods.one_vs_rest import linear_machines
from pyarrow import parquet
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import ExtraTreeClassifier

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.placeholders import MADE_ELSEWHERE, MadeElsewhere
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import Component, check_component
from benchmark.config.model import FusedMethods, MethodFile, MethodSpec, VectorFile
from benchmark.corpora.file_digest import file_digest
from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.splits import Split
from benchmark.kernels import KERNELS
from benchmark.methods import kernel_machines, point_classifiers
from benchmark.methods.fusion import FusedMethod
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData
from benchmark.methods.training_warnings import collect_warnings
from benchmark.methods.vectors import ThresholdedVectors
from benchmark.representation import TermWeighting
from benchmark.system.tags import Tags
from benchmark.text.strings import Texts, joined_texts
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.methods.problem import Problem

IDS = [f"document-{row}" for row in range(60)]


def file_of(path: Path) -> MethodFile:
    return MethodFile(path.name, file_digest(path).sha256.hex(), path)


def with_topics(train: np.ndarray, *own: bool, key: str) -> Problem:
    """A problem of several classes, whose training documents all have the same ones."""
    problem = toy_problem(multilabel=True)
    members = problem.members.copy()
    members[train] = own
    documents = replace(problem.documents, topics=members)
    return replace(problem, counts=replace(problem.counts, documents=documents), key=key)


@pytest.mark.parametrize(
    ("columns", "refused"),
    [((), True), (("size",), True), (("split",), False), (("split", "size"), False)],
)
def test_only_a_column_of_splits_says_which_prediction_of_a_document_is_meant(
    columns: tuple[str, ...], refused: bool, tmp_path: Path, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=False)
    splits = toy_replicates(problem)
    lines = []
    for split in splits if "split" in columns else splits[:1]:
        cells = {"split": split.name, "size": len(split.train)}
        lines += [",".join([each, "class-1", *(str(cells[name]) for name in columns)]) for each in IDS]
    (tmp_path / "p.csv").write_text("\n".join([",".join(["id", "label", *columns]), *lines, ""]))
    made = Component.of(MADE_ELSEWHERE, MadeElsewhere, {})
    points = represented("tf", "none", "collection")
    spec = MethodSpec(points, None, made, predictions=file_of(tmp_path / "p.csv"))
    method = build_method(spec, problem, None, replicated=True)
    if refused:
        with pytest.raises(
            ValueError, match=r"p\.csv: documents are tested more than once: add a column 'split' \(and"
        ):
            method.solve(problem, splits, None, bench)
    else:
        assert [set(each.predicted) for each in method.solve(problem, splits, None, bench)] == [{1}, {1}]
    for split in splits[:1]:
        assert set(method.solve(problem, [split], None, bench)[0].predicted) == {1}


@pytest.mark.parametrize("rule", ["at-least-one", "cross-validated"])
def test_thresholds_of_vectors_are_those_of_their_own_values_and_strays_are_counted(
    rule: str, tmp_path: Path, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=True)
    members = problem.members.copy()
    members[~members.any(axis=1), 1] = True
    documents = replace(problem.documents, topics=members)
    problem = replace(problem, counts=replace(problem.counts, documents=documents))
    matrix = np.random.default_rng(3).normal(size=(62, 4)).astype(np.float32)
    matrix[:60] += 2 * np.eye(4, dtype=np.float32)[np.arange(60) % 3]
    columns = {"id": [*IDS, "stray", "other"], **{f"x{n}": column for n, column in enumerate(matrix.T)}}
    parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
    logistic, threshold = check_component("classifier", CLASSIFIERS, "logistic"), THRESHOLDS
    points = represented("tf", "none", "collection")
    spec = MethodSpec(points, None, logistic, vectors=VectorFile(file_of(tmp_path / "v.parquet")))
    spec = replace(spec, threshold=check_component("threshold", threshold, rule))
    method = build_method(spec, problem, None, replicated=False)
    assert type(method) is ThresholdedVectors
    splits = toy_group_splits(problem)
    for split, found in zip(splits, method.solve(problem, splits, None, bench), strict=True):
        assert found.warnings == ("2 of 62 vectors of v.parquet are of no document here",)
        own = replace(problem, vectors=matrix[:60])
        fitted = method.fit(own, split, None, bench)
        values = fitted.values(own.vectors[split.test])  # type: ignore[index,arg-type]
        np.testing.assert_array_equal(found.predicted, fitted.predict_from(values))
        np.testing.assert_array_equal(found.tied, values == 0)
        if rule == "at-least-one":
            assert found.predicted.any(axis=1).all()


def test_only_the_first_label_of_a_class_that_can_be_learned_is_trained_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several classes, the first whose documents are some of those of training."""
    asked: list[Any] = []
    monkeypatch.setattr(point_classifiers, "_CHANGES", {})
    monkeypatch.setattr(
        point_classifiers, "changes_when_trained_again", lambda train, X, y: asked.append((train, X, y)) or ""
    )
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    members = problem.members.copy()
    members[split.train, 0] = False
    problem = replace(
        problem, counts=replace(problem.counts, documents=replace(problem.documents, topics=members)), key="without"
    )
    spec = replace(
        spec_of("mnb", represented("tf", "none", "collection")),
        classifier=Component.of("tree", ExtraTreeClassifier, {"max_depth": 2}),
    )
    (found,) = PointClassifierMethod(spec).solve(problem, [split], None, MatrixCache())
    ((train, X, y),) = asked
    np.testing.assert_array_equal(y, members[split.train, 1])
    assert X.shape == (len(split.train), 40)
    assert found.warnings == ()
    model = train(X[:20], y[:20])
    assert model.classifier.random_state == 7
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(("length", "cut"), [(199, False), (200, False), (201, True)])
def test_a_warning_has_at_most_200_letters(length: int, cut: bool) -> None:
    said = "x" * (length - len("UserWarning: "))
    with collect_warnings(library=True) as texts:
        warnings.warn(said, UserWarning, stacklevel=1)
        warnings.warn(f"{said} ", UserWarning, stacklevel=1)
    (first, *_) = texts
    assert first == (f"UserWarning: {said}" if not cut else f"UserWarning: {'x' * 186}…")
    assert len(first) == min(length, 200)


# Documents without a class, and classes without documents

SPLIT = Split("left", np.arange(0, 60, 2), np.arange(1, 60, 2))


def test_documents_without_a_class_are_one_more_where_others_have_one() -> None:
    """None of them, all of them or some."""
    for own in ((True, False, False), (False, False, False)):
        problem = with_topics(SPLIT.train, *own, key=f"{own}")
        work = SplitData(problem, SPLIT, [SPLIT], None, "sum", MatrixCache())
        found = linear_machines(work, spec_of("linear", represented("tf", "l2", "collection")))
        assert (found.other, found.machines, found.other_seconds) == (None, (), 0.0)
    problem = toy_problem(multilabel=True)
    work = SplitData(problem, SPLIT, [SPLIT], None, "sum", MatrixCache())
    found = linear_machines(work, spec_of("linear", represented("tf", "l2", "collection")))
    assert not problem.members[SPLIT.train].any(axis=1).all()
    assert found.other is not None
    assert len(found.machines) == 3
    assert found.other_seconds > 0
    training, machines = TIMERS.index("training"), TIMERS.index("machines")
    own_seconds = sum(each.seconds for each in found.machines)
    assert found.seconds[machines] == pytest.approx(own_seconds)
    assert found.other_seconds == pytest.approx(found.seconds[training] * found.other.seconds / own_seconds)


@pytest.mark.parametrize("own", [(False, False, False), (True, True, True), (True, False, False)])
@pytest.mark.parametrize("name", ["linear", "ngd", "mnb", "linear-svm"])
def test_where_no_class_can_be_learned_each_is_given_to_none_or_all(name: str, own: tuple[bool, ...]) -> None:
    problem = with_topics(SPLIT.train, *own, key=f"{own}")
    spec = spec_of(name, represented("tf", "none" if name == "mnb" else "l1", "collection"))
    (found,) = build_method(spec, problem, None, replicated=False).solve(problem, [SPLIT], None, MatrixCache())
    assert found.predicted.tolist() == [list(own)] * 30
    assert not found.tied.any()
    np.testing.assert_array_equal(found.values, np.where([own] * 30, np.inf, -np.inf))


@pytest.mark.parametrize(("own", "n"), [((True, False, False), 0), ((False, False, False), 0), ((True, True, True), 0)])
def test_hp_top_needs_two_classes(own: tuple[bool, ...], n: int) -> None:
    problem = with_topics(SPLIT.train, *own, key=f"{own}")
    method = build_method(spec_of("hp-top", represented("tf", "l2", "collection")), problem, None, replicated=False)
    with pytest.raises(ValueError, match=f"^HP-TOP needs at least two classes, and the training documents have {n}$"):
        method.solve(problem, [SPLIT], None, MatrixCache())
    members = toy_problem(multilabel=True).members.copy()
    members[:, 1:] = False
    members[:, 0] = np.arange(60) % 4 < 2
    whole = toy_problem(multilabel=True)
    documents = replace(whole.documents, topics=members)
    one = replace(whole, counts=replace(whole.counts, documents=documents), key="one and the others")
    (found,) = method.solve(one, [SPLIT], None, MatrixCache())
    assert not found.predicted[:, 1:].any()


# Parts of someone else's


class Theirs(TermWeighting):
    """A weighting that isn't this package's, and says on which thread it is fitted."""

    seen: tuple[list[int], ...] = ([],)

    def fit(self, counts: Any, labels: Any = None) -> Any:
        self.seen[0].append(threading.get_ident())
        return super().fit(counts, labels)


@pytest.mark.parametrize("part", ["classifier", "weighting"])
def test_the_code_of_others_is_run_on_the_thread_that_asks(part: str) -> None:
    Theirs.seen[0].clear()
    spec = spec_of("linear-svm", represented("tf", "l2", "collection"))
    if part == "weighting":
        weighting = Component.of("theirs", Theirs, {})
        spec = replace(spec, representation=replace(spec.representation, weighting=weighting))
    else:
        spec = replace(spec, classifier=Component.of("tree", ExtraTreeClassifier, {}))
    problem, here = toy_problem(multilabel=False), threading.get_ident()
    methods = (build_method(spec, problem, None, replicated=False),)
    fused = replace(spec, fused=FusedMethods(("one",), (spec,), (1.0,), "hold-out"))
    threads: list[int] = []
    fit = type(methods[0]).fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(methods[0]), "fit", lambda *given: threads.append(threading.get_ident()) or fit(*given))
        FusedMethod(fused, methods, (problem,)).train(problem, SPLIT, None, MatrixCache(2))
    assert set(threads) == {here}
    assert set(Theirs.seen[0]) == ({here} if part == "weighting" else set())


class TheirKernel(KERNELS["linear"]):  # type: ignore[misc]
    """A kernel that isn't this package's, of the same values."""


@pytest.mark.parametrize("terms", [None, 20])
@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
def test_machines_on_the_kernel_of_others_are_trained_alone(scheme: str, terms: int | None) -> None:
    problem = toy_problem(multilabel=False)
    ours = spec_of("linear", represented("tf", "l2", "collection"), scheme=scheme)
    theirs = replace(ours, kernel=Component.of("theirs", TheirKernel, {}))
    assert (KernelSvm(ours).joins(terms) is None) == (scheme == "one-vs-rest")
    assert KernelSvm(theirs).joins(terms) is None
    one, other = (KernelSvm(each).solve(problem, [SPLIT], terms, MatrixCache())[0] for each in (ours, theirs))
    np.testing.assert_array_equal(one.predicted, other.predicted)


def test_a_machine_that_fails_is_trained_no_more_and_its_first_error_is_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = toy_problem(multilabel=False)
    splits = [*toy_group_splits(problem), *toy_replicates(problem)]
    seen: list[float] = []

    def cost(classifier: Any, *_: Any) -> float:
        seen.append(classifier.C)
        if classifier.C == 3.0 and seen.count(3.0) > 1:
            raise ValueError(f"call {seen.count(3.0)}")
        return float(classifier.C)

    monkeypatch.setattr(kernel_machines, "scaled_cost", cost)
    points = represented("tf", "l2", "collection")
    machines = [KernelSvm(spec_of("linear", points, C=C)) for C in (1.0, 3.0, 2.0)]
    wanted = [(machines[0], splits), (machines[1], splits), (machines[2], splits[:1])]
    one, failed, two = solve_jointly(wanted, problem, None, MatrixCache())
    assert isinstance(failed, ValueError)
    assert str(failed) == "call 2"
    assert seen == [1.0, 3.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    assert (len(one), len(two)) == (4, 1)  # type: ignore[arg-type]
    seen.clear()
    with pytest.raises(ValueError, match=r"^call 2$"):
        machines[1].solve(problem, splits, None, MatrixCache())
    assert seen == [3.0, 3.0]


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("code", [0, 1, 2])
def test_machines_need_training_documents_of_each_class(code: int, scheme: str) -> None:
    problem = toy_problem(multilabel=False)
    labels = problem.documents.labels.copy()
    labels[SPLIT.train] = np.arange(30) % 3
    labels[labels == code] = (code + 1) % 3
    sizes = np.bincount(labels[SPLIT.train], minlength=3).tolist()
    assert sizes.count(0) == 1
    problem = replace(problem, counts=replace(problem.counts, documents=replace(problem.documents, labels=labels)))
    method = KernelSvm(spec_of("linear", represented("tf", "l2", "collection"), scheme=scheme))
    said = f"^an SVM needs at least two classes with a document each; the training set has {re.escape(str(sizes))}$"
    with pytest.raises(ValueError, match=said):
        method.solve(problem, [SPLIT], None, MatrixCache())
    with pytest.raises(ValueError, match=said):
        method.fit(problem, SPLIT, None, MatrixCache())


class Reader:
    """A pipeline of someone else's, which reads strings."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        tree = ExtraTreeClassifier(random_state=self.random_state)
        return make_pipeline(CountVectorizer(), tree).fit(X, y)


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("stated", [None, 3])
def test_a_pipeline_reads_the_texts_of_the_documents_with_the_seed_of_the_experiment(
    stated: int | None, multilabel: bool
) -> None:
    """Unless it states its own."""
    whole = toy_problem(multilabel=multilabel)
    words = [" ".join(f"w{term}" for term in np.repeat(np.arange(40), row)) for row in whole.counts.matrix.toarray()]
    order = np.random.default_rng(0).permutation(60)
    texts = Texts(*joined_texts([words[row] for row in order]), "texts").take(np.argsort(order))
    assert whole.inputs is whole.counts.matrix
    component = Component.of("reader", Reader, {} if stated is None else {"random_state": stated})
    component = replace(component, tags=Tags(normalization="none", takes_features=False, reads_texts=True))
    spec = MethodSpec(represented("tf", "none", "collection"), None, component)
    method, splits = PipelineMethod(spec), toy_group_splits(whole)
    seed = 8
    problem = replace(whole, texts=texts, seed=seed)
    assert problem.inputs.tolist() == words
    for split, found in zip(splits, method.solve(problem, splits, None, MatrixCache()), strict=True):
        train, test = ([words[row] for row in rows] for rows in (split.train, split.test))
        fitted = method.fit(problem, split, None, MatrixCache())
        assert fitted.learned.view.terms is None
        np.testing.assert_array_equal(fitted.predict_from(fitted.values(problem.inputs[split.test])), found.predicted)
        for code in range(3) if multilabel else [0]:
            labels = whole.members[split.train, code] if multilabel else whole.documents.labels[split.train]
            expected = Reader(seed if stated is None else stated).fit(train, labels).predict(test)
            predicted = found.predicted[:, code] if multilabel else found.predicted
            np.testing.assert_array_equal(predicted, expected)
