"""Store a plug-in's results only if the key covers all that decides them, and check that this is still so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.system.plugin_code import plugin_of
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.experiment.store import Store, StoreEntry


def get_result(store: Store, key: str, component: Any) -> StoreEntry | None:
    """Return an entry; None if there is none, or if a file that it was computed from has changed.

    Parameters
    ----------
    store : Store
    key : str
        Key of the component's parameters and code, and of its input.
    component : class or None
        The component that computed the result.
    """
    plugin, entry = plugin_of(component), store.get(key)
    if plugin is None or entry is None:
        return entry
    return entry if plugin.is_current(entry.facts["reads"]) else None


def put_result(store: Store, key: str, entry: StoreEntry, component: Any, note: Callable[[str], None]) -> None:
    """Store a result with all files that a plug-in read for it, or note, once per plug-in, why it can't be stored.

    Parameters
    ----------
    store, key, component
        As for `get_result`.
    entry : Entry
    note : callable
    """
    plugin = plugin_of(component)
    if plugin is None:
        store.put(key, entry)
        return
    reason = plugin.why_not() if tags_of(component).stored else "says `stored = False`"
    if not reason:
        store.put(key, replace(entry, facts=entry.facts | {"reads": plugin.worked.listed}))
    elif reason not in plugin.reported:
        plugin.reported.add(reason)
        note(f"{plugin.name}: its results aren't stored, and are computed in each run: it {reason}")
