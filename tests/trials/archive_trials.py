"""Archives that are damaged, hostile, or bombs: a reason in a line, or the right corpus, and never a wrong one."""

from __future__ import annotations

import functools
import gzip
import io
import struct
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from processes import bench
from trial import Family, borrowed, chance, in_turn, unclear

from benchmark.corpora import webkb
from benchmark.corpora.archive import Source, read_files, verify
from benchmark.corpora.assemble import gate
from benchmark.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

NAME = "webkb-data.gtar.gz"
PEAK = 0.3
ZEROS = bytes(1 << 20)


def _archive(folder: Path, mode: str, layout: int) -> Path:
    corpora = borrowed("corpora/conftest")
    path: Path = corpora["pack_files"](corpora["small_files"]("webkb"), folder / NAME, mode=mode, format_=layout)
    return path


def _read(path: Path) -> str | None:
    """Read a small corpus: refused with a reason, or the right one."""
    corpora = borrowed("corpora/conftest")
    card, expected = corpora["small_card"]("webkb"), corpora["small_files"]("webkb")
    source = Source(path)
    try:
        files = read_files(source, card)
        corpus = webkb.read(files, card, verify(files, card, source))
        gate(corpus, card)
    except DataError as error:
        return unclear(str(error))
    found = {name.encode("latin-1"): text for name, text in zip(corpus.documents.ids, corpus, strict=True)}
    return None if found == expected else "a wrong corpus was read"


def _tried(family: str, number: int, change: Callable[[Random, bytes], bytes]) -> str | None:
    random = chance(family, number)
    folder = Path(tempfile.mkdtemp())
    path = _archive(folder, random.choice(("w:gz", "w:")), random.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)))
    content = change(random, path.read_bytes())
    if random.random() < 0.3 and content[:2] != b"\x1f\x8b":  # what was changed first, and packed then
        content = gzip.compress(content)
    path.write_bytes(content)
    return _read(path)


def flipped(number: int) -> str | None:
    """One bit."""

    def flip(random: Random, content: bytes) -> bytes:
        # Most of a small archive is padding.
        at = random.choice([at for at, byte in enumerate(content) if byte or random.random() < 0.02])
        return content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :]

    return _tried("flips", number, flip)


def truncated(number: int) -> str | None:
    """The end is missing."""
    return _tried("cuts", number, lambda random, content: content[: random.randrange(len(content))])


def _header(name: bytes, size: bytes, kind: bytes = b"0", link: bytes = b"") -> bytes:
    """A header of tar as its bytes stand, the size field however it was made."""
    fields = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + size.ljust(12, b"\0")[:12] + b"00000000000\0"
    rest = kind + link.ljust(100, b"\0") + b"ustar\00000" + bytes(64) + b"0000000\0" * 2 + bytes(155 + 12)
    total = sum(fields) + sum(rest) + 8 * ord(" ")
    return fields + b"%06o\0 " % total + rest


def _based(size: int) -> bytes:
    """A size as GNU's tar writes large and negative ones, in base 256."""
    return (size % (1 << 96) | (0 if size < 0 else 1 << 95)).to_bytes(12, "big")


def _pax(records: dict[bytes, bytes], of: bytes) -> bytes:
    """A header of pax before another one."""
    body = b""
    for key, value in records.items():
        length = len(key) + len(value) + 3
        length += len(str(length + len(str(length))))
        body += b"%d %s=%s\n" % (length, key, value)
    return _header(b"pax", b"%011o" % len(body), b"x") + body + bytes(-len(body) % 512) + of


PAGE = b"course/misc/http:^^z^"
SMALL = _header(PAGE, b"%011o" % 5) + b"hello".ljust(512, b"\0")
EMPTY = _header(PAGE, b"%011o" % 0)
HOSTILE: dict[str, bytes] = {
    "a negative size": _header(PAGE, _based(-512)),
    "a size that leads back": _header(PAGE, _based(-1024)) * 2,
    "a size of -2**63": _header(PAGE, _based(-(2**63))),
    "an absolute path": _header(b"/etc/cron.d/x", b"%011o" % 0),
    "a path that leads out": _header(b"course/../../x", b"%011o" % 0),
    "a symbolic link": _header(PAGE, b"%011o" % 0, b"2", b"/etc/passwd"),
    "a hard link": _header(PAGE, b"%011o" % 0, b"1", b"course/cornell/http:^^x^"),
    "a character device": _header(PAGE, b"%011o" % 0, b"3"),
    "a block device": _header(PAGE, b"%011o" % 0, b"4"),
    "a pipe": _header(PAGE, b"%011o" % 0, b"6"),
    "a sparse file": _header(PAGE, b"%011o" % 512, b"S") + ZEROS[:512],
    "a negative pax size": _pax({b"size": b"-512"}, EMPTY),
    "a pax size that is none": _pax({b"size": b"x" * 40}, EMPTY),
    "a pax size of 10**30": _pax({b"size": b"1" + b"0" * 30}, EMPTY),
    "a pax path that leads out": _pax({b"path": b"../../x"}, SMALL),
    "a sparse file of pax": _pax(
        {b"GNU.sparse.major": b"1", b"GNU.sparse.minor": b"0", b"GNU.sparse.realsize": b"1" + b"0" * 15}, SMALL
    ),
    "a sparse map of nonsense": _pax({b"GNU.sparse.map": b"0,-5,x", b"GNU.sparse.size": b"-9"}, SMALL),
    "a pax header of a claimed exabyte": _header(b"pax", _based(1 << 60), b"x") + EMPTY,
    "a long name of a claimed exabyte": _header(b"././@LongLink", _based(1 << 60), b"L") + EMPTY,
    "a member of a claimed exabyte": _header(PAGE, _based(1 << 60)),
    "a size that is no number": _header(PAGE, b"hello world!"),
    "a name given twice": _header(b"course/cornell/http:^^x^", b"%011o" % 5) + b"other".ljust(512, b"\0"),
    "a thousand pax headers": b"".join(_pax({b"comment": b"x" * 900}, b"") for _ in range(1_000)) + EMPTY,
    "an unknown kind": _header(PAGE, b"%011o" % 0, b"Z"),
    "an empty name": _header(b"", b"%011o" % 0),
    "a name with a NUL of pax": _pax({b"path": b"course/misc/a\0b"}, SMALL),
    "an hdrcharset of nonsense": _pax({b"hdrcharset": b"x", b"path": b"course/misc/\xff"}, SMALL),
}


def hostile(number: int) -> str | None:
    """A bad member beside the right ones, first or last; read in place, and by the command line."""
    name, member = list(HOSTILE.items())[number // 2]
    folder = Path(tempfile.mkdtemp())
    path = _archive(folder, "w:", tarfile.GNU_FORMAT)
    good = path.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(good)) as tar:
        last = tar.getmembers()[-1]
    end = last.offset_data + (last.size + 511) // 512 * 512
    path.write_bytes(member + good if number % 2 else good[:end] + member + bytes(1024))
    problem = _read(path) or _verified(folder)
    return f"{name}: {problem}" if problem else None


def _verified(folder: Path) -> str | None:
    """What `bench data verify` says of the archive in a folder, and what memory it takes."""
    done = bench("data", "verify", "webkb", variables={"BENCH_DATASETS": str(folder)})
    if done.unclear:
        return done.unclear
    if done.code != 3 or not done.error.startswith("bench: "):
        return f"exit code {done.code}: {done.error[:500]}"
    return None if done.peak <= PEAK else f"more than {PEAK:g} GB of memory: {done.peak:.2f}"


def _deflated(begin: bytes, block: bytes, repeats: int) -> Iterator[bytes]:
    """A gzip stream of a beginning and a block again and again, made without packing each."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield b"\x1f\x8b\x08" + bytes(6) + b"\xff" + packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    yield from (packed for _ in range(repeats))
    yield b"\x03\0" + struct.pack("<LL", 0, (len(begin) + len(block) * repeats) % (1 << 32))


def _members(repeats: int) -> Iterator[bytes]:
    yield from (gzip.compress(ZEROS * 16) for _ in range(repeats))


BOMBS: dict[str, Callable[[], Iterator[bytes]]] = {
    "4 GB of zeros": lambda: _deflated(b"", ZEROS, 4_096),
    "a page of 4 GB": lambda: _deflated(_header(PAGE, _based(4 << 30)), ZEROS, 4_096),
    "a readme of 4 GB": lambda: _deflated(_header(b"README", _based(4 << 30)), ZEROS, 4_096),
    "four million empty pages": lambda: _deflated(b"", EMPTY * 2_048, 2_048),
    "four million folders": lambda: _deflated(b"", _header(b"course/misc", b"%011o" % 0, b"5") * 2_048, 2_048),
    "a pax header of 4 GB": lambda: _deflated(_header(b"pax", _based(4 << 30), b"x"), b"1" * (1 << 20), 4_096),
    "a long name of 4 GB": lambda: _deflated(_header(b"././@LongLink", _based(4 << 30), b"L"), b"a" * (1 << 20), 4_096),
    "a million pax headers": lambda: _deflated(b"", _pax({b"comment": b"x"}, EMPTY) * 512, 2_048),
    "gzip in 256 pieces": lambda: _members(256),
    "gzip in a million pieces": lambda: (gzip.compress(b"") * 1_000 for _ in range(1_000)),
}


def bomb(number: int) -> str | None:
    """A small archive that becomes a large one."""
    name, make = list(BOMBS.items())[number]
    folder = Path(tempfile.mkdtemp())
    with (folder / NAME).open("wb") as file:
        file.writelines(make())
    problem = _verified(folder)
    return f"{name}, {(folder / NAME).stat().st_size / 1e6:.1f} MB: {problem}" if problem else None


def folder_bomb(number: int) -> str | None:
    """An unpacked corpus with a file, or a number of files, that no corpus has."""
    folder = Path(tempfile.mkdtemp())
    for top in ("course", "department", "faculty", "other", "project", "staff", "student"):
        (folder / top / "misc").mkdir(parents=True)
    if number == 0:
        with (folder / "course" / "misc" / "page").open("wb") as file:
            file.truncate(4 << 30)  # of holes: it takes no room
    else:
        for each in range(100_000):
            (folder / "course" / "misc" / str(each)).touch()
    problem = _verified(folder)
    return f"{('a file of 4 GB', 'a hundred thousand files')[number]}: {problem}" if problem else None


CASES: list[Callable[[], str | None]] = [
    *(functools.partial(bomb, number) for number in range(len(BOMBS))),
    *(functools.partial(folder_bomb, number) for number in range(2)),
    *(functools.partial(hostile, number) for number in range(2 * len(HOSTILE))),
]
chance("hostile", 0).shuffle(CASES)


def case(number: int) -> str | None:
    """A hostile member, a bomb, or a folder too large."""
    return CASES[number]()


FAMILIES = [
    Family(
        "archives",
        "archives with a flipped bit or without their end: refused, or the right corpus",
        in_turn(flipped, flipped, flipped, flipped, truncated),
        500,
        100,
    ),
    Family(
        "hostile",
        "links, devices, odd sizes, bombs of 4 GB: refused, within 300 MB of memory",
        case,
        len(CASES),
        8,
        60,
    ),
]
