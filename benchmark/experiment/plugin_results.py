"""Store a plug-in's results only if the key covers all that decides them, and check that this is still so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.system.plugin_code import Plugin, plugin_of, plugin_parts
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmark.experiment.store import Store, StoreEntry


#: The fact of an entry with the files that each plug-in read for it.
READS_FACT = "reads"


def get_result(store: Store, key: str, components: Sequence[Any]) -> StoreEntry | None:
    """Return an entry; None if there is none, or if a file that it was computed from has changed.

    Parameters
    ----------
    store : Store
    key : str
        Key of the component's parameters and code, and of its input.
    components : sequence of class
        The components that computed the result.
    """
    plugins, entry = _plugins(components), store.get(key)
    if not plugins or entry is None:
        return entry
    reads = entry.facts[READS_FACT]
    current = len(reads) == len(plugins) and all(map(Plugin.is_current, plugins, reads))
    return entry if current else None


def put_result(
    store: Store, key: str, entry: StoreEntry, components: Sequence[Any], note: Callable[[str], None]
) -> None:
    """Store a result with all files that plug-ins read for it, or note, once per plug-in, why it can't be stored.

    Parameters
    ----------
    store, key, components
        As for `get_result`.
    entry : StoreEntry
    note : callable
    """
    plugins = _plugins(components)
    for plugin in plugins:
        unstored = any(plugin_of(each) is plugin and not tags_of(each).stored for each in components)
        reason = "says `stored = False`" if unstored else plugin.why_not()
        if reason:
            if reason not in plugin.reported:
                plugin.reported.add(reason)
                note(f"{plugin.name}: its results aren't stored, and are computed in each run: it {reason}")
            return
    facts = entry.facts | ({READS_FACT: [plugin.worked.listed for plugin in plugins]} if plugins else {})
    store.put(key, replace(entry, facts=facts))


def _plugins(components: Iterable[Any]) -> list[Plugin]:
    return [plugin for part in plugin_parts(components) if (plugin := plugin_of(part)) is not None]
