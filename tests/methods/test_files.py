"""Predictions and vectors of files, on problems of one class a document and of several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import Component, check_component
from benchmark.config.methods import Untrained
from benchmark.config.model import MethodFile, MethodSpec, VectorFile
from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.splits import Split
from benchmark.methods.method_files import read_predictions, read_vectors
from benchmark.methods.wrappers import build_method
from benchmark.system.errors import DataError
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import file_of, represented, solved, trained

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.methods.base import Method
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

IDS = [f"document-{row}" for row in range(60)]
TF = represented("tf", "none", "collection")


# Predictions


def given(path: Path, lines: list[str], problem: Problem, *, replicated: bool = False) -> Method:
    path.write_text("\n".join([*lines, ""]))
    made = Component.of("made elsewhere", Untrained, {})
    return build_method(MethodSpec(TF, None, made, predictions=file_of(path)), problem, None, replicated=replicated)


@pytest.mark.parametrize("columns", ["", "class-2,class-0,class-1", "class-2,class-0,class-1,other", "class-2,class-0"])
def test_predictions_and_scores_are_those_of_the_tested_documents(
    columns: str, tmp_path: Path, bench: MatrixCache
) -> None:
    """Whatever the order of rows and columns; scores rank where each class has one."""
    problem, rng = toy_problem(multilabel=False), np.random.default_rng(0)
    names = [each for each in columns.split(",") if each]
    scores = rng.integers(0, 3, size=(60, len(names))) / 2
    lines = [",".join([each, f"class-{row * 7 % 3}", *map(str, scores[row].tolist())]) for row, each in enumerate(IDS)]
    header = ",".join(["id", "label", *(f"decision {name}" for name in names)])
    method, splits = given(tmp_path / "p.csv", [header, *lines[::-1]], problem), toy_group_splits(problem)
    assert not method.uses_seed
    for split, found in zip(splits, method.solve(problem, splits, None, bench), strict=True):
        assert found.predicted.tolist() == [row * 7 % 3 for row in split.test]
        assert not found.tied.any()
        assert found.seconds.tolist() == [[0.0] * len(TIMERS)]
        if len(names) < 3:
            assert found.values is None
        else:
            order = [names.index(name) for name in problem.documents.classes]
            np.testing.assert_array_equal(found.values, scores[split.test][:, order])
    with pytest.raises(ValueError, match=r"a model of 'p\.csv' can't be saved"):
        trained(method, problem, splits[0], None, bench)
    with pytest.raises(ValueError, match="predictions of a file have no numbers of terms"):
        method.solve(problem, splits, 20, bench)


def test_predictions_of_splits_and_sizes_are_told_apart(tmp_path: Path, bench: MatrixCache) -> None:
    """A size is the number of training documents; only a split says which prediction of a document is meant."""
    problem = toy_problem(multilabel=False)
    split = Split("left", np.arange(45), np.arange(45, 60))
    both = [split, replace(split, name="right")]
    cells = ((1, "left", 45), (0, "left", 15), (2, "right", 45))
    lines = [f"{each},class-{code},{name},{size}" for code, name, size in cells for each in IDS]
    method = given(tmp_path / "p.csv", ["id,label,split,size", *lines], problem, replicated=True)
    assert method.batched
    assert [set(each.predicted) for each in method.solve(problem, both, None, bench)] == [{1}, {2}]
    other = replace(split, name="north", train=np.arange(44))
    message = r"p\.csv: 15 of 15 test documents have no prediction, such as 'document-45' in north 44"
    with pytest.raises(ValueError, match=message):
        method.solve(problem, [other], None, bench)
    method = given(tmp_path / "q.csv", ["id,label", *(f"{each},class-1" for each in IDS)], problem)
    with pytest.raises(ValueError, match=r"q\.csv: documents are tested more than once: add a column 'split' \(and"):
        method.solve(problem, both, None, bench)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label,decision x\na,x,nan\n", ":2: the document 'a' has the score 'nan': no number"),
        ("id,label,decision x\na,x,\n", "the document 'a' has the score "),
        ("id,label\na,x\nb,x\n a ,x\n", ":4: has the document 'a' twice"),
    ],
)
def test_a_file_of_predictions_that_lacks_something_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read_predictions(file_of(tmp_path / "a.csv"))
    with pytest.raises(DataError, match="was changed since the configuration was read"):
        read_predictions(MethodFile("a.csv", "0", tmp_path / "a.csv"))


# Vectors


def vectors(path: Path, **more: Any) -> VectorFile:
    return VectorFile(**{"file": file_of(path), "ids": None, "id_column": "id", "column": ""} | more)


def table(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def vectors_of(path: Path, ids: list[str], matrix: np.ndarray, normalization: str = "none") -> MethodSpec:
    table(path, name=ids, **{f"x{n}": column for n, column in enumerate(matrix.T)})
    logistic = check_component("classifier", CLASSIFIERS, "logistic")
    points = represented("tf", normalization, "collection")
    return MethodSpec(points, None, logistic, vectors=vectors(path, id_column="name"))


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
    length = {"none": 1.0, "l1": np.abs(matrix).sum(axis=1), "l2": np.sqrt((matrix**2).sum(axis=1))}[normalization]
    points = matrix / np.maximum(length, 1e-12).reshape(-1, 1)
    for split, found in zip(
        toy_group_splits(problem), solved(spec, problem, bench, *toy_group_splits(problem)), strict=True
    ):
        assert found.warnings == ()
        for code in range(3) if multilabel else [0]:
            labels = problem.members[split.train, code] if multilabel else problem.documents.labels[split.train]
            expected = CLASSIFIERS["logistic"]().fit(points[split.train], labels).predict(points[split.test])
            np.testing.assert_array_equal(found.predicted[:, code] if multilabel else found.predicted, expected)
    np.testing.assert_array_equal(read_vectors(spec.vectors).to_numpy(), matrix[order])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="texts and vectors have no terms that could be selected"):
        solved(spec, problem, bench, *toy_group_splits(problem), terms=20)


def test_vectors_of_no_document_are_left_out_and_a_document_without_one_is_refused(
    tmp_path: Path, bench: MatrixCache
) -> None:
    problem = toy_problem(multilabel=True)
    threshold = check_component("threshold", THRESHOLDS, "cross-validated")
    matrix = np.random.default_rng(2).normal(size=(62, 3))
    spec = vectors_of(tmp_path / "v.parquet", [*IDS[:30], "stray", *IDS[30:], "another"], matrix)
    spec = replace(spec, threshold=threshold)
    own, (split, _) = np.delete(matrix, [30, 61], axis=0), toy_group_splits(problem)
    (found,) = solved(spec, problem, bench, split)
    fitted, _ = trained(build_method(spec, problem, None, replicated=False), problem, split, None, bench)
    np.testing.assert_array_equal(fitted.decide(own[split.test]).predicted, found.predicted)
    few = vectors_of(tmp_path / "w.parquet", [*IDS[:7], *IDS[9:], "x"], np.ones((59, 3)))
    with pytest.raises(ValueError, match=r"^w.parquet: 2 of 60 documents have no vector, such as 'document-7'$"):
        solved(few, problem, bench, split)


@pytest.mark.parametrize(
    ("ids", "x", "words"),
    [
        (["p", "q", "r", "q"], [1, 2, 3, 4], "^a.parquet:4: has the document 'q' twice$"),
        (["p", "q", "r"], [1.0, np.nan, np.inf], "2 of 3 vectors have values that aren't finite"),
    ],
)
def test_vectors_that_are_none_are_refused(ids: list[str], x: list[float], words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words):
        read_vectors(vectors(table(tmp_path / "a.parquet", id=ids, x=x)))
    with pytest.raises(DataError, match=r"b.parquet: can't be read as vectors of numbers: .*No match for .*\(id\)"):
        read_vectors(vectors(table(tmp_path / "b.parquet", name=ids, x=x), features=("x",)))
    with pytest.raises(DataError, match="a: is only described in a finished run: run the configuration again"):
        read_vectors(replace(vectors(tmp_path / "a.parquet"), file=MethodFile("a", "0", None)))
