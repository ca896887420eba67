"""A checked configuration: its variants, cells, comparisons and figures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path  # noqa: TC003 - pydantic reads the types of fields
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.evaluation.predictions import SettingKey, SplitKey, TaskKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.components import Component, Registries
    from benchmark.corpora.reader import CorpusReader
    from benchmark.evaluation.metrics import DiagnosticMetric, Metric
    from benchmark.text.lexer import Lexing, Pruning

#: Fields that only a checked configuration has, not an experiment that is read from a run folder.
_NOT_DATA = {"data": False}
#: What such a field is there.
_NONE: Any = None
#: pydantic, which reads experiments, has no schema for readers and registries.
_ANY_TYPE = {"arbitrary_types_allowed": True}

BASE_VARIANT = "base"
#: Ways to choose a candidate: on test documents, by cross-validation, or by temporal hold-out in training documents.
CHOOSE_ORACLE, CHOOSE_CROSS_VALIDATION, CHOOSE_TEMPORAL_HOLDOUT = "oracle", "cross-validation", "temporal-holdout"
#: Stands for all classes together; no class may have this name.
ALL_CLASSES = "all"


@dataclass(frozen=True)
class TextSettings:
    """How documents become counts: rules for words, and for the words of the vocabulary."""

    lexing: Lexing
    pruning: Pruning

    @property
    def flat(self) -> dict[str, Any]:
        """Every parameter of lexing and pruning, as JSON values."""
        both = vars(self.lexing) | vars(self.pruning)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in both.items()}


@dataclass(frozen=True)
class Collection:
    """A choice of documents and lexing, from which `Counts` are made."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _ANY_TYPE

    corpus: str  # its name in configurations
    subset: str | None  # part of the corpus, as its card names it; None for the whole
    multilabel: bool  # whether documents may have several classes, or none
    given: dict[str, Any]  # the other parameters of the corpus that the configuration states
    classes: tuple[str, ...]  # in the order that decides ties
    exclude: tuple[str, ...]  # ids of documents left out
    lexing: Lexing
    pruning: Pruning
    reader: CorpusReader = field(default=_NONE, compare=False, repr=False, metadata=_NOT_DATA)

    @property
    def text(self) -> TextSettings:
        """How its documents become counts."""
        return TextSettings(self.lexing, self.pruning)


@dataclass(frozen=True)
class Task:
    """A choice of classes, whose documents are classified."""

    name: str  # its word in the ids of cells, "faculty-course"; "" if a configuration names no tasks
    title: str
    classes: tuple[str, ...]  # in the order that decides ties


@dataclass(frozen=True)
class TermSelection:
    """How terms are selected."""

    numbers: tuple[int, ...]  # ascending: for all classes, or per class where a classifier selects terms for each class
    rank: str  # "information-gain"
    aggregate: str  # how the gains of the classes are combined, see `representation.selection.GAIN_AGGREGATES`


@dataclass(frozen=True)
class Representation:
    """How counts become points.

    Parameters
    ----------
    weighting : Component
    normalization : {"none", "l1", "l2"}
    idf : {"collection", "training"}
        The documents from which a weighting learns, such as the inverse document frequency.
    dirichlet : float
        α of a symmetric Dirichlet prior, added to every count of a document before "l1": the posterior mean
        (Lafferty & Lebanon 2002, equation 3). 0 is maximum likelihood. Only kernels have a prior.
    features : Component or None
        The feature map of a classifier without a kernel.
    fields : tuple of (str, float)
        Blocks of terms that are normalized by themselves, and their weights; () where all terms are one multinomial.
    learns : str
        The data from which the weighting learns, see `Weighting.learns`.
    """

    weighting: Component
    normalization: str
    idf: str
    dirichlet: float = 0.0
    features: Component | None = None
    fields: tuple[tuple[str, float], ...] = ()
    learns: str = field(kw_only=True)

    @property
    def resolved(self) -> dict[str, Any]:
        """Every key with its value; weightings and features without parameters are their names."""
        return {
            "weighting": self.weighting.plain,
            "normalization": self.normalization,
            "idf": self.idf,
            "dirichlet": self.dirichlet,
            "features": None if self.features is None else self.features.plain,
            "fields": dict(self.fields),
        }


@dataclass(frozen=True)
class MethodFile:
    """A file beside the configuration that a method reads, with the sha256 of its content."""

    name: str  # as the configuration has it
    digest: str
    path: Path | None = field(default=None, compare=False, metadata=_NOT_DATA)


@dataclass(frozen=True)
class VectorFile:
    """Vectors of documents that were made elsewhere."""

    file: MethodFile  # Parquet with a row for each document; or .npy, with a row for each line of `ids`
    ids: MethodFile | None = None
    id_column: str = "id"
    column: str = ""  # Parquet's column of lists of numbers; "" where each number has a column
    features: tuple[str, ...] = ()  # Parquet's columns of numbers that are features
    left_out: tuple[str, ...] = ()  # Parquet's other columns

    @property
    def resolved(self) -> list[str]:
        """Digests and columns, as results are keyed."""
        ids = "" if self.ids is None else self.ids.digest
        return [self.file.digest, ids, self.id_column, self.column, *self.features]


@dataclass(frozen=True)
class FusedMethods:
    """Methods of a run whose decision values are added, each divided by its standard deviation and times its weight.

    The standard deviations are measured on training documents ("out-of-fold": on all of them, each scored by a method
    trained without its fold, of five; "hold-out": on the first of the five folds alone, so that a method is trained
    once more, not five times).
    """

    names: tuple[str, ...]
    members: tuple[MethodSpec, ...]
    weights: tuple[float, ...]
    scale: str = "out-of-fold"


@dataclass(frozen=True)
class MethodSpec:
    """One method with every parameter."""

    representation: Representation
    kernel: Component | None  # None where the classifier takes points
    classifier: Component
    #: The method's own text settings for the documents of its variant; None if it uses the variant's.
    text: TextSettings | None = None
    #: The rule for the decision value above which a multi-label document gets a class, see `THRESHOLDS`; None for 0.
    threshold: Component | None = None
    #: The file with the predictions of a method that was run elsewhere; nothing is trained then.
    predictions: MethodFile | None = None
    #: Vectors that the classifier takes in place of points made of counts.
    vectors: VectorFile | None = None
    #: The methods whose decision values are added; the other parameters stand for none then.
    fused: FusedMethods | None = None

    @property
    def components(self) -> tuple[Component, ...]:
        """Every component that the method names, those of a fusion's methods included; the classifier comes last."""
        points = self.representation.weighting, self.representation.features
        parts = (*points, self.threshold, self.kernel, self.classifier)
        members = () if self.fused is None else self.fused.members
        return (*(part for each in members for part in each.components), *filter(None, parts))

    def build_kernel(self) -> Any:
        """Build the kernel; ValueError where there is none."""
        if self.kernel is None:
            raise ValueError(f"the classifier {self.classifier.name!r} needs a kernel")
        return self.kernel.build()


@dataclass(frozen=True)
class MethodEntry:
    """A method as tables name it, with the candidates from which one is chosen."""

    label: str  # "tf-l1-ngd", from the settings of the method's own entry in the configuration
    candidates: tuple[MethodSpec, ...]  # in the order of the configuration; one, unless there is something to choose


@dataclass(frozen=True)
class Variant:
    """The configuration itself ("base"), or the configuration with some other settings."""

    name: str
    collection: Collection
    tasks: tuple[Task, ...]  # one of all classes, named "", where the configuration names none
    protocol: Component  # without the training sizes
    sizes: tuple[int | None, ...]  # training sizes, ascending; (None,) where the protocol has none
    terms: TermSelection | None
    entries: tuple[MethodEntry, ...]

    @property
    def without_corpus(self) -> Variant:
        """The variant without the reader of its corpus, which may have the whole corpus in memory."""
        return replace(self, collection=replace(self.collection, reader=_NONE))

    @property
    def texts(self) -> dict[TextSettings, str]:
        """Text settings of its methods, with the first method of each; the variant's own need not be among them."""
        return self._texts(reading=False)

    @property
    def read_texts(self) -> dict[TextSettings, str]:
        """Text settings of the methods that read documents as strings, with the first method of each."""
        return self._texts(reading=True)

    def _texts(self, *, reading: bool) -> dict[TextSettings, str]:
        found: dict[TextSettings, str] = {}
        for label, spec in ((entry.label, spec) for entry in self.entries for spec in entry.candidates):
            # A fusion may run without its methods' own cells.
            for each in (spec,) if spec.fused is None else spec.fused.members:
                if each.classifier.tags.reads_texts or not reading:
                    found.setdefault(each.text or self.collection.text, label)
        return found

    @property
    def numbers(self) -> tuple[int | None, ...]:
        """Numbers of selected terms; (None,) if no terms are selected."""
        return self.terms.numbers if self.terms else (None,)


@dataclass(frozen=True)
class Cell:
    """A row of the scores.

    Parameters
    ----------
    id : str
        Stable words, unique in its configuration: "tf-l1-ngd", "faculty-course-diffusion-oracle-50".
    variant, task, method : str
        Names; `method` is an entry's label.
    what : {"point", "gain", "diagnostic"}
        A gain is the score at the largest training size less that at the smallest; a diagnostic is a diagnostic's row.
    of_class : str
        The class that is scored, `ALL_CLASSES` for all of them together; "" where classes aren't scored by themselves.
    choice : str
        "oracle", "cross-validation", "temporal-holdout", or "" if nothing is chosen.
    size, terms : int or None
        Training documents, and selected terms, where they are axes.
    diagnostic : str
        Name of the diagnostic that computes the row, if `what` is "diagnostic".
    """

    id: str
    variant: str
    task: str
    method: str
    what: str = "point"
    of_class: str = ""
    choice: str = ""
    size: int | None = None
    terms: int | None = None
    diagnostic: str = ""

    @property
    def of_task(self) -> TaskKey:
        """The task whose documents are classified."""
        return TaskKey(self.variant, self.task)

    @property
    def of_splits(self) -> SplitKey:
        """The splits that are scored."""
        return SplitKey(self.variant, self.task, self.size)

    def setting(self, candidate: int, size: int | None) -> SettingKey:
        """Return the setting of one of the method's candidates, at this or another training size."""
        return SettingKey(self.variant, self.task, self.method, candidate, size, self.terms)


@dataclass(frozen=True)
class ComparedPair:
    """Two cells to compare, and the family in which Holm's correction is applied."""

    a: str
    b: str
    family: str


@dataclass(frozen=True)
class FigureView:
    """A view of the score frame: what runs along x, what is a line, what is a panel."""

    name: str  # stem of its files
    y: tuple[str, ...]  # metrics, one panel (or row of panels) each
    #: ("ratio", a, b) or ("difference", a, b): y is the ratio or difference of the methods a and b; empty otherwise.
    relation: tuple[str, ...] = ()
    x: str = "size"  # column of the frame: "size", "terms", or a parameter or number of the methods, "smoothing"
    line: str = "method"  # column whose values are lines: "method", "kernel", or "variant"
    panel: tuple[str, ...] = ("choice", "task")  # columns whose values are panels
    where: Mapping[str, str] = field(default_factory=dict)  # only rows with these values
    bars: str = "interval"  # or "2 standard deviations", "range", "none"
    log_x: bool = False
    log_y: bool = False
    title: str = ""
    #: Variants, a row of panels each, whose methods' decision regions are drawn in place of lines; no `y` and `x` then.
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """variants × tasks × splits × terms × methods → predictions → scores → comparisons, verdicts, figures."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _ANY_TYPE

    name: str
    title: str
    paper: str | None  # key of the paper whose numbers it is compared with
    sensitivity_of: str | None  # name of the configuration whose deviations this one looks into
    seed: int
    notes: tuple[str, ...]
    compare: tuple[ComparedPair, ...]
    raw: dict[str, Any] = field(repr=False, metadata=_NOT_DATA)  # the merged configuration, which the manifest has, too
    variants: dict[str, Variant]  # without the configuration itself if it sets ``run_base: false``
    cells: tuple[Cell, ...]  # in table order
    #: How candidates are chosen: "oracle", and "cross-validation" or "temporal-holdout"; ("",) if nothing is chosen.
    choices: tuple[str, ...]
    inner: Component | None  # the protocol that splits each split's training documents to choose candidates
    metrics: tuple[str, ...]  # the first is the main one
    by_class: bool  # whether every class is scored by itself, beside all of them
    diagnostics: tuple[Component, ...]  # numbers that are no predictions
    tuned_cells: dict[str, str]  # by cell, the setting that was tuned to its published value
    figures: tuple[FigureView, ...]
    expected_documents: int | None  # numbers that the base variant must have, or no score is computed
    expected_vocabulary: int | None
    scorers: dict[str, Metric] = field(repr=False)  # metrics to compute: this package's, and those asked of plug-ins
    quantities: dict[str, DiagnosticMetric] = field(repr=False)  # metrics that its diagnostics declare
    #: The components that the configuration could name; None if it was read from a run folder.
    registries: Registries = field(default=_NONE, repr=False, compare=False, metadata=_NOT_DATA)
    #: Variants that are equal readings of the paper, and what each is in a few words; {} where it has one.
    readings: dict[str, str] = field(default_factory=dict, kw_only=True)
    #: Content of the user's file with published numbers, where `paper` names a file; None for this package's papers.
    own_paper: dict[str, Any] | None = field(default=None, kw_only=True, repr=False)
    #: Patterns of the cells of a part of the configuration, and the ids of the cells that it leaves out.
    only: tuple[str, ...] = field(default=(), kw_only=True)
    left_out: frozenset[str] = field(default=frozenset(), kw_only=True, repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of its cells, in table order."""
        return tuple(cell.id for cell in self.cells)

    @property
    def ranks_documents(self) -> bool:
        """Whether a metric of its tables or figures is computed from decision values."""
        asked = {*self.metrics, *(metric for figure in self.figures for metric in figure.y)}
        return any(metric in self.scorers and self.scorers[metric].ranking is not None for metric in asked)

    @property
    def chosen_on_test(self) -> frozenset[tuple[str, str]]:
        """(experiment, cell) of the cells whose parameters were chosen on the documents that test them."""
        return frozenset((self.name, cell.id) for cell in self.cells if cell.choice == CHOOSE_ORACLE)


def method_of(experiment: Experiment, cell: Cell) -> MethodEntry:
    """Return the method of a cell."""
    return next(entry for entry in experiment.variants[cell.variant].entries if entry.label == cell.method)
