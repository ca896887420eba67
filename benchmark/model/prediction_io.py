"""Predictions of files of documents, in files of many kinds, as CSV or JSON lines that are written batch by batch."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from benchmark.corpora.user.text_files import check_encoding, read_file
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR
from benchmark.report.writers import csv_text

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.model.text_model import TextClassifier, TextPredictions

STANDARD_INPUT = Path("-")


def read_texts(
    files: Sequence[Path],
    about: Mapping[str, Any],
    *,
    text: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - the option's name
    **form: Any,
) -> Iterator[tuple[str, bytes]]:
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
    **form
        Parameters of `TextForm` that are stated; None for the training documents'.

    Raises
    ------
    ConfigError
        For an unknown encoding.
    DataError
        If a file can't be read.
    """
    form = {**(about.get("reading") or {}), **{key: value for key, value in form.items() if value}}
    usual_id, columns = form.pop("id", None), text or about["text"]
    check_encoding(form.get("encoding", "utf-8"))
    for path in files:
        kind = file_extension(path)
        if kind in SPREADSHEETS:
            raise unreadable_kind(path)
        if path == STANDARD_INPUT:
            yield from ((str(n), line.rstrip(b"\r\n")) for n, line in enumerate(sys.stdin.buffer, start=1))
        elif kind in RECORD_EXTENSIONS:
            usual = usual_id if id is None and usual_id in read_columns(path, **form) else None
            yield from _records(path, columns, id or usual, form)
        else:
            yield str(path), read_file(path)


def _records(
    path: Path, columns: Sequence[str], name: str | None, form: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts of the records of a file."""
    for line, values in iter_records(path, [*columns, *filter(None, [name])], **form):
        named = {column: each for column, each in zip(columns, values, strict=False) if each is not None}
        texts = {column: str(each).encode("utf-8", "replace") for column, each in named.items()}
        text = FieldedText(b"\n".join(texts.values()), dict.fromkeys(columns, b"") | texts)
        yield f"{path}:{line}" if name is None else str(values[-1]), text


def format_predictions(
    model: TextClassifier,
    answered: Iterable[tuple[tuple[str, ...], TextPredictions]],
    *,
    as_json: bool = False,
    with_words: bool = False,
    tally: Counter[str] | None = None,
) -> Iterator[str]:
    """Yield predictions as text: one line per document, after a header in CSV.

    The header comes with the lines of the first documents: if these can't be read or predicted, nothing is written.

    JSON has the same names as CSV. Numbers have all their digits in JSON and twelve in CSV. The value of a class that
    could not be learned, since all training documents have it or none, is null in JSON and empty in CSV. Several labels
    or words are a list in JSON, and separated in CSV. `tally` counts the documents, and the unknown ones: those without
    a term of the model's vocabulary.
    """
    parts = ["decision", *(["probability"] if model.sigmoids is not None else [])]
    columns = ["id", "labels" if model.multilabel else "label"]
    columns += [f"{part} {name}" for part in parts for name in model.classes]
    if with_words:
        columns += [f"words {name}" for name in model.classes] if model.multilabel else ["words"]
    header: list[str] | None = columns
    for names, answers in answered:
        if tally is not None:
            tally.update(documents=len(names), unknown=0 if answers.known is None else int((answers.known == 0).sum()))
        records = [{"id": name} | _record(model, answers, row) for row, name in enumerate(names)]
        if as_json:
            yield "".join(f"{json.dumps(record)}\n" for record in records)
            continue
        yield csv_text(header, ([_cell(record.get(column)) for column in columns] for record in records))
        header = None
    if header is not None and not as_json:
        yield csv_text(header, ())


def _cell(value: Any) -> Any:
    return LABEL_SEPARATOR.join(value) if isinstance(value, list) else value


def _record(model: TextClassifier, answers: TextPredictions, row: int) -> dict[str, Any]:
    """Return the prediction of a document by the names of columns."""
    labels = [model.classes[code] for code in answers.classes_of(row)]
    record: dict[str, Any] = {"labels": labels} if model.multilabel else {"label": labels[0]}
    for part, values in (("decision", answers.values), ("probability", answers.probabilities)):
        for name, value in zip(model.classes, () if values is None else values[row], strict=False):
            record[f"{part} {name}"] = float(value) if np.isfinite(value) else None
    for code, terms in answers.words[row].items() if answers.words else ():
        record[f"words {model.classes[code]}" if model.multilabel else "words"] = terms
    return record
