"""Commands on corpora and on the counts of a configuration: bench data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.errors import echo
from benchmark.cli.options import Config, Download
from benchmark.cli.output import show_answer
from benchmark.cli.program import MAINTAIN, command_group

data = command_group("data", MAINTAIN, "List, fetch and verify the corpora, and export counts.", "bench data list")


@data.command("list", epilog="Example: bench data list")
def data_list() -> None:
    """List the corpora and the places of their files."""
    from benchmark.analysis.formatting.table import Table
    from benchmark.corpora import registry

    rows = []
    for name in registry.corpus_names():
        card, where = registry.dataset_card(name), registry.find_corpus(name) or f"not here: bench data fetch {name}"
        rows.append((name, card.total, len(card.classes), ", ".join(card.parts), str(where)))
    show_answer(Table.of("", ("corpus", "documents", "classes", "groups", "found"), rows))


@data.command("fetch", epilog="Example: bench data fetch webkb")
def data_fetch(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Such as webkb or 20ng; see `bench data list`.")],
) -> None:
    """Download a corpus unless it is here, and verify it."""
    from benchmark.corpora import registry

    source = registry.locate_corpus(dataset, download=True, notify=partial(echo, err=True))
    corpus = registry.load_corpus(dataset, source)
    echo(f"{dataset}: {source}, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("verify", epilog="Example: bench data verify 20ng")
def data_verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(metavar="DATASET", help="Names of corpora.", show_default="all that are here")
    ] = None,
) -> None:
    """Check corpora against their dataset cards."""
    from benchmark.corpora import registry

    for name in datasets or [name for name in registry.corpus_names() if registry.find_corpus(name)]:
        corpus = registry.load_corpus(name, registry.locate_corpus(name))
        echo(f"{name}: as its card says, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("pin", epilog="Example: bench data pin tickets.yaml")
def data_pin(config: Config) -> None:
    """Write the card of your own corpus: counts and digest. Later runs reject a corpus that differs."""
    from benchmark.experiment.configuration import write_card

    echo(f"Written to {write_card(config)}")


@data.command("export", epilog="Example: bench data export configs/webkb.yaml --out counts")
def data_export(
    config: Config,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    download: Download = True,
) -> None:
    """Write the counts of a configuration for other tools: svmlight, the vocabulary, and a table of the documents."""
    from benchmark.cli.terminal import working
    from benchmark.commands.counts import export_counts
    from benchmark.experiment.configuration import load_checked
    from benchmark.experiment.counting import read_counts

    base = next(iter(load_checked(config).variants.values()))
    with working(config.stem, download=download) as context:
        counts = read_counts(base.collection, context)[0]
    echo("\n".join(map(str, export_counts(counts, out))))
