"""A user's own files as a machine, a mistake or an enemy makes them: their work, or a line."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.trials.limits import examples
from tests.trials.processes import bench

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Gigabytes of memory that no file may take.
PEAK = 4.0
CONFIG = """\
name: own
corpus: {{name: files, path: {path}{more}}}
text: {{stoplist: none}}
protocol: {protocol}
methods: [mnb]
"""
K_FOLD = "{name: k-fold, k: 2}"
COMMANDS = {
    "run": ("run", "own.yaml", "--out", "out"),
    "validate": ("validate", "own.yaml"),
    "plan": ("plan", "own.yaml", "--no-pilot"),
    "init": ("init", "{path}", "--out", "new.yaml"),
}
#: Makes a file or folder in a folder, and returns its name.
Maker = Callable[[Path], str]


def lines(n: int, line: Callable[[int], str], name: str = "t.csv", head: str = "text,label") -> Maker:
    """Make a file of so many lines."""

    def make(folder: Path) -> str:
        with (folder / name).open("w", encoding="utf-8", errors="surrogatepass") as file:
            file.writelines(f"{each}\n" for each in ([head] if head else []))
            file.writelines(f"{line(i)}\n" for i in range(n))
        return name

    return make


def word(number: int) -> str:
    """Return a word of a number, since words are made of letters."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def documents(names: Iterable[bytes]) -> Maker:
    """Make a folder of class folders, with names of any bytes."""

    def make(folder: Path) -> str:
        for number, name in enumerate(names):
            path = os.path.join(os.fsencode(folder / "docs"), name)  # noqa: PTH118
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(b"alpha %cz w%d" % (name[0], number % 5))
        return "docs"

    return make


def beside(make: Maker, odd: Callable[[Path], None], name: str = "") -> Maker:
    """Put something odd into a folder of documents, or in the place of a file."""

    def both(folder: Path) -> str:
        path = make(folder)
        if name:
            (folder / path).unlink()
            odd(folder / path)
        else:
            odd(folder / path / "a" / "odd.txt")
        return path

    return both


def to_socket(path: Path) -> None:
    # A socket's path is short; a relative one is.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def linked(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def dated(value: str) -> Maker:
    rows = [*(f"2024-01-0{1 + i % 9}" for i in range(24)), value]
    return lines(len(rows), lambda i: f"alpha {'xy'[i % 2]}z w{i % 3},{'ab'[i % 2]},{rows[i]}", head="text,label,date")


def records(key: str, value: object) -> Maker:
    """Make JSON lines of which one has something else as a key's value."""

    def line(i: int) -> str:
        row = {"text": f"alpha {'xy'[i % 2]}z w{i % 3}", "label": "ab"[i % 2], "id": f"d{i}", "group": f"g{i % 4}"}
        return json.dumps({**row, "split": ("train", "test")[i // 2 % 2], **({key: value} if i == 11 else {})})

    return lines(24, line, "t.jsonl", "")


USUAL = lines(24, lambda i: f"alpha {'xy'[i % 2]}z w{i % 3},{'ab'[i % 2]}")
NAMES = [f"{'ab'[i % 2]}/{i}.txt".encode() for i in range(24)]
ODD = {
    "a pipe": os.mkfifo,
    "a link to zeros": linked("/dev/zero"),
    "a link to a terminal": linked("/dev/ptmx"),
    "a socket": to_socket,
    "a link to itself": linked("odd.txt"),
    "a link to nothing": linked("nothing"),
}
BY_DATE, GROUPED = "{name: by-date}", "{name: leave-one-group-out}"
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
    "2,000 labels": (lines(4_000, lambda i: f"alpha {word(i % 2_000)},l{i % 2_000}"), "", K_FOLD),
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
def test_a_file_is_read_or_refused_within_some_memory(name: str, command: str) -> None:
    make, more, protocol = CASES[name]
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        path = make(folder)
        (folder / "own.yaml").write_text(CONFIG.format(path=path, more=more, protocol=protocol))
        words = [word.format(path=path) for word in COMMANDS[command]]
        done = bench(*words, folder=folder, BENCH_CACHE=str(folder / "store"))
    done.assert_clear()
    assert done.peak <= PEAK
    assert "pipe or device" in done.error or not name.startswith(("a pipe", "a link to zeros", "a link to a terminal"))
