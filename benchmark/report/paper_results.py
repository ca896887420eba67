"""Results of reproduced papers: experiments with their sensitivity analyses, claims, and what these compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from benchmark.analysis.summary import summary_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from benchmark.analysis.summary import Summary

#: Columns of the comparisons of claims. `verdict` is the one that decides: ours, or the paper's if there is no test.
COMPARISONS = (
    *("claim", "variant", "config", "a", "b", "metric", "relation", "value", "low", "high", "published"),
    *("claimed_low", "claimed_high", "p_value", "p_holm", "detectable", "paper_verdict", "strict_verdict", "verdict"),
)


@dataclass(frozen=True)
class SensitivityScore:
    """Our number beside a published value under one variant of its experiment.

    `value`, `low` and `high` are in the unit of the published value. `verdict` follows the rule of published values.
    Values of one metric and `row` of a published table, whose cells are of one class each, belong together. `reading`
    is that of the published value.
    """

    cell: str
    metric: str
    published: str
    unit: str
    variant: str
    value: float
    low: float
    high: float
    verdict: str
    row: str = ""
    reading: str = ""


@dataclass(frozen=True)
class PaperExperiment:
    """One experiment of a paper, with its sensitivity analysis (`tried`) and the sweeps that feed it.

    `caveats` are the limitations of its numbers that a reader has to know.
    """

    summary: Summary
    tried: tuple[SensitivityScore, ...] = ()
    remarks: tuple[str, ...] = ()
    sweeps: tuple[Summary, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PaperResult:
    """One paper with the results of its reproduction.

    Parameters
    ----------
    claims : DataFrame
        Columns `CLAIMS`, with verdicts over all experiments together.
    printed : mapping of str to int
        Number of published values of each kind, measured or not: a failed cell must not improve the count.
    comparisons : DataFrame
        Columns `COMPARISONS`: the comparisons of its claims that were made. Differences are as in the score frame;
        `published` is that of the published values, NaN where one of them isn't published. `claimed_low` and
        `claimed_high` are the ends of the claimed range, NaN unless the claim is of equivalence or of a ratio.
    remarks : tuple of str
        Notes on the claims: margins, ranges, claims that the paper states twice.
    finding : str
        Outcome of the reproduction, in a sentence.
    """

    key: str
    title: str
    reference: str
    experiments: tuple[PaperExperiment, ...]
    claims: pd.DataFrame
    printed: Mapping[str, int]
    comparisons: pd.DataFrame = field(default_factory=partial(summary_table, COMPARISONS))
    remarks: tuple[str, ...] = ()
    finding: str = ""

    @property
    def exceptions(self) -> pd.DataFrame:
        """Comparisons that do not hold; those of a claim that repeats another are left out."""
        again = self.claims["claim"][self.claims["counted"].str.startswith("same as").astype(bool)]
        found = self.comparisons
        return found[(found["verdict"] != "holds") & ~found["claim"].isin(again)]
