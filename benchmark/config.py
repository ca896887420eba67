"""What a configuration may say, and the cells it stands for; what can be refused is refused here, before any work."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from benchmark.classifiers import CLASSIFIERS
from benchmark.components import Component, ComponentError, check_component, must_be, named_in, shown
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
from benchmark.yaml_source import YamlSource, read_yaml, unknown

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.yaml_source import Location

BASE = "base"
PUBLISHED = REPOSITORY / "results" / "published"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


OneOrMore = Annotated[list[Any], BeforeValidator(_listed), Field(min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Corpus(_Section):
    name: str
    classes: list[str] | None = None
    exclude: list[str] = []


class _Text(_Section):
    skip_header: bool = False
    skip_html: bool = False
    digits: str = "drop"
    stoplist: str = "smart"
    min_occurrences: int = 1
    min_documents: int = 1


class _CorpusOverride(_Section):
    classes: list[str] | None = None
    exclude: list[str] | None = None


class _TextOverride(_Section):
    skip_header: bool | None = None
    skip_html: bool | None = None
    digits: str | None = None
    stoplist: str | None = None
    min_occurrences: int | None = None
    min_documents: int | None = None


class _Variant(_Section):
    corpus: _CorpusOverride = _CorpusOverride()
    text: _TextOverride = _TextOverride()
    idf: str | None = None


class _Cells(_Section):
    variant: OneOrMore = [BASE]
    weighting: OneOrMore = ["tf"]
    normalization: OneOrMore
    kernel: OneOrMore
    classifier: OneOrMore = [{}]


class _Expect(_Section):
    documents: int | None = None
    vocabulary: int | None = None


class _Config(_Section):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = ""
    paper: str | None = None
    explains: str | None = None
    corpus: _Corpus
    text: _Text = _Text()
    idf: str = "collection"
    variants: dict[str, _Variant] = {}
    protocol: Any
    classifier: Any = "svm"
    cells: list[_Cells] = Field(min_length=1)
    compare: list[list[str]] = []
    metrics: list[str] = Field(default=list(METRICS), min_length=1)
    seed: int = Field(default=0, ge=0)
    expect: _Expect = _Expect()
    notes: list[str] = []


@dataclass(frozen=True)
class Variant:
    """One choice of documents and lexing: what a `Counts` is made from.

    Parameters
    ----------
    name : str
    corpus : str
    classes : tuple of str
        In the order that decides one-vs-one ties.
    exclude : tuple of str
        Ids of documents left out.
    lexing : Lexing
    pruning : Pruning
    idf : {"collection", "training"}
        Whose documents the inverse document frequency is counted over.
    """

    name: str
    corpus: str
    classes: tuple[str, ...]
    exclude: tuple[str, ...]
    lexing: Lexing
    pruning: Pruning
    idf: str


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a representation, a kernel and a classifier, on one variant.

    Parameters
    ----------
    id : str
        Stable words, such as ``tf-l1-ngd``.
    variant, weighting, normalization : str
    kernel, classifier : Component
    """

    id: str
    variant: str
    weighting: str
    normalization: str
    kernel: Component
    classifier: Component


@dataclass(frozen=True)
class Experiment:
    """A configuration that has been checked.

    Parameters
    ----------
    name, title : str
    paper : str or None
        Key of the paper whose numbers it is compared with.
    explains : str or None
        Name of the configuration whose deviations this one looks into.
    variants : dict of str to Variant
    protocol : Component
    cells : tuple of Cell
    compare : tuple of pairs of cell ids
    metrics : tuple of str
    seed : int
        Of the bootstrap intervals.
    expected_documents, expected_vocabulary : int or None
        What the base variant must have, or no score is computed.
    notes : tuple of str
    raw : dict
        The configuration as it was written.
    """

    name: str
    title: str
    paper: str | None
    explains: str | None
    variants: dict[str, Variant]
    protocol: Component
    cells: tuple[Cell, ...]
    compare: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    seed: int
    expected_documents: int | None
    expected_vocabulary: int | None
    notes: tuple[str, ...]
    raw: dict[str, Any] = field(repr=False)

    def cell(self, cell_id: str) -> Cell:
        """The cell of that id; ConfigError with the nearest right one if there is none."""
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise ConfigError(unknown("cell", cell_id, [cell.id for cell in self.cells]))


def load_config(path: Path) -> Experiment:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, what is wrong, the nearest right name and what is allowed.
    """
    return check_config(read_yaml(path))


def config_from_mapping(raw: dict[str, Any], name: str) -> Experiment:
    """Check a configuration that is already plain data, e.g. out of a manifest."""
    return check_config(YamlSource(name, raw))


def check_config(source: YamlSource) -> Experiment:
    """Check plain data and expand it into cells."""
    try:
        config = _Config.model_validate(source.data)
    except ValidationError as error:
        raise _explained(error, source) from None
    papers = sorted(path.stem for path in PUBLISHED.glob("*.yaml"))
    if config.paper is not None and config.paper not in papers:
        raise source.error(("paper",), unknown("paper", config.paper, papers))
    variants = {BASE: _variant(BASE, config, _Variant(), source, ())}
    for name, override in config.variants.items():
        if name == BASE or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
            problem = "a variant's name is made of a-z, 0-9, '.' and '-', and 'base' is the configuration itself"
            raise source.error(("variants", name), f"{name!r}: {problem}")
        variants[name] = _variant(name, config, override, source, ("variants", name))
    protocol = _component("protocol", PROTOCOLS, config.protocol, source, ("protocol",))
    for variant in variants.values():
        _check_splits(variant, protocol, source)
    cells = _cells(config, variants, source)
    for index, metric in enumerate(config.metrics):
        if metric not in METRICS:
            raise source.error(("metrics", index), unknown("metric", metric, list(METRICS)))
        if metric in config.metrics[:index]:
            raise source.error(("metrics", index), f"the metric {metric!r} is listed twice")
    return Experiment(
        name=config.name,
        title=config.title or config.name,
        paper=config.paper,
        explains=config.explains,
        variants=variants,
        protocol=protocol,
        cells=cells,
        compare=_pairs(config, cells, source),
        metrics=tuple(config.metrics),
        seed=config.seed,
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
        notes=tuple(config.notes),
        raw=source.data,
    )


def _variant(name: str, config: _Config, override: _Variant, source: YamlSource, place: Location) -> Variant:
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
    classes = _classes(config.corpus.name, given, where, source)
    exclude = config.corpus.exclude if override.corpus.exclude is None else override.corpus.exclude
    lexing = Lexing(text.skip_header, text.skip_html, text.digits, text.stoplist)
    pruning = Pruning(text.min_occurrences, text.min_documents)
    return Variant(name, config.corpus.name, classes, tuple(exclude), lexing, pruning, idf)


def _classes(corpus: str, given: list[str] | None, place: Location, source: YamlSource) -> tuple[str, ...]:
    if corpus not in corpora.registered():
        raise source.error(("corpus", "name"), unknown("corpus", corpus, corpora.registered()))
    card = corpora.card(corpus)
    classes = card.classes if given is None else tuple(given)
    for index, each in enumerate(classes):
        if each not in card.classes:
            raise source.error((*place, index), unknown(f"class of {corpus}:", each, card.classes))
    if len(set(classes)) != len(classes) or len(classes) < 2:
        raise source.error(place, "classes must be two or more different ones")
    return classes


def expected_documents(variant: Variant) -> Documents:
    """The documents a variant will have, by its dataset card: right in number, class and group, without names."""
    card = corpora.card(variant.corpus)
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


def _component(what: str, registry: dict[str, Any], given: Any, source: YamlSource, place: Location) -> Component:
    try:
        return check_component(what, registry, given)
    except ComponentError as error:
        raise source.error((*place, error.key), str(error)) from None


def _cells(config: _Config, variants: dict[str, Variant], source: YamlSource) -> tuple[Cell, ...]:
    default = {"name": config.classifier} if isinstance(config.classifier, str) else config.classifier
    _component("classifier", CLASSIFIERS, default, source, ("classifier",))
    cells: dict[str, Cell] = {}
    for index, block in enumerate(config.cells):
        place: Location = ("cells", index)
        axes = {"variant": tuple(variants), "weighting": WEIGHTINGS, "normalization": NORMALIZATIONS}
        for key, allowed in axes.items():
            for value, where in _items(block, key, place, source):
                if value not in allowed:
                    raise source.error(where, unknown(key, value, allowed))
        kernels = [
            (_component("kernel", KERNELS, one, source, where), _words(one))
            for each, where in _items(block, "kernel", place, source)
            for one in _each("kernel", each, source, where)
        ]
        classifiers = [
            (_component("classifier", CLASSIFIERS, {**default, **one}, source, where), _words(one))
            for each, where in _items(block, "classifier", place, source)
            for one in _each("classifier", each, source, where)
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


def _items(block: _Cells, key: str, place: Location, source: YamlSource) -> list[tuple[Any, Location]]:
    """The items of a key of a cells block, each with the place of its own if it has one (a list's item)."""
    places = [(*place, key, index) for index in range(len(getattr(block, key)))]
    return [
        (value, own if own in source.lines else (*place, key))
        for value, own in zip(getattr(block, key), places, strict=True)
    ]


def _each(what: str, given: Any, source: YamlSource, place: Location) -> list[dict[str, Any]]:
    """A component's mapping with lists stands for every combination of their items; text is its name."""
    if isinstance(given, str):
        return [{"name": given}]
    if not isinstance(given, dict):
        raise source.error(place, f"a {what} is a name, or a mapping with a name and parameters, not {given!r}")
    for key, value in given.items():
        if value == []:
            raise source.error((*place, key), f"{key} must not be an empty list: it would leave no cell")
    return [
        dict(zip(given, values, strict=True)) for values in itertools.product(*(_listed(v) for v in given.values()))
    ]


def _words(parameters: dict[str, Any]) -> list[str]:
    """How parameters that a cells block sets read in a cell's id: ``c0.1``, ``t0.5``, ``one-vs-rest``."""
    words = {key: value for key, value in parameters.items() if key != "name"}
    return [value if isinstance(value, str) else f"{key.lower()}{value}" for key, value in words.items()]


def _pairs(config: _Config, cells: tuple[Cell, ...], source: YamlSource) -> tuple[tuple[str, str], ...]:
    ids = [cell.id for cell in cells]
    pairs: list[tuple[str, str]] = []
    for index, pair in enumerate(config.compare):
        if len(pair) != 2 or pair[0] == pair[1]:
            raise source.error(("compare", index), f"a comparison names two different cells, not {pair}")
        for position, name in enumerate(pair):
            if name not in ids:
                raise source.error(("compare", index, position), unknown("cell", name, ids))
        a, b = pair
        if (a, b) in pairs or (b, a) in pairs:  # Holm's correction would count it twice
            raise source.error(("compare", index), f"{a!r} and {b!r} are compared twice")
        pairs.append((a, b))
    return tuple(pairs)


def _explained(error: ValidationError, source: YamlSource) -> ConfigError:
    """What pydantic found in our words: all of it at once."""
    found = []
    for problem in error.errors():
        location: Location = tuple(problem["loc"])
        key = location[-1] if location else ""
        if problem["type"] == "extra_forbidden":
            message = unknown("key", key, _keys_at(location[:-1]))
        elif problem["type"] == "missing":
            message = f"the key {key!r} is missing"
        elif problem["type"] == "invalid_key":
            location = (*location[:-1], str(key))
            message = f"the key {key!r} must be text: put it in quotes"
        elif problem["type"] == "string_pattern_mismatch":
            must = "must begin with a letter or digit, and go on with these, '.', '_' or '-'"
            message = f"{key} is {problem['input']!r}: {must}"
        else:
            what = ".".join(map(str, location)) or "the configuration"
            message = f"{what} is {shown(problem['input'])}: {must_be(problem)}"
            if problem["type"] == "model_type":
                message += f", such as {', '.join(_keys_at(location)[:3])}"
        found.append((source.line(location), str(source.error(location, message))))
    return ConfigError("\n".join(message for _, message in sorted(found)))


def _keys_at(location: Location) -> list[str]:
    """The keys that the schema allows at a location."""
    sections: dict[tuple[str, ...], type[BaseModel]] = {
        (): _Config,
        ("corpus",): _Corpus,
        ("text",): _Text,
        ("expect",): _Expect,
        ("cells", "*"): _Cells,
        ("variants", "*"): _Variant,
        ("variants", "*", "corpus"): _CorpusOverride,
        ("variants", "*", "text"): _TextOverride,
    }
    pattern = tuple("*" if i == 1 and location[0] in ("cells", "variants") else str(x) for i, x in enumerate(location))
    return list(sections[pattern].model_fields)
