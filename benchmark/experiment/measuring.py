"""What a configuration measures beside its predictions: computed once for each variant, and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.code import code_digest
from benchmark.config.model import BASE
from benchmark.experiment.store import Entry, key_of
from benchmark.measures.base import Context

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.config.model import Experiment
    from benchmark.experiment.store import Store
    from benchmark.measures.base import Arrays, Measure
    from benchmark.observer import Observer
    from benchmark.text.counts import Counts


class _Kept:
    """The store, as one measure sees it."""

    def __init__(self, store: Store, measure: Measure) -> None:
        self._store, self._code = store, code_digest(*measure.code)

    def get(self, content: Mapping[str, Any]) -> Arrays | None:
        """The arrays, or None where they have to be computed."""
        entry = self._store.get(self._key(content))
        return None if entry is None else entry.arrays

    def put(self, content: Mapping[str, Any], arrays: Arrays) -> None:
        """Keep them."""
        self._store.put(self._key(content), Entry(arrays))

    def _key(self, content: Mapping[str, Any]) -> str:
        return key_of(stage="measures", code=self._code, **content)


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
        context = Context(counts, key, study.variants[variant], study.seed, jobs, _Kept(store, built))
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
