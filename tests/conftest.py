"""What all tests share: a user's folders of their own, one thread, and a small experiment that is done."""

from __future__ import annotations

import functools
import gc
import json
import os
from typing import TYPE_CHECKING, Any, Self

import hypothesis
import numba
import numpy as np
import pytest
import yaml
from threadpoolctl import threadpool_limits

from benchmark.commands import plan as planning
from benchmark.commands.forecast import estimate, pilot
from benchmark.corpora import archive, registry
from benchmark.experiment import run as session
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.papers import published
from benchmark.plugins.trust import TRUST_VARIABLE
from benchmark.report.drawing import render
from benchmark.system.memory import peak_memory
from benchmark.system.threads import let_openmp_threads_sleep
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmark.experiment.run import RunResult


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
    let_openmp_threads_sleep()


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

    def sketch(specs: dict[str, Any]) -> dict[str, dict[str, bytes]]:
        return {name: dict.fromkeys(render.IMAGE_FORMATS, json.dumps(spec).encode()) for name, spec in specs.items()}

    monkeypatch.setattr(render, "render_pictures", sketch)
    monkeypatch.setattr(session, "cached_pictures", lambda _, specs: sketch(specs))  # none is kept


@pytest.fixture(autouse=True)
def quick_pilots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plans make as few pilots as they may: how near a forecast comes is measured by tests/perf/plans.py."""
    monkeypatch.setattr(estimate, "PILOT_SECONDS", 0.0)


class PilotsHere:
    """Pilots in this process, which has loaded the libraries; they draw no pictures."""

    def __init__(self, experiment: Any, context: RunContext, folder: Path) -> None:
        self.start = pilot.Span(np.ones(2), peak_memory())
        self._how, self._folder, self._number = (experiment, context), folder, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def run(self, works: Any, computed: Any, counts: Any, *_: object, **__: object) -> pilot.Measurement:
        """Run tasks as a pilot process does."""
        self._number += 1
        (experiment, context), own = self._how, self._folder / str(self._number)
        found = pilot.measure_pilot(experiment, works, computed, counts, context, own)
        batches = {label: pilot._span(each) for label, each in found["batches"].items()}
        parts = (pilot._span(found[part]) for part in ("diagnostics", "rest", "pictures"))
        return pilot.Measurement(batches, *parts, base=0.0)


@pytest.fixture
def pilots_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no process start for pilots, which takes seconds; tests/commands/test_plan.py has some that do."""
    monkeypatch.setattr(estimate, "PilotProcess", PilotsHere)


@pytest.fixture(scope="session")
def forecasts() -> dict[Any, Any]:
    """Forecasts that were made, by what they are of."""
    return {}


@pytest.fixture
def forecast_once(forecasts: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pilots run once for the same missing results of the same cells: they take seconds."""
    forecast_run = planning.forecast_run

    def forecast(experiment: Any, read: Any, works: Any, left: set[str], context: RunContext, *others: Any) -> Any:
        key = experiment.ids, frozenset(left), context.jobs
        if key not in forecasts:
            forecasts[key] = forecast_run(experiment, read, works, left, context, *others)
        return forecasts[key]

    monkeypatch.setattr(planning, "forecast_run", forecast)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """One small experiment, run and written."""
    folder = tmp_path_factory.mktemp("finished")
    compare = [["tf-l1-ngd", "tf-l1-linear"], ["tfidf-l1-ngd", "tf-l1-ngd"]]
    experiment = small_experiment(compare=compare, title="A small one", notes=["of little worth"])
    return run_and_write(experiment, RunContext(Store(folder / "store", limit=10**9)), folder=folder / "run")
