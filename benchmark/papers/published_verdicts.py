"""Verdicts on a paper's published values and ranges from the scores of an experiment.

No tolerance is set by hand: a published value is compared with the 95% interval of our estimate.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.papers.published import Published, PublishedRange, PublishedValue

#: Kind of an `Exclusion`: a reference value of another method gets no verdict.
REFERENCE_VALUE = "reference value"
#: Metrics whose differences can be expressed in documents.
_SHARES_OF_DOCUMENTS = ("accuracy", "error")
#: Largest differences, in points, of the grades "same" and "near".
SAME_POINTS, NEAR_POINTS = 0.3, 1.0
#: A difference of at most this many documents is "same", too, where that is at most so many points.
SAME_DOCUMENTS, SAME_DOCUMENTS_POINTS = 5, 0.5
#: Grades in their order, the nearest first, and the grade of a number whose nearness says nothing.
GRADES = ("same", "near", "inside the interval", "outside", "no interval")
NO_INFORMATION = "no information"


# --- Numbers ---


@dataclass(frozen=True)
class Exclusion:
    """Reason why a number gives no verdict: a `kind` ("tuned", "another setting", "reference value"), and text."""

    kind: str
    why: str


#: Reasons by configuration and cell.
Exclusions = Mapping[tuple[str, str], Exclusion]


@dataclass(frozen=True)
class ValueVerdict:
    """Published value and our estimate of it.

    Parameters
    ----------
    published : PublishedValue
    ours : Estimate
    sample : str
        The sample of the interval: "1,041 documents in 4 splits".
    between : Estimate or None
        The score with its interval over groups, where splits leave groups out.
    aside : Exclusion or None
        Reason why there is no verdict: a setting was tuned to this published value, the setting is not the paper's, or
        the number is a reference value of another method.
    method : str
        `ReferenceValues.name` of that method; "" for a value of the paper.
    """

    published: PublishedValue
    ours: Estimate
    sample: str = ""
    between: Estimate | None = None
    aside: Exclusion | None = None
    method: str = ""

    @property
    def reading(self) -> str:
        """Method of a reference value, "another" for another reading of a published value, "" for any other value."""
        return self.method or self.published.reading

    @property
    def scale(self) -> int:
        """Factor that converts our value to the unit of the published value."""
        return 100 if self.published.unit == "percent" else 1

    @property
    def difference(self) -> float:
        """Our value less the published one, in the published unit, computed from decimal digits."""
        return float(self._decimal(self.ours.value) - Decimal(self.published.value))

    @property
    def documents(self) -> float:
        """Difference in documents; NaN for metrics that aren't shares of documents."""
        shares = self.published.metric in _SHARES_OF_DOCUMENTS
        return self.difference / self.scale * self.ours.n if shares else math.nan

    @property
    def widest(self) -> float:
        """Largest difference that would still be consistent, in the published unit; NaN without an interval."""
        if self.published.kind == "count":
            return math.nan
        ours = self.ours
        return self.scale * max(ours.high - ours.value, ours.value - ours.low)

    @property
    def rounds(self) -> bool:
        """True if our value rounds to the published one; half-way between two, it rounds to either."""
        printed = Decimal(self.published.value)
        half_digit = Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)
        return abs(self._decimal(self.ours.value) - printed) <= half_digit

    @property
    def inside(self) -> bool | None:
        """True if the published value lies in our 95% interval; None without an interval."""
        if self.published.kind == "count" or math.isnan(self.ours.low):
            return None
        return self._decimal(self.ours.low) <= Decimal(self.published.value) <= self._decimal(self.ours.high)

    @property
    def verdict(self) -> str:
        """Verdict on the published value.

        The kind of the `aside`, if there is one. Else "equal" if our value rounds to the published one, or "equal,
        outside the interval" if our interval excludes it. Else "consistent" if the published value lies in the
        interval, "deviates" if it doesn't, and "no interval" for a single replicate.
        """
        if self.aside:
            return self.aside.kind
        if self.rounds:
            return "equal, outside the interval" if self.inside is False else "equal"
        if self.inside is None:
            return "deviates" if self.published.kind == "count" else "no interval"
        return "consistent" if self.inside else "deviates"

    @property
    def grade(self) -> str:
        """Nearness to the published value, one of `GRADES` or `NO_INFORMATION`: it describes, and decides nothing.

        A share is "same" if it differs by at most 0.3 points, or by at most 5 documents where that is at most 0.5
        points, and "near" at 1 point or less; any other number is "same" if it rounds to the published value. What is
        neither lies "inside the interval" of ours or "outside". A Z of the sign test has a standard error of about 1
        whatever the methods, so that its nearness is "no information", inside its interval or outside. "" for a count,
        which is equal or not, and where there is no verdict.
        """
        if self.published.kind == "count" or self.aside:
            return ""
        if self.published.kind == "z":
            return NO_INFORMATION
        share = self.published.is_share
        points = abs(self.difference) * 100 / self.scale if share else math.inf
        few = abs(self.documents) < SAME_DOCUMENTS + 0.5 and points <= SAME_DOCUMENTS_POINTS
        if (points <= SAME_POINTS or few) if share else self.rounds:
            return "same"
        if points <= NEAR_POINTS:
            return "near"
        return {None: "no interval", True: "inside the interval", False: "outside"}[self.inside]

    def _decimal(self, number: float) -> Decimal:
        return Decimal(str(float(number))) * self.scale


def judge_values(
    published: Published, config: str, scored: ScoreTable, asides: Exclusions | None = None
) -> list[ValueVerdict]:
    """Return the verdicts on the published values of this configuration that we measured, and on reference values.

    Parameters
    ----------
    published : Published
    config : str
        Name of the configuration.
    scored : ScoreTable
    asides : mapping of (configuration, cell id) to Exclusion, optional
        Reasons why cells give no verdict.

    Returns
    -------
    list of ValueVerdict
        Published values in their order in the file, then reference values.
    """
    verdicts = []
    for value in (v for v in published.values if v.config == config):
        cells = value.pair or (value.cell or "",)
        verdicts.append(_beside(value, scored, first_exclusion(asides, [(config, cell) for cell in cells])))
    for reference in published.reference_values:
        aside = Exclusion(REFERENCE_VALUE, reference.in_words)
        for value in (v for v in reference.values if v.config == config):
            for cell in fnmatch.filter(scored.cells, value.cell or ""):
                of_cell = value.model_copy(update={"cell": cell})
                verdicts.append(_beside(of_cell, scored, aside, reference.name))
    return [verdict for verdict in verdicts if verdict is not None]


def _beside(
    value: PublishedValue, scored: ScoreTable, aside: Exclusion | None, method: str = ""
) -> ValueVerdict | None:
    """Return the verdict on a published value; None where we have no estimate of it."""
    ours = estimate_of(value, scored)
    if ours is None:
        return None
    cell = value.pair[0] if value.pair else value.cell or ""
    scores, sample = scored.cells[cell], scored.samples[cell]
    between = sample.between(scores, value.metric) if value.cell else None
    counted = "" if value.kind == "count" else sample.counted(scores, ours)
    return ValueVerdict(value, ours, counted, between, aside, method)


def estimate_of(value: PublishedValue, scored: ScoreTable) -> Estimate | None:
    """Return our estimate of a published value; None if its cells haven't been run or have no such estimate."""
    if value.pair is None:
        cell = value.cell or ""
        return scored.estimate(cell, value.metric) if scored.has(value.metric, cell) else None
    a, b = value.pair
    if not {a, b} <= set(scored.cells):
        return None
    try:
        return scored.sign_z(a, b) if value.metric == "sign-z" else scored.ratio(a, b, "error")
    except (ValueError, KeyError):  # documents are tested more than once, or the error to divide by is 0
        return None


def first_exclusion(asides: Exclusions | None, cells: Iterable[tuple[str, str]]) -> Exclusion | None:
    """Return the `Exclusion` of the first of these cells, by configuration and name, that has one; None if none has."""
    return next((asides[cell] for cell in cells if cell in asides), None) if asides else None


# --- Ranges ---


@dataclass(frozen=True)
class RangeVerdict:
    """Published range and the smallest and largest of our scores.

    `low` and `high` are scores, with shares as fractions; NaN where no cell has been run. `inside` of `of` cells lie in
    the range. The verdict is "inside", "outside", or "not tested" where a cell is missing.
    """

    published: PublishedRange
    low: float
    high: float
    inside: int
    of: int
    verdict: Literal["inside", "outside", "not tested"]


def judge_ranges(published: Published, config: str, scored: ScoreTable) -> list[RangeVerdict]:
    """Return the verdicts on the published ranges of this configuration."""
    return [_range(each, scored) for each in published.ranges if each.config == config]


def _range(printed: PublishedRange, scored: ScoreTable) -> RangeVerdict:
    """Return the verdict on a published range."""
    low, high = float(printed.low), float(printed.high)
    cells = [cell for cell in printed.expanded if scored.has(printed.metric, cell)]
    means = [scored.estimate(cell, printed.metric).value for cell in cells]
    inside, of = sum(low <= mean <= high for mean in means), len(printed.expanded)
    verdict: Literal["inside", "outside", "not tested"]
    verdict = "not tested" if len(means) < of else "inside" if inside == of else "outside"
    ours = (min(means), max(means)) if means else (math.nan, math.nan)
    return RangeVerdict(printed, *ours, inside, of, verdict)
