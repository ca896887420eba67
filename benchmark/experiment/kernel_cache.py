"""Keeps in the store what kernels took long to compute: Gram matrices, fitted models and hyperplanes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmark.experiment.code_digest import code_digest
from benchmark.experiment.plugin_results import keep, known
from benchmark.experiment.store import Entry, key_of
from benchmark.foreign import plugin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.experiment.store import Store

    Arrays = dict[str, NDArray[Any]]

#: What an entry's facts call it.
STAGE = "kernels"
#: What takes fewer seconds is computed again: nobody waits for it.
LEAST_SECONDS = 0.5
#: How many times as long as reading back it must have taken to compute.
WORTH = 2.0
#: The share of the store's limit that one run may fill.
SHARE = 4


class KernelCache:
    """Arrays that depend on a kernel and its training documents, and not on the machine that is trained on them.

    They stay in the store if computing them took at least `WORTH` times as long as reading them back: both are
    measured, the reading once they are written.

    Parameters
    ----------
    store : Store
        A folder of this machine; behind an address nothing is kept, since reading would take longer than computing.
    note : callable
        Is told why a plug-in's arrays aren't kept.

    Attributes
    ----------
    n_found : int
        How many were found in the store.
    """

    def __init__(self, store: Store, note: Callable[[str], None]) -> None:
        self._store, self._note = store, note
        self._room = store.limit // SHARE if store.local else 0
        self._seconds_per_byte = 0.0
        self.n_found = 0

    def __call__(
        self, about: str, components: Sequence[type], content: Mapping[str, Any], make: Callable[[], Arrays]
    ) -> Arrays:
        """Return the arrays that the store has for this content and code, or else those that `make` computes.

        Parameters
        ----------
        about : str
            What `bench cache list` calls them.
        components : sequence of type
            Classes whose code decides the arrays.
        content : mapping
            All else that decides them, as JSON has it.
        make : callable
        """
        part = next((each for each in components if plugin_of(each) is not None), None)
        key = key_of(stage=STAGE, code=code_digest(*components), **content)
        entry = known(self._store, key, part) if self._room else None
        if entry is not None:
            self.n_found += 1
            return entry.arrays
        started = time.perf_counter()
        arrays = make()
        seconds = time.perf_counter() - started
        n_bytes = sum(array.nbytes for array in arrays.values())
        if LEAST_SECONDS <= seconds >= WORTH * self._seconds_per_byte * n_bytes and n_bytes <= self._room:
            entry = Entry(arrays, {"stage": STAGE, "about": about, "seconds": round(seconds, 3)})
            keep(self._store, key, entry, part, self._note)
            self._weigh(key, seconds, n_bytes)
        return arrays

    def _weigh(self, key: str, seconds: float, n_bytes: int) -> None:
        """Remove an entry again that took too long to read back."""
        started = time.perf_counter()
        if self._store.get(key) is None:
            return
        took = time.perf_counter() - started
        self._seconds_per_byte = took / max(1, n_bytes)
        if seconds < WORTH * took:
            self._store.remove(key)
        else:
            self._room -= n_bytes
