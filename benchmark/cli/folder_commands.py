"""``bench rerun``: a run computed again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.options import Download, Jobs, Json, Overwrite, Quiet, RunFolder, Verbose
from benchmark.cli.resolve import resolve_run


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
