"""Counts of verdicts, and sentences on them: how many published values agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmark.analysis.prose.sentences import sentence
from benchmark.config.model import BASE_VARIANT
from benchmark.papers.claims import NOT_TESTABLE, NOT_TESTED
from benchmark.papers.load import cells_by_configuration, published_of_experiment
from benchmark.papers.published_verdicts import GRADES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Experiment
    from benchmark.papers.claims import ClaimVerdict
    from benchmark.papers.published import Claim
    from benchmark.papers.published_verdicts import Exclusions

#: Verdict on a claim that holds under some equal readings of its paper and not under others.
DEPENDS = "depends on the reading"
NOT_MEASURED, NO_VALUES = "not measured", "no published values"
_ORDER = ("equal", "equal, outside the interval", "consistent", "deviates", "no interval")
_LABELS = {"deviates": "deviating"}
_NOT_COUNTED = {"tuned": "tuned", "another setting": "of another setting"}
#: Names of the kinds of published values, which are counted apart.
VALUE_KINDS = {"result": "results", "z": "Z of the sign test", "count": "counts of data"}
_write = partial(sentence, "verdicts.j2")


def value_counts(
    tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None, *, by_grade: bool = False
) -> list[dict[str, Any]]:
    """Count the published values of each kind: how many of how many were reproduced, and how many deviate.

    `detail` has their number by verdict, or results by grade, without zeros. Kinds without a value are left out.
    """
    rows = [row for row in _own_rows(tables) if row["verdict"] not in _NOT_COUNTED]
    found = []
    for kind, name in VALUE_KINDS.items():
        of_kind, graded = [row for row in rows if row["kind"] == kind], by_grade and kind == "result"
        of, words = max((printed or {}).get(kind, 0), len(of_kind)), Counter(str(row["verdict"]) for row in of_kind)
        counts = {"deviating": words["deviates"], "of": of}
        counts["reproduced"] = sum(n for word, n in words.items() if word.startswith(("equal", "consistent")))
        words = Counter(row["grade"] for row in of_kind) if graded else words
        detail = {_LABELS.get(word, word): words[word] for word in (GRADES if graded else _ORDER) if words[word]}
        detail |= {NOT_MEASURED: of - len(of_kind)} if of > len(of_kind) else {}
        found += [{"kind": kind, "name": name, "detail": detail, **counts}] if of else []
    return found


def not_counted_texts(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Write how many published values are not counted, for each reason."""
    verdicts = Counter(row["verdict"] for row in _own_rows(tables))
    return [f"{verdicts[word]} {label}, not counted" for word, label in _NOT_COUNTED.items() if verdicts[word]]


def _own_rows(tables: Sequence[pd.DataFrame]) -> Iterator[dict[Any, Any]]:
    """Yield the rows of the paper's values, and other readings that are not counted where no value of it is."""
    rows = [row for table in tables for row in table.to_dict("records")]
    words = {row["verdict"] for row in rows if not row["reading"]}
    for row in rows:
        if not row["reading"] or (row["verdict"] in _NOT_COUNTED and row["verdict"] not in words):
            yield row


def counted_claims(claims: pd.DataFrame) -> list[dict[str, str]]:
    """Return the counted claims of one paper, each with both verdicts under all equal readings of the paper."""
    return [
        {"claim": str(claim), "text": str(rows["text"].iloc[0])}
        | {by: _over_readings(list(rows[name])) for by, name in (("paper", "verdict"), ("strict", "strict_verdict"))}
        for claim, rows in claims[claims["counted"] == ""].groupby("claim", sort=False)
    ]


def claim_verdict_lists(claims: Sequence[Mapping[str, str]]) -> tuple[list[str], list[str]]:
    """Return the verdicts by the papers' criteria on claims that were tested, and ours on those that can be tested."""
    paper = [claim["paper"] for claim in claims if not claim["paper"].startswith(NOT_TESTED)]
    strict = [claim["strict"] for claim in claims if not claim["strict"].startswith(NOT_TESTED)]
    return paper, [verdict for verdict in strict if verdict not in ("no test", NOT_TESTABLE)]


def _over_readings(verdicts: Sequence[str]) -> str:
    """Return the verdict on a claim under all equal readings of its paper."""
    if len({verdict == "holds" for verdict in verdicts}) > 1:
        return DEPENDS
    return next((verdict for verdict in verdicts if "(" in verdict), verdicts[0])


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
    whole = summary.claims[summary.claims["whole"] <= summary.claims["of"]]
    printed = verdict_counts_text([summary.verdicts])
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
