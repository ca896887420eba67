"""Predictions of files of documents, in files of many kinds, as CSV or JSON lines that are written batch by batch."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.corpora.corpus import FieldedText
from benchmark.corpora.user.records import (
    RECORD_EXTENSIONS,
    SPREADSHEETS,
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

STANDARD_INPUT = Path("-")
#: What a prediction has beside the label.
SCORE_PARTS = ("decision", "probability")


class DocumentName(NamedTuple):
    """Name of a document, and the values of the input's columns that are printed beside its prediction."""

    id: str
    kept: Mapping[str, Any]


@dataclass(frozen=True)
class RecordColumns:
    """Which columns of records are read, and how their files are written.

    Parameters
    ----------
    text : sequence of str
        Columns of a record's text; several are joined by line feeds, as in a user's corpus.
    id : str, optional
        Column of the record's name; by default `usual_id`, where a file has it, or else its file and line.
    keep : sequence of str, or None
        Columns that are written beside the predictions; None for all columns of the first file.
    form : dict
        Parameters of `TextForm`.
    usual_id : str, optional
        Column of the name of the training documents.
    """

    text: Sequence[str]
    id: str | None = None
    keep: Sequence[str] | None = ()
    form: Mapping[str, Any] = field(default_factory=dict)
    usual_id: str | None = None

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
        form = dict(about.get("reading") or {})
        usual_id = form.pop("id", None)
        form |= {key: value for key, value in (("encoding", encoding), ("delimiter", delimiter)) if value}
        check_encoding(form.get("encoding", "utf-8"))
        return cls(text or about["text"], id, keep, form, usual_id)


def read_texts(files: Sequence[Path], columns: RecordColumns) -> Iterator[tuple[DocumentName, bytes]]:
    """Yield names and texts: lines of standard input, records of a file of records, any other file as a whole.

    Parameters
    ----------
    files : sequence of Path
        ``-`` is standard input.
    columns : RecordColumns

    Raises
    ------
    DataError
        If a file can't be read, or has no columns where some are to be kept.
    """
    keep = columns.keep
    for path in files:
        kind = file_extension(path)
        if kind in SPREADSHEETS:
            raise unreadable_kind(path)
        if path != STANDARD_INPUT and kind in RECORD_EXTENSIONS:
            known = read_columns(path, **columns.form)
            keep = known if keep is None else keep
            yield from _records(path, columns, known, keep)
            continue
        if keep is None or len(keep):
            raise DataError(f"{path}: has no columns to keep: only tables, JSON and Parquet have")
        if path == STANDARD_INPUT:
            lines = enumerate(_standard_input(), start=1)
            yield from ((DocumentName(str(number), {}), line.rstrip(b"\r\n")) for number, line in lines)
        else:
            with open_decompressed(path) as file:
                yield DocumentName(str(path), {}), file.read()


def _records(
    path: Path, columns: RecordColumns, known: Sequence[str], keep: Sequence[str]
) -> Iterator[tuple[DocumentName, bytes]]:
    """Yield names and texts of the records of a file."""
    name = columns.id or (columns.usual_id if columns.usual_id in known else None)
    names = [*columns.text, *keep, *filter(None, [name])]
    for line, values in iter_records(path, names, **columns.form):
        texts = dict(zip(columns.text, values, strict=False))
        wrong = next((each for each in texts.values() if not isinstance(each, str | None)), None)
        if wrong is not None:
            raise DataError(f"{path}:{line}: the text is {quote_value(wrong)}, and must be text")
        fields = {column: (text or "").encode("utf-8", "replace") for column, text in texts.items()}
        joined = "\n".join(text for text in texts.values() if text is not None).encode("utf-8", "replace")
        kept = dict(zip(keep, values[len(columns.text) :], strict=False))
        yield DocumentName(f"{path}:{line}" if name is None else str(values[-1]), kept), FieldedText(joined, fields)


def _standard_input() -> Iterator[bytes]:
    """Yield the lines of standard input; DataError where it is closed or can't be read."""
    if sys.stdin is None:
        raise DataError("standard input is closed: name files of texts, or pipe texts in, one a line")
    try:
        yield from sys.stdin.buffer
    except OSError as error:
        raise DataError(f"standard input can't be read: {error.strerror or error}") from None


class PredictionCount:
    """Number of predicted documents, and of those without a term of the model's vocabulary, if it has one."""

    def __init__(self) -> None:
        self.documents = self.unknown = 0

    def counted(
        self, answered: Iterable[tuple[tuple[Any, ...], TextPredictions]]
    ) -> Iterator[tuple[tuple[Any, ...], TextPredictions]]:
        """Yield batches of predictions unchanged, and count their documents."""
        for names, answers in answered:
            self.documents += len(names)
            self.unknown += 0 if answers.known is None else int((answers.known == 0).sum())
            yield names, answers


def parts_of_predictions(model: TextModel, only: Collection[str]) -> tuple[str, ...]:
    """Return what is written beside the label: all, or those of `only`; ConfigError for a wrong name."""
    allowed = ("label", *SCORE_PARTS)
    for part in only:
        if part not in allowed:
            raise ConfigError(f"--only: {unknown_name('part', part, allowed)}")
    if "probability" in only and not model.has_probabilities:
        raise ConfigError("--only: the model has no probability; fit it with --probability")
    return tuple(only) or (SCORE_PARTS if model.has_probabilities else SCORE_PARTS[:1])


def format_predictions(
    model: TextModel,
    answered: Iterable[tuple[tuple[DocumentName, ...], TextPredictions]],
    parts: Collection[str] = SCORE_PARTS[:1],
    *,
    as_json: bool = False,
    with_words: bool = False,
) -> Iterator[str]:
    """Yield predictions as text: one line per document, after a header in CSV.

    The header comes with the lines of the first documents: if these can't be read or predicted, nothing is written.

    Numbers have all their digits in JSON and twelve in CSV. The value of a class that could not be learned, since all
    training documents have it or none, is null in JSON and empty in CSV. Kept columns stand after the name; one that is
    named as a column of the predictions is begun by "input".
    """
    several = with_words and model.multilabel
    columns = ["labels" if model.multilabel else "label"]
    columns += [f"{part} {name}" for part in SCORE_PARTS if part in parts for name in model.classes]
    columns += [f"words {name}" for name in model.classes] if several else ["words"] * with_words
    begun = False
    for names, answers in answered:
        records = [_record(model, name, answers, row, parts) for row, name in enumerate(names)]
        if as_json:
            yield "".join(f"{json.dumps(record, default=str)}\n" for record in records)
            continue
        kept = names[0].kept if names else {}
        header = ["id", *(f"input {name}" if name in ("id", *columns) else name for name in kept), *columns]
        flat = [_flattened(record, model.term_separator) for record in records]
        rows = zip(flat, names, strict=True)
        lines = [[each["id"], *name.kept.values(), *map(each.get, columns)] for each, name in rows]
        yield csv_text(None if begun else header, lines)
        begun = True
    if not (begun or as_json):
        yield csv_text(["id", *columns], ())


def _record(
    model: TextModel, name: DocumentName, answers: TextPredictions, row: int, parts: Collection[str]
) -> dict[str, Any]:
    """Return what is written of a document, as JSON has it."""
    labels = [model.classes[code] for code in answers.classes_of(row)]
    record: dict[str, Any] = {"id": name.id, **({"input": dict(name.kept)} if name.kept else {})}
    record |= {"labels": labels} if model.multilabel else {"label": labels[0]}
    for part, values in zip(SCORE_PARTS, (answers.values, answers.probabilities), strict=True):
        if part in parts and values is not None:
            numbers = [float(value) if np.isfinite(value) else None for value in values[row]]
            record[part] = dict(zip(model.classes, numbers, strict=True))
    if answers.words:
        words = {model.classes[code]: terms for code, terms in answers.words[row].items()}
        record["words"] = words if model.multilabel else words[labels[0]]
    return record


def _flattened(record: Mapping[str, Any], separator: str) -> dict[str, Any]:
    """Return a record by the columns of a table."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        cells = {f"{key} {name}": each for name, each in value.items()} if isinstance(value, dict) else {key: value}
        for column, each in cells.items():
            mark = LABEL_SEPARATOR if key == "labels" else separator
            flat[column] = mark.join(each) if isinstance(each, list) else each
    return flat
