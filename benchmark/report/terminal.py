"""Terminal output of a run: its finding, tables cut to a screen, and what changes how they are read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from benchmark.analysis.comparisons import first_comparisons, ranked_cells
from benchmark.analysis.formatting.units import is_missing, metric_with_unit
from benchmark.analysis.notes import GENERATED
from benchmark.analysis.prose.main_finding import advice_on_own_documents, main_finding
from benchmark.analysis.prose.sentences import sentence, template_value
from benchmark.analysis.prose.verdict_sentences import verdict_texts
from benchmark.report.escapes import escape_controls
from benchmark.report.files import failure_lines, main_tables
from benchmark.report.tables import (
    cell_table,
    comparison_table,
    main_verdicts,
    range_table,
    reference_value_table,
    verdict_table,
)
from benchmark.report.verdict_signs import claim_facts
from benchmark.report.writers import MAX_TERMINAL_COLUMNS, TerminalTable, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderResult

    from benchmark.analysis.formatting.table import Table
    from benchmark.analysis.summary import Summary

#: Rows of the table of cells, and of any other table; of longer ones the first are shown.
MAX_CELLS, MAX_TERMINAL_ROWS = 24, 12
#: Columns that the terminal leaves to table.md, unless they are the main score.
LEFT_OUT = ("macro-F1 of means %", "testing s", "peak MB")
#: Caveats, of which table.md has all, and lines on what names of methods mean.
MAX_CAVEATS, MAX_NAME_LINES = 3, 2
_NAME_PARTS: dict[str, str] = template_value("terms.j2", "parts")


@dataclass(frozen=True)
class RunOnTerminal:
    """Tables and notes of a summary for the terminal.

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
        summary, width = self.summary, min(options.max_width, MAX_TERMINAL_COLUMNS)
        finding = main_finding(summary)
        details = " ".join(["", *finding.details])
        yield Text.assemble((escape_controls(f"{finding.headline}."), "bold"), escape_controls(details))
        for table in filter(lambda table: table.rows, self._tables()):
            yield ""
            yield TerminalTable(table)
        if claims := claim_lines(summary, width):
            yield plain_text("\nClaims: comparisons that hold", style="bold")
            yield plain_text("\n".join(claims))
        n = len(summary.caveats)
        more = f"All {n} caveats, tables and notes: table.md." if n > MAX_CAVEATS else "All tables and notes: table.md."
        lines = [f"- {line}" for line in (" ".join(summary.documents), *summary.caveats[:MAX_CAVEATS], more) if line]
        yield plain_text("\n".join(["", *name_lines(summary, width), *lines]))
        if summary.failures:
            yield plain_text("\n" + "\n".join(failure_lines(summary)), style="red")

    def _tables(self) -> Iterator[Table]:
        """Yield the main tables and the short ones."""
        summary = self.summary
        if summary.of_points:
            yield from (_first_rows(table, MAX_TERMINAL_ROWS, "in curves.csv.") for table in main_tables(summary))
        else:
            table, first = _of_methods(cell_table(summary, costs=True), summary), first_comparisons(summary).values()
            more = f"bench report {self.folder} --all-cells"
            yield table if self.whole else _first_rows(table, MAX_CELLS, more, {pair.b.id for pair in first})
            if not len(summary.claims):  # which are about these comparisons
                yield _first_rows(comparison_table(summary), MAX_TERMINAL_ROWS, "in significance.csv.")
        verdicts = summary.verdicts
        if main_verdicts(summary):  # which the table of methods shows; the closing sentence counts all
            verdicts = verdicts[(verdicts["verdict"] == "deviates") & (verdicts["metric"] != summary.main_metric)]
        for table in (verdict_table(verdicts), reference_value_table(summary.verdicts), range_table(summary.ranges)):
            yield _first_rows(table, MAX_TERMINAL_ROWS, "in table.md.")


def _of_methods(table: Table, summary: Summary) -> Table:
    """Return the table of cells for the terminal, with a star at the best of each variant, task and choice."""
    cells, seen, rows = {cell.id: cell for cell in summary.cells}, set(), []
    for name, *values in table.rows:
        cell = cells[name]
        group = cell.variant, cell.task, cell.choice
        best = group not in seen and (name, summary.main_metric) in summary.headlines
        seen.add(group)
        rows.append((f"{name} ★" if best else name, *values))
    main = metric_with_unit(summary.main_metric, summary.quantities)
    return replace(table, rows=tuple(rows)).without(*(name for name in LEFT_OUT if name != main))


def name_lines(summary: Summary, width: int) -> list[str]:
    """Return at most two lines on what the parts of methods' names mean."""
    names, known, found = " ".join(f"-{cell.method or cell.id}-" for cell in summary.cells), _NAME_PARTS, set[str]()
    for part in sorted(known, key=len, reverse=True):  # "linear-svm" before "linear"
        if f"-{part}-" in names:
            found.add(part)
            names = names.replace(f"-{part}-", "--")
    text = "; ".join(f"{part}: {words}" for part, words in known.items() if part in found)
    return wrap(f"Names: {text}.", width, max_lines=MAX_NAME_LINES, placeholder=" …") if found else []


def next_step(summary: Summary, folder: Path, config: str) -> str:
    """Return the command that a person would try next; `config` names the configuration."""
    if advice := advice_on_own_documents(summary):
        return f"bench fit {shlex.quote(config)} --cell {shlex.quote(advice['cell'])} --out model"
    best = next(iter(ranked_cells(summary)), "")
    if best in summary.failures:
        return f"bench run {shlex.quote(config)} --verbose, for the tracebacks"
    if best and not summary.of_points and (summary.paper or summary.corpus != GENERATED):
        return f"bench explain {shlex.quote(str(folder))} {shlex.quote(best)}"
    return "bench init FILE, for your own documents"


def _first_rows(table: Table, most: int, where: str, baselines: Collection[str] = ()) -> Table:
    """Return the first rows of a table and those of `baselines`, with a note on where the others are."""
    rows = [row for i, row in enumerate(table.rows) if i < most or row[0] in baselines]
    left = len(table.rows) - len(rows)
    if not left:
        return table
    return replace(table, rows=tuple(rows), note=f"{table.note} {left} more rows: {where}".strip())


def claim_lines(summary: Summary, width: int = MAX_TERMINAL_COLUMNS) -> list[str]:
    """Return one line for each claim: a sign, how many comparisons hold, and its text, cut where it has no room."""
    claims = claim_facts(summary)
    if len(claims) > MAX_TERMINAL_ROWS:
        return [f"{len(claims)} verdicts on {len(set(summary.claims['claim']))} claims: see table.md."]
    lines = (f"{each['sign']} {each['counts']}: {each['text'].removesuffix('.')}" for each in claims)
    return [line if len(line) < width else f"{line[: width - 1].rstrip()}…" for line in lines]


def run_sentence(summary: Summary, *, stored: int, seconds: float, peak: float, folder: Path) -> str:
    """Summarize a run in one sentence: methods or cells of curves, failures, verdicts, claims, time, memory and folder.

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
    claims = summary.claims
    facts = {"verdicts": verdict_texts(summary), "partly": int((claims["whole"] > claims["of"]).sum())}
    measured = {"stored": stored, "seconds": seconds, "peak": None if is_missing(peak) else peak}
    summary_line = sentence("verdicts.j2", "run", summary=summary, **facts, **measured)
    return f"{summary_line}; written to {folder}"
