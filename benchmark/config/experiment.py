"""A configuration to a checked `Experiment`: all that can be refused without data is refused here, before any work."""

from __future__ import annotations

import fnmatch
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from benchmark.config.cells import list_cells, list_pairs
from benchmark.config.collection import CorpusSection, TextSection, collection_from_config
from benchmark.config.components import check_component
from benchmark.config.figure_views import FigureSection, list_figures
from benchmark.config.method_sections import AnyMethod, DefaultsSection
from benchmark.config.methods import check_ranked, list_methods
from benchmark.config.model import BASE_VARIANT, Experiment, TermSelection, Variant
from benchmark.config.schema import (
    AnyComponent,
    CellName,
    ConfigSection,
    Distinct,
    OneOrMore,
    Pair,
    check_known,
    validate_section,
)
from benchmark.config.tasks import (
    AnyTask,
    ChooseSection,
    TermsSection,
    check_splits,
    inner_protocol,
    list_tasks,
    protocol_and_sizes,
)
from benchmark.evaluation.metrics import is_metric_defined
from benchmark.system.errors import ConfigError, did_you_mean, quote_value, unknown_name
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_shipped, shipped_files
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Registries, Registry
    from benchmark.system.yaml_source import Node

#: Keys that a file doesn't inherit from the file that it extends, since they identify a configuration.
FILE_KEYS = ("name", "title", "paper", "sensitivity_of", "notes", "tuned_to_published", "readings", "extends")
#: The metrics of a configuration that names none, as far as they are defined for its documents.
DEFAULT_METRICS = ("accuracy", "macro-f1", "micro-f1", "macro-f1-of-means")
AnyMetric = Annotated[str, WithJsonSchema({"component": "metrics"})]


class TunedSection(ConfigSection):
    """An item of `tuned_to_published:` cells with a setting that was tuned to a published value.

    Parameters
    ----------
    cells : str
        A pattern of the cells' ids, such as table-pooled-*.
    choice : str
        The setting that was chosen.
    to : str
        The published value to which it was tuned.
    """

    cells: str = Field(max_length=200)
    choice: str
    to: str


#: Keys that a variant may override; its cells are those of the configuration, unless it names methods.
VariantKey = Literal["corpus", "text", "protocol", "terms", "defaults", "methods"]


class ExperimentSection(ConfigSection):
    """A whole configuration, after the files that it extends and its variant are merged.

    Parameters
    ----------
    name : str
        Name of the run folder.
    title : str
        Title above the tables; by default the name.
    paper : str or None
        The paper whose published values are compared, or a file with them: ./mine.yaml.
    sensitivity_of : str or None
        The configuration whose deviations this sensitivity analysis explains.
    seed : int
        Seed of all random steps that set no seed of their own.
    notes : list of str
        Lines below the tables.
    plugins : list of str
        Python files with the user's own components.
    corpus : CorpusSection
        The documents.
    text : TextSection
        How documents become counts.
    expect : dict
        Numbers that the configuration itself must have, of `documents` and of different words in its `vocabulary`, or
        no score is computed.
    tasks : list of list of str or TaskSection
        Choices of classes, each classified by itself: names of classes, or a section.
    protocol : EvaluationProtocol
        How documents are split; a list of training sizes is the horizontal axis of curves.
    terms : TermsSection or None
        Curves over the number of selected terms.
    defaults : DefaultsSection
        Values for methods that have such a parameter and don't set it.
    methods : str, a section, or a list of these
        Methods; a list of values stands for each value in turn.
    choose : ChooseSection or None
        Lists inside a kernel or classifier are candidates.
    metrics : list of str or None
        Metrics to compute; the first is the main one.
    per_class : bool
        Whether to score every class by itself, too.
    gain : bool
        Whether to add the gain of each score from the smallest training size to the largest.
    compare : list of list of str
        Pairs of cells, or of methods in all cells that otherwise agree.
    holm_within : list of str
        Comparisons with equal values in these columns form a family of Holm's correction.
    diagnostics : list of Diagnostic
        Diagnostics: numbers that are no predictions.
    tuned_to_published : list of TunedSection
        Settings that were tuned to published values.
    figures : list of FigureSection
        Figures of the scores; by default one of the main metric.
    variants : dict
        Variants by name, each with the settings that it changes.
    readings : dict
        Variants that are equal readings of the paper, each in a few words; `base` is the configuration itself.
        Claims are judged under each of them.
    run_base : bool
        Whether to run the configuration itself, beside its variants.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    title: str = ""
    paper: str | None = None
    sensitivity_of: str | None = None
    seed: int = Field(default=0, ge=0)
    notes: list[str] = Field([])
    plugins: list[str] = Field([])
    corpus: CorpusSection
    text: TextSection = TextSection()
    expect: dict[Literal["documents", "vocabulary"], Annotated[int, Field(ge=0)]] = Field({})
    tasks: list[AnyTask] = Field([])
    protocol: Annotated[AnyComponent, WithJsonSchema({"component": "protocols"})]
    terms: TermsSection | None = None
    defaults: DefaultsSection = DefaultsSection()
    methods: OneOrMore[AnyMethod]
    choose: ChooseSection | None = None
    metrics: Annotated[Distinct[AnyMetric], Field(min_length=1)] | None = None
    per_class: bool = False
    gain: bool = False
    compare: list[Pair] = Field([])
    holm_within: list[Literal["variant", "choice", "task", "class", "size", "terms", "pair"]] = Field(
        ["variant", "choice", "class"]
    )
    diagnostics: list[Annotated[AnyComponent, WithJsonSchema({"component": "diagnostics"})]] = Field([])
    tuned_to_published: list[TunedSection] = Field([])
    figures: list[FigureSection] = Field([])
    variants: dict[CellName, Annotated[dict[VariantKey, Any], WithJsonSchema({"component": "variants"})]] = Field({})
    readings: dict[str, str] = Field({})
    run_base: bool = True


def read_config(path: Path, extended_by: tuple[Path, ...] = ()) -> Node:
    """Read a configuration; where it ``extends: other``, merge it into the other file.

    Parameters
    ----------
    path : Path
    extended_by : tuple of Path, optional
        The files through which this one is read, the first one first.

    Raises
    ------
    ConfigError
        If a file can't be read, isn't YAML, or extends itself.
    """
    node = read_yaml(path, str(extended_by[0]) if extended_by else "")
    if "extends" not in node:
        return node
    extends = node["extends"]
    name = extends.value
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise extends.error(f"extends is {quote_value(name)}: must name a configuration in the same folder")
    other = path.with_name(name if name.endswith(".yaml") else f"{name}.yaml")
    if not other.exists():
        other = find_shipped(CONFIGS_FOLDER, other.name)
    if not other.exists():
        near = [each.stem for each in (*sorted(path.parent.glob("*.yaml")), *shipped_files(CONFIGS_FOLDER, "*.yaml"))]
        raise extends.error(f"no configuration {name!r} in the same folder or in the package{did_you_mean(name, near)}")
    if other.resolve() in (path.resolve(), *(each.resolve() for each in extended_by)):
        raise extends.error(f"extends: {name} goes round in a circle")
    # Where the extended file isn't run, nor are the numbers expected that describe it.
    not_taken = (*FILE_KEYS, "expect") if node["run_base"].value is False else FILE_KEYS
    return read_config(other, (*extended_by, path)).without(*not_taken).merged(node.without("extends"))


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
    for name in config.readings:
        check_known("variant", name, variants, node["readings"][name])
    first = next(iter(variants.values()))
    metrics = _metrics(config, node["metrics"], known.metrics, multilabel=first.collection.multilabel)
    diagnostics = tuple(check_component("diagnostic", known.diagnostics, each) for each in node["diagnostics"])
    if config.gain and any(len(variant.sizes) < 2 for variant in variants.values()):
        raise node["gain"].error("a gain needs a smallest and a largest training size: list two or more")
    cells = list_cells(variants.values(), choices, diagnostics, by_class=config.per_class, gain=config.gain)
    ids = [cell.id for cell in cells]
    if len(set(ids)) < len(ids):
        twice = next(name for name, number in Counter(ids).items() if number > 1)
        raise node["variants" if config.variants else "tasks"].error(
            f"two cells would have the id {twice!r}: rename a variant or a task"
        )
    figures = list_figures(config.figures, tuple(variants.values()), metrics, diagnostics, node["figures"], known)
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
        inner=inner_protocol(config.choose, config.seed, first.collection),
        metrics=metrics,
        by_class=config.per_class,
        diagnostics=diagnostics,
        tuned_cells=_tuned(config, ids, node["tuned_to_published"]),
        figures=figures,
        expected_documents=config.expect.get("documents"),
        expected_vocabulary=config.expect.get("vocabulary"),
        scorers={k: each for k, each in known.metrics.items() if k in asked or k not in known.metrics.origins},
        quantities={name: each for name, each in known.quantities.items() if name in declared},
        registries=known,
        readings=config.readings,
    )


def _variant(name: str, config: ExperimentSection, node: Node, known: Registries) -> Variant:
    collection = collection_from_config(config.corpus, config.tasks, node, known.corpora)
    tasks = list_tasks(config.tasks, collection, node["tasks"])
    protocol, sizes = protocol_and_sizes(config.seed, node["protocol"], known.protocols)
    entries = list_methods(config.choose, node, known, collection)
    chosen = config.terms
    terms = None if chosen is None else TermSelection(tuple(chosen.number), chosen.rank, chosen.aggregate)
    for spec in (spec for entry in entries for spec in entry.candidates):
        if terms is not None and "n_terms" in spec.classifier.given:
            raise node["terms"].error(f"`terms` sets the number of terms: remove n_terms from {spec.classifier.name!r}")
    variant = Variant(name, collection, tasks, protocol, sizes, terms, entries)
    check_splits(variant, inner_protocol(config.choose, config.seed, collection), node)
    return variant


def _paper(node: Node, papers: Sequence[str] | None) -> tuple[str | None, dict[str, Any] | None]:
    """Return the key of a paper, and the content of the file if one beside the configuration is named."""
    named: str | None = node.value
    if named is None or not named.endswith(".yaml"):
        check_known("paper", named, [named] if named is None or papers is None else papers, node)
        return named, None
    try:
        content = read_yaml(node.folder / Path(named).expanduser()).value
    except ConfigError as error:
        raise node.error(str(error)) from None
    return str(content.get("paper", Path(named).stem)), content


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
