"""Predictions of a method that was run elsewhere: read from a file, and scored and tested like those of a run."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.corpora.user.labels import listed_labels
from benchmark.corpora.user.records import UnknownColumnError, iter_records, read_columns
from benchmark.evaluation.predictions import TIMERS, SettingPredictions, score_columns
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR, label_codes
from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import warned_of_other_labels
from benchmark.methods.vectors import checked_path
from benchmark.system.errors import DataError, did_you_mean, quote_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodFile
    from benchmark.evaluation.splits import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.methods.split_data import SplitData

ID, LABELS, SPLIT, SIZE = "id", ("label", "labels"), "split", "size"


@lru_cache(maxsize=8)
def read_predictions(file: MethodFile) -> pd.DataFrame:
    """Read a table, JSON lines or Parquet with the columns id and label (or labels), and split and size where needed.

    Parameters
    ----------
    file : MethodFile

    Returns
    -------
    DataFrame
        Indexed by "id", "split" and "size" as text, where split and size are "" if the file has no such column. The
        columns are "label" and, where the file has scores (see `score_columns`), each class's; `attrs` has the columns.

    Raises
    ------
    DataError
        If the file can't be read, was changed, lacks a column, has a document twice, or a score that is no number.
    """
    path = checked_path(file)
    columns = read_columns(path)
    label = next((each for each in LABELS if each in columns), LABELS[0])
    if missing := next((each for each in (ID, label) if each not in columns), None):
        raise UnknownColumnError(path, missing, columns)
    keys, scored = [ID, *(each for each in (SPLIT, SIZE) if each in columns)], score_columns(columns)
    records = list(iter_records(path, [*keys, label, *scored]))
    lines, columns_read = [line for line, _ in records], [*keys, LABELS[0], *scored]
    frame = pd.DataFrame([values for _, values in records], columns=columns_read, dtype=object)
    for key in (ID, SPLIT, SIZE):
        frame[key] = ["" if each is None else str(each).strip() for each in frame.get(key, [""] * len(frame))]
    twice = np.flatnonzero(frame.duplicated([ID, SPLIT, SIZE]))
    if len(twice):
        document, *others = frame.loc[twice[0], [ID, SPLIT, SIZE]]
        of = " ".join(filter(None, others))
        raise DataError(f"{path}:{lines[twice[0]]}: has the document {quote_value(document)} twice{of and f' in {of}'}")
    frame[LABELS[0]] = [_composed(each) for each in frame[LABELS[0]]]
    for column in scored:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if len(wrong := np.flatnonzero(numbers.isna())):
            score, document = quote_value(frame.loc[wrong[0], column]), quote_value(frame.loc[wrong[0], ID])
            raise DataError(f"{path}:{lines[wrong[0]]}: the document {document} has the score {score}: no number")
        frame[column] = numbers.astype(np.float64)
    frame = frame.rename(columns={each: f"score {_composed(each.partition(' ')[2])}" for each in scored})
    frame = frame.set_index([ID, SPLIT, SIZE]).sort_index()
    frame.attrs["columns"] = columns
    return frame


def _composed(value: Any) -> str:
    """Return a label in composed Unicode, as the corpus has it; several of a list, with the separator."""
    listed = listed_labels(value) if isinstance(value, str) else value
    text = LABEL_SEPARATOR.join(map(str, listed)) if isinstance(listed, list) else "" if value is None else str(value)
    return unicodedata.normalize("NFC", text.strip())


class GivenPredictionsMethod(Method):
    """Method whose predictions stand in the file that its specification names."""

    def solve(
        self,
        problem: Problem,
        splits: Sequence[Split],
        terms: int | None,
        matrices: MatrixCache,  # noqa: ARG002 - the signature of methods
    ) -> list[SettingPredictions]:
        """Return the predictions of the file for the test documents of each split, see `Method.solve`.

        Raises
        ------
        ValueError
            If a test document has no prediction, or an unknown label; or if the file doesn't say which of several
            predictions of a document is of which split.
        """
        if terms is not None:
            raise ValueError("predictions of a file have no numbers of terms")
        file = self.spec.predictions
        assert file is not None  # noqa: S101 - see `build_method`
        frame, tested = read_predictions(file), np.concatenate([split.test for split in splits])
        if len(splits) > 1 and SPLIT not in frame.attrs["columns"] and len(np.unique(tested)) < len(tested):
            raise ValueError(f"{file.name}: documents are tested more than once: add a column 'split' (and 'size')")
        try:
            return warned_of_other_labels([_of_split(problem, split, frame) for split in splits])
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from None

    def fit(self, work: SplitData) -> FittedMethod:  # noqa: ARG002
        """Raise ValueError: a file of predictions has no trained model."""
        name = self.spec.predictions and self.spec.predictions.name
        raise ValueError(f"{name}: predictions that were made elsewhere have no trained model to keep")


def _of_split(problem: Problem, split: Split, frame: pd.DataFrame) -> SettingPredictions:
    documents, columns = problem.documents, frame.attrs["columns"]
    where = split.name if SPLIT in columns else "", str(len(split.train)) if SIZE in columns else ""
    wanted = [(documents.ids[row], *where) for row in split.test]
    rows, predicted = predicted_label_codes(frame, wanted, documents.classes, multilabel=problem.multilabel)
    scores, values = [f"score {name}" for name in documents.classes], None
    if set(scores) <= set(rows):
        values = rows[scores].to_numpy(dtype=np.float64)
    return SettingPredictions.of_split(predicted, np.zeros(predicted.shape, dtype=bool), np.zeros(len(TIMERS)), values)


def predicted_label_codes(
    frame: pd.DataFrame, documents: Sequence[tuple[str, str, str]], classes: Sequence[str], *, multilabel: bool
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the rows and the `label_codes` of documents, which are named by id, split and size.

    Raises
    ------
    ValueError
        If a document has no prediction, or an unknown label.
    """
    wanted = pd.MultiIndex.from_tuples(documents, names=frame.index.names)
    missing = wanted[~wanted.isin(frame.index)]
    if len(missing):
        of = " ".join(str(each) for each in missing[0][1:] if each)
        counted = f"{len(missing):,} of {len(wanted):,} test documents have no prediction{of and f' in {of}'}"
        raise ValueError(f"{counted}, such as {quote_value(missing[0][0])}")
    rows = frame.reindex(wanted)
    try:
        return rows, label_codes(rows[LABELS[0]].tolist(), classes, multilabel=multilabel)
    except KeyError as error:
        (label,) = error.args
        raise ValueError(f"the label {quote_value(label)} is not a class{did_you_mean(label, classes)}") from None
