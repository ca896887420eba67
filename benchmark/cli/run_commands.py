"""Commands that check, plan and run experiments."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark import __version__
from benchmark.cli.options import (
    CONFIGS_HELP,
    Config,
    Configs,
    Download,
    Jobs,
    OptionalConfigs,
    Out,
    Overwrite,
    Quiet,
    Verbose,
)
from benchmark.cli.output import echo, show, show_answer, show_run
from benchmark.cli.program import COMPARE, MAINTAIN, RUN, SHARE, app
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.config.model import Experiment

DASK_HELP = "Address of a Dask scheduler that runs, such as tcp://host:8786, or its file."
DEBUG_HELP = "Run your own code in this process, so that a debugger can stop in it."


@app.command(epilog="Examples: bench run webkb --only 'tfidf-*' · bench run results/runs/webkb", rich_help_panel=RUN)
def run(
    configs: Configs,
    only: Annotated[list[str] | None, typer.Option(metavar="CELL", help="Run cells such as 'tfidf-*' alone.")] = None,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help=DASK_HELP)] = None,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
    debug: Annotated[bool, typer.Option("--debug", help=DEBUG_HELP)] = False,
) -> None:
    """Run experiments: train, test, and write tables, figures, tests and verdicts.

    The folder of a run stands for its experiment, which is run again without the store and compared with that run:
    exit 1 if a prediction differs. Nothing is kept of it without --out.
    """
    from benchmark.cli.terminal import working
    from benchmark.commands.run import run_again, run_all
    from benchmark.experiment.configuration import load_all_checked, select_cells
    from benchmark.system.user_classes import running_user_code_here

    again = any(each.is_dir() for each in configs)
    if again and (len(configs) > 1 or only or dask):
        raise ConfigError("a run is run again alone, whole and in this process: name its folder alone")
    # In the main thread with --debug, where Ctrl-C reaches it.
    threads = 1 if debug else jobs
    with (
        running_user_code_here() if debug else nullcontext(),
        working(jobs=threads, download=download, dask=dask, verbose=verbose, quiet=quiet) as context,
    ):
        if again:
            sentence, tables, equal = run_again(configs[0], out, context, overwrite=overwrite)
            show_answer(sentence, *(() if quiet else tables))
            raise typer.Exit(int(not equal))
        failed = False
        experiments = [select_cells(experiment, only or ()) for experiment in load_all_checked(configs)]
        for done in run_all(experiments, out, context, overwrite=overwrite):
            show_run(done, quiet=quiet)
            failed |= bool(done.summary.failures or done.results.failures)
    raise typer.Exit(int(failed))


@app.command(epilog="Example: bench validate configs/*.yaml", rich_help_panel=RUN)
def validate(configs: Annotated[list[Path], typer.Argument(metavar="CONFIG", help=CONFIGS_HELP)]) -> None:
    """Check configurations, and the code that they name, without doing any work."""
    from benchmark.experiment.configuration import load_checked

    code = 0
    for path in configs:
        try:
            config = find_configuration(path)
            echo(f"{config}: good, {len(load_checked(config).ids)} cells")
        except BenchError as error:
            echo(f"bench: {error}", err=True)
            code = max(code, error.exit_code)
    raise typer.Exit(code)


@app.command(epilog="Example: bench plan configs/20ng.yaml", rich_help_panel=RUN)
def plan(
    config: Config,
    no_pilot: Annotated[bool, typer.Option("--no-pilot", help="Don't time the methods.")] = False,
    jobs: Jobs = 0,
) -> None:
    """Show what a run would compute, what the store already has, and the time and memory of the rest.

    Each method is timed on some of the documents. Nothing is downloaded.
    """
    from benchmark.cli.terminal import working
    from benchmark.commands.plan import plan_run, plan_sentence, plan_table
    from benchmark.experiment.configuration import load_checked

    experiment = load_checked(config)
    with working(experiment.name, jobs, download=False) as context:
        planned = plan_run(experiment, context, with_pilot=not no_pilot)
    if planned.warning:
        echo(planned.warning, err=True)
    show_answer(*([plan_table(planned)] if planned.batches else []), plan_sentence(planned))


@app.command(epilog="Example: bench check configs/webkb.yaml configs/20ng.yaml", rich_help_panel=MAINTAIN)
def check(
    configs: OptionalConfigs = None,
    update: Annotated[bool, typer.Option("--update", help="Pin the numbers, beside the configuration.")] = False,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
) -> None:
    """Run experiments and compare them with pinned and published values; exit 1 if a number has changed.

    Without a configuration, every shipped one with pinned numbers is checked.
    """
    from benchmark.cli.terminal import working
    from benchmark.commands import check as pinned
    from benchmark.commands.run import run_all
    from benchmark.report.writers import TerminalTable

    moved = False
    with working(jobs=jobs, download=download, verbose=verbose, quiet=quiet) as context:
        found = pinned.experiments_to_check(configs or [], pinning=update)
        experiments = [experiment for experiment, _ in found.values()]
        for done in run_all(experiments, out, context, overwrite=overwrite):
            _, folder = found[done.summary.name]
            if update:
                pinned.pin(done.summary, folder)
            if update and folder == pinned.PINNED:
                pinned.pin_predictions(done.results, __version__)
            table = pinned.deviations(done, folder)
            echo(pinned.check_line(done.summary, table, folder if update else None))
            if table.rows and not quiet:
                show(TerminalTable(table))
                echo("If that is intended, the same command with --update pins the numbers again.")
            moved |= bool(table.rows) or bool(done.summary.failures)
    raise typer.Exit(int(moved))


@app.command(epilog="Example: bench reproduce", rich_help_panel=SHARE)
def reproduce(
    configs: Annotated[Path, typer.Option(help="Folder of configurations.", show_default="configs")] = CONFIGS_FOLDER,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    download: Download = True,
) -> None:
    """Run every configuration that belongs to a paper, and write a page of all published values beside ours."""
    from benchmark.commands.reproduce import paper_configs, write_reproduction

    experiments = paper_configs(configs)
    page = Path("results/REPRODUCTION.md")
    _run_for_page(experiments, page, write_reproduction, jobs, overwrite=overwrite, download=download)


@app.command(
    epilog="Examples: bench survey methods · bench survey methods mine.yaml other.yaml --page mine.md",
    rich_help_panel=COMPARE,
)
def survey(
    kind: Annotated[str, typer.Argument(help="methods: which one to use; ablation: what each step adds.")],
    configs: OptionalConfigs = None,
    page: Annotated[Path | None, typer.Option(help="The page to write, by default docs/<kind>.md.")] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    download: Download = True,
) -> None:
    """Run configurations of the same methods on several corpora, and write a page that compares the corpora."""
    from benchmark.commands.survey import check_comparable, survey_configurations, write_survey
    from benchmark.experiment.configuration import load_all_checked

    experiments = load_all_checked(configs or survey_configurations(kind))
    check_comparable(experiments)
    path = page or Path("docs") / f"{kind}.md"
    write = partial(write_survey, page=kind)
    _run_for_page(experiments, path, write, jobs, overwrite=overwrite, download=download)


def _run_for_page(
    experiments: Sequence[Experiment],
    page: Path,
    write: Callable[..., str],
    jobs: int,
    *,
    overwrite: bool,
    download: bool,
) -> None:
    """Run the experiments of a page, and write it; BenchError before, if the page can't be written."""
    from benchmark.cli.terminal import working
    from benchmark.commands.run import run_all
    from benchmark.system.atomic_files import check_folder_writable

    check_folder_writable(page.parent)
    with working(jobs=jobs, download=download) as context:
        done = list(run_all(experiments, None, context, overwrite=overwrite))
    echo(write(done, path=page))
    raise typer.Exit(int(any(each.summary.failures for each in done)))
