"""Pages of runs, of papers and of placements: what is folded, linked, quoted, left out and said of odd ones."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.analysis.charts.region_charts import RegionFigure
from benchmark.analysis.summary import SCORE_COLUMNS, Summary, summary_table
from benchmark.report.html.page import _pictured, write_page
from benchmark.report.html.site import site_pages
from benchmark.report.page import BASE_VARIANT_LABEL
from benchmark.report.paper_results import PaperExperiment, PaperResult
from benchmark.report.placement import (
    LONGEST_METHOD,
    NAMED_CELLS,
    NOT_TOLD_APART,
    placement_page,
    published_grid_of,
    ranking_grid_of,
    screen_grids,
)
from tests.report.expected_texts import page_words
from tests.report.html.test_rare_sections import panel_of, placed, simplex_points, site
from tests.report.rows import claim, claims_of, compared, curve, frame_of, summary_of, verdict, verdicts_of
from tests.report.test_rare_pages import trial

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.report.html.section import PageSection

pytestmark = pytest.mark.usefixtures("without_vega")
SIZES = {name: {"more": {"size": 5}} for name in "abc"}


def titled(summary: Summary, title: str) -> PageSection:
    return next(each for each in _pictured(summary) if each.title == title and not each.empty)


class TestCharts:
    def test_have_a_title_where_it_is_not_that_of_the_page(self) -> None:
        same, other = curve(title="Made"), curve(name="d", title="Other chart", columns=3)
        sections = list(_pictured(summary_of(charts=(same, other))))
        assert [(section.title, section.columns) for section in sections] == [("", 2), ("Other chart", 3)]

    def test_a_band_in_any_panel_is_explained(self) -> None:
        chart = curve()
        for bands in ((True, False), (False, True)):
            panels = tuple(
                replace(panel, printed=(0.1, 0.2) if band else None)
                for panel, band in zip(chart.panels, bands, strict=True)
            )
            note = titled(summary_of(charts=(replace(chart, panels=panels),)), "Chart").note
            assert note.endswith("Shaded: the range of the paper's figure.")

    def test_the_machine_is_named_with_its_processors(self, tmp_path: Path) -> None:
        machine = {"system": "Plan 9", "processors": 3, "threads": 7}
        text = write_page(summary_of(), tmp_path, machine).read_text(encoding="utf-8")
        assert "Plan 9, 3 processors" in text


class TestSites:
    summary = summary_of("a", verdicts=verdicts_of(verdict("a", verdict="deviates", grade="outside")))

    def test_the_index_lists_the_sweeps_of_every_experiment(self) -> None:
        parts = tuple(
            PaperExperiment(
                replace(summary_of("a"), name=f"e{i}", title=f"Experiment {i}"),
                sweeps=(replace(summary_of("a"), name=f"s{i}", title=f"Sweep {i}"),),
            )
            for i in range(2)
        )
        paper = PaperResult("key", "The paper", "Ref.", parts, claims_of(), {})
        index = page_words(site_pages([paper], {"s1": "runs/s1.html"})["index.html"])
        assert [text in index for text in ("Sweep 0", "Sweep 1", "runs/s1.html", "of 1 papers")] == [True] * 4

    def test_an_experiment_has_its_run_caveats_regions_and_sensitivity(self) -> None:
        region = RegionFigure("f", "F", ((panel_of(simplex_points(2), "a kernel"),),))
        tried = (trial("a", BASE_VARIANT_LABEL, "deviates"), trial("a", "v", "equal"))
        summary = replace(self.summary, regions=(region,))
        page = site(PaperExperiment(summary, tried, caveats=("A caveat.",)), {"made": "runs/made.html"})["key.html"]
        for words in ("runs/made.html", "A caveat.", "a kernel", "1 of the 1 that deviate are consistent"):
            assert words in page
        bare = site(PaperExperiment(self.summary))["key.html"]
        for words in ("runs/made.html", "A caveat.", "are consistent under some other choice"):
            assert words not in bare

    @pytest.mark.parametrize(
        ("changes", "drawn"),
        [
            ({}, True),
            ({"verdicts": verdicts_of()}, False),
            ({"regions": (RegionFigure("f", "F", ((panel_of(simplex_points(2)),),)),)}, False),
        ],
    )
    def test_published_values_are_drawn_beside_scores(self, changes: dict[str, Any], drawn: bool) -> None:
        paper = PaperResult(
            "key", "The paper", "Ref.", (PaperExperiment(replace(self.summary, **changes)),), claims_of(), {}
        )
        assert (
            "of each cell with its 95% interval, and the published value" in site_pages([paper], {})["key.html"]
        ) == drawn

    def test_each_claim_links_to_its_section(self) -> None:
        rows = [claim("c", "holds", 1, 1), claim("d", "not tested (1 of 2 missing)", 0, 1)]
        paper = PaperResult(
            "key", "P", "Ref.", (PaperExperiment(self.summary),), claims_of(*rows), {}, frame_of(compared())
        )
        html = site_pages([paper], {})["key.html"]
        for name in "cd":
            assert len(re.findall(rf'href="?#claim-{name}"?', html)) >= 1
            assert len(re.findall(rf'id="?claim-{name}"?', html)) == 1


class TestPlacements:
    published = tuple(("accuracy", f"m{i}", "", 2020.0, "80.00", False, "lower") for i in range(3))

    def test_groups_are_counted_in_the_notes(self) -> None:
        scores = [("mine", fold, "accuracy", 0.9, 0.8, 1.0, 9, 0) for fold in ("all", "g1", "g2", "g3")]
        assert placed(2, scores=summary_table(SCORE_COLUMNS, scores)).notes[0] == (
            "Accuracy is the mean over the 3 groups."
        )
        assert "groups" not in placed(2).notes[0]
        one = placed(2, scores=summary_table(SCORE_COLUMNS, scores[:2])).notes[0]
        assert "groups" not in one

    @pytest.mark.parametrize("n", [0, 1, NAMED_CELLS, NAMED_CELLS + 1])
    def test_cells_that_are_not_told_apart_are_named(self, n: int) -> None:
        made = placed(1)
        words = [NOT_TOLD_APART if 0 < i <= n else word for i, word in enumerate(made.ranking["compared"])]
        made = replace(made, ranking=made.ranking.assign(compared=words))
        said = next(each for each in made.sentences if each.startswith("By a paired test"))
        names = ", ".join(f"c{i}" for i in range(1, n + 1)[:NAMED_CELLS])
        named = f": {names}{', …' if n > NAMED_CELLS else ''}" if n else ""
        assert said == (
            f"By a paired test, it is better than {12 - n} of them, worse than 0, {NOT_TOLD_APART} from {n}{named}."
        )
        assert f"it has rank {made.rank} beside 12 methods of ours" in " ".join(made.sentences)
        assert screen_grids(made)[0].note == (f"–: {NOT_TOLD_APART}" if n else "")

    def test_where_nothing_is_published_it_is_said(self) -> None:
        assert "No published value on these documents is known here." in placed(2).sentences
        made = placed(2, published=self.published)
        assert "No published value on these documents is known here." not in made.sentences
        assert "Its accuracy is below 0 and above 3 of 3 published values." in made.sentences

    @pytest.mark.parametrize("extra", [0, 1])
    def test_long_names_are_cut_on_a_screen_and_sources_are_named(self, extra: int) -> None:
        name = "m" * (LONGEST_METHOD - 12 + extra)
        rows = [
            ("accuracy", name, "Ann, 2020", 2020.0, "80.00", False, "lower"),
            ("macro-f1", "other", "", 2021.0, "70.0", None, "lower"),
        ]
        made = placed(2, published=rows)
        whole = f"{name} (Ann, 2020)"
        assert [row[2] for row in published_grid_of(made).rows] == ["mine", whole, "mine", "other"]
        screen = screen_grids(made)[1]
        assert "metric" not in screen.header
        assert [row[1] for row in screen.rows] == ["mine", f"{whole[: LONGEST_METHOD - 1]}…" if extra else whole]

    @pytest.mark.parametrize(
        ("name", "kept", "gone"), [("20ng", "p (Holm)", "in macro-F1"), ("modapte-90", "in macro-F1", "p (Holm)")]
    )
    def test_the_ranking_has_what_decides(self, name: str, kept: str, gone: str) -> None:
        grid = ranking_grid_of(placed(2, name=name))
        assert kept in grid.header
        assert gone not in grid.header
        own = next(row for row in grid.rows if row[1] == "mine")
        assert set(own[5:]) == {""}

    def test_the_page_has_every_cell_and_table(self) -> None:
        html = placement_page(placed(2, published=self.published))
        assert "mine (placed)" in html
        page = page_words(html)
        for words in ("c0", "c12", "Among published scores", "Notes"):
            assert words in page, words
        assert "bench place" in page
