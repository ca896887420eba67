"""Files of documents to lines of predictions: CSV or JSON lines, as they come."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.corpus import FieldedText
from benchmark.corpora.records import LINES, PARQUET, TABLES, kind_of, opened, records
from benchmark.errors import DataError, quoted
from benchmark.report.tables import csv_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmark.model.kept import Answers, KeptModel

    Answered = tuple[tuple[str, ...], Answers]

STANDARD_INPUT = Path("-")


def documents(
    files: Sequence[Path], columns: Sequence[str], name: str | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[str, bytes]]:
    """Names and texts: each line of standard input, each record of a file of records, and any other file as a whole.

    Parameters
    ----------
    files : sequence of Path
        ``-`` is standard input.
    columns : sequence of str
        Of a record's text; several are joined by line feeds, as in a corpus of one's own.
    name : str, optional
        Column of a record's name; else it is called by file and line.
    encoding : str
        Of tables and JSON lines.

    Raises
    ------
    DataError
        A file can't be read, and why.
    """
    for path in files:
        if path == STANDARD_INPUT:
            yield from ((str(number), line.rstrip(b"\r\n")) for number, line in enumerate(_standard_input(), start=1))
        elif kind_of(path) in (*TABLES, *LINES, *PARQUET):
            asked = [*columns, *([] if name is None else [name])]
            for line, values in records(path, asked, encoding=encoding):
                texts = [value for value in values[: len(columns)] if value is not None]
                wrong = next((value for value in texts if not isinstance(value, str)), None)
                if wrong is not None:
                    raise DataError(f"{path}:{line}: the text is {quoted(wrong)}, and must be text")
                own = {column: _bytes(value or "") for column, value in zip(columns, values, strict=False)}
                text = FieldedText(_bytes("\n".join(texts)), own)
                yield f"{path}:{line}" if name is None else str(values[-1]), text
        else:
            with opened(path) as file:
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


class Tally:
    """How many documents were answered, and how many of them have no word that the model knows."""

    def __init__(self) -> None:
        self.documents = self.unknown = 0

    def counted(self, answered: Iterable[Answered]) -> Iterator[Answered]:
        """The same, counted."""
        for names, answers in answered:
            self.documents += len(names)
            self.unknown += int((answers.known == 0).sum())
            yield names, answers


def lines(model: KeptModel, answered: Iterable[Answered], *, as_json: bool, with_words: bool) -> Iterator[str]:
    """Predictions as text: a line each, and with CSV a header before the first.

    The header comes with the first documents' lines: where these can't be read or answered, nothing is written.

    Numbers have all their digits in JSON and twelve in CSV. The value of a class that could not be learned, as all
    training documents have it or none, is null, or empty.
    """
    if as_json:
        for names, answers in answered:
            yield "".join(f"{json.dumps(_record(model, names, answers, row))}\n" for row in range(len(names)))
        return
    header = ["id", "labels" if model.several else "label", *(f"decision {name}" for name in model.classes)]
    header += [f"probability {name}" for name in model.classes] if model.sigmoids is not None else []
    if with_words:
        header += [f"words {name}" for name in model.classes] if model.several else ["words"]
    before = csv_text(header, ())
    for names, answers in answered:
        yield before + csv_text(None, (_row(model, names, answers, row, with_words) for row in range(len(names))))
        before = ""
    yield before


def _record(model: KeptModel, names: Sequence[str], answers: Answers, row: int) -> dict[str, Any]:
    given = answers.classes_of(row)
    labels = [model.classes[code] for code in given]
    found: dict[str, Any] = {"id": names[row], **({"labels": labels} if model.several else {"label": labels[0]})}
    found["decision"] = dict(zip(model.classes, _finite(answers.values[row]), strict=True))
    if answers.probabilities is not None:
        found["probability"] = dict(zip(model.classes, answers.probabilities[row].tolist(), strict=True))
    if answers.words:
        words = {model.classes[code]: own for code, own in answers.words[row].items()}
        found["words"] = words if model.several else words[labels[0]]
    return found


def _row(model: KeptModel, names: Sequence[str], answers: Answers, row: int, with_words: bool) -> list[Any]:
    given = answers.classes_of(row)
    found: list[Any] = [names[row], ";".join(model.classes[code] for code in given), *_finite(answers.values[row])]
    if answers.probabilities is not None:
        found += answers.probabilities[row].tolist()
    if with_words:
        told = answers.words[row]
        between = " " if model.lexing.ngrams == (1,) else ", "
        found += [between.join(told.get(code, ())) for code in (range(len(model.classes)) if model.several else given)]
    return found


def _finite(values: Any) -> list[float | None]:
    return [value if known else None for value, known in zip(values.tolist(), np.isfinite(values), strict=True)]
