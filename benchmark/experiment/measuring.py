"""What a configuration measures beside its predictions: computed once for each variant, and kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmark.code import code_digest
from benchmark.config.model import BASE
from benchmark.experiment.store import Entry, key_of
from benchmark.measures.base import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store
    from benchmark.measures.base import Arrays, Measure
    from benchmark.observer import Observer
    from benchmark.text.counts import Counts


def once(store: Store, code: str, counts: str, content: Mapping[str, Any], compute: Callable[[], Arrays]) -> Arrays:
    """What the store has of this content, counts and code, or else what is computed now and kept."""
    key = key_of(stage="measures", code=code, counts=counts, **content)
    known = store.get(key)
    if known is not None:
        return known.arrays
    arrays = compute()
    store.put(key, Entry(arrays))
    return arrays


def measure(
    study: Experiment, read: Mapping[str, tuple[Counts, str]], store: Store, jobs: int, observer: Observer
) -> tuple[dict[tuple[str, str], Arrays], dict[str, str]]:
    """What every measure finds out about every variant, and why those that failed did, by measure and variant.

    Parameters
    ----------
    study : Experiment
    read : mapping of variant to (Counts, str)
        The counts, and the digest of all that they come from.
    store, jobs, observer
        As of a run.
    """
    found: dict[tuple[str, str], Arrays] = {}
    failures: dict[str, str] = {}
    for name, variant, built in _each(study):
        observer.plan(1)
        counts, key = read[variant]
        kept = partial(once, store, code_digest(*built.code), key)
        context = Context(counts, study.variants[variant], study.seed, jobs, kept)
        label = name if variant == BASE else f"{variant}-{name}"
        try:
            found[name, variant] = built.compute(context)
        except (ValueError, FloatingPointError, RuntimeError) as error:
            failures[label] = str(error)
            observer.note(f"{label} failed: {error}")
        observer.step(label)
    return found, failures


def _each(study: Experiment) -> Iterator[tuple[str, str, Measure]]:
    for component in study.measures:
        built: Measure = component.build()
        for variant in study.variants:
            if variant == BASE or not built.base_only:
                yield component.name, variant, built
