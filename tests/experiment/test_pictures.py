"""Pictures that were drawn before come from the store: the same bytes, and never those of something else."""

import signal
import time
from dataclasses import replace

import pytest

from benchmark.experiment.session import perform, picture_in
from benchmark.experiment.store import Store
from benchmark.library import aside as module
from benchmark.library.aside import Aside
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
    once = perform(study, store, folder=tmp_path / "once")
    n = len(drawn)
    twice = perform(study, store, folder=tmp_path / "twice")
    assert n == len(drawn) == 1
    for kind in ("png", "svg"):
        name = f"figure.{kind}"
        assert (once.folder / name).read_bytes() == (twice.folder / name).read_bytes()
    write_all(finished.summary, tmp_path / "anew")
    assert (tmp_path / "anew" / "figure.svg").read_bytes() == (once.folder / "figure.svg").read_bytes()


@pytest.fixture
def many(finished, monkeypatch):
    """A summary with more pictures than are drawn in passing."""
    monkeypatch.setattr(module, "FEW", 1)
    charts = (replace(CHART, name=f"c{n}", title=f"Chart {n}") for n in range(2))
    return replace(finished.summary, charts=tuple(charts))


def test_many_pictures_are_drawn_aside_and_written_in_the_end(many, store, drawn, tmp_path):
    with Aside(store) as aside:
        write_all(many, tmp_path / "run", aside.keep(many, tmp_path / "run"))
        assert (tmp_path / "run" / "table.md").exists()
        assert not list((tmp_path / "run").glob("*.png"))
        aside.finish()
    assert drawn == []
    write_all(many, tmp_path / "anew")
    assert contents(tmp_path / "run") == contents(tmp_path / "anew")


def test_what_is_known_or_few_is_written_at_once(many, store, drawn, tmp_path):
    few = replace(many, charts=many.charts[:1])
    with Aside(store) as aside:
        for summary in (few, many):
            for chart in summary.charts:
                picture_in(store, draw_chart, chart, told(chart))
            n = len(drawn)
            write_all(summary, tmp_path / "run", aside.keep(summary, tmp_path / "run"))
            assert len(list((tmp_path / "run").glob("*.png"))) == len(summary.charts)
        assert n == len(drawn) == len(many.charts)


def test_what_cannot_be_drawn_aside_is_drawn_here(many, store, drawn, tmp_path):
    """A process that dies takes no picture with it, and a store that can't be written is no way back from there."""
    places = [tmp_path / name for name in "abc"]
    others = replace(many, charts=tuple(replace(chart, title="Another") for chart in many.charts))
    with Aside(store) as aside:
        write_all(many, places[0], aside.keep(many, places[0]))
        while aside._process is None:
            time.sleep(0.01)
        aside._process.kill()
        aside._process.wait()
        write_all(others, places[1], aside.keep(others, places[1]))
        aside.finish()
        store.writable = False
        write_all(many, places[2], aside.keep(many, places[2]))
    assert len(drawn) == 4
    assert [len(list(place.glob("*.png"))) for place in places] == [2, 2, 2]
    assert contents(places[0]) == contents(places[2])


def test_who_breaks_off_waits_for_no_picture(many, store, tmp_path):
    aside = Aside(store)
    write_all(many, tmp_path / "run", aside.keep(many, tmp_path / "run"))
    while aside._process is None:
        time.sleep(0.01)
    aside.__exit__(KeyboardInterrupt, None, None)
    assert aside._process.returncode == -signal.SIGKILL


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
