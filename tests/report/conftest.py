"""The made-up summaries, and the pictures of them."""

from functools import cache

import pytest

from benchmark.report.drawing.dots import dot_chart
from benchmark.report.drawing.render import render_pictures
from tests.report.summaries import SUMMARIES, webkb_summary


@pytest.fixture(params=SUMMARIES)
def make(request):
    """A function that makes the summary anew."""
    return SUMMARIES[request.param]


@cache
def drawn_of(make):
    files = render_pictures({"figure": dot_chart(make())})["figure"]
    return files["svg"], files["png"]


@pytest.fixture
def drawn(make):
    """SVG and PNG of the summary's dot plot, drawn once for all tests."""
    return drawn_of(make)


@pytest.fixture(scope="session")
def webkb():
    return webkb_summary()
