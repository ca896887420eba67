"""Predictions and vectors of files, on problems of one class a document and of several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from benchmark.methods.elsewhere.pipelines import PipelineMethod
from pyarrow import parquet

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.placeholders import MADE_ELSEWHERE, MadeElsewhere
from benchmark.config.components import Component, check_component
from benchmark.config.model import MethodFile, MethodSpec, VectorFile
from benchmark.corpora.file_digest import file_digest
from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.splits import Split
from benchmark.methods.given_predictions import GivenPredictionsMethod
from benchmark.methods.registry import build_method
from benchmark.methods.vectors import VectorClassifierMethod, read_vectors
from benchmark.system.errors import DataError
from benchmark.system.tags import Tags
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.methods.matrix_cache import MatrixCache

IDS = [f"document-{row}" for row in range(60)]
TF = represented("tf", "none", "collection")


def file_of(path: Path) -> MethodFile:
    return MethodFile(path.name, file_digest(path).sha256.hex(), path)


def given(path: Path, lines: list[str]) -> MethodSpec:
    path.write_text("\n".join([*lines, ""]))
    made = Component.of(MADE_ELSEWHERE, MadeElsewhere, {})
    return MethodSpec(TF, None, made, predictions=file_of(path))


def test_predictions_are_those_of_the_documents_that_are_tested(tmp_path: Path, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    rows = [f"{each},class-{row * 7 % 3}" for row, each in enumerate(IDS)]
    spec = given(tmp_path / "p.csv", ["id,label", *rows[::-1]])
    method = build_method(spec, problem, None, replicated=False)
    assert isinstance(method, GivenPredictionsMethod)
    assert not method.uses_seed
    assert [build_method(spec, problem, None, replicated=each).batched for each in (False, True)] == [False, True]
    for split, found in zip(
        toy_group_splits(problem), method.solve(problem, toy_group_splits(problem), None, bench), strict=True
    ):
        assert found.predicted.tolist() == [row * 7 % 3 for row in split.test]
        assert not found.tied.any()
        assert found.values is None
        assert found.seconds.tolist() == [[0.0] * len(TIMERS)]
    with pytest.raises(ValueError, match=r"p\.csv: predictions that were made elsewhere have no trained model"):
        method.fit(problem)
    with pytest.raises(ValueError, match="predictions of a file have no numbers of terms"):
        method.solve(problem, toy_group_splits(problem), 20, bench)
    with pytest.raises(ValueError, match="predictions need a file"):
        GivenPredictionsMethod(replace(spec, predictions=None)).solve(problem, toy_group_splits(problem), None, bench)


@pytest.mark.parametrize("columns", ["class-2,class-0,class-1", "class-2,class-0,class-1,other", "class-2,class-0"])
def test_scores_are_in_the_order_of_the_classes_where_all_have_one(
    columns: str, tmp_path: Path, bench: MatrixCache
) -> None:
    problem, rng = toy_problem(multilabel=False), np.random.default_rng(0)
    names = columns.split(",")
    scores = rng.integers(0, 3, size=(60, len(names))) / 2
    lines = [f"{each},class-0,{','.join(map(str, row))}" for each, row in zip(IDS, scores.tolist(), strict=True)]
    header = ["id,label," + ",".join(f"decision {name}" for name in names)]
    method = build_method(given(tmp_path / "p.csv", header + lines), problem, None, replicated=False)
    split = toy_group_splits(problem)[0]
    (found,) = method.solve(problem, [split], None, bench)
    tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert found.tied.tolist() == tied[split.test].tolist()
    assert found.tied.any()
    if len(names) < 3:
        assert found.values is None
    else:
        order = [names.index(name) for name in problem.documents.classes]
        np.testing.assert_array_equal(found.values, scores[split.test][:, order])


def test_several_classes_have_no_ties(tmp_path: Path, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=True)
    header = "id,labels," + ",".join(f"decision class-{code}" for code in range(3))
    lines = [f"{each},{'class-2;class-0' if row % 2 else ''},1,1,1" for row, each in enumerate(IDS)]
    method = build_method(given(tmp_path / "p.csv", [header, *lines]), problem, None, replicated=False)
    split = toy_group_splits(problem)[0]
    (found,) = method.solve(problem, [split], None, bench)
    expected = [[row % 2 == 1, False, row % 2 == 1] for row in split.test]
    assert found.predicted.tolist() == expected
    assert not found.tied.any()
    assert found.values.shape == (len(split.test), 3)


def test_predictions_of_splits_and_sizes_are_told_apart(tmp_path: Path, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    splits = toy_replicates(problem)
    assert set(splits[0].test) & set(splits[1].test)
    plain = [f"{each},class-0" for each in IDS]
    method = build_method(given(tmp_path / "a.csv", ["id,label", *plain]), problem, None, replicated=True)
    assert method.solve(problem, splits[:1], None, bench)[0].predicted.tolist() == [0] * len(splits[0].test)
    with pytest.raises(ValueError, match=r"a\.csv: documents are tested more than once: add a column 'split'"):
        method.solve(problem, splits, None, bench)
    groups = toy_group_splits(problem)
    assert len(method.solve(problem, groups, None, bench)) == 2, "each document is tested once"
    by_split = [f"{each},class-{number},{split.name}" for number, split in enumerate(splits) for each in IDS]
    method = build_method(given(tmp_path / "b.csv", ["id,label,split", *by_split]), problem, None, replicated=True)
    for number, found in enumerate(method.solve(problem, splits, None, bench)):
        assert set(found.predicted.tolist()) == {number}
    size = len(splits[0].train)
    sizes = [f"{each},class-{int(own == size)},{splits[0].name},{own}" for own in (size, size + 1) for each in IDS]
    method = build_method(given(tmp_path / "c.csv", ["id,label,split,size", *sizes]), problem, None, replicated=True)
    assert set(method.solve(problem, splits[:1], None, bench)[0].predicted.tolist()) == {1}


@pytest.mark.parametrize("columns", ["split,size", "size", "split"])
def test_a_size_is_the_number_of_training_documents(columns: str, tmp_path: Path, bench: MatrixCache) -> None:
    """And the split is that of the name."""
    problem = toy_problem(multilabel=False)
    split = Split("left", np.arange(45), np.arange(45, 60))
    cells = [
        (code, {"split": name, "size": size})
        for code, name, size in ((0, "left", 15), (1, "left", 45), (2, "right", 45), (0, "left", 60))
        if (name == "left" or "split" in columns) and (size == 45 or "size" in columns)
    ]
    lines = [
        ",".join([each, f"class-{code}", *(str(own[key]) for key in columns.split(","))])
        for code, own in cells
        for each in IDS
    ]
    method = build_method(given(tmp_path / "p.csv", [f"id,label,{columns}", *lines]), problem, None, replicated=False)
    assert method.solve(problem, [split], None, bench)[0].predicted.tolist() == [1] * 15
    other = replace(split, name="north", train=np.arange(44))
    of = " ".join({"split": "north", "size": "44"}[key] for key in columns.split(","))
    with pytest.raises(ValueError, match=f"^p.csv: 15 of 15 test documents have no prediction in {of}, such as 'docu"):
        method.solve(problem, [other], None, bench)


@pytest.mark.parametrize(
    ("columns", "cells", "of"),
    [("", "", ""), (",split", ",{split}", " in {split}"), (",split,size", ",{split},{size}", " in {split} {size}")],
)
def test_documents_without_a_prediction_are_counted_and_one_is_named(
    columns: str, cells: str, of: str, tmp_path: Path, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    names = {"split": split.name, "size": len(split.train)}
    left_out = split.test[[4, 7, 8]]
    lines = [f"{each},class-0{cells.format(**names)}" for row, each in enumerate(IDS) if row not in left_out]
    method = build_method(given(tmp_path / "p.csv", [f"id,label{columns}", *lines]), problem, None, replicated=False)
    words = f"p.csv: 3 of {len(split.test)} test documents have no prediction{of.format(**names)}, such as "
    with pytest.raises(ValueError, match=f"^{words}'document-{left_out[0]}'$"):
        method.solve(problem, [split], None, bench)


def test_a_label_that_is_no_class_is_named(tmp_path: Path, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    lines = [f"{each},{'class-9' if row == 5 else 'class-1'}" for row, each in enumerate(IDS)]
    method = build_method(given(tmp_path / "p.csv", ["id,label", *lines]), problem, None, replicated=False)
    splits = toy_group_splits(problem)
    of_five = [split for split in splits if 5 in split.test]
    with pytest.raises(ValueError, match=r"p\.csv: the label 'class-9' is not a class"):
        method.solve(problem, of_five, None, bench)


# Vectors


def vectors_of(path: Path, ids: list[str], matrix: np.ndarray, normalization: str = "none") -> MethodSpec:
    columns = {"name": ids, **{f"x{n}": column for n, column in enumerate(matrix.T)}}
    parquet.write_table(pa.table(columns), path)
    logistic = check_component("classifier", CLASSIFIERS, "logistic")
    points = represented("tf", normalization, "collection")
    return MethodSpec(points, None, logistic, vectors=VectorFile(file_of(path), None, "name"))


@pytest.mark.parametrize("normalization", ["none", "l1", "l2"])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_vectors_are_trained_on_in_the_order_of_the_documents(
    normalization: str, multilabel: bool, tmp_path: Path, bench: MatrixCache
) -> None:
    problem, rng = toy_problem(multilabel=multilabel), np.random.default_rng(1)
    matrix = rng.normal(size=(60, 4)) + 3 * np.eye(4)[np.arange(60) % 3]
    matrix[11] = 0
    matrix[12] /= 1000  # shorter than 1
    order = rng.permutation(60)
    spec = vectors_of(tmp_path / "v.parquet", [IDS[row] for row in order], matrix[order], normalization)
    method = build_method(spec, problem, None, replicated=False)
    assert isinstance(method, VectorClassifierMethod)
    length = {"none": 1.0, "l1": np.abs(matrix).sum(axis=1), "l2": np.sqrt((matrix**2).sum(axis=1))}[normalization]
    points = matrix / np.maximum(length, 1e-12).reshape(-1, 1)
    splits = toy_group_splits(problem)
    for split, found in zip(splits, method.solve(problem, splits, None, bench), strict=True):
        assert found.warnings == ()
        for code in range(3):
            inside = problem.members[split.train, code] if multilabel else problem.documents.labels[split.train]
            model = CLASSIFIERS["logistic"]().fit(points[split.train], inside)
            if multilabel:
                values = model.decision_function(points[split.test])
                np.testing.assert_array_equal(found.predicted[:, code], values > 0)
            else:
                np.testing.assert_array_equal(found.predicted, model.predict(points[split.test]))
    np.testing.assert_array_equal(read_vectors(spec.vectors).matrix, matrix[order])  # as they were
    with pytest.raises(ValueError, match="vectors of a file have no numbers of terms"):
        method.solve(problem, splits, 20, bench)


def test_vectors_of_no_document_are_counted_and_a_document_without_one_is_refused(
    tmp_path: Path, bench: MatrixCache
) -> None:
    problem, splits = toy_problem(multilabel=False), toy_group_splits(toy_problem(multilabel=False))
    more = [*IDS[:30], "stray", *IDS[30:], "another"]
    spec = vectors_of(tmp_path / "v.parquet", more, np.random.default_rng(2).normal(size=(62, 3)))
    found = build_method(spec, problem, None, replicated=False).solve(problem, splits, None, bench)
    assert [each.warnings for each in found] == [("2 of 62 vectors of v.parquet are of no document here",)] * 2
    loud = [replace(each, warnings=("slow",)) for each in found]
    also = VectorClassifierMethod(spec).with_surplus(loud, problem)
    assert [each.warnings for each in also] == [("slow", "2 of 62 vectors of v.parquet are of no document here")] * 2
    few = vectors_of(tmp_path / "w.parquet", [*IDS[:7], *IDS[9:], "x"], np.ones((59, 3)))
    with pytest.raises(ValueError, match=r"^w.parquet: 2 of 60 documents have no vector, such as 'document-7'$"):
        build_method(few, problem, None, replicated=False).solve(problem, splits, None, bench)
    with pytest.raises(ValueError, match="vectors need a file"):
        VectorClassifierMethod(replace(spec, vectors=None)).solve(problem, splits, None, bench)


@pytest.mark.parametrize(
    ("ids", "twice", "row"), [(["p", "q", "r", "q"], "q", 4), (["p", "p", "q", "q"], "p", 2), (["r"] * 4, "r", 2)]
)
def test_the_first_document_that_comes_again_is_named(ids: list[str], twice: str, row: int, tmp_path: Path) -> None:
    spec = vectors_of(tmp_path / "v.parquet", ids, np.ones((4, 2)))
    with pytest.raises(DataError, match=f"^v.parquet:{row}: has the document '{twice}' twice$"):
        read_vectors(spec.vectors)


def test_vectors_that_are_not_finite_are_counted_once_each(tmp_path: Path) -> None:
    matrix = np.ones((5, 3))
    matrix[1] = np.nan
    matrix[3, :2] = np.inf
    spec = vectors_of(tmp_path / "v.parquet", list("abcde"), matrix)
    with pytest.raises(DataError, match=r"^v\.parquet: 2 of 5 vectors have values that aren't finite$"):
        read_vectors(spec.vectors)


# Pipelines


@pytest.mark.parametrize(
    ("states", "stated", "uses"),
    [
        ({"a__random_state": None}, {}, True),
        ({"a__random_state": None}, {"a__random_state": None}, False),
        ({"random_state": 3}, {}, False),
        ({"a__random": None}, {}, False),
    ],
)
def test_a_pipeline_uses_the_seed_that_is_left_open(states: dict[str, Any], stated: dict[str, Any], uses: bool) -> None:
    part = Component("p", stated, states, Tags(reads_texts=True), object)
    method = PipelineMethod(MethodSpec(TF, None, part))
    assert method.uses_seed == uses
    problem = toy_problem(multilabel=False)
    with pytest.raises(ValueError, match="a pipeline makes its own terms: none can be selected for it"):
        method.solve(problem, toy_group_splits(problem), 20, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the documents have no texts here"):
        method._shared(problem, [])
