"""``bench cache``: what runs have kept."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.cli import questions
from benchmark.cli.world import say
from benchmark.errors import ConfigError

cache = typer.Typer(no_args_is_help=True, help="What runs have kept, to be computed only once.")


@cache.command("info", epilog="Example: bench cache info")
def cache_info() -> None:
    """Say where results are kept, how many, and how large they are."""
    from benchmark.cli.terminal import size
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.entries()
    total = sum(n_bytes for _, n_bytes, _ in entries)
    say(f"{store.folder}\n{len(entries):,} entries, {size(total)} of at most {size(store.limit)}")


@cache.command("list", epilog="Example: bench cache list")
def cache_list() -> None:
    """List the matrices and models of kernels, with what computing them took; and count all else."""
    from collections import Counter

    from benchmark.cli.terminal import size
    from benchmark.experiment.kernel_cache import STAGE
    from benchmark.experiment.store import Store

    described = Store().described()
    own = [(facts, n_bytes) for facts, n_bytes, _ in described if facts.get("stage") == STAGE]
    alike = Counter[str]()
    seconds, sizes = Counter[str](), Counter[str]()
    for facts, n_bytes in own:
        alike[facts["about"]] += 1
        seconds[facts["about"]] += facts["seconds"]
        sizes[facts["about"]] += n_bytes
    for about, n in alike.items():
        say(f"{n:,} × {about}: {size(sizes[about])}, {seconds[about]:,.1f} s to compute")
    rest = [n_bytes for facts, n_bytes, _ in described if facts.get("stage") != STAGE]
    say(f"{len(own):,} of kernels, {size(sum(n for _, n in own))}; {len(rest):,} other entries, {size(sum(rest))}")


@cache.command("clear", epilog="Example: bench cache clear --yes")
def cache_clear(
    unused: Annotated[bool, typer.Option("--unused", help="Only what this version hasn't used.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Remove everything that was kept, or what this version hasn't used; runs compute it again."""
    from benchmark.cli.terminal import size
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.unused() if unused else store.entries()
    held = f"{len(entries):,} entries, {size(sum(n_bytes for _, n_bytes, _ in entries))}"
    if not yes:
        if not questions.asks():
            raise ConfigError(f"{store.folder}: {held} would be removed; say --yes, since there is no one to ask")
        typer.confirm(f"Remove {held} from {store.folder}?", abort=True, err=True)
    n, n_bytes = store.clear(entries)
    say(f"removed {n:,} entries, {size(n_bytes)}")
