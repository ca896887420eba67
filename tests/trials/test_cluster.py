"""Schedulers and workers that are killed or stopped at random moments: the bytes of a run without a cluster."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.trials.limits import chance, numbers, trial
from tests.trials.processes import Running, Undisturbed, bench
from tests.workers.clusters import Dask, children

if TYPE_CHECKING:
    from collections.abc import Callable

#: How many steps each has on text.
STEPS = {"quickstart": 40, "several-labels": 26, "selected-terms": 12, "chosen-curves": 6}
EVERY = ["quickstart", "several-labels", "quickstart", "selected-terms", "quickstart", "chosen-curves"]


def workers(pid: int) -> list[int]:
    """Find the worker processes of a run."""
    found = []
    for each in sorted(children(pid)):
        with suppress(OSError):  # it may have gone
            found += [each] if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes() else []
    return found


@pytest.mark.parametrize("number", numbers(20, 1))
@trial(300)
def test_killed_workers_change_nothing(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    """Kill workers, once or more, at moments between the start of the first and the last step."""
    pytest.importorskip("distributed")
    random, shape, out, store = (
        chance("cluster", number),
        EVERY[number % len(EVERY)],
        tmp_path / "run",
        tmp_path / "store",
    )
    expected, killed = undisturbed(shape), 0
    with Running(*expected.words(out), "--verbose", "--dask", "local:2", BENCH_CACHE=str(store)) as running:
        pid = running.process.pid
        for after in sorted(random.randrange(STEPS[shape] * 3 // 4) for _ in range(random.choice((1, 1, 2, 3)))):
            while running.process.poll() is None and (running.said().count(" s  ") < after or not workers(pid)):
                time.sleep(0.002)
            time.sleep(random.uniform(0, 0.05 if after else 3))  # before the first step, libraries are loaded
            with suppress(ProcessLookupError, IndexError):
                os.kill(random.choice(workers(pid)), signal.SIGKILL)
                killed += 1
        done = running.end()
    assert not done.code, done.error
    assert "damaged" not in done.error
    assert killed, "it ended before a worker could be killed"
    expected.assert_same(out, store)


#: What may befall a process: it ends, or stops for some seconds.
ACTIONS = ("kill", "stop and go on")
#: Seconds for which a process stops, and that all failures together may add to a run.
STOPPED, LONGEST = 10, 60


@pytest.mark.parametrize("number", numbers(24, 1))
@trial(300)
def test_whatever_befalls_a_scheduler_and_its_workers(
    number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    """Kill or stop the scheduler or workers, also before the client comes: the bytes, or a line with a way out."""
    pytest.importorskip("distributed")
    random, shape = chance("scheduler", number), EVERY[number % len(EVERY)]
    expected, out, store = undisturbed(shape), tmp_path / "run", tmp_path / "store"
    dask = Dask()
    try:
        dask.employ(random.choice((1, 2)))
        command = "run", expected.configuration, "--out", out, "--jobs", "1", "--dask", dask.address
        started = time.monotonic()
        with Running(*command, BENCH_CACHE=str(store)) as running:
            for _ in range(random.choice((1, 1, 2))):
                time.sleep(random.uniform(0, expected.seconds))
                process = random.choice((dask.scheduler, *dask.workers))
                action = random.choice(ACTIONS)
                process.send_signal(signal.SIGKILL if action == "kill" else signal.SIGSTOP)
                if action == "stop and go on":
                    time.sleep(random.uniform(0, STOPPED))
                    process.send_signal(signal.SIGCONT)
            done = running.end()
    finally:
        dask.end()
    done.assert_clear()
    assert time.monotonic() - started < 3 * expected.seconds + LONGEST
    if done.code:
        assert done.code == 1
        assert "without --dask" in done.error
        done = bench(*expected.words(out), BENCH_CACHE=str(store))
    assert not done.code, done.error
    expected.assert_same(out, store)
