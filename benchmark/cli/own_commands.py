"""Commands for a user's own documents and code: init, fit, predict and plugin test."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from benchmark.cli.options import Config, Download, Jobs, OutFolder, Overwrite, Verbose
from benchmark.cli.output import echo
from benchmark.cli.program import YOUR_DATA, app, command_group
from benchmark.plugins.trust import asking_before_code
from benchmark.report.escapes import escape_controls
from benchmark.system.errors import ConfigError, quote_value

FILES_HELP = "Texts: one per record of .csv, .tsv, .json, .jsonl, .parquet, one per line of -, else one per file."

plugin = command_group(
    "plugin", YOUR_DATA, "Your own kernels, classifiers and other components.", "bench plugin test mykernels.py"
)


@app.command(
    epilog="Examples: bench init tickets.csv --text body --label queue · bench init essays/", rich_help_panel=YOUR_DATA
)
def init(
    file: Annotated[Path, typer.Argument(help="A table, JSON, Parquet, or a folder of classes.")],
    text: Annotated[str | None, typer.Option(help="Column of the text.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the class.")] = None,
    labels: Annotated[str | None, typer.Option(help="Column of several classes, or columns of 0 and 1: a,b,c.")] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of several classes in one value.")] = None,
    single_label: Annotated[bool, typer.Option("--single-label", help="One class a value, even with ; or |.")] = False,
    header: Annotated[bool | None, typer.Option(help="Whether the first row names columns.")] = None,
    quoting: Annotated[str, typer.Option(help="Quotes of a table: double, or none if they are mere text.")] = "double",
    escape: Annotated[str | None, typer.Option(help="Character before quotes in a table's text.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Column of the documents' names.")] = None,
    split: Annotated[str | None, typer.Option(help="Column that says train or test.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of the groups of documents.")] = None,
    date: Annotated[str | None, typer.Option(help="Column of the date.")] = None,
    date_format: Annotated[str | None, typer.Option(help="Format of the dates, such as '%d/%m/%Y'.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write, by default <name>.yaml.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a first configuration for your own documents; options decide what can't be told from the file.

    Columns and forms that no option names are proposed.
    """
    from benchmark.commands.init import configuration_path, propose, write_configuration

    named = {"text": text, "label": label, "labels": labels, "id": id_, "split": split, "group": group, "date": date}
    form: dict[str, Any] = {"encoding": encoding, "date_format": date_format, "quoting": quoting, "escape": escape}
    form |= {"header": header, "separator": separator, "single_label": single_label}
    target = configuration_path(file, out, overwrite=overwrite)
    echo("\n".join(write_configuration(propose(file, named, **form), target)))


@app.command(epilog="Example: bench fit configs/20ng.yaml --cell tf-l1-ngd --out model", rich_help_panel=YOUR_DATA)
def fit(
    config: Config,
    cell: Annotated[str, typer.Option("--cell", "-c", help="The cell whose method is trained, such as tf-l1-ngd.")],
    out: OutFolder,
    split: Annotated[str | None, typer.Option(help="Train on a split's training documents, not on all.")] = None,
    probability: Annotated[bool, typer.Option("--probability", help="Also fit class probabilities.")] = False,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Train the method of a cell and save it as a model, for `bench predict` and `benchmark.load_model`."""
    from rich.filesize import decimal

    from benchmark.cli.terminal import working
    from benchmark.experiment.configuration import load_checked
    from benchmark.model.fitting import fit_model
    from benchmark.model.persistence import check_model_folder_free, write_model
    from benchmark.system.atomic_files import check_folder_writable

    experiment = load_checked(config)
    check_model_folder_free(out, overwrite=overwrite)
    check_folder_writable(out)
    with working(experiment.name, jobs, download=download, verbose=verbose) as context:
        model = fit_model(experiment, cell, context, split=split, probability=probability)
        n_bytes = write_model(model, out)
    words = "" if model.n_terms is None else f" {model.n_terms:,} words,"
    learned = f"{model.about['documents']:,} documents,{words} {len(model.classes)} classes"
    echo(f"Written to {out}: {learned}, {decimal(n_bytes)}")


@app.command(
    epilog="Examples: bench predict model letter.txt · bench predict model new.csv --text body > answers.csv",
    rich_help_panel=YOUR_DATA,
)
def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a model that `bench fit` wrote.")],
    files: Annotated[list[Path] | None, typer.Argument(help=FILES_HELP)] = None,
    format_: Annotated[Literal["csv", "jsonl"], typer.Option("--format", "-f", help="Output format.")] = "csv",
    text: Annotated[list[str] | None, typer.Option(help="Column of the text.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Column of the documents' names.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of tables and JSON.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Character between columns.")] = None,
    top_terms: Annotated[int, typer.Option(min=0, help="Show so many terms that contribute most to each label.")] = 0,
    jobs: Jobs = 0,
) -> None:
    """Predict the label, decision values and probabilities of each text, on standard output.

    Columns, encoding and delimiter are those of the model's corpus unless options name others.
    """
    from benchmark.model import prediction_io as predicting
    from benchmark.model.persistence import load_model
    from benchmark.system.row_blocks import n_processors

    if delimiter is not None and len(delimiter) != 1:
        raise ConfigError(f"--delimiter is {quote_value(delimiter)}: must be one character, such as ';'")
    trained = load_model(model, jobs or n_processors())
    form: dict[str, Any] = {"text": text, "id": id_, "encoding": encoding, "delimiter": delimiter}
    documents = predicting.read_texts(files or [predicting.STANDARD_INPUT], trained.about, **form)
    answered, tally = trained.answers(documents, n_words=top_terms), Counter[str]()
    as_json, on_terminal = format_ == "jsonl", sys.stdout.isatty()
    lines = predicting.format_predictions(trained, answered, as_json=as_json, with_words=top_terms > 0, tally=tally)
    for line in lines:
        sys.stdout.write(escape_controls(line) if on_terminal else line)
    sys.stdout.flush()
    if tally["unknown"]:
        echo(f"{tally['unknown']:,} of {tally['documents']:,} documents have no word that the model knows", err=True)


@plugin.command("test", epilog="Example: bench plugin test mykernels.py")
def plugin_test(files: Annotated[list[Path], typer.Argument(help="Python files, such as mykernels.py.")]) -> None:
    """Test the components of a plug-in in small runs: one line per check, exit 1 if a check fails."""
    from benchmark.commands.plugin_test import check_file

    failed = False
    for path in files:
        with asking_before_code(lambda _: True):  # the command names the file itself
            results = list(check_file(path))
        for component, check, problem in results:
            echo(f"{component}: {check}: {'FAILED: ' + problem if problem else 'passed'}")
            failed |= bool(problem)
    raise typer.Exit(int(failed))
