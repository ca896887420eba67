"""Pictures of odd summaries: several baselines, failures, bands, half ranges, and the scale of what is drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.analysis.charts.chart import ChartPanel, Line
from benchmark.report.curve_tables import POWERS_BELOW
from benchmark.report.drawing import spec as drawing_spec
from benchmark.report.drawing.axes import bar_offsets, ends_and_ticks, powers_below, round_ticks
from benchmark.report.drawing.claim_forest import claim_picture
from benchmark.report.drawing.claim_signs import scoreboard_chart
from benchmark.report.drawing.contours import region_mask, zero_lines
from benchmark.report.drawing.curves import curve_chart, curve_pictures
from benchmark.report.drawing.dots import dot_chart, dot_pictures
from benchmark.report.drawing.forest import forest_picture
from benchmark.report.drawing.key import LegendEntry, legend_spec
from benchmark.report.drawing.published import published_chart, published_panels
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.theme import COLOURS, SHAPES, WASH, series_style
from benchmark.report.verdict_signs import CLAIM_SIGNS
from tests.report.drawing.test_rare_marks import TestPublished, chart_of, panel_of, rows_with
from tests.report.regions import figure_of, panels
from tests.report.rows import (
    claim,
    claims_of,
    compared,
    curve,
    frame_of,
    result,
    summary_of,
    verdict,
    verdicts_of,
)

NAN, INF = math.nan, math.inf
values = TestPublished.values


class TestAxes:
    @pytest.mark.parametrize(
        ("ticks", "log", "below"),
        [
            ((0.1, 1.0), True, POWERS_BELOW),
            ((1e-4, 1.0), True, 1.0),
            ((1e-4, 1.0), False, POWERS_BELOW),
            ((0.0, 1.0), True, POWERS_BELOW),
            ((), True, POWERS_BELOW),
        ],
    )
    def test_all_ticks_of_a_logarithmic_axis_are_powers_if_one_is(self, ticks: Any, log: bool, below: float) -> None:
        assert powers_below(ticks, log=log) == below

    @pytest.mark.parametrize(
        ("low", "high", "least", "most", "ticks"),
        [
            (0.0, 4.0, 5, 5, [0, 1, 2, 3, 4]),
            (0.0, 5.0, 5, 5, [0, 2, 4]),
            (0.0, 10.0, 3, 5, [0, 5, 10]),
            (0.1, 0.2, 3, 6, [0.1, 0.15, 0.2]),
            (-1.0, 1.0, 3, 5, [-1, 0, 1]),
            (0.0, 100.0, 6, 6, [0, 20, 40, 60, 80, 100]),
        ],
    )
    def test_ticks_are_the_fewest_from_the_least_on(
        self, low: Any, high: Any, least: int, most: int, ticks: Any
    ) -> None:
        found = round_ticks(low, high, least, most)
        assert found == pytest.approx(ticks)
        assert len(found) <= most

    def test_one_end_is_moved_for_a_tick_more(self) -> None:
        for low, high in ((0.0, 0.97), (0.03, 1.0), (1.0, 3.9), (-7.0, 0.0), (0.2, 0.7)):
            (start, end), ticks = ends_and_ticks(low, high, 5, 8)
            margin = 0.03 * (high - low)
            moved = [start < low - margin - 1e-9, end > high + margin + 1e-9]
            assert sum(moved) <= 1
            assert len(ticks) >= 5
            assert (start in ticks) == moved[0]
            assert (end in ticks) == moved[1]
            assert np.diff(ticks) == pytest.approx(ticks[1] - ticks[0])

    def test_lines_with_bars_stand_around_their_x(self) -> None:
        lines = [Line(name, (1.0, 11.0), (1.0, 1.0), (0.0, 0.0), (2.0, 2.0)) for name in "abc"]
        bare = Line("d", (1.0, 11.0), (1.0, 1.0))
        assert bar_offsets([bare, *lines], 0.1, log=False)[0] == pytest.approx([0.0, -0.32, 0.0, 0.32])
        assert bar_offsets(lines[:2], 100.0, log=False)[0] == pytest.approx([-1.75, 1.75])
        assert bar_offsets(lines[:2], 100.0, log=True)[0] == pytest.approx(
            [-0.175 * math.log10(11), 0.175 * math.log10(11)]
        )


class TestCurves:
    @pytest.mark.parametrize(
        ("panels", "changes", "said"),
        [
            ([panel_of((1.0,), printed=(0.0, INF))], {}, "the panel 'P' has a printed range that is not finite"),
            ([panel_of((1.0,), printed=(NAN, 1.0))], {}, "the panel 'P' has a printed range that is not finite"),
            ([panel_of((1.0,), (0.0,))], {"log_x": True}, "'one' has a point that is not positive on a logarithmic"),
            ([panel_of((0.0,))], {"log_y": True}, "'one' has a point that is not positive on a logarithmic"),
            (
                [ChartPanel("Q", (Line("a", (1.0,), (1.0,)),) * 2)],
                {},
                "the panel 'Q' has two lines with the same label",
            ),
            ([panel_of((1.0, 1.0), (2.0, 1.0))], {}, "the x values of the line 'one' do not ascend"),
            (
                [ChartPanel("Q", (Line("a", (1.0,), (1.0,), (2.0,), (0.0,)),))],
                {},
                "'a' has a bar whose low end lies above",
            ),
            ([panel_of((1.0,))], {"columns": 0}, "the chart 'c' can't be 0 panels wide, on a scale of 1"),
            ([panel_of((1.0,))], {"scale": 0.0}, "the chart 'c' can't be 2 panels wide, on a scale of 0.0"),
        ],
    )
    def test_that_cannot_be_drawn_name_what_is_wrong(self, panels: Any, changes: Any, said: str) -> None:
        for draw in (curve_chart, curve_pictures):
            with pytest.raises(ValueError, match=f"^the .*{said.removeprefix('the ')}"):
                draw(chart_of(panel_of((1.0,), (3.0,)), *panels, **changes))

    def test_a_point_at_one_end_of_a_logarithmic_axis_is_drawn(self) -> None:
        assert curve_pictures(chart_of(panel_of((1e-9,), (1e-9,)), log_x=True, log_y=True))

    @pytest.mark.parametrize("scale", [1.0, 100.0])
    def test_the_reference_is_in_the_unit_of_the_axis(self, scale: float) -> None:
        for reference, meaning in ((0.0, "no difference"), (1.0, "same")):
            spec = curve_chart(chart_of(panel_of((0.25, 0.5)), scale=scale, reference=reference))
            (row,) = rows_with(spec, "level", "meaning")
            assert row == {"level": scale * reference, "meaning": meaning}
        assert rows_with(curve_chart(chart_of(panel_of((0.25, 0.5)))), "level") == []

    def test_a_band_ends_at_the_axis_where_zero_has_no_place(self) -> None:
        chart = chart_of(panel_of((1.0, 10.0), printed=(0.0, 5.0)), log_y=True)
        spec = curve_chart(chart)
        (band,) = [row for row in rows_with(spec, "low", "high") if "series" not in row]
        assert 0 < band["low"] < 1
        assert band["high"] == 5
        assert WASH not in str(spec)

    def test_a_tip_names_the_bars(self) -> None:
        bars = {"low": (0.4, 0.7), "high": (0.6, 0.8)}
        for said, title in (("95% interval", "95% interval"), ("", "interval")):
            text = str(curve_pictures(curve(**bars, bars=said))[0].spec)
            assert f"'title': '{title}'" in text

    def test_a_reader_chooses_the_scale_where_several_panels_share_one(self) -> None:
        one, two = chart_of(panel_of((1.0,))), chart_of(panel_of((1.0,)), replace(panel_of((9.0,)), title="Q"))
        assert "own ? " not in str(curve_pictures(one)[0].spec)
        assert all("own ? " in str(picture.spec) for picture in curve_pictures(two))
        assert "own ? " not in str(curve_chart(two))

    def test_panels_in_one_column_share_the_height_of_a_page(self) -> None:
        for n, most in ((2, 180.0), (4, 130.0)):
            chart = chart_of(*(replace(panel_of((1.0, 2.0)), title=f"P{i}") for i in range(n)), columns=1)
            heights = {part["height"] for part in _layered(curve_chart(chart)) if _axed(part)}
            assert list(heights) == [pytest.approx(most)]


def _layered(spec: Any) -> list[Any]:
    return [spec] if "layer" in spec else [part for each in spec.get("concat", ()) for part in _layered(each)]


def _axed(part: Any) -> bool:
    return isinstance(part["layer"][-1]["encoding"].get("x", {}).get("axis"), dict)


class TestForests:
    def test_the_first_and_the_second_are_told_apart(self) -> None:
        gaps = [("a", "b", 0.1, 0.05, 0.15, 9), ("b", "c", -0.1, -0.15, -0.05, 9), ("c", "a", NAN, NAN, NAN, 9)]
        tests = [result("a", "b"), result("b", "c")]
        picture = forest_picture(summary_of(gaps=gaps, tests=tests))
        assert picture is not None
        rows = {row["cell"]: (row["what"], row["result"], row["p"]) for row in rows_with(picture.spec, "gap")}
        assert rows["a − b"] == ("the first is better", "first is better", "0.01")
        assert rows["b − c"] == ("the second is better", "second is better", "0.01")
        assert rows["c − a"][0] == "no clear difference"
        assert "First − second, accuracy (points)" in str(picture.spec)
        silent = [layer["mark"].get("aria") for layer in picture.spec["layer"] if layer["mark"]["type"] == "rule"]
        assert silent == [False, None]

    def test_intervals_that_are_all_missing_say_nothing(self) -> None:
        picture = forest_picture(summary_of(gaps=[("a", "b", 0.1, NAN, NAN, 9)]))
        assert picture is not None
        silent = [layer["mark"].get("aria") for layer in picture.spec["layer"] if layer["mark"]["type"] == "rule"]
        assert silent == [False, False]

    def test_a_claim_is_drawn_in_the_unit_of_its_axis(self) -> None:
        given = {"published": 0.05, "claimed_low": -0.01, "claimed_high": 0.04}
        picture = claim_picture(frame_of(compared(**given)))
        assert picture is not None
        (row,) = rows_with(picture.spec, "gap")
        assert [row[name] for name in ("value", "low", "high", "published")] == [2.0, 1.0, 3.0, 5.0]
        assert (row["gap"], row["interval"], row["published_text"]) == ("+2.00", "[+1.00, +3.00]", "+5.00")
        (band,) = [layer for layer in picture.spec["layer"] if layer["mark"]["type"] == "rect"]
        assert [band["encoding"][name]["datum"] for name in ("x", "x2")] == [-1.0, 4.0]
        low, high = band["encoding"]["x"]["scale"]["domain"]
        assert low < -1
        assert high > 5

    def test_a_ratio_is_beside_one_and_has_no_sign(self) -> None:
        picture = claim_picture(frame_of(compared(relation="ratio", value=1.5, low=1.2, high=1.8, published=2.0)))
        assert picture is not None
        (row,) = rows_with(picture.spec, "gap")
        assert (row["value"], row["gap"], row["published_text"]) == (1.5, "1.50", "2.00")
        assert picture.title.startswith("Ratio of each comparison of c")
        assert "First / second, accuracy" in str(picture.spec)
        (line,) = [layer for layer in picture.spec["layer"] if "datum" in layer["encoding"].get("x", {})]
        assert line["encoding"]["x"]["datum"] == 1


class TestScoreboards:
    def test_every_meaning_and_every_paper_has_its_place(self) -> None:
        long = claim("c", "holds", 1, 1, text="a long text of a claim " * 20)
        rows = claims_of(long, claim("d", "fails", 0, 1)).assign(paper="p")
        more = claims_of(claim("e", "holds", 1, 1)).assign(paper="q")
        spec = scoreboard_chart(pd.concat([rows, more], ignore_index=True), {"p": "The paper"})
        texts = sorted(rows_with(spec, "label", "y"), key=lambda row: row["y"])
        named = {" ".join(row["label"]): row for row in texts}
        assert [text in named for text in ("The paper (p)", "q (q)", *CLAIM_SIGNS.values())] == [True] * 6
        left = [row for row in texts if row["align"] == "left"]
        for above, below in pairwise(left):
            assert below["y"] - above["y"] >= 11 * (len(above["label"]) - 1) + 5


class TestDots:
    @pytest.mark.parametrize(
        ("metric", "title"),
        [
            ("accuracy", "Ours − published (points)"),
            ("average-skl", "Ours − published (nats)"),
            ("sign-z", "Ours − published (one)"),
        ],
    )
    def test_differences_are_in_the_unit_of_the_metric(self, metric: str, title: str) -> None:
        unit = {"accuracy": "percent", "average-skl": "nats", "sign-z": "one"}[metric]
        frame = verdicts_of(verdict("a", "80.00", metric=metric, unit=unit))
        assert title in str(dot_pictures(summary_of(metric=metric, verdicts=frame))[1].spec)

    def test_a_failed_cell_says_so_and_the_others_do_not(self) -> None:
        scores = [(name, "all", "accuracy", 0.5, NAN, NAN, 9, 0) for name in "ab"]
        for failures in ({}, {"c": "why"}):
            summary = summary_of(scores=scores, failures=failures)
            for spec in (dot_pictures(summary)[0].spec, dot_chart(summary)):
                marks = [str(layer["mark"]) for part in _layered(spec) for layer in part["layer"]]
                assert any("'failed'" in mark for mark in marks) == bool(failures)
                found = {row["cell"]: row.get("failed") for row in rows_with(spec, "cell")}
                assert found == {"a": None, "b": None, "c": "failed" if failures else None}

    def test_a_reader_may_have_the_order_of_the_configuration(self) -> None:
        scores = [
            (name, "all", "accuracy", value, 0.1, 0.9, 9, 0) for name, value in zip("abc", (0.3, 0.5, 0.4), strict=True)
        ]
        rows = rows_with(dot_pictures(summary_of(scores=scores))[0].spec, "rank")
        assert {row["cell"]: (row["place"], row["rank"]) for row in rows} == {"a": (0, 2), "b": (1, 0), "c": (2, 1)}

    def test_a_single_number_has_an_axis(self) -> None:
        scores = [("a", "all", "accuracy", 0.5, NAN, NAN, 9, 0)]
        (picture,) = dot_pictures(summary_of("a", scores=scores))
        low, high = picture.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert low < 50
        assert high > 100
        (empty,) = dot_pictures(summary_of("a", scores=[], failures={"a": "why"}))
        low, high = empty.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert low < 0
        assert high > 100

    def test_a_published_value_without_ours_is_drawn_alone(self) -> None:
        frame = verdicts_of(
            verdict("a", "80.00", value=NAN, low=NAN, high=NAN, verdict="failed"), verdict("b", "81.00")
        )
        scores = [("b", "all", "accuracy", 0.5, 0.4, 0.6, 9, 0)]
        picture, less = dot_pictures(summary_of("ab", scores=scores, verdicts=frame, failures={"a": "why"}))
        rows = {row["cell"]: row for row in rows_with(picture.spec, "cell")}
        assert [rows[name]["print"] for name in "ab"] == [80.0, 81.0]
        assert "less_value" not in rows["a"]
        assert [row["cell"] for row in rows_with(less.spec, "less_value")] == ["b"]


class TestRegions:
    def test_a_pixel_at_zero_is_of_the_first_class(self) -> None:
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        assert region_mask(corners, np.array([0.0, 0.0, -1.0, 1.0]), 2, 2).tolist() == [[2, 1], [1, 1]]

    def test_a_line_of_two_points_is_open(self) -> None:
        points, corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[0, 1, 2]])
        (line,) = zero_lines(points, corner, np.array([1.0, -1.0, -3.0]))
        assert sorted(line.tolist()) == [[0.0, 0.25], [0.5, 0.0]]

    def test_rows_have_letters_and_all_methods_are_counted(self) -> None:
        figure = figure_of(panels()[:1])
        both = replace(figure, rows=figure.rows * 2)
        spec = region_chart(both)
        text = str(spec)
        assert [f"({letter}) " in text for letter in "abc"] == [True, True, False]
        n = sum(map(len, both.rows))
        assert spec["description"].endswith(f"best possible boundary and training points of {n} methods")


class TestPublished:
    def test_verdicts_that_begin_alike_are_counted_alike(self) -> None:
        rows = [
            verdict(name, verdict=word)
            for name, word in zip("ab", ("equal, outside the interval", "consistent"), strict=True)
        ]
        (panel,) = published_panels(values(*rows))
        assert {point["what"] for point in panel.points} == {"equal, or inside our interval"}

    def test_names_at_the_edge_are_in_the_order_of_their_marks(self) -> None:
        rows = [
            verdict(name, "90.00", value=value, verdict="deviates")
            for name, value in (("high", 95.0), ("low", 71.0), ("mid", 80.0))
        ]
        spec = published_chart(values(*rows))
        leaders = rows_with(spec, "at", "to")
        assert [row["value"] for row in leaders] == [71.0, 80.0, 95.0]
        assert [row["at"] for row in leaders] == sorted(row["at"] for row in leaders)
        for row in leaders:
            assert abs(row["at"] - row["value"]) < 1

    def test_counts_have_no_decimals_and_scores_those_that_are_printed(self) -> None:
        given = {"metric": "documents", "unit": "documents", "kind": "count", "low": NAN, "high": NAN}
        rows = [verdict("a", "10", value=12.0, **given), verdict("b", "90.000")]
        texts = [
            (point["ours"], point["interval"]) for panel in published_panels(values(*rows)) for point in panel.points
        ]
        assert texts == [("12", "–"), ("91.000", "[89.000, 93.000]")]


class TestLegends:
    def test_a_bar_has_both_caps_and_a_sample_its_mark(self) -> None:
        entries = [LegendEntry("bar", "#000", line="upright"), LegendEntry("mark", "#000", shape="circle")]
        (part,) = _layered(legend_spec(entries, 300))
        ends = [layer["encoding"]["y"]["field"] for layer in part["layer"] if layer["mark"]["type"] == "tick"]
        assert ends == ["up", "down"]
        (row,) = [row for row in rows_with(legend_spec(entries, 300), "up") if row["label"] == ["bar"]]
        assert row["up"] < row["y"] < row["down"]

    def test_each_colour_has_a_shape_of_its_own(self) -> None:
        looks = [series_style(i) for i in range(2 * len(COLOURS))]
        assert [look["shape"] for look in looks] == [*SHAPES, *SHAPES]
        assert [look["stroke"] for look in looks] == [*COLOURS, *COLOURS]
        assert len({tuple(look["dash"]) for look in looks[:5]}) == 5
        for look, again in zip(looks, looks[len(COLOURS) :], strict=False):
            assert look["dash"] != again["dash"]


def test_a_notebook_has_both_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_spec, "render_pictures", lambda _: {"figure": {"svg": b"<svg/>", "png": b"png"}})
    chart = drawing_spec.altair_chart(dot_chart(summary_of()))
    assert chart._repr_mimebundle_() == {"image/svg+xml": "<svg/>", "image/png": "cG5n"}
