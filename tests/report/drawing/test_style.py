"""Broken text keeps its words and fits, where its words do."""

import pytest
from matplotlib.textpath import TextPath

from benchmark.report.drawing.style import house_style, text_width, wrapped

TITLE = "Test error of every kernel against the number of training documents, (a) to (d)\nand a second line of it"


@pytest.mark.parametrize("points", [90.0, 150.0, 1000.0])
@pytest.mark.parametrize("size", [8.0, 11.0])
def test_lines_fit_and_hold_all_words(points, size):
    with house_style():
        text = wrapped(TITLE, points, size)
        assert text.split() == TITLE.split()
        assert text_width(text, size) <= points
        assert text_width(text, size) == max(text_width(line, size) for line in text.split("\n"))


@pytest.mark.parametrize("line", ["of every kernel", "ao", "(été)", "Ọj%", "中文 x", "-|-", "T.", "m8", "'a'", "OœC"])
def test_a_width_is_that_of_all_outlines(line):
    with house_style():
        for size in (8.0, 11.0):
            assert text_width(line, size) == TextPath((0, 0), line, size=size).get_extents().width


def test_what_fits_is_left_alone():
    with house_style():
        assert wrapped(TITLE, 1000.0, 8.0) == TITLE
        assert wrapped("", 50.0, 8.0) == ""
        assert text_width(" ", 8.0) == 0


def test_a_word_wider_than_the_line_is_broken():
    with house_style():
        text = wrapped("a" * 60, 50.0, 8.0)
        assert text.replace("\n", "") == "a" * 60
        assert text_width(text, 8.0) <= 50
