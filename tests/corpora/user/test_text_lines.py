"""Lines of text are the same in every encoding and with every end of a line, and a byte that doesn't fit is named."""

from __future__ import annotations

import codecs
import gzip
import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.user import text_lines as lines_of
from benchmark.corpora.user.decompress import open_decompressed
from benchmark.corpora.user.records import iter_records, read_columns
from benchmark.corpora.user.text_lines import check_encoding, encoding_of, text_lines
from benchmark.corpora.user.user_files import UserFiles
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


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\rb\rc", ["a\r", "b\r", "c"]),
        (b"a\r\nb\rc\n", ["a\r\n", "b\rc\n"]),
        (b"a\nb\rc\n", ["a\n", "b\rc\n"]),
        (b"1234567\r\nb\rc\n", ["1234567\r\n", "b\rc\n"]),
        (b"12345678\r\nb\rc\n", ["12345678\r\n", "b\rc\n"]),
        (b"123456\rb\rc", ["123456\r", "b\r", "c"]),
    ],
)
def test_the_first_line_says_how_lines_end_unless_the_beginning_is_cut_within_its_end(
    content: bytes, lines: list[str]
) -> None:
    """Eight bytes are seen at first: of a carriage return that is the last of them, nothing is known."""
    file = io.BufferedReader(io.BytesIO(content), 8)  # type: ignore[arg-type]
    assert list(text_lines(file, "a.csv", "utf-8")) == lines  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["klingon", "rot13"])
def test_an_encoding_that_there_is_none_of_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown encoding '{name}'; use one such as utf-8, utf-16"):
        check_encoding(name)


def utf_16(ascii_letters: int, others: int, order: str = "le") -> bytes:
    """A hundred letters, so many of them of ASCII, and so many whose other byte is a zero."""
    rest = 100 - ascii_letters - others
    return ("a" * ascii_letters + "\u0100" * others + "\u0436" * rest).encode(f"utf-16-{order}")


@pytest.mark.parametrize(
    ("content", "stated", "expected"),
    [
        (utf_16(20, 2), "utf-8", "utf-16-le"),
        (utf_16(20, 2, "be"), "utf-8", "utf-16-be"),
        (utf_16(20, 2) + b"a", "utf-8", "utf-16-le"),
        (utf_16(20, 2), "UTF8", "utf-16-le"),
        (utf_16(19, 0), "utf-8", "utf-8"),
        (utf_16(19, 0, "be"), "utf-8", "utf-8"),
        (utf_16(40, 3), "utf-8", "utf-8"),
        (utf_16(40, 3, "be"), "utf-8", "utf-8"),
        (utf_16(100, 0), "latin-1", "latin-1"),
        (b"", "utf-8", "utf-8"),
        (b"a", "utf-8", "utf-8"),
        (codecs.BOM_UTF32_LE + b"a\0\0\0", "utf-8", "utf-32"),
        (codecs.BOM_UTF32_BE + b"\0\0\0a", "utf-8", "utf-32"),
        (codecs.BOM_UTF16_BE + b"\0a", "latin-1", "utf-16"),
        (codecs.BOM_UTF16_LE + b"a\0", "latin-1", "utf-16"),
        (codecs.BOM_UTF8 + b"a", "latin-1", "utf-8"),
    ],
)
def test_zeros_show_utf_16_where_every_fifth_letter_is_of_ascii(content: bytes, stated: str, expected: str) -> None:
    """And where at most one letter of fifty has a zero in its other byte; no zero says otherwise than a statement."""
    assert encoding_of(content, stated) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_line_that_is_too_long_is_named(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_of, "MAX_FIELD_LENGTH", 9)

    def lines(text: str) -> list[str]:
        file = io.BufferedReader(io.BytesIO(text.encode(encoding)))  # type: ignore[arg-type]
        return list(text_lines(file, "a.csv", encoding))  # type: ignore[arg-type]

    assert lines("1234567\n1234567\n") == ["1234567\n"] * 2
    with pytest.raises(DataError, match=r"^a\.csv:2: the line is longer than 9 bytes$"):
        lines("1234567\n12345678\n")


def test_a_file_of_a_folder_is_decoded_as_stated_and_its_wrong_byte_named(tmp_path: Path) -> None:
    for name, content in (("x/1", "Gebühr"), ("x/2", "zwei"), ("y/1", "drei\n\nGebühr"), ("y/2", "vier")):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_bytes(content.encode("cp1252"))
    read = UserFiles("docs", encoding="cp1252", base=tmp_path)
    texts = list(read.load(read.locate(download=False, notify=print, progress=False)))
    assert texts[2].decode() == "drei\n\nGebühr"
    (tmp_path / "docs" / "x" / "1").write_text("Gebühr", encoding="utf-8")
    with pytest.raises(DataError, match=r"docs/y/1:3: the byte 0xfc at offset 9 is not utf-8; name the file's enc"):
        UserFiles("docs", base=tmp_path).outline()
