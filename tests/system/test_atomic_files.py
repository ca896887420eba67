"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from benchmark.system import atomic_files
from benchmark.system.atomic_files import check_writable, write_atomically
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_and_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "a.txt"
    for content in (b"one", b"two"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["a.txt"]


def test_what_can_not_be_written_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(self: Path, _: bytes) -> None:
        assert self == tmp_path / f".a.txt.{os.getpid()}.tmp", "as what is removed if this process is killed"
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(BenchError, match=rf"^can't write {path}: No space left on device$"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_can_be_written_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    asked = []
    monkeypatch.setattr(atomic_files.tempfile, "NamedTemporaryFile", lambda **how: asked.append(how) or nullcontext())
    check_writable(tmp_path)
    assert asked == [{"dir": tmp_path, "prefix": ".probe.", "suffix": f".{os.getpid()}.tmp"}]
    with pytest.raises(OSError, match="file"):
        check_writable(tmp_path / "file")
