"""Dots: every number of a cell and the published one beside it, in rows that can be read."""

import re
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from itertools import pairwise

import altair as alt
import pytest

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.summary import CellInfo, summary_table
from benchmark.evaluation.cell_scores import SCORE_COLUMNS
from benchmark.evaluation.mean_ranks import rank_methods
from benchmark.report.dot_rows import figure_rows
from benchmark.report.drawing.dots import DOT_LABELS, dot_chart, dot_pictures, rank_chart
from benchmark.report.drawing.render import render_pictures
from benchmark.report.drawing.theme import OURS, PUBLISHED
from benchmark.report.grids import main_verdicts
from tests.scenes import looks, overlap, panels_of, rows_of, scene_of


@cache
def drawn_of(make):
    spec = dot_chart(make())
    return spec, scene_of(spec)


@pytest.fixture
def spec(make):
    return drawn_of(make)[0]


@pytest.fixture
def scene(make):
    return drawn_of(make)[1]


def rows_with(spec, field, panel=0):
    """The rows of the layer whose x is this field; none where there is no such layer."""
    part = panels_of(spec)[panel]
    layers = [each for each in part["layer"] if each["encoding"].get("x", {}).get("field") == field]
    layers = [each for each in layers if each["mark"]["type"] != "text"]
    return [row for layer in layers for row in rows_of(spec, layer, part)]


def headlines(summary):
    rows = summary.scores[(summary.scores["fold"] == "all") & (summary.scores["metric"] == "accuracy")]
    return {row["cell"]: row for row in rows.to_dict("records")}


def test_one_point_a_scored_cell_with_its_numbers(make, spec):
    summary = make()
    own = [row for row in rows_with(spec, "value") if "cell" in row]
    assert len(own) == len(summary.cells) - len(summary.failures)
    known, rows = headlines(summary), figure_rows(summary)
    for row in own:
        assert rows[row["row"]].cell == row["cell"]
        for name in ("value", "low", "high"):
            value = known[row["cell"]][name]
            assert row[name] is None if is_missing(value) else row[name] == pytest.approx(100 * value, rel=1e-11)
    barred = [row["cell"] for row in own if row["low"] is not None]
    assert [row["cell"] for row in rows_with(spec, "low")] == barred


def test_points_stand_where_the_scores_are(make, spec, scene):
    """On one line from numbers to places, in the row of their cell, intervals around them."""
    own = [row for row in rows_with(spec, "value") if "cell" in row]
    dots = [mark for mark in scene.of("symbol", 0) if mark.item["fill"] == OURS]
    bars = [mark for mark in scene.of("rule", 0) if mark.item["stroke"] == OURS]
    assert len(dots) == len(own)
    if len(own) < 2:
        return
    (low, start), (high, end) = sorted((row["value"], dot.x) for row, dot in zip(own, dots, strict=True))[
        :: len(own) - 1
    ]
    unit = (end - start) / (high - low)
    assert unit > 0
    for row, dot in zip(own, dots, strict=True):
        assert dot.x == pytest.approx(start + unit * (row["value"] - low), abs=0.01)
    barred = [(row, dot) for row, dot in zip(own, dots, strict=True) if row["low"] is not None]
    for (row, dot), bar in zip(barred, bars, strict=True):
        assert bar.x == pytest.approx(start + unit * (row["low"] - low), abs=1.01)
        assert bar.item["x2"] - bar.item["x"] == pytest.approx(unit * (row["high"] - row["low"]), abs=0.01)
        assert bar.y == pytest.approx(dot.y, abs=1.01)
    heights = {row["row"]: dot.y for row, dot in zip(own, dots, strict=True)}
    assert all(heights[above] < heights[below] for above, below in pairwise(sorted(heights)))


@pytest.mark.parametrize(("column", "heading"), [("task", "Reuters-10"), ("weighting", "TF")])
def test_rows_that_share_a_task_or_else_a_weighting_stand_together(make, column, heading):
    cells = [
        CellInfo(name, {column: group, "normalization": norm, "kernel": kernel})
        for name, group, norm, kernel in [
            ("a", heading, "l1", "ngd"),
            ("b", "other", "l2", "linear"),
            ("c", heading, "none", "mnb"),
        ]
    ]
    summary = replace(make(), cells=tuple(cells), scores=summary_table(SCORE_COLUMNS), failures={})
    labels = [heading, "L1 · NGD", "mnb", "other", "L2 · LIN"]
    assert [(row.label, row.cell) for row in figure_rows(summary)] == list(
        zip(labels, ["", "a", "c", "", "b"], strict=True)
    )
    shown = [text for text in scene_of(dot_chart(summary)).texts if text.text in labels]
    assert [text.text for text in sorted(shown, key=lambda text: text.y)] == labels
    assert {text.text for text in shown if text.item.get("fontWeight") == "bold"} == {heading, "other"}


def test_published_markers_where_something_is_published(make, spec, scene):
    printed = main_verdicts(make())
    assert len(panels_of(spec)) == len(scene.panels) == (2 if printed else 1)
    diamonds = [mark for mark in scene.of("symbol", 0) if mark.item.get("stroke") == PUBLISHED]
    assert len(diamonds) == len(printed)
    assert {mark.item["shape"] for mark in diamonds} <= {"diamond"}
    assert [float(row["published"]) for row in printed.values()] == pytest.approx(
        [row["print"] for row in rows_with(spec, "print")]
    )


def test_ours_less_the_published_value_has_a_line_at_zero_and_the_same_rows(make, spec, scene):
    printed = main_verdicts(make())
    if not printed:
        return
    known = {row["cell"]: row for row in rows_with(spec, "less_value", 1)}
    assert set(known) == {cell for cell in printed if cell in headlines(make())}
    for cell, row in known.items():
        for name in ("value", "low", "high"):
            expected = printed[cell][name] - float(printed[cell]["published"])
            assert row[f"less_{name}"] == pytest.approx(expected, abs=1e-9)
    (zero,) = [mark for mark in scene.of("rule", 1) if mark.item["stroke"] == PUBLISHED]
    for row, dot in zip(known.values(), scene.of("symbol", 1), strict=True):
        if abs(row["less_value"]) > 0.1:
            assert (dot.x > zero.x) == (row["less_value"] > 0)
    beside = {mark.y for mark in scene.of("symbol", 0)}
    assert {mark.y for mark in scene.of("symbol", 1)} <= beside


def test_fractions_are_drawn_in_percent(make):
    summary = make()
    verdicts = summary.verdicts.copy()
    if len(verdicts):
        verdicts = verdicts[verdicts["metric"] == "accuracy"].copy()
        for name in ("value", "low", "high"):
            verdicts[name] /= 100
        verdicts["published"] = [f"{float(text) / 100:.4f}" for text in verdicts["published"]]
        verdicts["unit"] = "one"
        spec = dot_chart(replace(summary, verdicts=verdicts))
        assert min(row["print"] for row in rows_with(spec, "print")) > 1
        assert max(abs(row["less_value"]) for row in rows_with(spec, "less_value", 1)) > 0.1


def test_axis_legend_and_title_explain_the_picture(make, scene):
    summary = make()
    words = [text.text for text in scene.texts]
    assert "Accuracy (%)" in words
    assert " ".join(words).count(summary.title) == 1
    assert words.count("failed") == len(summary.failures)
    assert words.count(DOT_LABELS[0]) == 1
    assert words.count(DOT_LABELS[1]) == bool(main_verdicts(summary))
    samples = [looks(mark) for mark in scene.marks if mark.kind == "symbol" and mark.panel is None]
    assert {(stroke, shape) for stroke, _, shape in samples} >= {
        (mark.item.get("stroke", OURS), mark.item["shape"])
        for mark in scene.of("symbol", 0)
        if mark.item.get("stroke") == PUBLISHED
    }


def test_letters_are_legible_and_nothing_overlaps(scene):
    assert all(text.item["fontSize"] >= 8 for text in scene.texts)
    texts = [text for text in scene.texts if text.text != "failed"]
    for i, one in enumerate(texts):
        for other in texts[:i]:
            assert overlap(one.box, other.box) <= 0.5, (one.text, other.text)


def test_everything_lies_inside_the_page(scene):
    assert scene.width <= 504
    for text in scene.texts:
        left, top, right, bottom = text.box
        assert min(left, top) >= -0.5
        assert right <= scene.width + 0.5
        assert bottom <= scene.height + 0.5


def test_a_page_shows_what_a_file_shows(make, spec):
    pictures = dot_pictures(make())
    assert len(pictures) == len(panels_of(spec))
    for field, i in (("value", 0), ("print", 0), ("less_value", 1)):
        if i < len(pictures):
            page, own = rows_with(pictures[i].spec, field), rows_with(spec, field, i)
            assert page == own[: len(page)]
            assert len(own) == len(page) or len(page) > 150  # of very many rows a page shows some
    for each in pictures:
        alt.Chart.from_dict(each.spec, validate=True)
    alt.Chart.from_dict(spec, validate=True)


def test_two_drawings_have_equal_bytes(make, drawn):
    with alt.theme.enable("dark"):
        files = render_pictures({"figure": dot_chart(make())})["figure"]
    assert (files["svg"], files["png"]) == drawn


def test_files_name_no_date_and_no_software(drawn):
    svg, png = drawn
    ET.fromstring(svg)  # noqa: S314  our own
    assert not re.search(rb"<metadata|dc:date|20\d\d-\d\d-\d\d", svg)
    kinds, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kinds.append(png[at + 4 : at + 8])
        at += length + 12
    assert not {b"tEXt", b"tIME", b"iTXt", b"zTXt"} & set(kinds)


def test_an_svg_has_words_that_can_be_found_and_a_title(drawn):
    svg = drawn[0].decode()
    assert re.search(r"<title>Accuracy of each cell", svg)
    assert "Accuracy (%)</text>" in svg


class TestRanks:
    SCORES = ((0.9, 0.8, 0.7, 0.1), (0.8, 0.9, 0.6, 0.2), (0.95, 0.7, 0.8, 0.3))

    def test_bars_reach_half_of_the_critical_difference(self):
        ranking = rank_methods(["a", "b", "c", "a longer name of a method"], self.SCORES)
        spec = rank_chart(ranking)
        rows = rows_with(spec, "rank")
        assert [row["method"] for row in rows] == list(ranking.methods)
        assert [row["rank"] for row in rows] == pytest.approx(ranking.ranks)
        for row in rows:
            assert (row["low"] + row["high"]) / 2 == pytest.approx(row["rank"])
            assert row["high"] - row["low"] == pytest.approx(ranking.critical)
        for first, last in ranking.alike:  # the same as bars that overlap
            assert rows[first]["high"] > rows[last]["low"]
        alt.Chart.from_dict(spec, validate=True)

    def test_methods_stand_in_the_order_of_their_ranks_and_inside_the_page(self):
        ranking = rank_methods(["a", "b", "c", "a longer name of a method"], self.SCORES)
        scene = scene_of(rank_chart(ranking))
        names = [text for text in scene.texts if text.text in ranking.methods]
        assert [text.text for text in sorted(names, key=lambda text: text.y)] == list(ranking.methods)
        xs = [mark.x for mark in scene.of("symbol", 0)]
        assert xs == sorted(xs)
        assert scene.width <= 504

    def test_one_problem_tells_nothing_apart(self):
        """Where the critical difference is infinite there are no bars, but the ranks are drawn."""
        spec = rank_chart(rank_methods(["a", "b"], [(0.9, 0.8)]))
        assert [row["low"] for row in rows_with(spec, "rank")] == [None, None]
        assert render_pictures({"ranks": spec})["ranks"]["png"]
