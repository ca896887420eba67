"""``bench place``: where predictions that were made elsewhere stand on a public test set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.errors import echo
from benchmark.cli.options import Json
from benchmark.system.errors import ConfigError

_SETS = "20ng, webkb, r8, r52 or modapte-90"


def place(
    predictions: Annotated[
        Path | None,
        typer.Argument(
            metavar="PREDICTIONS", help="Table (.csv, .tsv), .jsonl or .parquet with the columns id and label."
        ),
    ] = None,
    on: Annotated[str | None, typer.Option("--on", metavar="SET", help=f"The test set: {_SETS}.")] = None,
    template: Annotated[
        str | None, typer.Option("--template", metavar="SET", help="Print the ids of a test set, as CSV.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the method.", show_default="the name of the file")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="The page to write.", show_default="PREDICTIONS-on-SET.html")
    ] = None,
    as_json: Json = False,
) -> None:
    """Rank predictions that you made elsewhere among our methods and published scores, without training.

    The labels that our methods predict on the test sets come with the package; the corpus isn't needed.
    """
    if template is not None:
        if predictions is not None or on is not None:
            raise ConfigError("--template prints ids: it takes neither PREDICTIONS nor --on")
        from benchmark.commands.place import template_csv
        from benchmark.evaluation.public_test_sets import load_shipped
        from benchmark.report.placement import template_sentence

        shipped = load_shipped(template)
        sys.stdout.write(template_csv(shipped))
        sys.stdout.flush()
        echo(template_sentence(shipped.test_set, len(shipped.frame)), err=True)
        return
    if predictions is None or on is None:
        raise ConfigError("place needs a file of predictions and a test set: bench place mine.csv --on 20ng")
    from benchmark.cli.output import CommandOutput
    from benchmark.commands.place import place_predictions, read_predictions_file
    from benchmark.evaluation.public_test_sets import public_test_set
    from benchmark.report.placement import placement_data, placement_page, terminal_tables
    from benchmark.report.writers import TerminalTable
    from benchmark.system.atomic_files import write_atomically

    frame = read_predictions_file(predictions, public_test_set(on))
    found = place_predictions(frame, on, name or predictions.name.partition(".")[0], str(predictions))
    target = page or predictions.with_name(f"{predictions.name.partition('.')[0]}-on-{on}.html")
    write_atomically(target, placement_page(found).encode())
    with CommandOutput(as_json=as_json) as answer:
        for sentence in found.sentences:
            answer.give("answers", {}, sentence=sentence)
        for table in terminal_tables(found):
            answer.show("", TerminalTable(table))
        answer.show("")
        answer.give("placements", placement_data(found, target), sentence=f"All tables and notes: {target}")
