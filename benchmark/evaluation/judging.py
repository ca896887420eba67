"""Every printed number, range and claim of a paper against the scores of an experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmark.evaluation.published import ClaimVerdict, Evidence, Template, judge_claim, judge_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.published import (
        Claim,
        Comparison,
        Published,
        PublishedRange,
        PublishedValue,
        ValueVerdict,
    )
    from benchmark.evaluation.scored import Scored


@dataclass(frozen=True)
class RangeVerdict:
    """A printed range beside the least and greatest of ours.

    `low` and `high` are as scores are: shares are fractions; NaN where none has been run. `inside` of `of` cells lie in
    the range; the verdict is "inside", "outside", or "not tested" where a cell is missing.
    """

    published: PublishedRange
    low: float
    high: float
    inside: int
    of: int
    verdict: Literal["inside", "outside", "not tested"]


def judge_values(published: Published, config: str, scored: Scored) -> list[ValueVerdict]:
    """The printed numbers of this configuration that ours can be set beside, in the order of the print."""
    found = []
    for value in published.values:
        ours = estimate_of(value, scored) if value.config == config else None
        if ours is not None:
            found.append(judge_value(value, ours))
    return found


def estimate_of(value: PublishedValue, scored: Scored) -> Estimate | None:
    """Our estimate of a printed number; None where its cells have not been run, or the sample gives none."""
    if value.pair is None:
        cell = value.cell or ""
        return scored.estimate(cell, value.metric) if scored.has(value.metric, cell) else None
    a, b = value.pair
    if not {a, b} <= set(scored.cells):
        return None
    try:
        return scored.sign_z(a, b) if value.metric == "sign-z" else scored.ratio(a, b, "error")
    except (ValueError, KeyError):  # documents are tested more than once, or there is no error to divide by
        return None


def judge_ranges(published: Published, config: str, scored: Scored) -> list[RangeVerdict]:
    """The printed ranges of this configuration."""
    return [_range(each, scored) for each in published.ranges if each.config == config]


def _range(printed: PublishedRange, scored: Scored) -> RangeVerdict:
    low, high = float(printed.low), float(printed.high)
    cells = [cell for cell in printed.expanded if scored.has(printed.metric, cell)]
    means = [scored.estimate(cell, printed.metric).value for cell in cells]
    inside, of = sum(low <= mean <= high for mean in means), len(printed.expanded)
    verdict: Literal["inside", "outside", "not tested"]
    verdict = "not tested" if len(means) < of else "inside" if inside == of else "outside"
    found = (min(means), max(means)) if means else (math.nan, math.nan)
    return RangeVerdict(printed, *found, inside, of, verdict)


def evidence_for(claim: Claim, config: str, scored: Scored) -> dict[Comparison, Evidence]:
    """What the scores of one configuration say of a claim's comparisons."""
    found = {}
    for comparison in claim.comparisons:
        a, b = comparison.a, comparison.b
        if comparison.config == config and scored.has(claim.metric, a, b):
            try:
                test = scored.test(claim.test, a, b, claim.metric) if claim.test else None
                found[comparison] = Evidence(scored.difference(a, b, claim.metric), test)
            except ValueError:  # of other documents: nothing is said
                continue
    return found


def judge_claims(
    published: Published, config: str, explains: str | None, variants: Iterable[str], scored: Scored
) -> list[ClaimVerdict]:
    """Each claim on this configuration alone.

    Where the configuration explains another, each claim on that one's cells under each variant; claims on times are
    left out there, as those were measured when the machine did other things.

    Parameters
    ----------
    published : Published
    config : str
    explains : str or None
    variants : iterable of str
        What stands before cell ids; "" for the configuration itself.
    scored : Scored
    """
    variants = tuple(variants)
    judged = (
        _judged(claim, config, explains, name, scored)
        for claim in published.claims
        if not (explains and claim.on_clock)
        for name in variants
    )
    return [each for each in judged if each is not None]


def _judged(claim: Claim, config: str, explains: str | None, variant: str, scored: Scored) -> ClaimVerdict | None:
    prefix = f"{variant}-" if variant else ""
    own = [c for c in claim.comparisons if c.config == (explains or config)]
    if explains:  # it need not have every cell of what it explains
        own = [c for c in own if prefix + c.a in scored.cells and prefix + c.b in scored.cells]
    templates = tuple(Template(config=config, a=prefix + c.a, b=prefix + c.b) for c in own)
    part = claim.model_copy(update={"templates": templates})
    found = evidence_for(part, config, scored) if templates else {}
    if not found and (not templates or explains):
        return None
    return judge_claim(part, found, variant)
