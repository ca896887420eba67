"""`bench` in a process of its own, and small experiments of every shape that nothing has happened to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.cli.test_kinds import SHAPES as SHAPES_WITH_SECONDS
from tests.experiment.test_resilience import contents
from tests.perf.measure import peak_memory
from tests.trials.limits import TRACEBACK, assert_clear

if TYPE_CHECKING:
    from types import TracebackType

REPOSITORY = Path(__file__).parents[2]
BENCH = (sys.executable, "-m", "benchmark.cli")
#: As a person's command finds it, before the tests change it.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "BENCH_TRUST": "1"}
#: Where a figure shows seconds, no two runs are alike.
_SECONDS = ", {name: figure-2, y: seconds, log_y: true}"
SHAPES = {name: text.replace(_SECONDS, "") for name, text in SHAPES_WITH_SECONDS.items()}
#: What takes seconds, so that much can happen meanwhile.
LARGER = {"quickstart": (REPOSITORY / "configs" / "quickstart.yaml").read_text().replace("\nname: quickstart\n", "\n")}


@dataclass(frozen=True)
class Done:
    """The exit code of a process that has ended (a signal's is negative), its output, and its peak memory in GB."""

    code: int
    out: str
    error: str
    peak: float

    def assert_clear(self) -> None:
        """Fail unless it ended as a command must: with 0, or with a clear message."""
        assert TRACEBACK not in self.out + self.error, self.error[-2_000:]
        assert self.code >= 0, f"ended by the signal {-self.code}"
        if self.code:
            assert_clear(self.error)


class Running:
    """A process of `bench`, or of another command; it is killed where the trial fails."""

    def __init__(
        self, *words: str | Path, command: tuple[str, ...] = BENCH, folder: Path = REPOSITORY, **variables: str
    ) -> None:
        self._out, self._error = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - until it ends
        self.process = subprocess.Popen(
            [*command, *map(str, words)],
            cwd=folder,
            env=ENVIRONMENT | variables,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._error,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def said(self) -> str:
        """Return what the process has written to standard error so far."""
        return os.pread(self._error.fileno(), 1 << 24, 0).decode(errors="replace")

    def end(self) -> Done:
        """Wait for the process."""
        # The system's own account of a child begins with the memory of the process that it was forked from.
        peak = peak_memory(self.process)
        out, error = os.pread(self._out.fileno(), 1 << 24, 0).decode(errors="replace"), self.said()
        self._out.close()
        self._error.close()
        return Done(self.process.returncode, out, error, peak)


def bench(*words: str | Path, folder: Path = REPOSITORY, **variables: str) -> Done:
    """Run a command from start to end."""
    with Running(*words, folder=folder, **variables) as running:
        return running.end()


@dataclass(frozen=True)
class Undisturbed:
    """The folder of a small experiment that was run and that nothing happened to."""

    folder: Path

    @property
    def configuration(self) -> Path:
        return self.folder / "small.yaml"

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def seconds(self) -> float:
        """Seconds of the run."""
        return float((self.folder / "seconds").read_text())

    def words(self, out: Path) -> tuple[str | Path, ...]:
        """Return the command that runs the experiment."""
        return "run", self.configuration, "--out", out, "--jobs", "1"

    def assert_whole(self, out: Path) -> None:
        """Fail where a file with its final name differs from this run's; some may be missing."""
        found, expected = _shown(out) if out.exists() else {}, _shown(self.run)
        assert not [name for name, content in found.items() if expected.get(name) != content]

    def assert_same(self, out: Path, store: Path) -> None:
        """Fail unless all files equal this run's, and no temporary ones are left."""
        self.assert_whole(out)
        assert set(_shown(out)) == set(_shown(self.run))
        assert_tidy(out, store)


def assert_tidy(out: Path, store: Path) -> None:
    """Fail where a temporary file is left."""
    assert not [*out.glob(".*"), *(store / "parts").glob("*")]


def _shown(folder: Path) -> dict[str, bytes]:
    """Read the files of a run that don't depend on when it was made."""
    return {name: content for name, content in contents(folder).items() if not name.startswith(".")}
