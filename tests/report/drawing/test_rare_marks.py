"""Marks, limits and texts of pictures that few summaries have: both sides of each limit."""

from __future__ import annotations

import math
import subprocess
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.analysis.summary import SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.drawing import render
from benchmark.report.drawing import spec as drawing_spec
from benchmark.report.drawing.axes import (
    ends_and_ticks,
    log_ticks,
    offset_x,
    round_ticks,
    x_limits,
    y_limits,
    y_ticks,
)
from benchmark.report.drawing.claim_forest import claim_picture
from benchmark.report.drawing.claim_signs import scoreboard_chart
from benchmark.report.drawing.contours import delaunay_triangles, zero_lines
from benchmark.report.drawing.curves import curve_chart, curve_pictures
from benchmark.report.drawing.dots import MOST_DOTS, dot_chart, dot_pictures
from benchmark.report.drawing.forest import MOST_DRAWN_PAIRS, forest_picture
from benchmark.report.drawing.key import LEGEND_ROW_HEIGHT, LegendEntry, legend_spec
from benchmark.report.drawing.published import published_panels, spread
from benchmark.report.drawing.spec import (
    concat_parts,
    drawable_text,
    figure_spec,
    page_spec,
    round_for_output,
    title_spec,
)
from benchmark.report.drawing.theme import (
    COLOURS,
    DASHES,
    MOST_LABELS,
    TEXT_COLOUR,
    series_style,
    text_width,
    wrap_text,
)
from tests.report.rows import claim, claims_of, compared, curve, frame_of, result, summary_of, verdict

NAN, INF = math.nan, math.inf


def rows_with(spec: Any, *names: str) -> list[dict[str, Any]]:
    """Return the rows of all data of a specification that have these fields, each once."""
    found: list[dict[str, Any]] = []
    for rows in spec.get("datasets", {}).values():
        found += [row for row in rows if all(name in row for name in names) and row not in found]
    return found


def chart_of(*panels: ChartPanel, **changes: Any) -> Chart:
    given: dict[str, Any] = {"name": "c", "title": "Chart", "x_label": "Size", "y_label": "Error (%)"}
    return Chart(**(given | {"panels": panels} | changes))


def panel_of(y: tuple[float, ...], x: tuple[float, ...] | None = None, **changes: Any) -> ChartPanel:
    return ChartPanel("P", (Line("one", x or tuple(map(float, range(1, len(y) + 1))), y),), **changes)


class TestLimits:
    @pytest.mark.parametrize(
        ("panel", "changes", "ends"),
        [
            (panel_of((5.0, 6.0)), {}, (4.95, 6.05)),
            (panel_of((5.0, 6.0), limits=(("most", 9.0),)), {}, (4.8, 9.2)),
            (panel_of((5.0, 6.0), printed=(4.0, 8.0)), {}, (3.8, 8.2)),
            (panel_of((5.0, 6.0)), {"reference": 4.0}, (3.9, 6.1)),
            (panel_of((0.5, 1.0)), {"scale": 100.0}, (47.5, 100.0)),
            (panel_of((0.5, 1.01)), {"scale": 100.0}, (47.45, 103.55)),
            (panel_of((0.5, 0.6)), {"scale": 100.0}, (49.5, 60.5)),
            (panel_of((99.0, 100.0)), {}, (98.95, 100.05)),
            (panel_of((0.4, 1.0)), {}, (0.0, 1.03)),
            (panel_of((0.41, 1.0)), {}, (0.3805, 1.0295)),
            (panel_of((2.0, 2.0)), {}, (1.8, 2.2)),
            (panel_of((0.0, 0.0)), {}, (0.0, 1.0)),
            (panel_of((-1.0, 1.0)), {}, (-1.1, 1.1)),
        ],
    )
    def test_of_a_vertical_axis_hold_all_that_is_shown(self, panel: ChartPanel, changes: Any, ends: Any) -> None:
        assert y_limits([panel], chart_of(panel, **changes)) == pytest.approx(ends)

    def test_of_a_logarithmic_axis_are_factors_apart(self) -> None:
        panel = panel_of((1.0, 100.0))
        low, high = y_limits([panel], chart_of(panel, log_y=True))
        assert (low, high) == pytest.approx((100**-0.05, 100 * 100**0.05))
        assert y_limits([panel_of((5.0,))], chart_of(panel, log_y=True)) == pytest.approx((2.5, 10.0))
        assert y_limits([], chart_of(panel)) == pytest.approx((0.0, 1.05))

    @pytest.mark.parametrize(
        ("xs", "log", "ends"),
        [
            ((1.0, 5.0), False, (1.0, 5.0)),
            ((3.0,), False, (1.5, 4.5)),
            ((0.0,), False, (-0.5, 0.5)),
            ((10.0,), True, (math.sqrt(10), 10 * math.sqrt(10))),
            ((0.5,), True, (0.5 / math.sqrt(10), 0.5 * math.sqrt(10))),
            ((), False, (1.0, 10.0)),
        ],
    )
    def test_of_a_horizontal_axis_differ(self, xs: Any, log: bool, ends: Any) -> None:
        assert x_limits(xs, log=log) == pytest.approx(ends)

    def test_a_moved_x_is_on_its_axis(self) -> None:
        assert (offset_x(10.0, 1.0, log=True), offset_x(10.0, 1.0, log=False)) == (100.0, 11.0)

    def test_ticks_are_few_and_round(self) -> None:
        assert log_ticks(1.0, 1000.0) == [1.0, 10.0, 100.0, 1000.0]
        assert log_ticks(1.0, 10.0) == [1.0, 2.0, 5.0, 10.0]
        assert log_ticks(1.0, 1.5) == [1.0, 1.5]
        assert len(log_ticks(1e-12, 1e12)) == 7
        assert round_ticks(0.0, 1.0, 3, 6) == [0.0, 0.5, 1.0]
        assert [len(y_ticks((0.0, 1.0), height, log=False)) for height in (10.0, 200.0)] == [3, 5]
        (low, high), ticks = ends_and_ticks(0.0, 1.0, 5, 8)
        assert (low, high) == pytest.approx((-0.03, 1.03))
        assert ticks[0] >= low
        assert ends_and_ticks(2.0, 2.0, 3, 5)[0] == pytest.approx([1.8, 2.2])


class TestCurves:
    def test_pictures_of_measured_charts_are_marked_and_have_the_labels_of_all_panels(self) -> None:
        for measured in (False, True):
            pictures = curve_pictures(curve(measured=measured))
            assert [picture.measured for picture in pictures] == [measured] * 2
        assert [picture.series for picture in pictures] == [("one", "two")] * 2
        assert [picture.name for picture in pictures] == ["c-0", "c-1"]
        assert [picture.title for picture in pictures] == ["First, second", "Other"]
        assert pictures[0].alt == "First, second: Error (%) by Size, a line each for one, two."

    def test_two_points_at_one_x_are_refused(self) -> None:
        with pytest.raises(ValueError, match="do not ascend"):
            curve_pictures(chart_of(panel_of((1.0, 2.0), (5.0, 5.0))))

    @pytest.mark.parametrize(("n", "labelled"), [(2, [0, 1]), (3, [1, 2]), (4, [2, 3])])
    def test_the_lowest_panel_of_each_column_has_the_labels_of_x(self, n: int, labelled: list[int]) -> None:
        panels = tuple(replace(panel_of((1.0, 2.0)), title=f"P{i}") for i in range(n))
        drawn = _parts(curve_chart(chart_of(*panels)))
        assert [i for i, part in enumerate(drawn) if _axis(part, "x")["labels"]] == labelled
        others = (*panels[:-1], panel_of((1.0, 2.0), (1.0, 3.0)))
        assert all(_axis(part, "x")["labels"] for part in _parts(curve_chart(chart_of(*others))))

    def test_panels_that_share_their_scale_have_its_labels_once_in_a_row(self) -> None:
        panels = tuple(replace(panel_of((1.0, 2.0 + i)), title=f"P{i}") for i in range(4))
        for shared in (False, True):
            drawn = _parts(curve_chart(chart_of(*panels, share_y=shared)))
            assert [_axis(part, "y")["labels"] for part in drawn] == [True, not shared, True, not shared]
            domains = [tuple(part["layer"][-1]["encoding"]["y"]["scale"]["domain"]) for part in drawn]
            assert (len(set(domains[:2])) == 1, len(set(domains))) == (shared, 2 if shared else 4)

    @pytest.mark.parametrize(
        ("n", "round_x", "ticks"), [(10, False, 10), (11, False, None), (3, True, None), (3, False, 3)]
    )
    def test_each_x_has_a_tick_unless_there_are_many_or_they_are_measured(
        self, n: int, round_x: bool, ticks: int | None
    ) -> None:
        xs = tuple(1.0 + i * 1.37 for i in range(n))
        (part,) = _parts(curve_chart(chart_of(panel_of((1.0,) * n, xs), round_x=round_x)))
        values = _axis(part, "x")["values"]
        assert (values == list(xs)) == (ticks is not None)

    def test_limits_and_the_band_are_in_the_unit_of_the_axis(self) -> None:
        panel = panel_of((0.25, 0.5), printed=(0.125, 0.75), limits=(("most", 0.625),))
        spec = curve_chart(chart_of(panel, scale=100.0, reference=0.375))
        assert {(row["name"], row["level"]) for row in rows_with(spec, "level", "name")} == {("most", 62.5)}
        assert [(row["low"], row["high"]) for row in rows_with(spec, "low", "high") if "series" not in row] == [
            (12.5, 75.0)
        ]

    def test_bars_below_a_logarithmic_axis_end_below_it(self) -> None:
        line = Line("one", (1.0, 2.0), (1.0, 10.0), (-1.0, 5.0), (2.0, 20.0))
        spec = curve_chart(chart_of(ChartPanel("P", (line,)), log_y=True))
        low = sorted(row["low"] for row in rows_with(spec, "series", "low"))
        assert 0 < low[0] < 0.2
        assert low[1] == 5.0


def _parts(spec: Any) -> list[dict[str, Any]]:
    """Return the panels of a figure in reading order."""
    if "layer" in spec:
        return [spec] if isinstance(spec["layer"][-1]["encoding"]["x"].get("axis"), dict) else []
    return [part for each in spec.get("concat", ()) for part in _parts(each)]


def _axis(part: dict[str, Any], name: str) -> dict[str, Any]:
    axis: dict[str, Any] = part["layer"][-1]["encoding"][name]["axis"]
    return axis


class TestForests:
    def test_the_largest_lead_of_the_first_is_at_the_top(self) -> None:
        gaps = [("a", "b", 0.1, 0.0, 0.2, 9), ("a", "c", 0.3, 0.2, 0.4, 9), ("b", "c", -0.2, -0.3, -0.1, 9)]
        for metric, ranks in (("accuracy", [1, 0, 2]), ("error", [1, 2, 0])):
            picture = forest_picture(summary_of(gaps=gaps, metric=metric))
            assert picture is not None
            rows = rows_with(picture.spec, "rank")
            assert [row["rank"] for row in rows] == ranks
            assert [row["place"] for row in rows] == [0, 1, 2]
            assert [row["cell"] for row in rows] == ["a − b", "a − c", "b − c"]
            assert {row["what"] for row in rows} == {"no clear difference"}

    def test_at_most_a_hundred_comparisons_are_drawn(self) -> None:
        names = "abcdefghijklmnop"
        gaps = [(a, b, 0.1, 0.0, 0.2, 9) for i, a in enumerate(names) for b in names[i + 1 :]]
        assert len(gaps) > MOST_DRAWN_PAIRS
        picture = forest_picture(summary_of(names, gaps=gaps))
        assert picture is not None
        assert len(rows_with(picture.spec, "rank")) == MOST_DRAWN_PAIRS
        assert forest_picture(summary_of()) is None

    def test_the_one_second_is_named_in_the_title(self) -> None:
        gaps = [("a", "c", 0.1, 0.0, 0.2, 9), ("b", "c", 0.2, 0.1, 0.3, 9)]
        tests = [result("a", "c", 0.5), result("b", "c")]
        picture = forest_picture(summary_of(gaps=gaps, tests=tests))
        assert picture is not None
        assert "Difference to c, accuracy (points)" in str(picture.spec)
        rows = rows_with(picture.spec, "rank")
        assert [(row["label"], row["what"], row["p"]) for row in rows] == [
            ("a", "no clear difference", "0.5"),
            ("b", "the first is better", "0.01"),
        ]

    @pytest.mark.parametrize(
        ("relation", "ranks"), [("greater", [1, 0, 2]), ("lower", [1, 2, 0]), ("ratio", [1, 0, 2])]
    )
    def test_comparisons_of_a_claim_are_ranked_by_what_it_claims(self, relation: str, ranks: list[int]) -> None:
        rows = [
            compared(a=name, relation=relation, value=value) for name, value in zip("xyz", (0.2, 0.3, 0.1), strict=True)
        ]
        picture = claim_picture(frame_of(*rows))
        assert picture is not None
        assert [row["rank"] for row in rows_with(picture.spec, "rank")] == ranks

    @pytest.mark.parametrize("n", [MOST_DRAWN_PAIRS, MOST_DRAWN_PAIRS + 1])
    def test_the_text_counts_all_comparisons_of_a_claim(self, n: int) -> None:
        rows = [compared(a=f"a{i:03}", verdict="holds" if i in (0, n - 1) else "fails") for i in range(n)]
        picture = claim_picture(frame_of(*rows))
        assert picture is not None
        more = f" (the first {MOST_DRAWN_PAIRS} of {n})" if n > MOST_DRAWN_PAIRS else ""
        caption = f"Difference of each comparison of c with its 95% interval{more}"
        assert picture.title == caption
        assert picture.alt == f"{caption}. 2 of {n} hold. The numbers are in the table below."
        assert len(rows_with(picture.spec, "rank")) == min(n, MOST_DRAWN_PAIRS)
        assert claim_picture(frame_of()) is None

    def test_a_band_needs_both_ends(self) -> None:
        for ends, banded in (((0.01, 0.05), True), ((0.01, NAN), False)):
            picture = claim_picture(frame_of(compared(claimed_low=ends[0], claimed_high=ends[1])))
            assert picture is not None
            assert ("band: the range of the claim" in picture.title) == banded
            assert ('"type": "rect"' in str(picture.spec).replace("'", '"')) == banded


class TestScoreboard:
    def test_only_counted_claims_have_signs(self) -> None:
        rows = [
            claim("c", "holds", 1, 1),
            claim("again", "holds", 1, 1, counted="same as c"),
            claim("d", "fails", 0, 1),
        ]
        spec = scoreboard_chart(claims_of(*rows).assign(paper="p"), {"p": "The paper"})
        texts = [" ".join(row["label"]) for row in rows_with(spec, "label")]
        assert [text in texts for text in ("Text of c.", "Text of again.", "Text of d.", "The paper (p)")] == [
            True,
            False,
            True,
            True,
        ]
        assert "p c: holds by the paper's criterion, holds by ours." in spec["description"]
        assert "again" not in spec["description"]

    def test_the_first_sign_is_by_the_paper(self) -> None:
        rows = claim("c", "holds", 1, 1, strict_verdict="contradicted")
        spec = scoreboard_chart(claims_of(rows).assign(paper="p"), {})
        heads = {row["label"][0]: row["x"] for row in rows_with(spec, "label") if row["label"][0].startswith("by ")}
        marks = sorted(rows_with(spec, "shape"), key=lambda row: row["y"])[:2]
        assert {row["x"]: row["shape"] for row in marks} == {
            heads["by the paper"]: "circle",
            heads["by ours"]: "triangle-up",
        }


class TestContours:
    """Values of a grid of nine points: alone in the middle, or along one side."""

    points = np.array([[x, y] for y in range(3) for x in range(3)], dtype=float)

    def test_a_line_around_an_island_ends_where_it_began(self) -> None:
        values = np.where(np.arange(9) == 4, 1.0, -1.0)
        (line,) = zero_lines(self.points, delaunay_triangles(self.points), values)
        np.testing.assert_array_equal(line[0], line[-1])
        assert len(np.unique(line, axis=0)) == len(line) - 1
        assert np.allclose(np.abs(line - 1.0).max(axis=1), 0.5)

    def test_a_line_from_border_to_border_is_open(self) -> None:
        values = np.where(np.arange(9) % 3 == 0, 3.0, -1.0)
        (line,) = zero_lines(self.points, delaunay_triangles(self.points), values)
        assert {float(line[0][1]), float(line[-1][1])} == {0.0, 2.0}
        np.testing.assert_allclose(line[:, 0], 0.75)


class TestLegends:
    @staticmethod
    def placed(entries: list[LegendEntry], width: float) -> list[dict[str, Any]]:
        return rows_with(legend_spec(entries, width), "at", "label")

    def test_texts_begin_beside_the_widest_sample(self) -> None:
        line, mark = LegendEntry("line", "#000", line="across"), LegendEntry("mark", "#000", shape="circle")
        alone = self.placed([mark], 200)[0]
        both = self.placed([line, mark], 200)
        assert alone["at"] - alone["x"] < both[0]["at"] - both[0]["x"]
        assert len({row["at"] - row["x"] for row in both}) == 1

    def test_rows_are_as_high_as_their_longest_text(self) -> None:
        long = "a long label that takes several lines of a narrow legend " * 3
        entries = [LegendEntry(text, "#000") for text in ("one", "two", "three", "four")]
        plain = {row["y"] for row in self.placed(entries, 60)}
        assert sorted(plain) == [LEGEND_ROW_HEIGHT * (i + 0.5) for i in range(4)]
        for place in range(2):
            mixed = [replace(entry, label=long if i == place else entry.label) for i, entry in enumerate(entries[:3])]
            rows = self.placed(mixed, 160)
            lines = max(len(row["label"]) for row in rows)
            assert lines > 2
            below = [row["y"] for row in rows if row["y"] > min(row["y"] for row in rows)]
            top = next(row for row in rows if len(row["label"]) == lines)
            for y in below:
                if y > top["y"]:
                    assert y - top["y"] > TEXT_COLOUR * (lines - 1)

    @pytest.mark.parametrize("longer", [0, 1])
    def test_any_entry_may_be_the_longest_of_its_row(self, longer: int) -> None:
        labels = ["a", "a", "c", "d"]
        labels[longer] = "b" + chr(10) + "b"
        rows = self.placed([LegendEntry(text, "#000") for text in labels], 62)
        assert rows[0]["y"] == rows[1]["y"] < rows[2]["y"] == rows[3]["y"]
        assert rows[2]["y"] - rows[0]["y"] > LEGEND_ROW_HEIGHT

    def test_entries_in_a_row_do_not_overlap(self) -> None:
        entries = [LegendEntry("w" * n, "#000", line="across") for n in (3, 20, 5, 9, 14, 2)]
        rows = self.placed(entries, 300)
        for one in rows:
            for two in rows:
                if one is not two and one["y"] == two["y"] and one["x"] < two["x"]:
                    assert one["at"] + text_width(one["label"][0], TEXT_COLOUR) < two["x"]


class TestPublished:
    @staticmethod
    def values(*rows: tuple[Any, ...]) -> pd.DataFrame:
        frame = summary_of().verdicts
        return pd.DataFrame(list(rows), columns=frame.columns).assign(paper="p", config="c")

    def test_other_readings_and_reasons_are_not_counted(self) -> None:
        rows = [
            verdict("a"),
            verdict("b", reading="strict"),
            verdict("c", verdict="deviates"),
            verdict("d", verdict="deviates", reading="strict"),
            verdict("e", verdict="tuned"),
            verdict("f", value=NAN),
        ]
        (panel,) = published_panels(self.values(*rows))
        assert [(point["name"], point["what"], point["verdict"]) for point in panel.points] == [
            ("c: a", "equal, or inside our interval", "consistent"),
            ("c: b", "not counted", "consistent (strict reading)"),
            ("c: c", "deviates", "deviates"),
            ("c: d", "not counted", "deviates (strict reading)"),
            ("c: e", "not counted", "tuned"),
        ]

    @pytest.mark.parametrize(
        ("published", "ours", "log"),
        [
            (("1", "20"), (5.0, 5.0), False),
            (("1", "21"), (5.0, 5.0), True),
            (("5", "5"), (1.0, 21.0), True),
            (("0", "30"), (5.0, 5.0), False),
        ],
    )
    def test_numbers_that_are_factors_apart_have_a_logarithmic_axis(self, published: Any, ours: Any, log: bool) -> None:
        given = {"metric": "documents", "unit": "documents", "kind": "count", "low": NAN, "high": NAN}
        rows = [verdict("a", text, value=value, **given) for text, value in zip(published, ours, strict=True)]
        (panel,) = published_panels(self.values(*rows))
        assert panel.log == log
        assert panel.points[0]["ours"] == f"{ours[0]:.0f}"

    @pytest.mark.parametrize(
        ("places", "moved"),
        [
            ([], []),
            ([0.5], [0.5]),
            ([0.5, 0.55], [0.5, 0.6]),
            ([0.98, 0.99], [0.9, 1.0]),
            ([0.9, 0.99, 1.0], [0.8, 0.9, 1.0]),
            ([1.2], [1.0]),
        ],
    )
    def test_names_are_moved_apart_and_below_the_top(self, places: Any, moved: Any) -> None:
        assert spread(places, 0.1) == pytest.approx(moved)


class TestDots:
    @pytest.mark.parametrize("n", [MOST_DOTS, MOST_DOTS + 1])
    def test_a_page_has_two_hundred_rows_and_says_of_how_many(self, n: int) -> None:
        cells = tuple(CellInfo(f"c{i:03}", {}) for i in range(n))
        scores = [(cell.id, "all", "accuracy", 0.5, 0.4, 0.6, 9, 0) for cell in cells]
        (picture,) = dot_pictures(Summary("m", "M", None, cells, summary_table(SCORE_COLUMNS, scores)))
        assert len(rows_with(picture.spec, "rank")) == MOST_DOTS
        assert picture.title.endswith(f" (the first {MOST_DOTS} of {n} rows)") == (n > MOST_DOTS)

    def test_published_marks_are_in_the_key(self) -> None:
        frame = summary_of().verdicts
        rows = pd.DataFrame([verdict("a", "80.00")], columns=frame.columns)
        for table, named in ((rows, True), (frame, False)):
            picture = dot_pictures(summary_of(verdicts=table))[0]
            domains = [
                layer["encoding"]["stroke"]["scale"]["domain"]
                for layer in picture.spec["layer"]
                if "stroke" in layer["encoding"]
            ]
            assert all(("published" in domain) == named for domain in domains)

    def test_the_baseline_is_named_where_there_is_one(self) -> None:
        gaps = [("a", "b", 0.1, 0.05, 0.15, 9), ("c", "d", 0.1, 0.05, 0.15, 9)]
        tests = [result("a", "b"), result("c", "d", 0.5)]
        (picture,) = dot_pictures(summary_of("abc", gaps=gaps[:1], tests=tests[:1]))
        assert {row["what"] for row in rows_with(picture.spec, "what")} == {
            "better than b",
            "b; band: its interval",
            "not compared with b",
        }
        columns = {name: {"more": {"task": (name in "ab" and "x") or "y"}} for name in "abcd"}
        (picture,) = dot_pictures(summary_of("abcd", gaps=gaps, tests=tests, columns=columns))
        assert {row["what"] for row in rows_with(picture.spec, "what")} == {
            "better than the baseline",
            "the baseline; band: its interval",
            "no clear difference from the baseline",
        }

    def test_differences_from_published_values_are_beside_zero(self) -> None:
        frame = summary_of().verdicts
        rows = pd.DataFrame([verdict(name, "80.00") for name in "abc"], columns=frame.columns)
        _, less = dot_pictures(summary_of(verdicts=rows))
        assert [row["less_value"] for row in rows_with(less.spec, "less_value")] == [11.0] * 3
        domains = [part["encoding"]["x"]["scale"]["domain"] for part in less.spec["layer"] if "x" in part["encoding"]]
        assert all(low < 0 and high > 13 for low, high in domains)
        assert "Ours − published (points)" in str(less.spec)
        assert "Ours − published (points)" in str(dot_chart(summary_of(verdicts=rows)))


class TestEngine:
    def test_pictures_that_were_drawn_before_the_time_was_up_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def stopped(*_: Any, **__: Any) -> Any:
            raise subprocess.TimeoutExpired("python", 1, output=b'["a", "", "<svg>"]\n["b"')

        monkeypatch.setattr(render.subprocess, "run", stopped)
        assert render.run_vl_convert("x") == (b'["a", "", "<svg>"]\n["b"', False)
        assert set(render.render_pictures({"a": {"title": "A"}, "b": {}})) == {"a"}

    def test_a_digest_is_of_all_that_makes_the_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = render.picture_digest({"a": 1})
        assert before != render.picture_digest({"a": 2})
        for name in ("DRAWING_PROGRAM", "SVG_HEAD"):
            with monkeypatch.context() as patch:
                patch.setattr(render, name, getattr(render, name) + " ")
                assert render.picture_digest({"a": 1}) != before

    @pytest.mark.parametrize(
        ("spec", "head"),
        [
            ({"title": "A <b>", "description": "D"}, "<title>A &lt;b&gt;</title><desc>D</desc>"),
            ({"title": {"text": ["A", "B"]}, "description": "D"}, "<title>A B</title><desc>D</desc>"),
            ({"title": {"text": "A"}}, "<title>A</title><desc></desc>"),
            ({"description": "D"}, "<title>D</title><desc>D</desc>"),
        ],
    )
    def test_an_svg_has_a_title_and_a_description(self, spec: Any, head: str) -> None:
        svg = '<?xml?><svg a="b"><clipPath id="clip7"/><g clip-path="url(#clip7)"/><clipPath id="clip9"/></svg>'
        assert render._settled(svg, spec) == (
            f'<?xml?><svg a="b">{head}<clipPath id="clip1"/><g clip-path="url(#clip1)"/><clipPath id="clip2"/></svg>'
        )


class TestSpecifications:
    @pytest.mark.parametrize(
        ("value", "rounded"), [(None, None), (NAN, None), (INF, None), (-INF, None), (1 / 3, 33.3333333333), (0, 0.0)]
    )
    def test_numbers_have_twelve_digits_or_are_missing(self, value: Any, rounded: Any) -> None:
        assert round_for_output(100, value) == rounded

    def test_a_figure_has_its_own_description_or_its_title(self) -> None:
        assert figure_spec("Title", [], "What it shows")["description"] == "What it shows"
        assert figure_spec("Title", [])["description"] == "Title"
        assert "title" not in figure_spec("", [])

    def test_data_of_parts_are_joined(self) -> None:
        parts = [{"datasets": {"a": [1]}, "x": 1}, {"y": 2}, {"datasets": {"b": [2]}}]
        assert concat_parts(parts, columns=2, spacing=3) == {
            "concat": [{"x": 1}, {"y": 2}, {}],
            "columns": 2,
            "spacing": 3,
            "datasets": {"a": [1], "b": [2]},
        }
        assert title_spec([]) == {}
        assert title_spec(["a"], offset=4) == {"title": {"text": ["a"], "anchor": "middle", "offset": 4}}

    def test_texts_can_be_drawn(self) -> None:
        assert drawable_text("a\x07\ud800b") == "a\\x07?b"
        assert page_spec({"$schema": "x", "color": COLOURS[0]}) == {"color": "var(--ours)"}

    def test_a_notebook_with_another_renderer_is_left_to_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []
        monkeypatch.setattr(drawing_spec, "render_pictures", lambda specs: asked.append(specs) or {})
        chart = drawing_spec.altair_chart(dot_chart(summary_of()))
        with alt.renderers.enable("json"):
            chart._repr_mimebundle_()
            assert asked == []
        chart._repr_mimebundle_()
        assert [list(each) for each in asked] == [["figure"]]

    def test_looks_of_lines_differ(self) -> None:
        looks = {str(sorted(series_style(i).items())) for i in range(MOST_LABELS)}
        assert len(looks) == MOST_LABELS == len(COLOURS) * len(DASHES)
        assert wrap_text("a\nb c", 1000, 10) == ["a", "b c"]
        assert wrap_text("abc", 1, 10) == ["a", "b", "c"]
        assert wrap_text("", 10, 10) == []
        assert text_width("i\nMM", 10) == text_width("MM", 10)
        assert np.isclose(text_width("Mm", 1000), 1666)
