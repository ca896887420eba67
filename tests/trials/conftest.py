"""Trials try to break the tool: slow tests, of which hypothesis's profile says how many examples they make."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from tests.trials.processes import SHAPES, Undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable

settings.register_profile("slice", max_examples=2)
settings.register_profile("many", max_examples=1_000)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test here as slow."""
    item.add_marker(pytest.mark.slow)
    item.add_marker(pytest.mark.timeout(3_600))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Undisturbed]:
    """Run a small experiment that nothing happens to, once."""

    @functools.cache
    def make(shape: str) -> Undisturbed:
        made = Undisturbed(tmp_path_factory.mktemp(shape))
        made.configuration.write_text(SHAPES[shape], encoding="utf-8")
        run_and_write(load_checked(made.configuration), RunContext(Store(made.store)), folder=made.run)
        return made

    return make
