"""Self-contained HTML page of a summary: question, outcome, and every number.

The tables equal those of table.md, cell by cell. Measured times are in elements of the class "measured". The rest of a
page does not depend on when and where it is written.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from benchmark.analysis.comparisons import can_be_significant, leading_tests
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name
from benchmark.analysis.summary import OPTIONAL_TABLES, SUMMARY_TABLES
from benchmark.evaluation.metrics import more_is_better
from benchmark.evaluation.predictions import PREDICTIONS_TABLE
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL
from benchmark.papers.verdict_counts import claim_counts_text, verdict_counts_text
from benchmark.report.drawing.curves import curve_pictures
from benchmark.report.drawing.dots import dot_pictures, rank_picture
from benchmark.report.drawing.matrices import confusion_picture, significance_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.spec import Picture, page_spec
from benchmark.report.drawing.theme import COLOURS, PAGE_CONFIG
from benchmark.report.escapes import escape_controls
from benchmark.report.grids import (
    TEST_TITLES,
    TextTable,
    cell_grid,
    claim_grid,
    cost_grid,
    fold_grid,
    main_metric_of_summary,
    misclassified_grid,
    range_grid,
    reference_value_grid,
    significance_grid,
    varying_columns,
    verdict_grid,
)
from benchmark.report.tables import failure_lines, main_grids
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmark.analysis.charts.chart import Chart
    from benchmark.analysis.summary import Summary

PAGE_FILE = "report.html"
#: Tone by the first words of a verdict: whether it supports the published value or claim ("good") or not ("bad").
VERDICT_TONES = {"holds in part": "open"}
VERDICT_TONES |= dict.fromkeys(("equal", "consistent", "holds"), "good")
VERDICT_TONES |= dict.fromkeys(("deviates", "contradicted", "failed"), "bad")
VERDICT_COLUMNS = ("verdict", "strictly", "by the paper's rule")
FIRST_COLUMNS, LAST_COLUMNS = ("published", "ours", "verdict", "metric"), ("sample",)
#: Most bytes of a page, and limits on the rows of its tables, tried in turn. The files beside the page have all rows.
MAX_PAGE_BYTES, MAX_PAGE_ROWS = 5_000_000, (3000, 1000, 300, 100)


@dataclass(frozen=True)
class PageSection:
    """One part of a page: pictures, then a table.

    Parameters
    ----------
    title : str
    pictures : tuple of Picture
    grid : Grid or None
    file : str
        Name of the file beside the page that has the same numbers in full precision.
    measured : tuple of str
        Columns of measured times and memory.
    again : mapping of str to str
        Command that computes a cell again, by cell, for the table whose rows are cells.
    folded : bool
        Whether the table is shown on demand.
    note : str
        Text below the pictures.
    columns : int
        Pictures side by side, if there is room.
    link : str
        Address of the page of the section's run.
    links, texts : mapping of str to str
        Address that a row links to, and text that a row opens, by the first field of the row.
    tried : mapping of str to tuple of str
        Lines that the verdict of a deviating row opens, by the first field of the row.
    says, lines : tuple of str
        Sentences above and below everything else.
    """

    title: str
    pictures: tuple[Picture, ...] = ()
    grid: TextTable | None = None
    file: str = ""
    measured: tuple[str, ...] = ()
    again: Mapping[str, str] = field(default_factory=dict)
    folded: bool = False
    note: str = ""
    columns: int = 1
    link: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    tried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the section has nothing to show."""
        return not (self.pictures or (self.grid and self.grid.rows) or self.says or self.lines)


def write_page(
    summary: Summary, folder: Path, machine: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> Path:
    """Write the page into a run folder that already has the other files, and return its path."""
    words = f"{machine['system']}, {machine['processors']} processors" if machine else ""
    write_atomically(folder / PAGE_FILE, page_html(summary, words, texts).encode())
    return folder / PAGE_FILE


def page_html(summary: Summary, machine: str = "", texts: Mapping[str, str] | None = None) -> str:
    """Return the HTML of the page.

    Parameters
    ----------
    summary : Summary
    machine : str
        Description of the machine that made the run.
    texts : mapping of str to str
        Texts of documents, by name.
    """
    sections = [section for section in _sections(summary, texts) if not section.empty]
    written = [name for name in SUMMARY_TABLES if name not in OPTIONAL_TABLES or len(getattr(summary, name))]
    names = [PREDICTIONS_TABLE, *(f"{name}.csv" for name in written), *(["curves.csv"] if summary.charts else [])]
    return render_html(
        "report.html.j2",
        summary_sentences(summary),
        sections,
        summary=summary,
        files=[*names, "table.md", "manifest.json"],
        machine=machine,
    )


def render_html(template: str, sentences: Sequence[str], sections: Sequence[PageSection], **more: Any) -> str:
    """Return the HTML of a template, with as many rows of its tables as fit into `MAX_PAGE_BYTES` bytes.

    The script that draws pictures is included only if there are pictures.
    """
    more |= {"sentences": sentences, "sections": sections, "drawn": any(section.pictures for section in sections)}
    for most in MAX_PAGE_ROWS:
        html = _environment().get_template(template).render(most=most, **more)
        if len(html.encode()) <= MAX_PAGE_BYTES:
            break
    return html


def summary_sentences(summary: Summary) -> list[str]:
    """Return up to three sentences on the question and the outcome."""
    metric = main_metric_of_summary(summary)
    unit, name = display_unit(metric, summary.quantities), metric_name(metric, summary.quantities)
    scores = {cell: score for (cell, of), score in summary.headlines.items() if of == metric}
    tested_on = max((int(score["n"]) for score in scores.values() if not is_missing(score["n"])), default=0)
    n, varying = len(summary.cells), varying_columns(summary.cells)
    question = f"{n:,} {'cell' if n == 1 else 'cells'}"
    question += f", which differ in {_listed(varying)}," if varying else ""
    tested = f" on {tested_on:,} test instances" if tested_on else ""
    sentences = [f"{question} {'is' if n == 1 else 'are'} scored by {name}{tested}."]
    values = sorted((score["value"], cell) for cell, score in scores.items() if not is_missing(score["value"]))
    alike = {(cell.task, cell.of_class, cell.choice, cell.size, cell.terms) for cell in summary.cells}
    if values and len(alike) == 1:  # scores of two tasks, sizes or ways to choose aren't put in one order
        symbol = " %" if unit.name == "percent" else ""
        best_first = values[::-1] if more_is_better(metric, quantities=summary.quantities) else values
        best, worst = (f"{unit.text(value)}{symbol} ({cell})" for value, cell in (best_first[0], best_first[-1]))
        sentences.append(f"{capitalized(name)} is best at {best}" + (f" and worst at {worst}." if n > 1 else "."))
    whole = summary.claims[
        summary.claims["whole"] <= summary.claims["of"]
    ]  # a claim that is only partly in this run has no verdict
    beside = [verdict_counts_text([summary.verdicts])] if len(summary.verdicts) else []
    beside += [claim_counts_text([whole])] if len(whole) else []
    leading = leading_tests(summary.significance)
    tests = leading[can_be_significant(leading)]
    if beside:
        sentences.append(f"Compared with the paper: {'; '.join(beside)}.")
    elif len(tests):
        n_significant = int((tests["p_holm"] < SIGNIFICANCE_LEVEL).sum())
        sentences.append(
            f"{n_significant} of {len(tests)} tested pairs differ, with p < {SIGNIFICANCE_LEVEL} "
            f"after Holm's correction ({TEST_TITLES.get(test := tests['test'].iloc[0], test)} test)."
        )
    elif len(leading):
        sentences.append(
            f"No test of the {len(leading)} compared pairs could be significant: too few splits or documents differ."
        )
    return sentences


def _sections(summary: Summary, texts: Mapping[str, str] | None = None) -> Iterable[PageSection]:
    """Yield the sections of the page in order, including empty ones."""
    cells = _cells_section(summary)
    for figure in summary.regions:
        spec = region_chart(figure)
        yield PageSection("", (Picture(figure.name, figure.title, spec["description"], page_spec(spec)),))
    if summary.charts:
        for chart in summary.charts:
            title = chart.title if chart.title != summary.title else ""
            yield PageSection(title, tuple(curve_pictures(chart)), note=_legend(chart), columns=chart.columns)
    elif len(summary.scores) and not summary.regions:
        yield PageSection("", tuple(dot_pictures(summary)))
    rows = {cell.id: f"#cell{i}" for i, cell in enumerate(summary.cells, start=1)}
    printed = move_verdict_first(verdict_grid(summary.verdicts))
    yield PageSection("Published numbers", grid=printed, file="verdicts.csv", links=rows, tried=_looked_into(summary))
    yield PageSection("Claims", grid=claim_grid(summary.claims), file="claims.csv")
    yield PageSection("Axis ranges of the published figures", grid=range_grid(summary.ranges), file="ranges.csv")
    yield PageSection(
        "Reference values", grid=fill_repeated(reference_value_grid(summary.verdicts)), file="verdicts.csv"
    )
    if summary.of_points:
        for grid in main_grids(summary):
            yield PageSection(grid.title, grid=grid, file="curves.csv", folded=True)
    yield cells
    if not summary.of_points:
        yield PageSection(fold_grid(summary).title, grid=fold_grid(summary), file="scores.csv", folded=True)
    pairs = significance_picture(summary) if not summary.of_points else None
    grid = fill_repeated(significance_grid(summary))
    yield PageSection(grid.title, (pairs,) if pairs else (), grid, "significance.csv", folded=summary.of_points)
    ranks = rank_picture(summary)
    yield PageSection("Critical differences", (ranks,) if ranks else (), file="ranks.csv", note=_of_ranks(summary))
    confusions = confusion_picture(summary)
    yield PageSection("Confusion matrices", (confusions,) if confusions else (), file="confusions.csv")
    grid = misclassified_grid(summary.mistakes)
    yield PageSection(grid.title, grid=grid, file="mistakes.csv", texts=texts or {}, folded=True)
    yield PageSection("Failures", lines=tuple(failure_lines(summary)))
    yield PageSection("Notes", lines=summary.notes)


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
    """Return the section of the table of cells, with costs and the command that runs each cell again."""
    grid, costs = move_verdict_first(cell_grid(summary)), cost_grid(summary.costs)
    again = {cell.id: f"bench run {shlex.quote(summary.name)} --only {shlex.quote(cell.id)}" for cell in summary.cells}
    by_cell = {row[0]: row[1:] for row in costs.rows}
    measured = costs.header[1:] if by_cell else ()
    rows = tuple((*row, *by_cell.get(row[0], ("–",) * len(measured))) for row in grid.rows)
    grid = TextTable("Scores", (*grid.header, *measured), rows, grid.text, grid.note)
    return PageSection("Scores of every cell", (), grid, "scores.csv", measured, again, folded=summary.of_points)


def move_verdict_first(grid: TextTable) -> TextTable:
    """Return the grid with published value, ours and verdict after the cell, since a wide table may not fit."""
    order = [name for name in (*grid.header[:1], *FIRST_COLUMNS) if name in grid.header]
    order += [name for name in grid.header if name not in (*order, *LAST_COLUMNS)]
    order += [name for name in LAST_COLUMNS if name in grid.header]
    places = [grid.header.index(name) for name in order] if "verdict" in grid.header else range(len(grid.header))
    header, *rows = (tuple(row[i] for i in places) for row in (grid.header, *grid.rows))
    return replace(grid, header=header, rows=tuple(rows))


def fill_repeated(grid: TextTable) -> TextTable:
    """Repeat the values of the first row of a group in its other rows, since a reader may sort the table."""
    rows: list[tuple[str, ...]] = []
    for row in grid.rows:
        above = rows[-1] if rows and (not row[0] or row[:2] == rows[-1][:2]) else row
        rows.append(tuple(text or over for text, over in zip(row, above, strict=True)))
    return replace(grid, rows=tuple(rows))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def verdict_tone(column: str, text: str) -> str:
    """Return "good", "bad" or "open" for a verdict, and "" for a column without verdicts."""
    if column not in VERDICT_COLUMNS:
        return ""
    return next((tone for word, tone in VERDICT_TONES.items() if text.startswith(word)), "open")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchmark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            escape_controls(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    templates = files("benchmark.report") / "templates"
    environment.globals |= {
        "style": (templates / "report.css").read_text(encoding="utf-8"),
        "script": (templates / "report.js").read_text(encoding="utf-8"),
        # Vega with its licences, which docs/pictures.py makes; a page without pictures reads none.
        "vega": partial((templates / "vega.js").read_text, encoding="utf-8"),
        "look": page_spec(PAGE_CONFIG),
        "n_series": len(COLOURS),
        "tone": verdict_tone,
    }
    return environment
