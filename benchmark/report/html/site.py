"""HTML site of all papers: an index, and a page for each paper with its published values and claims beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import capitalized
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.prose.verdict_sentences import verdict_counts_text
from benchmark.papers.verdict_counts import claim_outcomes
from benchmark.report.comparison_tables import claim_comparison_table
from benchmark.report.drawing.claim_forest import claim_picture
from benchmark.report.drawing.dots import dot_pictures
from benchmark.report.drawing.published import published_pictures
from benchmark.report.html.page import published_section
from benchmark.report.html.render import render_html
from benchmark.report.html.section import PageSection
from benchmark.report.html.simplex import simplex_section
from benchmark.report.page import order_text, sensitivity_sentence, sensitivity_table, swept_claims_table, trial_text
from benchmark.report.scoreboard import (
    counts_table,
    paper_cards,
    record_frames,
    scoreboard_headline,
    verdict_and_claim_counts,
)
from benchmark.report.tables import claim_table, range_table, reference_value_table
from benchmark.report.verdict_signs import CLAIM_SIGNS_LEGEND, verdict_sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.report.paper_results import PaperExperiment, PaperResult

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
    every = [(part.summary.name, paper.title, part.summary.title) for paper in papers for part in paper.experiments]
    every += [
        (sweep.name, paper.title, sweep.title)
        for paper in papers
        for part in paper.experiments
        for sweep in part.sweeps
    ]
    experiments = Table.of("Experiments", ("experiment", "paper", "title"), every)
    counts = counts_table(papers)
    sections = (
        _values_section(papers),
        PageSection(counts.title, grid=counts),
        PageSection("Experiments", grid=experiments, links=runs),
    )
    sentences = [f"The experiments of {len(papers)} papers are run again, with each published value beside ours."]
    pages[INDEX_FILE] = _render(papers, sentences, sections, headline=scoreboard_headline(papers), title="Reproduction")
    return pages


def _render(
    papers: Sequence[PaperResult], sentences: Sequence[str], sections: Iterable[PageSection], **more: str
) -> str:
    """Return the HTML of a page that begins with the scoreboard of these papers."""
    written = [section for section in sections if not section.empty]
    board = {"cards": paper_cards(papers), "legend": CLAIM_SIGNS_LEGEND, "name": ""}
    return render_html("site.html.j2", sentences, written, **board | _MADE | more)


def _paper_page(paper: PaperResult, runs: Mapping[str, str]) -> str:
    sentences = [paper.finding, *(f"{capitalized(counts)}." for counts in verdict_and_claim_counts([paper]))]
    shown = {"headline": scoreboard_headline([paper]), "title": paper.title, "name": paper.key}
    return _render([paper], [each for each in sentences if each], _sections(paper, runs), **shown)


def _values_section(papers: Sequence[PaperResult]) -> PageSection:
    """Return the section with the published values of papers against ours."""
    pictures = tuple(published_pictures(record_frames(papers)["values"]))
    note = "Line: both are equal. Bars: our 95% intervals. The values that deviate have their names at the edge."
    return PageSection("Published values and ours", pictures, note=note, columns=2)


def _sections(paper: PaperResult, runs: Mapping[str, str]) -> Iterator[PageSection]:
    """Yield the claims with a forest plot each, then each experiment."""
    links = {claim: f"#claim-{claim}" for claim in paper.claims["claim"]}
    yield PageSection("Claims", grid=claim_table(paper.claims), lines=paper.remarks, links=links)
    for claim in claim_outcomes(paper.claims):
        compared = paper.comparisons[paper.comparisons["claim"] == claim.claim]
        picture = claim_picture(compared)
        signs = verdict_sign(claim.paper) + verdict_sign(claim.strict)
        yield PageSection(
            f"{signs} {claim.claim}: {claim.text}",
            (picture,) if picture else (),
            note=f"By the paper's criterion: {claim.paper}. By ours, strictly: {claim.strict}.",
            grid=claim_comparison_table(compared),
            lines=() if picture else (f"By the paper's criterion: {claim.paper}.",),
            anchor=f"claim-{claim.claim}",
            folded=True,
        )
    yield _values_section([paper])
    for part in paper.experiments:
        yield from _experiment(part, runs)


def _experiment(part: PaperExperiment, runs: Mapping[str, str]) -> Iterator[PageSection]:
    summary = part.summary
    tried, published = sensitivity_table(part.tried), len(summary.verdicts)
    says = (f"{verdict_counts_text([summary.verdicts])}.", *part.remarks) if published else part.remarks
    undrawn = summary.of_points or summary.regions or not published
    by_cell: dict[str, tuple[str, ...]] = {}
    for trial in part.tried if tried.rows else ():
        by_cell[trial.cell] = (*by_cell.get(trial.cell, ()), trial_text(trial))
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
    yield PageSection(f"Axis ranges of the published figures of {summary.name}", grid=range_table(summary.ranges))
    yield PageSection(f"Reference values of {summary.name}", grid=reference_value_table(summary.verdicts))
    says = tuple(filter(None, (sensitivity_sentence(part.tried), order_text(part.tried)))) if tried.rows else ()
    yield PageSection(f"Sensitivity analysis of {summary.name}", grid=tried, says=says, folded=True)
    yield PageSection(f"Claims of {summary.name} under other choices", grid=swept_claims_table(part), folded=True)
