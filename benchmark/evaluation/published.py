"""What a paper printed and claimed, as data."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from benchmark.corpora.card import REPOSITORY
from benchmark.errors import unknown
from benchmark.evaluation.metrics import CLOCK, METRICS, OF_PAIRS, MeasuredQuantity, on_clock, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


#: A file a paper.
FOLDER = REPOSITORY / "results" / "published"
#: Numbers of a cell, beside those that measures declare.
KNOWN_METRICS = (*METRICS, *CLOCK)
#: Key of the context that a file is validated with: the metrics that measures declare, by name.
QUANTITIES = "quantities"
#: Numbers that the paper gives for a pair of cells.
PAIR_METRICS = OF_PAIRS
#: Characters of a printed number, and what a template may stand for.
LONGEST, MOST_COMBINATIONS = 30, 10_000
#: How a table writes the name of a test.
TESTS = {"sign": "sign test", "mcnemar": "McNemar", "wilcoxon": "Wilcoxon"}


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _decimal_digits(text: str) -> str:
    if len(text) > LONGEST or not text.isascii() or not text.removeprefix("-").replace(".", "", 1).isdigit():
        raise ValueError(f"{text!r} is not a number as it is printed, such as '72.57'")
    return text


class _OfMetric(_Record):
    """A record of one metric: one of `METRICS` or `CLOCK`, or one that a measure declares.

    Which metrics measures declare is said by the context of `model_validate`, under `QUANTITIES`.
    """

    _quantities: dict[str, MeasuredQuantity] = PrivateAttr(default_factory=dict)

    def _check_metric(self, metric: str, info: ValidationInfo, *more: str) -> None:
        declared: Mapping[str, MeasuredQuantity] = (info.context or {}).get(QUANTITIES, {})
        known = (*KNOWN_METRICS, *declared, *more)
        if metric not in known:
            raise ValueError(unknown("metric", metric, known))
        if metric in declared:
            self._quantities[metric] = declared[metric]


class PublishedValue(_OfMetric):
    """One printed number: the score of a `cell`, or a number of a `pair` of cells (Z of the sign test, a ratio).

    `value` keeps the digits as printed, trailing zeros included: they say how finely the print was rounded. It stands
    in a `table` or `figure`, or else in the text. `alternative` marks another reading of a number that is given
    already: it is judged, and not counted among the printed numbers.
    """

    table: int | None = None
    figure: int | None = None
    config: str
    cell: str | None = None
    pair: tuple[str, str] | None = None
    metric: str
    value: Annotated[str, AfterValidator(_decimal_digits)]
    unit: Literal["percent", "one"] = "one"
    alternative: bool = False

    @model_validator(mode="after")
    def _fits_its_metric(self, info: ValidationInfo) -> PublishedValue:
        self._check_metric(self.metric, info, *PAIR_METRICS)
        if (self.metric in PAIR_METRICS) != (self.pair is not None) or (self.cell is None) == (self.pair is None):
            raise ValueError(f"{' and '.join(PAIR_METRICS)} are of a pair, any other metric of a cell")
        return self

    @property
    def printed_in(self) -> str:
        """What the printed digits are in: "percent", "nats", "documents", "seconds", or "one", a fraction or ratio."""
        unit = unit_of(self.metric, self._quantities)
        return self.unit if unit in ("percent", "one") else unit

    @property
    def kind(self) -> str:
        """A "count" of the data, which a loader gives or not, or a "result" of models."""
        return "count" if self.printed_in == "documents" else "result"

    @property
    def reading(self) -> str:
        """The empty text, or "another" of a number that is given already."""
        return "another" if self.alternative else ""


class Landmark(_Record):
    """What another method scored on the same test documents, to stand beside cells of ours: no print of them.

    It is not judged and not counted. The `cell` of its values is a pattern, ``tfidf-*``. A `transductive` method is
    given the tested documents, without their labels, while it trains; `unlike` says what else is not as here, or not
    known: the documents, the split, how words are read, how parameters were chosen.
    """

    method: str
    source: str
    transductive: bool
    unlike: str = ""
    values: tuple[PublishedValue, ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        """The method, and whether it is transductive."""
        return f"{self.method}, transductive" if self.transductive else self.method

    @property
    def in_words(self) -> str:
        """Where it stands, and what is otherwise."""
        return "; ".join(filter(None, (self.source, self.unlike)))

    @model_validator(mode="after")
    def _of_cells(self) -> Landmark:
        if any(value.pair for value in self.values):
            raise ValueError(f"{' and '.join(PAIR_METRICS)} are of pairs of cells, and a landmark is of none")
        return self


class Comparison(_Record):
    """Cell `a` against cell `b` of the experiment `config`."""

    config: str
    a: str
    b: str


class Template(Comparison):
    """Comparisons written once: every combination of the values under `for` fills the braces."""

    loop: dict[str, list[str]] = Field(default_factory=dict, alias="for")

    def expanded(self) -> list[Comparison]:
        """One comparison a combination, the last name varying fastest."""
        texts = {"config": self.config, "a": self.a, "b": self.b}
        rows = _rows(self.loop, *texts.values())
        try:
            return [Comparison(**{name: text.format(**row) for name, text in texts.items()}) for row in rows]
        except (KeyError, IndexError, AttributeError, ValueError) as error:
            known = ", ".join(self.loop) or "none"
            raise ValueError(f"the braces may hold the names under `for` ({known}), not {error}") from None

    @model_validator(mode="after")
    def _fillable(self) -> Template:
        self.expanded()
        return self


class PublishedRange(_OfMetric):
    """The range that a figure's axis or the text gives for many numbers, where none of them can be read.

    `cells` is a template as in `Template`: every combination of the values under `for` fills its braces.
    """

    figure: int
    config: str
    cells: str
    loop: dict[str, list[str]] = Field(alias="for")
    metric: str
    low: Annotated[str, AfterValidator(_decimal_digits)]
    high: Annotated[str, AfterValidator(_decimal_digits)]

    @property
    def expanded(self) -> tuple[str, ...]:
        """Ids of the cells."""
        return tuple(self.cells.format(**row) for row in _rows(self.loop, self.cells))

    @property
    def printed_in(self) -> str:
        """What the printed ends are in: "one", a fraction, of a share; else the metric's own unit."""
        unit = unit_of(self.metric, self._quantities)
        return "one" if unit == "percent" else unit

    @model_validator(mode="after")
    def _sensible(self, info: ValidationInfo) -> PublishedRange:
        self._check_metric(self.metric, info)
        if not Decimal(self.low) < Decimal(self.high):
            raise ValueError(f"the range must ascend, not {self.low} to {self.high}")
        try:
            cells = self.expanded
        except (KeyError, IndexError) as error:
            raise ValueError(f"the braces may hold the names under `for`, not {error}") from None
        _unique(cells, "cell")
        return self


class Rule(_Record):
    """How a paper judges a comparison: by a test, of so many sides, at a level, each by itself or corrected.

    Without a test the scores decide: a's is above b's, or as near, or in the range.
    """

    test: Literal["sign", "mcnemar", "wilcoxon"] | None = None
    sides: Literal[1, 2] = 2
    alpha: float = Field(default=0.05, gt=0, lt=1)
    correction: Literal["none", "holm"] = "none"

    @property
    def in_words(self) -> str:
        """As a table names it."""
        if self.test is None:
            return "the scores"
        corrected = ", Holm" if self.correction == "holm" else ""
        return f"{TESTS[self.test]}, {'one' if self.sides == 1 else 'two'}-sided, {self.alpha:g}{corrected}"


class Claim(_OfMetric):
    """A sentence of the paper as a set of comparisons that all have to hold, judged twice.

    First by the paper's own `rule`; then strictly, by `test`, two-sided, at `alpha` after Holm's correction over the
    claim. "greater": a's score is above b's; "lower": it is below. "equivalent": they differ by at most `margin`, and
    strictly the whole 95% interval of the difference lies within it (two one-sided tests at 2.5% each; a claim that
    needs all of its comparisons needs no correction); by a rule with a test, they don't differ significantly.
    "ratio": a's score over b's lies between `low` and `high`, strictly the whole of its 95% interval.

    `because` says why the margin or the range is what it is. `same_as` names the claim of which this one is the same
    finding told otherwise, and `aside` says why one isn't the paper's own ("another reading"): both are judged and not
    counted.
    """

    id: str
    text: str
    relation: Literal["greater", "lower", "equivalent", "ratio"]
    metric: str = "accuracy"
    rule: Rule = Rule()
    test: Literal["sign", "mcnemar", "wilcoxon"] | None = None
    alpha: float = Field(default=0.05, gt=0, lt=1)
    margin: Annotated[str, AfterValidator(_decimal_digits)] | None = None
    low: Annotated[str, AfterValidator(_decimal_digits)] | None = None
    high: Annotated[str, AfterValidator(_decimal_digits)] | None = None
    because: str = ""
    same_as: str | None = None
    aside: str = ""
    templates: tuple[Template, ...] = Field(alias="comparisons")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons of the claim, templates filled in."""
        return tuple(comparison for template in self.templates for comparison in template.expanded())

    @property
    def on_clock(self) -> bool:
        """Whether it is decided by seconds."""
        return on_clock(self.metric, self._quantities)

    @property
    def span(self) -> tuple[float, float]:
        """What an "equivalent" difference or a ratio has to lie in."""
        if self.relation == "equivalent":
            return -float(self.margin or 0), float(self.margin or 0)
        return float(self.low or "-inf"), float(self.high or "inf")

    @model_validator(mode="after")
    def _decidable(self, info: ValidationInfo) -> Claim:
        self._check_metric(self.metric, info)
        wanted = {"equivalent": {"margin"}, "ratio": {"low", "high"}}.get(self.relation, set())
        given = {name for name in ("margin", "low", "high") if getattr(self, name) is not None}
        if given != wanted:
            raise ValueError(
                f"the relation {self.relation!r} needs {' and '.join(sorted(wanted)) or 'no margin or range'}"
            )
        if wanted and not self.because:
            raise ValueError(f"`because` is missing: it says why the {' and '.join(sorted(wanted))} is what it is")
        if self.relation == "ratio" and not self.span[0] < self.span[1]:
            raise ValueError(f"the range must ascend, not {self.low} to {self.high}")
        if self.relation in ("equivalent", "ratio") and self.test is not None:
            raise ValueError(f"the relation {self.relation!r} is judged by its interval, not by the test {self.test!r}")
        if not self.comparisons:
            raise ValueError("a claim needs a comparison")
        _unique((c.model_dump_json() for c in self.comparisons), "comparison")
        return self


class Published(_Record):
    """All that is compared with one paper; `finding` is what became of it, as one would tell a colleague."""

    paper: str
    title: str
    reference: str
    finding: str = ""
    values: tuple[PublishedValue, ...] = ()
    ranges: tuple[PublishedRange, ...] = ()
    claims: tuple[Claim, ...] = ()
    landmarks: tuple[Landmark, ...] = ()

    @model_validator(mode="after")
    def _said_once(self) -> Published:
        _unique((v.model_dump_json(exclude={"value"}) for v in self.values), "value")
        own = ((each.method, v) for each in self.landmarks for v in each.values)
        _unique((f"{method}: {v.model_dump_json(exclude={'value'})}" for method, v in own), "value of a landmark")
        ids = [claim.id for claim in self.claims]
        _unique(ids, "claim")
        for claim in self.claims:
            if claim.same_as is not None and (claim.same_as not in ids or claim.same_as == claim.id):
                raise ValueError(unknown("claim", claim.same_as, [each for each in ids if each != claim.id]))
        return self


def _rows(loop: Mapping[str, list[str]], *templates: str) -> Iterator[dict[str, str]]:
    """Every combination of the values, by name, to fill some templates with."""
    number = math.prod(map(len, loop.values()))
    if number > MOST_COMBINATIONS:
        raise ValueError(f"`for` comes to {number:,} combinations: at most {MOST_COMBINATIONS:,} are allowed")
    if any(re.search(r"\{[^{}]*[^\w{}-]", text) for text in templates):  # a width such as {a:>999999999} fills memory
        raise ValueError("the braces may hold the names under `for`, and nothing else")
    return (dict(zip(loop, values, strict=True)) for values in itertools.product(*loop.values()))


def _unique(keys: Iterable[str], what: str) -> None:
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise ValueError(f"{what} given more than once: {twice[0]}")
