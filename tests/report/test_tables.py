import csv
import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from benchmark.analysis.comparisons import ranked_cells
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.summary import DIFFERENCES, SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.comparison_tables import comparison_table
from benchmark.report.escapes import latex_text
from benchmark.report.run_tables import table_csv, table_latex, table_markdown
from benchmark.report.terminal import RunOnTerminal
from benchmark.report.writers import frame_csv


def blocks_of_table_lines(markdown):
    blocks = re.split(r"\n\n+", markdown)
    return [block.splitlines() for block in blocks if block.startswith("|")]


def columns_of(line):
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def terminal(summary, width=120, *, whole=False, **options):
    console = Console(width=width, file=io.StringIO(), **options)
    console.print(RunOnTerminal(summary, whole=whole))
    return console.file.getvalue()


def parse(text):
    return list(csv.DictReader(io.StringIO(text)))


def with_titles(title):
    cells = (CellInfo("a|b_1", {"kernel": "x & y_2"}), CellInfo("c", {"kernel": "50% #1 {z} ~^\\"}))
    return Summary(
        "odd", title, None, cells, summary_table(SCORE_COLUMNS), failures={"c": "path_of [red]data[/red] | *lost*"}
    )


def test_each_cell_stands_in_each_table(make):
    summary = make()
    ids = [cell.id for cell in summary.cells]
    assert [row["cell"] for row in parse(table_csv(summary))] == ids
    for table in blocks_of_table_lines(table_markdown(summary))[:1]:
        assert [line.split("|")[1].strip() for line in table[2:]] == list(ranked_cells(summary))
    printed = terminal(summary, whole=True)
    assert [re.search(rf"^{re.escape(cell)} ", printed, re.MULTILINE) is not None for cell in ids] == [True] * len(ids)


def test_markdown_tables_are_well_formed(make):
    tables = blocks_of_table_lines(table_markdown(make()))
    assert tables
    for lines in tables:
        assert {columns_of(line) for line in lines} == {columns_of(lines[0])}
        assert all(re.fullmatch(r":-+|-+:", mark.strip()) for mark in lines[1].strip("|").split("|"))


def test_latex_is_balanced_and_has_a_row_a_cell(make):
    summary = make()
    text = table_latex(summary)
    body = text.split("\\midrule")[1].split("\\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(summary.cells)
    alignment = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(alignment)}
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1


@pytest.mark.parametrize("title", ["50% of tf_idf & #1 ^ ~ \\ {x} $5", "plain"])
def test_latex_escapes_what_is_special(title):
    lines = table_latex(with_titles(title)).splitlines()
    for line in lines[1:]:  # the first is a comment on purpose
        stripped = re.sub(r"\\[\\&%$#_{}]|\\[a-z]+|\$[-+<>]\$", "", line)
        assert not re.search(r"[%#_~^]", stripped), line
        assert line.count("{") - line.count(r"\{") == line.count("}") - line.count(r"\}"), line
        assert line.startswith(r"\label") or "$" not in stripped, line


def test_failed_cells_are_shown_with_their_reason(make):
    summary = make()
    for cell, reason in summary.failures.items():
        for text in (table_markdown(summary), terminal(summary)):
            assert f"{cell}: failed: {reason}" in text
        assert f"failed: {latex_text(reason)}" in table_latex(summary)
        assert {row["cell"]: row["failure"] for row in parse(table_csv(summary))}[cell] == reason


def test_csv_keeps_the_scores(make):
    summary = make()
    metric = summary.main_metric
    scores = summary.headlines
    for row in parse(table_csv(summary)):
        if row["cell"] not in summary.failures:
            own = scores[row["cell"], metric]
            for column, name in ((metric, "value"), (f"{metric}_low", "low"), (f"{metric}_high", "high")):
                written = float(row[column] or "nan")
                assert written == pytest.approx(float(own[name]), rel=1e-11, nan_ok=True)


def test_csv_has_twelve_digits_and_no_negative_zero():
    text = frame_csv(summary_table(DIFFERENCES, [("a", "b", 1 / 3, -0.0, None, 7)]), DIFFERENCES)
    assert text.splitlines()[1] == "a,b,0.333333333333,0,,7"


def test_terminal_fits_and_reads_without_colour(make):
    for width in (80, 120):
        assert max(map(len, terminal(make(), width).splitlines())) <= width
    plain = terminal(make())
    coloured = terminal(make(), force_terminal=True, color_system="standard")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_terminal_takes_no_name_for_markup():
    assert "path_of [red]data[/red]" in terminal(with_titles("[bold]"))


def test_untestable_pairs_say_why(make):
    summary = replace(make(), claims=make().claims[:0])
    if len(summary.significance):
        for text in (table_markdown(summary), terminal(summary)):
            assert "not testable (smallest p 0.125)" in text
            assert "nan" not in text


def test_columns_without_any_number_are_tolerated():
    rows = [("a", "all", "macro-f1", 0.5, None, None, None, None)]
    summary = Summary("x", "X", None, (CellInfo("a", {}),), summary_table(SCORE_COLUMNS, rows))
    assert "50.00" in table_markdown(summary)
    assert "macro-f1" in table_csv(summary)


def test_a_comparison_has_one_row_with_the_leading_test(make):
    summary = make()
    grid = comparison_table(summary)
    assert [row[:2] for row in grid.rows] == [tuple(row) for row in summary.differences[["a", "b"]].to_numpy()]
    if grid.rows:
        assert grid.texts[0][2:] == ("+2.78", "[+1.30, +4.20]", "<0.0001 (of 2)", "first is better")
        assert "Wilcoxon: not testable (smallest p 0.125)." in grid.note


def test_a_terminal_begins_with_the_finding(make):
    finding = main_finding(make())
    assert " ".join(terminal(make()).split()).startswith(" ".join([f"{finding.headline}.", *finding.details]))
    assert f"**{finding.headline}.**" in table_markdown(make())


def test_caveats_come_before_the_numbers(webkb):
    text = table_markdown(replace(webkb, caveats=("A doubt.",)))
    assert text.index("Read this before trusting the numbers") < text.index("A doubt.") < text.index("| method")
