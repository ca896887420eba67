"""Lines of progress: few, and the last one says that all is done."""

from __future__ import annotations

import re

import pytest

from benchmark.system import observer
from benchmark.system.observer import LineObserver


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def perf_counter(self) -> float:
        return self.seconds


def lines_of(steps: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said of so many steps of so many seconds each."""
    clock, lines = Clock(), list[str]()
    monkeypatch.setattr(observer, "time", clock)
    watching = LineObserver(lines.append, lines.append)
    watching.plan(steps)
    for index in range(steps):
        clock.seconds += seconds
        watching.step(f"mnb fold-{index}")
    return lines


@pytest.mark.parametrize(("steps", "seconds"), [(1, 100.0), (50, 0.001), (1000, 0.5), (3000, 10.0), (7, 60.0)])
def test_there_are_few_lines_and_the_last_says_that_all_is_done(steps, seconds, monkeypatch) -> None:
    lines = lines_of(steps, seconds, monkeypatch)
    assert lines[-1].startswith(f"{steps:,} of {steps:,} steps, {steps * seconds:.0f} s: ")
    assert 1 <= len(lines) <= 120
    done = [int(re.match(r"[\d,]+", line)[0].replace(",", "")) for line in lines]
    assert done == sorted(set(done))


def test_a_quick_run_is_one_line_and_a_slow_one_says_something_soon(monkeypatch) -> None:
    assert len(lines_of(200, 0.001, monkeypatch)) == 1
    assert lines_of(200, 1.0, monkeypatch)[0].startswith("1 of 200 steps")


def test_steps_that_follow_are_estimated_anew_with_each_plan() -> None:
    lines, notes = list[str](), list[str]()
    watching = LineObserver(lines.append, notes.append)
    for later in (4, 2, 0):
        watching.plan(2, later=later)
        watching._last = -1e9  # long ago
        watching.step("mnb")
        watching.step("mnb")
    watching.step("one more than were planned")
    watching.note("the store is full")
    assert [re.sub(r", \d+ s", "", line) for line in lines] == [
        *("1 of 6 steps: mnb", "3 of 6 steps: mnb", "5 of 6 steps: mnb", "6 of 6 steps: mnb"),
        "7 of 7 steps: one more than were planned",
    ]
    assert notes == ["the store is full"]
