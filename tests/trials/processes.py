"""A small experiment of every shape that nothing has happened to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.processes import contents_of
from tests.shapes import SHAPES as SHAPES_WITH_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Experiments of which two runs are alike: no figure shows seconds.
SHAPES = {
    name: SHAPES_WITH_SECONDS[name].replace(", {name: figure-2, y: seconds, log_y: true}", "")
    for name in ("table", "curves", "several", "centroids")
}


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
        assert not [name for name, each in found.items() if "/." not in f"/{name}" and expected.get(name) != each]

    def assert_same(self, out: Path) -> None:
        """Fail unless all files equal this run's; a killed process may leave hidden ones."""
        found = {name: content for name, content in contents_of(out).items() if "/." not in f"/{name}"}
        assert found == contents_of(self.run)
