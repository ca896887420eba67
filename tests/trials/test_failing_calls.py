"""Runs in which a system call fails, on the store or on the run folder: an undisturbed run's bytes, or a reason."""

from __future__ import annotations

import functools
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.trials.faults import CALLS, ERRORS, Fault, counts_of
from tests.trials.limits import chance, numbers, trial
from tests.trials.processes import Done, Running, Undisturbed, bench
from tests.trials.test_runs import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Counted = Callable[[str, str, bool], dict[str, int]]

#: Shapes that are tried, of which each has other files.
SHAPES = EVERY[:3]
FULL = ("create", "write", "close", "mkdir")


def run(expected: Undisturbed, fault: Fault, out: Path, store: Path) -> Done:
    command = (sys.executable, "-m", "tests.trials.faults")
    with Running(*expected.words(out), command=command, BENCH_CACHE=str(store), **fault.variables()) as running:
        return running.end()


@pytest.fixture(scope="module")
def counted(undisturbed: Callable[[str], Undisturbed], tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """Return how often each call is made below the store or the run folder, with an empty or a full store."""

    @functools.cache
    def count(shape: str, below: str, warm: bool) -> dict[str, int]:
        top, expected = tmp_path_factory.mktemp("counted"), undisturbed(shape)
        if warm:
            shutil.copytree(expected.store, top / "store")
        done = run(expected, Fault(str(top / below), counts=str(top / "counts")), top / "run", top / "store")
        assert not done.code, done.error
        return counts_of(top / "counts")

    return count


def check_run(expected: Undisturbed, fault: Fault, out: Path, store: Path) -> None:
    """Fail unless the run did its work or said why not, and the next one does its work."""
    done = run(expected, fault, out, store)
    done.assert_clear()
    expected.assert_whole(out)
    if not done.code:
        assert (out / "scores.csv").read_bytes() == (expected.run / "scores.csv").read_bytes()
    again = bench(*expected.words(out), BENCH_CACHE=str(store))
    assert not again.code, again.error
    expected.assert_same(out, store)


@pytest.mark.parametrize("number", numbers(48, 1))
@trial(120)
def test_a_call_that_fails(
    number: int, undisturbed: Callable[[str], Undisturbed], counted: Counted, tmp_path: Path
) -> None:
    random = chance("failing calls", number)
    shape, below, warm = SHAPES[number % len(SHAPES)], random.choice(("store", "store", "run")), random.random() < 0.4
    calls = counted(shape, below, warm)
    call = random.choice([each for each in CALLS if calls.get(each)])
    lasts = random.random() < 0.5
    fault = Fault(str(tmp_path / below), (call,), random.randint(1, calls[call]), random.choice(ERRORS), lasts=lasts)
    expected = undisturbed(shape)
    if warm:
        shutil.copytree(expected.store, tmp_path / "store")
    check_run(expected, fault, tmp_path / "run", tmp_path / "store")


@pytest.mark.parametrize("number", numbers(48, 1))
@trial(120)
def test_a_disk_that_is_full_from_some_write_on(
    number: int, undisturbed: Callable[[str], Undisturbed], counted: Counted, tmp_path: Path
) -> None:
    number, side = divmod(number, 2)
    shape, below = SHAPES[number % len(SHAPES)], ("store", "run")[side]
    calls = counted(shape, below, False)
    most = sum(calls.get(each, 0) for each in FULL)
    fault = Fault(str(tmp_path / below), FULL, 1 + number // len(SHAPES) * 3 % most, "ENOSPC", lasts=True)
    check_run(undisturbed(shape), fault, tmp_path / "run", tmp_path / "store")
