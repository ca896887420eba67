"""vl-convert may fail or die: what was drawn is kept, what wasn't is left out, and nothing else ends."""

import subprocess
import sys

import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.report.drawing import render
from benchmark.report.drawing.curves import curve_chart
from benchmark.report.drawing.render import picture_digest, render_pictures

CHART = Chart("c", "A chart", "x", "y", (ChartPanel("one", (Line("a", (1.0, 2.0), (0.5, 0.25)),)),))


@pytest.fixture(scope="module")
def spec():
    return curve_chart(CHART)


@pytest.fixture(scope="module")
def whole(spec):
    return render_pictures({"a": spec})


def test_nothing_to_draw_starts_no_process(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("started"))
    assert render_pictures({}) == {}


def test_one_process_draws_all(spec, monkeypatch):
    started, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: started.append(args) or run(*args, **options))
    assert list(render_pictures({"a": spec, "b": spec, "c": spec})) == ["a", "b", "c"]
    assert len(started) == 1


def test_what_cannot_be_drawn_is_left_out_and_the_others_are_drawn(spec):
    assert list(render_pictures({"a": spec, "bad": {"mark": 3}, "b": spec})) == ["a", "b"]


@pytest.mark.parametrize("death", ["import os; os.abort()", "raise SystemExit(3)", "import no_such_module"])
def test_what_was_drawn_before_the_engine_died_is_kept(spec, whole, death, monkeypatch):
    monkeypatch.setattr(
        render,
        "DRAWING_PROGRAM",
        render.DRAWING_PROGRAM.replace("    name, spec", f"    if b'last' in line: {death}\n    name, spec"),
    )
    assert render_pictures({"a": spec, "last": spec, "later": spec}) == whole


def test_a_python_that_cannot_be_started_draws_nothing(spec, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent")
    assert render_pictures({"a": spec}) == {}


def test_a_digest_tells_numbers_apart(spec):
    again = curve_chart(CHART)
    assert picture_digest(again) == picture_digest(spec)
    moved = Chart("c", "A chart", "x", "y", (ChartPanel("one", (Line("a", (1.0, 2.0), (0.5, 0.2500001)),)),))
    assert picture_digest(curve_chart(moved)) != picture_digest(spec)
