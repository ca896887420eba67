"""Small experiments on the generated corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.store import Store
from benchmark.system.observer import Observer

if TYPE_CHECKING:
    from pathlib import Path


class Notebook(Observer):
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.planned = 0
        self.steps: list[str] = []
        self.notes: list[str] = []

    def plan(self, steps: int, later: int = 0) -> None:
        self.planned += steps

    def step(self, done: str, *, stored: bool = False) -> None:
        self.steps.append(done)

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def store(tmp_path: Path, notebook: Notebook) -> Store:
    return Store(tmp_path / "store", limit=10**9, warn=notebook.note)
