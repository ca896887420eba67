"""What the YAML of a configuration may look like, and what is said of one that doesn't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from benchmark.config.components import must_be, shown
from benchmark.errors import ConfigError
from benchmark.evaluation.metrics import METRICS
from benchmark.config.source import unknown

if TYPE_CHECKING:
    from benchmark.config.source import Location, YamlSource

BASE = "base"
AnyStudy = TypeVar("AnyStudy", bound="StudySection")


def listed(value: Any) -> Any:
    """A list as it is; anything else as a list of one."""
    return value if isinstance(value, list) else [value]


OneOrMore = Annotated[list[Any], BeforeValidator(listed), Field(min_length=1)]


class Section(BaseModel):
    """A mapping with known keys only, of the types they say."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CorpusSection(Section):
    """`corpus:` which documents, in which order of classes."""

    name: str
    subset: str | None = None
    classes: list[str] | None = None
    exclude: list[str] = []


class TextSection(Section):
    """`text:` how documents become counts; see `Lexing` and `Pruning`."""

    skip_header: bool = False
    skip_html: bool = False
    digits: str = "drop"
    stoplist: str = "smart"
    min_occurrences: int = 1
    min_documents: int = 1
    counted_in: str | None = None


class CorpusOverride(Section):
    """What a variant changes of `corpus`."""

    classes: list[str] | None = None
    exclude: list[str] | None = None


class TextOverride(Section):
    """What a variant changes of `text`."""

    skip_header: bool | None = None
    skip_html: bool | None = None
    digits: str | None = None
    stoplist: str | None = None
    min_occurrences: int | None = None
    min_documents: int | None = None
    counted_in: str | None = None


class VariantSection(Section):
    """An item of `variants`: one choice made otherwise."""

    corpus: CorpusOverride = CorpusOverride()
    text: TextOverride = TextOverride()
    idf: str | None = None


class CellsSection(Section):
    """An item of `cells`: every combination of what its keys list."""

    variant: OneOrMore = [BASE]
    weighting: OneOrMore = ["tf"]
    normalization: OneOrMore
    kernel: OneOrMore
    classifier: OneOrMore = [{}]


class ExpectSection(Section):
    """`expect:` what the base variant must have, or no score is computed."""

    documents: int | None = None
    vocabulary: int | None = None


class StudySection(Section):
    """The keys that every kind of configuration has."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    kind: str = "table"
    title: str = ""
    paper: str | None = None
    explains: str | None = None
    seed: int = Field(default=0, ge=0)
    notes: list[str] = []


class ConfigSection(StudySection):
    """A whole file of the kind "table"."""

    corpus: CorpusSection
    text: TextSection = TextSection()
    idf: str = "collection"
    variants: dict[str, VariantSection] = {}
    protocol: Any
    classifier: Any = "svm"
    cells: list[CellsSection] = Field(min_length=1)
    compare: list[list[str]] = []
    metrics: list[str] = Field(default=list(METRICS), min_length=1)
    expect: ExpectSection = ExpectSection()


def validated(schema: type[AnyStudy], source: YamlSource) -> AnyStudy:
    """Plain data as a section; ConfigError with all that is wrong with it."""
    try:
        return schema.model_validate(source.data)
    except ValidationError as error:
        raise _explained(error, schema, source) from None


def _explained(error: ValidationError, schema: type[BaseModel], source: YamlSource) -> ConfigError:
    """What pydantic found in our words: all of it at once."""
    found = []
    for problem in error.errors():
        location: Location = tuple(problem["loc"])
        key = location[-1] if location else ""
        if problem["type"] == "extra_forbidden":
            message = unknown("key", key, _keys_at(schema, location[:-1]))
        elif problem["type"] == "missing":
            message = f"the key {key!r} is missing"
        elif problem["type"] == "invalid_key":
            location = (*location[:-1], str(key))
            message = f"the key {key!r} must be text: put it in quotes"
        elif problem["type"] == "string_pattern_mismatch":
            must = "must begin with a letter or digit, and go on with these, '.', '_' or '-'"
            message = f"{key} is {problem['input']!r}: {must}"
        else:
            what = ".".join(map(str, location)) or "the configuration"
            message = f"{what} is {shown(problem['input'])}: {must_be(problem)}"
            if problem["type"] == "model_type":
                message += f", such as {', '.join(_keys_at(schema, location)[:3])}"
        found.append((source.line(location), str(source.error(location, message))))
    return ConfigError("\n".join(message for _, message in sorted(found)))


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
