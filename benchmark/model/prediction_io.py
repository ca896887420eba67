"""Predictions of files of documents, in files of many kinds, as CSV or JSON lines that are written batch by batch."""

from __future__ import annotations

import json
import sys
from collections import deque
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.corpus import FieldedText
from benchmark.corpora.user.records import (
    DELIMITERS,
    RECORD_EXTENSIONS,
    SPREADSHEETS,
    TABLE_DELIMITERS,
    TextForm,
    file_extension,
    iter_records,
    read_columns,
    unreadable_kind,
)
from benchmark.corpora.user.text_files import check_encoding, open_decompressed
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR
from benchmark.report.writers import csv_text
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchmark.model.text_model import TextModel, TextPredictions

    Answered = tuple[tuple[str, ...], TextPredictions]

STANDARD_INPUT = Path("-")
#: What a prediction has beside the label.
SCORE_PARTS = ("decision", "probability")


@dataclass(frozen=True)
class RecordColumns:
    """Which columns of records are read, and how their files are written.

    Parameters
    ----------
    text : sequence of str
        Columns of a record's text; several are joined by line feeds, as in a user's corpus.
    id : str, optional
        Column of the record's name; by default the one of `usual`, where a file has it, or else its file and line.
    encoding : str
        Encoding of tables and JSON.
    delimiter : str, optional
        Character between the columns of a table. By default the first of these under which the first row has the
        columns: that of `usual`, that of the file's kind, and others.
    header : bool
        Whether the first row of a table has the names of its columns.
    usual : dict
        Delimiter and id of the training documents.
    keep : sequence of str, or None
        Columns that are written beside the predictions; None for all columns of the first file.
    quoting, escape
        As of `TextForm`.
    """

    text: Sequence[str]
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    usual: Mapping[str, str | None] = field(default_factory=dict)
    keep: Sequence[str] | None = ()
    quoting: str = "double"
    escape: str | None = None

    @classmethod
    def of_model(
        cls,
        about: Mapping[str, Any],
        *,
        text: Sequence[str] | None = None,
        id: str | None = None,  # noqa: A002 - the field
        encoding: str | None = None,
        delimiter: str | None = None,
        keep: Sequence[str] | None = (),
    ) -> RecordColumns:
        """Return the columns and form of a model's training documents, with what is stated in their place."""
        reading = about.get("reading") or {}
        usual = {name: reading.get(name) for name in ("delimiter", "id")}
        encoding = encoding or reading.get("encoding", "utf-8")
        check_encoding(encoding)
        quotes = {name: reading[name] for name in ("quoting", "escape") if name in reading}
        return cls(text or about["text"], id, encoding, delimiter, reading.get("header", True), usual, keep, **quotes)

    def form_of(self, path: Path) -> tuple[dict[str, Any], list[str]]:
        """Return how a file of records is read, and the names of its columns."""
        form: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(TextForm)}
        usual = TABLE_DELIMITERS.get(file_extension(path))
        if usual is None or self.delimiter is not None:
            return form, read_columns(path, **form)
        wanted = {*self.text, *(self.keep or ()), *([] if self.id is None else [self.id])}
        marks = list(dict.fromkeys(filter(None, [self.usual.get("delimiter"), usual, *DELIMITERS])))
        names = {mark: self._names(path, form | {"delimiter": mark}) for mark in marks}
        best = next((mark for mark in marks if wanted <= set(names[mark])), marks[0])
        return form | {"delimiter": best}, names[best]

    def _names(self, path: Path, form: dict[str, Any]) -> list[str]:
        try:
            return read_columns(path, **form)
        except DataError:  # reading the records says what is wrong
            return []


class KeptColumns:
    """Values of the input's columns that are written beside the predictions, in the order of the documents."""

    def __init__(self, names: Sequence[str] | None = ()) -> None:
        self.names = None if names is None else tuple(names)
        self.rows = deque[list[Any]]()

    def named(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the columns; all of the first file's, if none are named."""
        if self.names is None:
            self.names = tuple(columns)
        return self.names

    def take(self) -> list[Any]:
        """Return the values of the next document."""
        return self.rows.popleft() if self.rows else []


def read_texts(
    files: Sequence[Path], columns: RecordColumns, kept: KeptColumns | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts: lines of standard input, records of a file of records, any other file as a whole.

    Parameters
    ----------
    files : sequence of Path
        ``-`` is standard input.
    columns : RecordColumns
    kept : KeptColumns, optional
        Gets the values of its columns for each record.

    Raises
    ------
    DataError
        If a file can't be read, or has no columns where some are to be kept.
    """
    kept = kept or KeptColumns()
    for path in files:
        kind = file_extension(path)
        if kind in SPREADSHEETS:
            raise unreadable_kind(path)
        if path != STANDARD_INPUT and kind in RECORD_EXTENSIONS:
            yield from _records(path, columns, kept)
            continue
        if kept.names != ():
            raise DataError(f"{path}: has no columns to keep: only tables, JSON and Parquet have")
        if path == STANDARD_INPUT:
            yield from ((str(number), line.rstrip(b"\r\n")) for number, line in enumerate(_standard_input(), start=1))
        else:
            with open_decompressed(path) as file:
                yield str(path), file.read()


def _records(path: Path, columns: RecordColumns, kept: KeptColumns) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts of the records of a file."""
    form, known = columns.form_of(path)
    usual = columns.usual.get("id")
    name = columns.id or (usual if usual in known else None)
    own, n = kept.named(known), len(columns.text)
    names = [*columns.text, *own, *([] if name is None else [name])]
    for line, values in iter_records(path, names, **form):
        texts = [value for value in values[:n] if value is not None]
        wrong = next((value for value in texts if not isinstance(value, str)), None)
        if wrong is not None:
            raise DataError(f"{path}:{line}: the text is {quote_value(wrong)}, and must be text")
        fields = {column: _bytes(value or "") for column, value in zip(columns.text, values, strict=False)}
        if own:
            kept.rows.append(values[n : n + len(own)])
        yield f"{path}:{line}" if name is None else str(values[-1]), FieldedText(_bytes("\n".join(texts)), fields)


def _standard_input() -> Iterator[bytes]:
    """Yield the lines of standard input; DataError where it is closed or can't be read."""
    if sys.stdin is None:
        raise DataError("standard input is closed: name files of texts, or pipe texts in, one a line")
    try:
        yield from sys.stdin.buffer
    except OSError as error:
        raise DataError(f"standard input can't be read: {error.strerror or error}") from None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class PredictionCount:
    """Number of predicted documents, and of those without a term of the model's vocabulary, if it has one."""

    def __init__(self) -> None:
        self.documents = self.unknown = 0

    def counted(self, answered: Iterable[Answered]) -> Iterator[Answered]:
        """Yield batches of predictions unchanged, and count their documents."""
        for names, answers in answered:
            self.documents += len(names)
            self.unknown += 0 if answers.known is None else int((answers.known == 0).sum())
            yield names, answers


@dataclass(frozen=True)
class PredictionForm:
    """What is written of each document, after its name and label.

    Parameters
    ----------
    as_json : bool
        JSON lines in place of CSV.
    parts : collection of str
        Of `decision` and `probability`; what a model doesn't have is left out.
    with_words : bool
        The terms that contribute most to each label.
    """

    as_json: bool = False
    parts: Collection[str] = SCORE_PARTS
    with_words: bool = False

    def has_probabilities(self, model: TextModel) -> bool:
        """Test whether probabilities are written."""
        return model.has_probabilities and "probability" in self.parts


def form_of_predictions(model: TextModel, only: Collection[str], *, as_json: bool, with_words: bool) -> PredictionForm:
    """Return what is written: all that a model has, or the label with those of `only`; ConfigError for a wrong name."""
    allowed = ("label", *SCORE_PARTS)
    for part in only:
        if part not in allowed:
            raise ConfigError(f"--only: {unknown_name('part', part, allowed)}")
    if "probability" in only and not model.has_probabilities:
        raise ConfigError("--only: the model has no probability; fit it with --probability")
    return PredictionForm(as_json, tuple(only) or SCORE_PARTS, with_words)


def format_predictions(
    model: TextModel, answered: Iterable[Answered], form: PredictionForm, kept: KeptColumns | None = None
) -> Iterator[str]:
    """Yield predictions as text: one line per document, after a header in CSV.

    The header comes with the lines of the first documents: if these can't be read or predicted, nothing is written.

    Numbers have all their digits in JSON and six in CSV, or twelve where six would make values of a document equal.
    The value of a class that could not be learned, since all training documents have it or none, is null in JSON and
    empty in CSV. Kept columns stand after the name; one that is named as a column of the predictions is begun by
    "input".
    """
    kept = kept or KeptColumns()
    if form.as_json:
        for names, answers in answered:
            records = (_record(model, names, answers, row, form, kept) for row in range(len(names)))
            yield "".join(f"{json.dumps(record, default=str)}\n" for record in records)
        return
    own = ["labels" if model.multilabel else "label"]
    own += [f"decision {name}" for name in model.classes] if "decision" in form.parts else []
    own += [f"probability {name}" for name in model.classes] if form.has_probabilities(model) else []
    if form.with_words:
        own += [f"words {name}" for name in model.classes] if model.multilabel else ["words"]
    begun = False
    for names, answers in answered:
        lines = (_row(model, names, answers, row, form, kept) for row in range(len(names)))
        yield csv_text(None if begun else _header(own, kept), lines)
        begun = True
    if not begun:
        yield csv_text(_header(own, kept), ())


def _header(own: Sequence[str], kept: KeptColumns) -> list[str]:
    return ["id", *(f"input {name}" if name in ("id", *own) else name for name in kept.names or ()), *own]


def _record(
    model: TextModel, names: Sequence[str], answers: TextPredictions, row: int, form: PredictionForm, kept: KeptColumns
) -> dict[str, Any]:
    labels = [model.classes[code] for code in answers.classes_of(row)]
    record: dict[str, Any] = {"id": names[row]}
    if kept.names:
        record["input"] = dict(zip(kept.names, kept.take(), strict=True))
    record |= {"labels": labels} if model.multilabel else {"label": labels[0]}
    if "decision" in form.parts:
        record["decision"] = dict(zip(model.classes, _finite(answers.values[row]), strict=True))
    if answers.probabilities is not None and form.has_probabilities(model):
        record["probability"] = dict(zip(model.classes, answers.probabilities[row].tolist(), strict=True))
    if answers.words:
        words = {model.classes[code]: terms for code, terms in answers.words[row].items()}
        record["words"] = words if model.multilabel else words[labels[0]]
    return record


def _row(
    model: TextModel, names: Sequence[str], answers: TextPredictions, row: int, form: PredictionForm, kept: KeptColumns
) -> list[Any]:
    predicted = answers.classes_of(row)
    labels = LABEL_SEPARATOR.join(model.classes[code] for code in predicted)
    fields: list[Any] = [names[row], *(kept.take() if kept.names else ()), labels]
    if "decision" in form.parts:
        fields += _shortened(_finite(answers.values[row]))
    if answers.probabilities is not None and form.has_probabilities(model):
        fields += _shortened(answers.probabilities[row].tolist())
    if form.with_words:
        words = answers.words[row]
        codes = range(len(model.classes)) if model.multilabel else predicted
        fields += [model.term_separator.join(words.get(code, ())) for code in codes]
    return fields


def _shortened(values: list[float | None]) -> list[float | None]:
    """Round to six significant digits, unless that makes values equal: who reads them could see a tie."""
    short = [None if value is None else float(f"{value:.6g}") for value in values]
    return short if len(set(short)) == len(set(values)) else values


def _finite(values: Any) -> list[float | None]:
    return [value if known else None for value, known in zip(values.tolist(), np.isfinite(values), strict=True)]
