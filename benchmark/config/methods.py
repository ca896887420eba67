"""`methods` and `defaults` to entries: the label of each method, and every parameter of each of its candidates."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.classifiers import PARAMETER_LIMITS
from benchmark.config.collection import text_from_config, text_section
from benchmark.config.components import (
    Component,
    ComponentError,
    check_component,
    component_parameters,
    lists_by_nature,
)
from benchmark.config.limits import check_cell_name
from benchmark.config.method_rules import check_method
from benchmark.config.model import MethodEntry, MethodSpec, Representation
from benchmark.config.other_methods import (
    NAME_KEY,
    add_fusions,
    given_predictions,
    is_fusion,
    uncounted_points,
    vector_file,
)
from benchmark.config.schema import as_list
from benchmark.kernels import is_elementwise_kernel
from benchmark.representation import IDF_SOURCES, NORMALIZATIONS
from benchmark.representation.weightings import FROM_LABELS
from benchmark.system.errors import ConfigError, quote_value, unknown_name
from benchmark.system.registries import is_builtin, unknown_component_message
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchmark.config.registries import Registries
    from benchmark.corpora.reader import CorpusReader
    from benchmark.system.yaml_source import Location, YamlSource

TEXT_KEY, WEIGHTING_KEY, FEATURES_KEY, KERNEL_KEY, CLASSIFIER_KEY = (
    "text",
    "weighting",
    "features",
    "kernel",
    "classifier",
)
THRESHOLD_KEY = "threshold"
#: The key of a file with the predictions of a method that was run elsewhere.
PREDICTIONS_KEY = "predictions"
#: The key of a file with vectors of the documents that were made elsewhere.
VECTORS_KEY = "vectors"
#: The key of an estimator that reads the texts themselves.
PIPELINE_KEY = "pipeline"
#: Keys whose values are components, a name or a mapping with a name and parameters; and the kinds of these.
COMPONENT_KEYS = {
    WEIGHTING_KEY: "weightings",
    FEATURES_KEY: "features",
    KERNEL_KEY: "kernels",
    CLASSIFIER_KEY: "classifiers",
    THRESHOLD_KEY: "thresholds",
}
#: The rule of a method that names none.
DEFAULT_THRESHOLD = "zero"
#: The keys of a method's entry in the order in which their lists are expanded, the last fastest.
EXPANSION_ORDER = (
    TEXT_KEY,
    "fields",
    WEIGHTING_KEY,
    "idf",
    "dirichlet",
    KERNEL_KEY,
    "normalization",
    FEATURES_KEY,
    CLASSIFIER_KEY,
    THRESHOLD_KEY,
    PREDICTIONS_KEY,
    VECTORS_KEY,
    PIPELINE_KEY,
)
#: The order in which the keys' words form a cell's name.
LABEL_ORDER = (
    "fields",
    WEIGHTING_KEY,
    "normalization",
    "idf",
    "dirichlet",
    FEATURES_KEY,
    KERNEL_KEY,
    CLASSIFIER_KEY,
    THRESHOLD_KEY,
)
REPRESENTATION_KEYS = ("fields", WEIGHTING_KEY, "normalization", "idf", "dirichlet", FEATURES_KEY)
ALLOWED_VALUES = {"normalization": NORMALIZATIONS, "idf": IDF_SOURCES}
#: The classifier of a method that names only a kernel.
DEFAULT_KERNEL_CLASSIFIER = "svm"


@dataclass(frozen=True)
class _Item:
    """One item of a key of an entry: its value, its words in a cell's name, and its location."""

    value: Any
    words: tuple[str, ...]
    place: Location


def list_methods(
    methods: list[Any],
    defaults: dict[str, Any],
    source: YamlSource,
    known: Registries,
    reader: CorpusReader,
    *,
    choose: AbstractSet[str] | None,
) -> tuple[MethodEntry, ...]:
    """Return the methods of a configuration, in order.

    Parameters
    ----------
    methods : list
        Names, or mappings.
    defaults : dict
        Values for methods that have such a parameter and don't set it.
    source : YamlSource
    known : Registries
    reader : CorpusReader
        Reader of the documents that methods classify.
    choose : set of str or None
        The keys beside kernel and classifier whose lists are candidates to choose from, as the lists inside a kernel or
        classifier are; None if nothing is chosen, so that all lists make cells.
    """
    _check_defaults(defaults, source, known)
    resolver, said = _Resolver(defaults, source, known), text_section(source)
    same = text_from_config(said, reader)
    candidates: dict[str, list[MethodSpec]] = {}
    first: dict[str, int] = {}
    seen: dict[str, list[str]] = {}
    places = _places(methods, source)
    for index in (number for number, given in enumerate(methods) if not is_fusion(given)):
        given, place = methods[index], places[index]
        for label, own in _expanded(given, source, place, known, choose=choose):
            spec = resolver.spec(own, place)
            if TEXT_KEY in own:
                spec = replace(spec, text=text_from_config(said.overlaid(own[TEXT_KEY][0]), reader))
            _check_blocks(spec, (spec.text or same).lexing.blocks, source, own.get("fields", ({}, place))[1])
            parts = [None if part is None else part.resolved for part in (spec.kernel, spec.classifier)]
            rest = spec.threshold and spec.threshold.plain, spec.predictions, spec.vectors
            resolved = f"{spec.text or same} {spec.representation.resolved} {parts} {rest}"
            if spec.threshold is not None and not reader.multilabel:
                raise source.error(
                    own.get(THRESHOLD_KEY, ({}, place))[1], "a threshold needs documents that may have several classes"
                )
            if label in candidates and (first[label] != index or choose is None or resolved in seen[label]):
                raise source.error(place, f"the method {label!r} is listed twice")
            seen.setdefault(label, []).append(resolved)
            first.setdefault(label, index)
            candidates.setdefault(label, []).append(spec)
    _check_distinct(seen, first, source)
    resolver.check_all_used()
    add_fusions(methods, places, candidates, source, several=choose is not None)
    if choose is not None and all(len(specs) == 1 for specs in candidates.values()):
        raise source.error(
            ("choose",),
            "nothing to choose: no kernel or classifier lists a parameter, and no key of `grid_keys` has a list",
        )
    return tuple(MethodEntry(label, tuple(specs)) for label, specs in candidates.items())


def _places(methods: list[Any], source: YamlSource) -> list[Location]:
    """Return the location of each method."""
    if not isinstance(source.data["methods"], list):
        return [("methods",)]
    return [("methods", index) for index in range(len(methods))]


def _check_blocks(spec: MethodSpec, blocks: Sequence[str], source: YamlSource, place: Location) -> None:
    """Refuse fields of a method that its text doesn't have, and parameters of blocks that aren't among its fields."""
    named = [name for name, _ in spec.representation.fields]
    for key, value in spec.representation.weighting.given.items():
        for block in value if isinstance(value, dict) else ():
            if block not in named:
                problem = unknown_name(f"block of {key!r}:", block, named or ["none"])
                raise source.error(place, f"{problem}; the method's `fields` name its blocks")
    for block, _ in spec.representation.fields:
        if block not in blocks:
            problem = unknown_name("block of terms of `fields`:", block, blocks)
            raise source.error(place, f"{problem}; `text` defines the blocks")


def _check_distinct(settings: Mapping[str, list[str]], first: Mapping[str, int], source: YamlSource) -> None:
    """Refuse two methods with the same candidates; a method may be one of the candidates of another."""
    labels: dict[tuple[str, ...], str] = {}
    for label, own in settings.items():
        if (other := labels.setdefault(tuple(own), label)) != label:
            problem = f"the methods {other!r} and {label!r} are the same"
            place: Location = ("methods", first[label]) if isinstance(source.data["methods"], list) else ("methods",)
            raise source.error(place, f"{problem}: they differ only in keys that are set to their defaults")


def _check_defaults(defaults: dict[str, Any], source: YamlSource, registries: Registries) -> None:
    """Refuse default keys that are neither a parameter nor a method's name, and values that aren't allowed."""
    registered = {**registries.classifiers, **registries.kernels}
    known = dict.fromkeys(
        [*LABEL_ORDER, *(name for cls in registered.values() for name in component_parameters(cls)), *registered]
    )
    for key, value in defaults.items():
        place: Location = ("defaults", key)
        if key not in known:
            raise source.error(place, unknown_name("parameter", key, list(known)))
        if key in registered:
            allowed = [*REPRESENTATION_KEYS, THRESHOLD_KEY, *component_parameters(registered[key])]
            if not isinstance(value, dict):
                raise source.error(
                    place, f"the defaults of {key!r} are a mapping of its parameters, not {quote_value(value)}"
                )
            for own, given in value.items():
                if own not in allowed:
                    raise source.error((*place, own), unknown_name(f"parameter of {key!r}:", own, allowed))
                _check_word(own, given, source, (*place, own), registries)
        _check_word(key, value, source, place, registries)


def _check_word(key: str, value: Any, source: YamlSource, place: Location, known: Registries) -> None:
    if isinstance(value, list) and key in LABEL_ORDER:
        raise source.error(place, f"a default is one value: put a list of {key}s in `methods`")
    if key in ALLOWED_VALUES and value not in ALLOWED_VALUES[key]:
        raise source.error(place, unknown_name(key, value, ALLOWED_VALUES[key]))
    most = PARAMETER_LIMITS["smoothing"][1]
    if key == "dirichlet" and not (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    ):
        raise source.error(place, f"dirichlet is {quote_value(value)}: must be a number from 0 to {most:g}")
    if key == "fields":
        _check_fields(value, source, place)
    if key == CLASSIFIER_KEY and not isinstance(value, str | dict):
        raise source.error(
            place, f"a default classifier is a name, or a mapping of its parameters, not {quote_value(value)}"
        )
    if (
        key in (WEIGHTING_KEY, FEATURES_KEY, KERNEL_KEY, THRESHOLD_KEY)
        and not isinstance(value, str)
        and not (isinstance(value, dict) and "name" in value)
    ):
        words = f"a default {key} is a name, or a mapping with a name and parameters"
        raise source.error(place, f"{words}, not {quote_value(value)}")
    if key in (WEIGHTING_KEY, FEATURES_KEY, THRESHOLD_KEY):
        try:
            check_component(key, getattr(known, COMPONENT_KEYS[key]), value)
        except ComponentError as error:
            raise source.error((*place, error.key) if isinstance(value, dict) else place, str(error)) from None


def _check_fields(value: Any, source: YamlSource, place: Location) -> None:
    if not isinstance(value, dict) or not value:
        raise source.error(place, f"fields are a mapping of blocks to their weights, not {quote_value(value)}")
    for name, weight in value.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 1e-9 <= weight <= 1e9:
            problem = "must be a number from 1e-09 to 1e+09; a block that isn't named is left out"
            raise source.error((*place, name), f"the weight of {name!r} is {quote_value(weight)}: {problem}")


def _expanded(
    given: Any, source: YamlSource, place: Location, known: Registries, *, choose: AbstractSet[str] | None
) -> list[tuple[str, dict[str, tuple[Any, Location]]]]:
    """Return a (label, settings) pair for each combination that a method lists, with the location of every key."""
    if isinstance(given, str):
        key = CLASSIFIER_KEY if given in known.classifiers else KERNEL_KEY
        if given not in known.classifiers and given not in known.kernels:
            raise source.error(place, unknown_component_message("method", given, known.methods))
        return [(_short_name(given), {key: ({"name": given}, place)})]
    if not isinstance(given, dict) or not given:
        names = "a method is a name, or a mapping with a kernel or classifier"
        if given is None:
            raise source.error(place, f"{'.'.join(map(str, place[:1]))} is empty here: {names}")
        raise source.error(place, f"{names}, not {quote_value(given)}")
    _check_keys(given, source, place, known)
    items = {
        key: _items(key, given[key], source, (*place, key), known, choose) for key in EXPANSION_ORDER if key in given
    }
    axes = [[(key, item) for item in own] for key, own in items.items()]
    found = []
    for combination in itertools.product(*axes):
        own = dict(combination)
        words = [word for key in (TEXT_KEY, *LABEL_ORDER, PIPELINE_KEY) if key in own for word in own[key].words]
        label = "-".join(words)
        if not label and NAME_KEY not in given:
            raise source.error(place, "give this method a `name`: it has no setting to name its cells by")
        found.append((label, {key: (item.value, item.place) for key, item in own.items()}))
    if NAME_KEY not in given:
        return found
    if (n := len({label for label, _ in found})) > 1:
        raise source.error((*place, NAME_KEY), f"`name` names one method, but this entry stands for {n}")
    if PREDICTIONS_KEY in given and isinstance(given[NAME_KEY], str):  # "a large model" names the cells a-large-model
        found = [(re.sub(r"[^a-z0-9.]+", "-", given[NAME_KEY].lower()).strip("-"), own) for _, own in found]
        check_cell_name(found[0][0], "a method's name", source, (*place, NAME_KEY))
        return found
    check_cell_name(given[NAME_KEY], "a method's name", source, (*place, NAME_KEY))
    return [(given[NAME_KEY], own) for _, own in found]


def _check_keys(given: dict[str, Any], source: YamlSource, place: Location, known: Registries) -> None:
    """Refuse unknown keys of a method, and a component's name in place of its key."""
    component = given.get(NAME_KEY) if isinstance(given.get(NAME_KEY), str) else ""
    is_component = component in known.methods and KERNEL_KEY not in given and CLASSIFIER_KEY not in given
    hint = f"; {_how_written(component, known)}" if is_component else ""
    for key in given:
        if isinstance(key, str) and key in known.methods:
            raise source.error((*place, key), f"no key of a method: {_how_written(key, known)}")
        if key not in (*EXPANSION_ORDER, NAME_KEY):
            raise source.error((*place, key), unknown_name("key of a method", key, (*EXPANSION_ORDER, NAME_KEY)) + hint)
    if PREDICTIONS_KEY in given and (more := given.keys() - {PREDICTIONS_KEY, NAME_KEY}):
        key = min(more)
        raise source.error((*place, key), f"predictions of a file have no {key}: nothing is trained")
    if PIPELINE_KEY in given and (more := given.keys() - {PIPELINE_KEY, NAME_KEY, TEXT_KEY, THRESHOLD_KEY}):
        key = min(more)
        raise source.error((*place, key), f"a pipeline has no {key}: it reads texts, and makes points by itself")
    counted = given.keys() & {TEXT_KEY, "fields", WEIGHTING_KEY, "idf", "dirichlet", FEATURES_KEY, KERNEL_KEY}
    if VECTORS_KEY in given and counted:
        key = min(counted)
        raise source.error((*place, key), f"vectors have no {key}: a classifier of points takes them as they are")
    if is_component:  # without this check, a method of the defaults alone would bear the component's name
        raise source.error((*place, NAME_KEY), f"`name` only names this method's cells{hint}")


def _how_written(component: Any, known: Registries) -> str:
    """Explain how a method names a kernel or classifier."""
    key = CLASSIFIER_KEY if component in known.classifiers else KERNEL_KEY
    return f"{component!r} is a {key}: write {{{key}: {component}}} or {{{key}: {{name: {component}, …}}}}"


def _items(
    key: str, given: Any, source: YamlSource, place: Location, known: Registries, choose: AbstractSet[str] | None
) -> list[_Item]:
    """Return the items of a key's list, or of its one value."""
    found: list[_Item] = []
    if given == []:
        raise source.error(place, f"{key} must not be an empty list: it would leave no cell")
    for index, value in enumerate(as_list(given)):
        where = (*place, index) if isinstance(given, list) else place
        chosen = choose is not None and key in choose
        if key == TEXT_KEY:
            own = _texts(value, source, where, chosen=chosen)
        elif key in (*COMPONENT_KEYS, PIPELINE_KEY):
            own = _parametrized(key, value, source, where, known, choose)
        else:
            _check_word(key, value, source, where, known)
            words = {"idf": f"idf-{value}", "dirichlet": f"dirichlet{value}", "fields": _fields_word(value)}
            words |= {VECTORS_KEY: "", PREDICTIONS_KEY: ""}
            own = [_Item(value, (words.get(key, value),), where)]
        if key == THRESHOLD_KEY:
            own = [replace(item, words=(THRESHOLD_KEY, *item.words)) for item in own]
        found += [replace(item, words=()) for item in own] if chosen and len(as_list(given)) > 1 else own
    return found


def _fields_word(fields: Any) -> str:
    """Return the words for weights of fields in a cell's name: "all-subjectx0.25"."""
    parts = fields.items() if isinstance(fields, dict) else ()
    return "-".join(str(name) if weight == 1 else f"{name}x{weight}" for name, weight in parts)


def _texts(given: Any, source: YamlSource, place: Location, *, chosen: bool) -> list[_Item]:
    """Return the text settings that a method overrides, each as a document with line numbers."""
    if not isinstance(given, dict) or not given:
        raise source.error(
            place, f"a method's text is a mapping of the settings that it changes, not {quote_value(given)}"
        )
    items = _combined(given, {"ngrams", "fields", "characters"}, source, place, _text_word, chosen=chosen)
    own = source.part(place)
    return [replace(item, value=replace(own, data=item.value)) for item in items]


def _parametrized(
    key: str, given: Any, source: YamlSource, place: Location, known: Registries, choose: AbstractSet[str] | None
) -> list[_Item]:
    """Return every combination of a component's parameter lists, except parameters that are lists by nature."""
    registry = getattr(known, COMPONENT_KEYS.get(key, f"{key}s"))
    if isinstance(given, str):
        if given not in registry:
            raise source.error(place, unknown_component_message(key, given, registry))
        return [_Item({"name": given}, (_short_name(given),), place)]
    if not isinstance(given, dict) or (key != CLASSIFIER_KEY and "name" not in given):
        raise source.error(
            place, f"a {key} is a name, or a mapping with a name and parameters, not {quote_value(given)}"
        )
    name = given.get("name")
    if isinstance(name, list):
        raise source.error((*place, "name"), f"`name` is one {key}: put a list of {key}s under `{key}`")
    if "name" in given and (not isinstance(name, str) or name not in registry):
        raise source.error((*place, "name"), unknown_component_message(key, name, registry))
    whole = lists_by_nature(registry[name]) if name else {n for cls in registry.values() for n in lists_by_nature(cls)}
    return _combined(given, whole, source, place, _word, chosen=choose is not None)


def _combined(
    given: dict[str, Any],
    whole: set[str],
    source: YamlSource,
    place: Location,
    word: Callable[[str, Any], str],
    *,
    chosen: bool,
) -> list[_Item]:
    """Return every combination of a mapping's lists but the `whole` ones; candidates add no word to a cell's name."""
    axes: dict[str, list[Any]] = {}
    for parameter, value in given.items():
        if not isinstance(parameter, str):
            raise source.error(place, f"the key {quote_value(parameter)} must be text: put it in quotes")
        if value == [] and parameter not in whole:
            raise source.error((*place, parameter), f"{parameter} must not be an empty list: it would leave no cell")
        listed = isinstance(value, list) and value != [] and all(isinstance(each, list) for each in value)
        axes[parameter] = [value] if parameter in whole and not listed else as_list(value)
    silent = {parameter for parameter, values in axes.items() if chosen and len(values) > 1}
    spoken = [key for key in sorted(axes, key=lambda key: key != "name") if key not in silent]
    each = (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))

    def said(key: str, value: Any) -> str:
        """Return the word of a value; a list is left out unless it is one of several."""
        several = isinstance(value, list) and len(axes[key]) > 1
        return word(key, value) or (f"{key}{'-'.join(map(str, value))}".lower() if several else "")

    return [_Item(own, tuple(filter(None, (said(key, own[key]) for key in spoken))), place) for own in each]


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


class _Resolver:
    """Fills in the settings that entries leave out, and records which defaults were used.

    A setting comes from the entry, or else from the defaults of its kernel or classifier by name, or else from all.
    """

    def __init__(self, defaults: dict[str, Any], source: YamlSource, known: Registries) -> None:
        self._source, self._registries = source, known
        self._named = {key: value for key, value in defaults.items() if key in known.methods}
        self._general = {
            key: value for key, value in defaults.items() if key not in self._named and key != CLASSIFIER_KEY
        }
        machine = defaults.get(CLASSIFIER_KEY, {})
        self._machine = {"name": machine} if isinstance(machine, str) else dict(machine)
        self._unused: set[Location] = {
            ("defaults", key) for key in [*self._named, *self._general] if key not in LABEL_ORDER
        }
        self._unused |= {("defaults", CLASSIFIER_KEY, key) for key in self._machine if key != "name"}
        if "name" in self._machine:  # a misspelt name or parameter is refused even if no method takes it
            try:
                check_component(CLASSIFIER_KEY, known.classifiers, self._machine)
            except ComponentError as error:
                raise source.error(("defaults", CLASSIFIER_KEY, error.key), str(error)) from None

    def spec(self, own: dict[str, tuple[Any, Location]], place: Location) -> MethodSpec:
        """Return one method with every parameter."""
        if PREDICTIONS_KEY in own:
            return given_predictions(own[PREDICTIONS_KEY][0], self._source, own[PREDICTIONS_KEY][1])
        if PIPELINE_KEY in own:
            return self._of_pipeline(own, place)
        classifier = self._classifier(own, place)
        self._unused.discard(("defaults", classifier.name))
        if VECTORS_KEY in own:
            return self._of_vectors(classifier, own, place)
        kernel = self._kernel(own, classifier)
        names = [each.name for each in (classifier, kernel) if each is not None]
        if kernel is not None:
            self._unused.discard(("defaults", kernel.name))
        takes = kernel is None or is_elementwise_kernel(kernel.cls) or THRESHOLD_KEY in own
        threshold = self._threshold(own, names[::-1], place) if takes else None
        spec = MethodSpec(self._representation(own, kernel, classifier, place), kernel, classifier, None, threshold)
        try:
            check_method(spec)
        except ValueError as error:
            raise self._source.error(place, str(error)) from None
        return spec

    def _of_vectors(self, classifier: Component, own: dict[str, tuple[Any, Location]], place: Location) -> MethodSpec:
        """Return the method that classifies vectors of a file, of unit length only where it says so."""
        given, where = own[VECTORS_KEY]
        if classifier.tags.needs_kernel:
            problem = f"the classifier {classifier.name!r} takes kernel values; vectors need one of points"
            raise self._source.error(where, problem)
        points = uncounted_points(own.get("normalization", ("none", place))[0])
        threshold = self._threshold(own, [classifier.name], place)
        return MethodSpec(points, None, classifier, None, threshold, vectors=vector_file(given, self._source, where))

    def _of_pipeline(self, own: dict[str, tuple[Any, Location]], place: Location) -> MethodSpec:
        """Return the method that reads texts; no default applies to its parameters."""
        given, where = own[PIPELINE_KEY]
        try:
            pipeline = check_component(PIPELINE_KEY, self._registries.pipelines, given)
        except ComponentError as error:
            raise self._source.error((*where, error.key) if isinstance(given, dict) else where, str(error)) from None
        threshold = self._threshold(own, [pipeline.name], place)
        return MethodSpec(uncounted_points("none"), None, pipeline, None, threshold)

    def _threshold(self, own: dict[str, tuple[Any, Location]], names: list[str], place: Location) -> Component | None:
        """Return the rule of thresholds; None for that of a method that names none."""
        given = self._chosen(THRESHOLD_KEY, own, names, DEFAULT_THRESHOLD, place)
        rule = self._built(THRESHOLD_KEY, self._registries.thresholds, *given)
        return None if rule.name == DEFAULT_THRESHOLD else rule

    def check_all_used(self) -> None:
        """Refuse defaults that no method has as a parameter."""
        for place in sorted(self._unused, key=self._source.line):
            raise self._source.error(place, f"no method here has the parameter {place[-1]!r}")

    def _classifier(self, own: dict[str, tuple[Any, Location]], place: Location) -> Component:
        given, where = own.get(CLASSIFIER_KEY, ({}, place))
        takes_none = KERNEL_KEY in own or (KERNEL_KEY in self._general and CLASSIFIER_KEY not in own)
        name = given.get("name", DEFAULT_KERNEL_CLASSIFIER if takes_none else self._machine.get("name"))
        if name is None:
            raise self._source.error(place, "this method names neither a kernel nor a classifier, and no default does")
        return self._built(CLASSIFIER_KEY, self._registries.classifiers, {**given, "name": name}, where)

    def _kernel(self, own: dict[str, tuple[Any, Location]], classifier: Component) -> Component | None:
        takes = tags_of(classifier.cls).needs_kernel
        if KERNEL_KEY in own and not takes:
            where = own[KERNEL_KEY][1]
            other = f"{DEFAULT_KERNEL_CLASSIFIER!r} does: leave out `kernel`, or name that classifier"
            raise self._source.error(where, f"the classifier {classifier.name!r} takes no kernel; {other}")
        if not takes:
            return None
        given, where = own.get(KERNEL_KEY, (self._general.get(KERNEL_KEY, "linear"), ("defaults", KERNEL_KEY)))
        return self._built(KERNEL_KEY, self._registries.kernels, given, where)

    def _built(self, what: str, registry: Mapping[str, Any], given: str | dict[str, Any], place: Location) -> Component:
        """Return a component with the defaults that apply to its parameters; an error points at the wrong value."""
        given = {"name": given} if isinstance(given, str) else given
        name = given["name"]
        allowed = component_parameters(registry[name]) if isinstance(name, str) and name in registry else {}
        taken: dict[str, tuple[Any, Location]] = {}
        layers: list[tuple[dict[str, Any], Location]] = [
            (self._machine if what == CLASSIFIER_KEY else {}, ("defaults", CLASSIFIER_KEY)),
            (self._general if what in (KERNEL_KEY, CLASSIFIER_KEY) else {}, ("defaults",)),
            (self._named.get(name, {}) if isinstance(name, str) else {}, ("defaults", name)),
        ]
        for values, where in layers:
            for key in filter(allowed.__contains__, values):
                self._unused.discard((*where, key))
                taken[key] = (values[key], (*where, key))
        merged = {key: value for key, (value, _) in taken.items()} | given
        try:
            return check_component(what, registry, merged)
        except ComponentError as error:
            inherited = error.key in taken and error.key not in given
            raise self._source.error(taken[error.key][1] if inherited else (*place, error.key), str(error)) from None

    def _representation(
        self, own: dict[str, tuple[Any, Location]], kernel: Component | None, classifier: Component, place: Location
    ) -> Representation:
        main = kernel or classifier
        if tags_of(main.cls).sees_counts:
            for key in REPRESENTATION_KEYS:
                if key in own:
                    raise self._source.error(own[key][1], f"{main.name!r} works on the counts: it has no {key}")
            return uncounted_points("none")
        features = self._features(own, main, place)
        main = features or main
        names = [main.name, classifier.name]
        normalization, where = self._chosen("normalization", own, names, tags_of(main.cls).normalization, place)
        allowed = tags_of(main.build()).normalizations
        if normalization not in allowed:
            what = FEATURES_KEY if features else KERNEL_KEY if kernel else CLASSIFIER_KEY
            needs = f"the {what} {main.name!r} needs the normalization {' or '.join(allowed)}"
            raise self._source.error(where, f"{needs}, not {normalization!r}: it is defined on the simplex")
        weighting, learns = self._weighting(own, names, place)
        counted = "training" if learns else "collection"  # a weighting that learns nothing ignores it
        idf, where = self._chosen("idf", own, names, counted, place)
        if learns == FROM_LABELS and idf == "collection":
            if "idf" in own:
                problem = (
                    f"the weighting {weighting.name!r} learns from labels: it would learn from those of test documents"
                )
                raise self._source.error(where, f"{problem}, with idf: collection")
            idf = "training"
        dirichlet, _ = self._chosen("dirichlet", own, names, 0.0, place)
        smoothable = kernel is not None and is_elementwise_kernel(kernel.cls) and normalization == "l1"
        if dirichlet and not smoothable:
            if "dirichlet" in own:
                problem = f"smooths points of the simplex (l1) for a kernel, not {main.name!r} with {normalization!r}"
                raise self._source.error(own["dirichlet"][1], f"dirichlet {problem}")
            dirichlet = 0.0
        fields, where = self._chosen("fields", own, names, {}, place)
        if fields and dirichlet:
            raise self._source.error(
                where, "a Dirichlet prior can't be combined with fields: it is on the counts of one multinomial"
            )
        weights = tuple((str(name), float(weight)) for name, weight in fields.items())
        return Representation(weighting, normalization, idf, float(dirichlet), features, weights, learns=learns)

    def _weighting(
        self, own: dict[str, tuple[Any, Location]], names: list[str], place: Location
    ) -> tuple[Component, str]:
        """Return the weighting and what it learns from, see `Weighting.learns`."""
        given = self._chosen(WEIGHTING_KEY, own, names, "tf", place)
        weighting = self._built(WEIGHTING_KEY, self._registries.weightings, *given)
        try:
            with guarded([] if is_builtin(weighting.cls) else [weighting.cls], ConfigError):
                return weighting, str(weighting.build().learns)
        except ConfigError as error:
            raise self._source.error(given[1], str(error)) from None

    def _features(self, own: dict[str, tuple[Any, Location]], main: Component, place: Location) -> Component | None:
        """Return the feature map; only classifiers without a kernel that accept any points have one."""
        given, where = self._chosen(FEATURES_KEY, own, [main.name], None, place)
        takes = main.name not in self._registries.kernels and tags_of(main.cls).takes_features
        if given is None or (FEATURES_KEY not in own and not takes):
            return None
        if not takes:
            known = [name for name, cls in self._registries.classifiers.items() if tags_of(cls).takes_features]
            raise self._source.error(where, f"{main.name!r} takes no features: {', '.join(known)} do")
        return self._built(FEATURES_KEY, self._registries.features, given, where)

    def _chosen(
        self, key: str, own: dict[str, tuple[Any, Location]], names: list[str], otherwise: Any, place: Location
    ) -> tuple[Any, Location]:
        """Return the first value set by the method, its kernel's or classifier's defaults, or the general defaults."""
        if key in own:
            return own[key]
        for name in names:
            if key in self._named.get(name, {}):
                return self._named[name][key], ("defaults", name, key)
        return (self._general[key], ("defaults", key)) if key in self._general else (otherwise, place)
