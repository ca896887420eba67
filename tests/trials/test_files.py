"""Files as a machine, a mistake or an enemy makes them: read, or refused with a line, within some memory."""

from __future__ import annotations

import gzip
import json
import os
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.trials.limits import examples
from tests.trials.processes import bench

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Gigabytes of memory that no table, and no archive, may take.
PEAK, PEAK_OF_ARCHIVES = 4.0, 0.3
#: Makes a file or folder in a folder, and returns its name.
Maker = Callable[[Path], str]

# A user's own


def lines(n: int, line: Callable[[int], str], name: str = "t.csv", head: str = "text,label") -> Maker:
    """Make a file of so many lines."""

    def make(folder: Path) -> str:
        with (folder / name).open("w", encoding="utf-8", errors="surrogatepass") as file:
            file.writelines(f"{each}\n" for each in ([head] if head else []))
            file.writelines(f"{line(i)}\n" for i in range(n))
        return name

    return make


def documents(names: Iterable[bytes]) -> Maker:
    """Make a folder of class folders, with names of any bytes."""

    def make(folder: Path) -> str:
        for number, name in enumerate(names):
            path = Path(os.fsdecode(os.fsencode(folder / "docs") + b"/" + name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"alpha %cz w%d" % (name[0], number % 5))
        return "docs"

    return make


def beside(make: Maker, odd: Callable[[Path], object], name: str = "") -> Maker:
    """Put something odd into a folder of documents, or in the place of a file."""

    def both(folder: Path) -> str:
        path = folder / make(folder)
        if name:
            path.unlink()
        odd(path if name else path / "a" / "odd.txt")
        return path.name

    return both


def dated(value: str) -> Maker:
    rows = [*(f"2024-01-0{1 + i % 9}" for i in range(24)), value]
    return lines(len(rows), lambda i: f"alpha {'xy'[i % 2]}z w{i % 3},{'ab'[i % 2]},{rows[i]}", head="text,label,date")


def records(key: str, value: object) -> Maker:
    """Make JSON lines of which one has something else as a key's value."""

    def line(i: int) -> str:
        row = {"text": f"alpha {'xy'[i % 2]}z w{i % 3}", "label": "ab"[i % 2], "id": f"d{i}", "group": f"g{i % 4}"}
        return json.dumps({**row, "split": ("train", "test")[i // 2 % 2], **({key: value} if i == 11 else {})})

    return lines(24, line, "t.jsonl", "")


CONFIG = """\
name: own
corpus: {{name: files, path: {path}{more}}}
text: {{stoplist: none}}
protocol: {protocol}
methods: [mnb]
"""
COMMANDS = {
    "run": ("run", "own.yaml", "--out", "out"),
    "validate": ("validate", "own.yaml"),
    "plan": ("plan", "own.yaml", "--no-pilot"),
    "init": ("init", "{path}", "--out", "new.yaml"),
}
USUAL = lines(24, lambda i: f"alpha {'xy'[i % 2]}z w{i % 3},{'ab'[i % 2]}")
NAMES = [f"{'ab'[i % 2]}/{i}.txt".encode() for i in range(24)]
ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
}
K_FOLD, BY_DATE, GROUPED = "{name: k-fold, k: 2}", "{name: by-date}", "{name: leave-one-group-out}"
FIXED = "{name: fixed-split, train: train, test: test}"
DATES = (
    *("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59+00:00", "2024-06-30T23:59:60"),
    *("10000-01-01", "2024-02-30", "\uff12\uff10\uff12\uff14-01-01", ""),
)
#: What is made, with more keys of the corpus and the protocol.
CASES: dict[str, tuple[Maker, str, str]] = {
    **{f"the date {value}": (dated(value), ", date: date", BY_DATE) for value in DATES},
    **{f"{kind} in the folder": (beside(documents(NAMES), odd), "", K_FOLD) for kind, odd in ODD.items()},
    **{f"{kind} as the file": (beside(USUAL, odd, "t.csv"), "", K_FOLD) for kind, odd in ODD.items()},
    "a document's name": (documents([*NAMES, b"a/x\xff.txt"]), "", K_FOLD),
    "a class's name": (documents([*NAMES, b"a\xff/1", b"a\xff/2"]), "", K_FOLD),
    **{
        f"a lone surrogate as {key}": (records(key, "x\ud800"), f", {key}: {key}", protocol)
        for key, protocol in (("id", K_FOLD), ("group", GROUPED), ("split", FIXED), ("label", K_FOLD), ("text", K_FOLD))
    },
    "100,000 labels": (lines(2 * 10**5, lambda i: f"alpha beta w{i % 50},l{i % 10**5}"), "", K_FOLD),
    "100,000 labels, 50 a row": (
        lines(4_000, lambda i: f"alpha w{i % 50},{';'.join(f'l{(50 * i + j) % 10**5}' for j in range(50))}"),
        ', labels: label, separator: ";"',
        "{name: k-fold, k: 2, stratified: false}",
    ),
    "100,000 groups": (
        lines(2 * 10**5, lambda i: f"alpha w{i % 50},{'ab'[i % 2]},g{i % 10**5}", head="text,label,group"),
        ", group: group",
        GROUPED,
    ),
}


@examples(40, shrink=False)
@given(st.sampled_from(list(CASES)), st.sampled_from(list(COMMANDS)))
def test_a_file_is_read_or_refused(name: str, command: str) -> None:
    make, more, protocol = CASES[name]
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        path = make(folder)
        (folder / "own.yaml").write_text(CONFIG.format(path=path, more=more, protocol=protocol))
        words = [word.format(path=path) for word in COMMANDS[command]]
        done = bench(*words, folder=folder, BENCH_CACHE=str(folder / "store"))
    done.assert_clear()
    assert done.peak <= PEAK
    assert "pipe or device" in done.error or not name.startswith(("a pipe", "a link to zeros"))


# An archive, or a folder in its place

ARCHIVE = "webkb-data.gtar.gz"
ZEROS = bytes(1 << 20)


def header(size: int, kind: bytes = tarfile.REGTYPE, name: str = "course/misc/http:^^z^") -> bytes:
    """Write a header of tar; large sizes as GNU's tar writes them."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


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
    "zeros": lambda: deflated(b"", ZEROS, 4_096),
    "a page": lambda: deflated(header(4 << 30), ZEROS, 4_096),
    "a readme": lambda: deflated(header(4 << 30, name="README"), ZEROS, 4_096),
    "a pax header": lambda: deflated(header(4 << 30, tarfile.XHDTYPE), b"1" * (1 << 20), 4_096),
    "a long name": lambda: deflated(header(4 << 30, tarfile.GNUTYPE_LONGNAME), b"a" * (1 << 20), 4_096),
    "four million pages": lambda: deflated(b"", header(0) * 2_048, 2_048),
    "four million folders": lambda: deflated(b"", header(0, tarfile.DIRTYPE) * 2_048, 2_048),
    "a million pieces": lambda: (gzip.compress(b"") * 1_000 for _ in range(1_000)),
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
def test_what_is_too_large_is_refused(name: str) -> None:
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
    assert done.peak <= PEAK_OF_ARCHIVES
