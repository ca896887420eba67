"""Runs that are killed, that share a store and a folder, or whose files are damaged: nothing is lost or invented."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.evaluation.predictions import RUN_FILES
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from tests.processes import Process
from tests.strategies import damaged, one
from tests.trials.limits import assert_clear, examples
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHAPE = st.sampled_from(sorted(SHAPES))
#: When a run is killed: after so many seconds, or as soon as a file is there.
MOMENTS = st.floats(1, 4) | st.sampled_from([("run", ".*"), ("store", "*/.*"), ("run", "[!.]*")])
TOKENS = [b"{", b"}", b'"', b",", b"null", b"NaN", b"1e999", b"\\ud800", b"\xff", b"\0" * 40, b"PAR1"]


def start(words: Sequence[str], store: Path) -> Process:
    return Process(*words, variables={"BENCH_CACHE": str(store)})


@examples(30, shrink=False)
@given(shape=SHAPE, moments=st.lists(MOMENTS, min_size=1, max_size=2))
def test_a_killed_run_is_resumed_even_twice_at_once(
    undisturbed: Callable[[str], Undisturbed], shape: str, moments: list[float | tuple[str, str]]
) -> None:
    """The same command again, also two of it, ends as undisturbed."""
    expected = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for moment in moments:
            with start(expected.words(top / "run"), top / "store") as running:
                if isinstance(moment, float):
                    time.sleep(moment)
                else:
                    while running.returncode is None and not next((top / moment[0]).glob(moment[1]), None):
                        pass
                running.send_signal(signal.SIGKILL)
            expected.assert_whole(top / "run")
        again = [start(expected.words(top / "run"), top / "store") for _ in range(2)]
        for code, _, error in [each.finish() for each in again]:
            assert not code, error
            assert "damaged" not in error
            assert "no longer kept" not in error
        expected.assert_same(top / "run")


# Damage


def damage(draw: Any, path: Path, entries: list[Path]) -> None:
    """Change a stored entry, or put another one, a link or a folder in its place."""
    content, kind = path.read_bytes(), draw(st.integers(0, 7))
    path.unlink()
    if kind == 0:
        path.symlink_to("/dev/zero")
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.write_bytes(one(draw, entries).read_bytes())
    else:
        path.write_bytes(draw(damaged([content], [b"\0" * 64, b"\xff"])))


@examples(50)
@given(shape=SHAPE, data=st.data())
def test_damaged_entries_of_the_store_change_nothing(
    undisturbed: Callable[[str], Undisturbed], shape: str, data: Any
) -> None:
    expected = undisturbed(shape)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(shutil.copytree(expected.store, Path(folder) / "store")).parent
        entries = sorted(expected.store.glob("??/*"))
        for path in data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=3, unique=True)):
            damage(data.draw, top / path.relative_to(expected.folder), entries)
        context = RunContext(Store(top / "store", warn=lambda _: None))
        run_and_write(load_checked(expected.configuration), context, folder=top / "run")
        expected.assert_same(top / "run")


@examples(100)
@given(shape=SHAPE, name=st.sampled_from(["manifest.json", *RUN_FILES]), data=st.data())
def test_a_damaged_run_gives_a_reason_or_its_own_numbers(
    undisturbed: Callable[[str], Undisturbed], shape: str, name: str, data: Any
) -> None:
    original = undisturbed(shape).run
    scores = (original / "scores.csv").read_bytes()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(original, Path(top) / "run"))
        (folder / name).write_bytes(data.draw(damaged([(original / name).read_bytes()], TOKENS)))
        for words in (["report", folder], ["compare", folder, original]):
            done = CliRunner().invoke(app, [str(word) for word in words])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            if done.exit_code:
                assert_clear(done.output)
        assert (folder / "scores.csv").read_bytes() == scores
