"""Lines of progress: few, and the last one says that all is done."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmark.system import observer
from benchmark.system.observer import LineObserver


@pytest.mark.parametrize(("steps", "seconds"), [(1, 100.0), (200, 0.001), (200, 1.0), (3000, 10.0)])
def test_there_are_few_lines_and_the_last_says_that_all_is_done(steps, seconds, monkeypatch) -> None:
    passed, lines = [0.0], list[str]()
    monkeypatch.setattr(observer, "time", SimpleNamespace(perf_counter=lambda: passed[0]))
    watching = LineObserver(lines.append, lines.append)
    for planned, later in ((steps // 2, steps - steps // 2), (steps - steps // 2, 0)):
        watching.plan(planned, later=later)
        for index in range(planned):
            passed[0] += seconds
            watching.step(f"mnb fold-{index}")
    assert lines[-1].startswith(f"{steps:,} of {steps:,} steps, {steps * seconds:.0f} s: ")
    assert 1 <= len(lines) <= 120
    watching.step("one more than were planned")
    assert lines[-1].startswith(f"{steps + 1:,} of {steps + 1:,} steps, ")
