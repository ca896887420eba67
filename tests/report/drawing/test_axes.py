"""Axes show every number and start at zero where there is room; lines that stand aside stay near their x."""

from itertools import pairwise

import numpy as np
import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.report.drawing.axes import bar_offsets, log_ticks, offset_x, x_limits, y_limits


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


@pytest.mark.parametrize(("low", "high"), [(1.0, 1e6), (2.0, 9.0), (0.03, 0.05), (4.5, 4.6), (1e-6, 0.3), (5.0, 500.0)])
def test_ticks_of_a_logarithmic_axis_are_round_and_lie_on_it(low, high):
    ticks = log_ticks(low, high)
    assert len(ticks) >= 2
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
