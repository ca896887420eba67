"""Plain data to a checked `Experiment`: what can be refused is refused here, before any work."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.components import Component, ComponentError, check_component, named_in
from benchmark.config.model import Cell, Experiment, Variant
from benchmark.config.schema import (
    BASE,
    CellsSection,
    ConfigSection,
    CorpusSection,
    StudySection,
    TextSection,
    VariantSection,
    listed,
    validated,
)
from benchmark.corpora import registry as corpora
from benchmark.corpora.card import REPOSITORY
from benchmark.corpora.corpus import Documents
from benchmark.errors import ConfigError
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.kernels import KERNELS
from benchmark.representation import IDF_SOURCES, NORMALIZATIONS, WEIGHTINGS
from benchmark.text.lexer import DIGIT_RULES, Lexing
from benchmark.text.stoplist import STOPLISTS
from benchmark.text.vocabulary import Pruning
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.card import DatasetCard
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.config.source import Location, YamlSource

PUBLISHED = REPOSITORY / "results" / "published"


def check_config(source: YamlSource) -> Experiment:
    """Check plain data of the kind "table" and expand it into cells."""
    config = validated(ConfigSection, source)
    variants = {BASE: variant_of(BASE, config, VariantSection(), source, ())}
    for name, override in config.variants.items():
        check_variant_name(name, source)
        variants[name] = variant_of(name, config, override, source, ("variants", name))
    protocol = component("protocol", PROTOCOLS, config.protocol, source, ("protocol",))
    for variant in variants.values():
        require_single_labels(variant, source)
        _check_splits(variant, protocol, source)
    cells = _cells(config, variants, source)
    if config.expect.model_fields_set and all(cell.variant != BASE for cell in cells):
        raise source.error(("expect",), f"expect is of the variant {BASE!r}, and no cell uses it")
    for index, metric in enumerate(config.metrics):
        if metric not in METRICS:
            raise source.error(("metrics", index), unknown("metric", metric, list(METRICS)))
        if metric in config.metrics[:index]:
            raise source.error(("metrics", index), f"the metric {metric!r} is listed twice")
    return Experiment(
        **common(config, source),
        variants=variants,
        protocol=protocol,
        cells=cells,
        compare=pairs_of(config.compare, [cell.id for cell in cells], source),
        metrics=tuple(config.metrics),
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
    )


def common(config: StudySection, source: YamlSource) -> dict[str, Any]:
    """What every kind of configuration says alike, checked: the fields of `Study` but its variants and pairs."""
    papers = sorted(path.stem for path in PUBLISHED.glob("*.yaml"))
    if config.paper is not None and config.paper not in papers:
        raise source.error(("paper",), unknown("paper", config.paper, papers))
    return {
        "kind": config.kind,
        "name": config.name,
        "title": config.title or config.name,
        "paper": config.paper,
        "explains": config.explains,
        "seed": config.seed,
        "notes": tuple(config.notes),
        "raw": source.data,
    }


def check_variant_name(name: str, source: YamlSource) -> None:
    """Refuse a variant that can't be part of a cell's id, or that is called as the configuration itself."""
    if name == BASE or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        problem = "a variant's name is made of a-z, 0-9, '.' and '-', and 'base' is the configuration itself"
        raise source.error(("variants", name), f"{name!r}: {problem}")


class OfCorpus(Protocol):
    """The sections of a configuration that say which documents it reads, and how."""

    corpus: CorpusSection
    text: TextSection

    @property
    def idf(self) -> str:
        """Whose documents the inverse document frequency is counted over."""


def variant_of(name: str, config: OfCorpus, override: VariantSection, source: YamlSource, place: Location) -> Variant:
    """A choice of documents and lexing, checked against the corpus's card."""
    text = config.text.model_copy(update=override.text.model_dump(exclude_none=True))
    own_text, own_corpus = override.text.model_fields_set, override.corpus.model_fields_set

    def in_text(key: str) -> Location:
        return (*place, "text", key) if key in own_text else ("text", key)

    for key, allowed in (("digits", list(DIGIT_RULES)), ("stoplist", list(STOPLISTS))):
        if getattr(text, key) not in allowed:
            raise source.error(in_text(key), unknown(f"{key} rule", getattr(text, key), allowed))
    for key in ("min_occurrences", "min_documents"):
        if getattr(text, key) < 1:
            problem = f"{key} is {getattr(text, key)}; it must be at least 1, which prunes nothing"
            raise source.error(in_text(key), problem)
    idf = override.idf or config.idf
    if idf not in IDF_SOURCES:
        raise source.error((*place, "idf") if override.idf else ("idf",), unknown("idf source", idf, IDF_SOURCES))
    given = config.corpus.classes if override.corpus.classes is None else override.corpus.classes
    where = (*place, "corpus", "classes") if "classes" in own_corpus else ("corpus", "classes")
    card = _card(config.corpus, source)
    if text.counted_in is not None and text.counted_in not in card.groups:
        raise source.error(in_text("counted_in"), unknown("group", text.counted_in, card.groups))
    classes = _classes(card, given, where, source)
    exclude = config.corpus.exclude if override.corpus.exclude is None else override.corpus.exclude
    lexing = Lexing(text.skip_header, text.skip_html, text.digits, text.stoplist)
    pruning = Pruning(text.min_occurrences, text.min_documents, text.counted_in)
    return Variant(name, config.corpus.name, config.corpus.subset, classes, tuple(exclude), lexing, pruning, idf)


def _card(section: CorpusSection, source: YamlSource) -> DatasetCard:
    """The card of the corpus, or of the part of it, that a configuration names."""
    if section.name not in corpora.registered():
        raise source.error(("corpus", "name"), unknown("corpus", section.name, corpora.registered()))
    card = corpora.card(section.name)
    if section.subset is not None and section.subset not in card.subset_names:
        what = f"subset of {section.name}:"
        raise source.error(("corpus", "subset"), unknown(what, section.subset, card.subset_names))
    return card.subset(section.subset)


def require_single_labels(variant: Variant, source: YamlSource) -> None:
    """Refuse documents with several classes or none where a classifier gives each document one."""
    card = corpora.card(variant.corpus, variant.subset)
    if card.documents is not None:
        parts = [name for name in corpora.card(variant.corpus).subset_names if name != card.kept]
        single = [name for name in parts if corpora.card(variant.corpus, name).documents is None]
        problem = f"documents of {variant.corpus} ({card.kept}) have several classes or none"
        raise source.error(("corpus",), f"{problem}; name a subset with one each: {', '.join(single)}")


def _classes(card: DatasetCard, given: list[str] | None, place: Location, source: YamlSource) -> tuple[str, ...]:
    classes = card.classes if given is None else tuple(given)
    for index, each in enumerate(classes):
        if each not in card.classes:
            raise source.error((*place, index), unknown(f"class of {card.name}:", each, card.classes))
    if len(set(classes)) != len(classes) or len(classes) < 2:
        raise source.error(place, "classes must be two or more different ones")
    return classes


def expected_documents(variant: Variant) -> Documents:
    """The documents a variant will have, by its dataset card: right in number, class and group, without names.

    Of documents with several classes or none, the card doesn't say which; these have none here.
    """
    card = corpora.card(variant.corpus, variant.subset)
    if card.documents is not None:
        groups = np.repeat(np.arange(len(card.groups)), [card.documents[g] for g in card.groups]).astype(np.int32)
        none = np.zeros((len(groups), len(variant.classes)), dtype=bool)
        ids = tuple(map(str, range(len(groups))))
        return Documents(ids, np.full(len(groups), -1, dtype=np.int32), groups, variant.classes, card.groups, none)
    sizes = [card.counts[name][group] for name in variant.classes for group in card.groups]
    labels = np.repeat(np.repeat(np.arange(len(variant.classes)), len(card.groups)), sizes).astype(np.int32)
    groups = np.repeat(np.tile(np.arange(len(card.groups)), len(variant.classes)), sizes).astype(np.int32)
    return Documents(tuple(map(str, range(len(labels)))), labels, groups, variant.classes, card.groups)


def _check_splits(variant: Variant, protocol: Component, source: YamlSource) -> None:
    built: EvaluationProtocol = protocol.build()
    try:
        built.splits(expected_documents(variant))
    except ConfigError as error:
        where = "" if variant.name == BASE else f"variant {variant.name!r}: "
        raise source.error(_spoken_of(str(error), protocol.given, ("protocol",)), f"{where}{error}") from None


def _spoken_of(message: str, given: dict[str, Any], place: Location) -> Location:
    """The parameter a message speaks of, and the item it quotes if the parameter is a list."""
    key = named_in(message, given)
    items = given.get(key)
    quoted = [item for item in items if repr(item) in message] if isinstance(items, list) else []
    if not isinstance(items, list) or not quoted:
        return (*place, key)
    first = min(quoted, key=lambda item: message.index(repr(item)))  # a right name may follow, as a suggestion
    return (*place, key, items.index(first))


def component(what: str, registry: dict[str, Any], given: Any, source: YamlSource, place: Location) -> Component:
    """A name, or a mapping with a name and parameters, as a checked component."""
    try:
        return check_component(what, registry, given)
    except ComponentError as error:
        raise source.error((*place, error.key), str(error)) from None


def _cells(config: ConfigSection, variants: dict[str, Variant], source: YamlSource) -> tuple[Cell, ...]:
    default = {"name": config.classifier} if isinstance(config.classifier, str) else config.classifier
    component("classifier", CLASSIFIERS, default, source, ("classifier",))
    cells: dict[str, Cell] = {}
    for index, block in enumerate(config.cells):
        place: Location = ("cells", index)
        axes = {"variant": tuple(variants), "weighting": WEIGHTINGS, "normalization": NORMALIZATIONS}
        for key, allowed in axes.items():
            for value, where in _items(block, key, place, source):
                if value not in allowed:
                    raise source.error(where, unknown(key, value, allowed))
        kernels = [
            (component("kernel", KERNELS, one, source, where), _words(one))
            for each, where in _items(block, "kernel", place, source)
            for one in each_of("kernel", each, source, where)
        ]
        classifiers = [
            (component("classifier", CLASSIFIERS, {**default, **one}, source, where), _words(one))
            for each, where in _items(block, "classifier", place, source)
            for one in each_of("classifier", each, source, where)
        ]
        normalizations = _items(block, "normalization", place, source)
        for variant, weighting, (kernel, given), (normalization, where), (classifier, overrides) in itertools.product(
            block.variant, block.weighting, kernels, normalizations, classifiers
        ):
            allowed = kernel.build().normalizations
            if normalization not in allowed:
                needs = f"the kernel {kernel.name!r} needs the normalization {' or '.join(allowed)}"
                raise source.error(where, f"{needs}, not {normalization!r}: it is defined on the simplex")
            words = [] if variant == BASE else [variant]
            words += [weighting, normalization, kernel.name, *given, *overrides]
            cell = Cell("-".join(words), variant, weighting, normalization, kernel, classifier)
            if cell.id in cells:
                raise source.error(place, f"the cell {cell.id!r} stands in the configuration twice")
            cells[cell.id] = cell
    return tuple(cells.values())


def _items(block: CellsSection, key: str, place: Location, source: YamlSource) -> list[tuple[Any, Location]]:
    """The items of a key of a cells block, each with the place of its own if it has one (a list's item)."""
    places = [(*place, key, index) for index in range(len(getattr(block, key)))]
    return [
        (value, own if own in source.lines else (*place, key))
        for value, own in zip(getattr(block, key), places, strict=True)
    ]


def each_of(what: str, given: Any, source: YamlSource, place: Location) -> list[dict[str, Any]]:
    """A component's mapping with lists stands for every combination of their items; text is its name."""
    if isinstance(given, str):
        return [{"name": given}]
    if not isinstance(given, dict):
        raise source.error(place, f"a {what} is a name, or a mapping with a name and parameters, not {given!r}")
    for key, value in given.items():
        if value == []:
            raise source.error((*place, key), f"{key} must not be an empty list: it would leave no cell")
    return [dict(zip(given, values, strict=True)) for values in itertools.product(*(listed(v) for v in given.values()))]


def _words(parameters: dict[str, Any]) -> list[str]:
    """How parameters that a cells block sets read in a cell's id: ``c0.1``, ``t0.5``, ``one-vs-rest``."""
    words = {key: value for key, value in parameters.items() if key != "name"}
    return [value if isinstance(value, str) else f"{key.lower()}{value}" for key, value in words.items()]


def pairs_of(
    given: list[list[str]], ids: Sequence[str], source: YamlSource, what: str = "cell"
) -> tuple[tuple[str, str], ...]:
    """The pairs under `compare`: two different known names each, none twice."""
    pairs: list[tuple[str, str]] = []
    for index, pair in enumerate(given):
        if len(pair) != 2 or pair[0] == pair[1]:
            raise source.error(("compare", index), f"a comparison names two different {what}s, not {pair}")
        for position, name in enumerate(pair):
            if name not in ids:
                raise source.error(("compare", index, position), unknown(what, name, ids))
        a, b = pair
        if (a, b) in pairs or (b, a) in pairs:  # Holm's correction would count it twice
            raise source.error(("compare", index), f"{a!r} and {b!r} are compared twice")
        pairs.append((a, b))
    return tuple(pairs)
