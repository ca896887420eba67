"""Numbers of the store are those of the code that stands there: edited between two runs, or while one goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "benchmark"
CONFIG = """
name: edited
corpus: {name: synthetic}
text: {stoplist: none, min_occurrences: 2, digits: run-length}
protocol: {name: random-subsets, train_size: [40], replicates: 3, stratified: true}
methods: [{classifier: divergence-bayes}, {kernel: ngd, weighting: tf}]
"""
#: Runs the configuration; what is written between the brackets is done once everything has been imported.
RUN = """
import sys
from pathlib import Path
from benchmark.cli import main
from benchmark.experiment import runner
[]
sys.argv = ["bench", "run", "edited.yaml", "--out", sys.argv[1]]
main()
"""
DRAWS = ("evaluation/protocols.py", "[self.seed, self.train_size", "[self.seed + 1, self.train_size")
SMOOTHING = ("classifiers/divergence_bayes.py", "(counts, self.smoothing)", "(counts, 1e5 * self.smoothing)")


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, and of what it reads."""
    shutil.copytree(PACKAGE, tmp_path / "benchmark", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE.parent / "datasets", tmp_path / "datasets")
    (tmp_path / "edited.yaml").write_text(CONFIG)
    return tmp_path


def scores(folder, store, out, *, meanwhile=""):
    """The scores of a run in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(folder), "BENCH_CACHE": str(folder / store)}
    command = [sys.executable, "-c", RUN.replace("[]", meanwhile), str(folder / out)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / out / "scores.csv").read_text()


def edit(folder, name, old, new):
    path = folder / "benchmark" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("change", [DRAWS, SMOOTHING], ids=["draws", "smoothing"])
def test_an_edit_between_two_runs_is_another_result(copied, change):
    before = scores(copied, "store", "before")
    edit(copied, *change)
    after = scores(copied, "store", "after")
    assert after == scores(copied, "fresh", "truth")
    assert after != before


def test_an_edit_while_a_run_goes_on_is_none_of_its_results(copied):
    name, old, new = SMOOTHING
    path = copied / "benchmark" / name
    rewrite = f"p = Path({str(path)!r}); p.write_text(p.read_text().replace({old!r}, {new!r}))"
    meanwhile = f"runner.code_digest(runner.run); {rewrite}"
    before = scores(copied, "store", "before", meanwhile=meanwhile)
    assert new in path.read_text()
    after = scores(copied, "store", "after")
    assert after == scores(copied, "fresh", "truth")
    assert after != before


def test_an_edit_while_the_program_starts_is_refused(copied):
    path = copied / "benchmark" / SMOOTHING[0]
    environment = os.environ | {"PYTHONPATH": str(copied), "BENCH_CACHE": str(copied / "store")}
    meanwhile = f"p = Path({str(path)!r}); p.write_text(p.read_text() + '\\n')"
    command = [sys.executable, "-c", RUN.replace("[]", meanwhile), str(copied / "out")]
    done = subprocess.run(command, cwd=copied, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "divergence_bayes.py: was changed while the program started; run it again" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
