"""Figures: they show the numbers of their frame, legibly, and nothing of them is lost where the engine fails."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import LinearNDInterpolator

from benchmark.analysis.comparisons import ranked_cells
from benchmark.report.drawing.curves import curve_chart, curve_charts
from benchmark.report.drawing.dots import dot_chart
from benchmark.report.drawing.regions import figure_positions, region_chart
from benchmark.report.drawing.render import render_pictures
from benchmark.report.drawing.spec import CSS_VARIABLES, DARK_COLOURS, INK, MUTED, page_spec
from benchmark.report.environment import template_file
from tests.report.regions import figure_of, panels
from tests.report.rows import chart_of, points_of
from tests.report.summaries import SUMMARIES

SHARES = chart_of(
    points_of("one", "a", (50, 100, 200), (0.31, 0.45, 0.6), (0.3, 0.4, 0.58), (0.33, 0.5, 0.61)),
    points_of("one", "b", (50, 100), (0.5, 0.55)),
    points_of("one", "c", (50, 100, 200), (0.3, 0.5, 0.62), (0.2, 0.45, 0.6), (0.4, 0.55, 0.64)),
    points_of("two", "c", (50, 200), (0.9, 0.95)),
    points_of("chosen on the test", "a", (50,), (0.1,)),
    name="shares",
    oracle=frozenset({"chosen on the test"}),
)
RATIOS = chart_of(
    points_of("all", "c", (1.5, 2.5, 4000), (0.001, 0.02, 3.0), (0.0, 0.01, 2.0), (0.002, 0.03, 4.0)),
    name="ratios",
    scale=1.0,
    log_x=True,
    log_y=True,
    round_x=True,
    reference=1.0,
)


@cache
def figures() -> dict[str, Any]:
    """Specifications of every kind of figure, by name."""
    named = {name: dot_chart(make()) for name, make in SUMMARIES.items()}
    named |= curve_charts((SHARES, RATIOS)) | {"regions": region_chart(figure_of(panels()[:2], panels()[2:]))}
    return named


@cache
def drawn() -> dict[str, str]:
    """Every figure as SVG."""
    return {name: files["svg"].decode() for name, files in render_pictures(figures()).items()}


def rows_of(spec: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the rows of the data that have a field."""
    return [row for rows in spec["datasets"].values() for row in rows if key in row]


def symbols(svg: str) -> int:
    """Return how many marks are drawn, those of the legend left out."""
    groups = re.findall(r'class="mark-symbol role-mark.*?</g>', svg, re.DOTALL)
    return sum(group.count("<path") for group in groups)


def test_figures_are_legible_in_a_readme() -> None:
    assert list(drawn()) == list(figures())
    for name, svg in drawn().items():
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])  # type: ignore[index]
        sizes = {float(size) * min(506 / width, 1) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
        assert min(sizes) >= 10.9, (name, width)
        assert "prefers-color-scheme: dark" in svg
        assert f'[fill="{INK}"]{{fill:{DARK_COLOURS[INK]}}}' in svg
        assert "<title>" in svg


def test_colours_follow_the_theme_of_a_page() -> None:
    css = template_file("report.css")
    for name, spec in figures().items():
        text = str(page_spec(spec))
        assert not re.search("|".join(CSS_VARIABLES), text), name
        for variable in set(re.findall(r"var\((--\w+)\)", text)):
            assert f"{variable}: " in css


class TestDots:
    def test_each_cell_has_its_numbers_and_the_best_is_on_top(self) -> None:
        for name, make in SUMMARIES.items():
            summary, spec = make(), figures()[name]
            rows = rows_of(spec, "cell")
            assert [row["cell"] for row in rows] == list(ranked_cells(summary))
            published = {row["cell"]: row for row in summary.verdicts.to_dict("records")}
            for row in rows:
                score = summary.headlines.get((row["cell"], "accuracy"), {})
                for end in ("value", "low", "high"):
                    expected = score.get(end)
                    missing = expected is None or np.isnan(expected)
                    assert row[end] == (None if missing else pytest.approx(100 * expected))
                assert row["published"] == (
                    pytest.approx(float(published[row["cell"]]["published"])) if row["cell"] in published else None
                )
                assert row["failed"] == (row["cell"] in summary.failures)
            marks = sum(row["value"] is not None for row in rows) + sum(row["published"] is not None for row in rows)
            assert symbols(drawn()[name]) == marks, name


class TestCurves:
    def test_each_point_has_its_numbers(self) -> None:
        for chart in (SHARES, RATIOS):
            rows = rows_of(figures()[chart.name], "series")
            points = chart.points[~chart.points["panel"].isin(chart.oracle)]
            assert len(rows) == len(points) == symbols(drawn()[chart.name])
            for row, point in zip(rows, points.itertuples(), strict=True):
                assert (row["series"], row["x"], row["y"]) == (
                    point.series,
                    point.x,
                    pytest.approx(chart.scale * point.y),
                )
                for end in ("low", "high"):
                    if getattr(point, end) > 0:
                        assert row[end] == pytest.approx(chart.scale * getattr(point, end))
                    else:  # none, or below a logarithmic axis
                        assert row[end] is None or row[end] < chart.scale * point.y

    def test_panels_chosen_on_the_test_documents_stand_back_and_the_head_says_what_bars_are(self) -> None:
        spec = figures()["shares"]
        assert [" ".join(part["title"]["text"]) for part in spec["concat"]] == ["one", "two"]
        assert spec["title"]["subtitle"] == ["Bars: 95% interval."]
        alone = replace(SHARES, points=SHARES.points[SHARES.points["panel"].isin(SHARES.oracle)])
        assert rows_of(curve_chart(alone), "series")[0]["y"] == 10.0


class TestRegions:
    """Contours are where the numbers change sign, also of lines around islands and of values that touch zero."""

    def test_each_training_point_and_boundary_is_drawn(self) -> None:
        spec = figures()["regions"]
        assert symbols(drawn()["regions"]) == sum(len(panel.points) for panel in panels())
        places = {(row["x"], row["y"]) for row in rows_of(spec, "class")}
        expected = np.concatenate([figure_positions(panel.points) for panel in panels()])
        assert sorted(places) == pytest.approx(np.unique(expected, axis=0), abs=1e-9)
        for part, panel in zip(spec["concat"], panels(), strict=True):
            space = figure_positions(panel.grid)
            for colour, classes in ((MUTED, panel.likelier), (INK, panel.predicted)):
                (layer,) = [
                    each
                    for each in part["layer"]
                    if each["mark"]["type"] == "rule"
                    and each["mark"]["color"] == colour
                    and each["mark"]["strokeWidth"] > 1
                ]
                rows = spec["datasets"][layer["data"]["name"]]
                at = LinearNDInterpolator(space, 1.0 - 2 * classes)([(row["x"], row["y"]) for row in rows])
                assert np.abs(at[~np.isnan(at)]).max() < 1e-6
            (x, y) = (part["layer"][0]["encoding"][name]["scale"]["domain"] for name in "xy")
            assert part["width"] / (x[1] - x[0]) == pytest.approx(part["height"] / (y[1] - y[0]))
