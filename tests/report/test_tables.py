import csv
import io
import re

from rich.console import Console

from benchmark.analysis.comparisons import ranked_cells
from benchmark.report.run_tables import table_csv, table_markdown
from benchmark.report.terminal import RunOnTerminal


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


def test_terminal_fits_and_reads_without_colour(make):
    for width in (80, 120):
        assert max(map(len, terminal(make(), width).splitlines())) <= width
    plain = terminal(make())
    coloured = terminal(make(), force_terminal=True, color_system="standard")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
