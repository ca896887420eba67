"""Configurations of the kind "learning-curves": kernels on pairs of classes, trained on draws of growing size."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from benchmark.config.check import (
    check_variant_name,
    common,
    component,
    each_of,
    expected_documents,
    pairs_of,
    require_single_labels,
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
from benchmark.corpora import registry as corpora
from benchmark.errors import ConfigError
from benchmark.evaluation.protocols import KFold, RandomSubsets
from benchmark.kernels import KERNELS
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Named, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import Split
    from benchmark.config.source import Location, YamlSource

KIND = "learning-curves"
ORACLE, INNER = "oracle", "cross-validation"
SELECTIONS = (ORACLE, INNER)
SCALES = ("none", "mean-self-product")


class MachineSection(Section):
    """`machine:` the support vector machine of every kernel."""

    C: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    scale: str = "none"
    epsilon: float = Field(default=1e-3, gt=0, allow_inf_nan=False)


class MachineOverride(Section):
    """What a variant changes of `machine`."""

    C: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    scale: str | None = None
    epsilon: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class CurveVariantSection(Section):
    """An item of `variants`: one choice made otherwise."""

    text: TextOverride = TextOverride()
    smoothing: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    machine: MachineOverride = MachineOverride()


class LearningCurvesSection(StudySection):
    """The whole file."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    smoothing: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    tasks: list[list[str]] = Field(min_length=1)
    sizes: list[int] = Field(min_length=1)
    replicates: int = Field(ge=2)
    kernels: OneOrMore
    machine: MachineSection = MachineSection()
    selection: list[str] = Field(default=list(SELECTIONS), min_length=1)
    inner_folds: int = Field(default=5, ge=2)
    compare: list[list[str]] = Field(default_factory=list)
    variants: dict[str, CurveVariantSection] = Field(default_factory=dict)
    expect: ExpectSection = ExpectSection()

    @property
    def idf(self) -> str:
        """Frequencies alone are used; the value is `Variant`'s default."""
        return "collection"


@dataclass(frozen=True)
class Setting:
    """One choice of documents, smoothing and machine.

    Parameters
    ----------
    name : str
    documents : Variant
    smoothing : float
        Added to every count: the posterior mean under a symmetric Dirichlet prior (Lafferty & Lebanon 2002, equation
        3); 0 is maximum likelihood.
    C, epsilon : float
        LIBSVM's -c and -e.
    scale : {"none", "mean-self-product"}
        What C is a multiple of: 1, or the inverse of the mean k(x, x) over the task's documents. The latter makes
        machines blind to a constant factor of the kernel; it was the default of SVMlight (Joachims 1999).
    """

    name: str
    documents: Variant
    smoothing: float
    C: float
    scale: str
    epsilon: float


@dataclass(frozen=True)
class Task:
    """Two classes to be told apart."""

    name: str
    first: str
    second: str

    def documents(self, documents: Documents) -> tuple[np.ndarray[Any, np.dtype[np.intp]], Documents]:
        """Rows of the two classes, and these documents as a collection of two classes."""
        codes = [documents.classes.index(name) for name in (self.first, self.second)]
        rows = np.flatnonzero(np.isin(documents.labels, codes))
        taken = documents.take(rows)
        labels = (taken.labels == codes[1]).astype(np.int32)
        own = type(documents)(taken.ids, labels, taken.groups, (self.first, self.second), taken.group_names)
        return rows, own


@dataclass(frozen=True)
class Curve:
    """A kernel and the grid of its free parameters, in the order given."""

    name: str
    grid: tuple[Component, ...]


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve: a cell of the table."""

    id: str
    setting: str
    task: str
    curve: str
    selection: str
    size: int


@dataclass(frozen=True)
class LearningCurves(Study):
    """Test errors against training sizes, on pairs of classes.

    Parameters
    ----------
    settings : tuple of Setting
        The configuration itself ("base") and its variants.
    tasks : tuple of Task
    sizes : tuple of int
        Training documents, ascending.
    replicates : int
        Draws a size.
    curves : tuple of Curve
    selections : tuple of str
        How free parameters are chosen: by the test error ("oracle") or by cross-validation on training documents.
    inner_folds : int
    cells : tuple of CurvePoint
    """

    settings: tuple[Setting, ...]
    tasks: tuple[Task, ...]
    sizes: tuple[int, ...]
    replicates: int
    curves: tuple[Curve, ...]
    selections: tuple[str, ...]
    inner_folds: int
    cells: tuple[CurvePoint, ...]

    @property
    def named_cells(self) -> Sequence[Named]:
        """Its cells, in table order."""
        return self.cells

    def splits(self, documents: Documents, size: int) -> list[Split]:
        """The draws of one size from a task's documents."""
        return RandomSubsets(size, self.replicates, self.seed).splits(documents)


def check_learning_curves(source: YamlSource) -> LearningCurves:
    """Check plain data of this kind and list its cells."""
    config = validated(LearningCurvesSection, source)
    curves = _curves(config, source)
    tasks = _tasks(config, source)
    if config.corpus.classes is None:
        config.corpus.classes = list(dict.fromkeys(name for pair in config.tasks for name in pair))
    settings = _settings(config, source)
    for index, value in enumerate(config.selection):
        if value not in SELECTIONS:
            raise source.error(("selection", index), unknown("selection", value, SELECTIONS))
        if value in config.selection[:index]:
            raise source.error(("selection", index), f"the selection {value!r} is listed twice")
    names = [curve.name for curve in curves]
    pairs = pairs_of(config.compare, names, source, "kernel")
    cells = tuple(
        CurvePoint(cell_id(setting.name, task.name, curve.name, selection, size), *rest)
        for setting in settings
        for selection in config.selection
        for task in tasks
        for curve in curves
        for size in config.sizes
        for rest in [(setting.name, task.name, curve.name, selection, size)]
    )
    study = LearningCurves(
        **common(config, source),
        variants={setting.name: setting.documents for setting in settings},
        compare=tuple(
            (cell_id(s.name, task.name, a, selection, size), cell_id(s.name, task.name, b, selection, size))
            for s, selection, task in itertools.product(settings, config.selection, tasks)
            for a, b in pairs
            for size in config.sizes
        ),
        settings=settings,
        tasks=tasks,
        sizes=tuple(config.sizes),
        replicates=config.replicates,
        curves=curves,
        selections=tuple(config.selection),
        inner_folds=config.inner_folds,
        cells=cells,
        expected_documents=config.expect.documents,
        expected_vocabulary=config.expect.vocabulary,
    )
    _check_draws(study, source)
    return study


def cell_id(setting: str, task: str, curve: str, selection: str, size: int) -> str:
    """Id of a point: ``faculty-course-diffusion-oracle-50``, the setting's name in front unless it is the base.

    A curve without a free parameter has nothing to select; its cells are named alike all the same.
    """
    words = [] if setting == BASE else [setting]
    return "-".join([*words, task, curve, {INNER: "cv"}.get(selection, selection), str(size)])


def _curves(config: LearningCurvesSection, source: YamlSource) -> tuple[Curve, ...]:
    curves: dict[str, Curve] = {}
    for index, given in enumerate(config.kernels):
        place: Location = ("kernels", index)
        each = each_of("kernel", given, source, place)
        grid = tuple(component("kernel", KERNELS, one, source, place) for one in each)
        name = grid[0].name
        if "l1" not in grid[0].build().normalizations:
            raise source.error(place, f"the kernel {name!r} isn't defined for frequencies (the normalization 'l1')")
        if name in curves:
            raise source.error(place, f"the kernel {name!r} stands here twice: list its parameters in one item")
        seen: list[dict[str, Any]] = []
        for point in grid:
            if point.resolved in seen:
                raise source.error(place, f"the kernel {name!r} lists the same parameters twice: {point.given}")
            seen.append(point.resolved)
        curves[name] = Curve(name, grid)
    return tuple(curves.values())


def _tasks(config: LearningCurvesSection, source: YamlSource) -> tuple[Task, ...]:
    if config.corpus.name not in corpora.registered():
        raise source.error(("corpus", "name"), unknown("corpus", config.corpus.name, corpora.registered()))
    known = config.corpus.classes or corpora.card(config.corpus.name, config.corpus.subset).classes
    tasks: list[Task] = []
    for index, pair in enumerate(config.tasks):
        if len(pair) != 2 or pair[0] == pair[1]:
            raise source.error(("tasks", index), f"a task is two different classes, not {pair}")
        for position, name in enumerate(pair):
            if name not in known:
                raise source.error(("tasks", index, position), unknown(f"class of {config.corpus.name}:", name, known))
        task = Task("-".join(pair), *pair)
        if task in tasks:
            raise source.error(("tasks", index), f"the task {pair} is given twice")
        tasks.append(task)
    return tuple(tasks)


def _settings(config: LearningCurvesSection, source: YamlSource) -> tuple[Setting, ...]:
    for name in config.variants:
        check_variant_name(name, source)
    found = []
    sections: dict[str, CurveVariantSection] = {BASE: CurveVariantSection(), **config.variants}
    for name, override in sections.items():
        place: Location = () if name == BASE else ("variants", name)
        documents = variant_of(name, config, VariantSection(text=override.text), source, place)
        require_single_labels(documents, source)
        machine = config.machine.model_copy(update=override.machine.model_dump(exclude_none=True))
        if machine.scale not in SCALES:
            where: Location = (*place, "machine", "scale") if override.machine.scale else ("machine", "scale")
            raise source.error(where, unknown("scale", machine.scale, SCALES))
        smoothing = config.smoothing if override.smoothing is None else override.smoothing
        found.append(Setting(name, documents, smoothing, machine.C, machine.scale, machine.epsilon))
    return tuple(found)


def _check_draws(study: LearningCurves, source: YamlSource) -> None:
    """Make every draw and every inner fold once on documents as the card counts them."""
    sizes = list(study.sizes)
    if sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise source.error(("sizes",), f"sizes must be positive and ascending, none twice, not {sizes}")
    for task in study.tasks:
        _, documents = task.documents(expected_documents(study.settings[0].documents))
        for index, size in enumerate(sizes):
            try:
                split = RandomSubsets(size, 1, study.seed).splits(documents)[0]
                if INNER in study.selections and any(len(curve.grid) > 1 for curve in study.curves):
                    KFold(study.inner_folds, study.seed).splits(documents.take(split.train))
            except ConfigError as error:
                raise source.error(("sizes", index), f"{task.name}, {size} training documents: {error}") from None
