"""Dots: every number of a cell and the published one beside it, in rows that can be read."""

import re
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from html import unescape
from itertools import pairwise

import altair as alt
import pytest

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.ranking import BASELINE, NOT_COMPARED, NOT_SHOWN, ranked_cells, ranking
from benchmark.report.drawing.axes import round_ticks
from benchmark.report.drawing.dots import DOT_LABELS, dot_chart, dot_pictures
from benchmark.report.drawing.theme import COLUMN_WIDTH, PUBLISHED
from benchmark.report.tables import main_verdicts
from tests.scenes import assert_vega_lite, looks, overlap, panels_of, rows_of, scene_of


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
    """The rows that have this number, of the layer whose x it is; none where there is no such layer."""
    part = panels_of(spec)[panel]
    layers = [each for each in part["layer"] if each["encoding"].get("x", {}).get("field") == field]
    layers = [each for each in layers if each["mark"]["type"] != "text"]
    return [row for layer in layers for row in rows_of(spec, layer, part) if row.get(field) is not None]


def ours(marks):
    """The marks that are not of a published value."""
    return [mark for mark in marks if mark.item.get("stroke") != PUBLISHED]


def headlines(summary):
    rows = summary.scores[(summary.scores["fold"] == "all") & (summary.scores["metric"] == "accuracy")]
    return {row["cell"]: row for row in rows.to_dict("records")}


def test_one_point_a_scored_cell_with_its_numbers(make, spec):
    summary = make()
    own = [row for row in rows_with(spec, "value") if "cell" in row]
    assert len(own) == len(summary.cells) - len(summary.failures)
    known, rows = headlines(summary), ranked_cells(summary)
    for row in own:
        assert rows[row["row"]] == row["cell"]
        for name in ("value", "low", "high"):
            value = known[row["cell"]][name]
            assert row[name] is None if is_missing(value) else row[name] == pytest.approx(100 * value, rel=1e-11)
        assert row["ours"] == f"{100 * known[row['cell']]['value']:.2f}"
    barred = [row["cell"] for row in own if row["low"] is not None]
    assert [row["cell"] for row in rows_with(spec, "low")] == barred


def test_points_stand_where_the_scores_are(make, spec, scene):
    """On one line from numbers to places, in the row of their cell, intervals around them."""
    own = [row for row in rows_with(spec, "value") if "cell" in row]
    dots, bars = ours(scene.of("symbol", 0)), ours(scene.of("rule", 0))
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


def test_published_markers_where_something_is_published(make, spec, scene):
    printed = main_verdicts(make())
    assert len(panels_of(spec)) == len(scene.panels) == (2 if printed else 1)
    diamonds = [mark for mark in scene.of("symbol", 0) if mark.item.get("stroke") == PUBLISHED]
    assert len(diamonds) == len(printed)
    assert {mark.item["shape"] for mark in diamonds} <= {"diamond"}
    drawn = {row["cell"]: row["print"] for row in rows_with(spec, "print")}
    assert {cell: float(row["published"]) for cell, row in printed.items()} == pytest.approx(drawn)


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
    compared = len(summary.differences) > 0
    assert words.count(DOT_LABELS[0]) == (not compared)
    assert words.count("better than tf-l2-linear") == (compared and "tf-l1-ngd" not in summary.failures)
    assert words.count("tf-l2-linear; band: its interval") == compared
    assert words.count(DOT_LABELS[1]) == bool(main_verdicts(summary))
    samples = [looks(mark) for mark in scene.marks if mark.kind == "symbol" and mark.panel is None]
    assert {(stroke, shape) for stroke, _, shape in samples} >= {
        (mark.item["stroke"], mark.item["shape"]) for mark in scene.of("symbol", 0)
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
            shown = (rows_with(pictures[i].spec, field), rows_with(spec, field, i))
            page, own = ({row["cell"]: row for row in rows} for rows in shown)
            assert page.keys() == own.keys()
            for cell, row in page.items():
                assert {name: row[name] for name in own[cell] if name != "row"} == {
                    name: value for name, value in own[cell].items() if name != "row"
                }
    for each in pictures:
        assert_vega_lite(each.spec)
    assert_vega_lite(spec)


def test_two_drawings_have_equal_specifications(make, spec):
    with alt.theme.enable("dark"):
        assert dot_chart(make()) == spec


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


def test_an_svg_has_words_that_can_be_found_a_title_and_a_description(drawn, make):
    svg = drawn[0].decode()
    (title,), (description,) = (re.findall(f"<{name}>(.*?)</{name}>", svg) for name in ("title", "desc"))
    assert unescape(title).split() == make().title.split()
    assert description.startswith("Accuracy of each cell")
    assert "Accuracy (%)</text>" in svg


def test_in_a_column_every_number_is_drawn_within_its_width(make):
    spec = dot_chart(make(), COLUMN_WIDTH)
    scene, wide = scene_of(spec), drawn_of(make)[0]
    assert scene.width <= COLUMN_WIDTH + 2
    assert [row["value"] for row in rows_with(spec, "value")] == [row["value"] for row in rows_with(wide, "value")]
    names = [mark.box for mark in scene.texts if mark.role == "axis-label" and mark.item.get("align") == "right"]
    assert all(overlap(a, b) <= 0.5 for a, b in pairwise(sorted(names, key=lambda box: box[1])))


class TestRanking:
    def test_the_best_of_each_setting_comes_first(self, make):
        summary = make()
        order = ranking(summary).order
        assert sorted(order) == sorted(cell.id for cell in summary.cells)
        values = [headlines(summary)[cell]["value"] for cell in order if cell in headlines(summary)]
        assert values == sorted(values, reverse=True)
        assert set(order[len(values) :]) == set(summary.failures)
        errors = replace(summary, scores=summary.scores.replace({"metric": {"accuracy": "error"}}))
        order = ranking(errors).order
        again = [headlines(summary)[cell]["value"] for cell in order if cell in headlines(summary)]
        assert again == values[::-1]
        assert set(order[len(values) :]) == set(summary.failures)  # no error is better than a failure

    def test_scores_of_different_settings_are_not_put_in_one_order(self, webkb):
        tasks = tuple(replace(cell, task=f"task {i % 2}") for i, cell in enumerate(webkb.cells))
        order = ranking(replace(webkb, cells=tasks)).order
        places = [[cell.id for cell in webkb.cells].index(name) % 2 for name in order]
        assert places == sorted(places)

    def test_a_page_has_the_best_first_and_the_order_of_the_configuration_at_a_click(self, webkb):
        spec = dot_pictures(webkb)[0].spec
        rows = {row["cell"]: row for row in rows_with(spec, "value")}
        assert [rows[name]["rank"] for name in ranking(webkb).order] == list(range(10))
        assert [rows[cell.id]["place"] for cell in webkb.cells] == list(range(10))
        assert {param["name"]: param["value"] for param in spec["params"]} == {"order": "score", "shown": None}

    def test_the_band_is_the_interval_of_the_cell_that_others_are_compared_with(self, webkb):
        spec, base = dot_chart(webkb), headlines(webkb)["tf-l2-linear"]
        for row in rows_with(spec, "base_low"):
            assert (row["base_low"], row["base_high"]) == pytest.approx((100 * base["low"], 100 * base["high"]))
        said = ranking(webkb).outcomes
        assert said["tf-l1-ngd"] == "better"
        assert said["tf-l2-linear"] == BASELINE
        assert {said[cell.id] for cell in webkb.cells} == {"better", BASELINE, NOT_COMPARED}
        assert not rows_with(dot_chart(replace(webkb, differences=webkb.differences[:0])), "base_low")

    def test_a_worse_cell_and_an_undecided_one_look_otherwise(self, webkb):
        worse = replace(webkb, differences=webkb.differences.assign(value=-0.03, low=-0.04, high=-0.02))
        assert ranking(worse).outcomes["tf-l1-ngd"] == "worse"
        open_one = replace(webkb, significance=webkb.significance.assign(p_holm=0.2, note=""))
        assert ranking(open_one).outcomes["tf-l1-ngd"] == NOT_SHOWN
        marks = [scene_of(dot_chart(each)).of("symbol", 0) for each in (webkb, worse, open_one)]
        shown = [{looks(mark) for mark in own} for own in marks]
        assert all(one != other for one, other in pairwise(shown))


@pytest.mark.parametrize("ends", [(29.0, 98.0), (0.0, 1.0), (54.3, 92.1), (-3.2, 17.0), (1e-4, 7e-4), (95.0, 99.9)])
def test_an_axis_has_five_to_eight_round_ticks(ends):
    ticks = round_ticks(*ends, 5, 8)
    assert 4 <= len(ticks) <= 8
    assert ends[0] <= ticks[0] < ticks[-1] <= ends[1]
    steps = {round((b - a) / (ticks[1] - ticks[0]), 6) for a, b in pairwise(ticks)}
    assert steps == {1.0}
