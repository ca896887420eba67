"""Results of reproduced papers: experiments with their sensitivity analyses, claims, and how many are reproduced."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.prose.sentences import sentence
from benchmark.analysis.prose.verdict_sentences import (
    NOT_MEASURED,
    claim_counts_text,
    claim_notes,
    claim_verdict_lists,
    counted_claims,
    not_counted_texts,
    value_counts,
    verdict_counts_text,
)
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.report.sensitivity import tried_frame
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.analysis.summary import Summary
    from benchmark.papers.published import CoveredPart, Published

#: Columns of the comparisons of claims. `verdict` is the one that decides: ours, or the paper's if there is no test.
COMPARISONS = (
    *("claim", "variant", "config", "a", "b", "metric", "relation", "value", "low", "high", "published"),
    *("claimed_low", "claimed_high", "p_value", "p_holm", "detectable", "paper_verdict", "strict_verdict", "verdict"),
)


def comparison_frame(rows: Iterable[Any] = ()) -> pd.DataFrame:
    """Return the comparisons of claims as a frame of `COMPARISONS`."""
    return pd.DataFrame(list(rows), columns=list(COMPARISONS))


@dataclass(frozen=True, eq=False)
class PaperExperiment:
    """One experiment of a paper, with its sensitivity analysis (`tried`) and the sweeps that feed it.

    `caveats` are the limitations of its numbers that a reader has to know.
    """

    summary: Summary
    tried: pd.DataFrame = field(default_factory=tried_frame)
    remarks: tuple[str, ...] = ()
    sweeps: tuple[Summary, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def deviating(self) -> pd.DataFrame:
        """Values that deviate, of which some do so although a setting was tuned to them."""
        verdicts = self.summary.verdicts
        theirs = verdicts["published"].astype(float)
        tuned = (verdicts["verdict"] == "tuned") & ((theirs < verdicts["low"]) | (theirs > verdicts["high"]))
        return verdicts[((verdicts["verdict"] == "deviates") | tuned) & (verdicts["reading"] == "")]

    @property
    def left_ranges(self) -> pd.DataFrame:
        """Axes of published figures that our values leave."""
        return self.summary.ranges[self.summary.ranges["verdict"] == "outside"]


@dataclass(frozen=True, eq=False)
class PaperResult:
    """One paper with the results of its reproduction.

    Parameters
    ----------
    published : Published
        What the paper claims, and what stands in it.
    experiments : tuple of PaperExperiment
    claims : DataFrame
        Columns of `SUMMARY_TABLES`, with verdicts over all experiments together.
    printed : mapping of str to int
        Number of published values of each kind, measured or not: a failed cell must not improve the count.
    comparisons : DataFrame
        Columns `COMPARISONS`: the comparisons of its claims that were made. Differences are as in the score frame;
        `published` is that of the published values, NaN where one of them isn't published. `claimed_low` and
        `claimed_high` are the ends of the claimed range, NaN unless the claim is of equivalence or of a ratio.
    """

    published: Published
    experiments: tuple[PaperExperiment, ...]
    claims: pd.DataFrame
    printed: Mapping[str, int]
    comparisons: pd.DataFrame = field(default_factory=comparison_frame)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes on the claims: margins, ranges, claims that the paper states twice."""
        return tuple(claim_notes(self.published.claims))

    @property
    def source(self) -> str:
        """Authors, venue and year: the reference without the title of the paper."""
        return " ".join(self.published.reference.replace(f"{self.published.title}.", "").split())

    @property
    def verdicts(self) -> list[pd.DataFrame]:
        """Verdicts on the published values of each experiment."""
        return [each.summary.verdicts for each in self.experiments]

    @property
    def counted_claims(self) -> list[dict[str, str]]:
        """Claims that are counted, with their verdicts."""
        return counted_claims(self.claims)

    @property
    def counts(self) -> tuple[str, str]:
        """Sentences on how many published values are reproduced, and how many claims hold."""
        return verdict_counts_text(self.verdicts, self.printed, by_grade=True), claim_counts_text([self.claims])

    @property
    def broken_claims(self) -> pd.DataFrame:
        """Counted claims that fail, by the paper's rule or by a strict test."""
        whole = (self.claims["verdict"] == "holds") & self.claims["strict_verdict"].isin(["holds", "no test"])
        return self.claims[(self.claims["counted"] == "") & ~whole]

    @property
    def exceptions(self) -> pd.DataFrame:
        """Comparisons that do not hold; those of a claim that repeats another are left out."""
        again = self.claims["claim"][self.claims["counted"].str.startswith("same as").astype(bool)]
        found = self.comparisons
        return found[(found["verdict"] != "holds") & ~found["claim"].isin(again)]


def reproduced_counts(papers: Sequence[PaperResult]) -> list[dict[str, Any]]:
    """Return how many published values of each kind are reproduced, of the kinds that there are."""
    printed = sum((Counter(paper.printed) for paper in papers), Counter[str]())
    return value_counts([each for paper in papers for each in paper.verdicts], printed, by_grade=True)


def scoreboard_headline(papers: Sequence[PaperResult]) -> str:
    """Write in one sentence, without a full stop, how many published values and claims are reproduced."""
    values, claims = reproduced_counts(papers), [claim for paper in papers for claim in paper.counted_claims]
    tested, _ = claim_verdict_lists(claims)
    missing = sum(counts["detail"].get(NOT_MEASURED, 0) for counts in values)
    facts = {"tested": tested, "missing": missing, "left": len(claims) - len(tested)}
    return sentence("verdicts.j2", "scoreboard", values=values, **facts)


def counts_table(papers: Sequence[PaperResult]) -> Table:
    """Return a table of how many published values and claims are reproduced, in part, not, or have no verdict."""
    rows = list[tuple[Any, ...]]()
    for counts in reproduced_counts(papers):
        of, good, bad = counts["of"], counts["reproduced"], counts["deviating"]
        rows.append((f"published {counts['name']}", of, good, 0, bad, of - good - bad))
    claims = [claim for paper in papers for claim in paper.counted_claims]
    for name, verdicts in (
        ("claims, by the papers' criteria", [claim["paper"] for claim in claims]),
        ("claims, by our stricter test", [claim["strict"] for claim in claims]),
    ):
        tones = Counter(map(verdict_tone, verdicts))
        rows += [(name, len(verdicts), *(tones[tone] for tone in ("good", "half", "bad", "open")))] if verdicts else []
    header = ("what", "of", "reproduced", "in part", "not reproduced", "no verdict")
    note = "; ".join(not_counted_texts([each for paper in papers for each in paper.verdicts]))
    return Table.of("What is reproduced", header, rows, f"{note}." if note else "")


def coverage_table(parts: Iterable[CoveredPart]) -> Table:
    """Return a table of the parts of a paper, and what runs each."""
    rows = []
    for each in parts:
        configs = (f"{name}: {', '.join(cells)}" if cells else name for name, cells in each.configs.items())
        listed = "; ".join(configs), ", ".join(each.claims), ", ".join(each.tests)
        rows.append((each.part, each.says, *listed, each.not_run))
    header = ("part", "what it says", "configurations and cells", "claims", "tests", "what is not run, and why")
    return Table.of("Parts of the paper", header, rows)


def record_frames(papers: Sequence[PaperResult]) -> dict[str, pd.DataFrame]:
    """Return the records of the scoreboard by name, the rows of each paper below its key.

    `values` has the published values beside ours, by paper and configuration, without reference values; `claims` the
    verdicts on claims, and `comparisons` those on what they compare.
    """
    values = {
        (paper.published.paper, each.summary.name): each.summary.verdicts.loc[
            lambda rows: rows["verdict"] != REFERENCE_VALUE
        ]
        for paper in papers
        for each in paper.experiments
    }
    frames = {"values": pd.concat(values, names=["paper", "config"])}
    for name in ("claims", "comparisons"):
        frames[name] = pd.concat({paper.published.paper: getattr(paper, name) for paper in papers}, names=["paper"])
    return {name: frame.droplevel(-1).reset_index() for name, frame in frames.items()}
