"""Pages of runs and of papers: what is folded, linked, quoted, left out and said of odd ones."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.analysis.charts.region_charts import RegionFigure
from benchmark.report.html.page import _pictured, write_page
from benchmark.report.html.site import site_pages
from benchmark.report.page import BASE_VARIANT_LABEL
from benchmark.report.paper_results import PaperExperiment, PaperResult
from tests.report.expected_texts import page_words
from tests.report.html.test_rare_sections import panel_of, simplex_points, site
from tests.report.rows import claim, claims_of, compared, curve, frame_of, summary_of, verdict, verdicts_of
from tests.report.test_rare_pages import trial

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.summary import Summary
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
