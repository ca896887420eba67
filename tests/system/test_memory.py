"""Memory is the least that system, container and process have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.system import memory

if TYPE_CHECKING:
    import pytest


def test_free_memory_is_the_least_of_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1e7 < memory.peak_memory() <= memory.lifetime_peak_memory() < 1e13
    files = {"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    3000 kB\n", "/sys/fs/cgroup/memory.max": "max\n"}

    def read(self: Path) -> str:
        if str(self) not in files:
            raise FileNotFoundError(2, "No such file", str(self))
        return files[str(self)]

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(memory, "memory_limit", lambda: math.inf)
    assert memory.free_memory() == 3000 * 1024
    files["/sys/fs/cgroup/memory.max"] = "2048\n"
    assert memory.free_memory() == 2048
    monkeypatch.setattr(memory, "memory_limit", lambda: 1024.0)
    assert memory.free_memory() == 1024
    files.clear()
    assert memory.free_memory() == 1024
