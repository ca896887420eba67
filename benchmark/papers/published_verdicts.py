"""Verdicts on a paper's published values and ranges from the scores of an experiment.

No tolerance is set by hand: a published value is compared with the 95% interval of our estimate.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.metrics import PAIR_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmark.evaluation.outcomes import Estimate
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.papers.published import Published, PublishedValue

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


@dataclass(frozen=True)
class Exclusion:
    """Reason why a number gives no verdict: a `kind` ("tuned", "another setting", "reference value"), and text."""

    kind: str
    why: str


#: Reasons by configuration and cell.
Exclusions = Mapping[tuple[str, str], Exclusion]


def verdict_on(published: str, value: Decimal, low: Decimal, high: Decimal, *, is_count: bool = False) -> str:
    """Return the verdict on a published value beside ours with its interval, in the unit of the printed digits.

    It is "equal" if our value rounds to the published one (half-way between two, it rounds to either), or "equal,
    outside the interval" if our interval excludes it. Else it is "consistent" if the published value lies in the
    interval, "deviates" if it doesn't, and "no interval" for a single replicate. A count has no interval.
    """
    printed = Decimal(published)
    rounds = abs(value - printed) <= Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)
    if is_count or low.is_nan():
        return "equal" if rounds else "deviates" if is_count else "no interval"
    inside = low <= printed <= high
    if rounds:
        return "equal" if inside else "equal, outside the interval"
    return "consistent" if inside else "deviates"


def decimals_of(*numbers: float) -> list[Decimal]:
    """Return numbers as decimals of the digits that Python writes."""
    return [Decimal(str(float(number))) for number in numbers]


def value_row(
    value: PublishedValue,
    ours: Estimate,
    sample: str = "",
    between: Estimate | None = None,
    aside: Exclusion | None = None,
    method: str = "",
) -> dict[str, Any]:
    """Return a published value beside our estimate, in the published unit, with the verdict and the nearness.

    The verdict is the kind of the `aside`, if there is one, or else that of `verdict_on`.

    Parameters
    ----------
    value : PublishedValue
    ours : Estimate
    sample : str
        The sample of the interval: "1,041 documents in 4 splits".
    between : Estimate or None
        The score with its interval over groups, where splits leave groups out.
    aside : Exclusion or None
        Reason why there is no verdict.
    method : str
        `ReferenceValues.name` of the method of a reference value; "" for a value of the paper.
    """
    scale, is_count = 100 if value.unit == "percent" else 1, value.kind == "count"
    ends = [scale * end for end in decimals_of(ours.value, ours.low, ours.high)]
    verdict = aside.kind if aside else verdict_on(value.value, *ends, is_count=is_count)
    difference = float(ends[0] - Decimal(value.value))
    documents = difference / scale * ours.n if value.metric in _SHARES_OF_DOCUMENTS else math.nan
    points = abs(difference) * 100 / scale
    low, high, widest = ours.low, ours.high, max(ours.high - ours.value, ours.value - ours.low)
    over = (math.nan, math.nan) if between is None else (between.low, between.high)
    return {
        "cell": " vs ".join(value.cells),
        "metric": value.metric,
        "kind": value.kind,
        "reading": method or ("another" if value.alternative else ""),
        "published": value.value,
        "unit": value.printed_in,
        "value": scale * ours.value,
        "low": math.nan if is_count else scale * low,
        "high": math.nan if is_count else scale * high,
        "sample": sample,
        "between_low": scale * over[0],
        "between_high": scale * over[1],
        "documents": documents,
        "widest": math.nan if is_count else scale * widest,
        "verdict": verdict,
        "grade": "" if aside else _grade(value, verdict, points, documents, math.isnan(low)),
        "aside": aside.why if aside else "",
    }


def _grade(value: PublishedValue, verdict: str, points: float, documents: float, bare: bool) -> str:
    """Return the grade of a published value, which describes its nearness, and decides nothing.

    A share is "same" if it differs by at most 0.3 points, or by at most 5 documents where that is at most 0.5 points,
    and "near" at 1 point or less; any other number is "same" if it rounds to the published value. What is neither lies
    "inside the interval" of ours or "outside", or there is none. A Z of the sign test has a standard error of about 1
    whatever the methods, so that its nearness is "no information". The grade is "" for a count, which is equal or not.
    """
    if value.kind != "result":
        return "" if value.kind == "count" else NO_INFORMATION
    few = abs(documents) < SAME_DOCUMENTS + 0.5 and points <= SAME_DOCUMENTS_POINTS
    if (points <= SAME_POINTS or few) if value.is_share else verdict.startswith("equal"):
        return "same"
    if value.is_share and points <= NEAR_POINTS:
        return "near"
    return "no interval" if bare else "inside the interval" if verdict in ("equal", "consistent") else "outside"


def value_rows(
    published: Published, config: str, scored: ScoreTable, asides: Exclusions | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the published values of a configuration that we measured, in their order, then the reference values.

    Parameters
    ----------
    published : Published
    config : str
        Name of the configuration.
    scored : ScoreTable
    asides : mapping of (configuration, cell id) to Exclusion, optional
        Reasons why cells give no verdict.
    """
    printed = [value for value in published.values if value.config == config]
    listed = [(value, first_exclusion(asides, [(config, cell) for cell in value.cells]), "") for value in printed]
    for reference in published.reference_values:
        aside = Exclusion(REFERENCE_VALUE, reference.in_words)
        for value in (v for v in reference.values if v.config == config):
            beside = fnmatch.filter(scored.cells, value.cells[0])
            listed += [(value.model_copy(update={"cell": cell}), aside, reference.name) for cell in beside]
    for value, why, method in listed:
        if (ours := estimate_of(value.metric, value.cells, scored)) is not None:
            scores, sample = scored.cells[value.cells[0]], scored.samples[value.cells[0]]
            between = None if value.pair else sample.between(scores, value.metric)
            counted = "" if value.kind == "count" else sample.counted(scores, ours)
            yield value_row(value, ours, counted, between, why, method)


def estimate_of(metric: str, cells: Sequence[str], scored: ScoreTable) -> Estimate | None:
    """Return our estimate for a cell or a pair; None if the cells haven't been run or have no such estimate."""
    if metric not in PAIR_METRICS:
        return scored.estimate(cells[0], metric) if scored.has(metric, cells[0]) else None
    a, b = cells
    try:
        return scored.sign_z(a, b) if metric == "sign-z" else scored.ratio(a, b, "error")
    except (ValueError, KeyError):  # documents are tested more than once, or the error to divide by is 0
        return None


def first_exclusion(asides: Exclusions | None, cells: Iterable[tuple[str, str]]) -> Exclusion | None:
    """Return the `Exclusion` of the first of these cells, by configuration and name, that has one; None if none has."""
    return next((asides[cell] for cell in cells if cell in asides), None) if asides else None


def range_rows(published: Published, config: str, scored: ScoreTable) -> Iterator[tuple[Any, ...]]:
    """Yield the published ranges of a configuration beside the least and greatest of our scores, as fractions.

    The verdict is "inside", "outside", or "not tested" where a cell is missing.
    """
    for printed in (each for each in published.ranges if each.config == config):
        low, high, of = float(printed.low), float(printed.high), len(printed.expanded)
        cells = [cell for cell in printed.expanded if scored.has(printed.metric, cell)]
        means = [scored.estimate(cell, printed.metric).value for cell in cells]
        inside = sum(low <= mean <= high for mean in means)
        verdict = "not tested" if len(means) < of else "inside" if inside == of else "outside"
        ours = (min(means), max(means)) if means else (math.nan, math.nan)
        what = (printed.figure, printed.cells, printed.metric, printed.printed_in)
        yield (*what, low, high, *ours, inside, of, verdict)
