import re

import numpy as np
import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.report.curve_tables import CURVE_COLUMNS, axis_number_text, chart_decimals, chart_rows, curve_table


def chart_of(*panels, scale=100.0, bars="two standard deviations of the draws"):
    return Chart("c", "WebKB", "Training documents", "Test error (%)", panels, bars=bars, scale=scale)


SVM = Line("SVM", (50.0, 100.0), (0.123, 0.08), (0.111, 0.05), (0.135, 0.09))
BAYES = Line("naive Bayes", (100.0, 12500.0), (0.2, 0.1))
PANEL = ChartPanel("course\nbest on the test", (SVM, BAYES), (0.0, 0.4))


def test_one_row_a_line_and_one_column_an_x():
    grid = curve_table(chart_of(PANEL))
    assert grid.header == ("series", "50", "100", "12,500")
    assert grid.texts == (
        ("SVM", "12.3 ± 1.2", "8.0 [5.0, 9.0]", "–"),
        ("naive Bayes", "–", "20.0", "10.0"),
    )
    assert [column.name for column in grid.columns if column.unit is None] == ["series"]


def test_the_title_says_what_the_cells_columns_and_bars_are():
    title = curve_table(chart_of(PANEL)).title
    assert title == (
        "course, best on the test: test error (%) [two standard deviations of the draws], by training documents"
    )
    plain = ChartPanel("", (BAYES,))
    assert curve_table(chart_of(plain)).title == "WebKB: test error (%), by training documents"


@pytest.mark.parametrize("seed", range(5))
def test_cells_round_to_the_numbers_within_half_a_unit(seed):
    rng = np.random.default_rng([seed, 4])
    scale = 10.0 ** rng.integers(-3, 4)
    x = tuple(np.cumsum(rng.uniform(0.5, 9, 4)))
    y, reach = rng.normal(size=4), rng.uniform(0.1, 0.2, 4)
    symmetric = Line("symmetric", x, tuple(y), tuple(y - reach), tuple(y + reach))
    skewed = Line("skewed", x, tuple(y), tuple(y - reach), tuple(y + 2 * reach))
    panel = ChartPanel("p", (symmetric, skewed))
    chart = chart_of(panel, scale=scale)
    half = 0.5 * 10.0 ** -chart_decimals(chart) * (1 + 1e-9)
    for line, row in zip(panel.lines, curve_table(chart).rows, strict=True):
        for i, text in enumerate(row[1:]):
            numbers = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]
            if line is symmetric:
                assert "±" in text
                expected = [line.y[i], reach[i]]
            else:
                assert text.endswith("]")
                expected = [line.y[i], line.low[i], line.high[i]]
            assert np.abs(np.array(numbers) - scale * np.array(expected)).max() <= half


@pytest.mark.parametrize(
    ("reach", "scale", "decimals"),
    [(0.012, 100, 1), (0.12, 100, 0), (0.0012, 100, 2), (0.0099, 100, 2), (12.0, 1, 0), (0.0123, 1, 3), (1e-12, 1, 6)],
)
def test_a_bar_has_two_digits(reach, scale, decimals):
    panel = ChartPanel("p", (Line("a", (1.0,), (1.0,), (1.0 - reach,), (1.0 + reach,)),))
    assert chart_decimals(chart_of(panel, scale=scale)) == decimals


@pytest.mark.parametrize(
    ("y", "decimals"), [((0.1, 0.5), 1), ((0.5, 0.5), 1), ((0.0, 0.0), 2), ((0.1, 0.105), 3), ((1.0, 90.0), 0)]
)
def test_without_bars_the_range_has_three_digits(y, decimals):
    panel = ChartPanel("p", (Line("a", (1.0, 2.0), y),))
    assert chart_decimals(chart_of(panel)) == decimals


def test_a_narrow_table_has_both_ends_and_evenly_spaced_columns_between():
    line = Line("a", tuple(map(float, range(9))), (0.5,) * 9)
    table = curve_table(chart_of(ChartPanel("p", (line,))))
    shown = [table.fitted(width).header[1:] for width in (100, table.width - 1, 20, 1)]
    every = [str(i) for i in range(9)]
    assert shown == [tuple(every), tuple(every[::2]), ("0", "8"), ("0", "8")]


def test_the_rows_hold_every_point_unscaled():
    second = ChartPanel("faculty", (SVM,))
    columns = dict(zip(CURVE_COLUMNS, zip(*chart_rows(chart_of(PANEL, second)), strict=True), strict=True))
    assert columns["panel"] == ("course, best on the test",) * 4 + ("faculty",) * 2
    assert columns["series"] == ("SVM",) * 2 + ("naive Bayes",) * 2 + ("SVM",) * 2
    for name in ("x", "y"):
        assert columns[name] == (*getattr(SVM, name), *getattr(BAYES, name), *getattr(SVM, name))
    for name in ("low", "high"):
        np.testing.assert_equal(columns[name], (*getattr(SVM, name), np.nan, np.nan, *getattr(SVM, name)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((50.0, "50"), (0.25, "0.25"), (999.0, "999"), (9999.0, "9,999"), (1_500_000.0, "1,500,000"), (-0.0, "0")),
        *((0.001, "0.001"), (1e-6, "10⁻⁶"), (-2.5e-6, "-2.5 × 10⁻⁶"), (3e-12, "3 × 10⁻¹²")),
    ],
)
def test_positions_are_written_plainly(value, text):
    assert axis_number_text(value) == text
