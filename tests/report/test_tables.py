import csv
import io
import re

from rich.console import Console

from benchmark.analysis.comparisons import ranked_cells
from benchmark.report.run_tables import table_csv, table_markdown
from benchmark.report.terminal import RunOnTerminal


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
    rows = re.search(r"^\|.*?(?=\n\n|\Z)", table_markdown(summary), re.DOTALL | re.MULTILINE)[0].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in rows] == list(ranked_cells(summary))
    printed = terminal(summary, whole=True)
    assert [re.search(rf"^{re.escape(cell)} ", printed, re.MULTILINE) is not None for cell in ids] == [True] * len(ids)


def test_terminal_fits_and_reads_without_colour(make):
    for width in (80, 120):
        assert max(map(len, terminal(make(), width).splitlines())) <= width
    plain = terminal(make())
    coloured = terminal(make(), force_terminal=True, color_system="standard")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
