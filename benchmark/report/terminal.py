"""Terminal output for a summary: a selection that fits the width of the terminal; the files have everything.

Tables lose columns until they fit, in the order of `DROP_ORDER`. Ids and verdicts never wrap. A table with more rows
than a screen is replaced by a sentence that names its file. Of many cells, only the best are shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from benchmark.analysis.comparisons import NEVER_DIFFER, UNTESTABLE, UNTESTED, planned_comparisons
from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.formatting.units import display_unit
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import claim_counts_text, verdict_counts_text
from benchmark.report.comparison_grids import TEST_TITLES, untestable_lines
from benchmark.report.escapes import escape_controls
from benchmark.report.grids import (
    VERDICT_MEANINGS,
    WITHOUT,
    TextTable,
    cell_grid,
    cost_grid,
    main_verdicts,
    metric_header,
    other_verdicts,
    range_grid,
    reference_value_grid,
    varying_columns,
    verdict_grid,
)
from benchmark.report.tables import brief_grids, failure_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderResult

    from benchmark.analysis.summary import Summary

MOST_TERMINAL_COLUMNS = 120
#: Rows of a table after the first one; a longer table is cut to its most important rows or replaced by a sentence.
MAX_TERMINAL_ROWS = 12
MOST_GRIDS = 6
MOST_PAIRS = 6
#: Up to `MOST_CELLS` cells are all shown; of more, the `BEST_CELLS` best.
MOST_CELLS, BEST_CELLS = 24, 12
#: Columns to drop for lack of room, the least needed first. Further metrics go before the ties. Files have all columns.
DROP_ORDER = (
    *(
        "notes",
        "sample",
        "tolerance",
        "grade",
        "over groups",
        "difference in documents",
        "testing s",
        "peak MB",
        "ties",
        "training s",
    ),
    *(*WITHOUT.values(), "95% interval", "difference", "metric", "cells", "published axis"),
)
#: Columns of text that may wrap.
WRAPPED_COLUMNS = ("method", "notes")
#: Styles by the first words of a verdict.
STYLES = {"equal": "green", "consistent": "green", "deviates": "yellow", "failed": "red"}


@dataclass(frozen=True)
class TerminalTables:
    """Tables and notes of a summary for the terminal, laid out when printed, once the width is known.

    Colour only repeats the text.

    Parameters
    ----------
    summary : Summary
    folder : Path or str
        Run folder, for the command that shows every cell.
    whole : bool
        Whether to show every cell, however many there are.
    """

    summary: Summary
    folder: Path | str = "RUN"
    whole: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables and the notes below them."""
        summary, width = self.summary, min(options.max_width, MOST_TERMINAL_COLUMNS)
        finding = main_finding(summary)
        details = " ".join(["", *finding.details])
        yield Text.assemble((escape_controls(f"{finding.headline}."), "bold"), escape_controls(details))
        for grid in _grids(self, width):
            yield _text(f"\n{grid.title}", style="bold")
            yield _rich_table(grid)
            if grid.note:
                yield _text(grid.note, style="dim")
        if claims := claim_lines(summary, width):
            yield _text("\nClaims: comparisons that hold", style="bold")
            yield _text("\n".join(claims))
        if notes := note_lines(summary):
            yield _text("" if claims else "\nNotes", style="bold")
            yield _text("\n".join(notes))
        if summary.failures:
            yield _text("\n" + "\n".join(failure_lines(summary)), style="red")


@dataclass(frozen=True)
class TerminalGrids:
    """Grids for the terminal, laid out when printed, without the columns for which there is no room.

    Parameters
    ----------
    grids : tuple of TextTable
    dropped_first : tuple of str
        Columns to drop before those of `DROP_ORDER`, the least needed first.
    """

    grids: tuple[TextTable, ...]
    dropped_first: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield each grid with its title and its note."""
        width = min(options.max_width, MOST_TERMINAL_COLUMNS)
        for i, grid in enumerate(self.grids):
            yield _text(f"{'' if i == 0 else chr(10)}{grid.title}", style="bold")
            yield _rich_table(fit_to_width(grid, width, *self.dropped_first))
            if grid.note:
                yield _text(grid.note, style="dim")


def _grids(shown: TerminalTables, width: int) -> Iterator[TextTable]:
    """Yield the main table and the short ones, each fitted to the width."""
    summary = shown.summary
    if summary.of_points:
        yield from (_thinned(grid, width) for grid in brief_grids(summary)[:MOST_GRIDS])
    else:
        grid = _main(summary, width)
        yield grid if shown.whole or len(grid.rows) <= MOST_CELLS else _best(grid, shown)
    others = summary.verdicts if summary.of_points else other_verdicts(summary)
    others = others[others["verdict"] != REFERENCE_VALUE]
    if main_verdicts(summary) and not summary.of_points:  # the closing sentence counts the others
        others = others[others["verdict"] == "deviates"]
    if len(others) > MAX_TERMINAL_ROWS:
        others = others[others["verdict"] == "deviates"][:MAX_TERMINAL_ROWS]
    others = others.assign(aside=others["verdict"])  # a note names the settings that differ
    for grid in (verdict_grid(others), reference_value_grid(summary.verdicts), range_grid(summary.ranges)):
        if 0 < len(grid.rows) <= MAX_TERMINAL_ROWS:
            yield replace(fit_to_width(grid, width), note="")


def _main(summary: Summary, width: int) -> TextTable:
    """Return the table of cells with costs, without the columns that the ids already state."""
    grid = cell_grid(summary).without(*varying_columns(summary.cells))
    of_costs = cost_grid(summary.costs)
    costs = {row[0]: row[1:] for row in of_costs.rows}
    if costs:
        verdict = [name for name in grid.header if name == "verdict"]
        end = len(grid.header) - len(verdict)
        none = ("–",) * (len(of_costs.header) - 1)
        rows = tuple((*row[:end], *costs.get(row[0], none), *row[end:]) for row in grid.rows)
        grid = TextTable(grid.title, (*grid.header[:end], *of_costs.header[1:], *verdict), rows, grid.text)
    heads = (metric_header(metric, summary.quantities) for metric in reversed(summary.headline_metrics[1:]))
    shown = fit_to_width(grid, width, "testing s", "peak MB", *heads)
    stored = [of_costs.note] if "training s" in shown.header and summary.costs["stored"].any() else []
    return replace(shown, note=" ".join([*_legend(summary, shown), *stored]))


def _best(grid: TextTable, shown: TerminalTables) -> TextTable:
    """Return the best cells, the best first, with a note on how to see all of them."""
    main, scores = shown.summary.main_metric, shown.summary.headlines
    sign = -1 if shown.summary.more_is_better(main) else 1
    values = {row[0]: sign * scores.get((row[0], main), {}).get("value", np.nan) for row in grid.rows}
    rows = sorted(grid.rows, key=lambda row: (np.isnan(values[row[0]]), values[row[0]]))
    more = f"The {BEST_CELLS} best; {len(rows) - BEST_CELLS} more: bench report {shown.folder} --all-cells"
    return replace(grid, rows=tuple(rows[:BEST_CELLS]), note=f"{grid.note} {more}".strip())


def _legend(summary: Summary, shown: TextTable) -> Iterator[str]:
    """Yield the meanings of the verdicts in the main table, and the ties if they have no column."""
    metric, unit = summary.main_metric, display_unit(summary.main_metric, summary.quantities)
    verdicts = {row["verdict"] for row in main_verdicts(summary).values()}
    if "deviates" in verdicts:  # which is the opposite
        verdicts = verdicts - {"deviates"} | {"consistent"}
    meanings = [f"{word}: {meaning}" for word, meaning in VERDICT_MEANINGS.items() if word in verdicts]
    if "difference" in shown.header and unit.name == "percent":
        meanings.append("difference: ours − published, in points")
    if meanings:
        text = "; ".join(meanings)
        yield f"{text[0].upper()}{text[1:]}."
    ties = {cell: row["ties"] for (cell, of), row in summary.headlines.items() if of == metric}
    ties = {cell: int(n) for cell, n in ties.items() if not is_missing(n) and n}
    if ties and "ties" not in shown.header:
        most = max(ties.values())
        which = [cell for cell, n in ties.items() if n == most]
        more = f" and {len(which) - 2} more" if len(which) > 2 else ""
        yield f"Ties: {most:,} documents at most ({', '.join(which[:2])}{more})."


def claim_lines(summary: Summary, width: int = MOST_TERMINAL_COLUMNS) -> list[str]:
    """Return one line for each claim: comparisons that hold by the paper's rule, then strictly, and its text.

    A text that the line has no room for is cut.

    A claim with only part of its comparisons in this run has counts, and no verdict.
    """
    rows = summary.claims.to_dict("records")
    if len(rows) > MAX_TERMINAL_ROWS:
        return [f"{len(rows)} verdicts on {len(set(summary.claims['claim']))} claims: see claims.csv."]
    lines = []
    for row in rows:
        words: list[str] = []
        for verdict, holds in (("verdict", "holds"), ("strict_verdict", "strict_holds")):
            count = f"{row[holds]} of {row['of']}"
            if row["whole"] > row["of"]:
                words.append(f"{count} here ({row['whole']} in all)" if not words else count)
            else:
                words.append(row[verdict] if "(" in row[verdict] else f"{row[verdict]} ({count})")
        verdicts = words[0] if row["strict_verdict"] == "no test" else f"{words[0]}; strictly {words[1]}"
        which = f" under {row['variant']}" if row["variant"] else ""
        counted = f"; {row['counted']}" if row["counted"] else ""
        line = f"{_sign(row)} {verdicts}{counted}{which}: {row['text'].removesuffix('.')}"
        lines.append(line if len(line) < width else f"{line[: width - 1].rstrip()}…")
    return lines


def _sign(claim: Mapping[Any, Any]) -> str:
    """Return a sign for a claim: all of its comparisons hold by the paper's rule, some, or none."""
    if claim["holds"] == claim["of"]:
        return "✓"
    return "◐" if claim["holds"] else "✗"


def note_lines(summary: Summary) -> list[str]:
    """Return the notes that change how the numbers are read, then the files that have more."""
    notes = [*significance_lines(summary), *summary.brief]
    more = {"table.md": f"{len(summary.notes)} notes"}
    more |= {"curves.csv": "all points of the curves"} if summary.charts else {}
    shown = 0 if summary.of_points else len(main_verdicts(summary))
    more |= {"verdicts.csv": f"{len(summary.verdicts)} published numbers"} if len(summary.verdicts) > shown else {}
    more |= (
        {"ranges.csv": f"{len(summary.ranges)} ranges of figures"} if len(summary.ranges) > MAX_TERMINAL_ROWS else {}
    )
    files = [f"{file} ({what})" for file, what in more.items() if not what.startswith("0 ")]
    return [*(f"- {line}" for line in notes), *([f"- More in {', '.join(files)}."] if files else [])]


def significance_lines(summary: Summary) -> list[str]:
    """Return which planned comparisons are significant, and why tests are impossible; nothing for curves."""
    pairs = [] if summary.of_points else planned_comparisons(summary)
    tested = [pair for pair in pairs if pair.outcome not in (UNTESTED, UNTESTABLE, NEVER_DIFFER)]
    lines, unit = [], display_unit(summary.main_metric, summary.quantities)
    if tested:
        found = [pair for pair in tested if pair.better is not None]
        texts = []
        for pair in found:
            better, worse = (pair.a, pair.b) if pair.outcome == "a" else (pair.b, pair.a)
            texts.append(f"{better.id} over {worse.id} ({unit.text(abs(pair.value), '+')})")
        # If the paper makes claims, they are about these pairs and list them.
        shown = [] if len(summary.claims) else texts[:MOST_PAIRS]
        names = f": {', '.join(shown)}{', …' * (len(texts) > len(shown))}" if shown else ""
        rule = f"{TEST_TITLES.get(tested[0].test, tested[0].test)} test, Holm-corrected"
        which = f"All {len(pairs)}" if len(found) == len(pairs) > 1 else f"{len(found)} of {len(pairs)}"
        verb = "is" if len(pairs) == 1 else "are"
        lines.append(f"{which} planned comparisons {verb} significant ({rule}){names}.")
    return [*lines, *([] if summary.of_points else untestable_lines(summary))]


def fit_to_width(grid: TextTable, width: int, *first: str) -> TextTable:
    """Drop columns until the others fit the width: first those named in `first`, then those of `DROP_ORDER`."""
    for name in (*first, *DROP_ORDER):
        if grid.width > width:
            grid = grid.without(name)
    return grid


def _thinned(grid: TextTable, width: int) -> TextTable:
    """Drop evenly spaced columns of a curve until the others fit; the first and last columns stay."""
    points = list(grid.header[1:])
    for n in range(len(points), 0, -1):
        kept = {points[i] for i in np.linspace(0, len(points) - 1, n).round().astype(int)}
        shown = grid.without(*(name for name in points if name not in kept))
        if shown.width <= width or n == 1:
            left = len(points) - len(kept)
            return (
                replace(shown, note=f"{left} of {len(points)} columns are left out: curves.csv has them.")
                if left
                else shown
            )
    return grid


def _rich_table(grid: TextTable) -> Table:
    """Return a grid as a rich table; if no column may wrap, it overflows the terminal rather than being cut."""
    folds = any(name in WRAPPED_COLUMNS for name in grid.header)
    table = Table(box=None, pad_edge=False, width=None if folds else grid.width)
    for name in grid.header:
        justify: Any = "left" if name in grid.text else "right"
        table.add_column(_text(name), justify=justify, overflow="fold", no_wrap=name not in WRAPPED_COLUMNS)
    for row in grid.rows:
        # Text objects: rich would read the brackets of an interval in a str as markup.
        table.add_row(*(_text(text, style=_style(name, text)) for name, text in zip(grid.header, row, strict=True)))
    return table


def _text(text: str, style: str = "") -> Text:
    return Text(escape_controls(text), style=style)


def _style(column: str, text: str) -> str:
    if column != "verdict":
        return ""
    return next((style for word, style in STYLES.items() if text.startswith(word)), "")


def run_sentence(summary: Summary, *, stored: int, seconds: float, peak: float, folder: Path) -> str:
    """Summarize a run in one sentence: cells, failures, verdicts, claims, time, memory and folder.

    Parameters
    ----------
    summary : Summary
    stored : int
        Number of cells read from the store.
    seconds : float
        Elapsed time; 0 if nothing was run.
    peak : float
        Peak resident memory in bytes; NaN if unknown.
    folder : Path
    """
    n, failed = len(summary.cells), len(summary.failures)
    cells = "cell" if n == 1 and not failed else "cells"
    parts = [f"{summary.name}: {n - failed if failed else n}{f' of {n}' if failed else ''} {cells}"]
    parts[0] += f", {stored} of them from the store" if stored else ""
    parts += [verdict_counts_text([summary.verdicts])] if len(summary.verdicts) else []
    whole = summary.claims[summary.claims["whole"] <= summary.claims["of"]]
    parts += [claim_counts_text([whole])] if len(whole) else []
    partly = len(summary.claims) - len(whole)
    parts += [f"{partly} {'claim' if partly == 1 else 'claims'} compared only in part"] if partly else []
    memory = "" if is_missing(peak) else f", {peak / 1e9:.1f} GB at most"
    parts += [f"{seconds:.1f} s{memory}"] if seconds else []
    return "; ".join([*parts, f"written to {folder}"])
