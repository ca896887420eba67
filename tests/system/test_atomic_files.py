"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import pytest

from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_as_a_whole_or_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "a.txt"
    for content in (b"one", b"two"):
        write_atomically(path, content)
        assert path.read_bytes() == content

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        with pytest.raises(BenchError, match=rf"^can't write {path}: File too large$"):
            write_atomically(path, b"new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["a.txt"]
