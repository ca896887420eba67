"""HTML site of all papers: an index, and a page for each paper with its published values and claims beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.units import capitalized
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.papers.verdict_counts import verdict_counts_text
from benchmark.report.drawing.dots import dot_pictures
from benchmark.report.grids import TextTable, claim_grid, range_grid, reference_value_grid
from benchmark.report.html.page import published_section
from benchmark.report.html.render import render_html
from benchmark.report.html.section import PageSection, fill_repeated
from benchmark.report.html.simplex import simplex_section
from benchmark.report.page import (
    exception_grid,
    sensitivity_grid,
    sensitivity_sentence,
    swept_claims_grid,
    verdict_and_claim_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.report.page import PaperExperiment, PaperResult

INDEX_FILE = "index.html"
_MADE = {"command": "bench reproduce", "together": "REPRODUCTION.md has the same numbers.", "index": INDEX_FILE}


def site_pages(papers: Sequence[PaperResult], runs: Mapping[str, str]) -> dict[str, str]:
    """Return the HTML of each page, by file name.

    Parameters
    ----------
    papers : sequence of PaperResult
    runs : mapping of str to str
        Address of the page of each run, relative to the site, by name of the experiment.
    """
    pages = {f"{paper.key}.html": _paper_page(paper, runs) for paper in papers}
    numbers, claims = verdict_and_claim_counts(papers)
    rows = [(paper.title, *verdict_and_claim_counts([paper])) for paper in papers]
    index = TextTable(
        "Papers",
        ("paper", "published values", "claims"),
        tuple(rows),
        frozenset(("paper", "published values", "claims")),
    )
    links = {paper.title: f"{paper.key}.html" for paper in papers}
    every = [(part.summary.name, paper.title, part.summary.title) for paper in papers for part in paper.experiments]
    every += [
        (sweep.name, paper.title, sweep.title)
        for paper in papers
        for part in paper.experiments
        for sweep in part.sweeps
    ]
    header = ("experiment", "paper", "title")
    sections = (
        PageSection("Papers", grid=index, links=links),
        PageSection("Experiments", grid=TextTable("Experiments", header, tuple(every), frozenset(header)), links=runs),
    )
    sentences = [f"The experiments of {len(papers)} papers are run again, with each published value beside ours."]
    sentences += [f"{numbers[0].upper()}{numbers[1:]}.", f"{claims[0].upper()}{claims[1:]}."]
    pages[INDEX_FILE] = render_html("site.html.j2", sentences, sections, title="Reproduction", name="", **_MADE)
    return pages


def _paper_page(paper: PaperResult, runs: Mapping[str, str]) -> str:
    numbers, claims = verdict_and_claim_counts([paper])
    sentences = [f"{paper.reference}", f"{numbers[0].upper()}{numbers[1:]}.", f"{claims[0].upper()}{claims[1:]}."]
    sections = [section for section in _sections(paper, runs) if not section.empty]
    return render_html("site.html.j2", sentences, sections, title=paper.title, name=paper.key, **_MADE)


def _sections(paper: PaperResult, runs: Mapping[str, str]) -> Iterator[PageSection]:
    """Yield the claims, then each experiment, then the comparisons that do not hold."""
    yield PageSection("Claims", grid=claim_grid(paper.claims), lines=paper.remarks)
    for part in paper.experiments:
        yield from _experiment(part, runs)
    yield PageSection("Comparisons that do not hold", grid=fill_repeated(exception_grid(paper.exceptions)), folded=True)


def _experiment(part: PaperExperiment, runs: Mapping[str, str]) -> Iterator[PageSection]:
    summary = part.summary
    tried, published = fill_repeated(sensitivity_grid(part.tried)), len(summary.verdicts)
    says = (f"{verdict_counts_text([summary.verdicts])}.", *part.remarks) if published else part.remarks
    undrawn = summary.of_points or summary.regions or not published
    by_cell: dict[str, tuple[str, ...]] = {}
    for trial in tried.rows:
        cell, _, _, variant, ours, interval, _, verdict = trial
        by_cell[cell] = (*by_cell.get(cell, ()), f"{variant}: {ours} {interval}, {verdict}")
    finding = f"{main_finding(summary).headline}."
    yield replace(
        published_section(summary.title, summary, by_cell),
        pictures=() if undrawn else tuple(dot_pictures(summary, name=summary.name)[:1]),
        file="",
        links={},
        link=runs.get(summary.name, ""),
        says=(finding, *(capitalized(line) for line in says)),
        lines=part.caveats,
    )
    yield from map(simplex_section, summary.regions)
    yield PageSection(f"Axis ranges of the published figures of {summary.name}", grid=range_grid(summary.ranges))
    yield PageSection(f"Reference values of {summary.name}", grid=fill_repeated(reference_value_grid(summary.verdicts)))
    says = (sensitivity_sentence(part.tried),) if tried.rows else ()
    links = {sweep.name: runs[sweep.name] for sweep in part.sweeps if sweep.name in runs}
    yield PageSection(f"Sensitivity analysis of {summary.name}", grid=tried, says=says, links=links, folded=True)
    yield PageSection(f"Claims of {summary.name} under other choices", grid=swept_claims_grid(part), folded=True)
