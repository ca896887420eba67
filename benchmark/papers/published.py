"""Published values, ranges, claims and reference values of a paper, as data."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import METRICS, PAIR_METRICS, TIME_METRICS, is_time_metric, unit_of
from benchmark.system.errors import unknown_name
from benchmark.system.shipped_files import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: Folder with one file for each paper; a user's papers are in the folder of this name below the current one.
PUBLISHED_FOLDER = SHIPPED / "results" / "published"
#: The paper of scores by other methods, each with a source of its own.
REFERENCE_PAPER = "reference-values"
#: Units of counts of the data.
COUNT_UNITS = ("documents", "classes", "words")
#: Names of tests in tables.
SHORT_TEST_NAMES = {"sign": "sign test", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}
#: Keys that the relations of claims need that are decided by a range.
_RANGE_KEYS = {"equivalent": {"margin"}, "not-lower": {"margin"}, "ratio": {"low", "high"}}


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _known_metric(metric: str) -> str:
    """Return the metric if it is one of this package or of its diagnostics; ValueError otherwise."""
    known = ("", *METRICS, *TIME_METRICS, *DIAGNOSTIC_METRICS, *PAIR_METRICS)
    if metric not in known:
        raise ValueError(unknown_name("metric", metric, known[1:]))
    return metric


#: Digits as printed: "72.57".
Digits = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$")]
PublishedMetric = Annotated[str, AfterValidator(_known_metric)]
TestName = Literal["sign", "mcnemar", "wilcoxon"]


class PublishedValue(_Record):
    """Published value: the score of a `cell`, or a number of a `pair` of cells (Z of the sign test, a ratio).

    `value` has the digits as printed, including trailing zeros, which show the rounding. The value is from a `table` or
    `figure`, or else from the text. `alternative` marks another reading of a value that the file already has: it gets a
    verdict, but isn't counted among the published values.
    """

    table: int | None = None
    figure: int | None = None
    config: str
    cell: str | None = None
    pair: tuple[str, str] | None = None
    metric: PublishedMetric
    value: Digits
    unit: Literal["percent", "one"] | None = None
    alternative: bool = False

    @model_validator(mode="after")
    def _fits_its_metric(self) -> PublishedValue:
        """Raise ValueError unless the metric has a cell or a pair as it needs."""
        if (self.metric in PAIR_METRICS) != (self.pair is not None) or (self.cell is None) == (self.pair is None):
            raise ValueError(f"{' and '.join(PAIR_METRICS)} need a `pair` of cells, any other metric a `cell`")
        return self

    def in_unit(self, unit: str) -> PublishedValue:
        """Return the value in a unit if it is a share that states none."""
        return self if self.unit else self.model_copy(update={"unit": unit if self.is_share else "one"})

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cell, or both cells of its pair."""
        return self.pair or (str(self.cell),)

    @property
    def printed_in(self) -> str:
        """Unit of the printed digits: "percent", "nats", "documents", "seconds", or "one" for a fraction or ratio."""
        unit = unit_of(self.metric, DIAGNOSTIC_METRICS)
        return self.unit or "one" if unit in ("percent", "one") else unit

    @property
    def is_share(self) -> bool:
        """True for a share, whatever the unit of its digits: its differences are in points."""
        return unit_of(self.metric, DIAGNOSTIC_METRICS) == "percent"

    @property
    def kind(self) -> str:
        """Kind of value: a "count" of the data, a "z" of the sign test, or any other "result" of models."""
        if self.metric == "sign-z":
            return "z"
        return "count" if self.printed_in in COUNT_UNITS else "result"


class ReferenceValues(_Record):
    """Reference values: scores of another method on the same test documents, shown beside our cells.

    Reference values get no verdict and aren't counted. The `cell` of a value is a pattern, ``tfidf-*``. A
    `transductive` method has access to the test documents, without their labels, while it trains; None where that isn't
    known. `unlike` lists other differences and unknowns: the documents, the split, the tokenization, the choice of
    parameters.
    """

    method: str
    source: str
    transductive: bool | None
    unlike: str = ""
    values: tuple[PublishedValue, ...] = Field(min_length=1)

    def in_unit(self, unit: str) -> ReferenceValues:
        """Return the values in a unit, those that are shares and state none."""
        return self.model_copy(update={"values": tuple(each.in_unit(unit) for each in self.values)})

    @property
    def name(self) -> str:
        """Name of the method, marked if it is transductive, or if that isn't known."""
        mark = {True: ", transductive", None: ", not known whether transductive", False: ""}[self.transductive]
        return self.method + mark

    @property
    def in_words(self) -> str:
        """Source and differences, as text."""
        return "; ".join(filter(None, (self.source, self.unlike)))


class CensusEntry(_Record):
    """Best score of one paper on one corpus, in percent, as a census counted it.

    It stands beside no cell and gets no verdict. `transductive` (the test documents were seen in training), `code` (it
    is published) and `states_edition` (of the corpus) are None where that isn't known.
    """

    corpus: str
    metric: Literal["accuracy", "macro-f1", "micro-f1"]
    value: Digits
    year: int
    method: str
    source: str
    transductive: bool | None = None
    code: bool | None = None
    states_edition: bool | None = None


class Comparison(_Record):
    """Comparison of cell `a` with cell `b` of the experiment `config`; by default by the metric of its claim.

    If `mean_with` names a cell, `a` is compared with the mean score of `b` and that cell, split by split.
    """

    config: str
    a: str
    b: str
    mean_with: str = ""
    metric: PublishedMetric = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells that are compared."""
        return tuple(filter(None, (self.a, self.b, self.mean_with)))

    @property
    def second(self) -> str:
        """Name of what `a` is compared with."""
        return f"mean of {self.b} and {self.mean_with}" if self.mean_with else self.b

    def prefixed(self, prefix: str, config: str) -> Comparison:
        """Return the comparison of cells whose ids have a prefix, those of a variant, in another configuration."""
        other = self.mean_with and prefix + self.mean_with
        return Comparison(config=config, a=prefix + self.a, b=prefix + self.b, mean_with=other, metric=self.metric)


class ComparisonTemplate(Comparison):
    """Template of comparisons: every combination of the values under `for` fills the braces."""

    metric: str = ""
    loop: dict[str, list[str]] = Field(default_factory=dict, alias="for")

    def expanded(self) -> list[Comparison]:
        """Return one comparison for each combination, the last name varying fastest."""
        texts = {name: str(getattr(self, name)) for name in Comparison.model_fields}
        return [Comparison(**dict(zip(texts, each, strict=True))) for each in _filled(self.loop, *texts.values())]

    @model_validator(mode="after")
    def _fillable(self) -> ComparisonTemplate:
        """Raise ValueError if the braces can't be filled."""
        self.expanded()
        return self


class PublishedRange(_Record):
    """Published range of many values, from a figure's axis or the text, where single values can't be read.

    `cells` is a template as in `ComparisonTemplate`: every combination of the values under `for` fills its braces.
    """

    figure: int
    config: str
    cells: str
    loop: dict[str, list[str]] = Field(alias="for")
    metric: PublishedMetric
    low: Digits
    high: Digits

    @property
    def expanded(self) -> tuple[str, ...]:
        """Ids of the cells, with the template filled in."""
        return tuple(cell for (cell,) in _filled(self.loop, self.cells))

    @property
    def printed_in(self) -> str:
        """Unit of `low` and `high`: "one" for a share, written as a fraction; else the metric's unit."""
        unit = unit_of(self.metric, DIAGNOSTIC_METRICS)
        return "one" if unit == "percent" else unit


class ClaimRule(_Record):
    """Rule by which a paper decides a comparison: a test with its sides, level and correction.

    Without a test the scores decide: the score of a is above that of b, or the difference or ratio is in the range.
    """

    test: TestName | None = None
    sides: Literal[1, 2] = 2
    alpha: float = Field(default=0.05, gt=0, lt=1)
    correction: Literal["none", "holm"] = "none"

    @property
    def in_words(self) -> str:
        """Text of the rule in tables."""
        if self.test is None:
            return "the scores"
        corrected = ", Holm" if self.correction == "holm" else ""
        return f"{SHORT_TEST_NAMES[self.test]}, {'one' if self.sides == 1 else 'two'}-sided, {self.alpha:g}{corrected}"


class Claim(_Record):
    """Claim: a statement of the paper as a set of comparisons that all have to hold.

    A claim gets two verdicts: by the paper's `rule`, and strictly, by the two-sided `test` at `alpha` with Holm's
    correction over the claim. The relations are:

    - "greater": the score of a is above that of b; "lower": it is below.
    - "equivalent": the scores differ by at most `margin`. Strictly, the whole 95% interval of the difference lies
      within the margin (two one-sided tests at 2.5% each; a claim that needs all of its comparisons needs no
      correction). By a rule with a test, the scores don't differ significantly.
    - "not-lower": the score of a is above that of b, or below it by at most `margin`. Strictly, the whole 95% interval
      of the difference lies above minus the margin.
    - "ratio": the score of a divided by that of b lies between `low` and `high`. Strictly, its whole 95% interval does.

    `because` is the reason for the margin or range. `same_as` names another claim that states the same finding in other
    words. `aside` is the reason why the claim is no result of the paper's experiments ("another reading", "a theorem,
    measured"). A claim with `same_as` or `aside` gets verdicts, but isn't counted.
    """

    id: str
    text: str
    relation: Literal["greater", "lower", "equivalent", "not-lower", "ratio"]
    metric: PublishedMetric = "accuracy"
    rule: ClaimRule = ClaimRule()
    test: TestName | None = None
    alpha: float = Field(default=0.05, gt=0, lt=1)
    margin: Digits | None = None
    low: Digits | None = None
    high: Digits | None = None
    because: str = ""
    same_as: str | None = None
    aside: str = ""
    templates: tuple[ComparisonTemplate, ...] = Field(alias="comparisons")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons of the claim, with templates filled in."""
        return tuple(comparison for template in self.templates for comparison in template.expanded())

    def of_comparisons(self, comparisons: Iterable[Comparison]) -> Claim:
        """Return the claim about other comparisons."""
        return self.model_copy(update={"templates": tuple(ComparisonTemplate(**vars(each)) for each in comparisons)})

    def metric_of(self, comparison: Comparison) -> str:
        """Return the metric of a comparison: its own, or else that of the claim."""
        return comparison.metric or self.metric

    @property
    def on_clock(self) -> bool:
        """True if the metric is wall-clock time."""
        return is_time_metric(self.metric, DIAGNOSTIC_METRICS)

    @property
    def is_ranged(self) -> bool:
        """True if the difference or ratio has to lie in `span`."""
        return self.relation in _RANGE_KEYS

    @property
    def span(self) -> tuple[float, float]:
        """Range that the difference of a claim with a margin, or a ratio, has to lie in."""
        if self.margin is not None:
            return -float(self.margin), float(self.margin) if self.relation == "equivalent" else math.inf
        return float(self.low or "-inf"), float(self.high or "inf")

    @model_validator(mode="after")
    def _decidable(self) -> Claim:
        """Raise ValueError if the keys of the claim's relation are missing, or others are there."""
        required = _RANGE_KEYS.get(self.relation, set())
        if {name for name in ("margin", "low", "high") if getattr(self, name) is not None} != required:
            needed = " and ".join(sorted(required)) or "no margin or range"
            raise ValueError(f"the relation {self.relation!r} needs {needed}")
        return self


class CoveredPart(_Record):
    """Numbered part or statement of a paper, and what runs or checks it, or the reason why nothing does.

    `configs` maps a configuration to patterns of its cells, figures and diagnostics; an empty list stands for all of
    it. `tests` are files of this package's tests.
    """

    part: str
    says: str
    configs: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    claims: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    not_run: str = ""


class Published(_Record):
    """All published values, ranges, claims and reference values of one paper.

    `claimed` sums up what the paper claims, `finding` what we found, a sentence each.

    `coverage` lists the parts of the paper, in its order, each with what runs it.

    `remarks` are sentences on the published values of a configuration, by its name.

    `url` is where the paper can be read.

    `unit` is that of the digits of all values that are shares: "percent" or "fraction". Other values are in the unit of
    their metric: seconds, documents, nats. Tables show values beside ours in the unit of ours.
    """

    paper: str
    title: str
    reference: str
    url: str = Field("", pattern=r"^(https?://\S+)?$")
    claimed: str = ""
    finding: str = ""
    remarks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    unit: Literal["percent", "fraction"] | None = None
    values: tuple[PublishedValue, ...] = ()
    ranges: tuple[PublishedRange, ...] = ()
    claims: tuple[Claim, ...] = ()
    reference_values: tuple[ReferenceValues, ...] = ()
    census: tuple[CensusEntry, ...] = ()
    coverage: tuple[CoveredPart, ...] = ()

    @field_validator("values", "reference_values")
    @classmethod
    def _in_unit_of_file(cls, found: Any, info: ValidationInfo) -> Any:
        """Give each share the unit of the file, unless it states its own."""
        unit = "percent" if info.data.get("unit") == "percent" else "one"
        return tuple(each.in_unit(unit) for each in found)

    @model_validator(mode="after")
    def _said_once(self) -> Published:
        """Raise ValueError if a value or claim occurs twice, or `same_as` or `coverage` name no claim."""
        ids = [claim.id for claim in self.claims]
        values = [value.model_dump_json(exclude={"value"}) for value in self.values]
        for what, names in (("value", values), ("claim", ids)):
            twice = [name for name, n in Counter(names).items() if n > 1]
            if twice:
                raise ValueError(f"{what} given more than once: {twice[0]}")
        same = [claim.same_as for claim in self.claims if claim.same_as is not None]
        for name in [*same, *(name for part in self.coverage for name in part.claims)]:
            if name not in ids:
                raise ValueError(unknown_name("claim", name, ids))
        return self


def _filled(loop: Mapping[str, list[str]], *templates: str) -> list[list[str]]:
    """Return the templates, filled in with each combination of the values."""
    rows = (dict(zip(loop, values, strict=True)) for values in itertools.product(*loop.values()))
    try:
        return [[template.format(**row) for template in templates] for row in rows]
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"the braces may hold the names under `for`, not {error}") from None
