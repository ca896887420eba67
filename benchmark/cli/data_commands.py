"""``bench data``: the corpora, and the counts of a configuration."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.cli.options import Config, Download, Json
from benchmark.cli.shorthand import config_named
from benchmark.cli.world import say

if TYPE_CHECKING:
    from benchmark.text.counts import Counts

data = typer.Typer(no_args_is_help=True, help="List, fetch, verify, describe and export the corpora.")


@data.command("list", epilog="Example: bench data list")
def data_list(as_json: Json = False) -> None:
    """List the corpora and the places of their files."""
    from benchmark.cli.answers import Answer
    from benchmark.corpora import registry
    from benchmark.report.part import Part

    rows = []
    for name in registry.registered():
        card, where = registry.card(name), registry.find(name) or f"not here: bench data fetch {name}"
        rows.append((name, card.total, len(card.classes), ", ".join(card.groups), str(where)))
    with Answer(as_json=as_json) as answer:
        answer.tables([Part("", ("corpus", "documents", "classes", "groups", "found"), rows)])


Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Such as webkb or 20ng; see `bench data list`.")]


@data.command("fetch", epilog="Example: bench data fetch webkb")
def data_fetch(
    dataset: Dataset,
    dest: Annotated[
        Path | None, typer.Option("--dest", help="Folder to download to.", show_default="datasets/")
    ] = None,
) -> None:
    """Download a corpus unless it is here, and verify it."""
    from benchmark.corpora import registry

    notify = partial(say, err=True)
    source = registry.locate(dataset, download=True, dest=dest, notify=notify, progress=True)
    corpus = registry.load(dataset, source)
    say(f"{dataset}: {source}, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("verify", epilog="Example: bench data verify 20ng")
def data_verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(metavar="DATASET", help="Names of corpora.", show_default="all that are here")
    ] = None,
) -> None:
    """Check corpora against their dataset cards."""
    from benchmark.corpora import registry

    for name in datasets or [name for name in registry.registered() if registry.find(name)]:
        corpus = registry.load(name, registry.locate(name))
        say(f"{name}: as its card says, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("stats", epilog="Example: bench data stats configs/webkb.yaml")
def data_stats(config: Config, download: Download = True) -> None:
    """Describe the counts of a configuration: documents by class and group, words, vocabulary."""
    from benchmark.cli.answers import Answer
    from benchmark.library.overview import statistics

    with Answer() as answer:
        answer.tables(statistics(_counts(config, download)))


@data.command("card", epilog="Example: bench data card tickets.yaml")
def data_card(config: Config) -> None:
    """Write the card of your own corpus: counts and digest. Later runs reject a corpus that differs."""
    from benchmark.experiment.session import write_card

    say(f"Written to {write_card(config_named(config))}")


@data.command("croissant", epilog="Example: bench data croissant webkb")
def data_croissant(dataset: Dataset) -> None:
    """Print a corpus's card as Croissant metadata, which dataset indexes read."""
    import json

    from benchmark.corpora import registry
    from benchmark.library.croissant import croissant

    say(json.dumps(croissant(registry.card(dataset)), indent=1, ensure_ascii=False))


@data.command("export", epilog="Example: bench data export configs/webkb.yaml --out exported")
def data_export(
    config: Config,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    download: Download = True,
) -> None:
    """Write the counts: counts.svmlight, vocabulary.txt, documents.csv, and blocks.txt if there are several blocks."""
    from benchmark.library.export import export_counts

    for path in export_counts(_counts(config, download), out):
        say(str(path))


def _counts(config: Path, download: bool) -> Counts:
    from benchmark.cli.terminal import ProgressObserver

    with ProgressObserver(config.stem) as observer:
        from benchmark.experiment.context import RunContext
        from benchmark.experiment.reading import read_counts
        from benchmark.experiment.session import checked
        from benchmark.experiment.store import Store

        study = checked(config_named(config))
        first = next(iter(study.variants.values()))
        return read_counts(first.collection, RunContext(Store(warn=observer.note), observer, download=download))[0]
