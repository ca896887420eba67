"""Files that methods read: vectors of documents, such as embeddings, and predictions that were made elsewhere."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.corpora.user.labels import listed_labels
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.corpora.user.text_files import file_digest
from benchmark.evaluation.predictions import score_columns
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR, label_codes
from benchmark.system.errors import DataError, did_you_mean, one_line, quote_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.config.model import MethodFile, VectorFile
    from benchmark.corpora.corpus import Documents

#: The fewest documents that a column must set apart to be taken for the label.
MIN_SET_APART = 10
ID, LABELS, SPLIT, SIZE = "id", ("label", "labels"), "split", "size"


def checked_path(file: MethodFile) -> Path:
    """Return the path of a file; DataError if it was changed since the configuration was read."""
    if file.path is None:
        raise DataError(f"{file.name}: is only described in a finished run: run the configuration again")
    if file_digest(file.path) != file.digest:
        raise DataError(f"{file.path}: was changed since the configuration was read; run it again")
    return file.path


# --- Vectors ---


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
    if documents.topics is None and (column := label_column(matrix, documents.labels)) is not None:
        problem = f"the column {str(frame.columns[column])!r} has the same value in all documents of a class"
        raise ValueError(f"{name}: {problem}: leave it out of the file if it was made from the labels")
    if normalization != "none":
        lengths = np.linalg.norm(matrix, ord={"l1": 1, "l2": 2}[normalization], axis=1, keepdims=True)
        np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix


def label_column(matrix: NDArray[Any], labels: NDArray[np.int32]) -> int | None:
    """Return a column that is the label in other words: it varies, but within no class; None if there is none."""
    _, first, classes = np.unique(labels, return_index=True, return_inverse=True)
    for column in np.flatnonzero((matrix == matrix[first[classes]]).all(axis=0)):
        _, sizes = np.unique(matrix[:, column], return_counts=True)
        if len(labels) - sizes.max() >= MIN_SET_APART:
            return int(column)
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
            frame = _of_parquet(path, vectors)
        else:
            ids = checked_path(vectors.ids).read_text(encoding="utf-8").splitlines()
            frame = pd.DataFrame(np.load(path, allow_pickle=False), index=pd.Index(ids, dtype=object))
        frame = frame if (frame.dtypes == np.float32).all() else frame.astype(np.float64)
    except (OSError, EOFError, LookupError, TypeError, ValueError) as error:
        raise DataError(one_line(f"{name}: can't be read as vectors of numbers: {error!r}")) from None
    if not (finite := np.isfinite(frame.to_numpy()).all(axis=1)).all():
        raise DataError(f"{name}: {(~finite).sum():,} of {len(frame):,} vectors have values that aren't finite")
    twice = np.flatnonzero(frame.index.duplicated())
    if len(twice):
        named = name if vectors.ids is None else vectors.ids.name
        raise DataError(f"{named}:{twice[0] + 1}: has the document {quote_value(frame.index[twice[0]])} twice")
    return frame


def _of_parquet(path: Path, vectors: VectorFile) -> pd.DataFrame:
    """Read the numbers of a table by id: a column of lists, the named features, or all other columns."""
    from pyarrow import parquet  # noqa: PLC0415 - slow to import, and only for Parquet

    wanted = [vectors.column] if vectors.column else [*vectors.features]
    columns = [vectors.id_column, *wanted] if wanted else None
    table = parquet.read_table(path, columns=columns).to_pandas(ignore_metadata=True)
    ids = pd.Index(table.pop(vectors.id_column).map(str), dtype=object)
    return pd.DataFrame(np.stack(table[vectors.column]), ids) if vectors.column else table.set_axis(ids)


# --- Predictions ---


@lru_cache(maxsize=8)
def read_predictions(file: MethodFile) -> pd.DataFrame:
    """Read a table, JSON lines or Parquet with the columns id and label (or labels), and split and size where needed.

    Parameters
    ----------
    file : MethodFile

    Returns
    -------
    DataFrame
        A row for each prediction, with the file's columns "id", "split" and "size" as text, "label" and, where the
        file has scores (see `score_columns`), "score" and the name of each class.

    Raises
    ------
    DataError
        If the file can't be read, was changed, lacks a column, has a document twice, or a score that is no number.
    """
    path = checked_path(file)
    columns = read_columns(path)
    label = next((each for each in LABELS if each in columns), LABELS[0])
    keys, scored = [ID, *(each for each in (SPLIT, SIZE) if each in columns)], score_columns(columns)
    lines, values = [], []
    for line, record in iter_records(path, [*keys, label, *scored]):
        lines.append(f"{path}:{line}")
        values.append(record)
    frame = pd.DataFrame(values, lines, [*keys, LABELS[0], *scored], dtype=object)
    frame[keys] = frame[keys].map(lambda each: "" if each is None else str(each).strip())
    twice = np.flatnonzero(frame.duplicated(keys))
    if len(twice):
        raise DataError(f"{lines[twice[0]]}: has the document {_key_text(frame[keys].iloc[twice[0]])} twice")
    frame[LABELS[0]] = frame[LABELS[0]].map(_composed)
    for column in scored:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if len(wrong := np.flatnonzero(numbers.isna())):
            document, score = map(quote_value, frame[[ID, column]].iloc[wrong[0]])
            raise DataError(f"{lines[wrong[0]]}: the document {document} has the score {score}: no number")
        frame[column] = numbers.astype(np.float64)
    return frame.rename(columns={each: f"score {_composed(each.partition(' ')[2])}" for each in scored})


def predictions_of(
    wanted: pd.DataFrame, frame: pd.DataFrame, classes: Sequence[str], *, multilabel: bool
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the rows and the `label_codes` of documents, which are named by id, and by split and size as the file is.

    Raises
    ------
    ValueError
        If a document has no prediction, or an unknown label.
    """
    wanted = wanted.filter(frame.columns)
    rows = wanted.merge(frame, how="left", indicator="found")
    missing = np.flatnonzero(rows["found"] == "left_only")
    if len(missing):
        counted = f"{len(missing):,} of {len(rows):,} test documents have no prediction"
        raise ValueError(f"{counted}, such as {_key_text(wanted.iloc[missing[0]])}")
    try:
        return rows, label_codes(rows[LABELS[0]].tolist(), classes, multilabel=multilabel)
    except KeyError as error:
        (label,) = error.args
        raise ValueError(f"the label {quote_value(label)} is not a class{did_you_mean(label, classes)}") from None


def _key_text(key: pd.Series[str]) -> str:
    """Return a document's id with its split and size, if the file has them."""
    document, *of = key
    return " in ".join(filter(None, [quote_value(document), " ".join(of)]))


def _composed(value: Any) -> str:
    """Return a label in composed Unicode, as the corpus has it; several of a list, with the separator."""
    listed = listed_labels(value) if isinstance(value, str) else value
    text = LABEL_SEPARATOR.join(map(str, listed)) if isinstance(listed, list) else "" if value is None else str(value)
    return unicodedata.normalize("NFC", text.strip())
