"""Models of small experiments on the generated corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmark.corpora import registry
from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.model.fitting import fit_model
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import Experiment
    from benchmark.model.kept import KeptModel

TEXT = {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 100}


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("models"), limit=10**9)


@pytest.fixture(scope="session")
def texts() -> Callable[[str | None], dict[str, bytes]]:
    """The documents of the generated corpus by their names."""

    def texts(subset: str | None = None) -> dict[str, bytes]:
        corpus = registry.load("synthetic", subset=subset)
        return dict(zip(corpus.documents.ids, corpus, strict=True))

    return texts


@pytest.fixture(scope="session")
def study() -> Callable[..., Experiment]:
    """An experiment on three classes; keywords replace sections of the configuration."""

    def make(*methods: Any, subset: str | None = None, classes: Any = None, **more: Any) -> Experiment:
        corpus = {"name": "synthetic", "subset": subset, "classes": classes or ["student", "course", "faculty"]}
        protocol = {"name": "leave-one-group-out", "held_out": ["texas"]}
        return small_experiment(
            **{"corpus": corpus, "text": TEXT, "protocol": protocol, "methods": list(methods)} | more
        )

    return make


@pytest.fixture(scope="session")
def fitted(store: Store) -> Callable[..., KeptModel]:
    def fit(study: Experiment, cell: str | None = None, **options: Any) -> KeptModel:
        return fit_model(study, cell or study.ids[0], RunContext(store), **options)

    return fit
