"""Small experiments on the generated corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmark.experiment.store import Store
from tests.builders import Notebook

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def store(tmp_path: Path, notebook: Notebook) -> Store:
    return Store(tmp_path / "store", limit=10**9, warn=notebook.note)
