"""`tasks`, `protocol` and `terms`, checked by making every kind of split once on documents as the card counts them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.config.collection import outline_documents
from benchmark.config.components import (
    Component,
    ComponentError,
    check_component,
    component_parameters,
    parameter_in_message,
)
from benchmark.config.model import CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT, Task, TermSelection
from benchmark.config.schema import TaskSection, as_list
from benchmark.evaluation.protocols import ByDate, FixedSplit, KFold
from benchmark.evaluation.splits import check_split_promises
from benchmark.representation.selection import GAIN_AGGREGATES, TERM_RANKINGS
from benchmark.system.errors import ConfigError, quote_value, unknown_name
from benchmark.system.registries import is_builtin
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Collection
    from benchmark.config.schema import ExperimentSection
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Location, YamlSource

TRAIN_SIZE_KEY = "train_size"


def component_at(what: str, registry: dict[str, Any], given: Any, source: YamlSource, place: Location) -> Component:
    """Return a name, or a mapping with a name and parameters, as a checked component."""
    try:
        return check_component(what, registry, given)
    except ComponentError as error:
        raise source.error((*place, error.key), str(error)) from None


def list_tasks(config: ExperimentSection, collection: Collection, source: YamlSource) -> tuple[Task, ...]:
    """Return the tasks; without any, one task of all classes, whose name is ""."""
    found: dict[str, Task] = {}
    for index, given in enumerate(config.tasks):
        place: Location = ("tasks", index)
        if isinstance(given, TaskSection):
            task = _titled(given, collection, source, place)
        else:
            known = ("tasks", index, next((i for i, name in enumerate(given) if name not in collection.classes), 0))
            classes = _different(given, collection.classes, source, place, known)
            task = Task("-".join(classes), " vs ".join(classes), classes)
        if task.name in found:
            raise source.error(place, f"the task {task.name!r} is listed twice")
        found[task.name] = task
    return tuple(found.values()) or (Task("", "", collection.classes),)


def _titled(given: TaskSection, collection: Collection, source: YamlSource, place: Location) -> Task:
    name = re.sub(r"[^a-z0-9]+", "-", given.title.lower()).strip("-")
    if not name:
        where = (*place, "title")
        raise source.error(where, f"the title {quote_value(given.title)} needs a letter or digit: it names cells")
    if (given.largest is None) == (given.classes is None):
        raise source.error(place, "a task has either `largest`, a number of classes, or `classes`, their names")
    if given.classes is not None:
        unknowns = [index for index, each in enumerate(given.classes) if each not in collection.classes]
        known = (*place, "classes", *unknowns[:1])
        return Task(name, given.title, _different(given.classes, collection.classes, source, place, known))
    sizes = outline_documents(collection).sizes().sum(axis=1)
    if given.largest is None or given.largest > len(sizes):
        raise source.error((*place, "largest"), f"largest is {given.largest}, but there are {len(sizes)} classes")
    ranked = sorted(range(len(sizes)), key=lambda code: -sizes[code])  # ties stay in the corpus's order
    return Task(name, given.title, tuple(collection.classes[code] for code in ranked[: given.largest]))


def _different(
    given: list[str], known: tuple[str, ...], source: YamlSource, place: Location, unknown_at: Location
) -> tuple[str, ...]:
    for each in given:
        if each not in known:
            raise source.error(unknown_at, unknown_name("class", each, known))
    if len(set(given)) != len(given) or len(given) < 2:
        raise source.error(place, f"a task needs two or more different classes, not {quote_value(given)}")
    return tuple(given)


def protocol_and_sizes(
    config: ExperimentSection, source: YamlSource, protocols: Registry
) -> tuple[Component, tuple[int | None, ...]]:
    """Return the protocol without its training sizes, and the sizes; (None,) if it has none.

    A protocol uses the configuration's seed unless it sets another.
    """
    given = {"name": config.protocol} if isinstance(config.protocol, str) else config.protocol
    name = given.get("name") if isinstance(given, dict) else None
    allowed = component_parameters(protocols[name]) if isinstance(name, str) and name in protocols else {}
    if isinstance(given, dict) and "seed" in allowed:
        given = {"seed": config.seed, **given}
    if isinstance(given, dict) and TRAIN_SIZE_KEY in allowed and isinstance(given.get(TRAIN_SIZE_KEY), list):
        sizes = _ascending(given[TRAIN_SIZE_KEY], source, ("protocol", TRAIN_SIZE_KEY))
        components = [
            component_at("protocol", protocols, given | {TRAIN_SIZE_KEY: n}, source, ("protocol",)) for n in sizes
        ]
    else:
        components = [component_at("protocol", protocols, given, source, ("protocol",))]
    first = components[0]
    plain = replace(first, given={key: value for key, value in first.given.items() if key != TRAIN_SIZE_KEY})
    return plain, tuple(each.given.get(TRAIN_SIZE_KEY) for each in components)


def _ascending(values: Sequence[Any], source: YamlSource, place: Location) -> list[int]:
    numbers = all(isinstance(value, int) and not isinstance(value, bool) and value > 0 for value in values)
    if not numbers or list(values) != sorted(set(values)) or not values:
        what = place[-1]
        raise source.error(
            place, f"{what} must be positive whole numbers, ascending, none twice, not {quote_value(values)}"
        )
    return list(values)


def term_selection(config: ExperimentSection, source: YamlSource) -> TermSelection | None:
    """Return how terms are selected; None if all are used."""
    terms = config.terms
    if terms is None:
        return None
    for key, allowed in (("rank", TERM_RANKINGS), ("aggregate", tuple(GAIN_AGGREGATES))):
        if getattr(terms, key) not in allowed:
            raise source.error(("terms", key), unknown_name(key, getattr(terms, key), allowed))
    numbers = _ascending(terms.number, source, ("terms", "number"))
    vocabulary = config.expect.vocabulary
    if vocabulary is not None and numbers[-1] > vocabulary:
        problem = f"{numbers[-1]} terms can't be selected from the {vocabulary} that `expect` states"
        raise source.error(("terms", "number", len(numbers) - 1), problem)
    return TermSelection(tuple(numbers), terms.rank, terms.aggregate)


def inner_protocol(config: ExperimentSection, collection: Collection) -> Component | None:
    """Return the protocol that splits training documents to choose candidates; None if none are chosen on them."""
    choose = config.choose
    if choose is not None and CHOOSE_TEMPORAL_HOLDOUT in choose.by:
        stratified = collection.reader.outline().dated_by_class
        return Component.of("by-date", ByDate, {"test_share": 1 / choose.folds, "stratified": stratified})
    if choose is not None and CHOOSE_CROSS_VALIDATION in choose.by:
        stratified = not collection.multilabel
        given = {"k": choose.folds, "seed": config.seed, "stratified": stratified, "grouped": choose.grouped}
        return Component.of("k-fold", KFold, given | {"keep_lone": True})
    return None


def protocol_at_size(protocol: Component, size: int | None, **more: Any) -> EvaluationProtocol:
    """Return the protocol with one training size."""
    given = {**protocol.given, **({} if size is None else {TRAIN_SIZE_KEY: size}), **more}
    built: EvaluationProtocol = protocol.cls(**given)
    return built


def check_splits(
    collection: Collection,
    tasks: tuple[Task, ...],
    protocol: Component,
    sizes: tuple[int | None, ...],
    inner: Component | None,
    source: YamlSource,
) -> None:
    """Refuse documents that can't be split: make every kind of split once, and the inner folds of the first."""
    everything = outline_documents(collection)
    _check_parts(everything, protocol, source)
    one = {"replicates": 1} if "replicates" in component_parameters(protocol.cls) else {}
    for task in tasks:
        _, documents = everything.of_classes(task.classes)
        for index, size in enumerate(sizes):
            where = f"{task.name}: " if task.name else ""
            try:
                splits = protocol_at_size(protocol, size, **one).splits(documents)
                if not is_builtin(protocol.cls):
                    check_split_promises(splits, documents, repeated=tags_of(protocol.cls).replicated)
            except ConfigError as error:
                listed_sizes = len(sizes) > 1
                place = (
                    ("protocol", TRAIN_SIZE_KEY, index)
                    if listed_sizes
                    else _spoken_of(str(error), source.data["protocol"])
                )
                raise source.error(place, f"{where}{error}") from None
            if inner is not None:
                _check_inner_folds(inner, documents.take(splits[0].train), source, where)


def _check_parts(documents: Documents, protocol: Component, source: YamlSource) -> None:
    """Refuse documents without groups or parts where the protocol divides them by these, and say which key has them."""
    if len(documents.part_names) > 1:
        return
    if tags_of(protocol.cls).leaves_groups_out:
        problem = "the documents have no groups to leave out: name their column under `corpus`, as in group: customer"
        raise source.error(("protocol",), f"{problem}, or take another protocol, such as k-fold")
    if protocol.cls is FixedSplit:
        problem = (
            "the documents have no parts such as train and test: name their column under `corpus`, as in split: side"
        )
        more = "or a file for each, as in path: {train: a.csv, test: b.csv}, or take another protocol, such as k-fold"
        raise source.error(("protocol",), f"{problem}, {more}")


def _check_inner_folds(inner: Component, documents: Documents, source: YamlSource, where: str) -> None:
    """Refuse training documents that `choose` can't split, with `where` before the message."""
    try:
        inner.build().splits(documents)
    except ConfigError as error:
        place = "choose", parameter_in_message(str(error), source.data["choose"])
        raise source.error(place, f"{where}{error}") from None


def _spoken_of(message: str, given: Any) -> Location:
    """Return the protocol's parameter that a message mentions and, in a list, the item that the message quotes."""
    parameters_given = given if isinstance(given, dict) else {}
    key = parameter_in_message(message, parameters_given)
    items = as_list(parameters_given.get(key))
    quoted = [item for item in items if repr(item) in message]
    if not isinstance(parameters_given.get(key), list) or not quoted:
        return ("protocol", key)
    first = min(quoted, key=lambda item: message.index(repr(item)))  # a right name may follow, as a suggestion
    return ("protocol", key, items.index(first))
