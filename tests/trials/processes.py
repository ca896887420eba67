"""`bench` in a process of its own, and small experiments of every shape that nothing has happened to."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trial import REPOSITORY, borrowed, once, unclear

if TYPE_CHECKING:
    from collections.abc import Mapping

BENCH = (sys.executable, "-m", "benchmark.cli")
#: Where a figure shows seconds, no two runs are alike.
_SECONDS = ", {name: figure-2, y: seconds, log_y: true}"
SHAPES = {name: text.replace(_SECONDS, "") for name, text in borrowed("cli/test_kinds")["SHAPES"].items()}
#: What takes seconds, so that much can happen meanwhile.
LARGER = {"quickstart": (REPOSITORY / "configs" / "quickstart.yaml").read_text().replace("\nname: quickstart\n", "\n")}
BOUNDARIES = "decision-boundaries"
PREDICTIONS = "predictions.npz"


@dataclass(frozen=True)
class Done:
    """A process that has ended: exit code (a signal's is negative), what it said, seconds, and peak memory in GB."""

    code: int
    out: str
    error: str
    seconds: float
    peak: float

    @property
    def unclear(self) -> str | None:
        """Why it didn't end as a command must: with 0, or with a clear message."""
        if "Traceback (most recent call last)" in self.out + self.error:
            return f"a traceback, exit code {self.code}:\n{self.error[-2_000:]}"
        if self.code < 0:
            return f"ended by the signal {-self.code}"
        return unclear(self.error) if self.code else None


class Running:
    """A command that has been started."""

    def __init__(self, *words: str, folder: Path = REPOSITORY, variables: Mapping[str, str] | None = None) -> None:
        self._said = Path(tempfile.mkdtemp())
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **(variables or {})}
        self._started = time.monotonic()
        with (self._said / "out").open("wb") as out, (self._said / "error").open("wb") as error:
            self.process = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=error
            )

    def said(self) -> str:
        """What it has said on standard error so far."""
        return (self._said / "error").read_text(errors="replace")

    def end(self) -> Done:
        """Wait for it."""
        # The system's own account of a child begins with the memory of the process that it was forked from.
        peak = borrowed("perf/measure")["peak_memory"](self.process)
        seconds = time.monotonic() - self._started
        out, error = ((self._said / name).read_bytes().decode(errors="replace") for name in ("out", "error"))
        return Done(self.process.returncode, out, error, seconds, peak)


def bench(*words: str | Path, **options: Any) -> Done:
    """A command from start to end."""
    return Running(*BENCH, *map(str, words), **options).end()


@functools.cache
def configured(shape: str) -> Path:
    """The configuration of a small experiment."""
    return undisturbed(shape) / "small.yaml"


@functools.cache
def undisturbed(shape: str) -> Path:
    """A folder that holds a small experiment: small.yaml, run/, store/, and the seconds that it took."""

    def make(folder: Path) -> None:
        (folder / "small.yaml").write_text(f"name: small\n{(SHAPES | LARGER)[shape]}", encoding="utf-8")
        words = "run", folder / "small.yaml", "--out", folder / "run", "--jobs", "1"
        done = bench(*words, variables={"BENCH_CACHE": str(folder / "store")})
        if done.code:
            raise RuntimeError(f"the {shape} experiment doesn't run: {done.error}")
        (folder / "seconds").write_text(str(done.seconds))

    return once(shape, make)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run that are the same whenever it is made."""
    found: dict[str, bytes] = borrowed("experiment/test_resilience")["contents"](folder)
    return {name: content for name, content in found.items() if not name.startswith(".")}


def differing(folder: Path, shape: str) -> str | None:
    """Which files of a run are not those of the undisturbed one."""
    found, expected = contents(folder), contents(undisturbed(shape) / "run")
    wrong = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    return f"other files than undisturbed: {', '.join(wrong)}" if wrong else None


def leftovers(folder: Path, store: Path) -> str | None:
    """Temporary files that are still there."""
    hidden = sorted(path.name for path in folder.glob(".*"))
    parts = sorted(path.name for path in (store / "parts").glob("*"))
    return f"left behind: {', '.join([*hidden, *parts])}" if hidden or parts else None
