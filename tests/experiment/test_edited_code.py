"""Numbers of the store are those of the code that stands there: edited between two runs, or while one goes on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.processes import Process

pytestmark = pytest.mark.slow
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
from pathlib import Path
from benchmark.cli import main
from benchmark.experiment import run, runner
from benchmark.experiment.code_digest import code_digest
run.cached_pictures = lambda _, specs: dict.fromkeys(specs, {})  # which take as long as the rest
[]
main()
"""
DRAWS = ("evaluation/protocols.py", "[self.seed, self.train_size", "[self.seed + 1, self.train_size")
SMOOTHING = ("classifiers/divergence_bayes.py", "(counts, self.smoothing)", "(counts, 1e5 * self.smoothing)")


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, and of what it reads."""
    halves = shutil.ignore_patterns("*.pyc.*", "*.tmp.*")
    shutil.copytree(PACKAGE, tmp_path / "benchmark", ignore=halves)  # with what was compiled of it
    for name in ("datasets", "results/predictions"):
        shutil.copytree(PACKAGE.parent / name, tmp_path / name)
    (tmp_path / "edited.yaml").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def scores(copied):
    """The scores of the configuration, run in a process of its own."""

    def run(store, out, *, meanwhile="[]"):
        arguments = ("run", "edited.yaml", "--out", str(copied / out))
        variables, code = {"BENCH_CACHE": str(copied / store)}, RUN.replace("[]", meanwhile)
        done, _, error = Process(*arguments, code=code, path=[copied], folder=copied, variables=variables).finish()
        assert done == 0, error
        return (copied / out / "scores.csv").read_text()

    return run


def test_an_edit_is_another_result_from_the_next_run_on(copied, scores):
    """Between two runs, and while one goes on, of which it is no result."""
    name, old, new = SMOOTHING
    path = copied / "benchmark" / name
    rewrite = f"p = Path({str(path)!r}); p.write_text(p.read_text().replace({old!r}, {new!r}))"
    before = scores("store", "before")
    assert scores("other", "meanwhile", meanwhile=f"code_digest(runner.run_experiment); {rewrite}") == before
    assert new in path.read_text()
    smoothed = scores("fresh", "truth")
    assert [scores(store, f"after-{store}") for store in ("store", "other")] == [smoothed] * 2
    name, old, new = DRAWS
    path = copied / "benchmark" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    drawn = scores("fresh-draws", "truth-draws")
    assert scores("store", "after-draws") == drawn
    assert len({before, smoothed, drawn}) == 3
