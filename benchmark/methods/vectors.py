"""Vectors of documents that were made elsewhere, such as embeddings by a language model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.user.text_files import file_digest
from benchmark.system.errors import DataError, one_line, quote_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from benchmark.config.model import MethodFile, VectorFile
    from benchmark.corpora.corpus import Documents

#: Documents that are compared first, and the fewest documents that a column must set apart to be taken for the label.
FIRST_COMPARED, MIN_SET_APART = 1000, 10


def vectors_of(vectors: VectorFile, normalization: str, documents: Documents) -> NDArray[Any]:
    """Return the vectors of documents, shape (n, d), of the length 1 that the normalization names.

    Raises
    ------
    ValueError
        If a document has no vector, or a column of the vectors is the label.
    DataError
        If the file can't be read, or was changed since the configuration was.
    """
    found, ids, name = read_vectors(vectors), documents.ids, vectors.file.name
    missing = [each for each in ids if each not in found.rows]
    if missing:
        problem = f"{len(missing):,} of {len(ids):,} documents have no vector, such as {quote_value(missing[0])}"
        raise ValueError(f"{name}: {problem}")
    matrix: NDArray[Any] = found.matrix[[found.rows[each] for each in ids]]
    column = label_column(matrix, documents)
    if column is not None:
        named = quote_value(found.columns[column]) if found.columns else f"{column} (from 0)"
        hint = "leave it out of the file if it was made from the labels"
        raise ValueError(f"{name}: the column {named} has the same value in all documents of a class: {hint}")
    if normalization != "none":
        lengths = np.linalg.norm(matrix, ord={"l1": 1, "l2": 2}[normalization], axis=1, keepdims=True)
        np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix


def surplus_warnings(vectors: VectorFile, documents: Documents) -> tuple[str, ...]:
    """Return a warning of vectors that are of no document, if there are any."""
    rows = read_vectors(vectors).rows
    surplus = len(rows.keys() - set(documents.ids))
    return (f"{surplus:,} of {len(rows):,} vectors of {vectors.file.name} are of no document here",) if surplus else ()


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
    import pyarrow as pa  # noqa: PLC0415 - takes 0.1 s, for files of vectors alone
    from pyarrow import parquet  # noqa: PLC0415

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
    if file_digest(file.path) != file.digest:
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
