"""Predictions of files of documents, as CSV or JSON lines that are written batch by batch."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.corpus import FieldedText
from benchmark.corpora.user.records import (
    LINES,
    PARQUET,
    TABLE_DELIMITERS,
    file_extension,
    iter_records,
    open_decompressed,
)
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR
from benchmark.report.tables import csv_text
from benchmark.system.errors import DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmark.model.base import KeptModel, TextPredictions

    Answered = tuple[tuple[str, ...], TextPredictions]

STANDARD_INPUT = Path("-")


def read_texts(
    files: Sequence[Path], columns: Sequence[str], name: str | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts: lines of standard input, records of a file of records, any other file as a whole.

    Parameters
    ----------
    files : sequence of Path
        ``-`` is standard input.
    columns : sequence of str
        Columns of a record's text; several are joined by line feeds, as in a user's corpus.
    name : str, optional
        Column of the record's name; by default its file and line.
    encoding : str
        Encoding of tables and JSON lines.

    Raises
    ------
    DataError
        If a file can't be read.
    """
    for path in files:
        if path == STANDARD_INPUT:
            yield from ((str(number), line.rstrip(b"\r\n")) for number, line in enumerate(_standard_input(), start=1))
        elif file_extension(path) in (*TABLE_DELIMITERS, *LINES, *PARQUET):
            names = [*columns, *([] if name is None else [name])]
            for line, values in iter_records(path, names, encoding=encoding):
                texts = [value for value in values[: len(columns)] if value is not None]
                wrong = next((value for value in texts if not isinstance(value, str)), None)
                if wrong is not None:
                    raise DataError(f"{path}:{line}: the text is {quote_value(wrong)}, and must be text")
                fields = {column: _bytes(value or "") for column, value in zip(columns, values, strict=False)}
                text = FieldedText(_bytes("\n".join(texts)), fields)
                yield f"{path}:{line}" if name is None else str(values[-1]), text
        else:
            with open_decompressed(path) as file:
                yield str(path), file.read()


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


def format_predictions(
    model: KeptModel, answered: Iterable[Answered], *, as_json: bool, with_words: bool
) -> Iterator[str]:
    """Yield predictions as text: one line per document, after a header in CSV.

    The header comes with the lines of the first documents: if these can't be read or predicted, nothing is written.

    Numbers have all their digits in JSON and twelve in CSV. The value of a class that could not be learned, since all
    training documents have it or none, is null in JSON and empty in CSV.
    """
    if as_json:
        for names, answers in answered:
            yield "".join(f"{json.dumps(_record(model, names, answers, row))}\n" for row in range(len(names)))
        return
    header = ["id", "labels" if model.multilabel else "label", *(f"decision {name}" for name in model.classes)]
    header += [f"probability {name}" for name in model.classes] if model.has_probabilities else []
    if with_words:
        header += [f"words {name}" for name in model.classes] if model.multilabel else ["words"]
    before = csv_text(header, ())
    for names, answers in answered:
        yield before + csv_text(None, (_row(model, names, answers, row, with_words) for row in range(len(names))))
        before = ""
    yield before


def _record(model: KeptModel, names: Sequence[str], answers: TextPredictions, row: int) -> dict[str, Any]:
    labels = [model.classes[code] for code in answers.classes_of(row)]
    record: dict[str, Any] = {"id": names[row], **({"labels": labels} if model.multilabel else {"label": labels[0]})}
    record["decision"] = dict(zip(model.classes, _finite(answers.values[row]), strict=True))
    if answers.probabilities is not None:
        record["probability"] = dict(zip(model.classes, answers.probabilities[row].tolist(), strict=True))
    if answers.words:
        words = {model.classes[code]: terms for code, terms in answers.words[row].items()}
        record["words"] = words if model.multilabel else words[labels[0]]
    return record


def _row(model: KeptModel, names: Sequence[str], answers: TextPredictions, row: int, with_words: bool) -> list[Any]:
    predicted = answers.classes_of(row)
    labels = LABEL_SEPARATOR.join(model.classes[code] for code in predicted)
    fields: list[Any] = [names[row], labels, *_finite(answers.values[row])]
    if answers.probabilities is not None:
        fields += answers.probabilities[row].tolist()
    if with_words:
        words = answers.words[row]
        codes = range(len(model.classes)) if model.multilabel else predicted
        fields += [model.term_separator.join(words.get(code, ())) for code in codes]
    return fields


def _finite(values: Any) -> list[float | None]:
    return [value if known else None for value, known in zip(values.tolist(), np.isfinite(values), strict=True)]
