"""`tasks`, `protocol` and `terms`, checked by making every kind of split once on documents as the card counts them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.config.collection import outline_documents
from benchmark.config.components import Component, check_component, component_parameters, mentioned
from benchmark.config.model import CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT, Task
from benchmark.config.schema import TaskSection
from benchmark.config.schema_errors import check_known
from benchmark.evaluation.protocols import ByDate, FixedSplit, KFold
from benchmark.evaluation.splits import check_split_promises
from benchmark.system.errors import ConfigError, quote_value
from benchmark.system.registries import is_builtin
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from benchmark.config.model import Collection
    from benchmark.config.schema import ExperimentSection
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Node

TRAIN_SIZE_KEY = "train_size"


def list_tasks(config: ExperimentSection, collection: Collection, node: Node) -> tuple[Task, ...]:
    """Return the tasks; without any, one task of all classes, whose name is ""."""
    found: dict[str, Task] = {}
    for section, at in zip(config.tasks, node["tasks"], strict=True):
        if isinstance(section, TaskSection):
            sizes = outline_documents(collection).sizes().sum(axis=1)
            if section.largest > len(sizes):
                raise at["largest"].error(f"largest is {section.largest}, but there are {len(sizes)} classes")
            ranked = sorted(range(len(sizes)), key=lambda code: -sizes[code])  # ties stay in the corpus's order
            name, title = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-"), section.title
            classes = [collection.classes[code] for code in ranked[: section.largest]]
        else:
            name, title, classes = "-".join(section), " vs ".join(section), section
            for each in at:
                check_known("class", each.value, collection.classes, each)
        if name in found:
            raise at.error(f"the task {name!r} is listed twice")
        found[name] = Task(name, title, tuple(classes))
    return tuple(found.values()) or (Task("", "", collection.classes),)


def protocol_and_sizes(
    config: ExperimentSection, node: Node, protocols: Registry
) -> tuple[Component, tuple[int | None, ...]]:
    """Return the protocol without its training sizes, and the sizes; (None,) if it has none.

    A protocol uses the configuration's seed unless it sets another.
    """
    protocol = node["protocol"]
    listed, seed = protocol[TRAIN_SIZE_KEY], {"seed": replace(protocol, value=config.seed, children={})}
    several = listed.each() if isinstance(listed.value, list) else []
    at_sizes = [protocol.with_children({**protocol.children, TRAIN_SIZE_KEY: size}) for size in several]
    components = [check_component("protocol", protocols, each, seed) for each in at_sizes or [protocol]]
    sizes = [each.given.get(TRAIN_SIZE_KEY) for each in components]
    if several and sizes != sorted(set(filter(None, sizes))):
        raise listed.error(f"{TRAIN_SIZE_KEY} must be ascending, none twice, not {quote_value(sizes)}")
    given = {key: value for key, value in components[0].given.items() if key != TRAIN_SIZE_KEY}
    return replace(components[0], given=given), tuple(sizes)


def inner_protocol(config: ExperimentSection, collection: Collection) -> Component | None:
    """Return the protocol that splits training documents to choose candidates; None if none are chosen on them."""
    choose = config.choose
    if choose is not None and CHOOSE_TEMPORAL_HOLDOUT in choose.by:
        stratified = collection.reader.outline().dated_by_class
        return Component.of("by-date", ByDate, {"test_share": 1 / choose.folds, "stratified": stratified})
    if choose is not None and CHOOSE_CROSS_VALIDATION in choose.by:
        stratified = not collection.multilabel
        parameters = {"k": choose.folds, "seed": config.seed, "stratified": stratified, "grouped": choose.grouped}
        return Component.of("k-fold", KFold, parameters | {"keep_lone": True})
    return None


def protocol_at_size(protocol: Component, size: int | None, **more: Any) -> EvaluationProtocol:
    """Return the protocol with one training size."""
    parameters = {**protocol.given, **({} if size is None else {TRAIN_SIZE_KEY: size}), **more}
    built: EvaluationProtocol = protocol.cls(**parameters)
    return built


def check_splits(
    collection: Collection,
    tasks: tuple[Task, ...],
    protocol: Component,
    sizes: tuple[int | None, ...],
    inner: Component | None,
    node: Node,
) -> None:
    """Refuse documents that can't be split: make every kind of split once, and the inner folds of the first."""
    everything = outline_documents(collection)
    _check_parts(everything, protocol, node["protocol"])
    one = {"replicates": 1} if "replicates" in component_parameters(protocol.cls) else {}
    for task in tasks:
        _, documents = everything.of_classes(task.classes)
        where = f"{task.name}: " if task.name else ""
        for index, size in enumerate(sizes):
            try:
                splits = protocol_at_size(protocol, size, **one).splits(documents)
                if not is_builtin(protocol.cls):
                    check_split_promises(splits, documents, repeated=tags_of(protocol.cls).replicated)
            except ConfigError as error:
                at = node["protocol"]
                at = at[TRAIN_SIZE_KEY][index] if len(sizes) > 1 else mentioned(at, str(error))
                raise at.error(f"{where}{error}") from None
            if inner is None:
                continue
            try:
                inner.build().splits(documents.take(splits[0].train))
            except ConfigError as error:
                raise mentioned(node["choose"], str(error)).error(f"{where}{error}") from None


def _check_parts(documents: Documents, protocol: Component, node: Node) -> None:
    """Refuse documents without groups or parts where the protocol divides them by these, and say which key has them."""
    if len(documents.part_names) > 1:
        return
    if tags_of(protocol.cls).leaves_groups_out:
        raise node.error("the documents have no groups: name their column under `corpus`, as in group: customer")
    if protocol.cls is FixedSplit:
        problem = "the documents have no parts: name their column under `corpus`, as in split: side"
        raise node.error(f"{problem}, or a file for each, as in path: {{train: a.csv, test: b.csv}}")
