"""Configurations of the kind "category-curves": a binary machine for each category, on draws of growing size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from benchmark.config.check import (
    check_variant_name,
    common,
    component,
    expected_documents,
    pairs_of,
    variant_of,
)
from benchmark.config.model import Study
from benchmark.config.schema import (
    BASE,
    CorpusSection,
    ExpectSection,
    OneOrMore,
    Section,
    StudySection,
    TextOverride,
    TextSection,
    VariantSection,
    validated,
)
from benchmark.kernels.models.fisher import PLSIFisher
from benchmark.kernels.models.hp_top import HyperplaneTop
from benchmark.representation import NORMALIZATIONS
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Named, Variant
    from benchmark.config.source import Location, YamlSource

KIND = "category-curves"
WEIGHTINGS = ("tf", "binary", "tfidf")
LINEAR, HP_TOP, PLSI_FISHER = "linear", "hp-top", "plsi-fisher"


@dataclass(frozen=True)
class LinearMachines:
    """A linear SVM for each category."""


@dataclass(frozen=True)
class HyperplaneTopMachines:
    """An SVM on the HP-TOP kernel for each category; `HyperplaneTop` has the parameters."""

    component: str = "gaussian"

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        HyperplaneTop(component=self.component).check()


@dataclass(frozen=True)
class PlsiFisherMachines:
    """An SVM on the Fisher kernel of PLSI for each category; `PLSIFisher` has the parameters, but for the seed."""

    n_classes: Sequence[int] = (10, 20, 30)
    tolerance: float = 1e-4
    max_iterations: int = 2000
    restarts: int = 1
    temper: float = 1.0

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        PLSIFisher(self.n_classes, self.tolerance, self.max_iterations, self.restarts, temper=self.temper).check()


METHODS: dict[str, type] = {
    LINEAR: LinearMachines,
    HP_TOP: HyperplaneTopMachines,
    PLSI_FISHER: PlsiFisherMachines,
}


class MachineSection(Section):
    """`machine:` the support vector machine of every method."""

    C: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    epsilon: float = Field(default=1e-3, gt=0, allow_inf_nan=False)


class MachineOverride(Section):
    """What a variant changes of `machine`."""

    C: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class CategoryVariantSection(Section):
    """An item of `variants`: one choice made otherwise."""

    text: TextOverride = TextOverride()
    weighting: str | None = None
    normalization: str | None = None
    machine: MachineOverride = MachineOverride()


class CategoryCurvesSection(StudySection):
    """The whole file."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    test: str = "test"
    weighting: str = "tf"
    normalization: str = "l2"
    sizes: list[int] = Field(min_length=1)
    replicates: int = Field(ge=2)
    nested: bool = False
    methods: OneOrMore
    machine: MachineSection = MachineSection()
    compare: list[list[str]] = Field(default_factory=list)
    variants: dict[str, CategoryVariantSection] = Field(default_factory=dict)
    expect: ExpectSection = ExpectSection()

    @property
    def idf(self) -> str:
        """Counted over each draw's own training documents."""
        return "training"


@dataclass(frozen=True)
class Setting:
    """One choice of documents, representation and machine.

    Parameters
    ----------
    name : str
    documents : Variant
    weighting : {"tf", "binary", "tfidf"}
        Of the vectors that the linear machines and HP-TOP see; PLSI sees the counts.
    normalization : {"none", "l1", "l2"}
    C, epsilon : float
        LIBSVM's -c and -e.
    """

    name: str
    documents: Variant
    weighting: str
    normalization: str
    C: float
    epsilon: float


@dataclass(frozen=True)
class CategoryPoint:
    """One point of a curve: a cell of the table."""

    id: str
    setting: str
    method: str
    size: int


@dataclass(frozen=True)
class CategoryCurves(Study):
    """F-measures of binary machines against training sizes, on documents with any number of categories.

    Parameters
    ----------
    settings : tuple of Setting
        The configuration itself ("base") and its variants.
    test : str
        Group that every draw is tested on; the draws are from the other groups.
    sizes : tuple of int
        Training documents, ascending.
    replicates : int
        Draws a size.
    nested : bool
        Whether a replicate's smaller training set is part of its larger one.
    methods : tuple of Component
    cells : tuple of CategoryPoint
    """

    settings: tuple[Setting, ...]
    test: str
    sizes: tuple[int, ...]
    replicates: int
    nested: bool
    methods: tuple[Component, ...]
    cells: tuple[CategoryPoint, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells


def check_category_curves(source: YamlSource) -> CategoryCurves:
    """Check plain data of this kind and list its cells."""
    config = validated(CategoryCurvesSection, source)
    methods = _methods(config, source)
    settings = _settings(config, source)
    names = [method.name for method in methods]
    pairs = pairs_of(config.compare, names, source, "method")
    study = CategoryCurves(
        **common(config, source),
        variants={setting.name: setting.documents for setting in settings},
        compare=tuple(
            (cell_id(setting.name, a, size), cell_id(setting.name, b, size))
            for setting in settings
            for a, b in pairs
            for size in config.sizes
        ),
        settings=settings,
        test=config.test,
        sizes=tuple(config.sizes),
        replicates=config.replicates,
        nested=config.nested,
        methods=methods,
        cells=tuple(
            CategoryPoint(cell_id(setting.name, name, size), setting.name, name, size)
            for setting in settings
            for name in names
            for size in config.sizes
        ),
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
    )
    _check_draws(study, source)
    return study


def cell_id(setting: str, method: str, size: int) -> str:
    """Id of a point: ``hp-top-1000``, the setting's name in front unless it is the base."""
    return "-".join([*([] if setting == BASE else [setting]), method, str(size)])


def _methods(config: CategoryCurvesSection, source: YamlSource) -> tuple[Component, ...]:
    methods: dict[str, Component] = {}
    for index, given in enumerate(config.methods):
        place: Location = ("methods", index)
        method = component("method", METHODS, given, source, place)
        if method.name in methods:
            raise source.error(place, f"the method {method.name!r} stands here twice")
        methods[method.name] = method
    return tuple(methods.values())


def _settings(config: CategoryCurvesSection, source: YamlSource) -> tuple[Setting, ...]:
    for name in config.variants:
        check_variant_name(name, source)
    found = []
    sections: dict[str, CategoryVariantSection] = {BASE: CategoryVariantSection(), **config.variants}
    for name, override in sections.items():
        place: Location = () if name == BASE else ("variants", name)
        documents = variant_of(name, config, VariantSection(text=override.text), source, place)
        chosen = {}
        for key, allowed in (("weighting", WEIGHTINGS), ("normalization", NORMALIZATIONS)):
            own = getattr(override, key)
            chosen[key] = getattr(config, key) if own is None else own
            if chosen[key] not in allowed:
                raise source.error((*place, key) if own else (key,), unknown(key, chosen[key], allowed))
        machine = config.machine.model_copy(update=override.machine.model_dump(exclude_none=True))
        found.append(Setting(name, documents, **chosen, C=machine.C, epsilon=machine.epsilon))
    return tuple(found)


def _check_draws(study: CategoryCurves, source: YamlSource) -> None:
    """Every size must be there to be drawn, by the card's counts."""
    sizes = list(study.sizes)
    if sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise source.error(("sizes",), f"sizes must be positive and ascending, none twice, not {sizes}")
    variant = study.settings[0].documents
    documents = expected_documents(variant)
    if study.test not in documents.group_names:
        raise source.error(("test",), unknown(f"group of {variant.corpus}:", study.test, documents.group_names))
    tested = documents.groups == documents.group_names.index(study.test)
    pool = int((~tested).sum())
    if not 0 < pool < len(documents):
        problem = f"the group {study.test!r} has {len(documents) - pool} of {len(documents)} documents"
        raise source.error(("test",), f"{problem}: there must be some to train on, and some to test on")
    for index, size in enumerate(sizes):
        if size > pool:
            there = f"there are {pool:,} outside the group {study.test!r}"
            raise source.error(("sizes", index), f"{size:,} training documents can't be drawn: {there}")
