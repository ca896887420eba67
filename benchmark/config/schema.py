"""What the YAML of a configuration may look like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from benchmark.sections import Section
from benchmark.text.lexer import LONGEST_NGRAM


def listed(value: Any) -> Any:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


OneOrMore = Annotated[list[Any], BeforeValidator(listed), Field(min_length=1)]
OneOrMoreNumbers = Annotated[list[int], BeforeValidator(listed), Field(min_length=1)]
#: Names that stand before the words of a field, and name its block.
Fields = Annotated[list[Annotated[str, Field(pattern=r"^[^:\x00-\x1f]+$", max_length=100)]], BeforeValidator(listed)]


class CorpusSection(Section):
    """`corpus:` which documents, in which order of classes; further keys are parameters of the corpus."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="The corpus.")
    classes: list[str] | None = Field(default=None, description="In the order that decides ties; all unless given.")
    exclude: list[str] = Field(default=[], description="Ids of documents that are left out.")


class TextSection(Section):
    """`text:` how documents become counts; see `Lexing` and `Pruning`."""

    lexer: str | None = Field(
        default=None,
        description="What a word is made of: the letters of every script (unicode), or those of ASCII as Rainbow reads "
        "them; rainbow for the corpora of the papers and unicode for others unless given.",
    )
    skip_header: bool = Field(default=False, description="Whether words begin after the first blank line.")
    skip_html: bool = Field(default=False, description="Whether tags and entities are left out.")
    digits: str = Field(default="drop", description="What becomes of digits.")
    stoplist: str = Field(default="smart", description="Words that are left out.")
    fields: Fields = Field(
        default=["all"],
        min_length=1,
        max_length=20,
        description="Which parts of a document are counted, each by itself: all of it, columns of the text, or what "
        "its format has: of mail header, body, quoted, own, or any header line by its name; of HTML title, headings, "
        "anchors, body.",
    )
    ngrams: Annotated[list[Annotated[int, Field(ge=1, le=LONGEST_NGRAM)]], BeforeValidator(listed)] = Field(
        default=[1], min_length=1, max_length=LONGEST_NGRAM, description="Of how many words in a row a term is made."
    )
    min_occurrences: int = Field(default=1, ge=1, description="How often a word must occur to be in the vocabulary.")
    min_documents: int = Field(default=1, ge=1, description="In how many documents a word must be.")
    counted_in: str | None = Field(
        default=None, description="The group in which both are counted; all documents unless given."
    )


class TaskSection(Section):
    """An item of `tasks`: so many of the largest classes, or their names."""

    title: str = Field(max_length=100, description="How tables call it; its letters and digits name cells.")
    largest: int | None = Field(default=None, ge=2, description="How many of the largest classes.")
    classes: list[str] | None = Field(default=None, description="Or which classes.")


def _form(value: Any) -> str:
    """Return which of its two forms a task has, so that only errors of that form are reported."""
    return "titled" if isinstance(value, dict) else "names"


#: An item of `tasks`: the names of its classes, or a section.
AnyTask = Annotated[Annotated[list[str], Tag("names")] | Annotated[TaskSection, Tag("titled")], Discriminator(_form)]


class TermsSection(Section):
    """`terms:` how many are selected, and by what."""

    number: OneOrMoreNumbers = Field(description="Terms, ascending; a list is the horizontal axis of curves.")
    rank: str = Field(default="information-gain", description="What they are ranked by.")
    over_classes: str = Field(default="sum", description="How the gains of the classes are made one.")


class ChooseSection(Section):
    """`choose:` how one of the candidates that lists stand for is chosen."""

    by: OneOrMore = Field(
        description="By the tested documents (oracle), or within the training documents of each split: by "
        "cross-validation, or by the newest of them (of each class, where dates order a class's documents alone)."
    )
    folds: int = Field(default=5, ge=2, description="Of the cross-validation; of the newest, one of so many parts.")
    grouped: bool = Field(default=False, description="Whether the documents of a group stay in one fold.")
    over: list[Literal["text", "weighting", "normalization", "idf", "dirichlet", "features", "fields", "threshold"]] = (
        Field(default=[], max_length=8, description="Keys whose lists are candidates, too.")
    )


class FigureSection(Section):
    """An item of `figures`: a view of the scores."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=100, description="Stem of its files.")
    title: str = Field(default="", description="Above the figure.")
    y: str | list[str] | dict[Literal["ratio", "difference"], list[str]] | None = Field(
        default=None, description="Metrics, a panel each, or the ratio or difference of two methods; the first metric."
    )
    x: str | None = Field(
        default=None, description="What runs along: train_size, terms, or a parameter or number of the methods."
    )
    line: str = Field(default="method", description="The column whose values are lines.")
    panel: str | list[str] | None = Field(default=None, description="Columns whose values are panels; choice and task.")
    where: dict[str, str] = Field(default={}, description="Columns with the one value that is shown.")
    bars: Literal["interval", "2 standard deviations", "range", "none"] = Field(
        default="interval", description="Error bars."
    )
    log_x: bool = Field(default=False, description="Whether x is logarithmic.")
    log_y: bool = Field(default=False, description="Whether y is logarithmic.")
    regions: list[str] = Field(
        default=[], description="Variants whose methods' decision regions are drawn, a row each, in place of lines."
    )


class ExpectSection(Section):
    """`expect:` what the configuration itself must have, or no score is computed."""

    documents: int | None = Field(default=None, ge=0, description="How many documents.")
    vocabulary: int | None = Field(default=None, ge=0, description="How many different words.")


class FittedSection(Section):
    """An item of `fitted:` cells of which a choice was made to come near a print."""

    cells: str = Field(max_length=200, description="A pattern over their ids, such as table-pooled-*.")
    choice: str = Field(description="What was chosen.")
    to: str = Field(description="Near which print.")


class ParallelSection(Section):
    """`parallel:` which other processes solve points, in benchopt's words; it decides no number."""

    backend: Literal["dask"] = Field(default="dask", description="What brings the work to them.")
    dask_address: str | None = Field(
        default=None, description="Of a scheduler, or its file; processes of this machine unless given."
    )
    n_jobs: int | None = Field(
        default=None, ge=0, description="How many work at once at most; 0 is this process alone, and none given is all."
    )
    silence: float = Field(
        default=60.0,
        gt=0,
        description="Seconds without a word of a scheduler or worker, after which all that is left is done here.",
    )


class ExperimentSection(Section):
    """A whole file, after what it extends or varies has been merged."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100, description="Names its folder.")
    title: str = Field(default="", description="Above its tables; the name unless given.")
    paper: str | None = Field(default=None, description="The paper whose numbers it is set beside.")
    explains: str | None = Field(default=None, description="The configuration whose deviations this one looks into.")
    seed: int = Field(default=0, ge=0, description="Of all that is random and names no seed of its own.")
    notes: list[str] = Field(default=[], description="Lines for below its tables.")
    plugins: list[str] = Field(default=[], max_length=100, description="Python files of one's own components.")
    corpus: CorpusSection = Field(description="Which documents.")
    text: TextSection = Field(default=TextSection(), description="How documents become counts.")
    expect: ExpectSection = Field(default=ExpectSection(), description="What there must be, or no score is computed.")
    tasks: list[AnyTask] = Field(
        default=[], description="The same on several choices of classes: their names, or a section."
    )
    protocol: Any = Field(description="How documents are split; a list of training sizes is the axis of curves.")
    terms: TermsSection | None = Field(default=None, description="Curves over the number of selected terms.")
    defaults: dict[str, Any] = Field(
        default={}, description="What methods take that have such a parameter and don't say it."
    )
    methods: OneOrMore = Field(description="A list stands for each of its items in turn.")
    choose: ChooseSection | None = Field(
        default=None, description="Lists inside a kernel or classifier are candidates."
    )
    metrics: list[str] | None = Field(
        default=None, min_length=1, description="What is scored; the first is the main one."
    )
    classes: Literal["each"] | None = Field(default=None, description="Whether every class is scored by itself, too.")
    derive: list[Literal["growth"]] = Field(default=[], description="What a score rises by over a curve.")
    compare: list[list[str]] = Field(
        default=[], description="Pairs of methods, wherever else their cells agree, or of cells."
    )
    family: list[Literal["variant", "choice", "task", "class", "size", "terms", "pair"]] = Field(
        default=["variant", "choice", "class"],
        max_length=7,
        description="Comparisons alike in these are corrected together.",
    )
    measures: list[Any] = Field(default=[], description="Numbers that are no predictions.")
    fitted: list[FittedSection] = Field(default=[], max_length=100, description="Choices made to come near a print.")
    figures: list[FigureSection] = Field(
        default=[], max_length=100, description="Views of the scores; one unless given."
    )
    variants: dict[str, dict[str, Any]] = Field(
        default={}, max_length=1000, description="By name, what each says otherwise."
    )
    parallel: ParallelSection | None = Field(default=None, description="Which other processes solve points.")
    base: bool = Field(default=True, description="Whether the configuration itself is run, beside its variants.")
