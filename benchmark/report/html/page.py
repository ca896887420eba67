"""Self-contained HTML page of a summary: question, outcome, and every number.

The tables equal those of table.md, cell by cell. Measured times are in elements of the class "measured". The rest of a
page does not depend on when and where it is written.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import capitalized
from benchmark.analysis.prose.main_finding import main_finding, question_sentence
from benchmark.analysis.prose.verdict_sentences import claim_counts_text, verdict_counts_text
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.papers.verdict_counts import NO_VALUES
from benchmark.report.comparison_tables import comparison_table
from benchmark.report.curve_tables import curve_table
from benchmark.report.drawing.curves import curve_charts
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.spec import Picture, page_spec
from benchmark.report.drawing.theme import PAGE_WIDTH
from benchmark.report.files import VERDICTS_FILE
from benchmark.report.html.render import render_html
from benchmark.report.html.results import claim_lines_of, confusions_of_pair, result_table
from benchmark.report.html.section import PAGE_FILE, PageSection
from benchmark.report.html.simplex import simplex_section
from benchmark.report.run_tables import failure_lines
from benchmark.report.tables import (
    VERDICT_MEANINGS,
    cell_table,
    duplicate_table,
    range_table,
    reference_value_table,
    verdict_table,
)
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.analysis.disagreement import DocumentExplanation
    from benchmark.analysis.summary import Summary
    from benchmark.report.drawing.theme import VegaSpec
    from benchmark.report.html.results import ResultTable

    #: Explanations by task and document.
    Explanations = Mapping[tuple[str, str], DocumentExplanation]

_NO_TEXTS = "`bench report` with the folder of this page and `--html` adds texts, nearest training documents and words."
#: Comparisons of curves are folded where they are more than these.
MOST_OPEN_PAIRS = 40
#: Pictures of more panels than these are folded.
MOST_OPEN_PANELS = 4


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
        Texts of documents and what speaks for their predictions, by task and document.
    """
    table = None if summary.of_points else result_table(summary)
    names = ["table.md", *(["curves.csv"] if summary.charts else []), *([] if summary.of_points else ["table.csv"])]
    names += ["table.tex", "scores.csv", "significance.csv"]
    names += [VERDICTS_FILE] if len(summary.verdicts) else []
    return render_html(
        "report.html.j2",
        main_finding(summary).details,
        [section for section in _sections(summary, table) if not section.empty],
        pictured=[section for section in _pictured(summary) if not section.empty],
        headline=main_finding(summary).headline,
        claimed=claim_lines_of(summary),
        table=table,
        verdict_meanings=_meanings(table),
        confusions=confusions_of_pair(summary),
        explanations=explanations or {},
        text_note="" if explanations else _NO_TEXTS,
        measured=measured_sentences(summary),
        caveats=summary.caveats,
        summary=summary,
        files=[*names, PREDICTIONS_TABLE, "manifest.json"],
        machine=machine,
    )


def measured_sentences(summary: Summary) -> list[str]:
    """Return sentences on the question, the documents and the splits, and how the paper's values compare."""
    whole = summary.claims[
        summary.claims["whole"] <= summary.claims["of"]
    ]  # a claim that is only partly in this run has no verdict
    printed = verdict_counts_text([summary.verdicts])
    beside = [printed] if printed != NO_VALUES else []
    beside += [claim_counts_text([whole])] if len(whole) else []
    beside_ours = " ".join(f"{capitalized(text)}." for text in beside)
    return [" ".join((question_sentence(summary), *summary.documents)), *filter(None, [beside_ours])]


def _meanings(table: ResultTable | None) -> str:
    """Say what the verdicts of a table mean."""
    found = dict.fromkeys(row.verdict for row in table.rows) if table else ()
    return "; ".join(f"{word}: {VERDICT_MEANINGS[word]}" for word in found if word in VERDICT_MEANINGS)


def _pictured(summary: Summary) -> Iterator[PageSection]:
    """Yield the sections of pictures: decision regions and curves."""
    for figure in summary.regions:
        yield PageSection("", (_picture(figure.name, figure.title, region_chart(figure, PAGE_WIDTH)),))
        yield simplex_section(figure)
    drawn, titles = curve_charts(summary.charts, PAGE_WIDTH), Counter(chart.title for chart in summary.charts)
    which = {chart.name: f" ({chart.name})" if titles[chart.title] > 1 else "" for chart in summary.charts}
    for chart in (chart for chart in summary.charts if chart.name in drawn):
        title = chart.title + which[chart.name] if chart.title != summary.title else ""
        picture = _picture(chart.name, chart.title, drawn[chart.name], measured=chart.measured)
        yield PageSection(title, (picture,), folded=bool(title) and len(chart.panels) > MOST_OPEN_PANELS)
    if summary.of_points:
        for chart in (chart for chart in summary.charts if not chart.measured):
            grid = curve_table(chart)
            yield PageSection(grid.title + which[chart.name], grid=grid, file="curves.csv", folded=True)


def _sections(summary: Summary, table: ResultTable | None) -> Iterator[PageSection]:
    """Yield the sections that a reader opens, where they say more than the table of results."""
    if table is None:
        yield _cells_section(summary)
        yield _comparisons(summary)
    if table is None or len(summary.verdicts) > sum(bool(row.published) for row in table.rows):
        yield replace(published_section("Published numbers", summary, _looked_into(summary)), folded=True)
    ranges = range_table(summary.ranges)
    yield PageSection("Axis ranges of the published figures", grid=ranges, file="table.md", folded=True)
    values = reference_value_table(summary.verdicts)
    yield PageSection("Reference values", grid=values, file="verdicts.csv", folded=True)
    grid = duplicate_table(summary.duplicates)
    yield PageSection(grid.title, grid=grid, file="table.md", folded=True)
    yield PageSection("Failures", lines=tuple(failure_lines(summary)))
    yield PageSection("Terms", grid=Table.of("Terms", ("term", "meaning"), summary.terms), folded=True)
    yield PageSection("Notes", lines=summary.notes, folded=True)


def _comparisons(summary: Summary) -> PageSection:
    """Return the section of the planned comparisons of curves, one row each."""
    grid = comparison_table(summary)
    many = len(grid.rows) > MOST_OPEN_PAIRS
    return PageSection("Comparisons", grid=grid, file="significance.csv", folded=many)


def published_section(title: str, summary: Summary, tried: Mapping[str, tuple[str, ...]]) -> PageSection:
    """Return the section of published values beside ours; `tried` has the lines that a deviating row opens."""
    links = {cell.id: f"#cell{i}" for i, cell in enumerate(summary.cells, start=1)}
    return PageSection(title, (), verdict_table(summary.verdicts), "verdicts.csv", links=links, tried=tried)


def _looked_into(summary: Summary) -> dict[str, tuple[str, ...]]:
    """Return, by deviating cell, lines on the sensitivity analyses and on the page that compares them."""
    if not summary.explained_by:
        return {}
    lines = [f"{name} tries other settings: bench run {name}" for name in summary.explained_by]
    texts = (*lines, "bench reproduce compares their scores with this one, on the paper's page.")
    return dict.fromkeys(summary.verdicts["cell"][summary.verdicts["verdict"] == "deviates"], texts)


def _picture(name: str, title: str, spec: VegaSpec, *, measured: bool = False) -> Picture:
    """Return a figure as a picture, whose title is that of its section."""
    return Picture(name, title, spec["description"], page_spec(spec), measured)


def _cells_section(summary: Summary) -> PageSection:
    """Return the section of the cells of curves: their ranking, scores and costs."""
    grid = replace(cell_table(summary, costs=True, anywhere=True), title="Scores")
    return PageSection("Scores of every method", (), grid, "scores.csv", folded=True)
