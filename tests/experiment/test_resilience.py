"""Runs that are killed, interrupted, or short of disk lose no result and invent none; tests/trials has more.

Each test is a run of its own process; what it must come to is what an undisturbed run gives.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import yaml

from benchmark.experiment.store import Store
from tests.processes import Process, contents_of

#: Pictures and thousands of resamples take half of such a run: what is shown is written, and intervals are of a few.
SKETCHED = """
from benchmark.cli import main
from benchmark.evaluation import intervals
from benchmark.report.drawing import render

def sketch(specs):
    return {name: dict.fromkeys(render.IMAGE_FORMATS, repr(each).encode()) for name, each in specs.items()}

for module, name, instead in (
    *((intervals, "RESAMPLES", 100), (intervals, "RESAMPLES_MANY_KINDS", 100)),
    (render, "render_pictures", sketch),
):
    assert hasattr(module, name)
    setattr(module, name, instead)
main()
"""
pytestmark = pytest.mark.slow
QUICKSTART = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
#: Four of the quickstart's cells, each with a matrix of its own.
CELLS = {
    "methods": [
        {"weighting": ["tf", "tfidf"], "normalization": "l1", "kernel": "ngd"},
        {"weighting": ["tf", "tfidf"], "normalization": "l2", "kernel": "linear"},
    ],
    "compare": [["tf-l1-ngd", "tf-l2-linear"]],
}
STEPS = 16


@pytest.fixture(scope="module", name="run")
def fixture_run(tmp_path_factory):
    """A part of the quickstart in a process of its own."""
    config = tmp_path_factory.mktemp("config") / "quickstart.yaml"
    config.write_text(yaml.safe_dump(yaml.safe_load(QUICKSTART.read_text(encoding="utf-8")) | CELLS))

    def run(out, store, config=config, **options):
        arguments = ["run", str(config), "--out", str(out), "--verbose"]
        variables = {"BENCH_CACHE": str(store), "COLUMNS": "400"}
        return Process(*arguments, code=SKETCHED, variables=variables, **options)

    return run


def finished(process):
    """Exit code, and what was said on standard error and not read yet."""
    code, _, error = process.finish()
    assert "Traceback" not in error
    return code, error


def wait_for_steps(process, n):
    """Read standard error until n cells and folds are done."""
    seen = 0
    while seen < n:
        line = process.stderr.readline()
        assert line, "the run ended before it could be disturbed"
        seen += " · " in line
    return seen


@pytest.fixture(scope="module")
def undisturbed(run, tmp_path_factory):
    """Contents of a run nothing happens to, and the store that it filled."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, error = finished(run(folder / "run", folder / "store"))
    assert code == 0, error
    assert error.count(" · ") == STEPS
    assert (folder / "run" / "manifest.json").exists()
    assert len(contents_of(folder / "run")) >= 12
    return contents_of(folder / "run"), folder / "store"


def entries_of(folder):
    """Inode by path: an entry that is written again gets another."""
    return {path: path.stat().st_ino for path, _, _ in Store(folder, limit=10**12).entries()}


def assert_resumes(run, tmp_path, n, expected):
    """The same command again takes up what was kept, and comes to the same bytes."""
    kept = entries_of(tmp_path / "store")
    assert len(kept) > n, "each step that was reported is kept, and the counts"
    code, error = finished(run(tmp_path / "run", tmp_path / "store"))
    assert code == 0, error
    assert "damaged" not in error
    now = entries_of(tmp_path / "store")
    assert {path: now[path] for path in kept} == kept, "what was kept is not computed again"
    assert not list((tmp_path / "store" / "parts").iterdir())
    assert contents_of(tmp_path / "run") == expected


def test_interrupted_it_says_so_and_goes_on_to_the_same_bytes(run, undisturbed, tmp_path):
    with run(tmp_path / "run", tmp_path / "store") as process:
        n = wait_for_steps(process, STEPS // 4)
        process.send_signal(signal.SIGINT)
        code, error = finished(process)
    assert code == 130
    assert "interrupted" in error
    assert "the same command continues from there" in error
    assert contents_of(tmp_path / "run") == {}
    assert_resumes(run, tmp_path, n, undisturbed[0])
