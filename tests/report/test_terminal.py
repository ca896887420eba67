"""What a terminal shows of a summary: a selection that fits, and that leaves out nothing without saying where it is."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from benchmark.analysis.summary import CLAIMS
from benchmark.report.terminal import (
    MAX_CELLS,
    RunOnTerminal,
    run_sentence,
)
from tests.report.summaries import many_cells_summary

HERE = Path("results/runs/x")


def printed(summary, width=80, **given):
    console = Console(width=width, file=io.StringIO())
    console.print(RunOnTerminal(summary, **given), crop=False)
    return console.file.getvalue()


def claim(name, holds, of, whole, strict="holds", counted=""):
    values = (name, "", "text", "rule", holds, of, "holds", "sign", holds, strict, whole, counted)
    return dict(zip(CLAIMS, values, strict=True))


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


def test_claims_have_a_sign_and_what_is_compared_here(make):
    rows = [claim("whole", 2, 2, 2), claim("part", 0, 4, 8), claim("again", 1, 1, 1, "no test", "same as whole")]
    rows += [claim("some", 1, 4, 4) | {"verdict": "holds in part (1 of 4)", "strict_verdict": "not shown"}]
    summary = replace(make(), claims=pd.DataFrame(rows))
    text = printed(summary)
    assert "✓ 2 of 2 hold here; 2 by our stricter test: text" in text
    assert "✗ 0 of 4 hold here (4 more on other corpora); 0 by our stricter test: text" in text
    assert "◐ 1 of 4 hold here; 1 by our stricter test: text" in text
    assert "✓ 1 of 1 hold here; not counted: same as whole: text" in text


class TestSentence:
    def test_says_what_was_scored_what_it_took_and_where_it_is(self, make):
        summary = make()
        said = run_sentence(summary, stored=2, seconds=12.34, peak=1.12e9, folder=HERE)
        n, failed = len(summary.cells), len(summary.failures)
        assert said.startswith(
            f"{summary.name}: {n - failed} of {n} methods" if failed else f"{summary.name}: {n} method"
        )
        assert ", 2 of them from the store" in said
        assert said.endswith("; 12.3 s, 1.1 GB at most; written to results/runs/x")
        assert ("published results reproduced" in said) == bool((summary.verdicts["kind"] == "result").any())

    def test_says_no_time_of_what_took_none_and_no_memory_that_is_unknown(self, make):
        assert " GB" not in run_sentence(make(), stored=0, seconds=1.0, peak=float("nan"), folder=HERE)
        assert " s;" not in run_sentence(make(), stored=0, seconds=0.0, peak=1e9, folder=HERE)
