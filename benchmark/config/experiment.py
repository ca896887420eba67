"""Plain data to a checked `Experiment`: all that can be refused without data is refused here, before any work."""

from __future__ import annotations

import fnmatch
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.config.cells import list_cells, list_pairs
from benchmark.config.collection import collection_from_config
from benchmark.config.components import check_component
from benchmark.config.figure_views import list_figures
from benchmark.config.methods import list_methods
from benchmark.config.model import ALL_CLASSES, BASE_VARIANT, Experiment, TermSelection, Variant
from benchmark.config.other_methods import check_ranked
from benchmark.config.schema import ExperimentSection
from benchmark.config.schema_errors import check_known, validate_section
from benchmark.config.tasks import check_splits, inner_protocol, list_tasks, protocol_and_sizes
from benchmark.evaluation.metrics import is_metric_defined
from benchmark.system.errors import ConfigError, quote_value, unknown_name
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.config.registries import Registries
    from benchmark.system.registries import Registry
    from benchmark.system.yaml_source import Node

#: The metrics of a configuration that names none, as far as they are defined for its documents.
DEFAULT_METRICS = ("accuracy", "macro-f1", "micro-f1", "macro-f1-of-means")
#: End of the name of a user's file with published values.
PAPER_SUFFIX = ".yaml"


def check_experiment(node: Node, known: Registries, papers: Sequence[str] | None = None) -> Experiment:
    """Check plain data and list its cells.

    Parameters
    ----------
    node : Node
    known : Registries
        What it can name.
    papers : sequence of str, optional
        Keys that `paper` can name; any, unless they are listed.
    """
    config = validate_section(ExperimentSection, node)
    paper, own_paper = _paper(node["paper"], papers)
    choices = ("",) if config.choose is None else tuple(config.choose.by)
    variants = {BASE_VARIANT: _variant(BASE_VARIANT, config, node, known)} if config.run_base else {}
    for name in config.variants:
        over = node["variants"][name]
        if name == BASE_VARIANT:
            raise over.error(f"{quote_value(name)} is the configuration itself, not a variant of it")
        varied = node.without("variants").merged(over)
        variants[name] = _variant(name, validate_section(ExperimentSection, varied), varied, known)
    if not variants:
        raise node["run_base"].error("run_base: false leaves nothing to run: add variants")
    _check_readings(config, variants, node["readings"])
    first = next(iter(variants.values()))
    if config.per_class:
        _check_classes(variants, node)
    metrics = _metrics(config, node["metrics"], known.metrics, multilabel=first.collection.multilabel)
    diagnostics = tuple(check_component("diagnostic", known.diagnostics, each) for each in node["diagnostics"])
    if config.gain and any(len(variant.sizes) < 2 for variant in variants.values()):
        raise node["gain"].error("a gain needs a smallest and a largest training size: list two or more")
    cells = list_cells(variants.values(), choices, diagnostics, by_class=config.per_class, gain=config.gain)
    ids = [cell.id for cell in cells]
    if len(set(ids)) < len(ids):
        twice = next(name for name, number in Counter(ids).items() if number > 1)
        raise node["variants"].error(f"two cells would have the id {twice!r}: rename a variant or a task")
    figures = list_figures(config, tuple(variants.values()), metrics, diagnostics, node["figures"], known)
    asked = dict.fromkeys([*metrics, *(metric for figure in figures for metric in figure.y)])
    ranking = next((name for name in asked if name in known.metrics and known.metrics[name].ranking is not None), None)
    for variant in variants.values() if ranking is not None else ():
        check_ranked(variant, str(ranking), node)
    declared = {quantity.name for component in diagnostics for quantity in component.cls.metrics}
    return Experiment(
        name=config.name,
        title=config.title or config.name,
        paper=paper,
        own_paper=own_paper,
        sensitivity_of=config.sensitivity_of,
        seed=config.seed,
        notes=tuple(config.notes),
        raw=node.value,
        compare=list_pairs(cells, config.holm_within, node["compare"]),
        variants=variants,
        cells=cells,
        choices=choices,
        inner=inner_protocol(config, first.collection),
        metrics=metrics,
        by_class=config.per_class,
        diagnostics=diagnostics,
        tuned_cells=_tuned(config, ids, node["tuned_to_published"]),
        figures=figures,
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
        scorers={k: each for k, each in known.metrics.items() if k in asked or k not in known.metrics.origins},
        declared=known.quantities,
        quantities={name: each for name, each in known.quantities.items() if name in declared},
        registries=known,
        readings=config.readings,
    )


def _variant(name: str, config: ExperimentSection, node: Node, known: Registries) -> Variant:
    collection = collection_from_config(config, node, known.corpora)
    tasks = list_tasks(config, collection, node)
    protocol, sizes = protocol_and_sizes(config, node, known.protocols)
    entries = list_methods(config, node, known, collection)
    chosen = config.terms
    terms = None if chosen is None else TermSelection(tuple(chosen.number), chosen.rank, chosen.aggregate)
    for spec in (spec for entry in entries for spec in entry.candidates):
        if terms is not None and "n_terms" in spec.classifier.given:
            raise node["terms"].error(f"`terms` sets the number of terms: remove n_terms from {spec.classifier.name!r}")
    check_splits(collection, tasks, protocol, sizes, inner_protocol(config, collection), node)
    return Variant(name, collection, tasks, protocol, sizes, terms, entries)


def _paper(node: Node, papers: Sequence[str] | None) -> tuple[str | None, dict[str, Any] | None]:
    """Return the key of a paper, and the content of the file if one beside the configuration is named."""
    named: str | None = node.value
    if named is not None and named.endswith(PAPER_SUFFIX):
        try:
            content = read_yaml(node.folder / Path(named).expanduser()).value
        except ConfigError as error:
            raise node.error(str(error)) from None
        return str(content.get("paper", Path(named).stem)), content
    if papers is not None and named is not None and named not in papers:
        raise node.error(f"{unknown_name('paper', named, papers)}; a file of your own ends with {PAPER_SUFFIX}")
    return named, None


def _check_readings(config: ExperimentSection, variants: Mapping[str, Variant], node: Node) -> None:
    """Refuse readings that are no variants, that lack the configuration itself, or that no paper can have."""
    for name in config.readings:
        check_known("variant", name, variants, node[name])
    if config.readings and (BASE_VARIANT not in config.readings or config.paper is None or config.sensitivity_of):
        problem = f"readings are of a configuration with a `paper`, no sensitivity analysis; {BASE_VARIANT!r} is one"
        raise node.error(problem)


def _check_classes(variants: dict[str, Variant], node: Node) -> None:
    """Refuse a class named "all", and variants with other classes, where every class is scored by itself."""
    first = next(iter(variants.values()))
    for name, variant in variants.items():
        for same, task in zip(first.tasks, variant.tasks, strict=True):
            if ALL_CLASSES in task.classes:
                raise node["corpus"]["classes"].error(
                    f"no class may be called {ALL_CLASSES!r}: it stands for all together"
                )
            if same.classes != task.classes:
                problem = "with `per_class: true`, a variant must have the classes of its configuration"
                raise node["variants"].at([name, "corpus", "classes"]).error(problem)


def _metrics(config: ExperimentSection, node: Node, known: Registry, *, multilabel: bool) -> tuple[str, ...]:
    """Return the metrics to compute; refuse those not defined for all classes or, if each is scored, for one class."""
    of_class = {False, config.per_class}
    allowed = [
        name
        for name in known
        if all(is_metric_defined(name, multilabel=multilabel, of_class=each, known=known) for each in of_class)
    ]
    named = [name for name in DEFAULT_METRICS if name in allowed] if config.metrics is None else config.metrics
    for index, metric in enumerate(named):
        if metric not in allowed:
            what = "metric of documents with several classes" if multilabel else "metric"
            raise node[index].error(known.broken.get(metric) or unknown_name(what, metric, allowed))
    return tuple(named)


def _tuned(config: ExperimentSection, ids: list[str], node: Node) -> dict[str, str]:
    """Return the choices tuned to published values, by cell; `cells` is a pattern such as ``table-pooled-*``."""
    found: dict[str, str] = {}
    for section, at in zip(config.tuned_to_published, node, strict=True):
        cells = fnmatch.filter(ids, section.cells)
        if not cells:
            raise at["cells"].error(unknown_name("cell", section.cells, ids, listed=False))
        found |= dict.fromkeys(cells, f"{section.choice}, to come near {section.to}")
    return found
