"""Pictures that were drawn before come from the store: the same bytes, and never those of something else."""

from dataclasses import replace

import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.session import perform, picture_in
from benchmark.experiment.store import Store
from benchmark.report import files
from benchmark.report.charts import Chart, Line, Panel
from benchmark.report.files import draw_cells, draw_chart, rendered, write_all

CHART = Chart("c", "A chart", "x", "y", (Panel("one", (Line("a", (1.0, 2.0), (0.5, 0.25)),)),))


def told(chart):
    return repr((chart, chart.panels))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", limit=10**9)


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, one after the other."""
    found = []

    def counted(draw, given):
        found.append(given)
        return rendered(draw, given)

    counted.__module__, counted.__qualname__ = rendered.__module__, rendered.__qualname__
    monkeypatch.setattr(files, "rendered", counted)
    return found


def test_the_second_time_it_is_the_same_bytes_and_nothing_is_drawn(store, drawn):
    first = picture_in(store, draw_chart, CHART, told(CHART))
    assert first == rendered(draw_chart, CHART)
    assert picture_in(store, draw_chart, CHART, told(CHART)) == first
    assert drawn == [CHART]


def test_one_number_more_is_another_picture(store, drawn):
    moved = replace(CHART, panels=(Panel("one", (Line("a", (1.0, 2.0), (0.5, 0.2500001)),)),))
    picture_in(store, draw_chart, CHART, told(CHART))
    picture_in(store, draw_chart, moved, told(moved))
    assert drawn == [CHART, moved]


def test_a_damaged_one_is_drawn_again(store, drawn, tmp_path):
    first = picture_in(store, draw_chart, CHART, told(CHART))
    (entry,) = [path for path in (tmp_path / "store").rglob("*") if path.is_file() and path.stat().st_size > 1000]
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    assert picture_in(store, draw_chart, CHART, told(CHART)) == first
    assert len(drawn) == 2


def test_what_a_picture_of_cells_shows_tells_it_from_others(finished):
    """Every part of the summary that the picture is drawn from."""
    summary = finished.summary
    (_, _, one) = files._pictures(summary)["figure"]
    scores = summary.scores.assign(value=summary.scores["value"] * 0.99)
    others = [
        replace(summary, scores=scores),
        replace(summary, title="Another"),
        replace(summary, failures={summary.cells[0].id: "why"}),
        replace(summary, cells=summary.cells[::-1]),
    ]
    pictures = [rendered(draw_cells, each)["svg"] for each in (summary, *others)]
    assert len({one, *(files._pictures(each)["figure"][2] for each in others)}) == len(set(pictures)) == 5


def test_a_finished_experiment_is_not_drawn_again(finished, store, drawn, tmp_path):
    study = finished.results.study
    once = perform(study, RunContext(store), folder=tmp_path / "once")
    n = len(drawn)
    twice = perform(study, RunContext(store), folder=tmp_path / "twice")
    assert n == len(drawn) == 1
    for kind in ("png", "svg"):
        name = f"figure.{kind}"
        assert (once.folder / name).read_bytes() == (twice.folder / name).read_bytes()
    write_all(finished.summary, tmp_path / "anew")
    assert (tmp_path / "anew" / "figure.svg").read_bytes() == (once.folder / "figure.svg").read_bytes()
