"""Figures that were drawn before come from the store, with the same bytes."""

from benchmark.experiment.context import RunContext
from benchmark.experiment.run import run_and_write
from benchmark.report.drawing import render


def test_a_finished_experiment_is_not_drawn_again(finished, store, tmp_path, monkeypatch):
    drawn, render_pictures = [], render.render_pictures
    monkeypatch.setattr(render, "render_pictures", lambda specs: drawn.append(specs) or render_pictures(specs))
    folders = [tmp_path / "once", tmp_path / "twice"]
    for folder in folders:
        run_and_write(finished.results.experiment, RunContext(store), folder=folder)
    assert len(drawn) == 1
    for name in ("figures/figure.png", "figures/figure.svg"):
        assert len({(folder / name).read_bytes() for folder in folders}) == 1
