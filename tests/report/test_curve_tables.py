"""The table of a chart has its numbers, with as many digits as its bars need."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmark.report.curve_tables import chart_decimals, chart_points, curve_table
from tests.report.rows import chart_of, points_of

SVM = points_of("course\nbest on the test", "SVM", (50, 100), (0.123, 0.08), (0.111, 0.05), (0.135, 0.09))
BAYES = points_of("course\nbest on the test", "naive Bayes", (100, 12500), (0.2, 0.1))


def test_one_row_a_line_one_column_an_x_and_a_title_that_says_what_they_are() -> None:
    chart = chart_of(SVM, BAYES, title="WebKB", x_label="Training documents", y_label="Test error (%)", bars="2 sd")
    table = curve_table(chart)
    assert table.header == ("series", "50", "100", "12,500")
    assert table.texts == (("SVM", "12.3 ± 1.2", "8.0 [5.0, 9.0]", "–"), ("naive Bayes", "–", "20.0", "10.0"))
    assert table.title == "course, best on the test: test error (%) [2 sd], by training documents"
    points = chart_points(chart)
    assert set(points["panel"]) == {"course, best on the test"}
    assert points["y"].tolist() == [0.123, 0.08, 0.2, 0.1]


@pytest.mark.parametrize("seed", range(3))
def test_cells_round_to_the_numbers_within_half_a_unit(seed: int) -> None:
    rng = np.random.default_rng([seed, 4])
    scale, x = 10.0 ** rng.integers(-3, 4), np.cumsum(rng.uniform(0.5, 9, 4))
    y, reach = rng.normal(size=4), rng.uniform(0.1, 0.2, 4)
    chart = chart_of(
        points_of("p", "symmetric", x, y, y - reach, y + reach),
        points_of("p", "skewed", x, y, y - reach, y + 2 * reach),
        scale=scale,
    )
    half = 0.5 * 10.0 ** -chart_decimals(chart) * (1 + 1e-9)
    expected = [[y, reach], [y, y - reach, y + 2 * reach]]
    for row, numbers in zip(curve_table(chart).rows, expected, strict=True):
        for text, *own in zip(row[1:], *numbers, strict=True):
            found = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]
            assert np.abs(np.array(found) - scale * np.array(own)).max() <= half
