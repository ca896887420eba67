"""Lines of text are the same in every encoding and with every end of a line, and a byte that doesn't fit is named."""

from __future__ import annotations

import codecs
import gzip
import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.user.decompress import open_decompressed
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.corpora.user.text_lines import check_encoding, encoding_of, text_lines
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = 'text,label\nGebühr und mehr,a\n"two\nlines",b\nlast one,a\n'
RECORDS = [(2, ["Gebühr und mehr", "a"]), (3, ["two\nlines", "b"]), (5, ["last one", "a"])]
ENCODED = {
    "utf-8": (TEXT.encode(), "utf-8"),
    "utf-8 with its mark": (TEXT.encode("utf-8-sig"), "utf-8"),
    "utf-16 with its mark": (TEXT.encode("utf-16"), "utf-8"),
    "utf-16 of the other order": (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-8"),
    "utf-16 by its zeros": (TEXT.encode("utf-16-le"), "utf-8"),
    "utf-16 of the other order by its zeros": (TEXT.encode("utf-16-be"), "utf-8"),
    "a mark goes before what is stated": (TEXT.encode("utf-16"), "cp1252"),
    "stated": (TEXT.encode("utf-16-be"), "utf-16-be"),
    "utf-32": (TEXT.encode("utf-32"), "utf-8"),
    "cp1252": (TEXT.encode("cp1252"), "cp1252"),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("how", ENCODED)
def test_a_table_is_the_same_in_every_encoding_and_with_every_line_end(tmp_path: Path, how: str, end: str) -> None:
    content, encoding = ENCODED[how]
    used = encoding_of(content, encoding)
    content = content.decode(used).replace("\n", end).encode(used)
    for name, packed in (("a.csv", content), ("a.csv.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(packed)
        assert read_columns(tmp_path / name, encoding=encoding) == ["text", "label"]
        found = list(iter_records(tmp_path / name, ("text", "label"), encoding=encoding))
        assert found == [(line, [text.replace("\n", end), label]) for line, (text, label) in RECORDS]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=40), st.integers(0, 3))
def test_text_of_any_letters_is_read_as_utf_8(tmp_path_factory: Any, text: str, n: int) -> None:
    """Zeros of UTF-16 aren't seen where there are none."""
    lines = [f"{text}\n" for _ in range(n)] + [text]
    content = "".join(lines).encode()
    if b"\0" in content:
        return
    assert encoding_of(content, "utf-8") == "utf-8"
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes(content)
    with open_decompressed(path) as file:
        assert "".join(text_lines(file, path, "utf-8")) == "".join(lines)


@given(st.integers(0, 2000), st.sampled_from(["\n", "\r\n", "\r"]))
def test_half_a_surrogate_is_named_with_its_line(line: int, end: str) -> None:
    before = "".join(f"line {n}{end}" for n in range(line)) + "here: "
    content = codecs.BOM_UTF16_LE + before.encode("utf-16-le") + b"\x00\xd8" + f"x{end}".encode("utf-16-le") * 5
    with pytest.raises(DataError) as raised:
        list(text_lines(io.BufferedReader(io.BytesIO(content)), "a.csv", "utf-8"))  # type: ignore[arg-type]
    offset = 2 + 2 * len(before)
    assert str(raised.value).startswith(f"a.csv:{line + 1}: the byte 0x00 at offset {offset:,} is not utf-16")


@pytest.mark.parametrize("name", ["klingon", "rot13"])
def test_an_encoding_that_there_is_none_of_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown encoding '{name}'; use one such as utf-8, utf-16"):
        check_encoding(name)
