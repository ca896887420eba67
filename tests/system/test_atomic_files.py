"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmark.system.atomic_files import process_name, remove_unfinished_files, write_atomically
from benchmark.system.errors import BenchError


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


#: Parts of a file's name, its age in hours, and whether it stays.
UNFINISHED = [
    ("a.DEAD.tmp", 0, False),
    ("a.DEAD@HERE.part", 0, False),
    ("a.DEAD@elsewhere.part", 23.9, True),
    ("b.DEAD@elsewhere.part", 24.1, False),
    ("a.ALIVE.tmp", 23.9, True),
    ("b.ALIVE.tmp", 24.1, False),
    ("a.many.tmp", 0, True),
    ("c.DEAD.another", 48, True),
]


def test_what_a_killed_process_left_is_removed_and_what_may_be_written_still_stays(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive, here = process_name().split("@")
    staying = set[Path]()
    for pattern, hours, stays in UNFINISHED:
        path = tmp_path / pattern.replace("ALIVE", alive).replace("DEAD", str(ended.pid)).replace("HERE", here)
        path.touch()
        os.utime(path, (time.time() - 3600 * hours,) * 2)
        staying |= {path} if stays else set()
    for pattern in ("*.tmp", "*.part"):
        remove_unfinished_files(tmp_path, pattern)
        remove_unfinished_files(tmp_path / "nowhere", pattern)
    assert set(tmp_path.iterdir()) == staying
