"""The look: text fits, colours are those of the page's style sheet."""

import json
import re
from importlib.resources import files

import pytest
import vl_convert

from benchmark.report.drawing.spec import page_spec
from benchmark.report.drawing.theme import CSS_VARIABLES, FILE_CONFIG, FONT, text_width, wrap_text

TITLE = "Test error of every kernel against the number of training documents, (a) to (d)\nand a second line of it"


@pytest.mark.parametrize("points", [90.0, 150.0, 1000.0])
@pytest.mark.parametrize("size", [8.0, 11.0])
def test_lines_fit_and_hold_all_words(points, size):
    lines = wrap_text(TITLE, points, size)
    assert " ".join(lines).split() == TITLE.split()
    assert max(text_width(line, size) for line in lines) <= points
    assert text_width("\n".join(lines), size) == max(text_width(line, size) for line in lines)


@pytest.mark.parametrize(
    "line", ["of every kernel", "L1 · NGD, TF×IDF", "100,000 (95 %)", "Ours − published", "W@M{}|^'\"*"]
)
def test_a_width_is_that_of_the_letters_which_come_with_vl_convert(line):
    """A picture of one text without margins is as wide as the text, in whole points."""
    look = {"type": "text", "text": line, "align": "left", "fontSize": 40, "font": FONT}
    spec = {"data": {"values": [{}]}, "mark": look, "width": 1, "height": 1, "padding": 0}
    spec["encoding"] = {"x": {"value": 0}, "y": {"value": 0}}
    spec["config"] = {"view": {"stroke": None}}
    svg = vl_convert.vegalite_to_svg(spec)
    (width,) = re.findall(r'<svg[^>]* width="(\d+)"', svg)
    assert int(width) == pytest.approx(text_width(line, 40), rel=0.02, abs=1.5)


def test_what_fits_is_left_alone():
    assert wrap_text(TITLE, 1000.0, 8.0) == TITLE.split("\n")
    assert wrap_text("", 50.0, 8.0) == []
    assert text_width("", 8.0) == 0


def test_a_word_wider_than_the_line_is_broken():
    lines = wrap_text("a" * 60, 50.0, 8.0)
    assert "".join(lines) == "a" * 60
    assert max(text_width(line, 8.0) for line in lines) <= 50


def test_a_page_has_a_variable_of_the_same_colour_for_each():
    css = (files("benchmark.report") / "templates" / "report.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", css.split(":root[data-theme")[0]))
    assert CSS_VARIABLES
    for colour, variable in CSS_VARIABLES.items():
        assert light[re.fullmatch(r"var\((--\w+)\)", variable)[1]] == colour


def test_on_a_page_no_colour_is_left_that_a_theme_would_change():
    assert not [colour for colour in CSS_VARIABLES if colour in json.dumps(page_spec({"config": FILE_CONFIG}))]
