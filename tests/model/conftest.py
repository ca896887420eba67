"""Models of small experiments on the generated corpus, and where they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from benchmark.model.persistence import load_model, write_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.model.text_model import TextClassifier


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("models"), limit=10**9)


@pytest.fixture(scope="session")
def fitted(store: Store) -> Callable[..., TextClassifier]:
    def fit(experiment: Experiment, cell: str | None = None, **options: Any) -> TextClassifier:
        return fit_model(experiment, cell or experiment.ids[0], RunContext(store), **options)

    return fit


@pytest.fixture
def loaded(fitted: Callable[..., TextClassifier], tmp_path: Path) -> Callable[..., TextClassifier]:
    """Fit, write and read again."""

    def fit(experiment: Experiment, cell: str | None = None, **options: Any) -> TextClassifier:
        folder = tmp_path / f"model-{len(list(tmp_path.iterdir()))}"
        write_model(fitted(experiment, cell, **options), folder)
        return load_model(folder)

    return fit
