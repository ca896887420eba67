"""Self-contained HTML page of a summary: outcome, and every number.

Measured times are in elements of the class "measured". The rest of a page does not depend on when and where it is
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.table import ON_DEMAND, Table
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.report.curve_tables import curve_table
from benchmark.report.drawing.spec import PAGE_WIDTH, page_spec
from benchmark.report.environment import template_environment
from benchmark.report.files import VERDICTS_FILE, failure_lines
from benchmark.report.html.results import confusions_of_pair, results_of
from benchmark.report.tables import (
    cell_table,
    comparison_table,
    main_verdicts,
    range_table,
    reference_value_table,
    verdict_table,
)
from benchmark.report.verdict_signs import claim_facts, verdict_tone
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.analysis.document_predictions import DocumentExplanation
    from benchmark.analysis.summary import Summary

    #: Explanations by document.
    Explanations = Mapping[str, DocumentExplanation]

PAGE_FILE = "report.html"
#: Most rows of a table of a page. The files beside the page have all.
MAX_PAGE_ROWS = 500
#: Comparisons of curves are folded where they are more than these, and pictures of more panels than these.
MOST_OPEN_PAIRS, MOST_OPEN_PANELS = 40, 4


@dataclass(frozen=True)
class PageSection:
    """One part of a page: a picture, then a table.

    Parameters
    ----------
    title : str
    grid : Table or None
    file : str
        Name of the file beside the page that has the same numbers in full precision.
    folded : bool
        Whether the section is shown on demand.
    picture : mapping
        Name, title and specification of a picture, and whether it shows measured times, which differ from run to run.
    lines : tuple of str
        Sentences below everything else.
    """

    title: str
    grid: Table | None = None
    file: str = ""
    folded: bool = False
    picture: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the section has nothing to show."""
        return not (self.picture or (self.lines if self.grid is None else self.grid.rows))


def write_page(
    summary: Summary, folder: Path, machine: Mapping[str, Any], explanations: Explanations | None = None
) -> Path:
    """Write the page into a run folder that already has the other files, and return its path."""
    words = f"{machine['system']}, {machine['processors']} processors" if machine else ""
    write_atomically(folder / PAGE_FILE, page_html(summary, words, explanations).encode())
    return folder / PAGE_FILE


def page_html(summary: Summary, machine: str = "", explanations: Explanations | None = None) -> str:
    """Return the HTML of the page.

    Parameters
    ----------
    summary : Summary
    machine : str
        Description of the machine that made the run.
    explanations : mapping of str to DocumentExplanation
        Texts of documents and what speaks for their predictions, by document.
    """
    table = None if summary.of_points else results_of(summary)
    names = ["table.md", *(["curves.csv"] if summary.charts else []), *([] if summary.of_points else ["table.csv"])]
    names += ["table.tex", "scores.csv", "significance.csv", *([VERDICTS_FILE] if len(summary.verdicts) else [])]
    finding = main_finding(summary)
    pictured = [section for section in _pictured(summary) if not section.empty]
    environment = template_environment()
    environment.globals |= {"tone_of": verdict_tone, "on_demand": ON_DEMAND, "most": MAX_PAGE_ROWS}
    return environment.get_template("report.html.j2").render(
        sentences=finding.details,
        headline=finding.headline,
        pictured=pictured,
        drawn=any(each.picture for each in pictured),  # without pictures, the page needs no script that draws them
        sections=[section for section in _sections(summary, table) if not section.empty],
        claims=claim_facts(summary),
        table=table,
        confusions=confusions_of_pair(summary),
        explanations=explanations or {},
        summary=summary,
        files=[*names, PREDICTIONS_TABLE, "manifest.json"],
        machine=machine,
    )


def _pictured(summary: Summary) -> Iterator[PageSection]:
    """Yield the sections of pictures: decision regions and curves."""
    if not (summary.regions or summary.charts):
        return
    from benchmark.report.drawing.curves import curve_charts  # noqa: PLC0415 - Altair is slow to import
    from benchmark.report.drawing.regions import region_chart  # noqa: PLC0415

    for figure in summary.regions:
        spec = page_spec(region_chart(figure, PAGE_WIDTH))
        yield PageSection("", picture={"name": figure.name, "title": figure.title, "spec": spec})
    drawn = curve_charts(summary.charts, PAGE_WIDTH)
    for chart in (chart for chart in summary.charts if chart.name in drawn):
        title = chart.title if chart.title != summary.title else ""
        picture = {"name": chart.name, "title": chart.title, "spec": page_spec(drawn[chart.name])}
        folded = bool(title) and len(chart.panels) > MOST_OPEN_PANELS
        yield PageSection(title, picture=picture | {"measured": chart.measured}, folded=folded)
    for chart in (chart for chart in summary.charts if summary.of_points and not chart.measured):
        grid = curve_table(chart)
        yield PageSection(grid.title, grid, "curves.csv", folded=True)


def _sections(summary: Summary, table: Mapping[str, Any] | None) -> Iterator[PageSection]:
    """Yield the sections that a reader opens, where they say more than the table of results."""
    if table is None:
        grid = replace(cell_table(summary, costs=True, anywhere=True), title="Scores")
        yield PageSection("Scores of every method", grid, "scores.csv", folded=True)
        grid = comparison_table(summary)
        yield PageSection("Comparisons", grid, "significance.csv", folded=len(grid.rows) > MOST_OPEN_PAIRS)
    if table is None or len(summary.verdicts) > len(main_verdicts(summary)):
        yield PageSection("Published numbers", verdict_table(summary.verdicts), VERDICTS_FILE, folded=True)
    for title, grid, file in (
        ("Axis ranges of the published figures", range_table(summary.ranges), "table.md"),
        ("Reference values", reference_value_table(summary.verdicts), VERDICTS_FILE),
    ):
        yield PageSection(title, grid, file, folded=True)
    yield PageSection("Failures", lines=tuple(failure_lines(summary)))
    yield PageSection("Notes", lines=summary.notes, folded=True)
