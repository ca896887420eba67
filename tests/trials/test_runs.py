"""Runs that are killed, or that share a store and a folder: nothing is lost, nothing invented."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.trials.limits import chance, numbers, trial
from tests.trials.processes import SHAPES, Running, Undisturbed, bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ORDER = ["table", "chosen-curves", "several-labels", "points", "selected-terms", "centroids"]
EVERY = [*ORDER, *sorted(set(SHAPES) - set(ORDER))]


@pytest.mark.parametrize("number", numbers(36, 1))
@trial(240)
def test_a_killed_run_is_resumed(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    """Kill a run, at a moment of its time or at a sign of its writing; the same command again ends as undisturbed."""
    random, expected = chance("kill", number), undisturbed(EVERY[number % len(EVERY)])
    out, store = tmp_path / "run", tmp_path / "store"
    for _ in range(random.choice((1, 1, 2))):
        with Running(*expected.words(out), BENCH_CACHE=str(store)) as running:
            if random.random() < 0.5:
                time.sleep(expected.seconds * random.uniform(0.4, 1.0))
            else:
                place, pattern = random.choice(((out, ".*"), (store / "parts", "*"), (out, "[!.]*")))
                while running.process.poll() is None and not next(place.glob(pattern), None):
                    pass
            running.process.send_signal(signal.SIGKILL)
            running.end()
        expected.assert_whole(out)
    done = bench(*expected.words(out), BENCH_CACHE=str(store))
    assert not done.code, done.error
    assert "damaged" not in done.error
    expected.assert_same(out, store)


@pytest.mark.parametrize("number", numbers(6, 1))
@trial(240)
def test_four_runs_at_once_are_one(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    expected, out, store = undisturbed(EVERY[number % len(EVERY)]), tmp_path / "run", tmp_path / "store"
    with ExitStack() as stack:
        running = [stack.enter_context(Running(*expected.words(out), BENCH_CACHE=str(store))) for _ in range(4)]
        for done in [each.end() for each in running]:
            assert not done.code, done.error
            assert "damaged" not in done.error
            assert "no longer kept" not in done.error
    expected.assert_same(out, store)
