"""Sections of pages, placements and files of figures: rare branches, and both sides of each limit."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.analysis.charts.region_charts import RegionFigure, RegionPanel
from benchmark.analysis.formatting.table import Table
from benchmark.report.drawing import render as drawing_render
from benchmark.report.drawing.spec import Picture
from benchmark.report.drawing.theme import COLUMN_WIDTH, WIDTH
from benchmark.report.files import figure_specs, missing_figures_message, write_report_files
from benchmark.report.html.page import MOST_OPEN_PAIRS, _pictured, _sections, measured_sentences
from benchmark.report.html.render import line_look
from benchmark.report.html.results import result_table
from benchmark.report.html.section import PageSection
from benchmark.report.html.simplex import SIMPLEX_TITLE, simplex_section
from tests.report.rows import (
    claim,
    claims_of,
    curve,
    summary_of,
    verdict,
    verdicts_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.summary import Summary

pytestmark = pytest.mark.usefixtures("without_vega")
NAN = math.nan


def simplex_points(n: int) -> Any:
    return np.array([[(n - i - j) / n, i / n, j / n] for j in range(n + 1) for i in range(n + 1 - j)])


def panel_of(grid: Any, title: str = "one", **changes: Any) -> RegionPanel:
    m, d = grid.shape
    right = (grid[:, 0] > 0.4).astype(int)
    names = ("θ₁", "θ₂", "θ₃")[:d]
    points = grid[:2]
    panel = RegionPanel(title, "row", names, ("a", "b"), grid, right, 1 - right, points, np.array([0, 1]), "caption")
    assert m == len(grid)
    return replace(panel, **changes)


class TestSimplex:
    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_a_row_has_the_places_where_the_class_changes(self, n: int) -> None:
        grid = simplex_points(n)
        panel = panel_of(grid)
        section = simplex_section(RegionFigure("f", "F", ((panel, replace(panel, title="two")),)))
        data = section.simplex
        assert (section.title, data["steps"], data["corners"], data["classes"]) == (
            SIMPLEX_TITLE,
            n,
            ["θ₁", "θ₂", "θ₃"],
            ["a", "b"],
        )
        assert [each["title"] for each in data["kernels"]] == ["one", "two"]
        assert data["points"] == [[*(round(float(x), 4) for x in grid[i]), i] for i in (0, 1)]
        for rows, classes in ((data["kernels"][0]["rows"], panel.predicted), (data["likelier"], panel.likelier)):
            found = {}
            for k, switches in enumerate(rows):
                for j in range(n + 1 - k):
                    found[j, k] = sum(at <= j for at in switches) % 2
            expected = {(round(p[1] * n), round(p[2] * n)): int(c) for p, c in zip(grid, classes, strict=True)}
            assert found == expected

    def test_planes_and_uneven_grids_have_none(self) -> None:
        plane = panel_of(np.array([[0.0, 1.0], [1.0, 0.5]]))
        even, uneven = panel_of(simplex_points(2)), panel_of(simplex_points(2)[:-1])
        assert simplex_section(RegionFigure("f", "F", ((plane,),))).empty
        assert simplex_section(RegionFigure("f", "F", ((uneven,),))).empty
        assert simplex_section(RegionFigure("f", "F", ((even, panel_of(simplex_points(3))),))).empty
        mixed = simplex_section(RegionFigure("f", "F", ((plane, even),)))
        assert [each["title"] for each in mixed.simplex["kernels"]] == ["one"]
        assert not mixed.empty


class TestSections:
    grid = Table.of("t", ("cell", "a", "b", "c"), [("x", 1, 2, 3)])

    @pytest.mark.parametrize(
        ("section", "empty"),
        [
            (PageSection("t"), True),
            (PageSection("t", grid=replace(grid, rows=())), True),
            (PageSection("t", grid=grid), False),
            (PageSection("t", simplex={"steps": 1}), False),
            (PageSection("t", says=("x",)), False),
            (PageSection("t", lines=("x",)), False),
            (PageSection("t", (Picture("p", "P", "", {}),)), False),
            (PageSection("t", note="n", file="f"), True),
        ],
    )
    def test_are_empty_without_anything_to_show(self, section: PageSection, empty: bool) -> None:
        assert section.empty == empty

    @pytest.mark.parametrize(
        ("specs", "scaled"), [((), False), (("own ? 1 : 2",), False), (("own ? 1 : 2", "x"), True), (("x", "y"), False)]
    )
    def test_one_scale_for_all_is_offered_of_several_pictures(self, specs: Any, scaled: bool) -> None:
        pictures = tuple(Picture(f"p{i}", "P", "", {"mark": text}) for i, text in enumerate(specs))
        assert PageSection("t", pictures).scaled == scaled

    def test_an_order_is_offered_where_a_picture_has_one(self) -> None:
        assert PageSection("t", (Picture("p", "P", "", {"params": [{"name": "order"}]}),)).ordered
        assert not PageSection("t", (Picture("p", "P", "", {"params": [{"name": "shown"}]}),)).ordered

    @pytest.mark.parametrize(("i", "dash"), [(0, "none"), (1, "10 3.2"), (2, "3 3"), (10, "10 3.2")])
    def test_a_sample_of_a_line_is_dashed_as_the_line(self, i: int, dash: str) -> None:
        look = line_look(i)
        assert look["dash"] == dash
        assert look["stroke"].startswith("var(--")


def section_of(summary: Summary, title: str) -> PageSection:
    """Return the section of this title; those after it are not made."""
    of_table = None if summary.of_points else result_table(summary)
    sections = (*_pictured(summary), *_sections(summary, of_table))
    return next(section for section in sections if section.title == title and not section.empty)


class TestPages:
    def test_comparisons_are_folded_from_forty_one_on(self) -> None:
        names = "abcdefghijklmnop"
        sizes = {name: {"more": {"size": 5}} for name in names}
        gaps = [(a, b, 0.1, 0.0, 0.2, 9) for i, a in enumerate(names) for b in names[i + 1 :]]
        for n in (MOST_OPEN_PAIRS, MOST_OPEN_PAIRS + 1):
            section = section_of(summary_of(names, gaps=gaps[:n], columns=sizes, charts=(curve(),)), "Comparisons")
            assert (section.folded, section.keys, section.file) == (n > MOST_OPEN_PAIRS, 2, "differences.csv")

    @pytest.mark.parametrize(
        ("changes", "note"),
        [
            ({}, ""),
            ({"low": (0.4, 0.7), "high": (0.6, 0.8)}, "Bars: 95% interval."),
            ({"low": (0.4, 0.7), "high": (0.6, 0.8), "bars": ""}, ""),
        ],
    )
    def test_a_chart_says_what_its_bars_and_its_band_are(self, changes: dict[str, Any], note: str) -> None:
        chart = curve(**changes)
        assert section_of(summary_of(charts=(chart,)), "Chart").note == note
        banded = replace(chart, panels=(replace(chart.panels[0], printed=(0.1, 0.2)), chart.panels[1]))
        said = section_of(summary_of(charts=(banded,)), "Chart").note
        assert said == f"{note} Shaded: the range of the paper's figure.".strip()

    def test_a_deviating_row_opens_where_something_looks_into_it(self) -> None:
        table = verdicts_of(verdict("a", verdict="deviates"), verdict("b"), verdict("b", metric="macro-f1"))
        assert section_of(summary_of(verdicts=table), "Published numbers").tried == {}
        tried = section_of(summary_of(verdicts=table, explained_by=("sweep", "other")), "Published numbers").tried
        assert tried == {
            "a": (
                "sweep tries other settings: bench run sweep",
                "other tries other settings: bench run other",
                "bench reproduce compares their scores with this one, on the paper's page.",
            )
        }

    def test_claims_that_are_only_partly_here_are_not_counted(self) -> None:
        rows = claim("c", "holds", 1, 1), claim("d", "holds", 1, 1, whole=2)
        assert "Its one claim holds" in measured_sentences(summary_of(claims=claims_of(*rows)))[-1]
        assert "claim" not in measured_sentences(summary_of(claims=claims_of(rows[1])))[-1]


class TestFigures:
    def test_a_column_is_narrower_for_every_kind_of_figure(self) -> None:
        grid = simplex_points(2)
        region = RegionFigure("map", "Map", ((panel_of(grid), panel_of(grid, "two")),))
        for summary in (summary_of(charts=(curve(),)), summary_of(), summary_of(regions=(region,))):
            wide, narrow = figure_specs(summary), figure_specs(summary, column=True)
            assert wide.keys() == narrow.keys()
            for name in wide:
                assert json.dumps(wide[name]) != json.dumps(narrow[name])
        assert WIDTH > COLUMN_WIDTH
        sides = [json.dumps(specs["map"]).count('"columns": 2') for specs in (wide, narrow)]
        assert sides[0] > sides[1] == 0

    def test_figures_that_cannot_be_drawn_leave_no_old_ones(self, tmp_path: Path) -> None:
        for kind in ("png", "svg"):
            (tmp_path / f"figure.{kind}").write_text("old")
        (tmp_path / "other.svg").write_text("kept")
        (tmp_path / f".x.{2**22 + 1}.tmp").write_text("unfinished")
        notes: list[str] = []
        asked: list[Any] = []
        paths = write_report_files(
            summary_of(), tmp_path, lambda specs: asked.append(specs) or {}, notes.append, column=True
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*(path.name for path in paths), "other.svg"])
        assert asked == [figure_specs(summary_of(), column=True)]
        assert notes == [missing_figures_message(["figure"])]
        drawn = write_report_files(
            summary_of(), tmp_path, lambda _: {"figure": {"png": b"p", "svg": b"s"}}, notes.append
        )
        assert {path.name for path in drawn} - {path.name for path in paths} == {"figure.png", "figure.svg"}
        assert (tmp_path / "figure.svg").read_bytes() == b"s"
        assert len(notes) == 1

    @pytest.mark.parametrize(
        ("version", "words"), [("", "need the package vl-convert-python"), ("1.0", "failed or ran out of memory")]
    )
    def test_missing_figures_say_how_to_get_them(
        self, version: str, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drawing_render, "engine_version", lambda: version)
        text = missing_figures_message(["a", "b"])
        assert words in text
        assert text.endswith(": a, b")
