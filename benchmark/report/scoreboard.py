"""Scoreboard of papers: verdicts on claims as signs, how many published values are reproduced, and the records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.prose.verdict_sentences import claim_counts_text, verdict_counts_text
from benchmark.analysis.summary import CLAIMS, VERDICT_TABLE_COLUMNS, summary_table
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.papers.verdict_counts import (
    NO_VALUES,
    NOT_MEASURED,
    ClaimOutcome,
    ValueCounts,
    claim_outcomes,
    claim_verdict_lists,
    not_counted_texts,
    value_counts,
)
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.report.paper_results import PaperResult

_BY_VERDICT = ("good", "half", "bad", "open")


@dataclass(frozen=True)
class PaperCard:
    """One paper on the scoreboard.

    Parameters
    ----------
    key, title : str
    source : str
        Authors, venue and year.
    finding : str
    claims : tuple of ClaimOutcome
        Claims that are counted.
    values : str
        How many published values were reproduced, or `NO_VALUES`.
    counts : str
        How many of its claims hold.
    """

    key: str
    title: str
    source: str
    finding: str
    claims: tuple[ClaimOutcome, ...]
    values: str
    counts: str


def paper_cards(papers: Iterable[PaperResult]) -> list[PaperCard]:
    """Return the scoreboard of papers, in their order."""
    return [
        PaperCard(
            paper.key,
            paper.title,
            authors_and_venue(paper.reference, paper.title),
            paper.finding,
            tuple(claim for claim in claim_outcomes(paper.claims) if not claim.counted),
            *verdict_and_claim_counts([paper]),
        )
        for paper in papers
    ]


def authors_and_venue(reference: str, title: str) -> str:
    """Return a reference without the title of the paper.

    Examples
    --------
    >>> authors_and_venue("Ann Author. On things. Journal, 2005.", "On things")
    'Ann Author. Journal, 2005.'
    """
    return " ".join(reference.replace(f"{title}.", "").split())


def verdict_and_claim_counts(papers: Sequence[PaperResult]) -> tuple[str, str]:
    """Return two sentences on several papers: counts of verdicts on published values, and on claims."""
    values = verdict_counts_text(_verdicts(papers), _printed(papers), by_grade=True)
    return values, claim_counts_text([paper.claims for paper in papers])


def scoreboard_headline(papers: Sequence[PaperResult]) -> str:
    """Write in one sentence, without a full stop, how many published values and claims are reproduced."""
    values = [counts for counts in _value_counts(papers) if counts.of]
    counted = _counted(papers)
    tested, _ = claim_verdict_lists(counted)
    parts = [f"{counts.reproduced} of {counts.of} published {counts.name}" for counts in values]
    parts += [f"{tested.count('holds')} of {len(tested)} claims"] if tested else []
    sentence = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    sentence = f"{sentence} are reproduced" if parts else NO_VALUES
    missing = sum(counts.detail.get(NOT_MEASURED, 0) for counts in values)
    more = [f"{missing} published {'value is' if missing == 1 else 'values are'} {NOT_MEASURED}"] if missing else []
    left = len(counted) - len(tested)
    more += [f"{left} {'claim is' if left == 1 else 'claims are'} not tested"] if left else []
    return "; ".join([sentence, *more])


def counts_table(papers: Sequence[PaperResult]) -> Table:
    """Return a table of how many published values and claims are reproduced, in part, not, or have no verdict."""
    rows = list[tuple[str, tuple[int, ...]]]()
    for counts in _value_counts(papers):
        if counts.of:
            bad = counts.verdicts["deviates"]
            shown = (counts.of, counts.reproduced, 0, bad, counts.of - counts.reproduced - bad)
            rows.append((f"published {counts.name}", shown))
    counted = _counted(papers)
    for name, verdicts in (
        ("claims, by the papers' criteria", [claim.paper for claim in counted]),
        ("claims, by our stricter test", [claim.strict for claim in counted]),
    ):
        tones = Counter(map(verdict_tone, verdicts))
        if verdicts:
            rows.append((name, (len(verdicts), *(tones[tone] for tone in _BY_VERDICT))))
    header = ("what", "of", "reproduced", "in part", "not reproduced", "no verdict")
    note = "; ".join(not_counted_texts(_verdicts(papers)))
    return Table.of(
        "What is reproduced", header, [(name, *numbers) for name, numbers in rows], f"{note}." if note else ""
    )


def record_frames(papers: Iterable[PaperResult]) -> dict[str, pd.DataFrame]:
    """Return the records of the scoreboard by name, the rows of each paper below its key.

    `values` has the published values beside ours, by paper and configuration, without reference values; `claims` the
    verdicts on claims, and `comparisons` those on what they compare.
    """
    papers = list(papers)
    values = [
        _keyed(part.summary.verdicts[part.summary.verdicts["verdict"] != REFERENCE_VALUE], paper.key, part.summary.name)
        for paper in papers
        for part in paper.experiments
    ]
    frames = {
        "values": values or [_keyed(summary_table(VERDICT_TABLE_COLUMNS), "", "")],
        "claims": [_keyed(paper.claims, paper.key) for paper in papers] or [_keyed(summary_table(CLAIMS), "")],
        "comparisons": [_keyed(paper.comparisons, paper.key) for paper in papers],
    }
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items() if parts}


def _keyed(table: pd.DataFrame, paper: str, config: str | None = None) -> pd.DataFrame:
    """Return a table with the key of its paper, and the name of its configuration, before its columns."""
    keyed = table.copy()
    if config is not None:
        keyed.insert(0, "config", config)
    keyed.insert(0, "paper", paper)
    return keyed


def _value_counts(papers: Sequence[PaperResult]) -> list[ValueCounts]:
    return value_counts(_verdicts(papers), _printed(papers), by_grade=True)


def _verdicts(papers: Iterable[PaperResult]) -> list[pd.DataFrame]:
    return [part.summary.verdicts for paper in papers for part in paper.experiments]


def _printed(papers: Iterable[PaperResult]) -> Mapping[str, int]:
    printed: Counter[str] = Counter()
    for paper in papers:
        printed.update(paper.printed)
    return printed


def _counted(papers: Iterable[PaperResult]) -> list[ClaimOutcome]:
    return [claim for paper in papers for claim in claim_outcomes(paper.claims) if not claim.counted]
