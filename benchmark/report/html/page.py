"""Self-contained HTML page of a summary: question, outcome, and every number.

The tables equal those of table.md, cell by cell. Measured times are in elements of the class "measured". The rest of a
page does not depend on when and where it is written.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import number_text, p_text
from benchmark.analysis.formatting.units import capitalized
from benchmark.analysis.prose.main_finding import main_finding, published_sentences, question_sentence
from benchmark.analysis.summary import OPTIONAL_TABLES, SUMMARY_TABLES
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.papers.verdict_counts import claim_counts_text
from benchmark.report.comparison_grids import comparison_grid, significance_grid
from benchmark.report.curve_tables import chart_grid
from benchmark.report.dot_rows import ranking
from benchmark.report.drawing.curves import curve_pictures
from benchmark.report.drawing.dots import dot_pictures, rank_picture
from benchmark.report.drawing.forest import forest_picture
from benchmark.report.drawing.matrices import confusion_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.spec import Picture, page_spec
from benchmark.report.grids import (
    OVER_GROUPS,
    WITHOUT,
    TextTable,
    cell_grid,
    claim_grid,
    cost_grid,
    duplicate_grid,
    fold_grid,
    metric_header,
    range_grid,
    reference_value_grid,
    varying_columns,
    verdict_grid,
)
from benchmark.report.html.mistakes import mistakes_section
from benchmark.report.html.render import bytes_beside_script, render_html
from benchmark.report.html.section import PAGE_FILE, PageSection, arrange_columns, fill_repeated
from benchmark.report.html.simplex import simplex_section
from benchmark.report.tables import failure_lines
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.analysis.charts.chart import Chart
    from benchmark.analysis.summary import Summary
    from benchmark.report.html.mistakes import Explanations

#: Columns of tables of scores and of published values that come first, after the name of the row.
FIRST_COLUMNS = ("95% interval", *WITHOUT.values(), "published", "difference", "verdict")
#: Columns of published values that are shown on demand.
DETAIL_COLUMNS = ("sample", OVER_GROUPS, "difference in documents", "tolerance", "grade")
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
    yield PageSection("Claims", grid=claim_grid(summary.claims), file="claims.csv")
    yield PageSection("Axis ranges of the published figures", grid=range_grid(summary.ranges), file="ranges.csv")
    yield PageSection(
        "Reference values", grid=fill_repeated(reference_value_grid(summary.verdicts)), file="verdicts.csv"
    )
    if summary.of_points:
        for grid in (chart_grid(chart) for chart in summary.charts if not chart.measured):
            yield PageSection(grid.title, grid=grid, file="curves.csv", folded=True)
        yield scores
    yield from _further_sections(summary, explanations, room)


def _further_sections(summary: Summary, explanations: Explanations, room: int) -> Iterator[PageSection]:
    """Yield the sections that a reader opens, or that few readers need."""
    if not summary.of_points:
        yield PageSection(fold_grid(summary).title, grid=fold_grid(summary), file="scores.csv", folded=True)
    tests = fill_repeated(significance_grid(summary))
    yield PageSection("Every test", grid=tests, file="significance.csv", folded=True)
    ranks, wide = rank_picture(summary), _separates_few(summary)
    pictures = (ranks,) if ranks else ()
    yield PageSection("Critical differences", pictures, file="ranks.csv", note=_of_ranks(summary), folded=wide)
    confusions = confusion_picture(summary)
    yield PageSection("Confusion matrices", (confusions,) if confusions else (), file="confusions.csv")
    yield mistakes_section(summary, explanations, room)
    grid = duplicate_grid(summary.duplicates)
    yield PageSection(grid.title, grid=grid, file="duplicates.csv", folded=True)
    yield PageSection("Failures", lines=tuple(failure_lines(summary)))
    header = ("term", "meaning")
    yield PageSection("Terms", grid=TextTable("Terms", header, summary.terms, frozenset(header)), folded=True)
    yield PageSection("Notes", lines=summary.notes, folded=True)


def _comparisons(summary: Summary) -> PageSection:
    """Return the section of the planned comparisons: a forest plot, and one row each."""
    forest, grid = forest_picture(summary), comparison_grid(summary)
    many = len(grid.rows) > MOST_OPEN_PAIRS
    return PageSection("Comparisons", (forest,) if forest else (), grid, "differences.csv", keys=2, folded=many)


def published_section(title: str, summary: Summary, tried: Mapping[str, tuple[str, ...]]) -> PageSection:
    """Return the section of published values beside ours; `tried` has the lines that a deviating row opens."""
    grid = arrange_columns(verdict_grid(summary.verdicts), ("ours", *FIRST_COLUMNS, "metric"))
    links = {cell.id: f"#cell{i}" for i, cell in enumerate(summary.cells, start=1)}
    behind, down = frozenset(DETAIL_COLUMNS) & set(grid.header), frozenset({"ours", "published"})
    return PageSection(title, (), grid, "verdicts.csv", links=links, tried=tried, behind=behind, descending=down)


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
    heads = [metric_header(metric, summary.quantities) for metric in summary.headline_metrics]
    costs = cost_grid(summary.costs)
    by_cell = {row[0]: row[1:] for row in costs.rows}
    measured = costs.header[1:] if by_cell else ()
    settings = varying_columns(summary.cells)
    grid = arrange_columns(cell_grid(summary), (*heads[:1], *FIRST_COLUMNS, *heads[1:], "ties"), settings)
    rows = {row[0]: (*row, *by_cell.get(row[0], ("–",) * len(measured))) for row in grid.rows}
    ordered = tuple(rows[name] for name in ranking(summary).order)
    notes = grid.note, costs.note if measured else ""
    return PageSection(
        "Scores of every cell",
        tuple(dot_pictures(summary)) if drawn else (),
        TextTable("Scores", (*grid.header, *measured), ordered, grid.text, " ".join(filter(None, notes))),
        "scores.csv",
        measured,
        {cell.id: f"bench run {shlex.quote(summary.name)} --only {shlex.quote(cell.id)}" for cell in summary.cells},
        {cell.id: place for place, cell in enumerate(summary.cells)},
        frozenset({*settings, *measured}),
        frozenset(metric_header(m, summary.quantities) for m in summary.headline_metrics if summary.more_is_better(m)),
        folded=summary.of_points,
    )
