"""Commands on what the package has and stores: list, schema, data, published and cache."""

from __future__ import annotations

import json
from functools import partial
from textwrap import fill
from typing import Annotated

import typer

from benchmark.cli.options import Config, Configs, Download, OutFolder
from benchmark.cli.output import echo, show_answer
from benchmark.cli.program import MAINTAIN, app, command_group

data = command_group("data", MAINTAIN, "List, fetch and verify the corpora, and export counts.", "bench data list")
published = command_group(
    "published",
    MAINTAIN,
    "Published values: the settings that they apply to.",
    "bench published pin-settings configs/webkb.yaml",
)
cache = command_group(
    "cache", MAINTAIN, "Results that runs have stored, to compute them only once.", "bench cache info"
)


@app.command("list", epilog="Example: bench list kernels", rich_help_panel=MAINTAIN)
def list_(kind: Annotated[str, typer.Argument(help="Such as kernels, classifiers, metrics, papers.")] = "") -> None:
    """List the names that a configuration can use, or those of one kind with parameters and descriptions."""
    from benchmark.schema.reference import list_components

    if kind:
        show_answer(*list_components(kind))
        return
    for table in list_components(""):
        names = ", ".join(name for name, *_ in table.rows)
        echo(fill(f"{table.title}: {names}", 80, subsequent_indent="  ", break_on_hyphens=False))
    echo("\nWith parameters and descriptions: bench list KIND, such as bench list kernels.")


@app.command(epilog="Examples: bench schema · bench schema --markdown", rich_help_panel=MAINTAIN)
def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown page of every key.")] = False,
) -> None:
    """Print the JSON Schema of configurations, which editors use to complete and check them."""
    from benchmark.schema.reference import json_schema, reference_page

    echo(reference_page().rstrip() if markdown else json.dumps(json_schema(), indent=1, ensure_ascii=False))


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
def data_fetch(dataset: Annotated[str, typer.Argument(help="Such as webkb; see `bench data list`.")]) -> None:
    """Download a corpus unless it is here, and verify it."""
    from benchmark.corpora import registry

    source = registry.locate_corpus(dataset, download=True, notify=partial(echo, err=True))
    corpus = registry.load_corpus(dataset, source)
    echo(f"{dataset}: {source}, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("verify", epilog="Example: bench data verify 20ng")
def data_verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(help="Names of corpora, by default all that are here.")
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
def data_export(config: Config, out: OutFolder, download: Download = True) -> None:
    """Write the counts of a configuration for other tools.

    The files are svmlight, the vocabulary, and a table of the documents.
    """
    from benchmark.cli.terminal import working
    from benchmark.commands.counts import export_counts
    from benchmark.experiment.configuration import load_checked
    from benchmark.experiment.counting import read_counts

    base = next(iter(load_checked(config).variants.values()))
    with working(config.stem, download=download) as context:
        counts = read_counts(base.collection, context)[0]
    echo("\n".join(map(str, export_counts(counts, out))))


@published.command("pin-settings", epilog="Example: bench published pin-settings configs/webkb.yaml")
def pin_published_settings(configs: Configs) -> None:
    """Store the settings of these configurations as those of their paper's published values.

    Under other settings the published value is shown with the differences, but gets no verdict.
    """
    from benchmark.experiment.configuration import load_all_checked
    from benchmark.papers.settings import pin_settings

    for experiment in load_all_checked(configs):
        path, n = pin_settings(experiment)
        echo(f"{path}: the settings of {n} cells of {experiment.name}")


@cache.command("info", epilog="Example: bench cache info")
def cache_info() -> None:
    """Show where results are stored, how many there are, and how large they are."""
    from rich.filesize import decimal

    from benchmark.experiment.store import Store

    store = Store()
    sizes = [n_bytes for _, n_bytes, _ in store.entries()]
    echo(f"{store.address}\n{len(sizes):,} entries, {decimal(sum(sizes))} of at most {decimal(store.limit)}")


@cache.command("list", epilog="Example: bench cache list")
def cache_list() -> None:
    """List the matrices and models of kernels with their computing times, and count all other entries."""
    from collections import defaultdict

    from rich.filesize import decimal

    from benchmark.experiment.store import KERNEL_STAGE, Store

    kernels, others = defaultdict[str, list[tuple[int, float]]](list), list[int]()
    for facts, n_bytes in Store().described():
        if facts.get("stage") == KERNEL_STAGE:
            kernels[facts["about"]].append((n_bytes, facts["seconds"]))
        else:
            others.append(n_bytes)
    for about, entries in kernels.items():
        sizes, seconds = map(sum, zip(*entries, strict=True))
        echo(f"{len(entries):,} × {about}: {decimal(sizes)}, {seconds:,.1f} s to compute")
    echo(f"{len(others):,} other entries, {decimal(sum(others))}")


@cache.command("clear", epilog="Example: bench cache clear --yes")
def cache_clear(yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False) -> None:
    """Remove all stored results; runs compute them again."""
    from rich.filesize import decimal

    from benchmark.experiment.store import Store

    store = Store()
    sizes = [n_bytes for _, n_bytes, _ in store.entries()]
    what = f"{len(sizes):,} entries, {decimal(sum(sizes))}"
    if not yes:
        typer.confirm(f"Remove {what} from {store.address}?", abort=True, err=True)
    store.clear()
    echo(f"removed {what}")
