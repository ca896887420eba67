"""Command line: one short function per command.

Heavy imports stay inside the functions, so that ``--help`` is quick.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from benchmark import __version__
from benchmark.cli.cache_commands import cache
from benchmark.cli.data_commands import data
from benchmark.cli.errors import echo, ensure_memory, exit_on_error, prepare_streams
from benchmark.cli.model_commands import fit, predict
from benchmark.cli.options import (
    COMPARE,
    CONFIGS_HELP,
    MAINTAIN,
    RUN,
    SHARE,
    YOUR_DATA,
    CommandGroup,
    Config,
    Configs,
    Dask,
    Download,
    Jobs,
    Json,
    MaxWorkers,
    Out,
    Overwrite,
    Quiet,
    RunFolder,
    Verbose,
)
from benchmark.cli.placement_command import place
from benchmark.cli.prompts import confirm_code, without_trust
from benchmark.cli.resolve import resolve_run
from benchmark.cli.run import (
    output_run,
    plan_experiment,
    progress_of_command,
    workers_from_options,
    write_page_of_runs,
)
from benchmark.plugins.trust import asking_before_code
from benchmark.system.errors import BenchError, ConfigError
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_configuration
from benchmark.system.threads import let_openmp_threads_sleep


class _Group(CommandGroup):
    """Command group that turns errors of parsing and of running into one message and an exit code."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **kwargs: Any) -> Any:
        """Parse the arguments, sys.argv[1:] by default, and run the command."""
        given = sys.argv[1:] if args is None else list(args)
        words, trusts = without_trust(given)
        agrees = shlex.join(["bench", "--trust", *words])
        asking = asking_before_code(lambda question: trusts or confirm_code(question), agrees)
        with exit_on_error(), asking:
            return super().main(words, *more, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors are handled here too, since click has its own message for an interrupt."""
        with exit_on_error():
            ensure_memory()
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Group,
    name="bench",
    help="""Benchmark text classifiers that use the geometry of the simplex, and compare them with published values.

    Start with: bench run quickstart · bench init tickets.csv""",
    epilog="""Exit codes: 0 success; 1 a cell failed, a pinned number or a prediction
    of a run changed, or memory, disk or workers failed; 2 a command or
    configuration is wrong; 3 data are missing or damaged; 130 interrupted.""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich alone takes as long to import as all else that the help needs
    context_settings={"help_option_names": ["-h", "--help"]},
)
prints = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Published values: the settings that they apply to.")
plugin = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Your own kernels, classifiers and other components.")
app.add_typer(plugin, name="plugin", epilog="Example: bench plugin test mykernels.py", rich_help_panel=YOUR_DATA)
app.add_typer(
    prints,
    name="published",
    epilog="Example: bench published pin-settings configs/webkb.yaml",
    rich_help_panel=MAINTAIN,
)
app.add_typer(data, name="data", epilog="Example: bench data list", rich_help_panel=MAINTAIN)
app.add_typer(cache, name="cache", epilog="Example: bench cache info", rich_help_panel=MAINTAIN)


def _version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version

        echo(f"bench {version('simplexbench')}")
        raise typer.Exit


@app.callback()
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code that comes with a configuration, and remember that.")
    ] = False,
) -> None:
    """Accept the options that precede a command."""


@app.command(epilog="Examples: bench run webkb --only 'tfidf-*' · bench run results/runs/webkb", rich_help_panel=RUN)
def run(
    configs: Annotated[
        list[Path], typer.Argument(metavar="CONFIG", help=f"{CONFIGS_HELP} Or the folder of a run, to run it again.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CELL", help="Run these cells alone; patterns such as 'tfidf-*'."),
    ] = None,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    dask: Dask = None,
    max_workers: MaxWorkers = None,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Run your own code in this process, so that a debugger can stop in it.")
    ] = False,
) -> None:
    """Run experiments: train, test, and write tables, figures, tests and verdicts.

    The folder of a run stands for its experiment, which is run again without the store and compared with that run:
    exit 1 if a prediction differs. Nothing is kept of it without --out.
    """
    from benchmark.cli.output import CommandOutput
    from benchmark.system.user_classes import running_user_code_here

    failed = False
    jobs = 1 if debug else jobs  # in the main thread, where Ctrl-C reaches it
    with (
        running_user_code_here() if debug else nullcontext(),
        CommandOutput(quiet=quiet, as_json=as_json) as answer,
        progress_of_command(answer, verbose=verbose) as observer,
    ):
        if any(each.is_dir() for each in configs):
            if len(configs) > 1 or only or dask or max_workers is not None:
                raise ConfigError("a run is run again alone, whole and in this process: name its folder alone")
            from benchmark.commands.run_again import run_again

            again = run_again(configs[0], out, observer, overwrite=overwrite, jobs=jobs, download=download)
            sentence, tables, equal = again
            answer.give("answers", {"equal": equal}, sentence=sentence)
            answer.show("")
            answer.tables(tables)
            raise SystemExit(not equal)
        from benchmark.commands.run_all import run_all
        from benchmark.experiment.configuration import load_all_checked, select_cells

        experiments = [
            select_cells(experiment, only or ())
            for experiment in load_all_checked([find_configuration(each) for each in configs])
        ]
        workers = workers_from_options(dask, max_workers)
        options: dict[str, Any] = {"overwrite": overwrite, "jobs": jobs, "download": download, "workers": workers}
        for done in run_all(experiments, out, observer, **options):
            output_run(answer, done)
            failed |= bool(done.summary.failures or done.results.failures)
        if failed:
            raise SystemExit(1)


@app.command(
    epilog="Examples: bench init tickets.csv --text body --label queue · bench init essays/", rich_help_panel=YOUR_DATA
)
def init(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A table, JSON, Parquet, or a folder of classes.")],
    text: Annotated[str | None, typer.Option(help="Column of the text.", show_default="proposed")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the class.", show_default="proposed")] = None,
    labels: Annotated[
        str | None, typer.Option(help="Column of the classes, or columns of 0 and 1 (a,b,c), if there may be several.")
    ] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of several classes in one value.")] = None,
    single_label: Annotated[
        bool, typer.Option("--single-label", help="One class a value, even with ; or | or a comma.")
    ] = False,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first row names columns.", show_default="as it looks"),
    ] = None,
    quoting: Annotated[
        str, typer.Option(help="Quotes of a table: double, or none if a quote is mere text.")
    ] = "double",
    escape: Annotated[str | None, typer.Option(help="Character before quotes in a table's text.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Column of the documents' names.")] = None,
    split: Annotated[str | None, typer.Option(help="Column that says train or test.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of the groups of documents.")] = None,
    date: Annotated[str | None, typer.Option(help="Column of the date.")] = None,
    date_format: Annotated[
        str | None, typer.Option(help="Format of the dates, such as '%d/%m/%Y'.", show_default="recognised")
    ] = None,
    split_by: Annotated[
        str | None,
        typer.Option(help="Split by date, by group or at random.", metavar="WAY", show_default="by the columns"),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Drop documents: empty, unlabelled, repeated, rare.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.", show_default="<name>.yaml")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
    no_pilot: Annotated[bool, typer.Option("--no-pilot", help="Don't time the methods on a sample.")] = False,
) -> None:
    """Write a first configuration for your own documents, asking questions at a terminal."""
    import yaml

    from benchmark.cli.prompts import ask_classes, ask_header, ask_separator, ask_split, confirm_columns
    from benchmark.commands import init as proposals
    from benchmark.commands.plan import plan_sentence
    from benchmark.experiment.configuration import experiment_from_mapping
    from benchmark.system.atomic_files import write_atomically

    named = {"text": text, "label": label, "labels": labels, "id": id_, "split": split, "group": group, "date": date}
    form: dict[str, Any] = {"encoding": encoding, "date_format": date_format, "quoting": quoting, "escape": escape}
    seen = proposals.sample_file(path, header=header is not False, **form)
    chosen = proposals.split_columns(seen, {role: name for role, name in named.items() if name is not None})
    why = proposals.not_a_header_reason(seen, proposals.taken_columns(chosen)) if header is None else None
    if why is not None and not ask_header(path, why):
        seen = proposals.sample_file(path, header=False, **form)
    roles: dict[str, Any] = confirm_columns(seen.columns, proposals.propose_columns(seen, chosen), set(chosen))
    marks, one_each = proposals.columns_of_classes(seen, roles, chosen)
    if marks and ask_classes(path, marks, one_each=one_each):
        roles.pop("label", None)
        roles["label" if one_each else "labels"] = marks
    proposals.check_columns(seen, roles)
    found = () if single_label else proposals.find_separator(seen, roles)
    if found and ask_separator(found[0], path, roles["label"], found[1]):
        roles["labels"], separator = roles.pop("label"), found[0]
    target = proposals.configuration_path(seen, out, overwrite=overwrite)
    roles, dropped, scan = proposals.settle_documents(seen, roles, set(chosen), separator=separator, drop=drop or [])
    ways = proposals.ways_to_split(seen, roles, split_by)
    split_by = split_by or ask_split(ways)
    problem = None
    for pilot in (not no_pilot, True):
        how: dict[str, Any] = {"separator": separator, "drop": dropped, "split_by": split_by}
        written = proposals.configuration_text(seen, roles, target, exact_kernel=problem is None, **how)
        experiment = experiment_from_mapping(yaml.safe_load(written), str(target))
        planned = plan_experiment(experiment, jobs=0, download=False, with_pilot=pilot)
        if problem is not None or (problem := proposals.exact_kernel_problem(planned)) is None:
            break
    write_atomically(target, written.encode())
    taken = ", ".join(f"{role} is {name!r}" for role, name in roles.items())
    echo(f"Written to {target}: {taken or 'the names of the folders are the classes'}")
    if scan.dropped:
        echo(proposals.drop_sentence(scan.dropped, len(scan.documents)))
    sides = proposals.split_sentences(ways, split_by, roles.get("group"))
    for note in (*proposals.notes_on_columns(seen, roles), *sides, *scan.notes, *filter(None, [problem])):
        echo(note)
    for warning in planned.warnings:
        echo(warning, err=True)
    then = "" if planned.warnings else f"Next: bench run {target}"
    facts = f"The configuration is valid: {len(experiment.ids)} cells.", plan_sentence(planned), then
    echo(" ".join(filter(None, facts)))


@app.command(epilog="Example: bench validate configs/*.yaml", rich_help_panel=RUN)
def validate(configs: Configs, as_json: Json = False) -> None:
    """Check configurations without doing any work; code that you don't trust yet isn't looked into."""
    from benchmark.cli.output import CommandOutput
    from benchmark.experiment.configuration import load_checked

    problems = []
    with CommandOutput(as_json=as_json) as answer:
        for path in configs:
            try:
                config = find_configuration(path)
                with asking_before_code(lambda _: False, shlex.join(["bench", "--trust", "validate", str(path)])):
                    n = len(load_checked(config).ids)
                answer.give("good", {"config": str(config), "cells": n}, sentence=f"{config}: good, {n} cells")
            except BenchError as error:
                problems.append(error)
    for problem in problems:
        echo(f"bench: {problem}", err=True)
    if problems:
        raise SystemExit(max(problem.exit_code for problem in problems))


@app.command(epilog="Example: bench plan configs/20ng.yaml", rich_help_panel=RUN)
def plan(
    config: Config,
    no_pilot: Annotated[bool, typer.Option("--no-pilot", help="Don't time the methods on a sample.")] = False,
    jobs: Jobs = 0,
    download: Download = True,
    brief: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what a run would compute, what the store already has, and the time and memory of the rest.

    The documents are counted and the counts stored. Each method is timed on a sample of the documents.
    """
    from benchmark.cli.output import CommandOutput

    with CommandOutput(quiet=brief, as_json=as_json) as answer:
        from benchmark.analysis.formatting.table import Table
        from benchmark.commands.plan import format_seconds, plan_sentence
        from benchmark.experiment.configuration import load_checked

        experiment = load_checked(find_configuration(config))
        result = plan_experiment(experiment, jobs=jobs, download=download, with_pilot=not no_pilot)

        for warning in result.warnings:
            echo(warning, err=True)
        parts = [Table.of("", ("what", "entries", "in the store"), list(result.rows))]
        batches = [(name, fits, format_seconds(seconds)) for name, fits, seconds in result.batches]
        if batches:
            parts.append(Table.of("", ("computed together", "fits", "processor time"), batches))
        answer.tables(parts, plan_sentence(result))


@app.command(epilog="Example: bench check configs/webkb.yaml configs/20ng.yaml", rich_help_panel=MAINTAIN)
def check(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CONFIG", help="YAML files.", show_default="every config that is pinned"),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Store the numbers and labels as the new pinned ones.")
    ] = False,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run experiments and compare them with pinned and published values; exit 1 if a number has changed."""
    from benchmark.cli.output import CommandOutput

    moved = False
    with (
        CommandOutput(quiet=quiet, as_json=as_json) as answer,
        progress_of_command(answer, verbose=verbose) as observer,
    ):
        from benchmark.analysis.formatting.table import Table
        from benchmark.commands import check as pinned
        from benchmark.commands.run_all import run_all
        from benchmark.report.writers import TerminalTable

        experiments = pinned.experiments_to_check([find_configuration(each) for each in configs or []], pinning=update)
        for done in run_all(experiments, out, observer, overwrite=overwrite, jobs=jobs, download=download):
            if update:
                pinned.pin(done.summary)
                pinned.pin_predictions(done.results, __version__)
            rows = pinned.deviations(done.summary) + pinned.prediction_deviations(done.results)
            data = {
                "name": done.summary.name,
                "moved": [dict(zip(pinned.DEVIATION_COLUMNS, row, strict=True)) for row in rows],
            }
            answer.give("checks", data, sentence=pinned.check_line(done.summary, rows))
            answer.show(*([TerminalTable(Table.of("", pinned.DEVIATION_COLUMNS, rows))] if rows else []))
            moved |= bool(rows) or bool(done.summary.failures)
        if moved:
            raise SystemExit(1)


@app.command(
    epilog="Examples: bench compare results/runs/webkb tf-l1-ngd tf-l2-linear · bench compare RUN_A RUN_B",
    rich_help_panel=COMPARE,
)
def compare(
    run: RunFolder,
    a: Annotated[str, typer.Argument(metavar="A", help="A cell of the run; or the folder of another run.")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="Another cell of the run.")] = None,
    whole: Annotated[bool, typer.Option("--all", help="Show every setting in which two runs differ.")] = False,
    as_json: Json = False,
) -> None:
    """Compare two cells of a run, or two runs: first the finding, then scores, tests and settings."""
    from benchmark.cli.output import CommandOutput
    from benchmark.commands.compare import compare_cells_of_folder, compare_run_folders, second_run

    one = resolve_run(run)
    with CommandOutput(as_json=as_json) as answer:
        if b is None:
            sentence, tables, _ = compare_run_folders(one, resolve_run(second_run(one, a)), whole=whole)
        else:
            sentence, tables = compare_cells_of_folder(one, a, b)
        answer.give("answers", {}, sentence=sentence)
        answer.show("")
        answer.tables(tables)


@app.command(epilog="Examples: bench report results/runs/webkb · bench report webkb --html", rich_help_panel=COMPARE)
def report(
    run: RunFolder,
    html: Annotated[
        bool,
        typer.Option("--html", help="Add texts and explanations of documents to the page, and print its path alone."),
    ] = False,
    explained: Annotated[
        str, typer.Option("--explain", metavar="CELL", help="With --html: the cell to explain.", show_default="best")
    ] = "",
    whole: Annotated[bool, typer.Option("--all-cells", help="Show every cell, however many there are.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make tables, figures and the page again from saved predictions, without training."""
    from benchmark.cli.output import CommandOutput
    from benchmark.experiment.run import report_again

    done = report_again(resolve_run(run), lambda line: echo(line, err=True))
    if not html:
        with CommandOutput(quiet=quiet, as_json=as_json) as answer:
            output_run(answer, done, whole=whole)
        return
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.commands.context import local_context
    from benchmark.commands.explain import write_page_with_texts

    with ProgressObserver("texts") as observer:
        echo(str(write_page_with_texts(done, local_context(observer), explained)))


@app.command(epilog="Example: bench explain results/runs/webkb tf-l1-ngd", rich_help_panel=COMPARE)
def explain(
    run: RunFolder,
    cell: Annotated[str, typer.Argument(metavar="CELL", help="A cell of the run.")],
    document: Annotated[str | None, typer.Option(help="Id of one tested document.")] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="How many wrongly predicted documents to show.")
    ] = 5,
    as_json: Json = False,
) -> None:
    """Explain a cell's score, from the archive to the metric, and show documents with a wrong prediction."""
    from benchmark.cli.output import CommandOutput
    from benchmark.cli.terminal import ProgressObserver

    with CommandOutput(as_json=as_json) as answer, ProgressObserver(cell) as observer:
        from benchmark.commands.context import local_context
        from benchmark.commands.explain import explain_cell

        parts = explain_cell(resolve_run(run), cell, local_context(observer), document=document, shown=examples)
        answer.tables(observer.between(parts))


app.command(epilog="Examples: bench place --template 20ng · bench place mine.csv --on 20ng", rich_help_panel=COMPARE)(
    place
)
app.command(epilog="Example: bench fit configs/20ng.yaml --cell tf-l1-ngd --out model", rich_help_panel=YOUR_DATA)(fit)
app.command(
    epilog="Examples: bench predict model letter.txt · bench predict model new.csv --text body > answers.csv",
    rich_help_panel=YOUR_DATA,
)(predict)


@app.command(epilog="Examples: bench cite results/runs/webkb · bench cite webkb", rich_help_panel=SHARE)
def cite(run: RunFolder) -> None:
    """Print BibTeX of a run's papers, corpora and solvers, and of this package."""
    from benchmark.commands.cite import cite_run

    echo(cite_run(resolve_run(run)))


@app.command("list", epilog="Example: bench list kernels", rich_help_panel=MAINTAIN)
def list_(
    what: Annotated[
        str,
        typer.Argument(metavar="KIND", help="Such as kernels, classifiers, metrics, papers.", show_default="all"),
    ] = "",
    plugins: Annotated[
        list[Path] | None, typer.Option("--plugins", metavar="FILE", help="Also list the components of a plug-in.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the names that a configuration can use, or those of one kind with parameters and descriptions."""
    from benchmark.schema.registries import component_names, list_components

    if not what and not as_json:
        for kind, names in component_names(plugins or ()).items():
            echo(fill(f"{kind}: {', '.join(names)}", 80, subsequent_indent="  ", break_on_hyphens=False))
        echo("\nWith parameters and descriptions: bench list KIND, such as bench list kernels.")
        return
    from benchmark.cli.output import CommandOutput

    with CommandOutput(as_json=as_json) as answer:
        answer.tables(list_components(what, plugins or ()))


@app.command(epilog="Examples: bench schema · bench schema --markdown", rich_help_panel=MAINTAIN)
def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown page of every key.")] = False,
) -> None:
    """Print the JSON Schema of configurations, which editors use to complete and check them."""
    if markdown:
        from benchmark.schema.reference_page import reference_page

        echo(reference_page().rstrip())
        return
    import json

    from benchmark.schema.json_schema import json_schema

    echo(json.dumps(json_schema(), indent=1, ensure_ascii=False))


@app.command(epilog="Example: bench reproduce", rich_help_panel=SHARE)
def reproduce(
    configs: Annotated[
        Path, typer.Option("--configs", help="Folder of configurations.", show_default="configs")
    ] = CONFIGS_FOLDER,
    page: Annotated[Path, typer.Option("--page", help="Page to write; one for each paper goes beside it.")] = Path(
        "results/REPRODUCTION.md"
    ),
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Run every configuration that belongs to a paper, and write a page of all published values beside ours."""
    from benchmark.commands.reproduce import paper_configs, write_reproduction

    how: dict[str, Any] = {"overwrite": overwrite, "jobs": jobs, "verbose": verbose, "download": download}
    write_page_of_runs(paper_configs(configs), page, lambda done: write_reproduction(done, page), **how)


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
        typer.Argument(metavar="CONFIG", help="YAML files.", show_default="those of the page"),
    ] = None,
    to: Annotated[Path | None, typer.Option("--page", help="The page to write.", show_default="docs/<page>.md")] = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Run configurations of the same methods on several corpora, and write a page that compares the corpora."""
    from benchmark.commands.survey import check_comparable, survey_configurations, write_survey
    from benchmark.experiment.configuration import load_all_checked

    paths = configs or survey_configurations(page, CONFIGS_FOLDER)
    experiments, path = load_all_checked(list(map(find_configuration, paths))), to or Path("docs") / f"{page}.md"
    check_comparable(experiments)
    how: dict[str, Any] = {"overwrite": overwrite, "jobs": jobs, "verbose": verbose, "download": download}
    write_page_of_runs(experiments, path, lambda done: write_survey(done, page, path), **how)


@prints.command("pin-settings", epilog="Example: bench published pin-settings configs/webkb.yaml")
def published_pin(configs: Configs) -> None:
    """Store the settings of these configurations as those of their paper's published values.

    Under other settings the published value is shown with the differences, but gets no verdict.
    """
    from benchmark.experiment.configuration import load_all_checked
    from benchmark.papers.settings import pin_settings

    for experiment in load_all_checked([find_configuration(each) for each in configs]):
        path, n = pin_settings(experiment)
        echo(f"{path}: the settings of {n} cells of {experiment.name}")


@plugin.command("test", epilog="Example: bench plugin test mykernels.py")
def plugin_test(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Python files, such as mykernels.py.")],
) -> None:
    """Test the components of a plug-in in small runs: one line per check, exit 1 if a check fails."""
    from benchmark.commands.plugin_test import check_file

    failed = 0
    for path in files:
        with asking_before_code(lambda _: True):  # the command names the file itself
            results = list(check_file(path))
        for each in results:
            echo(f"{each.component}: {each.check}: {'FAILED: ' + each.problem if each.problem else 'passed'}")
            failed += bool(each.problem)
    if failed:
        raise SystemExit(1)


def main() -> None:
    """Run ``bench``."""
    let_openmp_threads_sleep()
    prepare_streams()
    app()
