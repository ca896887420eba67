"""Counts of verdicts: how many published values agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmark.papers.claims import NOT_TESTABLE, NOT_TESTED
from benchmark.papers.published_verdicts import GRADES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

#: Verdict on a claim that holds under some equal readings of its paper and not under others.
DEPENDS = "depends on the reading"
NOT_MEASURED, NO_VALUES = "not measured", "no published values"
_ORDER = ("equal", "equal, outside the interval", "consistent", "deviates", "no interval")
_LABELS = {"deviates": "deviating"}
_NOT_COUNTED = {"tuned": "tuned", "another setting": "of another setting"}
#: Names of the kinds of published values, which are counted apart.
VALUE_KINDS = {"result": "results", "z": "Z of the sign test", "count": "counts of data"}


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
