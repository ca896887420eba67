"""Archives and folders made to do harm: refused in one clear line, soon, and within the memory that the card allows."""

from __future__ import annotations

import gzip
import io
import tarfile
import time
import tracemalloc
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given, settings

from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource, read_files, verify_digest
from benchmark.system.errors import DataError
from tests.corpora.small import pack_files, unpack_files
from tests.strategies import damaged

END = b"\0" * 1024


@pytest.fixture
def refusal(tmp_path, card):
    """The first line of the error for an archive of these bytes, which must take less than a second of work."""

    def of(raw: bytes, **changes) -> str:
        path = tmp_path / "webkb-data.tar"
        path.write_bytes(raw)
        started = time.process_time()
        with pytest.raises(DataError) as caught:
            read_files(CorpusSource(path), card.model_copy(update=changes))
        assert time.process_time() - started < 1
        first = str(caught.value).splitlines()[0]
        assert len(first) < 600
        return first.removeprefix(f"{path} ")

    return of


def header(name: str = "course/misc/x", size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A header whose size may be anything: GNU writes what octal can't hold as a signed number to the base 256."""
    info = tarfile.TarInfo(name)
    info.type = kind
    raw = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    raw[124:136] = (b"\xff" if size < 0 else b"\x80") + (size % 256**11).to_bytes(11, "big")
    raw[148:156] = b"%06o\0 " % sum(raw[:148] + b" " * 8 + raw[156:])
    return bytes(raw)


def member(name: str = "course/misc/x", content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(name, len(content), kind) + content + b"\0" * (-len(content) % 512)


def record(keyword: bytes, value: bytes) -> bytes:
    length = len(keyword) + len(value) + 3
    length += len(str(length + len(str(length))))
    return b"%d %s=%s\n" % (length, keyword, value)


def pax(*records: bytes) -> bytes:
    return member("pax", b"".join(records), tarfile.XHDTYPE)


# --- headers


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, b"?"])
@pytest.mark.parametrize("size", [-1, -512, -1024, -(2**80), 2**40, 2**87])
def test_an_absurd_size_is_refused_in_a_line(refusal, size, kind):
    said = refusal(member() + header(size=size, kind=kind) + END)
    assert said.startswith(("is not a tar archive", "is refused because of its member"))


@pytest.mark.parametrize("size", [b"-1", b"-512", b"-1536", b"9" * 30])
def test_an_absurd_size_in_a_pax_header_is_no_tar_archive(refusal, size):
    assert refusal(member() + pax(record(b"size", size)) + header() + END).startswith("is not a tar archive")


def test_sizes_that_lead_back_end(refusal):
    """The second member leads to the first, and so on without end."""
    assert refusal(member("course/misc/a") + header("course/misc/b", -1024) + END).startswith("is not a tar archive")


HEADERS = {
    "nested": member("x", b"2 a", tarfile.XHDTYPE) * 2000,
    "global": member("x", record(b"comment", b"x" * 16_000), tarfile.XGLTYPE) * 500,
    "records": (member("x", b"6 a=b\n" * 2700, tarfile.XHDTYPE) + member()) * 50,
    "zero": pax(b"0 a=b\n"),
    "sparse": header(kind=tarfile.GNUTYPE_SPARSE)[:482] + b"\1" + header()[483:],
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_extended_headers_are_read_or_refused_in_time_in_proportion_to_their_length(refusal, headers):
    assert refusal(headers + header(kind=tarfile.SYMTYPE) + END).startswith(
        ("is refused because of its", "is not a tar")
    )


@pytest.mark.parametrize(
    "sparse", [header(kind=tarfile.GNUTYPE_SPARSE), pax(record(b"GNU.sparse.map", b"0,0")) + header()]
)
def test_sparse_members_are_refused(refusal, sparse):
    assert "neither a plain file nor a folder" in refusal(sparse + END)


def test_a_long_name_is_cut_in_the_message(refusal):
    assert "aaa…': it is neither" in refusal(pax(record(b"path", b"a" * 9000)) + header(kind=tarfile.SYMTYPE) + END)


@pytest.mark.parametrize("name", ["course/misc/" + "a" * 90, "course/misc/" + "b" * 150, "course/misc/" + "é" * 900])
@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_member_stands_where_the_standard_library_finds_it(tmp_path, card, name, format_):
    if format_ == tarfile.USTAR_FORMAT and len(name) > 100:
        pytest.skip("ustar has no such name")
    files = {name.encode(): b"x" * 700, b"course/misc/\xe9": b"", b"course/misc/z": b"z" * 512}
    path = pack_files(files, tmp_path / "a.tar", mode="w:", format_=format_)
    with tarfile.open(path, encoding="utf-8", errors="surrogateescape") as archive:
        theirs = {m.name.encode("utf-8", "surrogateescape"): archive.extractfile(m).read() for m in archive}
    assert {key: bytes(value) for key, value in read_files(CorpusSource(path), card).items()} == theirs == files


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "odd",
    [
        member("course/cornell/http:^^x^", b"given twice"),
        member(""),
        pax(record(b"path", b"../../x")) + member(),
        pax(record(b"path", b"course/misc/a\0b")) + member(),
        pax(record(b"hdrcharset", b"x"), record(b"path", b"course/misc/\xff")) + member(),
    ],
    ids=["twice", "empty", "out", "NUL", "charset"],
)
def test_a_member_of_an_odd_name_is_refused_or_left_out(tmp_path, files, card, odd, first):
    """It stands beside the right ones, first or last."""
    path = pack_files(files, tmp_path / "webkb-data.tar", mode="w:", format_=tarfile.GNU_FORMAT)
    good = path.read_bytes()
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    end = last.offset_data + (last.size + 511) // 512 * 512
    path.write_bytes(odd + good if first else good[:end] + odd + END)
    with suppress(DataError):
        found = read_files(CorpusSource(path), card)
        verify_digest(found, card, CorpusSource(path))
        assert {name: bytes(each) for name, each in found.items()} == files


# --- more than the card allows


def test_members_are_bounded_by_the_card(refusal, card):
    allowed = member() * card.most_members
    assert "holds more than 1,010 members" in refusal(allowed + member() + END)
    assert "is refused because of its member" in refusal(allowed[512:] + header(kind=tarfile.SYMTYPE) + END)


@pytest.mark.parametrize("pack_bytes", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_bytes_are_bounded_by_the_card(refusal, card, pack_bytes):
    bound = card.model_copy(update={"size": 1}).most_bytes
    raw = member(content=b"x" * bound)
    assert f"holds more than {bound:,} bytes" in refusal(pack_bytes(raw + END), size=1)
    assert "unexpected end of data" in refusal(pack_bytes(raw[:bound]), size=1)


@pytest.mark.parametrize("fold", ["file", "files", "folders", "hidden"])
def test_a_folder_is_bounded_by_the_card(tmp_path, files, card, fold):
    source = CorpusSource(unpack_files(files, tmp_path))
    place = tmp_path / "course" / "misc"
    if fold == "file":
        with (place / "huge").open("wb") as file:
            file.truncate(2**40)
    for number in range(0 if fold == "file" else card.most_members):
        name = place / {"hidden": f".{number}"}.get(fold, str(number))
        name.mkdir() if fold == "folders" else name.touch()
    with pytest.raises(DataError, match=r"is too large for Small webkb: it holds more than .* (bytes|files and)"):
        read_files(source, card)


def test_the_files_of_a_folder_are_bounded_together(tmp_path, files, card):
    facts = card.model_dump(include={"tops", "tops_are", "title", "addresses", "digest"}) | {"most_members": 100}
    unpack_files(files | {b"course/misc/%d" % number: b"x" * 1000 for number in range(20)}, tmp_path)
    read_files(CorpusSource(tmp_path), SimpleNamespace(**facts, most_bytes=21_000))
    with pytest.raises(DataError, match="holds more than 19,000 bytes"):
        read_files(CorpusSource(tmp_path), SimpleNamespace(**facts, most_bytes=19_000))


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    path = tmp_path_factory.mktemp("bomb") / "bomb.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header("course/misc/x", 2**31))
        for _ in range(300):
            file.write(bytes(2**20))
    assert path.stat().st_size < 2**21
    return path


@pytest.mark.parametrize("name", ["webkb", "20ng", "reuters"])
def test_a_bomb_is_refused_within_200_megabytes(bomb, name):
    path, card = bomb, registry.dataset_card(name)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=f"{path.name} is too large for {card.title}: it holds more than "):
            read_files(CorpusSource(path), card)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


# --- anything at all


def seeds_of_archives() -> list[bytes]:
    found = []
    for format_ in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w", format=format_) as archive:
            for name in ("course/misc/x", "faculty/misc/" + "é" * 20 + "y" * 50, "course"):
                info = tarfile.TarInfo(name)
                info.type = tarfile.DIRTYPE if name == "course" else tarfile.REGTYPE
                info.size = 700 * (name != "course")
                archive.addfile(info, io.BytesIO(b"<html>" * 200))
        found.append(file.getvalue()[:6000])
    return found + [gzip.compress(raw, mtime=0) for raw in found]


def rightly_summed(raw: bytes) -> bytes:
    """The archive with a right sum in every block that could be a header, so that a flipped bit gets further."""
    blocks = [bytearray(raw[start : start + 512]) for start in range(0, len(raw), 512)]
    for block in blocks:
        if block[257:262] == b"ustar" and len(block) == 512:
            block[148:156] = b"%06o\0 " % sum(block[:148] + b" " * 8 + block[156:])
    return b"".join(blocks)


@pytest.mark.parametrize("repair", [bytes, rightly_summed], ids=["as-is", "summed"])
def test_a_damaged_archive_is_refused(tmp_path, card, repair):
    path = tmp_path / "webkb-data.tar"

    @settings(max_examples=400)
    @given(damaged(seeds_of_archives(), [b"ustar", END]))
    def read(raw):
        path.write_bytes(repair(raw))
        with pytest.raises(DataError) as caught:
            verify_digest(read_files(CorpusSource(path), card), card, CorpusSource(path))
        assert str(caught.value).startswith(f"{path} ")

    read()
