"""Trials try to break the tool: slow tests, of which hypothesis's profile says how many examples they make."""

from __future__ import annotations

import fcntl
import functools
import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.trials.processes import LARGER, SHAPES, Undisturbed, bench

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
    """Run a small experiment that nothing happens to, once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    @functools.cache
    def make(shape: str) -> Undisturbed:
        made = Undisturbed(shared / shape)
        with (shared / f"{shape}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.folder.exists():
                made.folder.mkdir()
                made.configuration.write_text(f"name: small\n{(SHAPES | LARGER)[shape]}", encoding="utf-8")
                started = time.monotonic()
                done = bench(*made.words(made.run), BENCH_CACHE=str(made.store))
                (made.folder / "seconds").write_text(str(time.monotonic() - started))
                assert not done.code, done.error
        return made

    return make
