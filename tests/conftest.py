"""What all tests share: a user's folders of their own, one thread, and a small experiment that is done."""

from __future__ import annotations

import functools
import gc
import os
from typing import TYPE_CHECKING, Any

import hypothesis
import numba
import pytest
import yaml
from threadpoolctl import threadpool_limits

from benchmark.corpora import archive, registry
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.papers import published
from benchmark.plugins.trust import TRUST_VARIABLE
from benchmark.system.user_classes import running_user_code_here
from tests.builders import small_experiment
from tests.shapes import run_shapes, sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmark.experiment.run import RunResult
    from tests.shapes import ShapedRun


@pytest.fixture(scope="session", autouse=True)
def folders_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store and a cache folder of the tests' own; corpora that the user's cache has are read from there."""
    with pytest.MonkeyPatch.context() as patch:
        places = os.environ.get(registry.DATASETS_VARIABLE, "").split(os.pathsep)
        patch.setenv(
            registry.DATASETS_VARIABLE, os.pathsep.join([*filter(None, places), str(registry.search_folders()[-1])])
        )
        # Digests of code, which take seconds to find, are one for all workers.
        folder = tmp_path_factory.getbasetemp()
        cache = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "cache"
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("store")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv(TRUST_VARIABLE, "1")  # the plug-ins of the tests
        yield


def pytest_configure() -> None:
    """Tell threads of libraries, which aren't loaded yet, to sleep while they wait."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def pytest_collection_finish() -> None:
    """Look for garbage only in what tests make: all that was imported and collected before stays to the end."""
    gc.collect()
    gc.freeze()


# Random examples of a test that doesn't say how many: other ones in each run. There is no deadline: the machine's load
# decides as much as the code how long an example takes.
hypothesis.settings.register_profile("without a deadline", max_examples=50, deadline=None)
hypothesis.settings.load_profile("without a deadline")


@pytest.fixture(scope="session", autouse=True)
def generated_once() -> Iterator[None]:
    """The generated corpus, which hundreds of small runs begin with, takes as long as some of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.GENERATORS, "synthetic", functools.cache(registry.GENERATORS["synthetic"]))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """One thread for each kind of library: for small data, threads do nothing but wait for each other."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        yield
    numba.set_num_threads(before)


@pytest.fixture
def every_numba_thread() -> Iterator[int]:
    """As many threads of numba's as it has, which may be one; their number."""
    before, number = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    numba.set_num_threads(number)
    yield number
    numba.set_num_threads(before)


@pytest.fixture
def no_corpus_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a corpus is looked for."""

    def never(*args: object, **kwargs: object) -> None:
        pytest.fail("a configuration is checked without its corpus")

    for name in ("find_corpus", "locate_corpus", "load_corpus", "search_folders"):
        monkeypatch.setattr(registry, name, never)
    monkeypatch.setattr(archive, "read_files", never)


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], str]:
    """Let there be one paper, with the numbers and claims given, and give its name."""

    def write(paper: dict[str, Any]) -> str:
        folder = tmp_path / "published"
        folder.mkdir(exist_ok=True)
        (folder / f"{paper['paper']}.yaml").write_text(yaml.safe_dump(paper))
        monkeypatch.setattr(published, "PUBLISHED_FOLDER", folder)
        return str(paper["paper"])

    return write


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what is to be drawn instead of pictures, which take most of a small run and are tested in `report`."""
    sketch(monkeypatch)


@pytest.fixture
def users_code_here() -> Iterator[None]:
    """Run users' code in this process: one of its own takes two seconds to start, and is tested in `plugins`."""
    with running_user_code_here():
        yield


@pytest.fixture(scope="session")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ShapedRun]:
    """A finished run of each shape, by its name."""
    return run_shapes(tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """One small experiment, run and written."""
    folder = tmp_path_factory.mktemp("finished")
    compare = [["tf-l1-ngd", "tf-l1-linear"], ["tfidf-l1-ngd", "tf-l1-ngd"]]
    experiment = small_experiment(compare=compare, title="A small one", notes=["of little worth"])
    return run_and_write(experiment, RunContext(Store(folder / "store", limit=10**9)), folder=folder / "run")
