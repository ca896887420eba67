"""Configurations of the kind "centroid-curves": naive Bayes with several centroids, on draws of growing size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from benchmark.classifiers.centroids.graphs import GRAPHS
from benchmark.classifiers.divergence_bayes import CENTROIDS, LENGTHS, PRIORS, DivergenceBayes
from benchmark.config.check import (
    check_variant_name,
    common,
    expected_documents,
    pairs_of,
    require_single_labels,
    variant_of,
)
from benchmark.config.model import Study
from benchmark.config.schema import (
    BASE,
    CorpusOverride,
    CorpusSection,
    ExpectSection,
    Section,
    StudySection,
    TextOverride,
    TextSection,
    VariantSection,
    validated,
)
from benchmark.errors import ConfigError
from benchmark.evaluation.protocols import RandomSubsets
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Named, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import Split
    from benchmark.config.source import Location, YamlSource

KIND = "centroid-curves"
#: Cells that are no point of a curve: what the accuracy rises by over the curve, and a row of Table I.
GROWTH, TABLE = "growth", "table"
#: The average over the topics; a class of this name would be taken for it.
ALL = "all"


class TableSection(Section):
    """`table:` the average SKL of each class's centroid to those of the others."""

    centroids: list[str] = Field(default=list(CENTROIDS), min_length=1)
    smoothing: list[float] = Field(default_factory=list)
    resamples: int = Field(default=200, ge=2)


class FlowSection(Section):
    """`flow:` the gradient flow against the exact solution, on all documents."""

    graphs: list[str] = Field(default=list(GRAPHS), min_length=1)
    tolerance: float = Field(default=1e-9, gt=0, allow_inf_nan=False)


class CentroidVariantSection(Section):
    """An item of `variants`: one choice made otherwise."""

    corpus: CorpusOverride = CorpusOverride()
    text: TextOverride = TextOverride()
    smoothing: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    prior: str | None = None
    length: str | None = None
    test: str | None = None


class CentroidCurvesSection(StudySection):
    """The whole file."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    smoothing: float = Field(gt=0, allow_inf_nan=False)
    prior: str = "empirical"
    length: str = "ignored"
    test: str | None = None
    centroids: list[str] = Field(default=["mean", "skl"], min_length=1)
    sizes: list[int] = Field(min_length=1)
    replicates: int = Field(ge=2)
    table: TableSection = TableSection()
    flow: FlowSection | None = None
    compare: list[list[str]] = Field(default_factory=list)
    variants: dict[str, CentroidVariantSection] = Field(default_factory=dict)
    expect: ExpectSection = ExpectSection()

    @property
    def idf(self) -> str:
        """Counts alone are used; the value is `Variant`'s default."""
        return "collection"


@dataclass(frozen=True)
class Setting:
    """One choice of documents, smoothing and rule.

    Parameters
    ----------
    name : str
    documents : Variant
    smoothing : float
        s, added to every count of a document.
    prior : {"empirical", "uniform"}
    length : {"ignored", "counted"}
    test : str or None
        Group that every draw is tested on; None for all documents that a draw doesn't train on.
    """

    name: str
    documents: Variant
    smoothing: float
    prior: str
    length: str
    test: str | None

    def classifier(self, centroid: str) -> DivergenceBayes:
        """Naive Bayes with these centroids, untrained."""
        return DivergenceBayes(centroid, self.smoothing, self.prior, self.length)


@dataclass(frozen=True)
class CentroidCell:
    """A point of a curve, a growth, or a number of Table I.

    Parameters
    ----------
    id : str
    what : {"point", "growth", "table"}
    setting, topic, centroid : str
        The topic is a class, or "all".
    size : int
        Training documents; 0 where `what` is no point.
    """

    id: str
    what: str
    setting: str
    topic: str
    centroid: str
    size: int = 0


@dataclass(frozen=True)
class CentroidCurves(Study):
    """Accuracies of naive Bayes against training sizes, by centroid and topic.

    Parameters
    ----------
    settings : tuple of Setting
        The configuration itself ("base") and its variants.
    classes : tuple of str
    centroids, table_centroids : tuple of str
        Of the curves, and of Table I.
    sizes : tuple of int
        Training documents in all, ascending.
    replicates : int
        Draws a size.
    table_smoothing : tuple of float
        Values that the base's Table I is repeated for, ascending.
    resamples : int
        Bootstrap resamples of the documents, for the intervals of Table I.
    graphs : tuple of str
        That the flow runs on; none where it doesn't.
    tolerance : float
        Of the flow, in nats.
    cells : tuple of CentroidCell
    """

    settings: tuple[Setting, ...]
    classes: tuple[str, ...]
    centroids: tuple[str, ...]
    table_centroids: tuple[str, ...]
    sizes: tuple[int, ...]
    replicates: int
    table_smoothing: tuple[float, ...]
    resamples: int
    graphs: tuple[str, ...]
    tolerance: float
    cells: tuple[CentroidCell, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells

    @property
    def topics(self) -> tuple[str, ...]:
        """What curves there are: the average over the topics, and each."""
        return (ALL, *self.classes)

    def splits(self, setting: Setting, documents: Documents, size: int) -> list[Split]:
        """The draws of one size."""
        return RandomSubsets(size, self.replicates, self.seed, test=setting.test).splits(documents)


def check_centroid_curves(source: YamlSource) -> CentroidCurves:
    """Check plain data of this kind and list its cells."""
    config = validated(CentroidCurvesSection, source)
    _check_lists(config, source)
    settings = _settings(config, source)
    classes = settings[0].documents.classes
    for topic in classes:
        if topic == ALL:
            raise source.error(("corpus", "classes"), f"no class may be called {ALL!r}: that is their average")
    topics, sizes = (ALL, *classes), tuple(config.sizes)
    study = CentroidCurves(
        **common(config, source),
        variants={setting.name: setting.documents for setting in settings},
        compare=tuple(
            (cell_id(s.name, topic, a, size), cell_id(s.name, topic, b, size))
            for s in settings
            for topic in topics
            for a, b in pairs_of(config.compare, config.centroids, source, "centroid")
            for size in sizes
        ),
        settings=settings,
        classes=classes,
        centroids=tuple(config.centroids),
        table_centroids=tuple(config.table.centroids),
        sizes=sizes,
        replicates=config.replicates,
        table_smoothing=tuple(config.table.smoothing),
        resamples=config.table.resamples,
        graphs=tuple(config.flow.graphs) if config.flow else (),
        tolerance=config.flow.tolerance if config.flow else FlowSection().tolerance,
        cells=_cells(config, settings, topics),
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
    )
    _check_draws(study, source)
    return study


def cell_id(setting: str, topic: str, centroid: str, size: int) -> str:
    """Id of a point: ``trade-skl-200``, the setting's name in front unless it is the base."""
    return "-".join([*_prefix(setting), topic, centroid, str(size)])


def growth_id(setting: str, topic: str, centroid: str) -> str:
    """Id of a growth: ``growth-trade-skl``."""
    return "-".join([*_prefix(setting), GROWTH, topic, centroid])


def table_id(setting: str, topic: str, centroid: str) -> str:
    """Id of a number of Table I: ``table-skl-trade``."""
    return "-".join([*_prefix(setting), TABLE, centroid, topic])


def _prefix(setting: str) -> list[str]:
    return [] if setting == BASE else [setting]


def _cells(
    config: CentroidCurvesSection, settings: tuple[Setting, ...], topics: tuple[str, ...]
) -> tuple[CentroidCell, ...]:
    found = []
    for s in settings:
        for topic in topics:
            for centroid in config.centroids:
                found += [
                    CentroidCell(cell_id(s.name, topic, centroid, size), "point", s.name, topic, centroid, size)
                    for size in config.sizes
                ]
        found += [
            CentroidCell(growth_id(s.name, topic, centroid), GROWTH, s.name, topic, centroid)
            for topic in topics
            for centroid in config.centroids
        ]
        found += [
            CentroidCell(table_id(s.name, topic, centroid), TABLE, s.name, topic, centroid)
            for centroid in config.table.centroids
            for topic in topics[1:]
        ]
    return tuple(found)


def _check_lists(config: CentroidCurvesSection, source: YamlSource) -> None:
    """Refuse names that are unknown or listed twice, and numbers that don't ascend."""
    lists: list[tuple[Location, list[str], str, Sequence[str]]] = [
        (("centroids",), config.centroids, "centroid", CENTROIDS),
        (("table", "centroids"), config.table.centroids, "centroid", CENTROIDS),
        (("flow", "graphs"), config.flow.graphs if config.flow else [], "graph", list(GRAPHS)),
    ]
    for place, names, what, allowed in lists:
        for index, name in enumerate(names):
            if name not in allowed:
                raise source.error((*place, index), unknown(what, name, list(allowed)))
            if name in names[:index]:
                raise source.error((*place, index), f"the {what} {name!r} is listed twice")
    numbers: list[tuple[Location, Sequence[float]]] = [
        (("sizes",), config.sizes),
        (("table", "smoothing"), config.table.smoothing),
    ]
    for place, values in numbers:
        if list(values) != sorted(set(values)) or not all(0 < value < np.inf for value in values):
            problem = f"{place[-1]} must be positive and ascending, none twice, not {list(values)}"
            raise source.error(place, problem)


def _settings(config: CentroidCurvesSection, source: YamlSource) -> tuple[Setting, ...]:
    for name in config.variants:
        check_variant_name(name, source)
    found = []
    sections: dict[str, CentroidVariantSection] = {BASE: CentroidVariantSection(), **config.variants}
    for name, override in sections.items():
        place: Location = () if name == BASE else ("variants", name)
        if override.corpus.classes is not None:
            where = (*place, "corpus", "classes")
            raise source.error(where, "a variant has the classes of its configuration: its curves are the same topics'")
        documents = variant_of(name, config, VariantSection(corpus=override.corpus, text=override.text), source, place)
        require_single_labels(documents, source)
        choices: dict[str, str] = {}
        for key, allowed in (("prior", PRIORS), ("length", LENGTHS)):
            given = getattr(override, key)
            choices[key] = getattr(config, key) if given is None else given
            if choices[key] not in allowed:
                raise source.error((key,) if given is None else (*place, key), unknown(key, choices[key], allowed))
        smoothing = config.smoothing if override.smoothing is None else override.smoothing
        test = config.test if override.test is None else override.test
        found.append(Setting(name, documents, smoothing, choices["prior"], choices["length"], test))
    return tuple(found)


def _check_draws(study: CentroidCurves, source: YamlSource) -> None:
    """Make a draw of every size on documents as the card counts them: each class must train, and be tested."""
    for setting in study.settings:
        documents = expected_documents(setting.documents)
        place: Location = () if setting.name == BASE else ("variants", setting.name)
        if setting.test is not None and setting.test not in documents.group_names:
            given = setting.name != BASE and setting.test != study.settings[0].test
            where = (*place, "test") if given else ("test",)
            raise source.error(where, unknown("group", setting.test, documents.group_names))
        for index, size in enumerate(study.sizes):
            try:
                split = RandomSubsets(size, 1, study.seed, test=setting.test).splits(documents)[0]
            except ConfigError as error:
                raise source.error(("sizes", index), f"{size} training documents: {error}") from None
            tested = np.bincount(documents.labels[split.test], minlength=len(study.classes))
            if not tested.all():
                names = ", ".join(study.classes[i] for i in np.flatnonzero(tested == 0))
                raise source.error(("sizes", index), f"{size} training documents leave none to test of {names}")
