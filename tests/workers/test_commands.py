"""``--dask`` from the command line: processes of this machine, none of which is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import yaml

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_manifest
from benchmark.experiment.store import Store
from tests.processes import Process, contents_of

if TYPE_CHECKING:
    from collections.abc import Callable


pytest.importorskip("distributed")
CONFIG: dict[str, Any] = {
    "name": "small",
    "corpus": {"name": "synthetic"},
    "text": {"min_occurrences": 20},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "methods": [{"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": ["linear", "ngd"]}, "mnb"],
}


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Any]:
    """A command, as a terminal starts it: with a group of processes of its own."""
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(CONFIG))

    def start(name: str, *words: str) -> Any:
        arguments = "run", str(tmp_path / "small.yaml"), "--verbose", *words, "--out", str(tmp_path / name)
        code = "import os; os.setsid()\nfrom benchmark.cli import main; main()"
        variables = {"BENCH_CACHE": str(tmp_path / f"store-{name}")}
        return Process(*arguments, code=code, folder=tmp_path, variables=variables)

    return start


@pytest.mark.slow
def test_interrupted_it_leaves_no_process_behind_and_goes_on_to_the_same_bytes(bench: Any, tmp_path: Path) -> None:
    process = bench("there", "--dask", "local:1")
    while " · " not in process.stderr.readline():
        assert process.returncode is None
    started = psutil.Process(process.pid).children(recursive=True)
    assert sum("spawn_main" in " ".join(each.cmdline()) for each in started) == 1, "as many as were asked for"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, left = psutil.wait_procs(started, timeout=20)
    assert left == []
    code, _, error = process.finish()
    assert code == 130
    assert "interrupted; results so far are stored, and the same command continues from there" in error
    assert "Traceback" not in error
    code, _, error = bench("there", "--dask", "local:1").finish()
    assert code == 0, error
    assert error.count(" · ") == 10, "a step is told once, wherever it was done"
    home = run_and_write(
        load_checked(tmp_path / "small.yaml"),
        RunContext(Store(tmp_path / "store-here")),
        folder=tmp_path / "here",
    )
    assert contents_of(tmp_path / "there") == contents_of(tmp_path / "here")
    assert read_manifest(tmp_path / "there")["config"] == home.results.experiment.raw


OWN = """\
from pathlib import Path
from beside import scale
from sklearn.naive_bayes import MultinomialNB

class Own(MultinomialNB):
    reads = ("words.txt",)

    def fit(self, X, y):
        with open(SEEN, "a") as file:
            file.write(f"{Path(__file__).parent}\\n")
        return super().fit(scale(X, float(Path(__file__).with_name("words.txt").read_text())), y)

CLASSIFIERS = {"own": Own}
"""


@pytest.mark.slow
def test_users_code_gives_the_same_bytes_on_daemonic_workers_which_get_its_files(bench: Any, tmp_path: Path) -> None:
    """Processes of a local cluster are daemonic: `multiprocessing` would start none below them."""
    (tmp_path / "own.py").write_text(OWN.replace("SEEN", repr(str(tmp_path / "seen"))))
    (tmp_path / "beside.py").write_text("def scale(X, by):\n    return X * by\n")
    (tmp_path / "words.txt").write_text("2")
    methods = ["mnb", "own", {"weighting": "tf", "classifier": "sklearn.neighbors.NearestCentroid"}]
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(CONFIG | {"plugins": ["own.py"], "methods": methods}))
    seen = []
    for name, words in (("here", ()), ("there", ("--dask", "local:1"))):
        code, _, error = bench(name, *words).finish()
        assert code == 0, error
        assert "failed" not in error
        seen.append({Path(line) for line in (tmp_path / "seen").read_text().split()})
    assert contents_of(tmp_path / "there") == contents_of(tmp_path / "here")
    here, (there,) = seen[0], seen[1] - seen[0]
    assert here == {tmp_path}
    assert not there.exists(), "the copy ends with the worker"
