"""However a plug-in comes by what it computes: after a change, a run with an old store gives what a new store does."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.system.observer import Observer
from tests.plugins.ways import REASONS, WAYS, Way, change, written
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Iterator


class Notes(Observer):
    """What is said of plug-ins."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A folder and a command line that may be changed."""
    monkeypatch.delenv("MY_SHIFT", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "argv", ["bench"])
    before = Path.cwd()
    yield
    os.chdir(before)
    os.environ.pop("MY_SHIFT", None)


def decided(config: Path, store: Path) -> tuple[Any, list[str]]:
    """The decisions of a run with this store, and what was said."""
    observer = Notes()
    done = run_experiment(load_checked(config), RunContext(Store(store, limit=10**9), observer=observer))
    assert not done.failures, done.failures
    return np.concatenate([each.by_split[0] for each in done.predictions.settings.values()]), observer.notes


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", mostly_slow(WAYS, 22))
def test_a_change_is_seen(name: str, tmp_path: Path) -> None:
    way, folder = WAYS[name], tmp_path / "folder"
    config, old = written(way, folder), tmp_path / "old"
    first, notes = decided(config, old)
    again, _ = decided(config, old)
    assert np.array_equal(first, again)
    change(name, way, folder)
    after, _ = decided(config, old)
    shutil.rmtree(old)
    fresh, _ = decided(config, tmp_path / "new")
    changed = not np.array_equal(first, fresh)
    assert changed, "the change must change something"
    right = np.array_equal(after, fresh)
    assert right, f"a stale result; {notes}"
    reason = REASONS.get(name.partition(",")[0], "")
    said = [note for note in notes if "aren't stored" in note]
    assert len(said) == bool(reason)
    assert all(reason in note for note in said)


@pytest.mark.usefixtures("process")
def test_a_component_may_say_that_it_is_not_stored(tmp_path: Path) -> None:
    way = Way("import time\nSHIFT = 0", tail="\nMine.stored = False\n")
    config = written(way, tmp_path / "folder")
    _, notes = decided(config, tmp_path / "store")
    assert [note for note in notes if "says `stored = False`" in note]
    done = run_experiment(load_checked(config), RunContext(Store(tmp_path / "store", limit=10**9)))
    assert not done.stored


@pytest.mark.usefixtures("process")
def test_what_can_be_stored_is(tmp_path: Path) -> None:
    config = written(WAYS["json, at work"], tmp_path / "folder")
    decided(config, tmp_path / "store")
    done = run_experiment(load_checked(config), RunContext(Store(tmp_path / "store", limit=10**9)))
    assert done.stored == set(done.predictions.settings)


@pytest.mark.usefixtures("process")
def test_a_file_that_changes_while_it_works_is_not_stored(tmp_path: Path) -> None:
    edit = "len([(HERE / 'data.txt').read_text(), (HERE / 'data.txt').open('a').write('9')]) - 2"
    config = written(Way("", edit, files={"data.txt": "0"}), tmp_path / "folder")
    _, notes = decided(config, tmp_path / "store")
    assert any("data.txt, which changed meanwhile" in note for note in notes)
