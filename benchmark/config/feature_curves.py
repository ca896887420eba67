"""Configurations of the kind "feature-curves": accuracy on one test set against the number of selected terms."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.svm import SCHEMES
from benchmark.config.check import (
    check_variant_name,
    common,
    expected_documents,
    pairs_of,
    require_single_labels,
    variant_of,
)
from benchmark.config.feature_sections import FeatureCurvesSection, FeatureVariantSection, PanelSection
from benchmark.config.model import Study
from benchmark.config.schema import BASE, VariantSection, validated
from benchmark.corpora import registry as corpora
from benchmark.representation.selection import AGGREGATES
from benchmark.representation import NORMALIZATIONS, WEIGHTINGS
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Named, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.config.source import Location, YamlSource

KIND = "feature-curves"
MNB, COMPLEMENT, PPT, EEF, SVM = METHODS = ("mnb", "complement-nb", "ppt", "eef", "svm")
#: Methods for which each class selects terms of its own; the others share one selection.
CLASS_SPECIFIC = (PPT, EEF)
COUNTS = ("counts", "presence")


@dataclass(frozen=True)
class Setting:
    """One choice of documents and parameters.

    Parameters
    ----------
    name : str
    documents : Variant
    smoothing : float
        Added to every count by the four Bayesian methods, > 0.
    counts : {"counts", "presence"}
        Whether a term counts as often as it occurs in a document, or once.
    selection : {"sum", "average", "maximum"}
        How the class-independent methods make one gain of those of the classes, see `information_gain.aggregate`.
    C, epsilon : float
        LIBSVM's -c and -e.
    scheme : {"one-vs-one", "one-vs-rest"}
    weighting, normalization : str
        Of the machine's points, over the selected terms.
    """

    name: str
    documents: Variant
    smoothing: float
    counts: str
    selection: str
    C: float
    epsilon: float
    scheme: str
    weighting: str
    normalization: str

    def resolved(self, method: str) -> dict[str, Any]:
        """The parameters that decide what a method predicts, and no others."""
        own: dict[str, Any] = {"name": method, "counts": self.counts}
        if method not in CLASS_SPECIFIC:
            own["selection"] = self.selection
        if method != SVM:
            return own | {"smoothing": self.smoothing}
        keys = ("C", "epsilon", "scheme", "weighting", "normalization")
        return own | {key: getattr(self, key) for key in keys}


@dataclass(frozen=True)
class FeaturePanel:
    """One data set: the documents of some classes.

    Parameters
    ----------
    name : str
        The title in small letters, digits and hyphens.
    title : str
    classes : tuple of str
        Largest first, or as given; ties of any method go to the first.
    """

    name: str
    title: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class FeaturePoint:
    """One point of a curve: a cell of the table."""

    id: str
    setting: str
    panel: str
    method: str
    size: int


@dataclass(frozen=True)
class FeatureCurves(Study):
    """Accuracies against the number of selected terms, on a fixed split.

    Parameters
    ----------
    settings : tuple of Setting
        The configuration itself ("base") and its variants.
    panels : tuple of FeaturePanel
    methods : tuple of str
    sizes : tuple of int
        Terms selected, ascending: for all classes, or for each.
    train_groups, test_groups : tuple of str
    cells : tuple of FeaturePoint
    """

    settings: tuple[Setting, ...]
    panels: tuple[FeaturePanel, ...]
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    train_groups: tuple[str, ...]
    test_groups: tuple[str, ...]
    cells: tuple[FeaturePoint, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells

    def rows(self, documents: Documents, panel: FeaturePanel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Training documents of a panel, class after class, and its test documents, in their order."""
        codes = [documents.classes.index(name) for name in panel.classes]
        labels = panel_labels(documents, panel)
        train, test = (
            np.flatnonzero(
                np.isin(documents.labels, codes)
                & np.isin(documents.groups, [documents.group_names.index(name) for name in groups])
            )
            for groups in (self.train_groups, self.test_groups)
        )
        return train[np.argsort(labels[train], kind="stable")], test


def panel_labels(documents: Documents, panel: FeaturePanel) -> NDArray[np.int32]:
    """Each document's class by its position in the panel, -1 for other classes, shape (n,)."""
    position = np.full(len(documents.classes), -1, dtype=np.int32)
    position[[documents.classes.index(name) for name in panel.classes]] = np.arange(len(panel.classes))
    return position[documents.labels]


def check_feature_curves(source: YamlSource) -> FeatureCurves:
    """Check plain data of this kind and list its cells."""
    config = validated(FeatureCurvesSection, source)
    settings = _settings(config, source)
    train, test = _groups(config, source)
    panels = _panels(config, settings[0].documents, train, test, source)
    _check_methods(config, source)
    _check_sizes(config, source)
    pairs = pairs_of(config.compare, config.methods, source, "method")
    cells = tuple(
        FeaturePoint(cell_id(setting.name, panel.name, method, size), setting.name, panel.name, method, size)
        for setting, panel, method, size in itertools.product(settings, panels, config.methods, config.sizes)
    )
    if len({cell.id for cell in cells}) < len(cells):
        raise source.error(("variants",), "a variant and a panel are named so that two cells have the same id")
    return FeatureCurves(
        **common(config, source),
        variants={setting.name: setting.documents for setting in settings},
        compare=tuple(
            (cell_id(setting.name, panel.name, a, size), cell_id(setting.name, panel.name, b, size))
            for setting, panel in itertools.product(settings, panels)
            for a, b in pairs
            for size in config.sizes
        ),
        settings=settings,
        panels=panels,
        methods=tuple(config.methods),
        sizes=tuple(config.sizes),
        train_groups=train,
        test_groups=test,
        cells=cells,
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
    )


def cell_id(setting: str, panel: str, method: str, size: int) -> str:
    """Id of a point: ``reuters-10-eef-500``, the setting's name in front unless it is the base."""
    return "-".join([*([] if setting == BASE else [setting]), panel, method, str(size)])


def _settings(config: FeatureCurvesSection, source: YamlSource) -> tuple[Setting, ...]:
    for name in config.variants:
        check_variant_name(name, source)
    found = []
    sections: dict[str, FeatureVariantSection] = {BASE: FeatureVariantSection(), **config.variants}
    for name, override in sections.items():
        place: Location = () if name == BASE else ("variants", name)
        documents = variant_of(name, config, VariantSection(text=override.text), source, place)
        require_single_labels(documents, source)
        own = override.model_dump(exclude_none=True)
        chosen = {key: own.get(key, getattr(config, key)) for key in ("smoothing", "counts", "selection")}
        machine = config.machine.model_dump() | own["machine"]
        _check_words(chosen, own, (("counts", COUNTS), ("selection", tuple(AGGREGATES))), source, place, ())
        words = (("scheme", SCHEMES), ("weighting", WEIGHTINGS), ("normalization", NORMALIZATIONS))
        _check_words(machine, own["machine"], words, source, place, ("machine",))
        found.append(Setting(name, documents, **chosen, **machine))
    return tuple(found)


def _check_words(
    chosen: dict[str, Any],
    own: dict[str, Any],
    allowed: tuple[tuple[str, tuple[str, ...]], ...],
    source: YamlSource,
    place: Location,
    section: Location,
) -> None:
    """Refuse a word that isn't allowed, where it stands: in the variant, or in the configuration itself."""
    for key, words in allowed:
        if chosen[key] not in words:
            where = (*place, *section, key) if key in own else (*section, key)
            raise source.error(where, unknown(key, chosen[key], words))


def _groups(config: FeatureCurvesSection, source: YamlSource) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = corpora.card(config.corpus.name, config.corpus.subset).groups
    seen: set[str] = set()
    for key in ("train", "test"):
        for name in getattr(config.split, key):
            if name not in known:
                raise source.error(("split", key), unknown(f"group of {config.corpus.name}:", name, known))
            if name in seen:
                raise source.error(("split", key), f"the group {name!r} stands in `split` twice")
            seen.add(name)
    return tuple(config.split.train), tuple(config.split.test)


def _panels(
    config: FeatureCurvesSection,
    variant: Variant,
    train: tuple[str, ...],
    test: tuple[str, ...],
    source: YamlSource,
) -> tuple[FeaturePanel, ...]:
    """The panels, with classes that the card says can be learnt and tested."""
    documents = expected_documents(variant)
    by_group = documents.sizes()
    sides = [by_group[:, [documents.group_names.index(name) for name in side]].sum(axis=1) for side in (train, test)]
    to_train, to_test = (dict(zip(documents.classes, map(int, side), strict=True)) for side in sides)
    found: dict[str, FeaturePanel] = {}
    for index, section in enumerate(config.panels):
        place: Location = ("panels", index)
        totals = {name: to_train[name] + to_test[name] for name in documents.classes}
        classes = _classes(section, totals, place, source)
        key = "classes" if section.classes else "largest"
        for name in classes:
            if not to_train[name]:
                problem = f"the class {name!r} has no training document ({', '.join(train)})"
                raise source.error((*place, key), problem)
        if not any(to_test[name] for name in classes):
            raise source.error((*place, key), f"no class has a test document ({', '.join(test)})")
        name = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        if not name:
            raise source.error(
                (*place, "title"), f"the title {section.title!r} needs a letter or digit: it names cells"
            )
        if name in found:
            raise source.error((*place, "title"), f"two panels are named {name!r}")
        found[name] = FeaturePanel(name, section.title, classes)
    return tuple(found.values())


def _classes(section: PanelSection, totals: dict[str, int], place: Location, source: YamlSource) -> tuple[str, ...]:
    """Named classes as they stand; or the largest ones by all their documents, equals in the corpus's order."""
    if (section.largest is None) == (section.classes is None):
        raise source.error(place, "a panel has either `largest`, a number of classes, or `classes`, their names")
    if section.classes is not None:
        for index, name in enumerate(section.classes):
            if name not in totals:
                raise source.error((*place, "classes", index), unknown("class", name, list(totals)))
        if len(set(section.classes)) != len(section.classes) or len(section.classes) < 2:
            raise source.error((*place, "classes"), "classes must be two or more different ones")
        return tuple(section.classes)
    if section.largest is None or section.largest > len(totals):
        raise source.error((*place, "largest"), f"largest is {section.largest}, but there are {len(totals)} classes")
    ranked = sorted(totals, key=lambda name: -totals[name])
    return tuple(ranked[: section.largest])


def _check_methods(config: FeatureCurvesSection, source: YamlSource) -> None:
    for index, name in enumerate(config.methods):
        if name not in METHODS:
            raise source.error(("methods", index), unknown("method", name, METHODS))
        if name in config.methods[:index]:
            raise source.error(("methods", index), f"the method {name!r} is listed twice")


def _check_sizes(config: FeatureCurvesSection, source: YamlSource) -> None:
    sizes, vocabulary = list(config.sizes), config.expect.vocabulary
    if sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise source.error(("sizes",), f"sizes must be positive and ascending, none twice, not {sizes}")
    if vocabulary is not None and sizes[-1] > vocabulary:
        problem = f"{sizes[-1]} terms can't be selected from the {vocabulary} that `expect` says there are"
        raise source.error(("sizes", len(sizes) - 1), problem)
