"""Files are replaced as a whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_as_a_whole_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "deeper" / "a.txt"
    for content in (b"one", b"two"):
        write_atomically(path, content)
        assert path.read_bytes() == content

    def full(self: Path, _: bytes) -> None:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(BenchError, match=rf"^can't write {path}: No space left on device$"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["a.txt"]
