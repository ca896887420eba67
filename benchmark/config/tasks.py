"""`tasks`, `protocol`, `terms` and `choose`: classes to tell apart, and every kind of split, made once to check it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from benchmark.config.collection import outline_documents
from benchmark.config.components import Component, check_component, component_parameters, mentioned
from benchmark.config.model import CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT, Task
from benchmark.config.schema import (
    ConfigSection,
    Distinct,
    OneOrMore,
    TitleName,
    check_known,
    distinct,
    id_of_title,
    one_of,
)
from benchmark.evaluation.protocols import ByDate, KFold
from benchmark.evaluation.splits import check_split_promises
from benchmark.representation.selection import GAIN_AGGREGATES, TERM_RANKINGS
from benchmark.system.errors import ConfigError, quote_value
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Registry
    from benchmark.config.model import Collection, Variant
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.system.yaml_source import Node

TRAIN_SIZE_KEY = "train_size"


class TaskSection(ConfigSection):
    """An item of `tasks`: a number of largest classes.

    Parameters
    ----------
    title : str
        The task's name in tables; its letters and digits name cells.
    largest : int
        Number of largest classes.
    """

    title: TitleName
    largest: int = Field(ge=2)


#: An item of `tasks`: the names of its classes, or a section.
AnyTask = Annotated[Distinct[str], Field(min_length=2)] | TaskSection


def _ascending(values: list[int]) -> list[int]:
    if values != sorted(set(values)):
        raise ValueError(f"must be ascending, none twice, not {quote_value(values)}")
    return values


class TermsSection(ConfigSection):
    """`terms:` how many terms are selected, and by which rank.

    Parameters
    ----------
    number : int or list of int
        Numbers of terms, ascending; a list is the horizontal axis of curves.
    rank : str
        How terms are ranked.
    aggregate : str
        How the gains of the classes are combined.
    """

    number: Annotated[OneOrMore[Annotated[int, Field(ge=1)]], AfterValidator(_ascending)]
    rank: Annotated[str, one_of(TERM_RANKINGS)] = "information-gain"
    aggregate: Annotated[str, one_of(GAIN_AGGREGATES)] = "sum"


def _choices(values: list[str]) -> list[str]:
    if {"cross-validation", "temporal-holdout"} <= set(values):
        raise ValueError("cross-validation and temporal-holdout can't be combined: name one")
    return distinct(values)


class ChooseSection(ConfigSection):
    """`choose:` how one of the candidates in lists is chosen.

    Parameters
    ----------
    by : str or list of str
        On the test documents (oracle), or within the training documents of each split: by cross-validation, or
        on the newest of them (temporal-holdout; of each class, if dates order documents only within a class).
    folds : int
        Number of folds; for `temporal-holdout`, one part of so many is the hold-out.
    grouped : bool
        Whether to keep the documents of a group in one fold.
    grid_keys : list of str
        Other keys whose lists are candidates.
    """

    by: Annotated[OneOrMore[Literal["oracle", "cross-validation", "temporal-holdout"]], AfterValidator(_choices)]
    folds: int = Field(default=5, ge=2)
    grouped: bool = False
    grid_keys: list[
        Literal["text", "weighting", "normalization", "idf", "dirichlet", "features", "fields", "threshold"]
    ] = Field([])


def list_tasks(tasks: Sequence[TaskSection | list[str]], collection: Collection, node: Node) -> tuple[Task, ...]:
    """Return the tasks; without any, one task of all classes, whose name is ""."""
    found: list[Task] = []
    for section, at in zip(tasks, node, strict=True):
        if isinstance(section, TaskSection):
            sizes = outline_documents(collection).sizes().sum(axis=1)
            if section.largest > len(sizes):
                raise at["largest"].error(f"largest is {section.largest}, but there are {len(sizes)} classes")
            ranked = sorted(range(len(sizes)), key=lambda code: -sizes[code])  # ties stay in the corpus's order
            name, title = id_of_title(section.title), section.title
            classes = [collection.classes[code] for code in ranked[: section.largest]]
        else:
            name, title, classes = "-".join(section), " vs ".join(section), section
            for each in at:
                check_known("class", each.value, collection.classes, each)
        found.append(Task(name, title, tuple(classes)))
    return tuple(found) or (Task("", "", collection.classes),)


def protocol_and_sizes(seed: int, node: Node, protocols: Registry) -> tuple[Component, tuple[int | None, ...]]:
    """Return the protocol without its training sizes, and the sizes; (None,) if it has none.

    A protocol uses the configuration's seed unless it sets another.
    """
    listed, usual = node[TRAIN_SIZE_KEY], {"seed": replace(node, value=seed, children={})}
    several = listed.each() if isinstance(listed.value, list) else []
    at_sizes = [node.with_children({**node.children, TRAIN_SIZE_KEY: size}) for size in several]
    components = [check_component("protocol", protocols, each, usual) for each in at_sizes or [node]]
    sizes = [each.given.get(TRAIN_SIZE_KEY) for each in components]
    if several and sizes != sorted(set(filter(None, sizes))):
        raise listed.error(f"{TRAIN_SIZE_KEY} must be ascending, none twice, not {quote_value(sizes)}")
    given = {key: value for key, value in components[0].given.items() if key != TRAIN_SIZE_KEY}
    return replace(components[0], given=given), tuple(sizes)


def inner_protocol(choose: ChooseSection | None, seed: int, collection: Collection) -> Component | None:
    """Return the protocol that splits training documents to choose candidates; None if none are chosen on them."""
    if choose is not None and CHOOSE_TEMPORAL_HOLDOUT in choose.by:
        stratified = collection.reader.outline().dated_by_class
        return Component.of("by-date", ByDate, {"test_share": 1 / choose.folds, "stratified": stratified})
    if choose is not None and CHOOSE_CROSS_VALIDATION in choose.by:
        parameters = {"k": choose.folds, "seed": seed, "stratified": not collection.multilabel}
        return Component.of("k-fold", KFold, parameters | {"grouped": choose.grouped, "keep_lone": True})
    return None


def protocol_at_size(protocol: Component, size: int | None, **more: Any) -> EvaluationProtocol:
    """Return the protocol with one training size."""
    parameters = {**protocol.given, **({} if size is None else {TRAIN_SIZE_KEY: size}), **more}
    built: EvaluationProtocol = protocol.cls(**parameters)
    return built


def check_splits(variant: Variant, inner: Component | None, node: Node) -> None:
    """Refuse documents that can't be split: make every kind of split once, and the inner folds of the first."""
    protocol, everything = variant.protocol, outline_documents(variant.collection)
    one = {"replicates": 1} if "replicates" in component_parameters(protocol.cls) else {}
    for task in variant.tasks:
        _, documents = everything.of_classes(task.classes)
        for index, size in enumerate(variant.sizes):
            at = node["protocol"][TRAIN_SIZE_KEY][index] if len(variant.sizes) > 1 else node["protocol"]
            try:
                splits = protocol_at_size(protocol, size, **one).splits(documents)
                if not is_builtin(protocol.cls):
                    check_split_promises(splits, documents, repeated=tags_of(protocol.cls).replicated)
                at = node["choose"]
                if inner is not None:
                    inner.build().splits(documents.take(splits[0].train))
            except ConfigError as error:
                problem = f"{task.name}: {error}" if task.name else str(error)
                raise mentioned(at, str(error)).error(problem) from None
