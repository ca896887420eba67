"""``bench fit`` and ``bench predict``: save a trained method, and predict the labels of other texts."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.errors import echo
from benchmark.cli.options import Config, Download, Jobs, Verbose
from benchmark.report.escapes import escape_controls
from benchmark.system.errors import ConfigError, quote_value, unknown_name
from benchmark.system.shipped_files import find_configuration


def fit(
    config: Config,
    cell: Annotated[str, typer.Option("--cell", "-c", help="The cell whose method is trained, such as tf-l1-ngd.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    split: Annotated[
        str | None,
        typer.Option(help="Train on a split's training documents alone.", show_default="on all documents"),
    ] = None,
    probability: Annotated[bool, typer.Option("--probability", help="Also fit class probabilities.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite what --out holds.")] = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Train the method of a cell and save it as a model, for `bench predict` and `benchmark.load_model`."""
    from benchmark.cli.terminal import ProgressObserver, format_bytes
    from benchmark.commands.context import local_context
    from benchmark.experiment.configuration import load_checked
    from benchmark.experiment.run import check_folder_writable
    from benchmark.model.fitting import fit_and_write
    from benchmark.model.persistence import check_model_folder_free

    experiment = load_checked(find_configuration(config))
    check_model_folder_free(out, overwrite=overwrite)
    check_folder_writable(out)
    with ProgressObserver(experiment.name, verbose=verbose) as observer:
        context = local_context(observer, jobs, download=download)
        model, n_bytes = fit_and_write(experiment, cell, context, out, split=split, probability=probability)
    words = "" if model.n_terms is None else f" {model.n_terms:,} words,"
    learned = f"{model.about['documents']:,} documents,{words} {len(model.classes)} classes"
    echo(f"Written to {out}: {learned}, {format_bytes(n_bytes)}")


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a model that `bench fit` wrote.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Texts: one per record of .csv, .tsv, .json, .jsonl, .parquet, one per line of -, else one per file.",
            show_default="-",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", help="Output format: csv or jsonl.")] = "csv",
    text: Annotated[
        list[str] | None, typer.Option(help="Column of the text.", show_default="as the corpus had it")
    ] = None,
    id_: Annotated[
        str | None,
        typer.Option("--id", help="Column of the documents' names.", show_default="as the corpus had it, or the line"),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of tables and JSON.", show_default="as the corpus had it")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Character between columns.", show_default="as the corpus had it")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help="Print the id, the label and this alone: label, decision or probability."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Print this column of the input, too.")
    ] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Print all columns of the input, too.")] = False,
    top_terms: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show the N terms that contribute most to each label.")
    ] = 0,
    jobs: Jobs = 0,
) -> None:
    """Predict the label, decision values and probabilities of each text, on standard output."""
    from benchmark.model import prediction_io as predicting
    from benchmark.model.persistence import read_model
    from benchmark.system.numba_jit import ensure_numba_cache
    from benchmark.system.threads import n_processors

    if format_ not in ("csv", "jsonl"):
        raise ConfigError(f"--format: {unknown_name('format', format_, ('csv', 'jsonl'))}")
    if delimiter is not None and len(delimiter) != 1:
        raise ConfigError(f"--delimiter is {quote_value(delimiter)}: must be one character, such as ';'")
    trained = read_model(model)
    columns = predicting.RecordColumns.of_model(
        trained.about, text=text, id=id_, encoding=encoding, delimiter=delimiter, keep=None if keep_all else keep or ()
    )
    parts = predicting.parts_of_predictions(trained, only or ())
    ensure_numba_cache(partial(echo, err=True))
    documents = predicting.read_texts(files or [predicting.STANDARD_INPUT], columns)
    tally = predicting.PredictionCount()
    answered = tally.counted(trained.answers(documents, n_words=top_terms, jobs=jobs or n_processors()))
    as_json, on_terminal = format_ == "jsonl", sys.stdout.isatty()
    for text_of in predicting.format_predictions(trained, answered, parts, as_json=as_json, with_words=top_terms > 0):
        sys.stdout.write(escape_controls(text_of) if on_terminal else text_of)
    sys.stdout.flush()
    if tally.unknown:
        echo(f"{tally.unknown:,} of {tally.documents:,} documents have no word that the model knows", err=True)
