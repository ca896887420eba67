"""Archives and folders made to harm: links, devices, odd sizes, bombs of 4 GB are refused, within 300 MB of memory."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpora.small import pack_files, small_files
from tests.trials.limits import examples
from tests.trials.processes import bench
from tests.trials.test_damage import ARCHIVE, assert_right_or_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PEAK = 0.3
ZEROS = bytes(1 << 20)
PAGE = b"course/misc/http:^^z^"


def header(name: bytes, size: bytes, kind: bytes = b"0", link: bytes = b"") -> bytes:
    """Write a header of tar with any bytes as its size."""
    fields = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + size.ljust(12, b"\0")[:12] + b"00000000000\0"
    rest = kind + link.ljust(100, b"\0") + b"ustar\00000" + bytes(64) + b"0000000\0" * 2 + bytes(155 + 12)
    total = sum(fields) + sum(rest) + 8 * ord(" ")
    return fields + b"%06o\0 " % total + rest


def page(size: bytes | int = 0, kind: bytes = b"0", link: bytes = b"", name: bytes = PAGE) -> bytes:
    """Write the header of a page; a size that is a number is written in octal digits."""
    return header(name, b"%011o" % size if isinstance(size, int) else size, kind, link)


def based(size: int) -> bytes:
    """Write a size as GNU's tar writes large and negative ones, in base 256."""
    return (size % (1 << 96) | (0 if size < 0 else 1 << 95)).to_bytes(12, "big")


def pax(records: dict[bytes, bytes], of: bytes) -> bytes:
    """Write a header of pax before another one."""
    body = b""
    for key, value in records.items():
        length = len(key) + len(value) + 3
        length += len(str(length + len(str(length))))
        body += b"%d %s=%s\n" % (length, key, value)
    return page(len(body), b"x", name=b"pax") + body + bytes(-len(body) % 512) + of


SMALL = page(5) + b"hello".ljust(512, b"\0")
LONG_NAME = b"././@LongLink"
SPARSE = {b"GNU.sparse.major": b"1", b"GNU.sparse.minor": b"0", b"GNU.sparse.realsize": b"1" + b"0" * 15}
MEMBERS: dict[str, bytes] = {
    "a negative size": page(based(-512)),
    "a size that leads back": page(based(-1024)) * 2,
    "a size of -2**63": page(based(-(2**63))),
    "an absolute path": page(name=b"/etc/cron.d/x"),
    "a path that leads out": page(name=b"course/../../x"),
    "a symbolic link": page(0, b"2", b"/etc/passwd"),
    "a hard link": page(0, b"1", b"course/cornell/http:^^x^"),
    "a character device": page(0, b"3"),
    "a block device": page(0, b"4"),
    "a pipe": page(0, b"6"),
    "a sparse file": page(512, b"S") + ZEROS[:512],
    "a negative pax size": pax({b"size": b"-512"}, page()),
    "a pax size that is none": pax({b"size": b"x" * 40}, page()),
    "a pax size of 10**30": pax({b"size": b"1" + b"0" * 30}, page()),
    "a pax path that leads out": pax({b"path": b"../../x"}, SMALL),
    "a sparse file of pax": pax(SPARSE, SMALL),
    "a sparse map of nonsense": pax({b"GNU.sparse.map": b"0,-5,x", b"GNU.sparse.size": b"-9"}, SMALL),
    "a pax header of a claimed exabyte": page(based(1 << 60), b"x", name=b"pax") + page(),
    "a long name of a claimed exabyte": page(based(1 << 60), b"L", name=LONG_NAME) + page(),
    "a member of a claimed exabyte": page(based(1 << 60)),
    "a size that is no number": page(b"hello world!"),
    "a name given twice": page(5, name=b"course/cornell/http:^^x^") + b"other".ljust(512, b"\0"),
    "a thousand pax headers": b"".join(pax({b"comment": b"x" * 900}, b"") for _ in range(1_000)) + page(),
    "an unknown kind": page(0, b"Z"),
    "an empty name": page(name=b""),
    "a name with a NUL of pax": pax({b"path": b"course/misc/a\0b"}, SMALL),
    "an hdrcharset of nonsense": pax({b"hdrcharset": b"x", b"path": b"course/misc/\xff"}, SMALL),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", MEMBERS)
def test_a_bad_member_is_refused_or_left_out(name: str, first: bool, tmp_path: Path) -> None:
    """The member stands beside the right ones, first or last."""
    path = pack_files(small_files("webkb"), tmp_path / ARCHIVE, mode="w:", format_=tarfile.GNU_FORMAT)
    good = path.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(good)) as tar:
        last = tar.getmembers()[-1]
    end = last.offset_data + (last.size + 511) // 512 * 512
    path.write_bytes(MEMBERS[name] + good if first else good[:end] + MEMBERS[name] + bytes(1024))
    assert_right_or_refused(path)


def deflated(begin: bytes, block: bytes, repeats: int) -> Iterator[bytes]:
    """Make a gzip stream of a beginning and a block again and again, without packing each."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield b"\x1f\x8b\x08" + bytes(6) + b"\xff" + packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from (packed for _ in range(repeats))
    yield b"\x03\0" + struct.pack("<LL", 0, (len(begin) + len(block) * repeats) % (1 << 32))


#: Small archives that become large ones.
BOMBS: dict[str, Callable[[], Iterator[bytes]]] = {
    "4 GB of zeros": lambda: deflated(b"", ZEROS, 4_096),
    "a page of 4 GB": lambda: deflated(page(based(4 << 30)), ZEROS, 4_096),
    "a readme of 4 GB": lambda: deflated(page(based(4 << 30), name=b"README"), ZEROS, 4_096),
    "four million empty pages": lambda: deflated(b"", page() * 2_048, 2_048),
    "four million folders": lambda: deflated(b"", page(0, b"5", name=b"course/misc") * 2_048, 2_048),
    "a pax header of 4 GB": lambda: deflated(page(based(4 << 30), b"x", name=b"pax"), b"1" * (1 << 20), 4_096),
    "a long name of 4 GB": lambda: deflated(page(based(4 << 30), b"L", name=LONG_NAME), b"a" * (1 << 20), 4_096),
    "a million pax headers": lambda: deflated(b"", pax({b"comment": b"x"}, page()) * 512, 2_048),
    "gzip in 256 pieces": lambda: (gzip.compress(ZEROS * 16) for _ in range(256)),
    "gzip in a million pieces": lambda: (gzip.compress(b"") * 1_000 for _ in range(1_000)),
}


def large_folder(number: int, size: int, folder: Path) -> None:
    """Make an unpacked corpus with a file, or a number of files, that no corpus has."""
    for top in ("course", "department", "faculty", "other", "project", "staff", "student"):
        (folder / top / "misc").mkdir(parents=True)
    for each in range(number):
        with (folder / "course" / "misc" / str(each)).open("wb") as file:
            file.truncate(size)  # of holes: it takes no room


@examples(12, shrink=False)
@given(st.sampled_from([*BOMBS, "a file of 4 GB", "a hundred thousand files"]))
def test_what_is_too_large_is_refused_within_little_memory(name: str) -> None:
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        if name in BOMBS:
            with (folder / ARCHIVE).open("wb") as file:
                file.writelines(BOMBS[name]())
        else:
            large_folder(*((1, 4 << 30) if "GB" in name else (100_000, 0)), folder)
        done = bench("data", "verify", "webkb", BENCH_DATASETS=str(folder))
    done.assert_clear()
    assert done.code == 3
    assert done.error.startswith("bench: ")
    assert done.peak <= PEAK
