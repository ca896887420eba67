"""Counts of verdicts: how many published values agree with ours, and how many claims hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ClaimOutcome:
    """Verdicts on a claim under all equal readings of its paper together, as text.

    `counted` is the reason why it isn't counted among the paper's claims, or "".
    """

    claim: str
    text: str
    paper: str
    strict: str
    counted: str = ""


@dataclass(frozen=True)
class ValueCounts:
    """Published values of one kind: how many of how many were reproduced.

    `verdicts` counts the values by verdict; `detail` is what a sentence says of them, by verdict or grade.
    """

    kind: str
    name: str
    reproduced: int
    of: int
    verdicts: Counter[str]
    detail: Mapping[str, int]


def value_counts(
    tables: Sequence[pd.DataFrame], printed: Mapping[str, int] | None = None, *, by_grade: bool = False
) -> list[ValueCounts]:
    """Count the published values of each kind by verdict, or results by grade; `detail` has no zeros."""
    rows = [row for row in _own_rows(tables) if row["verdict"] not in _NOT_COUNTED]
    found = []
    for kind, name in VALUE_KINDS.items():
        own = [row for row in rows if row["kind"] == kind]
        of = max((printed or {}).get(kind, 0), len(own))
        words = Counter(row["grade"] if by_grade and kind == "result" else row["verdict"] for row in own)
        order = GRADES if by_grade and kind == "result" else _ORDER
        detail = {_LABELS.get(word, word): words[word] for word in order if words[word]}
        detail |= {NOT_MEASURED: of - len(own)} if of > len(own) else {}
        verdicts = Counter(str(row["verdict"]) for row in own)
        found.append(ValueCounts(kind, name, sum(map(_reproduced, own)), of, verdicts, detail))
    return found


def not_counted_texts(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Write how many published values are not counted, for each reason."""
    verdicts = Counter(row["verdict"] for row in _own_rows(tables))
    return [f"{verdicts[word]} {label}, not counted" for word, label in _NOT_COUNTED.items() if verdicts[word]]


def _own_rows(tables: Sequence[pd.DataFrame]) -> Iterator[dict[Any, Any]]:
    """Yield the rows of the paper's values, and other readings that are not counted where no value of it is."""
    rows = [row for table in tables for row in table.to_dict("records")]
    own = {row["verdict"] for row in rows if not row["reading"]}
    for row in rows:
        if not row["reading"] or (row["verdict"] in _NOT_COUNTED and row["verdict"] not in own):
            yield row


def _reproduced(row: dict[Any, Any]) -> bool:
    return str(row["verdict"]).startswith(("equal", "consistent"))


def claim_outcomes(claims: pd.DataFrame) -> list[ClaimOutcome]:
    """Return the outcome of each claim of one paper, in the order of the table.

    A row that isn't counted decides nothing where another reading of its claim is.
    """
    by_claim: dict[str, list[dict[Any, Any]]] = {}
    for row in claims.to_dict("records"):
        by_claim.setdefault(row["claim"], []).append(row)
    outcomes = []
    for claim, every in by_claim.items():
        rows = [row for row in every if not row["counted"]] or every
        paper, strict = (_over_readings([row[name] for row in rows]) for name in ("verdict", "strict_verdict"))
        outcomes.append(ClaimOutcome(claim, rows[0]["text"], paper, strict, rows[0]["counted"]))
    return outcomes


def claim_verdict_lists(claims: Sequence[ClaimOutcome]) -> tuple[list[str], list[str]]:
    """Return the verdicts by the papers' criteria on claims that were tested, and ours on those that can be tested."""
    paper = [claim.paper for claim in claims if not claim.paper.startswith(NOT_TESTED)]
    untested = ("no test", NOT_TESTABLE)
    strict = [each.strict for each in claims if each.strict not in untested and not each.strict.startswith(NOT_TESTED)]
    return paper, strict


def _over_readings(verdicts: Sequence[str]) -> str:
    """Return the verdict on a claim under all equal readings of its paper."""
    if len({verdict == "holds" for verdict in verdicts}) > 1:
        return DEPENDS
    return next((verdict for verdict in verdicts if "(" in verdict), verdicts[0])
