"""Every printed number and range of a paper against the scores of an experiment.

No tolerance is set by hand: a printed number is judged by the interval of our estimate of it.
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
    from benchmark.evaluation.published import Published, PublishedRange, PublishedValue
    from benchmark.evaluation.scored import Scored

#: The verdict on what another method scored: none.
LANDMARK = "landmark"
#: Metrics of which a difference is so many documents.
_SHARES_OF_DOCUMENTS = ("accuracy", "error")


# --- Numbers ---


@dataclass(frozen=True)
class Aside:
    """Why a cell's number gives no verdict: `kind` is "fitted", "another setting" or "landmark", `why` says which."""

    kind: str
    why: str


#: By configuration and cell.
Asides = Mapping[tuple[str, str], Aside]


@dataclass(frozen=True)
class ValueVerdict:
    """A printed number beside ours.

    Parameters
    ----------
    published : PublishedValue
    ours : Estimate
    sample : str
        What the interval is over: "1,041 documents in 4 splits".
    between : Estimate or None
        The score with its interval over the groups that splits leave out, where they do.
    aside : Aside or None
        Why there is no verdict: a choice was made to come near this very print, the setting is not the paper's, or the
        number is of another method.
    method : str
        That method as `Landmark.name` has it; "" of a print.
    """

    published: PublishedValue
    ours: Estimate
    sample: str = ""
    between: Estimate | None = None
    aside: Aside | None = None
    method: str = ""

    @property
    def reading(self) -> str:
        """The method of a landmark; "another" of a number that is given already; "" of any other."""
        return self.method or self.published.reading

    @property
    def scale(self) -> int:
        """What ours is multiplied with to stand in the print's unit."""
        return 100 if self.published.unit == "percent" else 1

    @property
    def difference(self) -> float:
        """Ours less the print, in the print's unit, from decimal digits."""
        return float(self._decimal(self.ours.value) - Decimal(self.published.value))

    @property
    def documents(self) -> float:
        """The difference in documents; NaN where it is of something else."""
        shares = self.published.metric in _SHARES_OF_DOCUMENTS
        return self.difference / self.scale * self.ours.n if shares else math.nan

    @property
    def widest(self) -> float:
        """How far from ours a print could have been and still be consistent, in its unit; NaN without an interval."""
        if self.published.kind == "count":
            return math.nan
        ours = self.ours
        return self.scale * max(ours.high - ours.value, ours.value - ours.low)

    @property
    def rounds(self) -> bool:
        """Whether ours rounds to the print; half-way between two prints it rounds to either."""
        printed = Decimal(self.published.value)
        half_digit = Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)
        return abs(self._decimal(self.ours.value) - printed) <= half_digit

    @property
    def inside(self) -> bool | None:
        """Whether the print lies in the 95% interval of ours; None without one."""
        if self.published.kind == "count" or math.isnan(self.ours.low):
            return None
        return self._decimal(self.ours.low) <= Decimal(self.published.value) <= self._decimal(self.ours.high)

    @property
    def verdict(self) -> str:
        """What the data show.

        The kind of an `aside`, where they can show nothing; else "equal" where ours rounds to the print, with
        "outside the interval" where that excludes it; "consistent" where the print lies in the interval; "deviates"
        where it doesn't; "no interval" where a single draw gives none.
        """
        if self.aside:
            return self.aside.kind
        if self.rounds:
            return "equal, outside the interval" if self.inside is False else "equal"
        if self.inside is None:
            return "deviates" if self.published.kind == "count" else "no interval"
        return "consistent" if self.inside else "deviates"

    def _decimal(self, number: float) -> Decimal:
        return Decimal(str(float(number))) * self.scale


def judge_values(published: Published, config: str, scored: Scored, asides: Asides | None = None) -> list[ValueVerdict]:
    """The printed numbers of this configuration that ours can be set beside, in the order of the print, and landmarks.

    Parameters
    ----------
    published : Published
    config : str
    scored : Scored
    asides : mapping of (configuration, cell id) to Aside, optional
    """
    found = []
    for value in (each for each in published.values if each.config == config):
        cells = value.pair or (value.cell or "",)
        found.append(_beside(value, scored, aside_of(asides, [(config, each) for each in cells])))
    for landmark in published.landmarks:
        aside = Aside(LANDMARK, landmark.in_words)
        for value in (each for each in landmark.values if each.config == config):
            for cell in fnmatch.filter(scored.cells, value.cell or ""):
                own = value.model_copy(update={"cell": cell})
                found.append(_beside(own, scored, aside, landmark.name))
    return [each for each in found if each is not None]


def _beside(value: PublishedValue, scored: Scored, aside: Aside | None, method: str = "") -> ValueVerdict | None:
    """A published number beside ours; None where there is none of ours."""
    ours = estimate_of(value, scored)
    if ours is None:
        return None
    cell = value.pair[0] if value.pair else value.cell or ""
    scores, sample = scored.cells[cell], scored.samples[cell]
    between = sample.between(scores, value.metric) if value.cell else None
    counted = "" if value.kind == "count" else sample.counted(scores, ours)
    return ValueVerdict(value, ours, counted, between, aside, method)


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


def aside_of(asides: Asides | None, cells: Iterable[tuple[str, str]]) -> Aside | None:
    """Why the first of these cells, by configuration and name, that is set aside gives no verdict; None if none is."""
    return next((asides[cell] for cell in cells if cell in asides), None) if asides else None


# --- Ranges ---


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
