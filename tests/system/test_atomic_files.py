"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from benchmark.system import atomic_files
from benchmark.system.atomic_files import process_name, remove_unfinished_files, write_atomically
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_as_a_whole_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "deeper" / "a.txt"
    for content in (b"one", b"two"):
        write_atomically(path, content)
        assert path.read_bytes() == content

    def full(self: Path, _: bytes) -> None:
        assert self == path.with_name(f".a.txt.{os.getpid()}.tmp"), "as what is removed if this process is killed"
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(BenchError, match=rf"^can't write {path}: No space left on device$"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["a.txt"]


#: Parts of a file's name, its age in hours, and whether it stays; DEAD is the number of a process that has ended.
UNFINISHED = [
    ("a.DEAD.tmp", 0, False),
    ("a.DEAD@HERE.part", 0, False),
    ("a.DEAD@elsewhere.part", 0, True),
    ("a.DEAD@elsewhere.part", 23.9, True),
    ("a.DEAD@elsewhere.part", 24.1, False),
    ("a.ALIVE.tmp", 0, True),
    ("a.ALIVE.tmp", 24.1, False),
    ("a.ALIVE@HERE.part", 23.9, True),
    ("a.OTHERS.tmp", 0, True),
    ("a.many.tmp", 0, True),
    ("a.many.tmp", 24.1, False),
    ("a.99999999999999999999.tmp", 0, True),
    ("a", 0, True),
    ("DEAD.tmp", 0, False),
]


@pytest.mark.parametrize(("name", "hours", "stays"), UNFINISHED)
def test_what_a_killed_process_left_is_removed_and_what_may_be_written_still_stays(
    name: str, hours: float, stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive, dead, others = os.getpid(), 4_000_001, 4_000_002

    def kill(pid: int, number: int) -> None:
        assert number == 0, "no process gets a signal"
        if pid > 2**31:
            raise OverflowError
        if pid != alive:
            raise PermissionError if pid == others else ProcessLookupError

    monkeypatch.setattr(atomic_files.os, "kill", kill)
    monkeypatch.setattr(atomic_files.platform, "node", lambda: "a.machine.org")
    assert process_name() == f"{alive}@a-machine-org"
    for word, value in {"ALIVE": alive, "DEAD": dead, "OTHERS": others, "HERE": "a-machine-org"}.items():
        name = name.replace(word, str(value))
    then = time.time() - 3600 * hours
    for path in (tmp_path / name, tmp_path / f"kept-{name}"):
        path.write_bytes(b"half")
        os.utime(path, (then, then))
    remove_unfinished_files(tmp_path, f"{name[0]}*")
    assert (tmp_path / name).exists() is stays
    assert (tmp_path / f"kept-{name}").exists(), "its name isn't of the pattern"


def test_one_file_that_can_not_be_removed_leaves_the_others_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "a.4000001.tmp").mkdir()
    for name in ("0.4000001.tmp", "b.4000001.tmp", "c.4000001.tmp"):
        (tmp_path / name).touch()
    remove_unfinished_files(tmp_path, "*.tmp")
    assert [each.name for each in tmp_path.iterdir()] == ["a.4000001.tmp"]
    remove_unfinished_files(tmp_path / "nowhere", "*")
