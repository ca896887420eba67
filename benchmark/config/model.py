"""A configuration that has been checked: its variants, its cells, what is compared, and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.errors import BenchError
from benchmark.evaluation.predictions import SettingKey, SplitKey, TaskKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.components import Component
    from benchmark.config.schema import ParallelSection
    from benchmark.corpora.reader import CorpusReader
    from benchmark.evaluation.metrics import MeasuredQuantity, Metric
    from benchmark.registries import Registries
    from benchmark.text.lexer import Lexing
    from benchmark.text.vocabulary import Pruning

#: Fields that only a checked configuration has, and no experiment that is read from a run folder.
_NOT_DATA = {"data": False}
#: pydantic, which reads experiments, has no schema for readers and registries.
_ANY_TYPE = {"arbitrary_types_allowed": True}

BASE = "base"
#: How a candidate is chosen: by the tested documents, or within the training documents, by folds or the newest.
ORACLE, INNER, NEWEST = "oracle", "cross-validation", "newest"
#: The class that stands for all of them; a class of this name would be taken for it.
ALL = "all"


@dataclass(frozen=True)
class Text:
    """How documents become counts: what is a word, and which words are kept."""

    lexing: Lexing
    pruning: Pruning

    @property
    def flat(self) -> dict[str, Any]:
        """Every parameter of both, as JSON has them."""
        both = vars(self.lexing) | vars(self.pruning)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in both.items()}


@dataclass(frozen=True)
class Collection:
    """One choice of documents and lexing: what a `Counts` is made from.

    Parameters
    ----------
    corpus : str
        Its name in configurations.
    subset : str or None
        Part of the corpus, as its card names it; None for the whole.
    several : bool
        Whether documents may have several classes, or none.
    given : dict
        The other parameters of the corpus that the configuration states.
    classes : tuple of str
        In the order that decides ties.
    exclude : tuple of str
        Ids of documents left out.
    lexing : Lexing
    pruning : Pruning
    loaded : CorpusReader or None
        Reads the corpus. An experiment that is read from a run folder has none.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _ANY_TYPE

    corpus: str
    subset: str | None
    several: bool
    given: dict[str, Any]
    classes: tuple[str, ...]
    exclude: tuple[str, ...]
    lexing: Lexing
    pruning: Pruning
    loaded: CorpusReader | None = field(default=None, compare=False, repr=False, metadata=_NOT_DATA)

    @classmethod
    def of(
        cls,
        reader: CorpusReader,
        classes: tuple[str, ...],
        exclude: tuple[str, ...],
        text: Text,
        given: Mapping[str, Any] | None = None,
    ) -> Collection:
        """Describe the documents of a reader."""
        facts = reader.name, reader.subset, reader.several, dict(given or {})
        return cls(*facts, classes, exclude, text.lexing, text.pruning, reader)

    @property
    def reader(self) -> CorpusReader:
        """What reads the corpus.

        Raises
        ------
        BenchError
            If the experiment was read from a run folder.
        """
        if self.loaded is None:
            raise BenchError(f"the corpus {self.corpus!r} of a finished run is only described: run it again")
        return self.loaded

    @property
    def text(self) -> Text:
        """How its documents become counts."""
        return Text(self.lexing, self.pruning)


@dataclass(frozen=True)
class Task:
    """The documents of some classes, to be told apart.

    Parameters
    ----------
    name : str
        What cells are called by: "faculty-course"; "" where a configuration names no tasks.
    title : str
    classes : tuple of str
        In the order that decides ties.
    """

    name: str
    title: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """How terms are selected.

    Parameters
    ----------
    numbers : tuple of int
        Terms, ascending: for all classes, or for each where a classifier selects for each.
    rank : {"information-gain"}
    over_classes : {"sum", "average", "maximum"}
        How one gain is made of those of the classes, see `representation.selection.aggregate`.
    """

    numbers: tuple[int, ...]
    rank: str
    over_classes: str


@dataclass(frozen=True)
class Representation:
    """How counts become points.

    Parameters
    ----------
    weighting : Component
    normalization : {"none", "l1", "l2"}
    idf : {"collection", "training"}
        Whose documents the inverse document frequency, or what else a weighting learns, is learned from.
    dirichlet : float
        α of a symmetric Dirichlet prior, added to every count of a document before "l1": the posterior mean
        (Lafferty & Lebanon 2002, equation 3). 0 is maximum likelihood. Kernels alone have it.
    features : Component or None
        What points are mapped to for a classifier without a kernel.
    fields : tuple of (str, float)
        Blocks of terms that are normalized by themselves, and their weights; () where all terms are one multinomial.
    learns : str
        What the weighting learns from, see `Weighting.learns`.
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
        """Every key with all that it says; weightings and features without parameters by their names."""
        return {
            "weighting": self.weighting.plain,
            "normalization": self.normalization,
            "idf": self.idf,
            "dirichlet": self.dirichlet,
            "features": None if self.features is None else self.features.plain,
            "fields": dict(self.fields),
        }


@dataclass(frozen=True)
class MethodSpec:
    """One method with every parameter.

    Parameters
    ----------
    representation : Representation
    kernel : Component or None
        None where the classifier takes points.
    classifier : Component
    text : Text or None
        Of its own, in whose counts it sees the documents of its variant; None where its entry says nothing of it.
    threshold : str
        Above which decision value a document that may have several classes is given one, see `THRESHOLDS`.
    """

    representation: Representation
    kernel: Component | None
    classifier: Component
    text: Text | None = None
    threshold: str = "zero"


@dataclass(frozen=True)
class MethodEntry:
    """One method as tables name it, and the candidates that one is chosen from.

    Parameters
    ----------
    label : str
        "tf-l1-ngd", from what the method's own entry in the configuration says.
    candidates : tuple of MethodSpec
        In the order given; one, unless there is something to choose.
    """

    label: str
    candidates: tuple[MethodSpec, ...]


@dataclass(frozen=True)
class Variant:
    """The configuration itself ("base"), or with some choices made otherwise.

    Parameters
    ----------
    name : str
    collection : Collection
    tasks : tuple of Task
        One of all classes, named "", where the configuration names none.
    protocol : Component
        Without the training sizes.
    sizes : tuple of int or None
        Training sizes, ascending; (None,) where the protocol has none.
    terms : Terms or None
    entries : tuple of MethodEntry
    """

    name: str
    collection: Collection
    tasks: tuple[Task, ...]
    protocol: Component
    sizes: tuple[int | None, ...]
    terms: Terms | None
    entries: tuple[MethodEntry, ...]

    @property
    def texts(self) -> dict[Text, str]:
        """How its methods see its documents, each with the first method that does; its own text need not be there."""
        found: dict[Text, str] = {}
        for entry in self.entries:
            for spec in entry.candidates:
                found.setdefault(spec.text or self.collection.text, entry.label)
        return found

    @property
    def numbers(self) -> tuple[int | None, ...]:
        """Numbers of selected terms, (None,) where none are selected."""
        return self.terms.numbers if self.terms else (None,)

    @property
    def n_points(self) -> int:
        """How many times a method is trained on a split."""
        n_candidates = sum(len(entry.candidates) for entry in self.entries)
        return len(self.tasks) * n_candidates * len(self.sizes) * len(self.numbers)


@dataclass(frozen=True)
class Cell:
    """A row of the scores.

    Parameters
    ----------
    id : str
        Stable words, unique in its configuration: "tf-l1-ngd", "faculty-course-diffusion-oracle-50".
    variant, task, method : str
        Names; `method` is an entry's label.
    what : {"point", "growth", "measure"}
        A growth is what a score of the last training size is above that of the first; a measure is no prediction.
    of_class : str
        The class that is scored, `ALL` for all of them together; "" where classes aren't scored by themselves.
    choice : str
        "oracle", "cross-validation", "newest", or "" where nothing is chosen.
    size, terms : int or None
        Training documents, and selected terms, where they are axes.
    measure : str
        Name of the measure that computes it, where `what` says so.
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
    measure: str = ""

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
class Pair:
    """Two cells to be compared, and the family that Holm's correction is taken over."""

    a: str
    b: str
    family: str


@dataclass(frozen=True)
class Figure:
    """A view of the score frame.

    Parameters
    ----------
    name : str
        Stem of its files.
    y : tuple of str
        Metrics, one panel (or row of panels) each.
    relation : tuple of str
        ("ratio", a, b) or ("difference", a, b): what stands on y is that of the methods a and b; empty otherwise.
    x : str
        Column of the frame: "size", "terms", or a parameter or number of the methods, "smoothing", "features".
    line : str
        Column whose values are lines: "method", "kernel", or "variant".
    panel : tuple of str
        Columns whose values are panels: "task", "choice", "of_class", "variant".
    where : mapping of str to str
        Only rows with these values.
    bars : {"interval", "2 standard deviations", "range", "none"}
    log_x, log_y : bool
    title : str
    regions : tuple of str
        Variants, a row of panels each, whose methods' decision regions are drawn in place of lines; `y` and `x` are
        empty then.
    """

    name: str
    y: tuple[str, ...]
    relation: tuple[str, ...] = ()
    x: str = "size"
    line: str = "method"
    panel: tuple[str, ...] = ("choice", "task")
    where: Mapping[str, str] = field(default_factory=dict)
    bars: str = "interval"
    log_x: bool = False
    log_y: bool = False
    title: str = ""
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """variants × tasks × splits × terms × methods → predictions → scores → comparisons, verdicts, figures.

    Parameters
    ----------
    name, title : str
    paper : str or None
        Key of the paper whose numbers it is compared with.
    explains : str or None
        Name of the configuration whose deviations this one looks into.
    seed : int
    notes : tuple of str
    compare : tuple of Pair
    raw : dict
        The configuration as it was merged; a manifest has it beside all else.
    only : tuple of str
        Patterns of the cells that are here, of a part of the configuration; () of all of it.
    left_out : frozenset of str
        Ids of the cells that aren't.
    variants : dict of str to Variant
        In order; without the configuration itself where it says ``base: false``.
    cells : tuple of Cell
        In table order.
    choices : tuple of str
        How candidates are chosen: "oracle", and "cross-validation" or "newest"; ("",) where nothing is.
    inner : Component or None
        The protocol that splits the training documents of each split to choose by.
    metrics : tuple of str
        The first is the main one.
    by_class : bool
        Whether every class is scored by itself, beside all of them.
    measures : tuple of Component
        Numbers that are no predictions.
    fitted_cells : dict of cell id to str
        The choice that was made to come near what a paper prints of the cell.
    figures : tuple of Figure
    expected_documents, expected_vocabulary : int or None
        What the base variant must have, or no score is computed.
    scorers : dict of str to Metric
        The metrics that are computed: this package's, and those of plug-ins that are asked for.
    declared, quantities : dict of str to MeasuredQuantity
        The metrics that measures declare, by name: all that a configuration could name, and those of the experiment.
    known : Registries or None
        What the configuration could name; None where it was read from a run folder.
    parallel : ParallelSection or None
        Which other processes solve points.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _ANY_TYPE

    name: str
    title: str
    paper: str | None
    explains: str | None
    seed: int
    notes: tuple[str, ...]
    compare: tuple[Pair, ...]
    raw: dict[str, Any] = field(repr=False, metadata=_NOT_DATA)
    variants: dict[str, Variant]
    cells: tuple[Cell, ...]
    choices: tuple[str, ...]
    inner: Component | None
    metrics: tuple[str, ...]
    by_class: bool
    measures: tuple[Component, ...]
    fitted_cells: dict[str, str]
    figures: tuple[Figure, ...]
    expected_documents: int | None
    expected_vocabulary: int | None
    scorers: dict[str, Metric] = field(repr=False)
    declared: dict[str, MeasuredQuantity] = field(repr=False)
    quantities: dict[str, MeasuredQuantity] = field(repr=False)
    known: Registries | None = field(default=None, repr=False, compare=False, metadata=_NOT_DATA)
    parallel: ParallelSection | None = field(default=None, compare=False, metadata=_NOT_DATA)
    only: tuple[str, ...] = field(default=(), kw_only=True)
    left_out: frozenset[str] = field(default=frozenset(), kw_only=True, repr=False)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of its cells, in table order."""
        return tuple(cell.id for cell in self.cells)

    @property
    def registries(self) -> Registries:
        """What the configuration could name.

        Raises
        ------
        BenchError
            If the experiment was read from a run folder.
        """
        if self.known is None:
            raise BenchError(f"{self.name!r} is a finished run, which is only described here: run it again")
        return self.known

    @property
    def chosen_on_test(self) -> frozenset[tuple[str, str]]:
        """The cells, with its own name, whose parameters were chosen on the documents that they are tested on."""
        return frozenset((self.name, cell.id) for cell in self.cells if cell.choice == ORACLE)
