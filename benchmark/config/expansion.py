"""Lists in a method's entry to one entry a combination, each with the name of its cells."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.config.components import lists_by_nature
from benchmark.config.schema import MethodSection
from benchmark.system.registries import unknown_component_message

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from benchmark.config.registries import Registries
    from benchmark.system.yaml_source import Node

#: Keys whose values are components, and the kinds of these.
COMPONENT_KEYS = {
    "weighting": "weightings",
    "features": "features",
    "kernel": "kernels",
    "classifier": "classifiers",
    "threshold": "thresholds",
    "pipeline": "pipelines",
}
#: The keys in the order in which their lists are expanded, the last fastest.
_EXPANSION_ORDER = (*(key for key in MethodSection.model_fields if key != "name"), "predictions", "vectors", "pipeline")
#: The order in which the keys' words form a cell's name.
_WORD_ORDER = (
    "text",
    "fields",
    "weighting",
    "normalization",
    "idf",
    "dirichlet",
    "features",
    "kernel",
    "classifier",
    "threshold",
    "pipeline",
)
#: Settings of `text` that are lists by nature.
_TEXT_LISTS = frozenset(["ngrams", "fields", "characters"])


@dataclass(frozen=True)
class _Item:
    """One value of a key of an entry, and its words in a cell's name."""

    node: Node
    words: tuple[str, ...]


def expand_method(node: Node, known: Registries, over: AbstractSet[str] | None) -> list[tuple[str, dict[str, Node]]]:
    """Return name and settings of each combination of the values that a method lists.

    Parameters
    ----------
    node : Node
        A name, or a mapping that the schema allows.
    known : Registries
    over : set of str or None
        The keys beside kernel and classifier whose lists are candidates to choose from, as the lists inside a kernel or
        classifier are; None if nothing is chosen, so that all lists make cells.
    """
    if isinstance(node.value, str):
        key = "classifier" if node.value in known.classifiers else "kernel"
        if node.value not in getattr(known, COMPONENT_KEYS[key]):
            raise node.error(unknown_component_message("method", node.value, known.methods))
        return [(_short_name(node.value), {key: node})]
    name = node["name"]
    if name.value in known.methods and not {"kernel", "classifier"} & node.children.keys():
        # without this check, a method of the defaults alone would bear the component's name
        key = "classifier" if name.value in known.classifiers else "kernel"
        raise name.error(f"`name` only names this method's cells; write {{{key}: {name.value}}}")
    axes = [
        [(key, item) for item in _items(key, node[key], known, over)]
        for key in _EXPANSION_ORDER
        if node[key].value is not None
    ]
    found = []
    for combination in itertools.product(*axes):
        items = dict(combination)
        label = "-".join(word for key in _WORD_ORDER if key in items for word in items[key].words)
        found.append((label, {key: item.node for key, item in items.items()}))
    if "name" not in node:
        if not all(label for label, _ in found):
            raise node.error("give this method a `name`: it has no setting to name its cells by")
        return found
    if (n := len({label for label, _ in found})) > 1:
        raise name.error(f"`name` names one method, but this entry stands for {n}")
    # "a large model" of a file of predictions names the cells a-large-model
    label = re.sub(r"[^a-z0-9.]+", "-", name.value.lower()).strip("-") if "predictions" in node else name.value
    return [(label, settings) for _, settings in found]


def _items(key: str, node: Node, known: Registries, over: AbstractSet[str] | None) -> list[_Item]:
    """Return the items of a key's list, or of its one value."""
    found: list[_Item] = []
    chosen = over is not None and key in over
    for each in node.each():
        if key == "text":
            items = _combined(each, _TEXT_LISTS, _text_word, chosen=chosen)
        elif key in COMPONENT_KEYS:
            items = _parametrized(key, each, known, chosen=over is not None)
        else:
            word = {"idf": f"idf-{each.value}", "dirichlet": f"dirichlet{each.value}"}.get(key, each.value)
            words = {"fields": _fields_words(each.value), "vectors": (), "predictions": ()}
            items = [_Item(each, words.get(key, (word,)))]
        if key == "threshold":
            items = [replace(item, words=(key, *item.words)) for item in items]
        found += [replace(item, words=()) for item in items] if chosen and len(node.each()) > 1 else items
    return found


def _fields_words(fields: Any) -> tuple[str, ...]:
    """Return the words for weights of fields in a cell's name: "all", "subjectx0.25"."""
    pairs = fields.items() if isinstance(fields, dict) else ()
    return tuple(name if weight == 1 else f"{name}x{weight}" for name, weight in pairs)


def _parametrized(key: str, node: Node, known: Registries, *, chosen: bool) -> list[_Item]:
    """Return every combination of a component's parameter lists, except parameters that are lists by nature."""
    registry = getattr(known, COMPONENT_KEYS[key])
    named = node["name"] if isinstance(node.value, dict) else node
    name = named.value
    if named is not node and "name" not in node:
        whole = {parameter for cls in registry.values() for parameter in lists_by_nature(cls)}
    elif not isinstance(name, str) or name not in registry:
        raise named.error(unknown_component_message(key, name, registry))
    else:
        whole = lists_by_nature(registry[name])
    return _combined(node, whole, _word, chosen=chosen) if named is not node else [_Item(node, (_short_name(name),))]


def _combined(node: Node, whole: AbstractSet[str], word: Callable[[str, Any], str], *, chosen: bool) -> list[_Item]:
    """Return every combination of a mapping's lists but the `whole` ones; candidates add no word to a cell's name."""
    axes: dict[str | int, list[Node]] = {}
    for key, each in node.children.items():
        nested = bool(each.value) and isinstance(each.value, list) and all(isinstance(v, list) for v in each.value)
        axes[key] = [each] if key in whole and not nested else each.each()
        if not axes[key]:
            raise each.error(f"{key} must not be an empty list: it would leave no cell")
    spoken = [key for key in sorted(axes, key=lambda key: key != "name") if not (chosen and len(axes[key]) > 1)]

    def word_of(key: Any, value: Any) -> str:
        """Return the word of a value; a list is left out unless it is one of several."""
        several = isinstance(value, list) and len(axes[key]) > 1
        return word(key, value) or (f"{key}{'-'.join(map(str, value))}".lower() if several else "")

    combinations = (dict(zip(axes, nodes, strict=True)) for nodes in itertools.product(*axes.values()))
    return [
        _Item(node.with_children(each), tuple(filter(None, (word_of(key, each[key].value) for key in spoken))))
        for each in combinations
    ]


def _short_name(name: str) -> str:
    """Return a component's name, the class of an import path, or the function of a file."""
    return re.split(r"[.:]", name)[-1]


def _word(key: str, value: Any) -> str:
    """Return a parameter's word in a cell's name, ``ngd``, ``c0.1``, ``one-vs-rest``; "" for a list or mapping."""
    if isinstance(value, list | dict):
        return ""
    if key == "name":
        return _short_name(value)
    return value if isinstance(value, str) else f"{key.rpartition('__')[2].lower()}{value}"


def _text_word(key: str, value: Any) -> str:
    """Return a text setting's word in a cell's name: ``stoplist-none``, ``ngrams1-2``; null is ``-default``."""
    if isinstance(value, list):
        return f"{key}{'-' * (key == 'fields')}{'-'.join(map(str, value))}".lower()
    if isinstance(value, str):
        return f"{key}-{value}"
    return f"{key}-default" if value is None else f"{key}{'-' * isinstance(value, bool)}{value}".lower()
