"""What all tests share: a user's folders of their own, one thread, real corpora, and configurations of every kind."""

from __future__ import annotations

import functools
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import hypothesis
import numba
import platformdirs
import pytest
import yaml
from threadpoolctl import threadpool_limits

from benchmark.config.check import check_experiment
from benchmark.config.load import read_config
from benchmark.corpora import archive, registry, reuters, sgml
from benchmark.environment import share_machine
from benchmark.errors import ConfigError
from benchmark.evaluation import published
from benchmark.experiment import session
from benchmark.experiment.context import RunContext
from benchmark.experiment.session import perform
from benchmark.experiment.store import Store
from benchmark.plugins.gathering import SHIPPED
from benchmark.report import files
from benchmark.report.charts import Chart
from benchmark.report.html import vega
from benchmark.source import YamlSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmark.config.model import Experiment
    from benchmark.corpora.corpus import Corpus
    from benchmark.corpora.sgml import Article
    from benchmark.experiment.session import Finished


SMALL: dict[str, Any] = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "methods": [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]}],
}


@pytest.fixture(scope="session", autouse=True)
def folders_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store and a cache folder of the tests' own; corpora that the user's cache has are read from there."""
    with pytest.MonkeyPatch.context() as patch:
        places = os.environ.get(registry.ENVIRONMENT, "").split(os.pathsep)
        patch.setenv(registry.ENVIRONMENT, os.pathsep.join([*filter(None, places), str(registry.places()[-1])]))
        scripts = [*platformdirs.user_cache_path("simplexbench").glob("vega-*.js")]  # each takes seconds to make
        # Digests of code, which take seconds to find, are one for all workers.
        folder = tmp_path_factory.getbasetemp()
        cache = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "cache"
        patch.setenv("XDG_CACHE_HOME", str(cache))
        own = platformdirs.user_cache_path("simplexbench")
        own.mkdir(parents=True, exist_ok=True)
        for script in scripts:
            Path(shutil.copy(script, folder)).replace(own / script.name)  # in one step: another worker may read it
        patch.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


def pytest_configure() -> None:
    """Tell threads of libraries, which aren't loaded yet, to sleep while they wait."""
    share_machine()


# Random examples of a test that doesn't say how many; .ci/run tries others afterwards, twice as many. Without a
# deadline: what an example takes is the machine's load as much as the code.
hypothesis.settings.register_profile("quick", max_examples=50, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=100, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


class Process:
    """A process of its own, of the command line or of a script.

    Parameters
    ----------
    arguments : str
        Of the command line; or of `code`.
    code : str
        A script.
    path : sequence of Path
        Folders that stand before all others where modules are looked for.
    folder : Path
        To work in.
    variables : dict of str to str
        Of the environment, beside those of the tests.
    largest_file : int
        Bytes; every larger file fails, as on a full disk.
    stdout : Path
        Where standard output goes to, instead of to `finish`.
    """

    def __init__(
        self,
        *arguments: str,
        code: str = "from benchmark.cli import main; main()",
        path: Sequence[Path] = (),
        folder: Path | None = None,
        variables: dict[str, str] | None = None,
        largest_file: int | None = None,
        stdout: Path | None = None,
    ) -> None:
        def limit() -> None:
            if largest_file:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        paths = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | (variables or {}) | ({"PYTHONPATH": paths} if paths else {})
        with ExitStack() as stack:
            taken = tempfile.TemporaryFile() if stdout is None else stdout.open("wb")  # noqa: SIM115
            self._stdout = taken if stdout is None else stack.enter_context(taken)
            command = [sys.executable, "-c", code, *arguments]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=taken,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=environment,
                preexec_fn=limit,  # noqa: PLW1509 - it sets a limit alone
                text=True,
            )
        assert self._process.stderr is not None
        self.stderr = self._process.stderr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def finish(self) -> tuple[int | None, str, str]:
        """Exit code, standard output, and what was said on standard error and not read yet."""
        error = "" if self.stderr.closed else self.stderr.read()
        self.stderr.close()
        self._process.wait(120)
        output = ""
        if not self._stdout.closed:
            self._stdout.seek(0)
            output = self._stdout.read().decode()
            self._stdout.close()
        return self.returncode, output, error


@pytest.fixture(scope="session")
def launched() -> type[Process]:
    """Start a process of its own."""
    return Process


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


@pytest.fixture(scope="session")
def real_corpus() -> Callable[..., Corpus]:
    """A real corpus or a part of it, loaded once; skips the test where it isn't on this machine."""

    @functools.cache
    def articles(content: bytes, name: str) -> list[Article]:
        return list(sgml.read_articles(content, name))

    @functools.cache
    def load(name: str, subset: str) -> Corpus:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reuters, "read_articles", articles)  # which are those of every subset
            return registry.load(name, subset=subset)

    def real(name: str, subset: str | None = None) -> Corpus:
        if registry.find(name) is None:
            pytest.skip(f"the corpus {name} is not on this machine")
        return load(name, registry.card(name, subset).kept)

    return real


@pytest.fixture
def no_corpus_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a corpus is looked for."""

    def never(*args: object, **kwargs: object) -> None:
        pytest.fail("a configuration is checked without its corpus")

    for name in ("find", "locate", "load", "places"):
        monkeypatch.setattr(registry, name, never)
    monkeypatch.setattr(archive, "read_files", never)


@pytest.fixture
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Write the module's `SMALL` configuration, a fragment's top-level keys standing instead of its own."""

    def write(fragment: str = "") -> Path:
        given = re.findall(r"^(\w+):", fragment, re.MULTILINE)
        path = tmp_path / "config.yaml"
        kept = [text for key, text in request.module.SMALL.items() if key not in given]
        path.write_text("".join(kept) + fragment, encoding="utf-8")
        return path

    return write


@pytest.fixture
def refusal_of(write: Callable[..., Path]) -> Callable[[str], str]:
    """The message for a fragment, which must begin with file and the line that ends in "# HERE"."""

    def refusal(fragment: str) -> str:
        path = write(fragment)
        with pytest.raises(ConfigError) as caught:
            check_experiment(read_config(path), SHIPPED)
        here = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# HERE"))
        assert str(caught.value).startswith(f"{path}:{here}: "), caught.value
        return str(caught.value)

    return refusal


def small_experiment(**changes: Any) -> Experiment:
    return check_experiment(YamlSource("test.yaml", SMALL | changes), SHIPPED)


@pytest.fixture(scope="session")
def configured() -> Callable[..., Experiment]:
    """Make an experiment on the generated corpus; keywords replace sections of the configuration."""
    return small_experiment


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


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what is to be drawn instead of pictures, which take most of a small run and are tested in `report`."""

    def sketch(_: Any, given: Any) -> dict[str, bytes]:
        shown = (given, given.panels) if isinstance(given, Chart) else getattr(given, "cells", given)
        return dict.fromkeys(("png", "svg"), repr(shown).encode())

    monkeypatch.setattr(files, "rendered", sketch)
    monkeypatch.setattr(session, "picture_in", lambda _, draw, given, __: sketch(draw, given))  # none is kept
    monkeypatch.setattr(vega, "_kept", lambda _: "let none")  # nor the script that draws in a browser


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One small experiment, run and written."""
    folder = tmp_path_factory.mktemp("finished")
    compare = [["tf-l1-ngd", "tf-l1-linear"], ["tfidf-l1-ngd", "tf-l1-ngd"]]
    experiment = small_experiment(compare=compare, title="A small one", notes=["of little worth"])
    return perform(experiment, RunContext(Store(folder / "store", limit=10**9)), folder=folder / "run")
