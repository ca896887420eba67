"""Figures that were drawn before come from the store: the same bytes, and never those of something else."""

import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.experiment.store import Store
from benchmark.report.drawing import render
from benchmark.report.drawing.render import render_pictures
from benchmark.system.observer import Observer


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", limit=10**9)


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, one after the other."""
    found = []

    def counted(specs):
        found.extend(specs)
        return render_pictures(specs)

    monkeypatch.setattr(render, "render_pictures", counted)
    return found


def test_a_run_goes_on_without_its_figures_and_says_which_are_missing(finished, store, tmp_path, monkeypatch):
    """Where memory is limited, say, vl-convert's engine ends its process."""

    class Listening(Observer):
        said = ()

        def note(self, message):
            self.said += (message,)

    monkeypatch.setattr(render, "DRAWING_PROGRAM", "import os; os.abort()")
    observer = Listening()
    done = run_and_write(finished.results.experiment, RunContext(store, observer), folder=tmp_path / "run")
    assert [line for line in observer.said if "missing" in line and line.endswith(": figure")]
    assert not list(done.folder.glob("figures/figure.*"))
    assert 'class="bar"' in (done.folder / "report.html").read_text()  # bars need no engine


def test_a_finished_experiment_is_not_drawn_again(finished, store, drawn, tmp_path):
    experiment = finished.results.experiment
    once = run_and_write(experiment, RunContext(store), folder=tmp_path / "once")
    n = len(drawn)
    twice = run_and_write(experiment, RunContext(store), folder=tmp_path / "twice")
    assert n == len(drawn) == 1
    for name in ("figures/figure.png", "figures/figure.svg"):
        assert (once.folder / name).read_bytes() == (twice.folder / name).read_bytes()
