"""The made-up summaries, and the pictures of them."""

from functools import cache

import pytest

from benchmark.report.drawing.dot_plot import dot_plot
from benchmark.report.drawing.style import png_bytes, svg_bytes
from tests.report.summaries import SUMMARIES, webkb_summary


@pytest.fixture(params=SUMMARIES)
def make(request):
    """A function that makes the summary anew."""
    return SUMMARIES[request.param]


@cache
def drawn_of(make):
    figure = dot_plot(make())
    return svg_bytes(figure), png_bytes(figure)


@pytest.fixture
def drawn(make):
    """SVG and PNG of the summary's dot plot, drawn once for all tests."""
    return drawn_of(make)


@pytest.fixture(scope="session")
def webkb():
    return webkb_summary()
