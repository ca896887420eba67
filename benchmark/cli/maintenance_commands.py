"""Commands on what the package has and stores: list, schema, published and cache."""

from __future__ import annotations

import json
from textwrap import fill
from typing import Annotated

import typer

from benchmark.cli.errors import echo
from benchmark.cli.options import Configs
from benchmark.cli.output import show_answer
from benchmark.cli.program import MAINTAIN, app, command_group, is_terminal
from benchmark.system.errors import ConfigError

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
def list_(
    what: Annotated[
        str,
        typer.Argument(metavar="KIND", help="Such as kernels, classifiers, metrics, papers.", show_default="all"),
    ] = "",
) -> None:
    """List the names that a configuration can use, or those of one kind with parameters and descriptions."""
    from benchmark.schema.registries import list_components

    if what:
        show_answer(*list_components(what))
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
    if markdown:
        from benchmark.schema.reference_page import reference_page

        echo(reference_page().rstrip())
        return
    from benchmark.schema.json_schema import json_schema

    echo(json.dumps(json_schema(), indent=1, ensure_ascii=False))


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
    echo(f"{store.address}\n{_entries(sizes)} of at most {decimal(store.limit)}")


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
    sizes_of_kernels = [n_bytes for entries in kernels.values() for n_bytes, _ in entries]
    echo(f"{_entries(sizes_of_kernels, 'entries of kernels')}; {_entries(others, 'other entries')}")


@cache.command("clear", epilog="Example: bench cache clear --yes")
def cache_clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
) -> None:
    """Remove all stored results; runs compute them again."""
    from benchmark.experiment.store import Store

    store = Store()
    what = _entries([n_bytes for _, n_bytes, _ in store.entries()])
    if not yes and not is_terminal():
        raise ConfigError(f"{store.address}: {what} would be removed; not a terminal: add --yes to confirm")
    if not yes:
        typer.confirm(f"Remove {what} from {store.address}?", abort=True, err=True)
    store.clear()
    echo(f"removed {what}")


def _entries(sizes: list[int], what: str = "entries") -> str:
    """Return the number and the bytes of entries in words."""
    from rich.filesize import decimal

    return f"{len(sizes):,} {what}, {decimal(sum(sizes))}"
