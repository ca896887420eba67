"""Items of `methods`, and `defaults`: their keys, and one method for each combination of the values that they list."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from benchmark.config.components import lists_by_nature
from benchmark.config.schema import (
    AnyComponent,
    ConfigSection,
    Distinct,
    OneOrMore,
    OrOne,
    TitleName,
    id_of_title,
    one_of,
)
from benchmark.representation.weighting import IDF_SOURCES
from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from benchmark.config.components import Registries
    from benchmark.system.yaml_source import Node


def _lists(value: Any) -> Any:
    """Return a list of lists unchanged, and one list as a list of it."""
    return value if isinstance(value, list) and any(isinstance(each, list) for each in value) else [value]


#: Keys of `text` that a method changes, each with a value or a list of values.
MethodText = Annotated[dict[str, Any], Field(min_length=1), WithJsonSchema({"component": "method-texts"})]
#: Weights of blocks of terms, by name.
Weights = Annotated[dict[str, Annotated[float, Field(ge=1e-9, le=1e9)]], Field(min_length=1)]
Prior = Annotated[float, Field(ge=0, le=1e15)]
Normalization = Annotated[str, one_of(NORMALIZATIONS)]
IdfSource = Annotated[str, one_of(IDF_SOURCES)]
#: Components; `schema.reference` lists those of each kind.
AnyWeighting = Annotated[AnyComponent, WithJsonSchema({"component": "weightings"})]
AnyFeatures = Annotated[AnyComponent, WithJsonSchema({"component": "features"})]
AnyKernel = Annotated[AnyComponent, WithJsonSchema({"component": "kernels"})]
AnyClassifier = Annotated[AnyComponent, WithJsonSchema({"component": "classifiers"})]
AnyThreshold = Annotated[AnyComponent, WithJsonSchema({"component": "thresholds"})]
AnyPipeline = Annotated[AnyComponent, WithJsonSchema({"component": "pipelines"})]


class VectorsFileSection(ConfigSection):
    """`vectors:` a file with a vector for each document.

    Parameters
    ----------
    file : str
        Parquet with a row for each document, or .npy.
    ids : str or None
        A file with the id of each row of a .npy file, one a line.
    id : str
        Parquet's column of ids.
    column : str
        Parquet's column of lists of numbers; by default each number has one.
    """

    file: str
    ids: str | None = None
    id: str = "id"
    column: str = ""


#: The keys that decide what a method is, and the other keys that it can have then.
_FORMS = {
    "predictions": ("name",),
    "vectors": ("classifier", "normalization", "threshold", "name"),
    "pipeline": ("text", "threshold", "name"),
    "fuse": ("weights", "scale", "name"),
}


class MethodSection(ConfigSection):
    """An item of `methods`: a kernel or classifier of counts, and their representation; or one of the last keys.

    Parameters
    ----------
    text : dict or list of dict or None
        Settings of `text` that this method changes.
    fields : dict or list of dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or list of Weighting or None
        How counts become weights.
    idf : str or list of str or None
        The documents that a weighting learns from.
    dirichlet : float or list of float or None
        α of a Dirichlet prior on documents, for kernels.
    kernel : Kernel or list of Kernel or None
        The kernel of a support vector machine.
    normalization : str or list of str or None
        How a document's weights are scaled; `vectors` are not, by default.
    features : FeatureMap or list of FeatureMap or None
        The feature map of a classifier of points.
    classifier : Classifier or list of Classifier or None
        The classifier.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    predictions : str or None
        A file with a prediction for each document, made elsewhere: nothing is trained. Beside it stands the name.
    vectors : str or VectorsFileSection or None
        A file with a vector for each document, made elsewhere, which the classifier takes.
    pipeline : Pipeline or list of Pipeline or None
        What reads the texts themselves: a function or class of a file, mymodels.py:make, or an import path; with any
        parameters.
    fuse : list of str or list of list of str or None
        Methods of this configuration, of which the standardized decision values are added; with `choose`, a list of
        such lists is chosen from.
    weights : list of float or None
        One for each method of `fuse`; by default all 1.
    scale : str
        On which training documents the standard deviations of `fuse` are measured.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: OneOrMore[MethodText] | None = None
    fields: OneOrMore[Weights] | None = None
    weighting: OneOrMore[AnyWeighting] | None = None
    idf: OneOrMore[IdfSource] | None = None
    dirichlet: OneOrMore[Prior] | None = None
    kernel: OneOrMore[AnyKernel] | None = None
    normalization: OneOrMore[Normalization] | None = None
    features: OneOrMore[AnyFeatures] | None = None
    classifier: OneOrMore[AnyClassifier] | None = None
    threshold: OneOrMore[AnyThreshold] | None = None
    name: TitleName | None = None
    predictions: Annotated[str, Field(min_length=1)] | None = None
    vectors: str | VectorsFileSection | None = None
    pipeline: OneOrMore[AnyPipeline] | None = None
    fuse: Annotated[list[Annotated[Distinct[str], Field(min_length=2)]], BeforeValidator(_lists), OrOne()] | None = None
    weights: list[Annotated[float, Field(gt=0, le=1e12)]] | None = None
    scale: Literal["out-of-fold", "hold-out"] = "out-of-fold"

    @model_validator(mode="after")
    def _fits_together(self) -> MethodSection:
        form = next((key for key in _FORMS if key in self.model_fields_set), "")
        allowed = _FORMS.get(form, [key for key in MethodSection.model_fields if key not in ("weights", "scale")])
        if wrong := sorted(self.model_fields_set - {form, *allowed}):
            problem = f"{', '.join(wrong)} can't stand beside {form or 'a kernel or classifier'}"
            raise ValueError(f"{problem} (allowed: {', '.join(allowed)})")
        if form in ("predictions", "fuse") and self.name is None:
            raise ValueError("give this method a `name`")
        return self


#: An item of `methods`: the name of a kernel or classifier, or a section.
AnyMethod = Annotated[str, WithJsonSchema({"component": "method-names"})] | MethodSection


class DefaultsSection(ConfigSection):
    """`defaults:` further keys are parameters of methods, or kernels and classifiers by name with their own.

    Parameters
    ----------
    fields : dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or None
        How counts become weights.
    normalization : str or None
        How a document's weights are scaled.
    idf : str or None
        The documents that a weighting learns from.
    dirichlet : float or None
        α of a Dirichlet prior on documents, for kernels.
    features : FeatureMap or None
        The feature map of a classifier of points.
    threshold : ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    kernel : Kernel or None
        The kernel of methods that name none.
    classifier : Classifier or None
        The classifier of methods that name none.
    """

    model_config = ConfigDict(extra="allow")

    fields: Weights | None = None
    weighting: AnyWeighting | None = None
    normalization: Normalization | None = None
    idf: IdfSource | None = None
    dirichlet: Prior | None = None
    features: AnyFeatures | None = None
    threshold: AnyThreshold | None = None
    kernel: AnyKernel | None = None
    classifier: AnyClassifier | None = None


#: Keys whose values are components.
COMPONENT_KEYS = ("weighting", "features", "kernel", "classifier", "threshold", "pipeline")
#: The keys in the order in which their lists are expanded, the last fastest.
_EXPANSION_ORDER = [key for key in MethodSection.model_fields if key != "name"]
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
        known.methods.component("method", node)
        return [(_short_name(node.value), {"kernel" if node.value in known.kernels else "classifier": node})]
    name = node["name"]
    if name.value in known.methods and not {"kernel", "classifier"} & node.children.keys():
        # without this check, a method of the defaults alone would bear the component's name
        key = "classifier" if name.value in known.classifiers else "kernel"
        raise name.error(f"`name` only names this method's cells; write {{{key}: {name.value}}}")
    keys = [key for key in _EXPANSION_ORDER if node[key].value is not None]
    found = []
    for values in itertools.product(*(_items(key, node[key], known, over) for key in keys)):
        items = dict(zip(keys, values, strict=True))
        label = "-".join(word for key in _WORD_ORDER if key in items for word in items[key][1])
        found.append((label, {key: setting for key, (setting, _) in items.items()}))
    if "name" not in node:
        if not all(label for label, _ in found):
            raise node.error("give this method a `name`: it has no setting to name its cells by")
        return found
    if (n := len({label for label, _ in found})) > 1:
        raise name.error(f"`name` names one method, but this entry stands for {n}")
    return [(id_of_title(name.value), settings) for _, settings in found]


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
    registry = getattr(known, key if key == "features" else f"{key}s")
    if isinstance(node.value, dict) and "name" not in node:
        return {parameter for cls in registry.values() for parameter in lists_by_nature(cls)}
    named = node["name"] if isinstance(node.value, dict) else node
    return lists_by_nature(registry.component(key, named))


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
