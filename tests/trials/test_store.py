"""Damage to what the store keeps: it changes no score, and is mended."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from tests.strategies import one
from tests.trials.limits import examples, trial
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

KEEPING = sorted(SHAPES)
KINDS = ("bit", "bit", "bit", "byte", "run", "cut", "longer", "empty", "another", "link", "folder")


def damage(draw: Any, path: Path, entries: list[Path]) -> None:
    """Change an entry, or put something else in its place."""
    content, other = bytearray(path.read_bytes()), one(draw, entries).read_bytes()
    at = draw(st.integers(0, len(content) - 1))
    path.unlink()
    match one(draw, KINDS):
        case "bit":
            content[at] ^= 1 << draw(st.integers(0, 7))
        case "byte":
            content[at] ^= draw(st.integers(1, 255))
        case "run":
            content[at : at + 64] = bytes(len(content[at : at + 64]))
        case "cut":
            del content[at:]
        case "longer":
            content += content[:at]
        case "empty":
            content.clear()
        case "another":
            content = bytearray(other)
        case "link":
            path.symlink_to("/dev/zero")
            return
        case "folder":
            path.mkdir()
            return
    path.write_bytes(content)


@examples(120, 6)
@given(shape=st.sampled_from(KEEPING), data=st.data())
@trial(60)
def test_damaged_entries_change_nothing(undisturbed: Callable[[str], Undisturbed], shape: str, data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top, expected = Path(folder), undisturbed(shape)
        shutil.copytree(expected.store, top / "store")
        entries = sorted(expected.store.glob("??/*"))
        number = data.draw(st.sampled_from((1, 1, 1, 3, len(entries))))
        places = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=number, max_size=number, unique=True))
        for place in places:
            damage(data.draw, top / entries[place].relative_to(expected.folder), entries)
        told: list[str] = []
        run_and_write(
            load_checked(expected.configuration), RunContext(Store(top / "store", warn=told.append)), folder=top / "run"
        )
        expected.assert_same(top / "run", top / "store")
