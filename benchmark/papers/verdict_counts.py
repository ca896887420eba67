"""Sentences on verdicts: how many published values agree with ours, and how many claims hold."""

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
    parts = []
    for counts in value_counts(tables, printed, by_grade=by_grade):
        if not counts.of:
            continue
        detail = counts.detail if counts.kind == "result" or counts.reproduced < counts.of else {}
        shown = ", ".join(f"{n} {word}" for word, n in detail.items() if counts.kind == "result" or n < counts.of)
        what = f"{counts.reproduced} of {counts.of} published {counts.name} reproduced"
        parts.append(f"{what}{f' ({shown})' if shown else ''}")
    parts += not_counted_texts(tables)
    return "; ".join(parts) or NO_VALUES


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
    """Count the published values of each kind as `verdict_counts_text` writes them; `detail` has no zeros."""
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
    claims = [each for table in tables for each in claim_outcomes(table) if not each.counted]
    if not claims:
        return "no claims"
    paper, strict = claim_verdict_lists(claims)
    if not paper:
        return f"{len(claims)} {'claim' if len(claims) == 1 else 'claims'} not tested"
    if len(paper) == 1:
        parts = [f"its one claim {_spoken(paper[0])} by the paper's criterion"]
        parts[0] += f", and {_spoken(strict[0])} by ours, strictly" if strict else ""
    else:
        holds = f"{paper.count('holds')} of {len(paper)} claims hold by the papers' criteria"
        parts = [f"{holds}{_in_part(paper)}"]
        parts += [f"{strict.count('holds')} of {len(strict)} by ours, strictly{_in_part(strict)}"] if strict else []
    parts += [f"{len(claims) - len(paper)} not tested"] if len(paper) < len(claims) else []
    return "; ".join(parts)


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


def _spoken(verdict: str) -> str:
    """Return a verdict as the predicate of a sentence, without its counts."""
    words = verdict.partition(" (")[0]
    return words if words.startswith(("holds", "fails", "depends")) else f"is {words}"


def _in_part(verdicts: Sequence[str]) -> str:
    """Write in brackets how many verdicts hold in part, under some readings only, or are contradicted."""
    counts = {
        "in part": sum(verdict.startswith("holds in part") for verdict in verdicts),
        "under some readings of the paper only": verdicts.count(DEPENDS),
        "contradicted": sum(verdict.startswith("contradicted") for verdict in verdicts),
    }
    shown = ", ".join(f"{n} {words}" for words, n in counts.items() if n)
    return f" ({shown})" if shown else ""
