"""What other methods scored stands in a table of its own, and is counted with nothing."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from benchmark.analysis.summary import VERDICT_TABLE_COLUMNS, summary_table
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.report.page import paper_page, reproduction_page, verdict_counts_text
from benchmark.report.paper_results import PaperExperiment, PaperResult
from benchmark.report.run_tables import table_markdown
from benchmark.report.tables import main_verdicts, reference_value_table, verdict_table
from tests.report.summaries import verdict_row


@pytest.fixture
def reference_values():
    ours = {"tf-l1-ngd": (85.0, 84.5, 85.75), "tf-l1-linear": (70.0, 69.0, 71.0)}
    theirs = (("GCN, transductive", "86.25"), ("MLP", "84.5"))
    rows = [
        (
            *verdict_row(cell, "accuracy", printed, "percent", *three, REFERENCE_VALUE, reading=method)[:-1],
            f"of {method}",
        )
        for method, printed in theirs
        for cell, three in ours.items()
    ]
    return summary_table(VERDICT_TABLE_COLUMNS, rows)


def test_each_value_stands_beside_ours(reference_values):
    grid = reference_value_table(reference_values)
    column = {name: [row[i] for row in grid.rows] for i, name in enumerate(grid.header)}
    assert column["method"] == ["GCN, transductive"] * 2 + ["MLP"] * 2
    assert column["notes"] == ["of GCN, transductive"] * 2 + ["of MLP"] * 2
    assert column["difference"] == ["−1.25", "−16.25", "+0.50", "−14.50"]
    assert column["95% interval"][0] == "[84.50, 85.75]"


def test_it_is_no_print(reference_values, make):
    summary = make()
    beside = replace(summary, verdicts=pd.concat([summary.verdicts, reference_values], ignore_index=True))
    assert verdict_table(beside.verdicts) == verdict_table(summary.verdicts)
    assert main_verdicts(beside) == main_verdicts(summary)
    assert verdict_counts_text([beside.verdicts]) == verdict_counts_text([summary.verdicts])
    assert "## Reference values" in table_markdown(beside)
    assert "## Reference values" not in table_markdown(summary)


def test_the_page_has_both(reference_values, make):
    summary = replace(make(), verdicts=reference_values)
    section = PaperResult("key", "Title", "Reference", (PaperExperiment(summary),), summary.claims, {})
    page = paper_page(section)
    assert "No published values for this experiment; scores of other methods are below" in page
    (row,) = (line for line in reproduction_page([section]).splitlines() if line.startswith("| [Title]"))
    assert "reproduced" not in row  # there are no published values
    for theirs in reference_values["published"]:
        assert theirs in page
    assert "\n\n\n" not in page
