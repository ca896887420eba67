"""Types of values in a configuration: words, lists, names and components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import core_schema

from benchmark.representation.weighting import IDF_SOURCES
from benchmark.system.checks import as_list
from benchmark.system.errors import quote_value
from benchmark.system.tags import NORMALIZATIONS
from benchmark.text.stoplist import STOPLISTS

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

Item = TypeVar("Item")


@dataclass(frozen=True)
class OneOf:
    """Type of a word out of several."""

    allowed: tuple[str, ...]

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the schema of the allowed words."""
        return core_schema.literal_schema(list(self.allowed))


class OrOne:
    """Let a single item stand for a list of it, in the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        """Return the schema of an item or a list."""
        listed = handler(core)
        return {"anyOf": [listed["items"], listed]}


@dataclass(frozen=True)
class ComponentOf:
    """Type of a component: its name, or a mapping with a name and parameters, which `check_component` checks.

    Parameters
    ----------
    kind : str
        The attribute of `Registries` that has the component.
    named : bool
        Whether a mapping must have a name.
    """

    kind: str
    named: bool = True

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the schema of any value that names a component."""
        return core_schema.no_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, _core: core_schema.CoreSchema, _handler: GetJsonSchemaHandler) -> Any:
        """Return a mark that `schema.json_schema` replaces by the components of the kind."""
        return {"component": self.kind}

    def _checked(self, value: Any) -> Any:
        if isinstance(value, dict) and (key := next((key for key in value if not isinstance(key, str)), None)):
            raise ValueError(f"the key {quote_value(key)} must be text: put it in quotes")
        if isinstance(value, str) or (isinstance(value, dict) and ("name" in value or not self.named)):
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
Stoplist = Annotated[str, OneOf(tuple(STOPLISTS))] | Annotated[str, Field(pattern=r"\.txt$")]
#: Weights of blocks of terms, by name.
Weights = Annotated[dict[str, Annotated[float, Field(ge=1e-9, le=1e9)]], Field(min_length=1)]
Prior = Annotated[float, Field(ge=0, le=1e15)]
Normalization = Annotated[str, OneOf(NORMALIZATIONS)]
IdfSource = Annotated[str, OneOf(IDF_SOURCES)]
AnyWeighting = Annotated[Any, ComponentOf("weightings")]
AnyFeatures = Annotated[Any, ComponentOf("features")]
AnyKernel = Annotated[Any, ComponentOf("kernels")]
AnyClassifier = Annotated[Any, ComponentOf("classifiers", named=False)]
AnyThreshold = Annotated[Any, ComponentOf("thresholds")]
AnyPipeline = Annotated[Any, ComponentOf("pipelines")]
#: Two different names.
Pair = Annotated[Distinct[str], Field(min_length=2, max_length=2)]
FusedNames = Annotated[Distinct[str], Field(min_length=2)]
