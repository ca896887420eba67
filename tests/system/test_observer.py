"""Lines of progress: few, and the last one says that all is done."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from benchmark.system import observer
from benchmark.system.observer import LineObserver


@pytest.mark.parametrize(
    ("steps", "seconds", "first"),
    [(1, 100.0, 1), (50, 0.001, 50), (200, 0.001, 200), (200, 1.0, 1), (1000, 0.5, 2), (3000, 10.0, 1)],
)
def test_there_are_few_lines_and_the_last_says_that_all_is_done(steps, seconds, first, monkeypatch) -> None:
    passed, lines, notes = [0.0], list[str](), list[str]()
    monkeypatch.setattr(observer, "time", SimpleNamespace(perf_counter=lambda: passed[0]))
    watching = LineObserver(lines.append, notes.append)
    for planned, later in ((steps // 2, steps - steps // 2), (steps - steps // 2, 0)):
        watching.plan(planned, later=later)
        for index in range(planned):
            passed[0] += seconds
            watching.step(f"mnb fold-{index}")
    assert lines[-1].startswith(f"{steps:,} of {steps:,} steps, {steps * seconds:.0f} s: ")
    assert 1 <= len(lines) <= 120
    done = [int(re.match(r"[\d,]+", line)[0].replace(",", "")) for line in lines]
    assert (done[0], done) == (first, sorted(set(done)))
    watching.step("one more than were planned")
    watching.note("the store is full")
    assert lines[-1].startswith(f"{steps + 1:,} of {steps + 1:,} steps, ")
    assert notes == ["the store is full"]
