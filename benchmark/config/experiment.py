"""Plain data to a checked `Experiment`: all that can be refused without data is refused here, before any work."""

from __future__ import annotations

import fnmatch
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.config.cells import list_cells, list_figures, list_pairs
from benchmark.config.collection import collection_from_config
from benchmark.config.components import Component, ComponentError, check_component, component_parameters
from benchmark.config.limits import check_cell_name
from benchmark.config.methods import list_methods
from benchmark.config.model import (
    ALL_CLASSES,
    BASE_VARIANT,
    CHOOSE_CROSS_VALIDATION,
    CHOOSE_ORACLE,
    CHOOSE_TEMPORAL_HOLDOUT,
    Experiment,
    Variant,
)
from benchmark.config.other_methods import check_ranked
from benchmark.config.schema import ChooseSection, ExperimentSection, TermsSection, TextSection
from benchmark.config.schema_errors import ConfigSection, validate_section
from benchmark.config.tasks import check_splits, inner_protocol, list_tasks, protocol_and_sizes, term_selection
from benchmark.evaluation.metrics import is_metric_defined
from benchmark.system.errors import ConfigError, quote_value, unknown_name
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchmark.config.registries import Registries
    from benchmark.evaluation.metrics import Metric
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Location, YamlSource

CHOICE_METHODS = (CHOOSE_ORACLE, CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT)
#: The metrics of a configuration that names none, as far as they are defined for its documents.
DEFAULT_METRICS = ("accuracy", "macro-f1", "micro-f1", "macro-f1-of-means")
#: End of the name of a user's file with published values.
PAPER_SUFFIX = ".yaml"
#: Keys that a variant may override; its cells are those of the configuration, unless it names methods.
VARIANT_KEYS = ("corpus", "text", "protocol", "terms", "defaults", "methods")


def check_experiment(source: YamlSource, known: Registries, papers: Sequence[str] | None = None) -> Experiment:
    """Check plain data and list its cells.

    Parameters
    ----------
    source : YamlSource
    known : Registries
        What it can name.
    papers : sequence of str, optional
        Keys that `paper` can name; any, unless they are listed.
    """
    config = validate_section(ExperimentSection, source, homes=_homes(known))
    paper, own_paper = _paper(config.paper, source, papers)
    choices = _choices(config, source)
    variants = {BASE_VARIANT: _variant(BASE_VARIANT, config, source, known)} if config.run_base else {}
    unvaried = source.without(["variants"])
    for name in config.variants:
        check_variant_name(name, source)
        own = _varied(unvaried, source.part(("variants", name)))
        variants[name] = _variant(name, validate_section(ExperimentSection, own), own, known)
    if not variants:
        raise source.error(("run_base",), "run_base: false leaves nothing to run: add variants")
    if not config.run_base and config.expect.model_fields_set:
        raise source.error(
            ("expect",), "`expect` describes the configuration itself, which run_base: false doesn't run"
        )
    _check_readings(config, variants, source)
    first = next(iter(variants.values()))
    _check_classes(config, variants, source)
    multilabel = first.collection.multilabel
    metrics = _metrics(config, source, known.metrics, multilabel=multilabel)
    measured = _measures(config, known.diagnostics, source)
    if config.gain and any(len(variant.sizes) < 2 for variant in variants.values()):
        raise source.error(("gain",), "a gain needs a smallest and a largest training size: list two or more")
    cells = list_cells(variants.values(), choices, measured, by_class=config.per_class, gain=config.gain)
    ids = [cell.id for cell in cells]
    if len(set(ids)) < len(ids):
        twice = next(name for name, number in Counter(ids).items() if number > 1)
        raise source.error(("variants",), f"two cells would have the id {twice!r}: rename a variant or a task")
    figures = list_figures(config, tuple(variants.values()), metrics, measured, source, known)
    asked = dict.fromkeys([*metrics, *(metric for figure in figures for metric in figure.y)])
    ranking = next((name for name in asked if name in known.metrics and known.metrics[name].ranking is not None), None)
    for variant in variants.values() if ranking is not None else ():
        check_ranked(variant, str(ranking), source)
    declared = {quantity.name for component in measured for quantity in component.cls.metrics}
    return Experiment(
        name=config.name,
        title=config.title or config.name,
        paper=paper,
        own_paper=own_paper,
        sensitivity_of=config.sensitivity_of,
        seed=config.seed,
        notes=tuple(config.notes),
        raw={key: value for key, value in source.data.items() if key != "parallel"},
        compare=list_pairs(config.compare, cells, config.holm_within, source),
        variants=variants,
        cells=cells,
        choices=choices,
        inner=inner_protocol(config, first.collection),
        metrics=metrics,
        by_class=config.per_class,
        diagnostics=measured,
        tuned_cells=_fitted(config, ids, source),
        figures=figures,
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
        scorers=_scorers(known.metrics, asked.keys()),
        declared=known.quantities,
        quantities={name: each for name, each in known.quantities.items() if name in declared},
        known=known,
        parallel=config.parallel,
        readings=config.readings,
    )


def _homes(known: Registries) -> dict[str, str]:
    """Return the section of each key that is no key of a configuration itself."""
    kinds = {"corpus": known.corpora, "protocol": known.protocols, "defaults": known.methods}
    homes = {
        key: section
        for section, registry in kinds.items()
        for component in registry.values()
        for key in component_parameters(component)
    }
    sections: dict[str, type[ConfigSection]] = {"terms": TermsSection, "choose": ChooseSection, "text": TextSection}
    return homes | {key: name for name, section in sections.items() for key in section.model_fields}


def _scorers(known: Registry, asked: AbstractSet[str]) -> dict[str, Metric]:
    """Return the metrics of this package, and those of plug-ins that are asked for."""
    return {name: metric for name, metric in known.items() if name in asked or name not in known.origins}


def check_variant_name(name: str, source: YamlSource) -> None:
    """Refuse a variant name that can't be part of a cell's id, or that stands for the configuration itself."""
    check_cell_name(name, "a variant's name", source, ("variants", name))
    if name == BASE_VARIANT:
        raise source.error(("variants", name), f"{quote_value(name)} is the configuration itself, not a variant of it")


def _varied(source: YamlSource, over: YamlSource) -> YamlSource:
    """Return the configuration with the values of one variant in place of its own, each with its line number."""
    for key in over.data:
        if key not in VARIANT_KEYS:
            raise over.error((key,), unknown_name("key of a variant", key, VARIANT_KEYS))
    return source.overlaid(over)


def _variant(name: str, config: ExperimentSection, source: YamlSource, known: Registries) -> Variant:
    collection = collection_from_config(config, source, known.corpora)
    tasks = list_tasks(config, collection, source)
    protocol, sizes = protocol_and_sizes(config, source, known.protocols)
    over = None if config.choose is None else frozenset(config.choose.grid_keys)
    entries = list_methods(config.methods, config.defaults, source, known, collection.reader, choose=over)
    terms = term_selection(config, source)
    for spec in (spec for entry in entries for spec in entry.candidates):
        if terms is not None and "n_terms" in spec.classifier.given:
            problem = f"`terms` sets how many terms are selected: remove n_terms from {spec.classifier.name!r}"
            raise source.error(("terms",), problem)
    variant = Variant(name, collection, tasks, protocol, sizes, terms, entries)
    check_splits(collection, tasks, protocol, sizes, inner_protocol(config, collection), source)
    return variant


def _choices(config: ExperimentSection, source: YamlSource) -> tuple[str, ...]:
    if config.choose is None:
        return ("",)
    for index, value in enumerate(config.choose.by):
        if value not in CHOICE_METHODS:
            raise source.error(("choose", "by", index), unknown_name("way to choose", value, CHOICE_METHODS))
        if value in config.choose.by[:index]:
            raise source.error(("choose", "by", index), f"{value!r} is listed twice")
    if {CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT} <= set(config.choose.by):
        raise source.error(
            ("choose", "by"), f"{CHOOSE_CROSS_VALIDATION} and {CHOOSE_TEMPORAL_HOLDOUT} can't be combined: name one"
        )
    return tuple(config.choose.by)


def _paper(
    named: str | None, source: YamlSource, papers: Sequence[str] | None
) -> tuple[str | None, dict[str, Any] | None]:
    """Return the key of a paper, and the content of the file if one beside the configuration is named."""
    if named is not None and named.endswith(PAPER_SUFFIX):
        try:
            content = read_yaml(source.folder(("paper",)) / Path(named).expanduser()).data
        except ConfigError as error:
            raise source.error(("paper",), str(error)) from None
        return str(content.get("paper", Path(named).stem)), content
    if papers is not None and named is not None and named not in papers:
        problem = unknown_name("paper", named, papers)
        raise source.error(("paper",), f"{problem}; a file of your own ends with {PAPER_SUFFIX}: paper: ./mine.yaml")
    return named, None


def _check_readings(config: ExperimentSection, variants: Mapping[str, Variant], source: YamlSource) -> None:
    """Refuse readings that are no variants, that are fewer than two, or of a configuration that has no paper."""
    for name in config.readings:
        if name not in variants:
            raise source.error(("readings", name), unknown_name("variant", name, list(variants)))
    if config.readings and (len(config.readings) < 2 or BASE_VARIANT not in config.readings):
        raise source.error(("readings",), f"name {BASE_VARIANT!r}, the configuration itself, and a variant or more")
    if config.readings and (config.paper is None or config.sensitivity_of):
        problem = "readings are of a configuration with a `paper`, which is no sensitivity analysis"
        raise source.error(("readings",), problem)


def _check_classes(config: ExperimentSection, variants: dict[str, Variant], source: YamlSource) -> None:
    """Refuse a class named "all", and variants with other classes, where every class is scored by itself."""
    if not config.per_class:
        return
    first = next(iter(variants.values()))
    for name, variant in variants.items():
        for own, task in zip(first.tasks, variant.tasks, strict=True):
            if ALL_CLASSES in task.classes:
                raise source.error(
                    ("corpus", "classes"),
                    f"no class may be called {ALL_CLASSES!r}: the name stands for all classes together",
                )
            if own.classes != task.classes:
                where: Location = ("variants", name, "corpus", "classes")
                raise source.error(
                    where, "with `per_class: true`, a variant must have the classes of its configuration"
                )


def _metrics(config: ExperimentSection, source: YamlSource, known: Registry, *, multilabel: bool) -> tuple[str, ...]:
    """Return the metrics to compute; refuse those not defined for all classes or, if each is scored, for one class."""
    allowed = [name for name in known if is_metric_defined(name, multilabel=multilabel, of_class=False, known=known)]
    if config.per_class:
        allowed = [
            name for name in allowed if is_metric_defined(name, multilabel=multilabel, of_class=True, known=known)
        ]
    given = [name for name in DEFAULT_METRICS if name in allowed] if config.metrics is None else config.metrics
    for index, metric in enumerate(given):
        if metric not in allowed:
            what = "metric of documents with several classes" if multilabel else "metric"
            problem = known.broken.get(metric) or unknown_name(what, metric, allowed)
            if metric in known and f"macro-{metric}" in allowed:
                problem = f"{metric!r} is of one class; macro-{metric} is its mean over the classes: take that"
            raise source.error(("metrics", index), problem)
        if metric in given[:index]:
            raise source.error(("metrics", index), f"the metric {metric!r} is listed twice")
    return tuple(given)


def _fitted(config: ExperimentSection, ids: list[str], source: YamlSource) -> dict[str, str]:
    """Return the choices tuned to published values, by cell; `cells` is a pattern such as ``table-pooled-*``."""
    found: dict[str, str] = {}
    for index, each in enumerate(config.tuned_to_published):
        own = fnmatch.filter(ids, each.cells)
        if not own:
            raise source.error(
                ("tuned_to_published", index, "cells"), unknown_name("cell", each.cells, ids, listed=False)
            )
        found |= dict.fromkeys(own, f"{each.choice}, to come near {each.to}")
    return found


def _measures(
    config: ExperimentSection, registry: Mapping[str, type[Any]], source: YamlSource
) -> tuple[Component, ...]:
    found: list[Component] = []
    for index, given in enumerate(config.diagnostics):
        try:
            found.append(check_component("diagnostic", registry, given))
        except ComponentError as error:
            raise source.error(("diagnostics", index, error.key), str(error)) from None
    return tuple(found)
