"""Vectors of documents that were made elsewhere, such as embeddings by a language model."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.corpora.user.text_files import file_digest
from benchmark.system.errors import DataError, one_line, quote_value

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.config.model import MethodFile, VectorFile
    from benchmark.corpora.corpus import Documents

#: The fewest documents that a column must set apart to be taken for the label.
MIN_SET_APART = 10


def vectors_of(vectors: VectorFile, normalization: str, documents: Documents) -> NDArray[Any]:
    """Return the vectors of documents, shape (n, d), of the length 1 that the normalization names.

    Raises
    ------
    ValueError
        If a document has no vector, or a column of the vectors is the label.
    DataError
        If the file can't be read, or was changed since the configuration was.
    """
    frame, ids, name = read_vectors(vectors), documents.ids, vectors.file.name
    rows = frame.index.get_indexer(pd.Index(ids, dtype=object))
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        problem = f"{len(missing):,} of {len(ids):,} documents have no vector, such as {quote_value(ids[missing[0]])}"
        raise ValueError(f"{name}: {problem}")
    matrix: NDArray[Any] = frame.to_numpy()[rows]
    column = None if documents.topics is not None else label_column(matrix, documents.labels)
    if column is not None:
        named = frame.columns[column]
        shown = quote_value(named) if isinstance(named, str) else f"{named} (from 0)"
        hint = "leave it out of the file if it was made from the labels"
        raise ValueError(f"{name}: the column {shown} has the same value in all documents of a class: {hint}")
    if normalization != "none":
        lengths = np.linalg.norm(matrix, ord={"l1": 1, "l2": 2}[normalization], axis=1, keepdims=True)
        np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix


def label_column(matrix: NDArray[Any], labels: NDArray[np.int32]) -> int | None:
    """Return a column that is the label in other words: it varies, but within no class; None if there is none."""
    _, first, classes = np.unique(labels, return_index=True, return_inverse=True)
    for number, column in enumerate(matrix.T):
        if (column == column[first][classes]).all():
            _, sizes = np.unique(column, return_counts=True)
            if len(column) - sizes.max() >= MIN_SET_APART:
                return number
    return None


@lru_cache(maxsize=4)
def read_vectors(vectors: VectorFile) -> pd.DataFrame:
    """Read vectors as a frame of float32 or float64, indexed by the documents' ids; float32 stays so.

    Raises
    ------
    DataError
        If a file can't be read, was changed, lacks a column, has a document twice, or has values that aren't finite.
    """
    path, name = checked_path(vectors.file), vectors.file.name
    try:
        if vectors.ids is None:
            frame = _of_parquet(vectors, pd.read_parquet(path))
        else:
            ids = checked_path(vectors.ids).read_text(encoding="utf-8").splitlines()
            frame = pd.DataFrame(np.load(path, allow_pickle=False), index=pd.Index(ids, dtype=object))
        frame = frame if (frame.dtypes == np.float32).all() else frame.astype(np.float64)
    except (OSError, EOFError, TypeError, ValueError) as error:
        raise DataError(one_line(f"{name}: can't be read as vectors of numbers: {error}")) from None
    if not (finite := np.isfinite(frame.to_numpy()).all(axis=1)).all():
        raise DataError(f"{name}: {(~finite).sum():,} of {len(frame):,} vectors have values that aren't finite")
    twice = np.flatnonzero(frame.index.duplicated())
    if len(twice):
        named = name if vectors.ids is None else vectors.ids.name
        raise DataError(f"{named}:{twice[0] + 1}: has the document {quote_value(frame.index[twice[0]])} twice")
    return frame


def checked_path(file: MethodFile) -> Path:
    """Return the path of a file; DataError if it was changed since the configuration was read."""
    if file.path is None:
        raise DataError(f"{file.name}: is only described in a finished run: run the configuration again")
    if file_digest(file.path) != file.digest:
        raise DataError(f"{file.path}: was changed since the configuration was read; run it again")
    return file.path


def _of_parquet(vectors: VectorFile, table: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of a table by id: those of a column of lists, of the named features, or of all others."""
    table = table.reset_index() if vectors.id_column in table.index.names else table
    for column in filter(None, (vectors.id_column, vectors.column)):
        if column not in table:
            known = quote_value(", ".join(map(str, table.columns)))
            raise DataError(f"{vectors.file.name}: has no column {column!r} (columns: {known})")
    ids = pd.Index(table[vectors.id_column].map(str), dtype=object)
    if vectors.column:
        return pd.DataFrame(np.stack(table[vectors.column].to_list()), index=ids)
    features = vectors.features or [name for name in table if name != vectors.id_column]
    return table[list(features)].set_axis(ids)
