"""``bench cache``: the store of results."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.cli import prompts
from benchmark.cli.errors import echo
from benchmark.cli.options import CommandGroup
from benchmark.system.errors import ConfigError

cache = typer.Typer(
    cls=CommandGroup, no_args_is_help=True, help="Results that runs have stored, to compute them only once."
)


@cache.command("info", epilog="Example: bench cache info")
def cache_info() -> None:
    """Show where results are stored, how many there are, and how large they are."""
    from benchmark.cli.terminal import format_bytes
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.entries()
    total = sum(n_bytes for _, n_bytes, _ in entries)
    echo(f"{store.folder}\n{len(entries):,} entries, {format_bytes(total)} of at most {format_bytes(store.limit)}")


@cache.command("list", epilog="Example: bench cache list")
def cache_list() -> None:
    """List the matrices and models of kernels with their computing times, and count all other entries."""
    from collections import Counter

    from benchmark.cli.terminal import format_bytes
    from benchmark.experiment.store import KERNEL_STAGE, Store

    described = Store().described()
    kernel_entries = [(facts, n_bytes) for facts, n_bytes, _ in described if facts.get("stage") == KERNEL_STAGE]
    number = Counter[str]()
    seconds, sizes = Counter[str](), Counter[str]()
    for facts, n_bytes in kernel_entries:
        number[facts["about"]] += 1
        seconds[facts["about"]] += facts["seconds"]
        sizes[facts["about"]] += n_bytes
    for about, n in number.items():
        echo(f"{n:,} × {about}: {format_bytes(sizes[about])}, {seconds[about]:,.1f} s to compute")
    rest = [n_bytes for facts, n_bytes, _ in described if facts.get("stage") != KERNEL_STAGE]
    n_kernels, n_bytes = len(kernel_entries), sum(n for _, n in kernel_entries)
    echo(
        f"{n_kernels:,} entries of kernels, {format_bytes(n_bytes)}; "
        f"{len(rest):,} other entries, {format_bytes(sum(rest))}"
    )


@cache.command("clear", epilog="Example: bench cache clear --yes")
def cache_clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
) -> None:
    """Remove all stored results; runs compute them again."""
    from benchmark.cli.terminal import format_bytes
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.entries()
    summary = f"{len(entries):,} entries, {format_bytes(sum(n_bytes for _, n_bytes, _ in entries))}"
    if not yes:
        _confirm(f"Remove {summary} from {store.folder}?", f"{store.folder}: {summary} would be removed")
    n, n_bytes = store.clear()
    echo(f"removed {n:,} entries, {format_bytes(n_bytes)}")


def _confirm(question: str, consequence: str) -> None:
    """Ask a question at a terminal, and stop unless the answer is yes; ConfigError without a terminal."""
    if not prompts.is_interactive():
        raise ConfigError(f"{consequence}; not a terminal: add --yes to confirm")
    typer.confirm(question, abort=True, err=True)
