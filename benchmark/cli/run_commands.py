"""Commands that check, plan and run experiments."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark import __version__
from benchmark.cli.errors import echo
from benchmark.cli.options import (
    CONFIGS_HELP,
    Config,
    Download,
    Jobs,
    Out,
    Overwrite,
    Quiet,
    Verbose,
    find_all,
)
from benchmark.cli.output import show, show_answer, show_run
from benchmark.cli.program import COMPARE, MAINTAIN, RUN, SHARE, app
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.run import RunResult


@app.command(epilog="Examples: bench run webkb --only 'tfidf-*' · bench run results/runs/webkb", rich_help_panel=RUN)
def run(
    configs: Annotated[
        list[Path],
        typer.Argument(
            metavar="CONFIG", help=f"{CONFIGS_HELP} Or the folder of a run, to run it again.", callback=find_all
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CELL", help="Run these cells alone; patterns such as 'tfidf-*'."),
    ] = None,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Dask workers: a scheduler's address, such as tcp://host:8786, or its file.",
            show_default="this process alone",
        ),
    ] = None,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Run your own code in this process, so that a debugger can stop in it.")
    ] = False,
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
            raise SystemExit(not equal)
        failed = False
        experiments = [select_cells(experiment, only or ()) for experiment in load_all_checked(configs)]
        for done in run_all(experiments, out, context, overwrite=overwrite):
            show_run(done, quiet=quiet)
            failed |= bool(done.summary.failures or done.results.failures)
    if failed:
        raise SystemExit(1)


@app.command(epilog="Example: bench validate configs/*.yaml", rich_help_panel=RUN)
def validate(configs: Annotated[list[Path], typer.Argument(metavar="CONFIG", help=CONFIGS_HELP)]) -> None:
    """Check configurations without doing any work; code that you don't trust yet isn't looked into."""
    from benchmark.experiment.configuration import load_checked

    problems = []
    for path in configs:
        try:
            config = find_configuration(path)
            with asking_before_code(lambda _: False, shlex.join(["bench", "--trust", "validate", str(path)])):
                echo(f"{config}: good, {len(load_checked(config).ids)} cells")
        except BenchError as error:
            problems.append(error)
    for problem in problems:
        echo(f"bench: {problem}", err=True)
    if problems:
        raise SystemExit(max(problem.exit_code for problem in problems))


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
    from benchmark.commands.plan import plan_run, plan_sentence, plan_tables
    from benchmark.experiment.configuration import load_checked

    experiment = load_checked(config)
    with working(experiment.name, jobs, download=False) as context:
        planned = plan_run(experiment, context, with_pilot=not no_pilot)
    if planned.warning:
        echo(planned.warning, err=True)
    show_answer(*plan_tables(planned), plan_sentence(planned))


@app.command(epilog="Example: bench check configs/webkb.yaml configs/20ng.yaml", rich_help_panel=MAINTAIN)
def check(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CONFIG", help="YAML files.", show_default="every shipped one that is pinned", callback=find_all
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="Pin these numbers, in pinned/ beside your configuration."),
    ] = False,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
) -> None:
    """Run experiments and compare them with pinned and published values; exit 1 if a number has changed."""
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
    if moved:
        raise SystemExit(1)


@app.command(epilog="Example: bench reproduce", rich_help_panel=SHARE)
def reproduce(
    configs: Annotated[
        Path, typer.Option("--configs", help="Folder of configurations.", show_default="configs")
    ] = CONFIGS_FOLDER,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    download: Download = True,
) -> None:
    """Run every configuration that belongs to a paper, and write a page of all published values beside ours."""
    from benchmark.commands.reproduce import paper_configs, write_reproduction

    page = Path("results/REPRODUCTION.md")
    done = _runs_of_page(paper_configs(configs), page, jobs, overwrite=overwrite, download=download)
    echo(write_reproduction(done, page))
    if any(each.summary.failures for each in done):
        raise SystemExit(1)


@app.command(
    epilog="Examples: bench survey methods · bench survey methods mine.yaml other.yaml --page mine.md",
    rich_help_panel=COMPARE,
)
def survey(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="methods: which one to use; ablation: what each step adds.")
    ],
    configs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CONFIG", help="YAML files.", show_default="those of the page", callback=find_all),
    ] = None,
    to: Annotated[Path | None, typer.Option("--page", help="The page to write.", show_default="docs/<page>.md")] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    download: Download = True,
) -> None:
    """Run configurations of the same methods on several corpora, and write a page that compares the corpora."""
    from benchmark.commands.survey import check_comparable, survey_configurations, write_survey
    from benchmark.experiment.configuration import load_all_checked

    experiments = load_all_checked(configs or survey_configurations(page, CONFIGS_FOLDER))
    check_comparable(experiments)
    path = to or Path("docs") / f"{page}.md"
    done = _runs_of_page(experiments, path, jobs, overwrite=overwrite, download=download)
    echo(write_survey(done, page, path))
    if any(each.summary.failures for each in done):
        raise SystemExit(1)


def _runs_of_page(
    experiments: Sequence[Experiment], page: Path, jobs: int, *, overwrite: bool, download: bool
) -> list[RunResult]:
    """Run the experiments of a page; BenchError before, if the page can't be written."""
    from benchmark.cli.terminal import working
    from benchmark.commands.run import run_all
    from benchmark.system.atomic_files import check_folder_writable

    check_folder_writable(page.parent)
    with working(jobs=jobs, download=download) as context:
        return list(run_all(experiments, None, context, overwrite=overwrite))
