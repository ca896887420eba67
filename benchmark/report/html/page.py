"""Self-contained HTML page of a summary: question, outcome, and every number.

The tables equal those of table.md, cell by cell. Measured times are in elements of the class "measured". The rest of a
page does not depend on when and where it is written.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import number_text, p_text
from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import capitalized
from benchmark.analysis.prose.main_finding import main_finding, published_sentences, question_sentence
from benchmark.analysis.summary import OPTIONAL_TABLES, SUMMARY_TABLES
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.papers.verdict_counts import claim_counts_text
from benchmark.report.comparison_tables import comparison_table, significance_table
from benchmark.report.curve_tables import curve_table
from benchmark.report.drawing.curves import curve_pictures
from benchmark.report.drawing.dots import dot_pictures, rank_picture
from benchmark.report.drawing.forest import forest_picture
from benchmark.report.drawing.matrices import confusion_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.spec import Picture, page_spec
from benchmark.report.html.mistakes import mistakes_section
from benchmark.report.html.render import bytes_beside_script, render_html
from benchmark.report.html.section import PAGE_FILE, PageSection
from benchmark.report.html.simplex import simplex_section
from benchmark.report.run_tables import failure_lines
from benchmark.report.tables import (
    cell_table,
    claim_table,
    duplicate_table,
    fold_table,
    range_table,
    reference_value_table,
    verdict_table,
)
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.analysis.charts.chart import Chart
    from benchmark.analysis.summary import Summary
    from benchmark.report.html.mistakes import Explanations

#: Most bytes beside the script of a page that has tables and texts of documents.
MAX_TABLES_BYTES = 300_000
#: Comparisons of curves are folded where they are more than these.
MOST_OPEN_PAIRS = 40


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
    explanations : mapping of (str, str) to DocumentExplanation
        Texts of documents and what speaks for their predictions, by task and document. The page has as many, from
        the documents that most cells misclassify on, as it has room for (`MAX_TABLES_BYTES`).
    """
    room = MAX_TABLES_BYTES - bytes_beside_script(page_html(summary, machine)) if explanations else 0
    sections = [section for section in _sections(summary, explanations or {}, room) if not section.empty]
    written = [name for name in SUMMARY_TABLES if name not in OPTIONAL_TABLES or len(getattr(summary, name))]
    names = [PREDICTIONS_TABLE, *(f"{name}.csv" for name in written), *(["curves.csv"] if summary.charts else [])]
    return render_html(
        "report.html.j2",
        summary_sentences(summary),
        sections,
        headline=main_finding(summary).headline,
        caveats=summary.caveats,
        summary=summary,
        files=[*names, "table.md", "manifest.json"],
        machine=machine,
    )


def summary_sentences(summary: Summary) -> list[str]:
    """Return paragraphs on the finding, the question and the documents, and how the paper's values compare."""
    paragraphs = [" ".join(main_finding(summary).details), " ".join((question_sentence(summary), *summary.documents))]
    whole = summary.claims[
        summary.claims["whole"] <= summary.claims["of"]
    ]  # a claim that is only partly in this run has no verdict
    beside = published_sentences(summary.verdicts)
    beside += [f"{capitalized(claim_counts_text([whole]))}."] if len(whole) else []
    paragraphs.append(" ".join(beside))
    return [paragraph for paragraph in paragraphs if paragraph]


def _sections(summary: Summary, explanations: Explanations, room: int) -> Iterator[PageSection]:
    """Yield the sections of the page in order, including empty ones."""
    for figure in summary.regions:
        spec = region_chart(figure)
        yield PageSection("", (Picture(figure.name, figure.title, spec["description"], page_spec(spec)),))
        yield simplex_section(figure)
    for chart in summary.charts:
        title = chart.title if chart.title != summary.title else ""
        yield PageSection(title, tuple(curve_pictures(chart)), note=_legend(chart), columns=chart.columns)
    scores = _cells_section(summary)
    if not summary.of_points:
        yield scores
    yield _comparisons(summary)
    yield published_section("Published numbers", summary, _looked_into(summary))
    yield PageSection("Claims", grid=claim_table(summary.claims), file="claims.csv")
    yield PageSection("Axis ranges of the published figures", grid=range_table(summary.ranges), file="ranges.csv")
    yield PageSection("Reference values", grid=reference_value_table(summary.verdicts), file="verdicts.csv")
    if summary.of_points:
        for grid in (curve_table(chart) for chart in summary.charts if not chart.measured):
            yield PageSection(grid.title, grid=grid, file="curves.csv", folded=True)
        yield scores
    yield from _further_sections(summary, explanations, room)


def _further_sections(summary: Summary, explanations: Explanations, room: int) -> Iterator[PageSection]:
    """Yield the sections that a reader opens, or that few readers need."""
    if not summary.of_points:
        yield PageSection(fold_table(summary).title, grid=fold_table(summary), file="scores.csv", folded=True)
    yield PageSection("Every test", grid=significance_table(summary), file="significance.csv", folded=True)
    ranks, wide = rank_picture(summary), _separates_few(summary)
    pictures = (ranks,) if ranks else ()
    yield PageSection("Critical differences", pictures, file="ranks.csv", note=_of_ranks(summary), folded=wide)
    confusions = confusion_picture(summary)
    yield PageSection("Confusion matrices", (confusions,) if confusions else (), file="confusions.csv")
    yield mistakes_section(summary, explanations, room)
    grid = duplicate_table(summary.duplicates)
    yield PageSection(grid.title, grid=grid, file="duplicates.csv", folded=True)
    yield PageSection("Failures", lines=tuple(failure_lines(summary)))
    yield PageSection("Terms", grid=Table.of("Terms", ("term", "meaning"), summary.terms), folded=True)
    yield PageSection("Notes", lines=summary.notes, folded=True)


def _comparisons(summary: Summary) -> PageSection:
    """Return the section of the planned comparisons: a forest plot, and one row each."""
    forest, grid = forest_picture(summary), comparison_table(summary)
    many = len(grid.rows) > MOST_OPEN_PAIRS
    return PageSection("Comparisons", (forest,) if forest else (), grid, "differences.csv", keys=2, folded=many)


def published_section(title: str, summary: Summary, tried: Mapping[str, tuple[str, ...]]) -> PageSection:
    """Return the section of published values beside ours; `tried` has the lines that a deviating row opens."""
    links = {cell.id: f"#cell{i}" for i, cell in enumerate(summary.cells, start=1)}
    return PageSection(title, (), verdict_table(summary.verdicts), "verdicts.csv", links=links, tried=tried)


def _separates_few(summary: Summary) -> bool:
    """Return whether mean ranks are only told apart that differ by more than half of the number of methods."""
    return bool(len(summary.ranks)) and not summary.ranks.iloc[0]["critical"] <= len(summary.ranks) / 2


def _looked_into(summary: Summary) -> dict[str, tuple[str, ...]]:
    """Return, by deviating cell, lines on the sensitivity analyses and on the page that compares them."""
    if not summary.explained_by:
        return {}
    lines = [f"{name} tries other settings: bench run {name}" for name in summary.explained_by]
    texts = (*lines, "bench reproduce compares their scores with this one, on the paper's page.")
    return dict.fromkeys(summary.verdicts["cell"][summary.verdicts["verdict"] == "deviates"], texts)


def _legend(chart: Chart) -> str:
    """Write the meaning of the bars and the band of a chart."""
    parts = (
        [f"Bars: {chart.bars}."]
        if chart.bars and any(line.low for panel in chart.panels for line in panel.lines)
        else []
    )
    parts += ["Shaded: the range of the paper's figure."] if any(panel.printed for panel in chart.panels) else []
    return " ".join(parts)


def _of_ranks(summary: Summary) -> str:
    """Write a note on the test of the mean ranks and its limits."""
    if not len(summary.ranks):
        return ""
    first = summary.ranks.iloc[0]
    test = f"Friedman's test, in Iman and Davenport's form, has p {p_text(first['p_value'])}"
    line = f"{test}; the critical difference is {number_text(first['critical'])} at 5%."
    return (
        f"After Demšar 2006. {line} Samples are the splits of each task. Splits of one corpus share training "
        "documents, so the test finds differences too often."
    )


def _cells_section(summary: Summary) -> PageSection:
    """Return the section of the cells: their ranking, scores, costs, and the command that runs each cell again."""
    drawn = len(summary.scores) and not summary.charts and not summary.regions
    return PageSection(
        "Scores of every cell",
        tuple(dot_pictures(summary)) if drawn else (),
        replace(cell_table(summary, costs=True, anywhere=True), title="Scores"),
        "scores.csv",
        {cell.id: f"bench run {shlex.quote(summary.name)} --only {shlex.quote(cell.id)}" for cell in summary.cells},
        {cell.id: place for place, cell in enumerate(summary.cells)},
        folded=summary.of_points,
    )
