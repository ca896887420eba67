"""Schema of the YAML of a configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from benchmark.config.schema_errors import ConfigSection
from benchmark.text.lexer import MAX_CHARACTERS, MAX_NGRAM_LENGTH, WORDS


def as_list(value: Any) -> Any:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


OneOrMore = Annotated[list[Any], BeforeValidator(as_list), Field(min_length=1)]
OneOrMoreNumbers = Annotated[list[int], BeforeValidator(as_list), Field(min_length=1)]
#: Names of fields, which prefix the field's words and name its block.
Fields = Annotated[list[Annotated[str, Field(pattern=r"^[^:\x00-\x1f]+$", max_length=100)]], BeforeValidator(as_list)]


class CorpusSection(ConfigSection):
    """`corpus:` the documents and the order of classes; further keys are parameters of the corpus."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="The corpus.")
    classes: list[str] | None = Field(
        default=None, description="Classes, in the order that decides ties; by default all."
    )
    exclude: list[str] = Field(default=[], description="Ids of documents to leave out.")


class TextSection(ConfigSection):
    """`text:` how documents become counts; see `Lexing` and `Pruning`."""

    lexer: str | None = Field(
        default=None,
        description="Which letters make a word: those of every script (unicode), or those of ASCII as Rainbow reads "
        "them (rainbow). By default rainbow for the corpora of the papers and unicode for others.",
    )
    skip_header: bool = Field(default=False, description="Whether to skip the header, up to the first blank line.")
    skip_html: bool = Field(default=False, description="Whether to leave out tags and entities.")
    digits: str = Field(default="drop", description="How digits are read.")
    stoplist: str = Field(default="smart", description="Words to leave out, or a file of them: ./mine.txt.")
    fields: Fields = Field(
        default=["all"],
        min_length=1,
        max_length=20,
        description="Which parts of a document are counted, each by itself: all of it, columns of the text, or "
        "parts of its format: for mail header, body, quoted, own, or any header line by its name; for HTML title, "
        "headings, anchors, body.",
    )
    ngrams: Annotated[list[Annotated[int, Field(ge=1, le=MAX_NGRAM_LENGTH)]], BeforeValidator(as_list)] = Field(
        default=[1],
        max_length=MAX_NGRAM_LENGTH,
        description="How many consecutive words make a term; [] for characters alone.",
    )
    characters: Annotated[list[Annotated[int, Field(ge=1, le=MAX_CHARACTERS)]], BeforeValidator(as_list)] = Field(
        default=[],
        max_length=2,
        description="Lengths of the shortest and the longest n-gram of characters that is counted, such as [3, 5]; "
        "they are a block of terms of their own.",
    )
    within: str = Field(default=WORDS, description="Between which borders n-grams of characters are found.")
    min_occurrences: int = Field(default=1, ge=1, description="How often a word must occur to be in the vocabulary.")
    min_documents: int = Field(default=1, ge=1, description="In how many documents a word must occur.")
    vocabulary_from: str | None = Field(
        default=None,
        description="Where both minimums are counted: in a group, such as train; or in the training documents of each "
        "split (training). By default in all documents.",
    )


class TaskSection(ConfigSection):
    """An item of `tasks`: a number of largest classes, or the names of classes."""

    title: str = Field(max_length=100, description="The task's name in tables; its letters and digits name cells.")
    largest: int | None = Field(default=None, ge=2, description="Number of largest classes.")
    classes: list[str] | None = Field(default=None, description="Names of classes, in place of `largest`.")


def _form(value: Any) -> str:
    """Return which of its two forms a task has, so that only errors of that form are reported."""
    return "titled" if isinstance(value, dict) else "names"


#: An item of `tasks`: the names of its classes, or a section.
AnyTask = Annotated[Annotated[list[str], Tag("names")] | Annotated[TaskSection, Tag("titled")], Discriminator(_form)]


class TermsSection(ConfigSection):
    """`terms:` how many terms are selected, and by which rank."""

    number: OneOrMoreNumbers = Field(
        description="Numbers of terms, ascending; a list is the horizontal axis of curves."
    )
    rank: str = Field(default="information-gain", description="How terms are ranked.")
    aggregate: str = Field(default="sum", description="How the gains of the classes are combined.")


class ChooseSection(ConfigSection):
    """`choose:` how one of the candidates in lists is chosen."""

    by: OneOrMore = Field(
        description="On the test documents (oracle), or within the training documents of each split: by "
        "cross-validation, or on the newest of them (temporal-holdout; of each class, if dates order documents only "
        "within a class)."
    )
    folds: int = Field(
        default=5, ge=2, description="Number of folds; for `temporal-holdout`, one part of so many is the hold-out."
    )
    grouped: bool = Field(default=False, description="Whether to keep the documents of a group in one fold.")
    grid_keys: list[
        Literal["text", "weighting", "normalization", "idf", "dirichlet", "features", "fields", "threshold"]
    ] = Field(default=[], max_length=8, description="Other keys whose lists are candidates.")


class FigureSection(ConfigSection):
    """An item of `figures`: a view of the scores."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=100, description="Stem of the figure's files.")
    title: str = Field(default="", description="Title above the figure.")
    y: str | list[str] | dict[Literal["ratio", "difference"], list[str]] | None = Field(
        default=None,
        description="Metrics, a panel each, or the ratio or difference of two methods; by default the first metric.",
    )
    x: str | None = Field(
        default=None, description="The x axis: train_size, terms, or a parameter or number of the methods."
    )
    line: str = Field(default="method", description="The column whose values are lines.")
    panel: str | list[str] | None = Field(
        default=None, description="Columns whose values are panels; by default choice and task."
    )
    where: dict[str, str] = Field(default={}, description="Columns with the only value to show.")
    bars: Literal["interval", "2 standard deviations", "range", "none"] = Field(
        default="interval", description="Error bars."
    )
    log_x: bool = Field(default=False, description="Whether x is logarithmic.")
    log_y: bool = Field(default=False, description="Whether y is logarithmic.")
    regions: list[str] = Field(
        default=[], description="Variants whose methods' decision regions are drawn, a row each, in place of curves."
    )


class ExpectSection(ConfigSection):
    """`expect:` numbers that the configuration itself must have, or no score is computed."""

    documents: int | None = Field(default=None, ge=0, description="Number of documents.")
    vocabulary: int | None = Field(default=None, ge=0, description="Number of different words.")


class TunedSection(ConfigSection):
    """An item of `tuned_to_published:` cells with a setting that was tuned to a published value."""

    cells: str = Field(max_length=200, description="A pattern of the cells' ids, such as table-pooled-*.")
    choice: str = Field(description="The setting that was chosen.")
    to: str = Field(description="The published value to which it was tuned.")


class ParallelSection(ConfigSection):
    """`parallel:` other processes that compute settings, with benchopt's keys; it changes no number."""

    backend: Literal["dask"] = Field(default="dask", description="The library that distributes the work.")
    dask_address: str | None = Field(
        default=None, description="Address or file of a scheduler; by default processes of this machine."
    )
    n_jobs: int | None = Field(
        default=None, ge=0, description="Largest number of processes; 0 is this process alone; by default all."
    )


class ExperimentSection(ConfigSection):
    """A whole configuration, after the files that it extends and its variant are merged."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100, description="Name of the run folder.")
    title: str = Field(default="", description="Title above the tables; by default the name.")
    paper: str | None = Field(
        default=None,
        description="The paper whose published values are compared, or a file with them: ./mine.yaml.",
    )
    sensitivity_of: str | None = Field(
        default=None, description="The configuration whose deviations this sensitivity analysis explains."
    )
    seed: int = Field(default=0, ge=0, description="Seed of all random steps that set no seed of their own.")
    notes: list[str] = Field(default=[], description="Lines below the tables.")
    plugins: list[str] = Field(default=[], max_length=100, description="Python files with the user's own components.")
    corpus: CorpusSection = Field(description="The documents.")
    text: TextSection = Field(default=TextSection(), description="How documents become counts.")
    expect: ExpectSection = Field(
        default=ExpectSection(), description="Numbers that must hold, or no score is computed."
    )
    tasks: list[AnyTask] = Field(
        default=[], description="Choices of classes, each classified by itself: names of classes, or a section."
    )
    protocol: Any = Field(
        description="How documents are split; a list of training sizes is the horizontal axis of curves."
    )
    terms: TermsSection | None = Field(default=None, description="Curves over the number of selected terms.")
    defaults: dict[str, Any] = Field(
        default={}, description="Values for methods that have such a parameter and don't set it."
    )
    methods: OneOrMore = Field(description="Methods; a list of values stands for each value in turn.")
    choose: ChooseSection | None = Field(
        default=None, description="Lists inside a kernel or classifier are candidates."
    )
    metrics: list[str] | None = Field(
        default=None, min_length=1, description="Metrics to compute; the first is the main one."
    )
    per_class: bool = Field(default=False, description="Whether to score every class by itself, too.")
    gain: bool = Field(
        default=False,
        description="Whether to add the gain of each score from the smallest training size to the largest.",
    )
    compare: list[list[str]] = Field(
        default=[], description="Pairs of cells, or of methods in all cells that otherwise agree."
    )
    holm_within: list[Literal["variant", "choice", "task", "class", "size", "terms", "pair"]] = Field(
        default=["variant", "choice", "class"],
        max_length=7,
        description="Comparisons with equal values in these columns form a family of Holm's correction.",
    )
    diagnostics: list[Any] = Field(default=[], description="Diagnostics: numbers that are no predictions.")
    tuned_to_published: list[TunedSection] = Field(
        default=[], max_length=100, description="Settings that were tuned to published values."
    )
    figures: list[FigureSection] = Field(
        default=[], max_length=100, description="Figures of the scores; by default one of the main metric."
    )
    variants: dict[str, dict[str, Any]] = Field(
        default={}, max_length=1000, description="Variants by name, each with the settings that it changes."
    )
    readings: dict[str, str] = Field(
        default={},
        description="Variants that are equal readings of the paper, each in a few words; `base` is the configuration "
        "itself. Claims are judged under each of them.",
    )
    parallel: ParallelSection | None = Field(default=None, description="Other processes that compute settings.")
    run_base: bool = Field(default=True, description="Whether to run the configuration itself, beside its variants.")
