"""Memory is the least that system, container and process have; numbers of the environment are positive and bounded."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmark.system import memory
from benchmark.system.errors import BenchError
from benchmark.system.threads import let_openmp_threads_sleep, n_processors


@pytest.mark.parametrize(("text", "number"), [(None, 4.0), ("2", 2.0), ("0", 0.0), ("1.5e1", 15.0), ("20", 20.0)])
def test_a_number_of_the_environment_goes_before_the_default(
    text: str | None, number: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCH_TRIED", raising=False)
    if text is not None:
        monkeypatch.setenv("BENCH_TRIED", text)
    assert memory.read_number("BENCH_TRIED", 4, "things", 20) == number
    assert memory.read_gigabytes("BENCH_TRIED", 4) == number * 1e9


@pytest.mark.parametrize(
    ("text", "largest"),
    [("-1", math.inf), ("", math.inf), ("nan", 20), ("inf", math.inf), ("20.5", 20), ("2e300", math.inf)],
)
def test_what_is_no_such_number_is_refused_with_one(text: str, largest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_TRIED", text)
    most = "" if math.isinf(largest) else ", at most 20"
    with pytest.raises(BenchError) as raised:
        memory.read_number("BENCH_TRIED", 4, "things", largest)
    assert str(raised.value) == f"BENCH_TRIED is {text!r}; it must be a number of things{most}, such as 4"


def test_this_process_has_a_peak() -> None:
    assert 1e7 < memory.peak_memory() <= memory.lifetime_peak_memory() < 1e13


def test_free_memory_is_the_least_of_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
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
    files["/proc/meminfo"] = "MemTotal: 9000 kB\n"
    assert memory.free_memory() == 1024


def test_threads_that_wait_sleep_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY")
    let_openmp_threads_sleep()
    assert memory.os.environ["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    let_openmp_threads_sleep()
    assert memory.os.environ["OMP_WAIT_POLICY"] == "active"
    assert n_processors() == len(memory.os.sched_getaffinity(0))
