"""Small experiments on the generated corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.config.check import check_experiment
from benchmark.config.source import YamlSource
from benchmark.evaluation import published
from benchmark.experiment.session import perform
from benchmark.experiment.store import Store
from benchmark.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.experiment.session import Finished

# A script, not a module of tests.
collect_ignore = ["one_run.py"]

SMALL: dict[str, Any] = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "methods": [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]}],
}


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


def small_experiment(**changes: Any) -> Experiment:
    return check_experiment(YamlSource("test.yaml", SMALL | changes), MEASURES)


@pytest.fixture(scope="session")
def configured() -> Callable[..., Experiment]:
    """Make an experiment on the generated corpus; keywords replace sections of the configuration."""
    return small_experiment


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def store(tmp_path: Path, notebook: Notebook) -> Store:
    return Store(tmp_path / "store", limit=10**9, warn=notebook.note)


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], str]:
    """Let there be one paper, with the numbers and claims given, and give its name."""

    def write(paper: dict[str, Any]) -> str:
        folder = tmp_path / "published"
        folder.mkdir()
        (folder / f"{paper['paper']}.yaml").write_text(yaml.safe_dump(paper))
        monkeypatch.setattr(published, "FOLDER", folder)
        return str(paper["paper"])

    return write


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One small experiment, run and written."""
    folder = tmp_path_factory.mktemp("finished")
    compare = [["tf-l1-ngd", "tf-l1-linear"], ["tfidf-l1-ngd", "tf-l1-ngd"]]
    experiment = small_experiment(compare=compare, title="A small one", notes=["of little worth"])
    return perform(experiment, Store(folder / "store", limit=10**9), folder=folder / "run")
