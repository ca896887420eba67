"""Schema of the YAML of a configuration: types of values, sections, keys and ranges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetPydanticSchema,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import core_schema

from benchmark.config.schema_errors import ConfigSection
from benchmark.representation.selection import GAIN_AGGREGATES, TERM_RANKINGS
from benchmark.representation.weighting import IDF_SOURCES
from benchmark.system.checks import as_list
from benchmark.system.errors import quote_value
from benchmark.system.tags import NORMALIZATIONS
from benchmark.text.lexer import (
    DIGIT_RULES,
    LEXERS,
    MAX_CHARACTERS,
    MAX_NGRAM_LENGTH,
    STEMMERS,
    STOPLISTS,
    WITHIN,
    WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import GetJsonSchemaHandler

Item = TypeVar("Item")


def one_of(allowed: Iterable[str]) -> GetPydanticSchema:
    """Return the type of a word out of several."""
    return GetPydanticSchema(lambda _source, _handler: core_schema.literal_schema(list(allowed)))


class OrOne:
    """Let a single item stand for a list of it, in the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        """Return the schema of an item or a list."""
        listed = handler(core)
        return {"anyOf": [listed["items"], listed]}


def component_form(value: Any, *, named: bool = True) -> Any:
    """Return a component's name, or a mapping with its name (unless it isn't `named`) and parameters, unchanged."""
    if isinstance(value, dict) and (key := next((key for key in value if not isinstance(key, str)), None)):
        raise ValueError(f"the key {quote_value(key)} must be text: put it in quotes")
    if isinstance(value, str) or (isinstance(value, dict) and ("name" in value or not named)):
        return value
    raise ValueError(f"must be a name, or a mapping with a name and parameters, not {quote_value(value)}")


def mapping_or_other(value: Any) -> str:
    """Return whether a value is a mapping, so that only errors of that type are reported."""
    return "mapping" if isinstance(value, dict) else "other"


def distinct(values: list[Any]) -> list[Any]:
    """Return a list unchanged; raise ValueError if it has a value twice."""
    if len(set(values)) < len(values):
        raise ValueError(f"lists a value twice: {quote_value(values)}")
    return values


def _ascending(values: list[int]) -> list[int]:
    if values != sorted(set(values)):
        raise ValueError(f"must be ascending, none twice, not {quote_value(values)}")
    return values


Listed = Annotated[list[Item], BeforeValidator(as_list), OrOne()]
OneOrMore = Annotated[list[Item], BeforeValidator(as_list), Field(min_length=1), OrOne()]
Distinct = Annotated[list[Item], AfterValidator(distinct)]
Ascending = Annotated[OneOrMore[Annotated[int, Field(ge=1)]], AfterValidator(_ascending)]
CellName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=100)]
#: A name in tables, whose letters and digits name cells.
TitleName = Annotated[str, Field(pattern=r"[A-Za-z0-9]", max_length=100)]
#: Keys of `text` that a method changes, each with a value or a list of values.
MethodText = Annotated[dict[str, Any], Field(min_length=1), WithJsonSchema({"component": "method-texts"})]
MethodName = Annotated[str, WithJsonSchema({"component": "method-names"})]
CorpusName = Annotated[str, WithJsonSchema({"component": "corpora"})]
MetricName = Annotated[str, WithJsonSchema({"component": "metrics"})]
#: A list of this package, or a user's file.
Stoplist = Annotated[str, one_of(STOPLISTS)] | Annotated[str, Field(pattern=r"\.txt$")]
#: Weights of blocks of terms, by name.
Weights = Annotated[dict[str, Annotated[float, Field(ge=1e-9, le=1e9)]], Field(min_length=1)]
Prior = Annotated[float, Field(ge=0, le=1e15)]
Normalization = Annotated[str, one_of(NORMALIZATIONS)]
IdfSource = Annotated[str, one_of(IDF_SOURCES)]
#: A component, whose parameters `check_component` checks; `schema.json_schema` lists those of its kind.
AnyComponent = Annotated[Any, AfterValidator(component_form)]
UnnamedComponent = Annotated[Any, AfterValidator(partial(component_form, named=False))]
AnyWeighting = Annotated[AnyComponent, WithJsonSchema({"component": "weightings"})]
AnyFeatures = Annotated[AnyComponent, WithJsonSchema({"component": "features"})]
AnyKernel = Annotated[AnyComponent, WithJsonSchema({"component": "kernels"})]
AnyClassifier = Annotated[UnnamedComponent, WithJsonSchema({"component": "classifiers"})]
AnyThreshold = Annotated[AnyComponent, WithJsonSchema({"component": "thresholds"})]
AnyPipeline = Annotated[AnyComponent, WithJsonSchema({"component": "pipelines"})]
#: Two different names.
Pair = Annotated[Distinct[str], Field(min_length=2, max_length=2)]
FusedNames = Annotated[Distinct[str], Field(min_length=2)]


# --- Methods and their defaults ---


def _fused_form(value: Any) -> str:
    return "lists" if isinstance(value, list) and any(isinstance(each, list) for each in value) else "names"


class FusionSection(ConfigSection):
    """An item of `methods` that adds the standardized decision values of others.

    Parameters
    ----------
    fuse : list of str or list of list of str
        Methods of this configuration; with `choose`, a list of such lists is chosen from.
    weights : list of float or None
        One for each method; by default all 1.
    scale : str
        On which training documents standard deviations are measured.
    name : str
        Name of its cells.
    """

    fuse: Annotated[
        Annotated[FusedNames, Tag("names")] | Annotated[list[FusedNames], Field(min_length=1), Tag("lists")],
        Discriminator(_fused_form),
    ]
    weights: list[Annotated[float, Field(gt=0, le=1e12)]] | None = None
    scale: Literal["out-of-fold", "hold-out"] = "out-of-fold"
    name: CellName


class PredictionsSection(ConfigSection):
    """An item of `methods` that was run elsewhere: nothing is trained.

    Parameters
    ----------
    predictions : str
        A file with a prediction for each document.
    name : str
        The method's name.
    """

    predictions: str = Field(min_length=1)
    name: TitleName


class VectorsFileSection(ConfigSection):
    """`vectors:` a file with a vector for each document.

    Parameters
    ----------
    file : str
        Parquet with a row for each document, or .npy.
    ids : str or None
        A file with the id of each row of a .npy file, one a line.
    id : str
        Parquet's column of ids.
    column : str
        Parquet's column of lists of numbers; by default each number has one.
    """

    file: str
    ids: str | None = None
    id: str = "id"
    column: str = ""


class VectorsSection(ConfigSection):
    """An item of `methods` that classifies vectors which were made elsewhere.

    Parameters
    ----------
    vectors : str or VectorsFileSection
        A file with a vector for each document.
    classifier : Classifier or list of Classifier or None
        A classifier of points.
    normalization : str or list of str
        How vectors are scaled.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    vectors: Annotated[
        Annotated[str, Tag("other")] | Annotated[VectorsFileSection, Tag("mapping")], Discriminator(mapping_or_other)
    ]
    classifier: OneOrMore[AnyClassifier] | None = None
    normalization: OneOrMore[Normalization] = Field(["none"])
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


class PipelineSection(ConfigSection):
    """An item of `methods` that reads the texts themselves.

    Parameters
    ----------
    pipeline : Pipeline or list of Pipeline
        A function or class of a file, mymodels.py:make, or an import path; with any parameters.
    text : dict or list of dict or None
        Settings of `text` that this method changes.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    pipeline: OneOrMore[AnyPipeline]
    text: OneOrMore[MethodText] | None = None
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


class MethodSection(ConfigSection):
    """An item of `methods`: a kernel or classifier of counts, and their representation.

    Parameters
    ----------
    text : dict or list of dict or None
        Settings of `text` that this method changes.
    fields : dict or list of dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or list of Weighting or None
        How counts become weights.
    idf : str or list of str or None
        The documents that a weighting learns from.
    dirichlet : float or list of float or None
        α of a Dirichlet prior on documents, for kernels.
    kernel : Kernel or list of Kernel or None
        The kernel of a support vector machine.
    normalization : str or list of str or None
        How a document's weights are scaled.
    features : FeatureMap or list of FeatureMap or None
        The feature map of a classifier of points.
    classifier : Classifier or list of Classifier or None
        The classifier.
    threshold : ThresholdRule or list of ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    name : str or None
        Name of its cells, instead of a name made from its settings.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: OneOrMore[MethodText] | None = None
    fields: OneOrMore[Weights] | None = None
    weighting: OneOrMore[AnyWeighting] | None = None
    idf: OneOrMore[IdfSource] | None = None
    dirichlet: OneOrMore[Prior] | None = None
    kernel: OneOrMore[AnyKernel] | None = None
    normalization: OneOrMore[Normalization] | None = None
    features: OneOrMore[AnyFeatures] | None = None
    classifier: OneOrMore[AnyClassifier] | None = None
    threshold: OneOrMore[AnyThreshold] | None = None
    name: CellName | None = None


#: The keys that decide which form an item of `methods` has.
_FORMS = {
    "fuse": "FusionSection",
    "predictions": "PredictionsSection",
    "vectors": "VectorsSection",
    "pipeline": "PipelineSection",
}


def _method_form(value: Any) -> str:
    """Return which form a method has, so that only errors of that form are reported."""
    if isinstance(value, str):
        return "a name"
    named = (form for key, form in _FORMS.items() if isinstance(value, dict) and key in value)
    return next(named, "MethodSection")


AnyMethod = Annotated[
    Annotated[MethodName, Tag("a name")]
    | Annotated[FusionSection, Tag("FusionSection")]
    | Annotated[PredictionsSection, Tag("PredictionsSection")]
    | Annotated[VectorsSection, Tag("VectorsSection")]
    | Annotated[PipelineSection, Tag("PipelineSection")]
    | Annotated[MethodSection, Tag("MethodSection")],
    Discriminator(_method_form),
]


class NamedDefaultsSection(ConfigSection):
    """Defaults of one kernel or classifier; further keys are its parameters.

    Parameters
    ----------
    fields : dict or None
        Weights of blocks of terms, by name; each is normalized by itself.
    weighting : Weighting or None
        How counts become weights.
    normalization : str or None
        How a document's weights are scaled.
    idf : str or None
        The documents that a weighting learns from.
    dirichlet : float or None
        α of a Dirichlet prior on documents, for kernels.
    features : FeatureMap or None
        The feature map of a classifier of points.
    threshold : ThresholdRule or None
        The rule for the decision value above which a document gets a class, where it may have several.
    """

    model_config = ConfigDict(extra="allow")

    fields: Weights | None = None
    weighting: AnyWeighting | None = None
    normalization: Normalization | None = None
    idf: IdfSource | None = None
    dirichlet: Prior | None = None
    features: AnyFeatures | None = None
    threshold: AnyThreshold | None = None


class DefaultsSection(NamedDefaultsSection):
    """`defaults:` further keys are parameters of methods, or kernels and classifiers by name with their own.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel of methods that name none.
    classifier : Classifier or None
        The classifier of methods that name none.
    """

    kernel: AnyKernel | None = None
    classifier: AnyClassifier | None = None


# --- All other sections ---


class CorpusSection(ConfigSection):
    """`corpus:` the documents and the order of classes; further keys are parameters of the corpus.

    Parameters
    ----------
    name : str
        The corpus.
    classes : list of str or None
        Classes, in the order that decides ties; by default all.
    exclude : list of str
        Ids of documents to leave out.
    """

    model_config = ConfigDict(extra="allow")

    name: CorpusName
    classes: Annotated[Distinct[str], Field(min_length=2)] | None = None
    exclude: list[str] = Field([])


def _lengths(values: list[int]) -> list[int]:
    if values != sorted(values):
        raise ValueError(f"is {values}: the length of the shortest n-gram, then that of the longest")
    return values


class TextSection(ConfigSection):
    """`text:` how documents become counts; see `Lexing` and `Pruning`.

    Parameters
    ----------
    lexer : str or None
        Which letters make a word: those of every script (unicode), or those of ASCII as Rainbow reads them
        (rainbow). By default rainbow for the corpora of the papers and unicode for others.
    skip_header : bool
        Whether to skip the header, up to the first blank line.
    skip_html : bool
        Whether to leave out tags and entities.
    digits : str
        How digits are read.
    stoplist : str
        Words to leave out, or a file of them: ./mine.txt.
    stemmer : str
        Whether a word is counted as its stem: "oil" and "oils" are one term. The stop list is of words and of stems,
        and all minimums are of stems.
    min_length : int
        How many letters a word, or its stem, has at least.
    fields : str or list of str
        Which parts of a document are counted, each by itself: all of it, columns of the text, or parts of its
        format: for mail header, body, quoted, own, or any header line by its name; for HTML title, headings,
        anchors, body.
    ngrams : int or list of int
        How many consecutive words make a term; [] for characters alone.
    characters : int or list of int
        Lengths of the shortest and the longest n-gram of characters that is counted, such as [3, 5]; they are a
        block of terms of their own.
    within : str
        Between which borders n-grams of characters are found.
    min_occurrences : int
        How often a word must occur to be in the vocabulary.
    min_documents : int
        In how many documents a word must occur.
    vocabulary_from : str or None
        Where both minimums are counted: in a group, such as train; or in the training documents of each split
        (training). By default in all documents.
    """

    lexer: Annotated[str, one_of(LEXERS)] | None = None
    skip_header: bool = False
    skip_html: bool = False
    digits: Annotated[str, one_of(DIGIT_RULES)] = "drop"
    stoplist: Stoplist = "smart"
    stemmer: Annotated[str, one_of(STEMMERS)] = "none"
    min_length: int = Field(default=1, ge=1)
    fields: Listed[Annotated[str, Field(pattern=r"^[^:\x00-\x1f]+$", max_length=100)]] = Field(
        default=["all"], min_length=1, max_length=20
    )
    ngrams: Listed[Annotated[int, Field(ge=1, le=MAX_NGRAM_LENGTH)]] = Field(default=[1], max_length=MAX_NGRAM_LENGTH)
    characters: Annotated[Listed[Annotated[int, Field(ge=1, le=MAX_CHARACTERS)]], AfterValidator(_lengths)] = Field(
        default=[], max_length=2
    )
    within: Annotated[str, one_of(WITHIN)] = WORDS
    min_occurrences: int = Field(default=1, ge=1)
    min_documents: int = Field(default=1, ge=1)
    vocabulary_from: str | None = None

    @model_validator(mode="after")
    def _counts_terms(self) -> TextSection:
        if not self.ngrams and not self.characters:
            raise ValueError("no term would be left: ngrams may be empty where `characters` are counted")
        return self


TaskClasses = Annotated[Distinct[str], Field(min_length=2)]


class TaskSection(ConfigSection):
    """An item of `tasks`: a number of largest classes.

    Parameters
    ----------
    title : str
        The task's name in tables; its letters and digits name cells.
    largest : int
        Number of largest classes.
    """

    title: TitleName
    largest: int = Field(ge=2)


#: An item of `tasks`: the names of its classes, or a section.
AnyTask = Annotated[
    Annotated[TaskClasses, Tag("other")] | Annotated[TaskSection, Tag("mapping")], Discriminator(mapping_or_other)
]


class TermsSection(ConfigSection):
    """`terms:` how many terms are selected, and by which rank.

    Parameters
    ----------
    number : int or list of int
        Numbers of terms, ascending; a list is the horizontal axis of curves.
    rank : str
        How terms are ranked.
    aggregate : str
        How the gains of the classes are combined.
    """

    number: Ascending
    rank: Annotated[str, one_of(TERM_RANKINGS)] = "information-gain"
    aggregate: Annotated[str, one_of(GAIN_AGGREGATES)] = "sum"


Choice = Literal["oracle", "cross-validation", "temporal-holdout"]


def _choices(values: list[str]) -> list[str]:
    if {"cross-validation", "temporal-holdout"} <= set(values):
        raise ValueError("cross-validation and temporal-holdout can't be combined: name one")
    return distinct(values)


class ChooseSection(ConfigSection):
    """`choose:` how one of the candidates in lists is chosen.

    Parameters
    ----------
    by : str or list of str
        On the test documents (oracle), or within the training documents of each split: by cross-validation, or
        on the newest of them (temporal-holdout; of each class, if dates order documents only within a class).
    folds : int
        Number of folds; for `temporal-holdout`, one part of so many is the hold-out.
    grouped : bool
        Whether to keep the documents of a group in one fold.
    grid_keys : list of str
        Other keys whose lists are candidates.
    """

    by: Annotated[OneOrMore[Choice], AfterValidator(_choices)]
    folds: int = Field(default=5, ge=2)
    grouped: bool = False
    grid_keys: list[
        Literal["text", "weighting", "normalization", "idf", "dirichlet", "features", "fields", "threshold"]
    ] = Field([])


FigureColumn = Literal["choice", "task", "variant", "class", "method", "kernel", "size", "terms"]
Relation = Literal["ratio", "difference"]
AnyY = Annotated[
    Annotated[Listed[str], Tag("other")]
    | Annotated[dict[Relation, Pair], Field(min_length=1, max_length=1), Tag("mapping")],
    Discriminator(mapping_or_other),
]


class FigureSection(ConfigSection):
    """An item of `figures`: a view of the scores.

    Parameters
    ----------
    name : str
        Stem of the figure's files.
    title : str
        Title above the figure.
    y : str or list of str or dict or None
        Metrics, a panel each, or the ratio or difference of two methods; by default the first metric.
    x : str or None
        The x axis: train_size, terms, or a parameter or number of the methods.
    line : str
        The column whose values are lines.
    panel : str or list of str
        Columns whose values are panels.
    where : dict
        Columns with the only value to show.
    bars : str
        Error bars.
    log_x : bool
        Whether x is logarithmic.
    log_y : bool
        Whether y is logarithmic.
    regions : list of str
        Variants whose methods' decision regions are drawn, a row each, in place of curves.
    """

    name: CellName
    title: str = ""
    y: AnyY | None = None
    x: str | None = None
    line: FigureColumn = "method"
    panel: Listed[FigureColumn] = Field(["choice", "task"])
    where: dict[FigureColumn, str] = Field({})
    bars: Literal["interval", "2 standard deviations", "range", "none"] = "interval"
    log_x: bool = False
    log_y: bool = False
    regions: list[str] = Field([])


class ExpectSection(ConfigSection):
    """`expect:` numbers that the configuration itself must have, or no score is computed.

    Parameters
    ----------
    documents : int or None
        Number of documents.
    vocabulary : int or None
        Number of different words.
    """

    documents: int | None = Field(default=None, ge=0)
    vocabulary: int | None = Field(default=None, ge=0)


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
    expect : ExpectSection
        Numbers that must hold, or no score is computed.
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
    expect: ExpectSection = ExpectSection()
    tasks: list[AnyTask] = Field([])
    protocol: Annotated[AnyComponent, WithJsonSchema({"component": "protocols"})]
    terms: TermsSection | None = None
    defaults: DefaultsSection = DefaultsSection()
    methods: OneOrMore[AnyMethod]
    choose: ChooseSection | None = None
    metrics: Annotated[Distinct[MetricName], Field(min_length=1)] | None = None
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
