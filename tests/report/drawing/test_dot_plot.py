import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from benchmark.evaluation.scored import SCORES
from benchmark.report.contents import CellInfo, frame
from benchmark.report.drawing.dot_plot import dot_plot, figure_rows
from benchmark.report.drawing.style import png_bytes, svg_bytes
from benchmark.report.grids import main_verdicts


@pytest.fixture
def figure(make):
    """The dot plot, made once for all tests that look at it."""
    return figure_of(make)


@cache
def figure_of(make):
    found = dot_plot(make())
    found.draw_without_rendering()
    return found


def line(axes, label):
    return next((each for each in axes.get_lines() if each.get_label() == label), None)


def test_one_point_a_scored_cell(make, figure):
    summary, panel = make(), figure.axes[0]
    assert len(line(panel, "ours").get_xdata()) == len(summary.cells) - len(summary.failures)


def test_points_stand_where_the_scores_are(make, figure):
    summary, panel = make(), figure.axes[0]
    rows = figure_rows(summary)
    headline = summary.scores[(summary.scores["fold"] == "all") & (summary.scores["metric"] == "accuracy")]
    value = dict(zip(headline["cell"], headline["value"], strict=True))
    for x, y in line(panel, "ours").get_xydata():
        assert x == pytest.approx(100 * value[rows[int(y)].cell])


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
    rows = figure_rows(replace(make(), cells=tuple(cells), scores=frame(SCORES), failures={}))
    assert [(row.label, row.cell) for row in rows] == [
        (heading, ""),
        ("L1 · NGD", "a"),
        ("mnb", "c"),
        ("other", ""),
        ("L2 · LIN", "b"),
    ]


def test_published_markers_where_something_is_published(make, figure):
    printed = main_verdicts(make())
    assert len(figure.axes) == (2 if printed else 1)
    if printed:
        xs = sorted(line(figure.axes[0], "published").get_xdata())
        assert xs == pytest.approx(sorted(float(row["published"]) for row in printed.values()))
        assert len(line(figure.axes[1], "ours").get_xdata()) == len(printed)
    else:
        assert line(figure.axes[0], "published") is None


def test_fractions_are_drawn_in_percent(make):
    summary = make()
    verdicts = summary.verdicts.copy()
    if len(verdicts):
        verdicts = verdicts[verdicts["metric"] == "accuracy"].copy()
        for name in ("value", "low", "high"):
            verdicts[name] /= 100
        verdicts["published"] = [f"{float(text) / 100:.4f}" for text in verdicts["published"]]
        verdicts["unit"] = "one"
        figure = dot_plot(replace(summary, verdicts=verdicts))
        assert min(line(figure.axes[0], "published").get_xdata()) > 1
        assert np.abs(line(figure.axes[1], "ours").get_xdata()).max() > 0.1


def test_axis_legend_and_title_explain_the_picture(make, figure):
    summary = make()
    assert figure.axes[0].get_xlabel() == "Accuracy (%)"
    assert any("95 % interval" in text.get_text() for text in figure.legends[0].get_texts())
    assert figure.get_suptitle() == summary.title
    failed = [text for text in figure.axes[0].texts if text.get_text() == "failed"]
    assert len(failed) == len(summary.failures)


def test_letters_are_legible_and_rows_apart(figure):
    labels = figure.axes[0].get_yticklabels()
    assert min(label.get_fontsize() for label in labels) >= 8
    boxes = [label.get_window_extent() for label in labels]
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))


def test_everything_lies_inside_the_page(figure):
    tight, page = figure.get_tightbbox(), figure.bbox_inches
    assert tight.x0 >= -0.01
    assert tight.y0 >= -0.01
    assert tight.x1 <= page.x1 + 0.01
    assert tight.y1 <= page.y1 + 0.01


def test_two_drawings_have_equal_bytes(make, drawn):
    svg, png = drawn
    second = dot_plot(make())
    assert svg_bytes(second) == svg
    assert png_bytes(second) == png
    assert png_bytes(second) == png


def test_files_name_no_date_and_no_software(drawn):
    svg, png = drawn
    ET.fromstring(svg)  # noqa: S314  our own
    assert b"<dc:date>" not in svg
    kinds, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kinds.append(png[at + 4 : at + 8])
        at += length + 12
    assert not {b"tEXt", b"tIME", b"iTXt", b"zTXt"} & set(kinds)
