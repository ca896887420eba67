"""Store kernel results that took long to compute: Gram matrices, fitted models and hyperplanes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmark.experiment.code_digest import code_digest, is_stored
from benchmark.experiment.store import StoreEntry, store_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.experiment.store import Store

    Arrays = dict[str, NDArray[Any]]

#: The stage in the facts of an entry.
KERNEL_STAGE = "kernels"
#: Results that took fewer seconds are not stored: nobody waits for them.
MIN_KERNEL_SECONDS = 0.5
#: The least ratio of the seconds to compute a result to the seconds to read it, at so many bytes a second.
MIN_SPEEDUP, READ_SPEED = 2.0, 2e8
#: One run may fill the store's limit divided by this number.
KERNEL_CACHE_SHARE = 4


class KernelCache:
    """Cache of arrays that depend on a kernel and its training documents, but not on the classifier trained on them.

    They are stored if computing them took at least `MIN_SPEEDUP` times as long as reading them would.

    Parameters
    ----------
    store : Store
        A folder of this machine; at an address nothing is stored, since reading would take longer than computing.

    Attributes
    ----------
    n_found : int
        Number of results that came from the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._room = store.limit // KERNEL_CACHE_SHARE if store.local else 0
        self.n_found = 0

    def __call__(
        self, about: str, components: Sequence[type], content: Mapping[str, Any], make: Callable[[], Arrays]
    ) -> Arrays:
        """Return the arrays that the store has for this content and code, or else those that `make` computes.

        Those of a user's class that isn't stored are computed.

        Parameters
        ----------
        about : str
            Their name in `bench cache list`.
        components : sequence of type
            Classes whose code decides the arrays.
        content : mapping
            All else that decides them, as JSON values.
        make : callable
        """
        if not all(map(is_stored, components)):
            return make()
        key = store_key(stage=KERNEL_STAGE, code=code_digest(*components), **content)
        entry = self._store.get(key) if self._room else None
        if entry is not None:
            self.n_found += 1
            return entry.arrays
        started = time.perf_counter()
        arrays = make()
        seconds = time.perf_counter() - started
        n_bytes = sum(array.nbytes for array in arrays.values())
        if MIN_KERNEL_SECONDS <= seconds >= MIN_SPEEDUP * n_bytes / READ_SPEED and n_bytes <= self._room:
            entry = StoreEntry(arrays, {"stage": KERNEL_STAGE, "about": about, "seconds": round(seconds, 3)})
            if self._store.put(key, entry):
                self._room -= n_bytes
        return arrays
