"""What a paper printed and claimed, as data, and the verdict that our outcomes give on it.

No tolerance is set by hand. A printed number is judged by the interval of our estimate of it, a claim by the tests of
the comparisons that it consists of.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchmark.corpora.card import REPOSITORY
from benchmark.errors import ConfigError
from benchmark.evaluation.metrics import CLOCK, MEASURED, METRICS, unit_of
from benchmark.evaluation.significance import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.significance import TestResult


#: A file a paper.
FOLDER = REPOSITORY / "results" / "published"
#: Numbers of a cell. Those of documents are of a class and group, "earn-train".
KNOWN_METRICS = (*METRICS, *CLOCK, *MEASURED)
#: Numbers that the paper gives for a pair of cells.
PAIR_METRICS = ("sign-z", "error-ratio")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _decimal_digits(text: str) -> str:
    if not text.isascii() or not text.removeprefix("-").replace(".", "", 1).isdigit():
        raise ValueError(f"{text!r} is not a number as it is printed, such as '72.57'")
    return text


class PublishedValue(_Record):
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
    def _fits_its_metric(self) -> PublishedValue:
        known = (*KNOWN_METRICS, *PAIR_METRICS)
        if self.metric not in known:
            raise ValueError(f"no metric {self.metric!r} (metrics: {', '.join(known)})")
        if (self.metric in PAIR_METRICS) != (self.pair is not None) or (self.cell is None) == (self.pair is None):
            raise ValueError(f"{' and '.join(PAIR_METRICS)} are of a pair, any other metric of a cell")
        return self

    @property
    def printed_in(self) -> str:
        """What the printed digits are in: "percent", "nats", "documents", "seconds", or "one", a fraction or ratio."""
        unit = unit_of(self.metric)
        return unit if unit in ("nats", "documents", "seconds") else self.unit

    @property
    def reading(self) -> str:
        """The empty text, or "another" of a number that is given already."""
        return "another" if self.alternative else ""


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
        try:
            return [
                Comparison(**{name: text.format(**row) for name, text in texts.items()}) for row in _rows(self.loop)
            ]
        except (KeyError, IndexError, AttributeError, ValueError) as error:
            known = ", ".join(self.loop) or "none"
            raise ValueError(f"the braces may hold the names under `for` ({known}), not {error}") from None

    @model_validator(mode="after")
    def _fillable(self) -> Template:
        self.expanded()
        return self


class PublishedRange(_Record):
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
        return tuple(self.cells.format(**row) for row in _rows(self.loop))

    @property
    def printed_in(self) -> str:
        """What the printed ends are in: "one", a fraction, of a share; else the metric's own unit."""
        unit = unit_of(self.metric)
        return "one" if unit == "percent" else unit

    @model_validator(mode="after")
    def _sensible(self) -> PublishedRange:
        if self.metric not in KNOWN_METRICS:
            raise ValueError(f"no metric {self.metric!r} (metrics: {', '.join(KNOWN_METRICS)})")
        if not Decimal(self.low) < Decimal(self.high):
            raise ValueError(f"the range must ascend, not {self.low} to {self.high}")
        try:
            cells = self.expanded
        except (KeyError, IndexError) as error:
            raise ValueError(f"the braces may hold the names under `for`, not {error}") from None
        _unique(cells, "cell")
        return self


class Claim(_Record):
    """A sentence of the paper as a set of comparisons that all have to hold.

    "greater": a's score is above b's, the test favours a, and its p-value, after Holm's correction over the claim's
    comparisons, is below alpha; without a test, the score alone decides. "lower": a's score is below b's, and so on,
    for scores of which less is better. "indistinguishable": the test's p-value is not
    below alpha, *without* the correction, which would only make this claim easier to hold.
    """

    id: str
    text: str
    relation: Literal["greater", "lower", "indistinguishable"]
    metric: str = "accuracy"
    test: Literal["sign", "mcnemar", "wilcoxon"] | None = None
    alpha: float = Field(gt=0, lt=1)
    templates: tuple[Template, ...] = Field(alias="comparisons")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons of the claim, templates filled in."""
        return tuple(comparison for template in self.templates for comparison in template.expanded())

    @property
    def on_clock(self) -> bool:
        """Whether it is decided by seconds."""
        return self.metric in CLOCK

    @model_validator(mode="after")
    def _decidable(self) -> Claim:
        if self.metric not in KNOWN_METRICS:
            raise ValueError(f"no metric {self.metric!r} (metrics: {', '.join(KNOWN_METRICS)})")
        if self.relation == "indistinguishable" and self.test is None:
            raise ValueError("the relation 'indistinguishable' needs a test")
        if not self.comparisons:
            raise ValueError("a claim needs a comparison")
        _unique((c.model_dump_json() for c in self.comparisons), "comparison")
        return self


class Published(_Record):
    """All that is compared with one paper."""

    paper: str
    title: str
    reference: str
    values: tuple[PublishedValue, ...] = ()
    ranges: tuple[PublishedRange, ...] = ()
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _said_once(self) -> Published:
        _unique((v.model_dump_json(exclude={"value"}) for v in self.values), "value")
        _unique((claim.id for claim in self.claims), "claim")
        return self


def load_published(path: Path) -> Published:
    """Read a paper's numbers and claims, `results/published/{paper}.yaml`."""
    try:
        return Published.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file of published numbers") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()]
        raise ConfigError("\n".join([f"{path}: cannot be read as published numbers", *lines])) from None


@dataclass(frozen=True)
class ValueVerdict:
    """A printed number beside ours.

    `verdict`: "exact" (ours rounds to the print), "reproduced" (the print lies in the 95% interval of ours), or
    "deviates". `difference`: ours less the print, in the print's unit.
    """

    published: PublishedValue
    ours: Estimate
    difference: float
    verdict: Literal["exact", "reproduced", "deviates"]


def judge_value(published: PublishedValue, ours: Estimate) -> ValueVerdict:
    """Compare in decimal, in the print's unit; a value half-way between two prints rounds to either."""
    scale = 100 if published.unit == "percent" else 1
    printed = Decimal(published.value)
    value, low, high = (Decimal(str(number)) * scale for number in (ours.value, ours.low, ours.high))
    exponent = printed.as_tuple().exponent
    half_digit = Decimal(5).scaleb(int(exponent) - 1)
    exact = abs(value - printed) <= half_digit
    verdict: Literal["exact", "reproduced", "deviates"]
    verdict = "exact" if exact else "reproduced" if low <= printed <= high else "deviates"
    return ValueVerdict(published, ours, float(value - printed), verdict)


@dataclass(frozen=True)
class Evidence:
    """What our outcomes say of one comparison: the difference of the scores, and the claim's test (if it names one)."""

    difference: Estimate
    test: TestResult | None


@dataclass(frozen=True)
class ComparisonVerdict:
    """A comparison, its evidence (p_holm is over the claim), and whether it "holds", "fails" or is undecided."""

    comparison: Comparison
    evidence: Evidence | None
    verdict: Literal["holds", "fails", "missing", "not testable"]


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, what became of each comparison, and the verdict in words.

    `verdict`: "holds", "holds in part (k of n)", "fails", or "not tested (…)" where a comparison is undecided.
    `variant` of the experiment; "" is the configuration itself.
    """

    claim: Claim
    comparisons: tuple[ComparisonVerdict, ...]
    verdict: str
    variant: str = ""

    @property
    def holds(self) -> int:
        """Comparisons that hold."""
        return sum(each.verdict == "holds" for each in self.comparisons)


def judge_claim(claim: Claim, evidence: Mapping[Comparison, Evidence], variant: str = "") -> ClaimVerdict:
    """Decide each comparison of the claim, and so the claim.

    Parameters
    ----------
    claim : Claim
    evidence : mapping of Comparison to Evidence
        For as many of the claim's comparisons as have been run; the tests need no correction, it is made here.
    variant : str
        Under which it is judged.
    """
    found = {c: evidence[c] for c in claim.comparisons if c in evidence}
    if claim.test is not None:
        corrected = holm(_test_of(claim, e) for e in found.values())
        found = {c: Evidence(e.difference, t) for (c, e), t in zip(found.items(), corrected, strict=True)}
    judged = tuple(ComparisonVerdict(c, found.get(c), _decide(claim, found.get(c))) for c in claim.comparisons)
    return ClaimVerdict(claim, judged, _in_words(Counter(each.verdict for each in judged)), variant)


def _test_of(claim: Claim, evidence: Evidence) -> TestResult:
    if evidence.test is None or evidence.test.test != claim.test:
        raise ValueError(f"the claim {claim.id!r} is decided by the test {claim.test!r}, which its evidence lacks")
    return evidence.test


def _decide(claim: Claim, evidence: Evidence | None) -> Literal["holds", "fails", "missing", "not testable"]:
    if evidence is None:
        return "missing"
    above = evidence.difference.value < 0 if claim.relation == "lower" else evidence.difference.value > 0
    if evidence.test is None:
        return "holds" if above else "fails"
    test = evidence.test
    if test.p_value is None or test.p_holm is None:
        return "not testable"
    if claim.relation == "indistinguishable":
        return "holds" if test.p_value >= claim.alpha else "fails"
    return "holds" if above and test.favours == test.a and test.p_holm < claim.alpha else "fails"


def _in_words(counts: Counter[Literal["holds", "fails", "missing", "not testable"]]) -> str:
    n = counts.total()
    undecided = [f"{counts[kind]} of {n} {kind}" for kind in ("missing", "not testable") if counts[kind]]
    if undecided:
        return f"not tested ({', '.join(undecided)})"
    if counts["holds"] == n:
        return "holds"
    return f"holds in part ({counts['holds']} of {n})" if counts["holds"] else "fails"


def _rows(loop: Mapping[str, list[str]]) -> Iterator[dict[str, str]]:
    """Every combination of the values, by name."""
    for values in itertools.product(*loop.values()):
        yield dict(zip(loop, values, strict=True))


def _unique(keys: Iterable[str], what: str) -> None:
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise ValueError(f"{what} given more than once: {twice[0]}")
