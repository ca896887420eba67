"""Tables and folders as a machine or a mistake makes them: read, or refused with a line, within some memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.trials.limits import examples
from tests.trials.processes import bench

#: Gigabytes of memory that no table may take.
PEAK = 4.0
#: Makes a file or folder in a folder, and returns its name.
Maker = Callable[[Path], str]


def lines(n: int, line: Callable[[int], str], head: str = "text,label") -> Maker:
    """Make a table of so many lines."""

    def make(folder: Path) -> str:
        (folder / "t.csv").write_text("\n".join([head, *map(line, range(n)), ""]))
        return "t.csv"

    return make


def documents(folder: Path) -> str:
    """Make a folder of class folders."""
    for number in range(24):
        path = folder / "docs" / "ab"[number % 2] / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"alpha {'xy'[number % 2]}z w{number % 5}")
    return "docs"


def beside(make: Maker, odd: Callable[[Path], object], name: str = "") -> Maker:
    """Put something odd into a folder of documents, or in the place of a file."""

    def both(folder: Path) -> str:
        path = folder / make(folder)
        if name:
            path.unlink()
        odd(path if name else path / "a" / "odd.txt")
        return path.name

    return both


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
ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
}
K_FOLD = "{name: k-fold, k: 2}"
#: What is made, with more keys of the corpus and the protocol.
CASES: dict[str, tuple[Maker, str, str]] = {
    **{f"{kind} in the folder": (beside(documents, odd), "", K_FOLD) for kind, odd in ODD.items()},
    **{f"{kind} as the file": (beside(USUAL, odd, "t.csv"), "", K_FOLD) for kind, odd in ODD.items()},
    "100,000 labels": (lines(2 * 10**5, lambda i: f"alpha beta w{i % 50},l{i % 10**5}"), "", K_FOLD),
    "100,000 labels, 50 a row": (
        lines(4_000, lambda i: f"alpha w{i % 50},{';'.join(f'l{(50 * i + j) % 10**5}' for j in range(50))}"),
        ', labels: label, separator: ";"',
        "{name: k-fold, k: 2, stratified: false}",
    ),
    "100,000 groups": (
        lines(2 * 10**5, lambda i: f"alpha w{i % 50},{'ab'[i % 2]},g{i % 10**5}", head="text,label,group"),
        ", group: group",
        "{name: leave-one-group-out}",
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
    if name in ("a pipe in the folder", "a pipe as the file", "a link to zeros as the file"):  # others aren't followed
        assert "pipe or device" in done.error
