"""Small experiments on the generated corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from pathlib import Path


class Notebook:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.planned = 0
        self.steps: list[str] = []
        self.notes: list[str] = []

    def plan(self, steps: int) -> None:
        self.planned += steps

    def step(self, done: str) -> None:
        self.steps.append(done)

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def store(tmp_path: Path, notebook: Notebook) -> Store:
    return Store(tmp_path / "store", limit=10**9, warn=notebook.note)
