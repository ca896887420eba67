"""Sentences on verdicts: how many published values agree with ours, and how many claims hold, by which tests."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmark.analysis.prose.sentences import sentence
from benchmark.config.model import BASE_VARIANT
from benchmark.papers.load import cells_by_configuration, published_of_experiment
from benchmark.papers.verdict_counts import (
    DEPENDS,
    NO_VALUES,
    claim_verdict_lists,
    counted_claims,
    not_counted_texts,
    value_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.papers.claims import ClaimVerdict
    from benchmark.papers.published import Claim
    from benchmark.papers.published_verdicts import Exclusions

_write = partial(sentence, "verdicts.j2")


def verdict_counts_text(
    tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None, *, by_grade: bool = False
) -> str:
    """Write how many published values were reproduced, separately for each kind of `VALUE_KINDS`.

    A value is reproduced if ours is equal or consistent. Tuned values and values of another setting are only mentioned.
    If `printed` has more values than the tables have verdicts, the rest is reported as not measured. With `by_grade`,
    results of models are counted by grade, and not by verdict.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"verdict": ["equal", "deviates", "equal"], "reading": "", "kind": ["result", "result", "count"]}
    >>> verdict_counts_text([pd.DataFrame(rows)])
    '1 of 2 published results reproduced (1 equal, 1 deviating); 1 of 1 published counts of data reproduced'
    >>> verdict_counts_text([pd.DataFrame(rows | {"grade": ["same", "outside", ""]})], by_grade=True)
    '1 of 2 published results reproduced (1 same, 1 outside); 1 of 1 published counts of data reproduced'
    """
    counts = value_counts(tables, printed, by_grade=by_grade)
    return "; ".join([*(_write("values", own=count) for count in counts), *not_counted_texts(tables)]) or NO_VALUES


def claim_counts_text(tables: Sequence[pd.DataFrame]) -> str:
    """Write how many claims hold by their papers' criteria, and by ours; claims that are not counted are left out.

    Each table has the claims of one paper. Claims that lack a comparison are only mentioned, as not tested.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"claim": ["a", "b"], "text": "", "counted": "", "verdict": ["holds", "not tested (1 of 2 missing)"]}
    >>> claim_counts_text([pd.DataFrame(rows | {"strict_verdict": "not testable"})])
    "its one claim holds by the paper's criterion; 1 not tested"
    """
    claims = [each for table in tables for each in counted_claims(table)]
    paper, strict = claim_verdict_lists(claims)
    return _write("claims", paper=_counted(paper), strict=_counted(strict), untested=len(claims) - len(paper))


def verdict_texts(summary: Summary) -> list[str]:
    """Write how many published values a run reproduced, and how many claims hold of those that it decides in full."""
    whole, printed = (
        summary.claims[summary.claims["whole"] <= summary.claims["of"]],
        verdict_counts_text([summary.verdicts]),
    )
    return [text for text in (printed, claim_counts_text([whole]) if len(whole) else "") if text not in ("", NO_VALUES)]


def _counted(verdicts: Sequence[str]) -> dict[str, Any]:
    """Return how many verdicts hold, hold in part, under some readings only, or are contradicted."""
    parts = {
        "in part": sum(verdict.startswith("holds in part") for verdict in verdicts),
        "under some readings of the paper only": verdicts.count(DEPENDS),
        "contradicted": sum(verdict.startswith("contradicted") for verdict in verdicts),
    }
    found = {"of": len(verdicts), "holds": verdicts.count("holds"), "first": next(iter(verdicts), "")}
    return found | {"parts": {words: n for words, n in parts.items() if n}}


def sensitivity_notes(claims: Iterable[ClaimVerdict]) -> list[str]:
    """Return for each claim the variants under which all of it holds or, without any, those that come nearest."""
    by_claim: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for each in claims:
        by_claim[each.claim.id][each.variant or BASE_VARIANT] = [judged.paper for judged in each.comparisons]
    return [_write("sensitivity", claim=claim, verdicts=verdicts) for claim, verdicts in by_claim.items()]


def claim_notes(claims: Iterable[Claim]) -> list[str]:
    """Return notes on the margins and ranges of claims, and on claims that repeat another."""
    return list(filter(None, (_write(kind, claim=claim) for claim in claims for kind in ("margin", "repeats"))))


def setting_notes(experiment: Experiment, asides: Exclusions) -> list[str]:
    """Return notes on cells under another setting than the paper's, and on a paper's file that names no cells."""
    cells: dict[str, list[str]] = defaultdict(list)
    for (_, cell), aside in asides.items():
        if aside.kind == "another setting":
            cells[aside.why].append(cell)
    notes = [_write("another setting", cells=ids, why=why) for why, ids in cells.items()]
    published = published_of_experiment(experiment) if experiment.paper else None
    if published is not None and experiment.name not in dict(cells_by_configuration(published)):
        notes.append(_write("not in paper", paper=experiment.paper, config=experiment.name))
    return notes
