"""Trials try to break the tool: slow tests, which `make trials` makes and counts."""

from __future__ import annotations

import fcntl
import functools
import os
import resource
import shlex
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.trials.limits import Made
from tests.trials.processes import LARGER, SHAPES, Undisturbed, bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: A trial that takes more has found something, and the machine is left in peace.
MEMORY = 8 << 30
#: Seconds after which a process is ended that doesn't listen to its own alarm, as compiled code.
DEAF = 3_600


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test here as slow; its trials have limits of their own."""
    item.add_marker(pytest.mark.slow)
    item.add_marker(pytest.mark.timeout(DEAF, method="thread"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Note how many trials a test has made."""
    before = Made.number
    try:
        return (yield)
    finally:
        item.user_properties.append(("trials", Made.number - before))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the number of trials of each family, which is a module, and a line that repeats each test that failed."""
    made, failed, seconds = Counter[str](), Counter[str](), Counter[str]()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            family = Path(report.nodeid.partition("::")[0]).stem.removeprefix("test_")
            made[family] += dict(report.user_properties).get("trials", 0)
            failed[family] += outcome == "failed"
            seconds[family] += report.duration
    for family in +made:
        what = f"{made[family]:,} trials, {failed[family]} tests failed, {seconds[family]:,.0f} s"
        terminalreporter.write_line(f"{family}: {what}")
    chosen = "".join(f"{name}={os.environ[name]} " for name in ("SLICE", "SEED") if os.environ.get(name))
    for report in (*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")):
        words = shlex.join([*["python", "-m", "pytest", "-m", "slow"], report.nodeid])
        terminalreporter.write_line(f"again: {chosen}{words}")


@pytest.fixture(scope="session", autouse=True)
def limited_memory() -> Iterator[None]:
    """Limit the memory of this process and of those that it starts."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Remove the folder of a test with the test: together they would fill a disk."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


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
