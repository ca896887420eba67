"""Runs that are killed, that share a store and a folder, or whose disk is full: nothing is lost, nothing invented."""

from __future__ import annotations

import signal
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trials.limits import examples
from tests.trials.processes import BENCH, SHAPES, Done, Running, Undisturbed, assert_tidy, bench

if TYPE_CHECKING:
    from collections.abc import Callable

#: When a run is killed: at a share of its seconds, or as soon as a file is there.
MOMENTS = st.floats(0.3, 1) | st.sampled_from([("run", ".*"), ("store/parts", "*"), ("run", "[!.]*")])
#: What lies on a small disk, or on one that can't be written; "{disk}" is it.
PLACES = [
    {"out": "{disk}/run", "BENCH_CACHE": "{free}/store"},
    {"out": "{free}/run", "BENCH_CACHE": "{disk}/store"},
    {"out": "{disk}/run", "BENCH_CACHE": "{disk}/store", "TMPDIR": "{disk}", "HOME": "{disk}"},
    {"out": "{disk}/run", "BENCH_CACHE": "{disk}/store", "NUMBA_CACHE_DIR": "{disk}/n"},
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


@examples(30, shrink=False)
@given(shape=st.sampled_from(sorted(SHAPES)), moments=st.lists(MOMENTS, min_size=1, max_size=2))
def test_a_killed_run_is_resumed(
    undisturbed: Callable[[str], Undisturbed], shape: str, moments: list[float | tuple[str, str]]
) -> None:
    """The same command again ends as undisturbed."""
    expected = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for moment in moments:
            with Running(*expected.words(top / "run"), BENCH_CACHE=str(top / "store")) as running:
                if isinstance(moment, float):
                    time.sleep(expected.seconds * moment)
                else:
                    while running.process.poll() is None and not next((top / moment[0]).glob(moment[1]), None):
                        pass
                running.process.send_signal(signal.SIGKILL)
                running.end()
            expected.assert_whole(top / "run")
        done = bench(*expected.words(top / "run"), BENCH_CACHE=str(top / "store"))
        assert not done.code, done.error
        assert "damaged" not in done.error
        expected.assert_same(top / "run", top / "store")


@examples(6, shrink=False)
@given(shape=st.sampled_from(sorted(SHAPES)))
def test_four_runs_at_once_are_one(undisturbed: Callable[[str], Undisturbed], shape: str) -> None:
    expected = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        out, store = Path(folder) / "run", Path(folder) / "store"
        running = [stack.enter_context(Running(*expected.words(out), BENCH_CACHE=str(store))) for _ in range(4)]
        for done in [each.end() for each in running]:
            assert not done.code, done.error
            assert "damaged" not in done.error
            assert "no longer kept" not in done.error
        expected.assert_same(out, store)


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


@examples(30, shrink=False)
@given(shape=st.sampled_from(sorted(SHAPES)), size=st.sampled_from(KB), places=st.sampled_from(PLACES))
def test_a_disk_that_fills_up(
    undisturbed: Callable[[str], Undisturbed], shape: str, size: int, places: dict[str, str]
) -> None:
    """An undisturbed run's bytes, or a reason and whole files."""
    experiment = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        done, out = run_on_disk(experiment, places, f"{size}k", "rw", Path(folder))
        experiment.assert_whole(out)
        assert_tidy(out, out.parent / "store")
        if not done.code:
            experiment.assert_same(out, out.parent / "store")


@examples(10, shrink=False)
@given(shape=st.sampled_from(sorted(SHAPES)), places=st.sampled_from(PLACES))
def test_a_disk_that_cannot_be_written(
    undisturbed: Callable[[str], Undisturbed], shape: str, places: dict[str, str]
) -> None:
    experiment = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        done, out = run_on_disk(experiment, places, "1m", "ro", Path(folder))
        if places["out"].startswith("{disk}"):
            assert done.code == 1, "the results were not written"
        else:
            assert done.code == 0, done.error
            experiment.assert_same(out, out.parent / "store")
