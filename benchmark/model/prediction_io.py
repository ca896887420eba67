"""Predictions of files of documents, in files of many kinds, as CSV or JSON lines that are written batch by batch."""

from __future__ import annotations

import json
import sys
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
    from collections import Counter
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchmark.model.text_model import TextClassifier, TextPredictions

STANDARD_INPUT = Path("-")
#: What a prediction has beside the label.
SCORE_PARTS = ("decision", "probability")


class DocumentName(NamedTuple):
    """Name of a document, and the values of the input's columns that are printed beside its prediction."""

    id: str
    kept: Mapping[str, Any]


def read_texts(
    files: Sequence[Path],
    about: Mapping[str, Any],
    *,
    text: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - the option's name
    keep: Sequence[str] | None = (),
    **form: Any,
) -> Iterator[tuple[DocumentName, bytes]]:
    """Yield names and texts: lines of standard input, records of a file of records, any other file as a whole.

    Parameters
    ----------
    files : sequence of Path
        ``-`` is standard input.
    about : mapping
        Description of the model: how files of records are read where nothing else is stated.
    text : sequence of str, optional
        Columns of a record's text; several are joined by line feeds, as in a user's corpus.
    id : str, optional
        Column of the record's name; by default that of the training documents, or else file and line.
    keep : sequence of str, or None
        Columns that are written beside the predictions; None for all columns of the first file.
    **form
        Parameters of `TextForm` that are stated; None for the training documents'.

    Raises
    ------
    ConfigError
        For an unknown encoding.
    DataError
        If a file can't be read, or has no columns where some are to be kept.
    """
    form = {**(about.get("reading") or {}), **{key: value for key, value in form.items() if value}}
    usual_id, columns = form.pop("id", None), text or about["text"]
    check_encoding(form.get("encoding", "utf-8"))
    for path in files:
        kind = file_extension(path)
        if kind in SPREADSHEETS:
            raise unreadable_kind(path)
        if path != STANDARD_INPUT and kind in RECORD_EXTENSIONS:
            known = read_columns(path, **form)
            keep = known if keep is None else keep
            yield from _records(path, columns, keep, id or (usual_id if usual_id in known else None), form)
        elif keep is None or len(keep):
            raise DataError(f"{path}: has no columns to keep: only tables, JSON and Parquet have")
        elif path == STANDARD_INPUT:
            lines = enumerate(_standard_input(), start=1)
            yield from ((DocumentName(str(number), {}), line.rstrip(b"\r\n")) for number, line in lines)
        else:
            with open_decompressed(path) as file:
                yield DocumentName(str(path), {}), file.read()


def _records(
    path: Path, columns: Sequence[str], keep: Sequence[str], name: str | None, form: Mapping[str, Any]
) -> Iterator[tuple[DocumentName, bytes]]:
    """Yield names and texts of the records of a file."""
    for line, values in iter_records(path, [*columns, *keep, *filter(None, [name])], **form):
        texts = dict(zip(columns, values, strict=False))
        wrong = next((each for each in texts.values() if not isinstance(each, str | None)), None)
        if wrong is not None:
            raise DataError(f"{path}:{line}: the text is {quote_value(wrong)}, and must be text")
        fields = {column: (each or "").encode("utf-8", "replace") for column, each in texts.items()}
        joined = "\n".join(each for each in texts.values() if each is not None).encode("utf-8", "replace")
        kept = dict(zip(keep, values[len(columns) :], strict=False))
        yield DocumentName(f"{path}:{line}" if name is None else str(values[-1]), kept), FieldedText(joined, fields)


def _standard_input() -> Iterator[bytes]:
    """Yield the lines of standard input; DataError where it is closed or can't be read."""
    if sys.stdin is None:
        raise DataError("standard input is closed: name files of texts, or pipe texts in, one a line")
    try:
        yield from sys.stdin.buffer
    except OSError as error:
        raise DataError(f"standard input can't be read: {error.strerror or error}") from None


def parts_of_predictions(model: TextClassifier, only: Collection[str]) -> tuple[str, ...]:
    """Return what is written beside the label: all, or those of `only`; ConfigError for a wrong name."""
    allowed = ("label", *SCORE_PARTS)
    for part in only:
        if part not in allowed:
            raise ConfigError(f"--only: {unknown_name('part', part, allowed)}")
    if "probability" in only and model.sigmoids is None:
        raise ConfigError("--only: the model has no probability; fit it with --probability")
    return tuple(only) or (SCORE_PARTS if model.sigmoids is not None else SCORE_PARTS[:1])


def format_predictions(
    model: TextClassifier,
    answered: Iterable[tuple[tuple[DocumentName, ...], TextPredictions]],
    parts: Collection[str] = SCORE_PARTS[:1],
    *,
    as_json: bool = False,
    with_words: bool = False,
    tally: Counter[str] | None = None,
) -> Iterator[str]:
    """Yield predictions as text: one line per document, after a header in CSV.

    The header comes with the lines of the first documents: if these can't be read or predicted, nothing is written.

    Numbers have all their digits in JSON and twelve in CSV. The value of a class that could not be learned, since all
    training documents have it or none, is null in JSON and empty in CSV. Kept columns stand after the name; one that is
    named as a column of the predictions is begun by "input". `tally` counts the documents, and the unknown ones: those
    without a term of the model's vocabulary.
    """
    columns = ["labels" if model.multilabel else "label"]
    columns += [f"{part} {name}" for part in SCORE_PARTS if part in parts for name in model.classes]
    if with_words:
        columns += [f"words {name}" for name in model.classes] if model.multilabel else ["words"]
    header: list[str] | None = ["id", *columns]
    for names, answers in answered:
        if tally is not None:
            tally.update(documents=len(names), unknown=0 if answers.known is None else int((answers.known == 0).sum()))
        records = [_record(model, answers, row, parts) for row in range(len(names))]
        if as_json:
            kept = [{"input": dict(name.kept)} if name.kept else {} for name in names]
            lines = ({"id": name.id, **own, **each} for name, own, each in zip(names, kept, records, strict=True))
            yield "".join(f"{json.dumps(line, default=str)}\n" for line in lines)
            continue
        if header is not None:
            header[1:1] = [f"input {name}" if name in header else name for name in names[0].kept]
        cells = [dict(_cells(record, model.term_separator)) for record in records]
        rows = ([name.id, *name.kept.values(), *map(row.get, columns)] for name, row in zip(names, cells, strict=True))
        yield csv_text(header, rows)
        header = None
    if header is not None and not as_json:
        yield csv_text(header, ())


def _record(model: TextClassifier, answers: TextPredictions, row: int, parts: Collection[str]) -> dict[str, Any]:
    """Return the prediction of a document, as JSON has it."""
    labels = [model.classes[code] for code in answers.classes_of(row)]
    record: dict[str, Any] = {"labels": labels} if model.multilabel else {"label": labels[0]}
    for part, values in zip(SCORE_PARTS, (answers.values, answers.probabilities), strict=True):
        if part in parts and values is not None:
            numbers = [float(value) if np.isfinite(value) else None for value in values[row]]
            record[part] = dict(zip(model.classes, numbers, strict=True))
    if answers.words:
        words = {model.classes[code]: terms for code, terms in answers.words[row].items()}
        record["words"] = words if model.multilabel else words[labels[0]]
    return record


def _cells(record: Mapping[str, Any], separator: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns and values of a record in a table."""
    for key, value in record.items():
        for name, each in value.items() if isinstance(value, dict) else [("", value)]:
            mark = LABEL_SEPARATOR if key == "labels" else separator
            yield f"{key} {name}".rstrip(), mark.join(each) if isinstance(each, list) else each
