"""Tables with one row that has cells too many or too few: refused with the line that it begins on."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import DataError
from tests.strategies import one
from tests.trials.limits import examples, trial
from tests.trials.test_tables import PACKED

KINDS = (".csv", ",", "commas"), (".csv", ";", "semicolons"), (".tsv", "\t", "tabs")


@st.composite
def ragged(draw: Any) -> tuple[str, str, str, str]:
    """Draw a table: its ending, its delimiter, its text, and what is said of it."""
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


@examples(3_000, 300)
@given(ragged(), st.sampled_from(sorted(PACKED)))
@trial()
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
