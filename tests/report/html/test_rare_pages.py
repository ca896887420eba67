"""Pages of runs and of papers: what is folded, linked, quoted, left out and said of odd ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmark.report.html.page import _pictured, write_page
from tests.report.rows import curve, summary_of

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
