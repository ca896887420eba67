"""Workers that are killed at random moments, and whatever else may happen to a cluster: the bytes of a run at home."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from processes import BENCH, Running, configured, differing, leftovers
from trial import Family, Skipped, borrowed, chance

#: How many steps each has on text.
STEPS = {"quickstart": 40, "several-labels": 26, "selected-terms": 12, "chosen-curves": 6}
EVERY = ["quickstart", "several-labels", "quickstart", "selected-terms", "quickstart", "chosen-curves"]


def killed(number: int) -> str | None:
    """Kill workers, once or more, at moments between the start of the first and the last step."""
    if find_spec("distributed") is None:
        raise Skipped("Dask isn't installed")
    children = borrowed("parallel/conftest")["children"]
    random, shape, top = chance("cluster", number), EVERY[number % len(EVERY)], Path(tempfile.mkdtemp())
    words = "run", str(configured(shape)), "--out", str(top / "run"), "--jobs", "1", "--verbose", "--dask", "local:2"
    running = Running(*BENCH, *words, variables={"BENCH_CACHE": str(top / "store")})

    def workers() -> list[int]:
        return sorted(pid for pid in children(running.process.pid) if b"spawn_main" in command_of(pid))

    n_killed = 0
    for after in sorted(random.randrange(STEPS[shape] * 3 // 4) for _ in range(random.choice((1, 1, 2, 3)))):
        while running.process.poll() is None and (running.said().count(" s  ") < after or not workers()):
            time.sleep(0.002)
        time.sleep(random.uniform(0, 0.05 if after else 3))  # before the first step, libraries are loaded
        with suppress(ProcessLookupError, IndexError):
            os.kill(random.choice(workers()), signal.SIGKILL)
            n_killed += 1
    done = running.end()
    if done.code or "damaged" in done.error:
        return f"{shape}: exit code {done.code}: {done.error}"
    if not n_killed:
        return f"{shape}: it ended before a worker could be killed"
    return differing(top / "run", shape) or leftovers(top / "run", top / "store")


def command_of(pid: int) -> bytes:
    """What a process was started with; nothing of one that has gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


FAMILIES = [
    Family(
        "cluster",
        "SIGKILL of one or more workers at random moments: the bytes of a run without a cluster",
        killed,
        20,
        2,
        300,
    ),
]
