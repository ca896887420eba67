"""What a terminal shows of a summary: a selection that fits, and that leaves out nothing without saying where it is."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmark.report.terminal import (
    MAX_CELLS,
    RunOnTerminal,
)
from tests.report.summaries import many_cells_summary

HERE = Path("results/runs/x")


def printed(summary, width=80, **given):
    console = Console(width=width, file=io.StringIO())
    console.print(RunOnTerminal(summary, **given), crop=False)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [30, 80])
def test_no_id_and_no_verdict_is_ever_cut(make, width):
    summary = make()
    lines = printed(summary, width).splitlines()
    lines = lines[next(i for i, line in enumerate(lines) if line.startswith("method ")) :]
    for cell in summary.cells if len(summary.verdicts) else ():
        found = next(line for line in lines if line.startswith(f"{cell.id} "))
        assert re.search(r" (equal|consistent|deviates|failed|–) *$", found), found


@pytest.mark.parametrize("metric", ["accuracy", "error"])
def test_of_many_cells_the_first_fit_a_screen_and_a_command_shows_all(metric):
    summary = many_cells_summary()
    summary = replace(summary, scores=summary.scores.replace({"metric": {"accuracy": metric}}))
    ids = [cell.id for cell in summary.cells]
    lines = printed(summary, folder=HERE).splitlines()
    shown = [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in ids]
    values = {cell: row["value"] for (cell, of), row in summary.headlines.items() if of == summary.main_metric}
    assert len(ids) > len(shown) == MAX_CELLS
    assert [values[cell] for cell in shown] == sorted(values.values(), reverse=metric == "accuracy")[:MAX_CELLS]
    assert f"{len(ids) - MAX_CELLS} more rows: bench report {HERE} --all-cells" in " ".join(lines)
    every = printed(summary, whole=True)
    assert all(f"\n{cell} " in every for cell in ids)


def test_a_terminal_fits_and_reads_without_colour(make):
    for width in (80, 120):
        assert max(map(len, printed(make(), width).splitlines())) <= width
