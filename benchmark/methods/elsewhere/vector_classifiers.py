"""Classifiers of vectors that were made elsewhere, such as embeddings by a language model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmark.corpora.file_digest import file_digest
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.wrappers.thresholds import ThresholdedMethod
from benchmark.system.errors import DataError, one_line, quote_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodFile, VectorFile
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.methods.split_data import SplitData

#: Documents that are compared first, and the fewest documents that a column must set apart to be taken for the label.
FIRST_COMPARED, MIN_SET_APART = 1000, 10


@dataclass(frozen=True)
class VectorClassifierMethod(PointClassifierMethod):
    """Classifier of vectors that a file has for each document; otherwise as `PointClassifierMethod`."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the vectors of each split and predict, see `Method.solve`.

        Raises
        ------
        ValueError
            If a document has no vector, or a column of the vectors is the label.
        DataError
            If the file can't be read, or was changed since the configuration was.
        """
        if terms is not None:
            raise ValueError("vectors of a file have no numbers of terms")
        return self.with_surplus(super().solve(problem, splits, None, bench), problem)

    def with_surplus(self, found: list[SettingPredictions], problem: Problem) -> list[SettingPredictions]:
        """Return predictions with a warning of vectors that are of no document."""
        vectors = read_vectors(self._vectors)
        surplus = len(vectors.rows.keys() - set(problem.documents.ids))
        text = f"{surplus:,} of {len(vectors.rows):,} vectors of {self._vectors.file.name} are of no document here"
        return [replace(each, warnings=(*each.warnings, text)) for each in found] if surplus else found

    @property
    def _vectors(self) -> VectorFile:
        vectors = self.spec.vectors
        if vectors is None or vectors.file.path is None:
            raise ValueError("vectors need a file")
        return vectors

    def _shared(self, problem: Problem, splits: Sequence[Split]) -> Any:  # noqa: ARG002 - as of the base class
        return self.vectors_of(problem) if problem.vectors is None else problem.vectors

    def _points(self, work: SplitData, shared: Any) -> Any:
        return super()._points(work, self._shared(work.problem, [work.split]) if shared is None else shared)

    def vectors_of(self, problem: Problem) -> NDArray[Any]:
        """Return the vectors of all documents, shape (n, d), of the length 1 that its normalization names."""
        vectors, ids, name = read_vectors(self._vectors), problem.documents.ids, self._vectors.file.name
        missing = [each for each in ids if each not in vectors.rows]
        if missing:
            problem_text = f"{len(missing):,} of {len(ids):,} documents have no vector"
            raise ValueError(f"{name}: {problem_text}, such as {quote_value(missing[0])}")
        own: NDArray[Any] = vectors.matrix[[vectors.rows[each] for each in ids]]
        column = label_column(own, problem.documents)
        if column is not None:
            named = quote_value(vectors.columns[column]) if vectors.columns else f"{column} (from 0)"
            hint = "leave it out of the file if it was made from the labels"
            raise ValueError(f"{name}: the column {named} has the same value in all documents of a class: {hint}")
        if self.spec.representation.normalization == "none":
            return own
        order = {"l1": 1, "l2": 2}[self.spec.representation.normalization]
        lengths = np.linalg.norm(own, ord=order, axis=1, keepdims=True)
        np.divide(own, lengths, out=own, where=lengths > 0)
        return own


@dataclass(frozen=True)
class ThresholdedVectors(ThresholdedMethod):
    """Classifier of vectors that predicts a class above a threshold; otherwise as `ThresholdedMethod`."""

    method: VectorClassifierMethod

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the vectors of each split and predict its test documents, see `Method.solve`."""
        found = super().solve(replace(problem, vectors=self.method.vectors_of(problem)), splits, terms, bench)
        return self.method.with_surplus(found, problem)


@dataclass(frozen=True, eq=False)
class DocumentVectors:
    """Vectors of documents.

    Parameters
    ----------
    rows : dict of str to int
        Row of each document, by id.
    matrix : float32 or float64 array, shape (n, d)
    columns : tuple of str
        Names of the columns; empty where they have none.
    """

    rows: dict[str, int]
    matrix: NDArray[Any]
    columns: tuple[str, ...] = ()


def label_column(matrix: NDArray[Any], documents: Documents) -> int | None:
    """Return a column that is the label in other words: it varies, but within no class; None if there is none.

    Of documents that may have several classes, it is one that varies with a class and within neither of its sides.
    """
    states = [documents.labels] if documents.topics is None else list(documents.topics.T)
    for state in states:
        columns = np.arange(matrix.shape[1])
        for n in (FIRST_COMPARED, len(matrix)):
            _, first, state_of = np.unique(state[:n], return_index=True, return_inverse=True)
            rows = matrix[:n, columns]
            columns = columns[(rows == rows[first[state_of]]).all(axis=0)]
        for column in columns:
            if len(matrix) - np.unique(matrix[:, column], return_counts=True)[1].max() >= MIN_SET_APART:
                return int(column)
    return None


@lru_cache(maxsize=4)
def read_vectors(vectors: VectorFile) -> DocumentVectors:
    """Read vectors; float32 stays so.

    Raises
    ------
    DataError
        If a file can't be read, was changed, lacks a column, has a document twice, or has values that aren't finite.
    """
    path, name, columns = _checked(vectors.file), vectors.file.name, list[str]()
    try:
        if vectors.ids is None:
            table = parquet.read_table(path)
            columns = table.column_names
            ids, matrix = _of_parquet(vectors, table)
        else:
            ids = _checked(vectors.ids).read_text(encoding="utf-8").splitlines()
            matrix = np.load(path, allow_pickle=False)
        matrix = matrix if matrix.dtype == np.float32 else np.asarray(matrix, dtype=np.float64)
    except (OSError, EOFError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(one_line(f"{name}: can't be read as vectors of numbers: {error}")) from None
    if matrix.ndim != 2 or len(matrix) != len(ids):
        raise DataError(f"{name}: has the shape {matrix.shape}, and there are {len(ids):,} ids: a row is a document's")
    if not np.isfinite(matrix).all():
        broken = int((~np.isfinite(matrix)).any(axis=1).sum())
        raise DataError(f"{name}: {broken:,} of {len(ids):,} vectors have values that aren't finite")
    rows = {each: row for row, each in enumerate(ids)}
    if len(rows) < len(ids):
        twice = next(each for row, each in enumerate(ids) if rows[each] != row)
        row = ids.index(twice, ids.index(twice) + 1) + 1
        named = name if vectors.ids is None else vectors.ids.name
        raise DataError(f"{named}:{row}: has the document {quote_value(twice)} twice")
    return DocumentVectors(rows, matrix, () if vectors.ids or vectors.column else tuple(_numbers(vectors, columns)))


def _checked(file: MethodFile) -> Any:
    """Return the path of a file; DataError if it was changed since the configuration was read."""
    if file.path is None:
        raise DataError(f"{file.name}: is only described in a finished run: run the configuration again")
    if file_digest(file.path).sha256.hex() != file.digest:
        raise DataError(f"{file.path}: was changed since the configuration was read; run it again")
    return file.path


def _of_parquet(vectors: VectorFile, table: pa.Table) -> tuple[list[str], NDArray[Any]]:
    for column in filter(None, (vectors.id_column, vectors.column)):
        if column not in table.column_names:
            known = quote_value(", ".join(table.column_names))
            raise DataError(f"{vectors.file.name}: has no column {column!r} (columns: {known})")
    ids = [str(each) for each in table[vectors.id_column].to_pylist()]
    if vectors.column:
        lists = [[] if each is None else each for each in table[vectors.column].to_numpy()]
        widths = {len(each) for each in lists}
        if len(widths) > 1:
            raise ValueError(f"vectors have from {min(widths)} to {max(widths)} numbers")
        return ids, np.stack(lists)
    return ids, np.column_stack([table[name].to_numpy() for name in _numbers(vectors, table.column_names)])


def _numbers(vectors: VectorFile, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns that are features; all but that of the ids, where the configuration names none."""
    return vectors.features or [name for name in columns if name != vectors.id_column]
