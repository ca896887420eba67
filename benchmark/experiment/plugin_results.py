"""Store a plug-in's results only if the key covers all that decides them, and check that this is still so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.system.distributions import has_distribution
from benchmark.system.plugin_code import Plugin, plugin_of, plugin_parts
from benchmark.system.registries import is_builtin
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmark.experiment.store import Store, StoreEntry


#: The fact of an entry with the files that each plug-in read for it.
READS_FACT = "reads"
#: Classes of which it was reported that their results aren't stored.
_REPORTED: set[str] = set()


def get_result(store: Store, key: str, components: Sequence[Any]) -> StoreEntry | None:
    """Return an entry; None if there is none, or if code that it was computed by has changed or isn't installed.

    Parameters
    ----------
    store : Store
    key : str
        Key of the component's parameters and code, and of its input.
    components : sequence of class
        The components that computed the result.
    """
    if any(not_installed(each) for each in components):
        return None
    plugins, entry = _plugins(components), store.get(key)
    if not plugins or entry is None:
        return entry
    reads = entry.facts[READS_FACT]
    current = len(reads) == len(plugins) and all(map(Plugin.is_current, plugins, reads))
    return entry if current else None


def put_result(
    store: Store, key: str, entry: StoreEntry, components: Sequence[Any], note: Callable[[str], None]
) -> None:
    """Store a result with all files that plug-ins read for it, or note, once, why a component's can't be stored.

    Parameters
    ----------
    store, key, components
        As for `get_result`.
    entry : StoreEntry
    note : callable
    """
    for each in filter(not_installed, components):
        name = f"{each.__module__}.{each.__qualname__}"
        if name not in _REPORTED:
            _REPORTED.add(name)
            note(f"{name}: its results aren't stored, and are computed in each run: it is of no installed package")
        return
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


def not_installed(component: Any) -> bool:
    """Return whether a classifier or pipeline is neither of this package or a plug-in, nor of an installed package."""
    if is_builtin(component) or plugin_of(component) is not None:
        return False
    by_path = hasattr(component, "predict") or tags_of(component).reads_texts
    return by_path and not has_distribution(f"{component.__module__}.{component.__name__}")


def _plugins(components: Iterable[Any]) -> list[Plugin]:
    return [plugin for part in plugin_parts(components) if (plugin := plugin_of(part)) is not None]
