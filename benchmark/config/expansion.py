"""Lists in a method's entry to one entry a combination, each with the name of its cells."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from benchmark.config.components import lists_by_nature
from benchmark.config.schema import MethodSection
from benchmark.system.registries import unknown_component_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
    *("text", "fields", "weighting", "normalization", "idf", "dirichlet", "features"),
    *("kernel", "classifier", "threshold", "pipeline"),
)
#: Settings of `text` that are lists by nature.
_TEXT_LISTS = frozenset(["ngrams", "fields", "characters"])

#: One value of a key of an entry, and its words in a cell's name.
_Item = tuple["Node", tuple[str, ...]]


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
    for items in map(dict, itertools.product(*axes)):
        label = "-".join(word for key in _WORD_ORDER if key in items for word in items[key][1])
        found.append((label, {key: setting for key, (setting, _) in items.items()}))
    if "name" not in node:
        if not all(label for label, _ in found):
            raise node.error("give this method a `name`: it has no setting to name its cells by")
        return found
    if (n := len({label for label, _ in found})) > 1:
        raise name.error(f"`name` names one method, but this entry stands for {n}")
    # "a large model" of a file of predictions names the cells a-large-model
    label = re.sub(r"[^a-z0-9.]+", "-", name.value.lower()).strip("-") if "predictions" in node else name.value
    return [(label, settings) for _, settings in found]


def _items(key: str, node: Node, known: Registries, over: AbstractSet[str] | None) -> Iterator[_Item]:
    """Yield the items of a key's list, or of its one value; candidates of the key itself have no words."""
    chosen, several = over is not None and key in over, len(node.each()) > 1
    for each in node.each():
        if key == "text":
            items = _combined(each, _TEXT_LISTS, _text_word, chosen=chosen)
        elif key in COMPONENT_KEYS:
            items = _combined(each, _whole_lists(key, each, known), _word, chosen=over is not None)
        else:
            items = [(each, _plain_words(key, each.value))]
        for item, words in items:
            yield item, () if chosen and several else (key, *words) if key == "threshold" else words


def _plain_words(key: str, value: Any) -> tuple[str, ...]:
    """Return the words of a value that is no component: "tf", "idf-training"; weights of fields "all", "titlex0.25"."""
    if key in ("vectors", "predictions"):
        return ()
    if key == "fields":
        return tuple(name if weight == 1 else f"{name}x{weight}" for name, weight in value.items())
    return ({"idf": f"idf-{value}", "dirichlet": f"dirichlet{value}"}.get(key, value),)


def _whole_lists(key: str, node: Node, known: Registries) -> set[str]:
    """Return the parameters of a component that are lists by nature; of any component where the entry names none."""
    registry = getattr(known, COMPONENT_KEYS[key])
    if isinstance(node.value, dict) and "name" not in node:
        return {parameter for cls in registry.values() for parameter in lists_by_nature(cls)}
    named = node["name"] if isinstance(node.value, dict) else node
    if not isinstance(named.value, str) or named.value not in registry:
        raise named.error(unknown_component_message(key, named.value, registry))
    return lists_by_nature(registry[named.value])


def _combined(node: Node, whole: AbstractSet[str], word: Callable[[str, Any], str], *, chosen: bool) -> list[_Item]:
    """Return every combination of a mapping's lists but the `whole` ones; candidates add no word to a cell's name."""
    if isinstance(node.value, str):
        return [(node, (_short_name(node.value),))]
    axes: dict[str, list[Node]] = {}
    for key, each in node.children.items():
        nested = bool(each.value) and isinstance(each.value, list) and all(isinstance(v, list) for v in each.value)
        axes[key] = [each] if key in whole and not nested else each.each()
        if not axes[key]:
            raise each.error(f"{key} must not be an empty list: it would leave no cell")
    spoken = [key for key in sorted(axes, key=lambda key: key != "name") if not (chosen and len(axes[key]) > 1)]

    def word_of(key: str, value: Any) -> str:
        """Return the word of a value; a list is left out unless it is one of several."""
        several = isinstance(value, list) and len(axes[key]) > 1
        return word(key, value) or (f"{key}{'-'.join(map(str, value))}".lower() if several else "")

    return [
        (node.with_children(each), tuple(filter(None, (word_of(key, each[key].value) for key in spoken))))
        for each in (dict(zip(axes, nodes, strict=True)) for nodes in itertools.product(*axes.values()))
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
