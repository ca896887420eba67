"""Axes show every number and start at zero where there is room; lines that stand aside stay near their x."""

import re
from itertools import pairwise

import altair as alt
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.report.curve_tables import axis_number_text
from benchmark.report.drawing.axes import (
    bar_offsets,
    ends_and_ticks,
    log_ticks,
    number_expression,
    offset_x,
    powers_below,
    x_limits,
    y_limits,
    y_ticks,
)
from benchmark.report.drawing.render import render_pictures
from benchmark.report.drawing.spec import figure_spec, rows_data, spec_of


@pytest.mark.parametrize(
    ("values", "scale", "expected"),
    [
        ((0.1, 0.5), 100, (0, 52)),
        ((0.8, 0.9), 100, (79.5, 90.5)),
        ((0.9, 0.999), 100, (89.505, 100)),
        ((-0.1, 0.3), 1, (-0.12, 0.32)),
        ((0.0, 0.0), 1, (0, 1)),
        ((5.0, 5.0), 1, (4.5, 5.5)),
    ],
)
def test_the_y_axis_starts_at_zero_where_the_curves_leave_room(values, scale, expected):
    panel = ChartPanel("", (Line("a", (1.0, 2.0), values),))
    assert y_limits((panel,), Chart("c", "", "", "", (panel,), scale=scale)) == pytest.approx(expected)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 100.0])
def test_lines_with_bars_stand_side_by_side_nearest_to_their_own_x(log, unit):
    xs = (1.0, 10.0, 14.0, 1000.0)
    barred = [Line(f"line {i}", xs, (0.5,) * 4, (0.4,) * 4, (0.6,) * 4) for i in range(5)]
    offsets, step = bar_offsets([*barred, Line("bare", xs, (0.5,) * 4)], unit, log=log)
    assert offsets[-1] == 0
    np.testing.assert_allclose(np.diff(offsets[:-1]), step * unit)
    assert sum(offsets) == pytest.approx(0)
    along = np.log10(xs) if log else np.array(xs)
    for offset in offsets:
        places = [offset_x(x, offset, log=log) for x in xs]
        aside = np.abs((np.log10(places) if log else np.array(places)) - along)
        np.testing.assert_allclose(aside, abs(offset), atol=1e-9)
        assert aside.max() < min(right - left for left, right in pairwise(along)) / 2


def test_a_single_line_with_bars_is_not_moved():
    line = Line("a", (1.0, 2.0), (0.5, 0.5), (0.4, 0.4), (0.6, 0.6))
    assert bar_offsets([line, Line("bare", (1.0,), (0.5,))], 1.0, log=False) == ([0.0, 0.0], np.inf)


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1e6), (2.0, 9.0), (0.03, 0.05), (4.5, 4.6), (1e-6, 0.3), (5.0, 500.0), (1e-12, 1.0)]
)
def test_ticks_of_a_logarithmic_axis_are_round_and_lie_on_it(low, high):
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(set(ticks))
    if len(ticks) > 2:
        assert all(float(f"{tick:.1g}") == tick for tick in ticks)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("xs", [(3.0,), (), (1.0, 5.0)])
def test_an_axis_has_two_ends_whatever_it_shows(xs, log):
    low, high = x_limits(xs, log=log)
    assert low < high
    assert all(low <= x <= high for x in xs)
    assert not log or low > 0


def test_a_picture_writes_numbers_as_tables_do():
    """The axis of Vega, whose numbers are written by an expression, has the texts of `axis_number_text`."""
    axes = [
        (1e-12, 1e-6, 2.5e-6, 0.01, 0.5, 1.0, 20.0),
        (0.001, 0.25, 999.0, 1000.0, 9999.5, 12_500.0, 1_500_000.0),
        (3e-10, 4e-11, 9e-4),
    ]
    cases = {f"{i} {log}": (numbers, log) for i, numbers in enumerate(axes) for log in (False, True)}
    specs = {}
    for name, (numbers, log) in cases.items():
        rows = [{"x": i, "y": number} for i, number in enumerate(numbers)]
        scale = alt.Scale(type="log", domain=[min(numbers) / 2, 2 * max(numbers)], nice=False)
        axis = alt.Axis(values=list(numbers), labelExpr=number_expression(numbers, log=log), labelOverlap=False)
        drawn = alt.Chart(rows_data(rows)).mark_point().encode(alt.Y("y:Q", scale=scale, axis=axis, title=None))
        specs[name] = figure_spec("", [spec_of(drawn)])
    for name, files in render_pictures(specs).items():
        numbers, log = cases.pop(name)
        texts = set(re.findall(r">([^<>]+)</text>", files["svg"].decode()))
        assert texts == {axis_number_text(number, powers_below(numbers, log=log)) for number in numbers}
    assert cases == {}


@settings(max_examples=200)
@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6), st.floats(70, 400))
def test_a_vertical_axis_has_about_five_to_eight_round_ticks(low, length, height):
    high = low + length
    assume(high - low > 1e-9 * max(abs(low), 1))
    ticks = y_ticks((low, high), height, log=False)
    assert len(ticks) <= 8
    assert len(ticks) >= (4 if height > 8 * 13 else 3)
    assert len(ticks) < 2 or min(np.diff(ticks)) / length * height >= 8.5
    assert all(low - 1e-6 * length <= tick <= high + 1e-6 * length for tick in ticks)
    np.testing.assert_allclose(np.diff(ticks), np.diff(ticks)[0], rtol=1e-3)


@settings(max_examples=200)
@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e4))
def test_a_horizontal_axis_shows_its_numbers_and_five_to_eight_ticks(low, length):
    high = low + length
    (start, end), ticks = ends_and_ticks(low, high, 5, 8)
    assert start <= low < high <= end
    assert end - start <= 2 * length
    assert 5 <= len(ticks) <= 8
    assert all(start <= tick <= end for tick in ticks)
