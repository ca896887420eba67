"""A summary to one HTML page that needs nothing beside it: what was asked, what came out, and every number.

The tables are those of table.md, cell by cell; what is measured on the clock stands in elements of the class
"measured", and all else of a page is the same wherever and whenever it is written.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from benchmark.environment import write_whole
from benchmark.evaluation.intervals import ALPHA
from benchmark.evaluation.predictions import PREDICTIONS
from benchmark.report.contents import OPTIONAL, TABLES
from benchmark.report.drawing.curves import curve_pictures
from benchmark.report.drawing.dots import dot_pictures, rank_picture
from benchmark.report.drawing.matrices import confusion_picture, significance_picture
from benchmark.report.drawing.regions import region_chart
from benchmark.report.drawing.spec import Picture, page_spec
from benchmark.report.drawing.theme import COLOURS, PAGE_CONFIG
from benchmark.report.escapes import printable
from benchmark.report.grids import (
    Grid,
    cell_grid,
    claim_grid,
    cost_grid,
    fold_grid,
    landmark_grid,
    main_metric,
    mistake_grid,
    range_grid,
    significance_grid,
    varying_columns,
    verdict_grid,
)
from benchmark.report.html.vega import vega_script
from benchmark.report.numbers import is_missing, number, p_text
from benchmark.report.quantities import capitalized, metric_name, unit_shown
from benchmark.report.tables import failure_lines, main_grids
from benchmark.report.tally import counted, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmark.report.charts import Chart
    from benchmark.report.contents import Summary

PAGE = "report.html"
#: By what a verdict begins with, whether it speaks for the print, or against it.
TONES = {"holds in part": "open"}
TONES |= dict.fromkeys(("equal", "consistent", "holds"), "good")
TONES |= dict.fromkeys(("deviates", "contradicted", "failed"), "bad")
JUDGED = ("verdict", "by it", "strictly", "by the paper's rule")
FIRST, LAST = ("published", "ours", "verdict", "metric"), ("sample",)
#: Bytes of a page, and rows of a table that it may have room for, tried in turn; files beside it have all.
LARGEST, MOST_ROWS = 5_000_000, (3000, 1000, 300, 100)


@dataclass(frozen=True)
class Section:
    """One part of a page: pictures, then a table.

    Parameters
    ----------
    title : str
    pictures : tuple of Picture
    grid : Grid or None
    file : str
        Which file beside the page has the same numbers with all digits.
    measured : tuple of str
        Columns that the clock filled.
    again : mapping of str to str
        By cell, the line that computes it again: of the table whose rows are cells.
    folded : bool
        Whether the table is shown on demand.
    note : str
        What stands below the pictures.
    columns : int
        Pictures side by side, where there is room.
    link : str
        The page of the run that it is of.
    links, texts, tried : mapping of str to str, and to tuple of str
        By what a row begins with: the page that it leads to, the text that opens, and what opens where it deviates.
    says, lines : tuple of str
        Sentences above all of it, and below.
    """

    title: str
    pictures: tuple[Picture, ...] = ()
    grid: Grid | None = None
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
        """Whether it has nothing to show."""
        return not (self.pictures or (self.grid and self.grid.rows) or self.says or self.lines)


def write_page(
    summary: Summary, folder: Path, machine: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> Path:
    """Write the page into a run's folder that has its other files already, and give its path."""
    told = f"{machine['system']}, {machine['processors']} processors" if machine else ""
    write_whole(folder / PAGE, page_html(summary, told, texts).encode())
    return folder / PAGE


def page_html(summary: Summary, machine: str = "", texts: Mapping[str, str] | None = None) -> str:
    """Write the page.

    Parameters
    ----------
    summary : Summary
    machine : str
        What the run was made on, in words.
    texts : mapping of str to str
        Of documents, by their names.
    """
    sections = [section for section in _sections(summary, texts) if not section.empty]
    written = [name for name in TABLES if name not in OPTIONAL or len(getattr(summary, name))]
    names = [PREDICTIONS, *(f"{name}.csv" for name in written), *(["curves.csv"] if summary.charts else [])]
    return rendered(
        "report.html.j2",
        in_short(summary),
        sections,
        summary=summary,
        files=[*names, "table.md", "manifest.json"],
        machine=machine,
    )


def rendered(template: str, sentences: Sequence[str], sections: Sequence[Section], **more: Any) -> str:
    """Fill a template in, with as many rows of its tables as leave it within `LARGEST`.

    Without pictures a page has no need of what draws them.
    """
    more |= {"sentences": sentences, "sections": sections, "drawn": any(section.pictures for section in sections)}
    for most in MOST_ROWS:
        html = _environment().get_template(template).render(most=most, **more)
        if len(html.encode()) <= LARGEST:
            break
    return html


def in_short(summary: Summary) -> list[str]:
    """What was asked and what came out, in three sentences."""
    metric = main_metric(summary)
    unit, name = unit_shown(metric, summary.quantities), metric_name(metric, summary.quantities)
    scores = {cell: score for (cell, of), score in summary.headlines.items() if of == metric}
    tested_on = max((int(score["n"]) for score in scores.values() if not is_missing(score["n"])), default=0)
    n, varying = len(summary.cells), varying_columns(summary.cells)
    asked = f"{n:,} {'cell' if n == 1 else 'cells'}"
    asked += f", which differ in {_listed(varying)}," if varying else ""
    tested = f" on {tested_on:,} test instances" if tested_on else ""
    found = [f"{asked} {'is' if n == 1 else 'are'} scored by {name}{tested}."]
    known = sorted((score["value"], cell) for cell, score in scores.items() if not is_missing(score["value"]))
    if known:
        symbol = " %" if unit.name == "percent" else ""
        ends = [f"{unit.text(value)}{symbol} ({cell})" for value, cell in (known[-1], known[0])]
        found.append(f"{capitalized(name)} is highest at {ends[0]}" + (f" and lowest at {ends[1]}." if n > 1 else "."))
    whole = summary.claims[summary.claims["whole"] <= summary.claims["of"]]  # of a part there is no verdict
    beside = [counted([summary.verdicts])] if len(summary.verdicts) else []
    beside += [held([whole])] if len(whole) else []
    tests = summary.significance.dropna(subset=["p_holm"]).drop_duplicates(["a", "b"])
    if beside:
        found.append(f"Beside the paper: {'; '.join(beside)}.")
    elif len(tests):
        n_found = int((tests["p_holm"] < ALPHA).sum())
        found.append(f"{n_found} of {len(tests)} tested pairs differ by p < {ALPHA} after Holm's correction.")
    return found


def _sections(summary: Summary, texts: Mapping[str, str] | None = None) -> Iterable[Section]:
    """The parts of the page in their order, empty ones included."""
    cells = _cells_section(summary)
    for figure in summary.regions:
        spec = region_chart(figure)
        yield Section("", (Picture(figure.name, figure.title, spec["description"], page_spec(spec)),))
    if summary.charts:
        for chart in summary.charts:
            title = chart.title if chart.title != summary.title else ""
            yield Section(title, tuple(curve_pictures(chart)), note=_legend(chart), columns=chart.columns)
    elif len(summary.scores) and not summary.regions:
        yield Section("", tuple(dot_pictures(summary)))
    rows = {cell.id: f"#cell{i}" for i, cell in enumerate(summary.cells, start=1)}
    printed = verdict_first(verdict_grid(summary.verdicts))
    yield Section("Published numbers", grid=printed, file="verdicts.csv", links=rows, tried=_looked_into(summary))
    yield Section("Claims", grid=claim_grid(summary.claims), file="claims.csv")
    yield Section("Ranges of the printed figures", grid=range_grid(summary.ranges), file="ranges.csv")
    yield Section("Landmarks", grid=filled(landmark_grid(summary.verdicts)), file="verdicts.csv")
    if summary.of_points:
        for grid in main_grids(summary):
            yield Section(grid.title, grid=grid, file="curves.csv", folded=True)
    yield cells
    if not summary.of_points:
        yield Section(fold_grid(summary).title, grid=fold_grid(summary), file="scores.csv", folded=True)
    pairs = significance_picture(summary) if not summary.of_points else None
    grid = filled(significance_grid(summary))
    yield Section(grid.title, (pairs,) if pairs else (), grid, "significance.csv", folded=summary.of_points)
    ranks = rank_picture(summary)
    yield Section("Critical differences", (ranks,) if ranks else (), file="ranks.csv", note=_of_ranks(summary))
    confusions = confusion_picture(summary)
    yield Section("Confusion matrices", (confusions,) if confusions else (), file="confusions.csv")
    grid = mistake_grid(summary.mistakes)
    yield Section(grid.title, grid=grid, file="mistakes.csv", texts=texts or {}, folded=True)
    yield Section("Failures", lines=tuple(failure_lines(summary)))
    yield Section("To know before believing a number", lines=summary.notes)


def _looked_into(summary: Summary) -> dict[str, tuple[str, ...]]:
    """By what deviates: the experiments that try other settings, and where all of them stand beside it."""
    if not summary.explained_by:
        return {}
    lines = [f"{name} tries other settings: bench run {name}" for name in summary.explained_by]
    told = (*lines, "bench reproduce sets what they give beside it, on the paper's page.")
    return dict.fromkeys(summary.verdicts["cell"][summary.verdicts["verdict"] == "deviates"], told)


def _legend(chart: Chart) -> str:
    """What the bars and the band of a picture of curves are."""
    parts = (
        [f"Bars: {chart.bars}."] if chart.bars and any(line.low for own in chart.panels for line in own.lines) else []
    )
    parts += ["Shaded: the range of the paper's figure."] if any(panel.printed for panel in chart.panels) else []
    return " ".join(parts)


def _of_ranks(summary: Summary) -> str:
    """What the mean ranks are, and how far to trust them."""
    if not len(summary.ranks):
        return ""
    first = summary.ranks.iloc[0]
    test = f"Friedman's test, in Iman and Davenport's form, has p {p_text(first['p_value'])}"
    told = f"{test}; the critical difference is {number(first['critical'])} at 5%."
    return (
        f"After Demšar 2006. {told} Samples are the splits of each task; of one corpus they share training documents, "
        "so that the test leans to differences."
    )


def _cells_section(summary: Summary) -> Section:
    """The table of cells, with what each took and how it is made again."""
    grid, costs = verdict_first(cell_grid(summary)), cost_grid(summary.costs)
    again = {cell.id: f"bench run {shlex.quote(summary.name)} --only {shlex.quote(cell.id)}" for cell in summary.cells}
    taken = {row[0]: row[1:] for row in costs.rows}
    measured = costs.header[1:] if taken else ()
    rows = tuple((*row, *taken.get(row[0], ("–",) * len(measured))) for row in grid.rows)
    grid = Grid("Scores", (*grid.header, *measured), rows, grid.text, grid.note)
    return Section("Scores of every cell", (), grid, "scores.csv", measured, again, folded=summary.of_points)


def verdict_first(grid: Grid) -> Grid:
    """What the print is and what became of it right after the cell: of a wide table the rest may be out of sight."""
    order = [name for name in (*grid.header[:1], *FIRST) if name in grid.header]
    order += [name for name in grid.header if name not in (*order, *LAST)]
    order += [name for name in LAST if name in grid.header]
    places = [grid.header.index(name) for name in order] if "verdict" in grid.header else range(len(grid.header))
    header, *rows = (tuple(row[i] for i in places) for row in (grid.header, *grid.rows))
    return replace(grid, header=header, rows=tuple(rows))


def filled(grid: Grid) -> Grid:
    """What stands on the first of several rows on each of them: sorted, they part."""
    rows: list[tuple[str, ...]] = []
    for row in grid.rows:
        above = rows[-1] if rows and (not row[0] or row[:2] == rows[-1][:2]) else row
        rows.append(tuple(text or over for text, over in zip(row, above, strict=True)))
    return replace(grid, rows=tuple(rows))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def tone(column: str, text: str) -> str:
    """Whether what stands in a column speaks for the print, or against it; "" where it does neither."""
    if column not in JUDGED:
        return ""
    return next((tone for word, tone in TONES.items() if text.startswith(word)), "open")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchmark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
    )
    templates = files("benchmark.report") / "templates"
    environment.globals |= {
        "style": (templates / "report.css").read_text(encoding="utf-8"),
        "script": (templates / "report.js").read_text(encoding="utf-8"),
        "vega": vega_script,
        "look": page_spec(PAGE_CONFIG),
        "n_series": len(COLOURS),
        "tone": tone,
    }
    return environment
