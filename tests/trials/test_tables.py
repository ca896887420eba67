"""Mutants of CSV, TSV and JSON lines, and rows of another length: refused with a reason, or read alike each time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.file_parameters import DROP_REASONS
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms
from tests.strategies import damaged, one
from tests.trials.limits import assert_clear, examples

if TYPE_CHECKING:
    from collections.abc import Callable

PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
TEXTS = "Gebühr, höher", 'a "quoted" word', "two\nlines", "проблема; 1,5", "x" * 50, "caf\u0301 \x00"
ROWS: list[dict[str, Any]] = [
    {"id": f"d{n}", "text": text, "label": "xy"[n % 2], "tags": ["p", "q"][: n % 3]}
    | {"who": n % 3, "day": f"2024-05-{n + 1:02}"}
    for n, text in enumerate(TEXTS)
]
TOKENS = [
    b",", b";", b"\t", b'"', b'""', b"'", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"true",
    b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b":", b"null", b"NaN", b"Infinity", b"1e999", b"\\ud800", b"\\u0000",
    b'"text"', b'"label": ', b'"id": "d1"', b"text", b"label", b"9" * 5_000, b"[" * 2_000, b'{"a":' * 500, b"-1",
    b"2024-13-45", b"9999-12-31T23:59:59-14:00", b"0001-01-01T00:00:00+14:00", b"2024-06-30T23:59:60Z",
    b"x" * 200_000, b"=1+1", b"\x1b[31m",
]  # fmt: skip


def written() -> dict[str, bytes]:
    """Write the same documents in each format."""
    lines = "".join(json.dumps(row, ensure_ascii=bool(n % 2)) + "\n" for n, row in enumerate(ROWS)).encode()
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(ROWS[0]))
    writer.writeheader()
    writer.writerows({**row, "tags": ";".join(row["tags"])} for row in ROWS)
    return {".csv": table.getvalue().encode(), ".tsv": table.getvalue().replace(",", "\t").encode(), ".jsonl": lines}


WRITTEN = written()


@st.composite
def tables(draw: Any) -> tuple[str, bytes]:
    """Draw a table, damaged: its ending and content, packed or not; some are damaged once more as packed."""
    kind, packing = one(draw, list(WRITTEN)), one(draw, list(PACKED))
    packed = PACKED[packing](draw(damaged([WRITTEN[kind]], TOKENS)))
    if draw(st.integers(0, 4)) == 1:
        packed = draw(damaged([packed], [b"\0", b"\xff"]))
    return kind + packing, packed


HOW = st.fixed_dictionaries(
    {
        "drop": st.lists(st.sampled_from(list(DROP_REASONS)), unique=True),
        "encoding": st.sampled_from(["utf-8", "latin-1"]),
    },
    optional={"id": st.just("id"), "group": st.just("who"), "date": st.just("day")},
)
SEVERAL = st.sampled_from([{}, {}, {"labels": "tags", "separator": ";"}])


def read_twice(read: Callable[[], Any]) -> None:
    """Read twice: the same data, or the same clear refusal."""
    found = []
    for _ in range(2):
        try:
            found.append(read())
        except DataError as error:
            assert_clear(str(error))
            found.append(str(error))
    assert found[0] == found[1]


@examples(2_500)
@given(tables(), HOW, SEVERAL)
def test_a_table_is_read_alike_or_refused_with_a_reason(
    table: tuple[str, bytes], how: dict[str, Any], multilabel: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"own{table[0]}"
        path.write_bytes(table[1])
        reader = UserFiles(path.name, **how, **multilabel, base=Path(folder))

        def read() -> tuple[Any, ...]:
            documents, corpus = reader.outline(), reader.load(CorpusSource(None))
            counts = count_terms(corpus, Lexing(lexer="unicode", stoplist="none"), Pruning())
            reader.facts()
            "".join((*documents.ids, *documents.classes, *documents.part_names)).encode()
            assert len(documents) == counts.matrix.shape[0] == len(corpus.rows)
            arrays = documents.labels, documents.parts, documents.groups, documents.dates, documents.topics
            return documents.ids, counts.vocabulary, *(None if each is None else each.tobytes() for each in arrays)

        read_twice(read)


KINDS = (".csv", ",", "commas"), (".csv", ";", "semicolons"), (".tsv", "\t", "tabs")


@st.composite
def ragged(draw: Any) -> tuple[str, str, str, str]:
    """Draw a table with a row of another length: its ending, its delimiter, its text, and what is said of it."""
    kind, delimiter, name = one(draw, KINDS)
    width, end = draw(st.integers(2, 6)), one(draw, ("\n", "\r\n"))
    texts = "a few words", f"two{end}lines", f'"a{delimiter} b"', f"one{delimiter}two{end}{end}three"
    rows = draw(st.lists(st.tuples(st.sampled_from((0, 0, 0, 1, 3)), st.sampled_from(texts)), min_size=30, max_size=30))
    wrong, n = draw(st.integers(0, 29)), draw(st.integers(1, width + 3).filter(lambda n: n != width))
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["text", "label", *(f"more{n}" for n in range(width - 2))])
    for number, (blank, text) in enumerate(rows):
        out.write(end * blank)
        cells = [text, "xy"[number % 2], *[""] * (width - 2)]
        if number == wrong:
            line, cells = out.getvalue().count("\n") + 1, (cells + ["more"] * n)[:n]
        writer.writerow(cells)
    said = f":{line}: has {n} column{'s' if n > 1 else ''}, and the header has {width}"
    said += f"; quote the text if it holds {name}" if n > width else ""
    return kind, delimiter, one(draw, ("", "\ufeff")) + out.getvalue(), said


@examples(1_000)
@given(ragged(), st.sampled_from(sorted(PACKED)))
def test_a_row_of_another_length_is_refused_with_its_line(table: tuple[str, str, str, str], packing: str) -> None:
    kind, delimiter, text, said = table
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"own{kind}{packing}"
        path.write_bytes(PACKED[packing](text.encode()))
        with pytest.raises(DataError) as caught:
            UserFiles(path.name, delimiter=delimiter, base=Path(folder)).outline()
        told, _, hint = str(caught.value).partition("; if quotes are part of the text")
        assert told == f"{path}{said}"
        assert bool(hint) <= ('"' in text)  # where a row within quotes may be the reason, the ways out are named
