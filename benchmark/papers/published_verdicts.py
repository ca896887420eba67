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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmark.evaluation.intervals import Estimate
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


def value_row(
    value: PublishedValue,
    ours: Estimate,
    sample: str = "",
    between: Estimate | None = None,
    aside: Exclusion | None = None,
    method: str = "",
) -> dict[str, Any]:
    """Return a published value beside our estimate, in the published unit, with the verdict and the nearness.

    The verdict is the kind of the `aside`, if there is one. Else it is "equal" if our value rounds to the published one
    (half-way between two, it rounds to either), or "equal, outside the interval" if our interval excludes it. Else it
    is "consistent" if the published value lies in the interval, "deviates" if it doesn't, and "no interval" for a
    single replicate.

    The grade describes, and decides nothing. A share is "same" if it differs by at most 0.3 points, or by at most 5
    documents where that is at most 0.5 points, and "near" at 1 point or less; any other number is "same" if it rounds
    to the published value. What is neither lies "inside the interval" of ours or "outside". A Z of the sign test has a
    standard error of about 1 whatever the methods, so that its nearness is "no information". The grade is "" for a
    count, which is equal or not, and where there is no verdict.

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
    printed = Decimal(value.value)
    estimate, low, high = (Decimal(str(float(end))) * scale for end in (ours.value, ours.low, ours.high))
    inside = None if is_count or low.is_nan() else low <= printed <= high
    rounds = abs(estimate - printed) <= Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)
    difference = float(estimate - printed)
    shares = value.metric in _SHARES_OF_DOCUMENTS
    documents = difference / scale * ours.n if shares else math.nan
    if aside:
        verdict, grade = aside.kind, ""
    elif rounds:
        verdict = "equal, outside the interval" if inside is False else "equal"
    elif inside is None:
        verdict = "deviates" if is_count else "no interval"
    else:
        verdict = "consistent" if inside else "deviates"
    if not aside:
        points = abs(difference) * 100 / scale if value.is_share else math.inf
        few = abs(documents) < SAME_DOCUMENTS + 0.5 and points <= SAME_DOCUMENTS_POINTS
        if value.kind != "result":
            grade = "" if is_count else NO_INFORMATION
        elif (points <= SAME_POINTS or few) if value.is_share else rounds:
            grade = "same"
        elif points <= NEAR_POINTS:
            grade = "near"
        else:
            grade = {None: "no interval", True: "inside the interval", False: "outside"}[inside]
    missing = (math.nan, math.nan)
    ends = missing if is_count else (scale * ours.low, scale * ours.high)
    over = missing if between is None else (scale * between.low, scale * between.high)
    return {
        "cell": " vs ".join(value.pair) if value.pair else value.cell,
        "metric": value.metric,
        "kind": value.kind,
        "reading": method or value.reading,
        "published": value.value,
        "unit": value.printed_in,
        "value": scale * ours.value,
        **dict(zip(("low", "high"), ends, strict=True)),
        "sample": sample,
        **dict(zip(("between_low", "between_high"), over, strict=True)),
        "documents": documents,
        "widest": math.nan if is_count else scale * max(ours.high - ours.value, ours.value - ours.low),
        "verdict": verdict,
        "grade": grade,
        "aside": aside.why if aside else "",
    }


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
    for value in (v for v in published.values if v.config == config):
        cells = value.pair or (value.cell or "",)
        yield from _beside(value, scored, first_exclusion(asides, [(config, cell) for cell in cells]))
    for reference in published.reference_values:
        aside = Exclusion(REFERENCE_VALUE, reference.in_words)
        for value in (v for v in reference.values if v.config == config):
            for cell in fnmatch.filter(scored.cells, value.cell or ""):
                yield from _beside(value.model_copy(update={"cell": cell}), scored, aside, reference.name)


def _beside(
    value: PublishedValue, scored: ScoreTable, aside: Exclusion | None, method: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the row of a published value, if we have an estimate of it."""
    ours = estimate_of(value, scored)
    if ours is not None:
        cell = value.pair[0] if value.pair else value.cell or ""
        scores, sample = scored.cells[cell], scored.samples[cell]
        between = sample.between(scores, value.metric) if value.cell else None
        counted = "" if value.kind == "count" else sample.counted(scores, ours)
        yield value_row(value, ours, counted, between, aside, method)


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
