"""`bench` in a process of its own, and a small experiment of every shape that nothing has happened to."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.test_kinds import SHAPES as SHAPES_WITH_SECONDS
from tests.processes import Process, contents_of
from tests.trials.limits import TRACEBACK, assert_clear

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where a figure shows seconds, no two runs are alike.
SHAPES = {
    name: text.replace(", {name: figure-2, y: seconds, log_y: true}", "") for name, text in SHAPES_WITH_SECONDS.items()
}
#: Writes the process's peak memory to a file: the system's account of a child begins with the memory of its parent.
MEASURED = """
import atexit, sys
from pathlib import Path
from benchmark.cli import main
from benchmark.system.memory import lifetime_peak_memory
path = Path(sys.argv.pop(1))
atexit.register(lambda: path.write_text(str(lifetime_peak_memory() / 1e9)))
main()
"""


class Done(NamedTuple):
    """Exit code of a process (a signal's is negative), its output, and its peak memory in GB."""

    code: int
    out: str
    error: str
    peak: float = 0.0

    def assert_clear(self) -> None:
        """Fail unless it ended as a command must: with 0, or with a clear message."""
        assert TRACEBACK not in self.out + self.error, self.error[-2_000:]
        assert self.code >= 0, f"ended by the signal {-self.code}"
        if self.code:
            assert_clear(self.error)


def bench(*words: str | Path, folder: Path | None = None, **variables: str) -> Done:
    """Run a command from start to end."""
    with tempfile.TemporaryDirectory() as top:
        peak = Path(top) / "peak"
        code, out, error = Process(
            str(peak), *map(str, words), code=MEASURED, folder=folder, variables=variables
        ).finish()
        assert code is not None
        return Done(code, out, error, float(peak.read_text()) if peak.exists() else 0.0)


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

    def words(self, out: Path) -> Sequence[str]:
        """Return the command that runs the experiment."""
        return "run", str(self.configuration), "--out", str(out), "--jobs", "1"

    def assert_whole(self, out: Path) -> None:
        """Fail where a file with its final name differs from this run's; some may be missing."""
        found, expected = contents_of(out) if out.exists() else {}, contents_of(self.run)
        assert not [name for name, each in found.items() if not name.startswith(".") and expected.get(name) != each]

    def assert_same(self, out: Path, store: Path) -> None:
        """Fail unless all files equal this run's, and no temporary ones are left."""
        assert_tidy(out, store)
        assert contents_of(out) == contents_of(self.run)


def assert_tidy(out: Path, store: Path) -> None:
    """Fail where a temporary file is left."""
    assert not [*out.glob(".*"), *(store / "parts").glob("*")]
