"""What the YAML of a configuration may look like, and what is said of one that doesn't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from benchmark.config.components import must_be, shown
from benchmark.errors import quoted, together, unknown

if TYPE_CHECKING:
    from benchmark.errors import ConfigError
    from benchmark.source import Location, YamlSource

AnySection = TypeVar("AnySection", bound=BaseModel)


def listed(value: Any) -> Any:
    """A list as it is; anything else as a list of one."""
    return value if isinstance(value, list) else [value]


OneOrMore = Annotated[list[Any], BeforeValidator(listed), Field(min_length=1)]
OneOrMoreNumbers = Annotated[list[int], BeforeValidator(listed), Field(min_length=1)]


class Section(BaseModel):
    """A mapping with known keys only, of the types they say."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CorpusSection(Section):
    """`corpus:` which documents, in which order of classes; further keys are parameters of the corpus."""

    model_config = ConfigDict(extra="allow")

    name: str
    classes: list[str] | None = None
    exclude: list[str] = []


class TextSection(Section):
    """`text:` how documents become counts; see `Lexing` and `Pruning`."""

    skip_header: bool = False
    skip_html: bool = False
    digits: str = "drop"
    stoplist: str = "smart"
    min_occurrences: int = Field(default=1, ge=1)
    min_documents: int = Field(default=1, ge=1)
    counted_in: str | None = None


class TaskSection(Section):
    """An item of `tasks`: so many of the largest classes, or their names."""

    title: str = Field(max_length=100)
    largest: int | None = Field(default=None, ge=2)
    classes: list[str] | None = None


def _form(value: Any) -> str:
    """Which of its two forms a task is of: one of them is checked, so that only its errors are told."""
    return "titled" if isinstance(value, dict) else "names"


#: An item of `tasks`: the names of its classes, or a section.
AnyTask = Annotated[Annotated[list[str], Tag("names")] | Annotated[TaskSection, Tag("titled")], Discriminator(_form)]


class TermsSection(Section):
    """`terms:` how many are selected, and by what."""

    number: OneOrMoreNumbers
    rank: str = "information-gain"
    over_classes: str = "sum"


class ChooseSection(Section):
    """`choose:` how one of the candidates that lists stand for is chosen."""

    by: OneOrMore
    folds: int = Field(default=5, ge=2)
    grouped: bool = False
    over: list[Literal["weighting", "normalization", "idf", "dirichlet"]] = Field(default=[], max_length=4)


class FigureSection(Section):
    """An item of `figures`: a view of the scores."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=100)
    title: str = ""
    y: str | list[str] | dict[Literal["ratio", "difference"], list[str]] | None = None
    x: str | None = None
    line: str = "method"
    panel: str | list[str] | None = None
    where: dict[str, str] = {}
    bars: Literal["interval", "2 standard deviations", "range", "none"] = "interval"
    log_x: bool = False
    log_y: bool = False


class ExpectSection(Section):
    """`expect:` what the configuration itself must have, or no score is computed."""

    documents: int | None = Field(default=None, ge=0)
    vocabulary: int | None = Field(default=None, ge=0)


class StudySection(Section):
    """The keys that every configuration has."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    title: str = ""
    paper: str | None = None
    explains: str | None = None
    seed: int = Field(default=0, ge=0)
    notes: list[str] = []


class FittedSection(Section):
    """An item of `fitted:` cells of which a choice was made to come near a print."""

    cells: str = Field(max_length=200)
    choice: str
    to: str


class ExperimentSection(StudySection):
    """A whole file, after what it extends or varies has been merged."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    expect: ExpectSection = ExpectSection()
    tasks: list[AnyTask] = []
    protocol: Any
    terms: TermsSection | None = None
    defaults: dict[str, Any] = {}
    methods: OneOrMore
    choose: ChooseSection | None = None
    metrics: list[str] | None = Field(default=None, min_length=1)
    classes: Literal["each"] | None = None
    derive: list[Literal["growth"]] = []
    compare: list[list[str]] = []
    family: list[Literal["variant", "choice", "task", "class", "size", "terms", "pair"]] = Field(
        default=["variant", "choice", "class"], max_length=7
    )
    measures: list[Any] = []
    fitted: list[FittedSection] = Field(default=[], max_length=100)
    figures: list[FigureSection] = Field(default=[], max_length=100)
    variants: dict[str, dict[str, Any]] = Field(default={}, max_length=1000)
    base: bool = True


def validated(schema: type[AnySection], source: YamlSource) -> AnySection:
    """Plain data as a section; ConfigError with all that is wrong with it."""
    try:
        return schema.model_validate(source.data)
    except ValidationError as error:
        raise _explained(error, schema, source) from None


def _explained(error: ValidationError, schema: type[BaseModel], source: YamlSource) -> ConfigError:
    """What pydantic found in our words: all of it at once."""
    found: dict[str, int] = {}
    for problem in error.errors():
        location = _within(tuple(problem["loc"]), source, missing=problem["type"] == "missing")
        key = location[-1] if location else ""
        if problem["type"] == "extra_forbidden":
            message = unknown("key", key, _keys_at(schema, location[:-1]))
        elif problem["type"] == "value_error":
            message = f"{'.'.join(map(str, location)) or 'the file'}: {problem['ctx']['error']}"
        elif problem["type"] == "missing":
            message = f"the key {key!r} is missing"
        elif problem["type"] == "invalid_key" or problem["loc"][-1] == "[key]":
            location = (*location[:-1], str(key))
            message = f"the key {quoted(key)} must be text: put it in quotes"
        elif problem["type"] == "string_pattern_mismatch":
            must = "must begin with a letter or digit, and go on with these, '.', '_' or '-'"
            message = f"{key} is {shown(problem['input'])}: {must}"
        else:
            what = ".".join(map(str, location)) or "the configuration"
            message = f"{what} is {shown(problem['input'])}: {must_be(problem)}"
            if problem["type"] == "model_type":
                message += f", such as {', '.join(_keys_at(schema, location)[:3])}"
        found.setdefault(str(source.error(location, message)), source.line(location))
    return together([text for _, text in sorted((line, text) for text, line in found.items())])


def _within(location: Location, source: YamlSource, *, missing: bool) -> Location:
    """A location without the names of alternatives that pydantic puts into it; its last key may be missing there."""
    data, kept = source.data, list[Any]()
    for part in location:
        inside = isinstance(data, dict) and part in data
        if inside or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
            kept.append(part)
    return (*kept, location[-1]) if missing else tuple(kept)


def _keys_at(schema: type[BaseModel], location: Location) -> list[str]:
    """The keys that a schema allows at a location."""
    for part in location:
        field = schema.model_fields.get(str(part))
        inner = None if field is None else _section_in(field.annotation)
        schema = schema if inner is None else inner  # the index of a list, or the key of a mapping of sections
    return list(schema.model_fields)


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, be it in a list, a mapping or an alternative."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _section_in(part))), None)
