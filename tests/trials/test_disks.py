"""Runs on a full or a read-only disk: an undisturbed run's bytes, or a reason and whole files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.trials.limits import numbers, trial
from tests.trials.processes import BENCH, Done, Running, Undisturbed, assert_tidy
from tests.trials.test_runs import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

#: What lies on a small disk, or on one that can't be written; "{disk}" is it.
PLACES = [
    {"out": "{disk}/run", "BENCH_CACHE": "{free}/store"},
    {"out": "{free}/run", "BENCH_CACHE": "{disk}/store"},
    {"out": "{disk}/run", "BENCH_CACHE": "{disk}/store", "TMPDIR": "{disk}", "HOME": "{disk}"},
    {"out": "{disk}/run", "BENCH_CACHE": "{disk}/store", "MPLCONFIGDIR": "{disk}/m", "NUMBA_CACHE_DIR": "{disk}/n"},
]
KB = (16, 100, 300, 500, 800, 1_200, 2_000, 4_000)
# A disk of its own, which no other process sees and which ends with its process; what is on it in the end is copied.
ON_DISK = """
mount -t tmpfs -o size="$SIZE" tmpfs "$DISK" || exit 99
[ "$MODE" = rw ] || mount -o remount,ro "$DISK" || exit 99
"$@"; code=$?
cp -a "$DISK/." "$FREE/copied"
exit $code
"""


def run_on_disk(experiment: Undisturbed, places: dict[str, str], size: str, mode: str, top: Path) -> tuple[Done, Path]:
    """Run an experiment with a disk of so many bytes, and find the folder of its results."""
    for name in ("disk", "free", "free/copied"):
        (top / name).mkdir()
    filled = {name: text.format(disk=top / "disk", free=top / "free") for name, text in places.items()}
    words = *BENCH, *experiment.words(Path(filled.pop("out")))
    variables = {**filled, "SIZE": size, "MODE": mode, "DISK": str(top / "disk"), "FREE": str(top / "free")}
    with Running(*words, command=("unshare", "--mount", "sh", "-c", ON_DISK, "sh"), **variables) as running:
        done = running.end()
    if done.code in (1, 99, 127) and ("unshare" in done.error or "mount" in done.error):
        pytest.skip("no disk of a few kB can be mounted here")
    done.assert_clear()
    return done, top / "free" / ("copied/run" if places["out"].startswith("{disk}") else "run")


@pytest.mark.parametrize("number", numbers(30, 1))
@trial(60)
def test_a_disk_that_fills_up(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    experiment, size = undisturbed(EVERY[number % len(EVERY)]), KB[number // 3 % len(KB)]
    done, out = run_on_disk(experiment, PLACES[number % len(PLACES)], f"{size}k", "rw", tmp_path)
    experiment.assert_whole(out)
    assert_tidy(out, out.parent / "store")
    if not done.code:
        experiment.assert_same(out, out.parent / "store")


@pytest.mark.parametrize("number", numbers(10, 1))
@trial(60)
def test_a_disk_that_cannot_be_written(number: int, undisturbed: Callable[[str], Undisturbed], tmp_path: Path) -> None:
    experiment, places = undisturbed(EVERY[number // len(PLACES) % len(EVERY)]), PLACES[number % len(PLACES)]
    done, out = run_on_disk(experiment, places, "1m", "ro", tmp_path)
    if places["out"].startswith("{disk}"):
        assert done.code == 1, "the results were not written"
    else:
        assert done.code == 0, done.error
        experiment.assert_same(out, out.parent / "store")
