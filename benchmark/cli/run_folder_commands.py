"""Commands that read finished runs: compare, report, explain and cite; and place, which needs none."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.options import Quiet, RunFolder, find_run
from benchmark.cli.output import echo, show_answer, show_run
from benchmark.cli.program import COMPARE, SHARE, app
from benchmark.system.errors import ConfigError


@app.command(
    epilog="Examples: bench compare results/runs/webkb tf-l1-ngd tf-l2-linear · bench compare RUN_A RUN_B",
    rich_help_panel=COMPARE,
)
def compare(
    run: RunFolder,
    a: Annotated[str, typer.Argument(help="A cell of the run; or the folder of another run.")],
    b: Annotated[str | None, typer.Argument(help="Another cell of the run.")] = None,
) -> None:
    """Compare two cells of a run, or two runs: first the finding, then scores, tests and settings."""
    from benchmark.commands.compare import compare_cells_of_folder, compare_run_folders

    if b is None:
        sentence, tables, _ = compare_run_folders(run, find_run(Path(a)))
    else:
        sentence, tables = compare_cells_of_folder(run, a, b)
    show_answer(sentence, *tables)


@app.command(epilog="Examples: bench report results/runs/webkb · bench report webkb --html", rich_help_panel=COMPARE)
def report(
    run: RunFolder,
    html: Annotated[
        bool, typer.Option("--html", help="Add texts of documents to the page, and print its path.")
    ] = False,
    whole: Annotated[bool, typer.Option("--all-cells", help="Show every cell, however many there are.")] = False,
    quiet: Quiet = False,
) -> None:
    """Make tables, figures and the page again from saved predictions, without training."""
    from benchmark.experiment.run import report_again

    done = report_again(run, lambda line: echo(line, err=True))
    if not html:
        show_run(done, whole=whole, quiet=quiet)
        return
    from benchmark.cli.terminal import working
    from benchmark.commands.explain import write_page_with_texts

    with working("texts") as context:
        echo(str(write_page_with_texts(done, context)))


@app.command(epilog="Example: bench explain results/runs/webkb tf-l1-ngd", rich_help_panel=COMPARE)
def explain(
    run: RunFolder,
    cell: Annotated[str, typer.Argument(help="A cell of the run.")],
    document: Annotated[str | None, typer.Option(help="Id of one tested document.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="How many wrongly predicted documents to show.")] = 5,
) -> None:
    """Explain a cell's score, from the archive to the metric, and show documents with a wrong prediction."""
    from benchmark.cli.terminal import working
    from benchmark.commands.explain import explain_cell

    with working(cell) as context:
        parts = list(explain_cell(run, cell, context, document=document, shown=examples))
    show_answer(*parts)


@app.command(epilog="Examples: bench place --template 20ng · bench place mine.csv --on 20ng", rich_help_panel=COMPARE)
def place(
    predictions: Annotated[Path | None, typer.Argument(help="Table, .jsonl or .parquet with id and label.")] = None,
    on: Annotated[str | None, typer.Option(help="The test set: 20ng, webkb, r8, r52 or modapte-90.")] = None,
    template: Annotated[str | None, typer.Option(help="Print the ids of this test set, as CSV.")] = None,
) -> None:
    """Rank predictions that you made elsewhere among our methods and published scores, without training.

    The labels that our methods predict on the test sets come with the package; the corpus isn't needed.
    """
    if template is not None:
        if predictions is not None or on is not None:
            raise ConfigError("--template prints ids: it takes neither PREDICTIONS nor --on")
        from benchmark.commands.place import template_csv
        from benchmark.evaluation.public_test_sets import load_shipped

        shipped = load_shipped(template)
        test_set = shipped.test_set
        echo(template_csv(shipped).rstrip("\n"))
        echo(f"{len(shipped.frame):,} {test_set.documents} of {test_set.title}. {test_set.training}", err=True)
        return
    if predictions is None or on is None:
        raise ConfigError("place needs a file of predictions and a test set: bench place mine.csv --on 20ng")
    from benchmark.analysis.comparisons import leading_pair
    from benchmark.commands.place import place_file

    done = place_file(predictions, on)
    best = leading_pair(done.summary) or ()
    show_run(done, following=shlex.join(["bench", "compare", str(done.folder), *best]))


@app.command(epilog="Examples: bench cite results/runs/webkb · bench cite webkb", rich_help_panel=SHARE)
def cite(run: RunFolder) -> None:
    """Print BibTeX of a run's papers, corpora and solvers, and of this package."""
    from benchmark.commands.cite import cite_run

    echo(cite_run(run))
