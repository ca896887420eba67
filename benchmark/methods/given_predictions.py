"""Predictions of a method that was run elsewhere: read from a file, and scored and tested like those of a run."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.other_methods import score_columns
from benchmark.corpora.user.labels import listed_labels
from benchmark.corpora.user.records import UnknownColumnError, iter_records, read_columns
from benchmark.evaluation.predictions import TIMERS, SettingPredictions
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR, split_labels
from benchmark.methods.base import Method
from benchmark.methods.plugin_outputs import with_other_labels_told
from benchmark.system.errors import DataError, did_you_mean, quote_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.evaluation.protocols import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

ID, LABELS, SPLIT, SIZE = "id", ("label", "labels"), "split", "size"


@dataclass(frozen=True, eq=False)
class PredictionsFile:
    """Contents of a file of predictions.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    labels : mapping of (str, str, str) to str
        Labels as text by document, split and training size; split and size are "" where the file has no such column.
    by_split, by_size : bool
        Whether the file has these columns.
    tied : set of (str, str, str)
        Documents whose best score is that of several classes; empty where the file has no scores.
    scored : tuple of str
        Classes that the file has scores of.
    scores : mapping of (str, str, str) to tuple of float
        Scores of these classes.
    """

    name: str
    labels: Mapping[tuple[str, str, str], str]
    by_split: bool
    by_size: bool
    tied: frozenset[tuple[str, str, str]] = frozenset()
    scored: tuple[str, ...] = ()
    scores: Mapping[tuple[str, str, str], tuple[float, ...]] = field(default_factory=dict)


@lru_cache(maxsize=8)
def read_predictions(path: Path, digest: str) -> PredictionsFile:
    """Read a table, JSON lines or Parquet with the columns id and label (or labels), and split and size where needed.

    Columns with a score of each class, see `score_columns`, say which predictions are ties, and rank the documents.

    Parameters
    ----------
    path : Path
    digest : str
        sha256 that the file had when the configuration was read.

    Raises
    ------
    DataError
        If the file can't be read, was changed, lacks a column, or has a document twice.
    """
    columns, found = read_columns(path), hashlib.sha256()
    label = next((each for each in LABELS if each in columns), None)
    if ID not in columns or label is None:
        missing = ID if ID not in columns else LABELS[0]
        raise UnknownColumnError(path, missing, columns)
    more = [each for each in (SPLIT, SIZE) if each in columns]
    labels: dict[tuple[str, str, str], str] = {}
    tied, columns_of_scores = set[tuple[str, str, str]](), score_columns(columns)
    scores: dict[tuple[str, str, str], tuple[float, ...]] = {}
    for line, values in iter_records(path, [ID, label, *more, *columns_of_scores], digest=found):
        own = dict(zip((ID, label, *more), values, strict=False))
        texts = {key: "" if value is None else str(value).strip() for key, value in own.items()}
        texts[label] = _composed(own[label])
        key = texts[ID], texts.get(SPLIT, ""), texts.get(SIZE, "")
        if key in labels:
            where = " ".join(filter(None, key[1:]))
            raise DataError(f"{path}:{line}: has the document {quote_value(key[0])} twice{where and f' in {where}'}")
        labels[key] = texts[label]
        numbers = [_number(value, f"{path}:{line}", key[0]) for value in values[2 + len(more) :]]
        if len(numbers) > 1 and numbers.count(max(numbers)) > 1:
            tied.add(key)
        if numbers:
            scores[key] = tuple(numbers)
    if found.hexdigest() != digest:
        raise DataError(f"{path}: was changed since the configuration was read; run it again")
    scored = tuple(_composed(each.partition(" ")[2]) for each in columns_of_scores)
    return PredictionsFile(path.name, labels, SPLIT in more, SIZE in more, frozenset(tied), scored, scores)


def _composed(value: Any) -> str:
    """Return a label in composed Unicode, as the corpus has it; several of a list, with the separator."""
    listed = listed_labels(value) if isinstance(value, str) else value
    text = LABEL_SEPARATOR.join(map(str, listed)) if isinstance(listed, list) else "" if value is None else str(value)
    return unicodedata.normalize("NFC", text.strip())


def _number(value: Any, place: str, document: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise DataError(f"{place}: the document {quote_value(document)} has the score {quote_value(value)}: no number")
    return number


class GivenPredictionsMethod(Method):
    """Method whose predictions stand in the file that its specification names."""

    def solve(
        self,
        problem: Problem,
        splits: Sequence[Split],
        terms: int | None,
        bench: MatrixCache,  # noqa: ARG002 - the signature of methods
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
        given = self._file
        tested = np.concatenate([split.test for split in splits])
        if len(splits) > 1 and not given.by_split and len(np.unique(tested)) < len(tested):
            raise ValueError(
                f"{given.name}: documents are tested more than once: add a column {SPLIT!r} (and {SIZE!r})"
            )
        return with_other_labels_told([self._of_split(problem, split, given) for split in splits])

    def fit(self, *_: object) -> FittedMethod:
        """Raise ValueError: a file of predictions has no trained model."""
        raise ValueError(f"{self._file.name}: predictions that were made elsewhere have no trained model to keep")

    @property
    def _file(self) -> PredictionsFile:
        file = self.spec.predictions
        if file is None or file.path is None:
            raise ValueError("predictions need a file")
        return read_predictions(file.path, file.digest)

    def _of_split(self, problem: Problem, split: Split, given: PredictionsFile) -> SettingPredictions:
        documents = problem.documents
        place = split.name if given.by_split else "", str(len(split.train)) if given.by_size else ""
        ids = [documents.ids[row] for row in split.test]
        missing = [each for each in ids if (each, *place) not in given.labels]
        if missing:
            of = " ".join(filter(None, place))
            problem_text = f"{len(missing):,} of {len(ids):,} test documents have no prediction{of and f' in {of}'}"
            raise ValueError(f"{given.name}: {problem_text}, such as {quote_value(missing[0])}")
        texts = [given.labels[(each, *place)] for each in ids]
        predicted = _codes(texts, documents.classes, multilabel=problem.multilabel, name=given.name)
        tied = np.zeros(predicted.shape, dtype=bool)
        if not problem.multilabel:
            tied[:] = [(each, *place) in given.tied for each in ids]
        values = None
        if set(documents.classes) <= set(given.scored):
            columns = [given.scored.index(name) for name in documents.classes]
            values = np.array([given.scores[each, *place] for each in ids]).reshape(len(ids), -1)[:, columns]
        return SettingPredictions.of_split(predicted, tied, np.zeros(len(TIMERS)), values)


def _codes(texts: Sequence[str], classes: tuple[str, ...], *, multilabel: bool, name: str) -> NDArray[Any]:
    """Return the position of each document's class, shape (m,), or class indicators, shape (m, k)."""
    position = {label: code for code, label in enumerate(classes)}
    labels = [split_labels(text) if multilabel else [text] for text in texts]
    unknown = next((each for own in labels for each in own if each not in position), None)
    if unknown is not None:
        raise ValueError(f"{name}: the label {quote_value(unknown)} is not a class{did_you_mean(unknown, classes)}")
    if not multilabel:
        return np.array([position[own[0]] for own in labels], dtype=np.int32)
    codes = np.zeros((len(texts), len(classes)), dtype=bool)
    for row, own in enumerate(labels):
        codes[row, [position[each] for each in own]] = True
    return codes
