"""``bench cite``, ``bench rerun`` and ``bench export``: what others ask of a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.data_commands import counts_of_configuration
from benchmark.cli.errors import echo
from benchmark.cli.options import Download, Jobs, Json, Overwrite, Quiet, RunFolder, Verbose
from benchmark.cli.resolve import resolve_run


def cite(run: RunFolder) -> None:
    """Print BibTeX of a run's papers, corpora and solvers, and of this package."""
    from benchmark.commands.cite import cite_run

    echo(cite_run(resolve_run(run)))


def rerun(
    run: RunFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the new run, in results/runs.", show_default="<run>-rerun"),
    ] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compute a run again from its folder alone, and write a receipt; exit 1 if a prediction differs.

    Nothing is taken from the store. The receipt says what is equal and what differs, versions and machines included.
    """
    from benchmark.cli.output import CommandOutput
    from benchmark.cli.run import progress_of_command

    folder = resolve_run(run)
    with CommandOutput(quiet=quiet, as_json=as_json) as answer:
        with progress_of_command(answer, verbose=verbose) as observer:
            from benchmark.commands.rerun import rerun_folder

            receipt = rerun_folder(folder, out, observer, overwrite=overwrite, jobs=jobs, download=download)
        if as_json:
            answer.give("receipts", receipt.data)
        answer.tables([] if as_json else receipt.tables)
        answer.show("")
        answer.give("answers", {}, sentence=receipt.sentence)
        if not receipt.equal:
            raise SystemExit(1)


def export(
    what: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder or name of a run; for counts, a configuration.")
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="ro-crate or every-eval-ever; or counts, as svmlight.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    download: Download = True,
) -> None:
    """Write a run, or the counts of a configuration, in a format that other tools read.

    ro-crate: the run's files with the metadata of a Process Run Crate.

    every-eval-ever: a JSON file of scores for each cell.

    counts: counts.svmlight, vocabulary.txt, documents.csv, and blocks.txt if there are several blocks.
    """
    from benchmark.commands.export import COUNTS, check_export_format, export_counts, export_run

    check_export_format(to)
    if to == COUNTS:
        paths = export_counts(counts_of_configuration(what, download), out)
    else:
        paths = export_run(resolve_run(what), to, out)
    for path in paths:
        echo(str(path))
