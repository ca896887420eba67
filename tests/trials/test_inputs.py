"""Tables with something broken in them: refused with a reason, or read alike each time."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.user_files import DROP_REASONS, UserFiles
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.lexer import Lexing, Pruning
from benchmark.text.vocabulary import count_terms
from tests.strategies import damaged, one
from tests.trials.limits import assert_clear, examples

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PACKED: dict[str, Any] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
TOKENS = [
    b",", b";", b"\t", b'"', b'""', b"'", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"true",
    b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b":", b"null", b"NaN", b"Infinity", b"1e999", b"\\ud800", b"\\u0000",
    b'"text"', b'"label": ', b'"id": "d1"', b"text", b"label", b"9" * 5_000, b"[" * 2_000, b'{"a":' * 500, b"-1",
    b"2024-13-45", b"9999-12-31T23:59:59-14:00", b"0001-01-01T00:00:00+14:00", b"2024-06-30T23:59:60Z",
    b"x" * 200_000, b"=1+1", b"\x1b[31m",
]  # fmt: skip
TEXTS = "Gebühr, höher", 'a "quoted" word', "two\nlines", "проблема; 1,5", "x" * 50, "caf\u0301 \x00"
ROWS: list[dict[str, Any]] = [
    {"id": f"d{n}", "text": text, "label": "xy"[n % 2], "tags": ["p", "q"][: n % 3]}
    | {"who": n % 3, "day": f"2024-05-{n + 1:02}"}
    for n, text in enumerate(TEXTS)
]


def written() -> dict[str, bytes]:
    """Write the same documents in each format."""
    lines = "".join(json.dumps(row, ensure_ascii=bool(n % 2)) + "\n" for n, row in enumerate(ROWS)).encode()
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(ROWS[0]))
    writer.writeheader()
    writer.writerows({**row, "tags": ";".join(row["tags"])} for row in ROWS)
    return {".csv": table.getvalue().encode(), ".tsv": table.getvalue().replace(",", "\t").encode(), ".jsonl": lines}


@st.composite
def tables(draw: Any) -> tuple[str, bytes, dict[str, Any]]:
    """Draw a table, damaged, packed or not, with the parameters of its reader; some are damaged once more as packed."""
    files = written()
    kind, packing = one(draw, list(files)), one(draw, list(PACKED))
    content = PACKED[packing](draw(damaged([files[kind]], TOKENS)))
    if draw(st.integers(0, 4)) == 1:
        content = draw(damaged([content], [b"\0", b"\xff"]))
    several = one(draw, ({}, {}, {"labels": "tags", "separator": ";"}))
    return kind + packing, content, draw(HOW) | several


HOW = st.fixed_dictionaries(
    {
        "drop": st.lists(st.sampled_from(list(DROP_REASONS)), unique=True),
        "encoding": st.sampled_from(["utf-8", "latin-1"]),
    },
    optional={"id": st.just("id"), "group": st.just("who"), "date": st.just("day")},
)


def read_table(table: tuple[str, bytes, dict[str, Any]], folder: Path) -> tuple[Any, ...]:
    """Read a user's table, and count its words."""
    kind, content, how = table
    (folder / f"own{kind}").write_bytes(content)
    reader = UserFiles(f"own{kind}", **how, base=folder)
    documents, corpus = reader.outline(), reader.load(CorpusSource(None))
    counts = count_terms(corpus, Lexing(lexer="unicode", stoplist="none"), Pruning())
    reader.facts()
    "".join((*documents.ids, *documents.classes, *documents.part_names)).encode()
    assert len(documents) == counts.matrix.shape[0]
    arrays = documents.labels, documents.parts, documents.groups, documents.dates, documents.topics
    numbers = [None if each is None else each.tobytes() for each in arrays]
    return documents.ids, documents.classes, numbers, list(corpus), counts.vocabulary


@examples(2_500)
@given(tables())
def test_a_damaged_table_is_read_alike_or_refused_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[str, bytes, dict[str, Any]]
) -> None:
    def outcome() -> Any:
        try:
            return read_table(table, tmp_path_factory.getbasetemp())
        except (ConfigError, DataError) as error:
            assert_clear(str(error))
            return str(error)

    assert outcome() == outcome()
