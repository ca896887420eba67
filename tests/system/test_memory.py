"""Memory is the least that system, container and process have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.system import memory
from benchmark.system.threads import let_openmp_threads_sleep

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


def test_threads_that_wait_sleep_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY")
    for said, heeded in ((None, "passive"), ("active", "active")):
        if said:
            monkeypatch.setenv("OMP_WAIT_POLICY", said)
        let_openmp_threads_sleep()
        assert memory.os.environ["OMP_WAIT_POLICY"] == heeded
